"""A pair that stands twice in a corpus: grouped, both copies stand on one side, whatever places them.

Without groups, the audit names every copy that stands on a second side, and fails a user's release; the
cleaned placement has none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from benchwright.builders.audit import AuditRows, audit_part
from benchwright.splitting import (
    SIDES,
    TEST,
    TRAIN,
    UNUSED,
    CleanSplitter,
    LengthSplitter,
    LikelihoodSplitter,
    PublishedSplitter,
    RandomSplitter,
    Scores,
    SplitRows,
    Splitter,
)
from benchwright.tasks import BINARY_NLI

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


def _audited() -> AuditRows:
    table = pa.table(
        {
            "uid": [f"r{row}" for row in range(2 * PAIRS)],
            "premise": [f"premise {copy}" for copy in COPIES],
            "hypothesis": [f"hypothesis {copy}" for copy in COPIES],
            "label": ["entailed"] * (2 * PAIRS),
        }
    )
    return AuditRows.from_table(table, BINARY_NLI)


def test_copies_on_two_sides_are_named_and_fail_the_audit_of_a_users_release() -> None:
    assignment = RandomSplitter(sizes=SIZES).split(_rows(None, None))
    leaks = [f for f in audit_part(_audited(), {"random": assignment.side}, False) if f.code == "leak_exact"]
    assert {finding.severity for finding in leaks} == {"error"}
    for finding in leaks:
        first, second = (SIDES[split] for split in finding.splits)
        assert finding.uids == tuple(
            f"r{row}"
            for row in np.flatnonzero(assignment.side == second).tolist()
            if assignment.side[(row + PAIRS) % (2 * PAIRS)] == first
        )
    torn = assignment.side[:PAIRS] != assignment.side[PAIRS:]
    assert sum(finding.count for finding in leaks) == torn.sum()


def test_a_cleaned_placement_has_one_copy_of_each_on_the_later_side() -> None:
    of = {"splitter": "random", "parameters": {"sizes": SIZES}}
    before = RandomSplitter(sizes=SIZES).split(_rows(None, None))
    after = CleanSplitter(of=of).split(replace(_rows(None, None), inputs=COPIES))
    assert ((after.side[:PAIRS] == UNUSED) != (after.side[PAIRS:] == UNUSED)).all()
    kept = np.maximum(after.side[:PAIRS], after.side[PAIRS:])
    rank = {TRAIN: 0, 1: 1, TEST: 2}
    latest = np.maximum(*([rank[side] for side in half.tolist()] for half in np.split(before.side, 2)))
    assert kept.tolist() == latest.tolist()
    assert audit_part(_audited(), {"c": after.side}, False, near=False) == []
