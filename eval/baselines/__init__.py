"""Baselines: what can be run on a config to see how hard it is."""

from .base import Baseline, EvaluationData, Predictions, Rows, baselines

__all__ = ["Baseline", "EvaluationData", "Predictions", "Rows", "baselines"]
