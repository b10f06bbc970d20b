"""A length bucket of 5 rows whose quota is rounded to 0 keeps all 5 in train.

The published code slices the bucket with `rows[-0:]`, which is all of it, so that rare lengths evaluate as a
whole; that behaviour is there by option only.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchwright.splitting import TRAIN, LikelihoodSplitter, Scores, SplitRows

ROWS, RARE = 1_000, 5
LENGTHS = np.array([40] * RARE + [8] * (ROWS - RARE))
# The rare rows are the least likely ones, so that the size correction does not bring them back.
SCORES = Scores(
    np.array(
        [-200.0 - i for i in range(RARE)] + [-1.0 - i / 100 for i in range(ROWS - RARE)], dtype=np.float32
    ),
    np.full(ROWS, 8, dtype=np.int32),
)
SIZES = {"train": 980, "validation": 10, "test": 10}
# 20 * 5 / 1000 = 0.1 rows: rounded to 0 with this seed.
SEED = 0


def _rare_rows_in_train(labels: np.ndarray | None, **switches: str) -> int:
    rows = SplitRows(
        pa.array([f"r{i}" for i in range(ROWS)]),
        np.arange(ROWS),
        lengths=LENGTHS,
        labels=labels,
        label_names=() if labels is None else ("only",),
    )
    splitter = LikelihoodSplitter(sizes=SIZES, seed=SEED, length_control="exact", **switches)  # type: ignore[arg-type]
    return int((splitter.split(rows, SCORES).side[:RARE] == TRAIN).sum())


@pytest.mark.parametrize("labels", [None, np.zeros(ROWS, dtype=np.int64)], ids=["ranked", "by_label"])
def test_none_of_the_bucket_evaluates(labels: np.ndarray | None) -> None:
    assert _rare_rows_in_train(labels) == RARE


def test_the_published_behaviour_is_an_option() -> None:
    assert _rare_rows_in_train(np.zeros(ROWS, dtype=np.int64), empty_quota="whole_bucket") == 0
