"""A label with one member, and one group that is half of the rows: a documented choice or a clear error."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchwright.errors import SplitError
from benchwright.splitting import (
    TEST,
    TRAIN,
    VALIDATION,
    LikelihoodSplitter,
    RandomSplitter,
    Scores,
    SplitRows,
)

N = 20
SCORES = Scores(-np.arange(N, dtype=np.float32), np.full(N, 5, dtype=np.int32))
UIDS = pa.array([f"r{i}" for i in range(N)])
SIZES = {"train": 12, "validation": 4, "test": 4}


def test_a_label_with_one_member_trains_and_is_named() -> None:
    labels = np.array([0] * 10 + [1] * 9 + [2])
    rows = SplitRows(UIDS, np.arange(N), labels=labels, label_names=("a", "b", "rare"))
    for splitter in (LikelihoodSplitter(sizes=SIZES), RandomSplitter(sizes=SIZES)):
        assignment = splitter.split(rows, SCORES)
        assert assignment.side[-1] == TRAIN
        assert [note.message for note in assignment.notes] == ["label 'rare' (1 rows) has no evaluation rows"]


def test_equal_numbers_of_a_label_with_one_member_are_refused() -> None:
    labels = np.array([0] * 10 + [1] * 9 + [2])
    rows = SplitRows(UIDS, np.arange(N), labels=labels, label_names=("a", "b", "rare"))
    message = (
        "label 'rare' has 1 rows that can evaluate, but evaluation_labels='equal' takes 2 of 1; .* 'shares'"
    )
    with pytest.raises(SplitError, match=message):
        LikelihoodSplitter(sizes=SIZES, evaluation_labels="equal").split(rows, SCORES)


@pytest.mark.parametrize("labels", [None, np.arange(N) % 2], ids=["ranked", "by_label"])
@pytest.mark.parametrize("half", [np.arange(N) < 10, np.arange(N) >= 10], ids=["likely", "unlikely"])
def test_a_group_of_half_the_rows_trains(labels: np.ndarray | None, half: np.ndarray) -> None:
    rows = SplitRows(
        UIDS,
        np.arange(N),
        labels=labels,
        label_names=() if labels is None else ("a", "b"),
        groups=np.where(half, 0, 1 + np.arange(N)),
    )
    assignment = LikelihoodSplitter(sizes=SIZES).split(rows, SCORES)
    assert (assignment.side[half] == TRAIN).all()
    assert assignment.sizes().validation == assignment.sizes().test == 4
    said = {note.code for note in assignment.notes}
    assert said == ({"moved_by_group"} if "group" in assignment.placed_by else set())


def test_rooms_that_no_group_fits_are_refused() -> None:
    rows = SplitRows(UIDS, np.arange(N), groups=np.arange(N) // 10)
    with pytest.raises(SplitError, match="validation would be empty: no whole group fits its 4 rows"):
        LikelihoodSplitter(sizes=SIZES).split(rows, SCORES)


def test_a_side_below_its_size_is_said() -> None:
    rows = SplitRows(UIDS, np.arange(N), groups=np.arange(N) // 3)
    assignment = LikelihoodSplitter(sizes=SIZES).split(rows, SCORES)
    for name, side in (("validation", VALIDATION), ("test", TEST)):
        count = int((assignment.side == side).sum())
        assert 2 <= count <= 3
        said = f"{name} has {count} of 4 rows: groups stay whole"
        assert said in [note.message for note in assignment.notes]
