"""Metrics of text-to-SQL."""

from __future__ import annotations

import numpy as np

from .base import Metric, MetricValue
from .intervals import WILSON, wilson


def normalise_query(query: str) -> str:
    """A query in lower case with every run of white space as one blank.

    >>> normalise_query("SELECT  Name\\nFROM singer ")
    'select name from singer'
    """
    return " ".join(query.lower().split())


def string_match(gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
    """Share of predicted queries that equal the gold query up to case and white space.

    A lower bound on Spider's exact set match, and not comparable with it: other aliases, another order of
    conditions or a blank before a comma make two queries differ here. Case inside string literals is
    ignored as well.
    """
    pairs = zip(gold, predictions, strict=True)
    correct = np.array([normalise_query(a) == normalise_query(b) for a, b in pairs], dtype=np.float64)
    low, high = wilson(int(correct.sum()), len(gold))
    return MetricValue(float(correct.mean()), len(gold), low, high, WILSON, correct)


STRING_MATCH = Metric("string_match", 1, string_match)
