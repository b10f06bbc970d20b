"""Metrics of tasks with a fixed set of labels. Labels are compared by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Metric, MetricValue
from .intervals import BOOTSTRAP, WILSON, bootstrap_counts, bootstrap_mean, wilson


def accuracy(gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
    """Share of rows whose prediction is the gold label.

    With predictions of shape (n, k), for k annotators, a row scores the share of its k answers that are
    right; answers to one row are not independent, so the interval then resamples rows.
    """
    if predictions.ndim == 1:
        correct = (gold == predictions).astype(np.float64)
        return MetricValue(
            float(correct.mean()), len(gold), *wilson(int(correct.sum()), len(gold)), WILSON, correct
        )
    answers = gold[:, None] == predictions
    correct = answers.mean(axis=1)
    low, high = bootstrap_mean(correct)
    return MetricValue(float(answers.mean()), len(gold), low, high, BOOTSTRAP, correct)


def macro_f1(gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
    """Unweighted mean of the F1 of every label that occurs as gold or as a prediction.

    Beside accuracy it shows a model that answers with the majority label. `per_example` is correctness.
    """
    return _of_confusion(_macro_f1, gold, predictions)


def matthews_correlation(gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
    """Matthews' correlation of gold and predicted labels, from -1 to 1, for any number of labels.

    The R_K statistic of Gorodkin (2004), as scikit-learn's `matthews_corrcoef`: 0 for guessing and, where it
    is not defined, for gold or predictions of one label alone. `per_example` is correctness.
    """
    return _of_confusion(_matthews, gold, predictions)


def _of_confusion(
    statistic: Callable[[np.ndarray, int], np.ndarray], gold: np.ndarray, predictions: np.ndarray
) -> MetricValue:
    """A statistic of the confusion matrix, which the interval resamples."""
    labels, codes = np.unique(np.concatenate([gold, predictions]).astype(str), return_inverse=True)
    size = len(labels)
    confusion = np.bincount(codes[: len(gold)] * size + codes[len(gold) :], minlength=size * size)
    value = float(statistic(confusion[None, :], size)[0])
    low, high = bootstrap_counts(confusion, lambda resampled: statistic(resampled, size))
    correct = (gold == predictions).astype(np.float64)
    return MetricValue(value, len(gold), low, high, BOOTSTRAP, correct)


def _macro_f1(confusions: np.ndarray, size: int) -> np.ndarray:
    """Macro-F1 of flattened confusion matrices (gold by prediction), shape (m, size * size) -> (m,)."""
    cells = confusions.reshape(-1, size, size)
    true_positives = np.diagonal(cells, axis1=1, axis2=2)
    total = cells.sum(axis=1) + cells.sum(axis=2)
    occurs = total > 0
    f1 = 2 * true_positives / np.where(occurs, total, 1)
    return f1.sum(axis=1) / occurs.sum(axis=1)


def _matthews(confusions: np.ndarray, size: int) -> np.ndarray:
    """Correlations of flattened confusion matrices (gold by prediction), shape (m, size * size) -> (m,)."""
    # Squares of counts of rows: float64 holds them exactly for up to 90 million rows.
    cells = confusions.reshape(-1, size, size).astype(np.float64)
    gold, predicted = cells.sum(axis=2), cells.sum(axis=1)
    rows = gold.sum(axis=1)
    right = np.trace(cells, axis1=1, axis2=2)
    covariance = right * rows - (gold * predicted).sum(axis=1)
    spread = (rows**2 - (gold**2).sum(axis=1)) * (rows**2 - (predicted**2).sum(axis=1))
    return np.where(spread > 0, covariance / np.sqrt(np.where(spread > 0, spread, 1)), 0.0)


ACCURACY = Metric("accuracy", 1, accuracy)
MACRO_F1 = Metric("macro_f1", 1, macro_f1)
MATTHEWS_CORRELATION = Metric("matthews_correlation", 1, matthews_correlation)
