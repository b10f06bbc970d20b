"""Metrics: pure functions of gold answers and predictions; matched to tasks by name."""

from .base import Metric, MetricValue, metrics

__all__ = ["Metric", "MetricValue", "metrics"]
