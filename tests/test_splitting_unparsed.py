"""Programs that could not be read, where every atom must have a train row: they train, and are said."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.errors import SplitError
from benchwright.splitting import (
    TRAIN,
    LengthSplitter,
    LikelihoodSplitter,
    RandomSplitter,
    Scores,
    Sizes,
    SplitRows,
    Splitter,
)

SIZES = Sizes(6, 2, 2)
# Row 9 alone has an atom of its own; rows 2, 7 and 8, which would evaluate by rank, could not be read.
ATOMS = [None if row in (2, 7, 8) else frozenset({"x", "rare"} if row == 9 else {"x"}) for row in range(10)]
ROWS = SplitRows(
    pa.array([f"r{row}" for row in range(10)]),
    np.arange(10),
    lengths=np.arange(1, 11),
    atoms=lambda: ATOMS,
)
SCORES = Scores(-np.arange(10, dtype=np.float32), np.full(10, 5, dtype=np.int32))
SPLITTERS: list[tuple[type[Splitter], dict[str, Any]]] = [
    *((RandomSplitter, {"seed": seed}) for seed in range(5)),
    (LengthSplitter, {}),
    (LikelihoodSplitter, {}),
    (LikelihoodSplitter, {"reverse": True}),
    (LikelihoodSplitter, {"length_control": 2}),
]
every_splitter = pytest.mark.parametrize(("kind", "switches"), SPLITTERS)


@every_splitter
def test_unread_rows_train_after_all_others(kind: type[Splitter], switches: dict[str, Any]) -> None:
    assignment = kind(sizes=SIZES, constraint="atoms", **switches).split(ROWS, SCORES)
    assert assignment.sizes() == SIZES
    assert assignment.rows(TRAIN).tolist()[-3:] == [2, 7, 8]
    assert np.flatnonzero(assignment.placed_by == "unparsed").tolist() == [2, 7, 8]
    notes = [note for note in assignment.notes if note.code == "unparsed"]
    assert [note.message for note in notes] == ["3 rows have a program that could not be read: they train"]
    assert notes[0].uids == ("r2", "r7", "r8")
    # The one row with its own atom trains as well: a readable row was given up for it.
    assert assignment.side[9] == TRAIN


@every_splitter
def test_without_the_constraint_they_are_rows_like_any_other(
    kind: type[Splitter], switches: dict[str, Any]
) -> None:
    unread = dataclasses.replace(ROWS, atoms=lambda: [None] * 10)
    free, blind = (kind(sizes=SIZES, **switches).split(rows, SCORES) for rows in (ROWS, unread))
    assert free.side.tolist() == blind.side.tolist()
    assert "unparsed" not in free.placed_by


def test_a_likelihood_split_goes_on_with_the_rows_that_can_be_read() -> None:
    """By rank 6, 7, 8, 9 would evaluate; 7 and 8 cannot, and 9 has the only `rare`."""
    assignment = LikelihoodSplitter(sizes=SIZES, constraint="atoms").split(ROWS, SCORES)
    assert sorted(np.flatnonzero(assignment.side != TRAIN).tolist()) == [3, 4, 5, 6]
    assert assignment.placed_by.tolist() == [
        *["score"] * 2, "unparsed", "atom_swap", *["score"] * 3, "unparsed", "unparsed", "atom_swap",
    ]  # fmt: skip


def test_a_group_with_an_unread_row_trains_as_a_whole() -> None:
    groups = np.array([0, 1, 2, 3, 4, 2, 6, 7, 8, 9])
    given = dataclasses.replace(ROWS, groups=groups)
    assignment = LikelihoodSplitter(sizes=SIZES, constraint="atoms").split(given, SCORES)
    assert assignment.side[5] == assignment.side[2] == TRAIN
    assert assignment.placed_by[[2, 5]].tolist() == ["unparsed", "group"]
    assert [note.uids for note in assignment.notes if note.code == "moved_by_group"] == [("r5",)]


def test_rows_without_score_or_atoms_are_told_apart() -> None:
    scores = dataclasses.replace(SCORES, log_likelihood=np.where(np.arange(10) == 4, np.nan, -1.0))
    assignment = LikelihoodSplitter(sizes=SIZES, constraint="atoms").split(ROWS, scores)
    assert assignment.rows(TRAIN).tolist()[-4:] == [2, 4, 7, 8]
    assert assignment.placed_by[[2, 4, 7, 8]].tolist() == ["unparsed", "unscored", "unparsed", "unparsed"]
    assert {note.code for note in assignment.notes} >= {"unparsed", "unscored"}


def test_too_many_unread_rows_are_refused() -> None:
    unread = dataclasses.replace(ROWS, atoms=lambda: [None] * 7 + [frozenset("x")] * 3)
    with pytest.raises(SplitError, match="7 rows have an unreadable program and must train, but train has 6"):
        RandomSplitter(sizes=SIZES, constraint="atoms").split(unread)
    scores = dataclasses.replace(SCORES, log_likelihood=np.where(np.arange(10) > 6, np.nan, -1.0))
    with pytest.raises(
        SplitError, match="10 rows have an unreadable program or have no score and must train"
    ):
        LikelihoodSplitter(sizes=SIZES, constraint="atoms").split(unread, scores)
