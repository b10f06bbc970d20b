"""The paper's partial parse and query, from stored dependency parses (no parser runs here)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from overlap_query_cases import CASES, read_parses

from benchwright.splitting.scores.bm25.analysis import load_analyzer
from benchwright.splitting.scores.bm25.query import OverlapQuery
from benchwright.splitting.scores.overlap_queries import (
    NoQuery,
    PartialParse,
    explain_document,
    fill_blanks,
    parsed_query,
    partial_parse,
)
from benchwright.splitting.scores.overlap_queries.base import NO_PRONOUN
from benchwright.text.parsing import ParsedSentence

PARSES = read_parses()


def parse_of(name: str) -> PartialParse | NoQuery:
    case = CASES[name]
    filled = case.filled
    return partial_parse(PARSES[name], filled.start, filled.end, case.options, pronoun=case.pronoun)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.reason])
def test_components(name: str) -> None:
    case, found = CASES[name], parse_of(name)
    assert isinstance(found, PartialParse)
    assert " ".join(found.pred_c) == case.pred_c
    assert " ".join(found.pred_q) == case.pred_q
    assert (found.e1, found.e2, found.connective) == (case.e1, case.e2, case.connective)
    assert found.pronoun == case.pronoun


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.reason])
def test_reasons(name: str) -> None:
    found = parse_of(name)
    assert not found
    assert found == NoQuery(CASES[name].reason)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.reason])
def test_an_instance_matches_its_own_query(name: str) -> None:
    """In these short texts the predicates stand at most 10 terms apart, so an exact copy is a hit."""
    found = parse_of(name)
    match = explain_document(parsed_query(found), found, CASES[name].text, load_analyzer("english"))
    assert match.phrase


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.reason])
def test_the_pronoun_is_in_no_query(name: str) -> None:
    query = parsed_query(parse_of(name))
    pronoun = CASES[name].pronoun
    assert pronoun.lower() not in {word.lower() for word in (*query.phrase, *query.content)}


def test_clauses_and_content_words() -> None:
    found = parse_of("connective inside")
    assert found.context_clause == "The parcel wouldn't go through the slot"
    assert found.query_clause == "it was too wide"
    assert found.content_words == ("parcel", "slot")
    found = parse_of("blank after a determiner")
    assert found.query_clause == "the _ drowned the singer"
    assert found.content_words == ("drum", "flute", "singer")


def test_a_query_is_two_exact_phrases_ten_terms_apart() -> None:
    query = parsed_query(parse_of("connective inside"))
    assert query == OverlapQuery(
        phrase=("wouldn't", "go", "through", "was", "too", "wide"),
        gaps=(1, 1, 10, 1, 1),
        content=("parcel", "slot"),
        content_required=False,
    )


def test_a_query_clause_that_comes_first_is_first_in_the_phrase() -> None:
    found = parse_of("query clause first")
    assert found.query_first
    assert parsed_query(found).phrase == ("came", "phoned")
    assert not parse_of("connective first").query_first


def test_a_predicate_around_another_word_keeps_its_distance() -> None:
    found = parse_of("particle around the pronoun")
    assert (found.pred_q, found.gaps_q) == (("switched", "off"), (2,))
    assert parsed_query(found).gaps == (10, 2)


def test_a_place_without_a_word_is_a_reason() -> None:
    parsed = PARSES["connective inside"]
    assert partial_parse(parsed, 500, 502, ("the parcel",), pronoun="it") == NoQuery(NO_PRONOUN)
    assert partial_parse(parsed, 10, 10, (), pronoun="it") == NoQuery(NO_PRONOUN)


@pytest.mark.parametrize(
    ("text", "start", "options", "expected"),
    [
        ("Al met Bo, so _ left.", 14, ("Al", "Bo"), ("Al met Bo, so Al left.", 14, 16)),
        ("The _ is new.", 4, ("the old car",), ("The old car is new.", 4, 11)),
        ("It broke. _ fell.", 10, ("the jar",), ("It broke. The jar fell.", 10, 17)),
        ("As _ saw, _ ran.", 10, ("Al",), ("As Al saw, Al ran.", 11, 13)),
        ("A my_file and _ .", 14, ("Al",), ("A my_file and Al .", 14, 16)),
        ("No options: _", 12, (), ("No options: _", 12, 13)),
    ],
)
def test_blanks_are_filled_with_the_first_option(text, start, options, expected) -> None:
    assert fill_blanks(text, "_", start, options) == expected


def test_a_text_with_its_pronoun_is_kept() -> None:
    assert fill_blanks("Al met Bo_ as he left.", "he", 14, ("Al",)) == ("Al met Bo_ as he left.", 14, 16)


WORDS = (
    "Ann",
    "Bo",
    "she",
    "was",
    "n't",
    "called",
    "old",
    "to",
    "with",
    "because",
    ",",
    "-",
    "_",
    "up",
    "'s",
)
TAGS = ("NN", "VBD", "VB", "MD", "PRP", "JJ", "RB", "TO", "IN", "CC", ",", "POS", "WRB", "DT")
LABELS = (
    "ROOT", "nsubj", "nsubjpass", "dobj", "aux", "neg", "prep", "pobj", "advcl", "xcomp", "ccomp", "conj",
    "cc", "mark", "advmod", "acomp", "attr", "prt", "amod", "agent", "oprd", "poss", "det", "punct", "",
)  # fmt: skip


@st.composite
def forests(draw) -> ParsedSentence:
    """Any words, tags and labels over any forest."""
    size = draw(st.integers(1, 12))

    def some(values):
        return tuple(draw(st.lists(st.sampled_from(values), min_size=size, max_size=size)))

    words = some(WORDS)
    offsets = tuple(sum(len(word) + 1 for word in words[:i]) for i in range(size))
    order = draw(st.permutations(range(size)))
    heads = [0] * size
    for place, token in enumerate(order):
        above = draw(st.integers(-1, place - 1)) if place else -1
        heads[token] = token if above < 0 else order[above]
    return ParsedSentence(
        text=" ".join(words),
        words=words,
        offsets=offsets,
        tags=some(TAGS),
        lemmas=tuple(word.lower() for word in words),
        heads=tuple(heads),
        labels=some(LABELS),
        entities=("",) * size,
        entity_spans=(),
        noun_chunks=(),
        sentence_starts=(0,),
    )


@given(forests(), st.data())
def test_any_forest_gives_a_query_or_a_reason(parsed: ParsedSentence, data) -> None:
    token = data.draw(st.integers(0, len(parsed) - 1))
    place = parsed.offsets[token], parsed.end(token)
    found = partial_parse(parsed, *place, ("Ann", "the Bo"), pronoun="she")
    if isinstance(found, NoQuery):
        assert found.reason
        return
    query = parsed_query(found)
    assert query.phrase == (found.pred_q + found.pred_c if found.query_first else found.pred_c + found.pred_q)
    assert found.pred_c
    assert found.pred_q
    assert not query.content_required
    assert partial_parse(parsed, *place, ("Ann", "the Bo"), pronoun="she") == found
