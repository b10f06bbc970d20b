"""PYTHONHASHSEED 0, 1 and random: every splitter gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import hashlib
import numpy as np, pyarrow as pa
from benchwright.splitting import *

n = 120
rng = np.random.default_rng(5)
programs = [frozenset(f"atom{x}" for x in rng.integers(0, 40, 5)) for _ in range(n)]
arrays = dict(lengths=rng.integers(2, 8, n), source_splits=rng.choice(np.array(["train", "dev", "test"]), n))
scores = Scores(np.round(rng.normal(-20, 4, n)).astype(np.float32), np.full(n, 6, dtype=np.int32))
scores.log_likelihood[::17] = np.nan
uids, index = pa.array([f"r{i}" for i in range(n)]), np.arange(n)
labels = dict(labels=rng.integers(0, 3, n), label_names=("a", "b", "c"))
groups = dict(groups=rng.integers(0, 90, n))
sizes = {"train": 80, "validation": 20, "test": 20}
digest = hashlib.sha256()
for extra in ({}, labels, groups, {**labels, **groups}):
    rows = SplitRows(uids, index, atoms=lambda: programs, **arrays, **extra)
    atoms = {} if "labels" in extra else {"constraint": "atoms"}
    for splitter in (
        RandomSplitter(sizes=sizes, **atoms),
        LengthSplitter(sizes=sizes, **atoms),
        LikelihoodSplitter(sizes=sizes, length_control="exact", **atoms),
        PublishedSplitter(),
    ):
        result = splitter.split(rows, scores)
        written = [result.side.tolist(), result.position.tolist(), result.placed_by.tolist(), result.notes]
        digest.update(repr([splitter, written]).encode())
print(digest.hexdigest())
"""


def _digest(hash_seed: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_same_bytes_under_every_hash_seed() -> None:
    assert _digest("0") == _digest("1") == _digest("random")
