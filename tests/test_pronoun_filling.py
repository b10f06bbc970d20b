"""A candidate in place of the pronoun: case, possessives, blanks; and rows that cannot be read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import SourceError
from benchwright.eval.baselines import EvaluationData, Rows
from benchwright.eval.baselines._pronouns import fill, filled_rows
from benchwright.tasks import PRONOUN_RESOLUTION


def _filled(text: str, candidate: str) -> str:
    """`text` with the pronoun in square brackets."""
    match = re.search(r"\[(.+?)\]", text)
    assert match is not None
    plain = text.replace(match[0], match[1], 1)
    return fill(plain, match[1], match.start(), candidate).text


@pytest.mark.parametrize(
    ("text", "candidate", "expected"),
    [
        # A determiner from the head of a sentence is in lower case within one; names keep their capital.
        ("The bee left because [it] had pollen.", "The bee", "The bee left because the bee had pollen."),
        ("Ann left because [she] was tired.", "Ann", "Ann left because Ann was tired."),
        # Where a sentence begins, or the pronoun has a capital, the candidate begins with one.
        ("Ann met a pilot. [She] was late.", "the pilot", "Ann met a pilot. The pilot was late."),
        ('Ann said: "[He] is late."', "the pilot", 'Ann said: "The pilot is late."'),
        ("[they] sang.", "the nuns", "The nuns sang."),
        ("So [I] left.", "the pilot", "So the pilot left."),
        # The determiner stays as the data have it: here before the blank.
        ("The tray fell, for the [_] was wet.", "tray", "The tray fell, for the tray was wet."),
        # Every further blank gets the candidate; a part of a word is none.
        ("_ fell, for [_] was a_b.", "the cup", "The cup fell, for the cup was a_b."),
        ("So [_] fell. _ broke.", "the cup", "So the cup fell. The cup broke."),
        # Possessives take an ending, unless the candidate has one.
        ("Tom sold [his] boat.", "the pilot", "Tom sold the pilot's boat."),
        ("Tom sold [his] boat.", "the pilots'", "Tom sold the pilots' boat."),
        ("Tom sold [their] boat.", "Ann's", "Tom sold Ann's boat."),
        ("Tom saw [her] boat.", "Ann", "Tom saw Ann's boat."),
        ("Tom saw [her] at noon.", "Ann", "Tom saw Ann at noon."),
        ("Tom saw [her].", "Ann", "Tom saw Ann."),
        ("小王和小李吵架,因为[他]迟到了。", "小王", "小王和小李吵架,因为小王迟到了。"),
    ],
)
def test_candidates_are_written_as_the_text_needs(text: str, candidate: str, expected: str) -> None:
    assert _filled(text, candidate) == expected


@given(
    before=st.text(alphabet="abc .,\"'", max_size=12),
    pronoun=st.sampled_from(["he", "She", "their", "her", "I", "it"]),
    after=st.text(alphabet="abc .,\"'", max_size=12),
    candidate=st.sampled_from(["The man", "Ann", "a dog", "dogs", "James's"]),
)
def test_only_case_and_ending_may_change(before: str, pronoun: str, after: str, candidate: str) -> None:
    made = fill(before + pronoun + after, pronoun, len(before), candidate)
    assert (made.before, made.after) == (before, after)
    assert made.candidate.lower() == candidate.lower()
    assert made.candidate[1:] == candidate[1:]
    assert made.ending in ("", "'s")
    assert made.text == made.prefix + made.after


def _data(**changes: Any) -> EvaluationData:
    row: dict[str, Any] = {
        "text": "Ann left because she was tired.",
        "pronoun": "she",
        "pronoun_loc": 17,
        "options": ["Ann", "Eve"],
    } | {name: value for name, value in changes.items() if name != "label"}
    gold = np.array([changes.get("label", "0")], dtype=object)
    rows = Rows(["toy:0"], {name: [value] for name, value in row.items()}, gold)
    return EvaluationData("toy", "test", PRONOUN_RESOLUTION, rows, frozenset(rows.uids))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pronoun_loc": 16}, "field 'pronoun_loc': the pronoun does not stand there, got 16"),
        ({"pronoun_loc": -14}, "the pronoun does not stand there"),
        ({"pronoun": ""}, "the pronoun does not stand there"),
        ({"options": ["Ann"]}, "field 'options': 2 to 2 candidates are needed, got ['Ann']"),
        ({"options": ["Ann", " "]}, "2 to 2 candidates are needed"),
        ({"options": ["Ann", "Eve", "Tom"]}, "2 to 2 candidates are needed"),
    ],
)
def test_a_row_that_cannot_be_filled_is_named(changes: dict[str, Any], words: str) -> None:
    data = _data(**changes)
    with pytest.raises(SourceError) as caught:
        list(filled_rows(data, data.evaluation))
    assert str(caught.value).startswith("toy/test, row 0, ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
