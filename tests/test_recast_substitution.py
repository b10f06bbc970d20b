"""Wrong answers by type: what is drawn, and what never is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.curriculum.recast.rules import normalised
from benchwright.builders.curriculum.recast.substitution import WrongAnswers, found_in, kind_of

GAME = (
    "On May 3, 1998 the Broncos beat the Panthers 24-10 before 71,088 people. Peyton Manning threw 35 "
    "passes, 45% of them short, for a fee of $3 million. In 2004 they met again and twelve players left."
)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("1998", "year"),
        ("1776", "year"),
        ("71,088", "number"),
        ("three", "number"),
        ("twenty-four", "number"),
        ("3.5 million", "number"),
        ("45%", "percentage"),
        ("45.5 percent", "percentage"),
        ("$3 million", "money"),
        ("£5", "money"),
        ("3 May 1998", "date"),
        ("May 3", "date"),
        ("May 1998", "date"),
        ("35 yards", "quantity"),
        ("five field goals", "quantity"),
        ("Peyton Manning", "name"),
        ("the Bank of Ghana", "name"),
        ("Manning", "name"),
        ("a cold drink", "phrase"),
        ("in the morning", "phrase"),
        ("in Oslo", "phrase"),
        ("24–10", "phrase"),
    ],
)
def test_kinds(answer: str, kind: str) -> None:
    assert kind_of(answer) == kind


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("date", ("May 3, 1998",)),
        ("year", ("2004",)),
        ("percentage", ("45%",)),
        ("money", ("$3 million",)),
        ("number", ("24", "10", "71,088", "35", "twelve")),
        ("name", ("Broncos", "Panthers", "Peyton Manning")),
        ("phrase", ()),
    ],
)
def test_what_a_passage_has(kind: str, found: tuple[str, ...]) -> None:
    assert found_in(GAME, kind) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gold", "question", "among"),
    [
        ("1998", "", {"2004"}),
        ("45%", "", set()),
        ("the Broncos", "Who won?", {"Panthers", "Peyton Manning"}),
        ("the Broncos", "Who beat the Panthers?", {"Peyton Manning"}),
        ("Manning", "", {"Broncos", "Panthers"}),
        ("24 points", "", {"71,088 points", "35 points", "twelve points", "10 points"}),
    ],
)
def test_another_of_the_same_type_in_the_passage(gold: str, question: str, among: set[str]) -> None:
    wrong = WrongAnswers([])
    drawn = {wrong.draw([gold], key=str(key), passage=GAME, question=question) for key in range(60)}
    assert drawn == (among or {None})


def test_answers_nearby_come_before_the_passage_and_the_corpus() -> None:
    wrong = WrongAnswers(["Rome"])
    assert (
        wrong.draw(["Paris"], key="1", nearby=["Paris", "Oslo", "in Oslo"], passage="He met Ann Lee.")
        == "Oslo"
    )
    assert wrong.draw(["Paris"], key="1", nearby=["Paris"], passage="He met Ann Lee.") == "Ann Lee"
    assert wrong.draw(["Paris"], key="1", nearby=["Paris"], passage="He met her.") == "Rome"
    assert wrong.draw(["Rome"], key="1") is None


def test_phrases_give_way_to_phrases_that_begin_alike() -> None:
    wrong = WrongAnswers(["in the evening sun", "a warm meal with fish"])
    assert wrong.draw(["in the early morning"], key="1") == "in the evening sun"
    assert wrong.draw(["a cold drink with ice"], key="1") == "a warm meal with fish"


def test_all_gold_answers_count() -> None:
    wrong = WrongAnswers(["Oslo", "Bergen", "Rome"])
    drawn = {wrong.draw(["Oslo", "Bergen"], key=str(key)) for key in range(20)}
    assert drawn == {"Rome"}


SOME = "Oslo|the Oslo|Oslo City|Rome|12|12.0|twelve|1,200|1200|1998|2001|45%|50%|$5|$6 million|a cold|in May"
OTHERS = "in the sun|May 3, 1998|June 4, 2001|5 yards|6 yards"
ANSWERS = st.sampled_from(f"{SOME}|{OTHERS}".split("|"))


@given(st.lists(ANSWERS, min_size=1, max_size=12), ANSWERS, st.text(max_size=5))
def test_what_is_drawn_is_never_right(pool: list[str], gold: str, key: str) -> None:
    drawn = WrongAnswers(pool).draw([gold], key=key, nearby=pool, passage=" ".join(pool))
    if drawn is not None:
        assert normalised(drawn) != normalised(gold)
        assert not set(normalised(drawn).split()) <= set(normalised(gold).split())
        assert kind_of(drawn) == kind_of(gold)


@given(st.lists(ANSWERS, min_size=1, max_size=12), ANSWERS, st.integers(0, 99))
def test_no_order_matters(pool: list[str], gold: str, seed: int) -> None:
    shuffled = random.Random(seed).sample(pool, len(pool))
    assert WrongAnswers(pool).draw([gold], key="k") == WrongAnswers(shuffled).draw([gold], key="k")
    assert WrongAnswers([]).draw([gold], key="k", nearby=pool) == WrongAnswers([]).draw(
        [gold], key="k", nearby=shuffled
    )
