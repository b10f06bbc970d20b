"""What a metric is and how one is found by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...registry import Registry

metrics: Registry[Metric] = Registry("metric")
metrics.declare("accuracy", "benchwright.eval.metrics.classification:ACCURACY")
metrics.declare("macro_f1", "benchwright.eval.metrics.classification:MACRO_F1")
metrics.declare("string_match", "benchwright.eval.metrics.text_to_sql:STRING_MATCH")


@dataclass(frozen=True)
class MetricValue:
    """A score with its 95 % interval.

    `value`, `low` and `high` are fractions in [0, 1]; `n` is the number of rows judged; `interval` names
    the method, low and high are None where it has too few rows. `per_example` has shape (n,): the score
    of every row, in the order of the rows.
    """

    value: float
    n: int
    low: float | None
    high: float | None
    interval: str
    per_example: np.ndarray


@dataclass(frozen=True)
class Metric:
    """A named, versioned score. A change of `version` makes stored results stale.

    `score(gold, predictions)` takes object arrays of str: gold of shape (n,), n > 0, predictions of shape
    (n,), or (n, k) for k independent answers per row where the metric allows it. It depends on the set of
    (gold, prediction) pairs only, never on their order.
    """

    name: str
    version: int
    score: Callable[[np.ndarray, np.ndarray], MetricValue]

    def __call__(self, gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
        """Raises ValueError for no rows, or for gold and predictions of different lengths."""
        if not len(gold) or len(gold) != len(predictions):
            raise ValueError(
                f"{self.name} needs one prediction per row, got {len(predictions)} for {len(gold)}"
            )
        return self.score(gold, predictions)
