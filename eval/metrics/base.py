"""What a metric is and how one is found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...registry import Registry

metrics: Registry[Metric] = Registry("metric")
metrics.declare("accuracy", "benchwright.eval.metrics.classification:ACCURACY")
metrics.declare("macro_f1", "benchwright.eval.metrics.classification:MACRO_F1")
metrics.declare("matthews_correlation", "benchwright.eval.metrics.classification:MATTHEWS_CORRELATION")
metrics.declare("exact_set_match", "benchwright.eval.metrics.text_to_sql:EXACT_SET_MATCH")
metrics.declare("string_match", "benchwright.eval.metrics.text_to_sql:STRING_MATCH")
metrics.declare("execution_accuracy", "benchwright.eval.metrics.text_to_sql:EXECUTION_ACCURACY")


@dataclass(frozen=True)
class MetricValue:
    """A score with its 95 % interval.

    `value`, `low` and `high` are fractions in [0, 1], of correlations numbers in [-1, 1]; `n` is the number
    of rows judged; `interval` names the method, low and high are None where it has too few rows.
    `per_example` has shape (rows,): the score of every row, in the order of the rows, NaN for rows that could
    not be judged. Those are counted by reason in `left_out` and are not among the n; with n = 0, value is
    NaN. `flagged` names, by reason, rows that count but not as they stand: position -> what is the matter.
    """

    value: float
    n: int
    low: float | None
    high: float | None
    interval: str
    per_example: np.ndarray
    left_out: Mapping[str, int] = field(default_factory=dict)
    flagged: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What metrics may need besides gold and predictions.

    `columns` maps columns of the config to their values for the judged rows, in order; `tables` maps side
    tables of the release, such as `schemas`, to their rows; `databases` is a folder of SQLite files.
    """

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    databases: Path | None = None


NO_CONTEXT = Context()


@dataclass(frozen=True)
class Metric:
    """A named, versioned score. A change of `version` makes stored results stale.

    `score(gold, predictions)` takes object arrays of str: gold of shape (n,), n > 0, predictions of shape
    (n,), or (n, k) for k independent answers per row where the metric allows it. A metric that needs
    anything else says what, and has `score(gold, predictions, context)`. The value depends on the set of
    rows only, never on their order.
    """

    name: str
    version: int
    score: Callable[..., MetricValue]
    needs_columns: tuple[str, ...] = ()
    needs_tables: tuple[str, ...] = ()
    needs_databases: bool = False

    @property
    def needs_context(self) -> bool:
        return bool(self.needs_columns or self.needs_tables or self.needs_databases)

    def not_applicable(self, context: Context) -> str | None:
        """Why this metric cannot be computed with what there is, or None if it can."""
        for kind, needed, present in (
            ("column", self.needs_columns, context.columns),
            ("table", self.needs_tables, context.tables),
        ):
            missing = [name for name in needed if name not in present]
            if missing:
                place = "config" if kind == "column" else "release"
                return f"the {place} has no {kind} {missing[0]!r}"
        if self.needs_databases and context.databases is None:
            return "no folder of databases was given"
        return None

    def __call__(
        self, gold: np.ndarray, predictions: np.ndarray, context: Context = NO_CONTEXT
    ) -> MetricValue:
        """Raises ValueError for no rows, for lengths that differ, or for a lack of context."""
        if not len(gold) or len(gold) != len(predictions):
            raise ValueError(
                f"{self.name} needs one prediction per row, got {len(predictions)} for {len(gold)}"
            )
        reason = self.not_applicable(context)
        if reason is not None:
            raise ValueError(f"{self.name} cannot be computed: {reason}")
        return self.score(gold, predictions, context) if self.needs_context else self.score(gold, predictions)
