"""Evaluation: baselines and metrics on the configs of a release, stored results and their analyses."""

from .baselines import Baseline, Predictions
from .metrics import Metric, MetricValue
from .results import Result, load_results, stale_reason
from .run import evaluate, refresh_index, why_not_applicable

__all__ = [
    "Baseline",
    "Metric",
    "MetricValue",
    "Predictions",
    "Result",
    "evaluate",
    "load_results",
    "refresh_index",
    "stale_reason",
    "why_not_applicable",
]
