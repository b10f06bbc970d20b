"""Input rows permuted; seeds None, 0, 1: the same uid stands on the same side, at the same place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.splitting import (
    LengthSplitter,
    LikelihoodSplitter,
    RandomSplitter,
    Scores,
    SplitRows,
    Splitter,
)

N = 50
SIZES = {"train": 30, "validation": 10, "test": 10}
KINDS: list[tuple[type[Splitter], dict[str, Any]]] = [
    (RandomSplitter, {}),
    (LengthSplitter, {}),
    (LikelihoodSplitter, {}),
    (LikelihoodSplitter, {"length_control": "exact"}),
]


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize(("kind", "switches"), KINDS)
@pytest.mark.parametrize("labelled", [False, True])
def test_same_uid_same_place(
    kind: type[Splitter], switches: dict[str, Any], labelled: bool, seed: int | None
) -> None:
    order = np.random.default_rng(0).permutation(N)
    rows = SplitRows(
        pa.array([f"r{i}" for i in range(N)]),
        np.arange(N),
        lengths=np.arange(N) % 5 + 1,
        labels=np.arange(N) % 3 if labelled else None,
        label_names=("a", "b", "c") if labelled else (),
    )
    scores = Scores(-(np.arange(N) % 7).astype(np.float32), np.ones(N, dtype=np.int32))
    given = kind(sizes=SIZES, seed=seed, **switches).split(rows, scores)
    shuffled = kind(sizes=SIZES, seed=seed, **switches).split(
        rows.take(order), Scores(scores.log_likelihood[order], scores.num_tokens[order])
    )
    assert shuffled.side.tolist() == given.side[order].tolist()
    assert shuffled.position.tolist() == given.position[order].tolist()
    assert shuffled.placed_by.tolist() == given.placed_by[order].tolist()
    assert shuffled.notes == given.notes


def test_no_seed_is_a_seed_that_is_written_down() -> None:
    assert RandomSplitter(sizes=SIZES, seed=None).parameters()["seed"] == 42
    assert RandomSplitter(sizes=SIZES, seed=0).parameters()["seed"] == 0


def test_seeds_matter() -> None:
    rows = SplitRows(pa.array([f"r{i}" for i in range(N)]), np.arange(N))
    sides = {RandomSplitter(sizes=SIZES, seed=seed).split(rows).side.tobytes() for seed in (None, 0, 1)}
    assert len(sides) == 3
