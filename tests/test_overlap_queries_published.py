"""The published construction: equal to the reference's strings, and objects where those are malformed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh.qparser import QueryParser
from whoosh.query import And, Or, Phrase

from benchwright.splitting.scores.bm25.analysis import load_analyzer
from benchwright.splitting.scores.bm25.engine import TermQuery, analysed
from benchwright.splitting.scores.bm25.query import OverlapQuery
from benchwright.splitting.scores.bm25.whoosh_engine import _schema
from benchwright.splitting.scores.overlap_queries import NoQuery, published_query, published_query_string
from benchwright.text.words import word_tokenize


@pytest.fixture(scope="module")
def expected(oracle_folder: Path):
    return json.loads((oracle_folder / "whoosh_overlap" / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.corpora
def test_strings_are_the_reference_s(expected) -> None:
    made = [published_query_string(query["tags"]) for query in expected["queries"]]
    assert made == [query["query_string"] for query in expected["queries"]]
    assert len(made) == 32


@pytest.mark.corpora
def test_objects_hold_what_the_strings_say(expected) -> None:
    for reference in expected["queries"]:
        query = published_query(reference["tags"])
        phrase, _, content = reference["query_string"].partition("\"~10') AND (")
        assert " ".join(query.phrase) == phrase.removeprefix('("')
        assert " OR ".join(query.content) == content.removesuffix(")")
        assert (query.content_required, query.inner_gap, query.may_vanish) == (True, 10, True)


@pytest.mark.corpora
def test_words_are_those_that_the_reference_tagged(expected) -> None:
    for reference in expected["queries"]:
        assert word_tokenize(reference["sentence"]) == [word for word, _ in reference["tags"]]


@pytest.mark.corpora
def test_whoosh_s_parser_reads_the_strings_as_the_objects_say(data_folder: Path, tagger) -> None:
    """Of all rows that the published code searched; but for `?`, which Whoosh takes for any single letter."""
    analyzer = load_analyzer("english")
    parser = QueryParser("content", _schema(analyzer))
    released = data_folder / "winograd" / "knowref60k_repo"
    names = ("wsc273/test", "dpr/test", "dpr/train", "winogrande/train_s", "knowref/data/test")
    compared, with_wildcard = 0, 0
    for name in names:
        lines = (released / f"{name}.tsv").read_text(encoding="utf-8").split("\n")
        tokens = [word_tokenize("".join(line.split("\t")[1:3])) for line in lines[1::2] if line]
        for words, found in zip(tokens, tagger.tag(tokens), strict=True):
            tagged = list(zip(words, found.tags, strict=True))
            query = published_query(tagged)
            if isinstance(query, NoQuery):
                continue
            made = analysed(query, analyzer)
            phrase, content = _words(parser.parse(published_query_string(tagged)), made)
            # The analyzer keeps no term of one letter, so that a wildcard for one finds nothing.
            assert (phrase, [group for group in content if group != ("?",)]) == (
                made.phrase,
                list(made.content),
            )
            compared += 1
            with_wildcard += ("?",) in content
    assert (compared, with_wildcard) == (4067, 5)


def _words(parsed, like: TermQuery) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Phrase and content groups of a query that Whoosh has parsed, with the parts that `like` has."""
    parts = list(parsed.subqueries) if like.phrase and like.content else [parsed]
    phrase = parts.pop(0) if like.phrase else None
    content = parts.pop(0) if like.content else Or([])
    assert not isinstance(phrase, Phrase) or phrase.slop == 10
    groups = content.subqueries if isinstance(content, Or) else [content]
    return (
        () if phrase is None else tuple(phrase.words) if isinstance(phrase, Phrase) else (phrase.text,),
        [tuple(t.text for t in g.subqueries) if isinstance(g, And) else (g.text,) for g in groups],
    )


def test_predicates_and_content_of_a_tagged_sentence() -> None:
    tagged = [
        ("Tess", "NNP"), ("could", "MD"), ("n't", "RB"), ("lift", "VB"), ("the", "DT"), ("red", "JJ"),
        ("box", "NN"), (",", ","), ("so", "IN"), ("the", "DT"), ("boxes", "NNS"), ("stayed", "VBD"),
        ("Redder", "JJR"), (".", "."),
    ]  # fmt: skip
    assert published_query(tagged) == OverlapQuery(
        phrase=("couldn't", "lift", "red", "stayed"),
        gaps=(10, 10, 10),
        content=("the", "box", ",", "so", "the", "boxes", "Redder"),
        content_required=True,
        inner_gap=10,
        may_vanish=True,
    )


def test_the_default_tagger_gives_the_tags(tagger) -> None:
    words = word_tokenize("The kettle wasn't hot because the stove was broken.")
    (found,) = tagger.tag([words])
    query = published_query(list(zip(words, found.tags, strict=True)))
    assert query.phrase == ("wasn't", "hot", "was", "broken")
    assert query.content == ("The", "kettle", "because", "the", "stove")


def test_sentences_that_make_malformed_strings_have_a_reason() -> None:
    assert published_query([("The", "DT"), ("end", "NN"), (".", ".")]) == NoQuery(
        "no predicate in the sentence"
    )
    assert published_query([("Ann", "NNP"), ("left", "VBD"), (".", ".")]) == NoQuery(
        "no content word in the sentence"
    )
    assert published_query([]) == NoQuery("no predicate in the sentence")


def test_words_of_the_query_language_are_words() -> None:
    tagged = [("NOT", "VB"), ("(", "("), ('"', "''"), ("AND", "CC"), ("a*", "NN"), ("~10", "CD")]
    query = published_query(tagged)
    assert query.phrase == ("NOT",)
    assert query.content == ("(", '"', "AND", "a*", "~10")


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "n't", ".", "b"]), st.sampled_from(["VB", "MD", "JJ", "NNP", "DT"]))
    )
)
def test_each_word_is_predicate_content_or_left_out(tagged) -> None:
    query = published_query(tagged)
    if isinstance(query, NoQuery):
        return
    names = [word for word, tag in tagged if tag == "NNP" and word != "n't"]
    periods = [word for word, tag in tagged if word == "." and tag not in ("NNP", "VB", "MD", "JJ")]
    kept = len("".join(query.phrase)) + len("".join(query.content))
    assert kept + len("".join(names)) + len(periods) == len("".join(word for word, _ in tagged))
