"""Stages 1 to 3 of mining: cleaning, the pattern of a pronoun problem, noun phrases by tags."""

from __future__ import annotations

import json
import re
import zipfile

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.knowref import chunking, cleaning
from benchwright.builders.knowref.chunking import chunk, fault_of_phrases
from benchwright.builders.knowref.cleaning import (
    clean_comment,
    fault_of_pattern,
    fault_of_repetition,
    fault_of_shape,
    find_sentences,
)
from benchwright.builders.knowref.words import (
    CONNECTIVE_PUBLISHED,
    CONNECTIVES,
    PRONOUN,
    ExcludedWords,
    TaggedNouns,
    read_treebank,
)
from benchwright.errors import SourceError

SENTENCE = "Kevin yelled at Melissa in the crowded office yesterday because he was angry about the report."
NAMES = frozenset({"Kevin", "Melissa", "office", "yesterday"})
ANY_NOUN = ExcludedWords(
    frozenset({"yelled", "the", "was", "about", "angry", "crowded", "because", "when", "had", "and"})
)


def kept(comment, method="corrected", nouns=ANY_NOUN):
    return [sentence for sentence, _ in find_sentences([comment], nouns, method).kept]


@pytest.mark.corpora
@pytest.mark.parametrize("field", ["kept", "kept_noun"])
def test_published_sentences_are_those_of_the_oracle(data_folder, oracle_folder, field):
    nouns = read_treebank(data_folder / "wordlists" / "nltk_treebank.zip")
    oracle = json.loads((oracle_folder / "knowref_stage1" / "expected.json").read_text())
    assert len(nouns.words) == oracle["n_excluded_words"] == 6_381
    pattern = fault_of_pattern if field == "kept" else fault_of_repetition
    for case in oracle["cases"]:
        found = find_sentences([case["line"]], nouns, "published", pattern=pattern)
        assert [sentence for sentence, _ in found.kept] == case[field], case["line"]
        assert len(found.kept) + found.dropped.total() == found.sentences
    assert len(oracle["cases"]) == 24


@pytest.mark.corpora
def test_corrected_differs_from_the_oracle_in_the_comma_alone(data_folder, oracle_folder):
    nouns = read_treebank(data_folder / "wordlists" / "nltk_treebank.zip")
    oracle = json.loads((oracle_folder / "knowref_stage1" / "expected.json").read_text())
    others = [case["line"] for case in oracle["cases"] if kept(case["line"], nouns=nouns) != case["kept"]]
    assert others == [
        "Kevin yelled at Melissa in the crowded office yesterday, he was angry about the missing report."
    ]


def test_cleaning_takes_markup_out():
    comment = (
        "{{box|\nof two lines}}Kevin {met} Melissa<br>caf\u00e9 (twice,\nin May)\n* a list\n== Heading ==\n"
        "~ tilde\n# number\n: quote\n12 digits\nthe [[formal logic|formal]] [[proof]] at 5:30 by Dr. M.A. Ott"
    )
    assert clean_comment(comment) == (
        "Kevin met Melissa caf the formal logic proof at 5 by Dr. MA Ott",
        None,
    )


def test_comments_are_dropped_whole():
    assert clean_comment('He said "no".')[1] == cleaning.QUOTED
    law = "See below.\nIt breaks art. 5 of the law."
    assert clean_comment(law)[1] == cleaning.ARTICLE
    assert clean_comment(law, "published")[1] is None
    assert clean_comment("See art. 5.", "published")[1] == cleaning.ARTICLE


def test_escapes_of_dumps_are_no_semicolons():
    comment = SENTENCE.replace("because", "&gt;").replace("report", "report &amp; more")
    assert kept(comment) == []
    assert "&amp;" not in clean_comment(comment)[0]
    assert "&amp;" in clean_comment(comment, "published")[0]


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        (SENTENCE.replace("because", "as"), cleaning.NO_CONNECTIVE),
        (SENTENCE[:-1], cleaning.NO_END),
        (SENTENCE.replace("Kevin", "kevin"), cleaning.NO_CAPITAL),
        ("Kevin hit Melissa because he was so very angry.", cleaning.TOO_SHORT),
        (SENTENCE[:-1] + " and then" * 10 + ".", cleaning.TOO_LONG),
        (SENTENCE.replace("the report", "1984"), cleaning.SYMBOLS),
        (SENTENCE, None),
    ],
)
def test_shape(sentence, reason):
    assert fault_of_shape(sentence) == reason


@pytest.mark.parametrize(
    ("sentence", "corrected", "published"),
    [
        ("Kevin met Melissa because he fell .", None, None),
        ("Kevin met Melissa , he fell .", None, cleaning.NO_PATTERN),
        ("Kevin met Melissa;he fell .", None, None),
        ("He and Kevin met Melissa because she fell .", cleaning.EARLY_PRONOUN, cleaning.EARLY_PRONOUN),
        (
            "Kevin met Melissa at his office because she fell .",
            cleaning.EARLY_PRONOUN,
            cleaning.EARLY_PRONOUN,
        ),
        ("Kevin met Melissa where they were because she fell .", None, None),
        ("Kevin met Kevin because he fell .", cleaning.NO_PATTERN, cleaning.SAME_CANDIDATE),
        ("Kevin met us because he fell .", cleaning.NO_PATTERN, cleaning.NO_PATTERN),
        ("Kevin met Melissa because we fell .", cleaning.NO_PATTERN, cleaning.NO_PATTERN),
        # The last connective with a pronoun after it is what the greedy expression takes.
        ("Kevin met Melissa because he saw the office when his train left .", None, cleaning.EARLY_PRONOUN),
    ],
)
def test_pattern(sentence, corrected, published):
    assert fault_of_pattern(sentence, NAMES) == corrected
    assert fault_of_pattern(sentence, NAMES, "published") == published


_WORDS = st.sampled_from(
    [
        "Kevin",
        "Melissa",
        "office",
        "met",
        "he",
        "She",
        "they",
        "because",
        "even though",
        ",",
        ";",
        "x,he",
        "so",
    ]
)


@given(st.lists(_WORDS, min_size=1, max_size=9).map(" ".join))
def test_published_pattern_is_that_of_the_greedy_expression(sentence):
    names = "|".join(sorted(NAMES))
    connective, pronoun = CONNECTIVE_PUBLISHED.pattern, PRONOUN.pattern
    match = re.match(rf"^(.*\b({names})\b.+\b({names}))\b.*{connective}.*{pronoun}", sentence)
    expected = match is not None and match[2] != match[3] and not re.search(pronoun, match[1], re.IGNORECASE)
    assert (fault_of_pattern(sentence, NAMES, "published") is None) is expected


def test_funnel_adds_up():
    comments = [SENTENCE, 'a "quote"', f"{SENTENCE} Short one. {SENTENCE.replace('he', 'we')}"]
    found = find_sentences(comments, ANY_NOUN)
    assert (found.comments, found.sentences, len(found.kept)) == (3, 4, 2)
    assert dict(found.dropped_comments) == {cleaning.QUOTED: 1}
    assert dict(found.dropped) == {cleaning.NO_CONNECTIVE: 1, cleaning.NO_PATTERN: 1}


def test_tagger_decides_where_no_treebank_is_given(tagger):
    assert kept(SENTENCE, nouns=TaggedNouns(tagger)) == [SENTENCE]
    words = SENTENCE.split()
    assert {"Kevin", "Melissa", "office"} <= TaggedNouns(tagger).candidates([words])[0]
    assert "because" not in TaggedNouns(tagger).candidates([words])[0]


def test_treebank_needs_trees(tmp_path):
    with pytest.raises(SourceError, match=r"no \.mrg file"):
        read_treebank(tmp_path)
    with zipfile.ZipFile(tmp_path / "treebank.zip", "w") as archive:
        archive.writestr("treebank/combined/wsj_0001.mrg", "( (S (NP (NNP Ann)) (VP (VBZ runs)) (. .)))")
    assert read_treebank(tmp_path / "treebank.zip").words == {"runs", "."}


TAGS = st.lists(st.sampled_from(["DT", "JJ", "NN", "NNS", "NNP", "IN", "CC", "VBD", ",", "."]), max_size=12)


@given(TAGS)
def test_published_phrases_are_those_of_the_published_grammar(tags):
    grammar = """
    NP: {<DT>?<JJ>*<NN.*>+<IN>?<DT>?<JJ>*<NN.*>*}
        {<DT>?<JJ>*<NN.*><CC>*<DT>?<NN.*>+}
    """
    words = [f"w{number}" for number in range(len(tags))]
    tree = nltk.RegexpParser(grammar).parse(list(zip(words, tags, strict=True)))
    expected, start = [], 0
    for node in tree:
        length = len(node) if isinstance(node, nltk.Tree) else 1
        if isinstance(node, nltk.Tree):
            expected.append((start, start + length))
        start += length
    assert list(chunk(words, tags, "published").phrases) == expected


def tagged(text):
    return zip(*(pair.rsplit("/", 1) for pair in text.split()), strict=True)


def test_published_phrases_swallow_the_connective():
    words, tags = tagged("Kevin/NNP met/VBD Melissa/NNP because/IN he/PRP fell/VBD ./.")
    assert chunk(words, tags, "published").phrases == ((0, 1), (2, 4))
    assert fault_of_phrases(chunk(words, tags, "published")) == chunking.NO_CONNECTIVE
    assert chunk(words, tags).phrases == ((0, 1), (2, 3))
    assert fault_of_phrases(chunk(words, tags)) is None


def test_corrected_phrases_join_whole_phrases():
    words, tags = tagged(
        "The/DT old/JJ boss/NN of/IN the/DT firm/NN and/CC Kevin/NNP saw/VBD Melissa/NNP in/IN"
    )
    assert chunk(words, tags).phrases == ((0, 6), (7, 8), (9, 10))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Kevin/NNP met/VBD Melissa/NNP ,/, but/CC he/PRP fell/VBD ./.", None),
        ("Kevin/NNP met/VBD her/PRP because/IN he/PRP fell/VBD ./.", chunking.TOO_FEW_PHRASES),
        ("Kevin/NNP met/VBD Melissa/NNP because/IN he/PRP saw/VBD Kevin/NNP ./.", chunking.TOO_EASY),
        (
            "Kevin/NNP met/VBD Melissa/NNP because/IN Kevin/NNP saw/VBD Melissa/NNP ./.",
            chunking.REPEATED,
        ),
        ("Dogs/NNS bit/VBD cats/NNS because/IN he/PRP liked/VBD the/DT red/JJ cat/NN ./.", None),
        ("The/DT dogs/NNS bit/VBD cats/NNS because/IN he/PRP liked/VBD the/DT cat/NN ./.", chunking.TOO_EASY),
        ("Kevin/NNP met/VBD Melissa/NNP ./.", chunking.NO_CONNECTIVE),
        (
            "A/NN ,/, met/VBD B/NN ,/, saw/VBD C/NN ,/, and/CC he/PRP fell/VBD ./.",
            chunking.TOO_MANY_CONNECTIVES,
        ),
        (
            " was/VBD ".join(f"{name}/NN" for name in "ABCDEF") + " ,/, he/PRP ran/VBD",
            chunking.TOO_MANY_PHRASES,
        ),
    ],
)
def test_phrases(text, reason):
    words, tags = tagged(text)
    assert fault_of_phrases(chunk(words, tags)) == reason


def test_connectives_are_those_of_the_paper():
    assert len(CONNECTIVES) == 16
    assert "even though" in CONNECTIVES
