"""A pair that stands twice in a corpus: grouped, both copies stand on one side, whatever places them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchwright.splitting import (
    SIDES,
    TRAIN,
    LengthSplitter,
    LikelihoodSplitter,
    PublishedSplitter,
    RandomSplitter,
    Scores,
    SplitRows,
    Splitter,
)

PAIRS = 30
COPIES = np.arange(2 * PAIRS) % PAIRS
SIZES = {"train": 40, "validation": 10, "test": 10}


def _rows(labels: np.ndarray | None, groups: np.ndarray | None) -> SplitRows:
    """Every pair twice, far apart; the copies differ in label, as annotators do."""
    return SplitRows(
        pa.array([f"r{i}" for i in range(2 * PAIRS)]),
        np.arange(2 * PAIRS),
        lengths=3 + COPIES % 4,
        labels=labels,
        label_names=() if labels is None else ("no", "yes"),
        groups=groups,
        source_splits=np.array(["train"] * 40 + ["dev"] * 10 + ["test"] * 10),
    )


SCORES = Scores(np.arange(2 * PAIRS, dtype=np.float32) - 100, np.full(2 * PAIRS, 5, dtype=np.int32))
SPLITTERS: list[Splitter] = [
    *(RandomSplitter(sizes=SIZES, seed=seed) for seed in range(5)),
    LengthSplitter(sizes=SIZES),
    LikelihoodSplitter(sizes=SIZES),
    LikelihoodSplitter(sizes=SIZES, length_control="exact"),
    LikelihoodSplitter(sizes=SIZES, reverse=True),
]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
@pytest.mark.parametrize(
    "labels",
    [None, np.arange(2 * PAIRS) % 2, (np.arange(2 * PAIRS) + COPIES) // 3 % 2],
    ids=["none", "same", "mixed"],
)
def test_copies_stand_on_one_side(splitter: Splitter, labels: np.ndarray | None) -> None:
    assignment = splitter.split(_rows(labels, COPIES), SCORES)
    assert (assignment.side[:PAIRS] == assignment.side[PAIRS:]).all()
    assert {*assignment.side.tolist()} == {*SIDES.values()}


def test_copies_that_the_source_divided_train() -> None:
    """Every copy of a published evaluation row is in train too: nothing is left to evaluate on, and said."""
    assignment = PublishedSplitter().split(_rows(None, COPIES), SCORES)
    assert (assignment.side == TRAIN).all()
    assert [note.code for note in assignment.notes] == ["moved_by_group", "empty_split", "empty_split"]


def test_without_groups_copies_are_torn_apart() -> None:
    """What a splitter that knows nothing of duplicates does: the check above is not empty."""
    assignment = RandomSplitter(sizes=SIZES).split(_rows(None, None))
    assert (assignment.side[:PAIRS] != assignment.side[PAIRS:]).any()
