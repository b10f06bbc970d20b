"""Metrics: pure functions of gold answers and predictions; matched to tasks by name."""

from .base import Context, Metric, MetricValue, metrics

__all__ = ["Context", "Metric", "MetricValue", "metrics"]
