"""Pointwise V-information: how much more a model knows of a label once it has seen the input.

Source: Ethayarajh et al. 2022 (2110.08420). Two models of one kind are trained, one on inputs and one on a
null input. With g and g' their probabilities, PVI(x -> y) = -log2 g'[null](y) + log2 g[x](y), and the
V-information of a data set is its mean. Everything here is in bits, and computed in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_BITS = 126.0
"""Entropies end here: a probability below 2**-126 (the least normal float32) counts as that, 0 included."""

CONSTANT_WITHIN = 0.01
"""A model whose probabilities differ by no more than this between any two inputs does not look at them."""

_DRAWS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class PointwiseVInformation:
    """Three float64 arrays of shape (n,), in bits: pvi = entropy_null - entropy_input."""

    entropy_null: np.ndarray
    entropy_input: np.ndarray
    pvi: np.ndarray


@dataclass(frozen=True)
class VInformation:
    """The mean PVI of `n` rows in bits, with a bootstrap interval from `low` to `high`."""

    value: float
    low: float
    high: float
    n: int


def entropies(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """-log2 of the softmax probability of each row's label, from 0 to `MOST_BITS`: float64 of shape (n,).

    `logits` has shape (n, classes) or, for one input that stands for all rows, (classes,); `labels` int[n].
    A logit of minus infinity is probability 0. Raises ValueError for NaN, infinity or a label of no class.

    >>> entropies(np.array([[0.0, 0.0], [50.0, -np.inf]]), np.array([0, 1])).tolist()
    [1.0, 126.0]
    """
    logits = np.atleast_2d(np.asarray(logits, dtype=np.float64))
    labels = np.asarray(labels)
    if np.isnan(logits).any() or np.isposinf(logits).any() or np.isneginf(logits).all(axis=1).any():
        raise ValueError("logits must be numbers, or minus infinity for some classes of a row")
    if len(labels) and (labels.min() < 0 or labels.max() >= logits.shape[1]):
        raise ValueError(f"labels must be from 0 to {logits.shape[1] - 1}")
    logits = np.broadcast_to(logits, (len(labels), logits.shape[1]))
    shifted = logits - logits.max(axis=1, keepdims=True)
    nats = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
    return np.minimum(nats / np.log(2), MOST_BITS)


def pointwise_v_information(
    input_logits: np.ndarray, null_logits: np.ndarray, labels: np.ndarray, *, zero_label: bool = False
) -> PointwiseVInformation:
    """PVI of each row from the logits on its input and on the null input; shapes and errors as `entropies`.

    `zero_label` repeats a fault of Curriculum's published code: every row of label 0 has entropies and PVI 0.

    >>> pointwise_v_information(np.array([[2.0, 2.0]]), np.array([0.0, 0.0]), np.array([1])).pvi.tolist()
    [0.0]
    """
    null, given = (entropies(logits, labels) for logits in (null_logits, input_logits))
    return from_entropies(null, given, labels, zero_label=zero_label)


def from_entropies(
    entropy_null: np.ndarray, entropy_input: np.ndarray, labels: np.ndarray, *, zero_label: bool = False
) -> PointwiseVInformation:
    """The same from entropies in bits (float64[n] each), such as means over several models."""
    if zero_label:
        counted = np.asarray(labels) != 0
        entropy_null, entropy_input = entropy_null * counted, entropy_input * counted
    return PointwiseVInformation(entropy_null, entropy_input, entropy_null - entropy_input)


def v_information(
    pvi: np.ndarray, *, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> VInformation:
    """Mean PVI with a percentile bootstrap interval over rows; the same for every order of the rows.

    `pvi` has shape (n,), n > 0, without NaN (else ValueError).
    """
    values = np.sort(np.asarray(pvi, dtype=np.float64))
    n = len(values)
    if n == 0 or np.isnan(values).any():
        raise ValueError("V-information needs at least one row, and a PVI for every row")
    rng = np.random.default_rng(seed)
    rows = max(1, _DRAWS_AT_ONCE // n)
    means = np.concatenate(
        [
            values.take(rng.integers(0, n, (min(rows, resamples - done), n), dtype=np.uint32)).mean(axis=1)
            for done in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return VInformation(float(values.mean()), float(low), float(high), n)


def is_constant(logits: np.ndarray) -> bool:
    """Whether a model gives all of several inputs the same probabilities, within `CONSTANT_WITHIN`.

    `logits` float of shape (n, classes), one row per distinct input.

    >>> is_constant(np.array([[1.0, 2.0], [3.0, 4.001]])), is_constant(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    if len(logits) < 2:
        return False
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    probabilities = shifted / shifted.sum(axis=1, keepdims=True)
    return bool(np.ptp(probabilities, axis=0).max() <= CONSTANT_WITHIN)


def without_usable_information(constant: int, models: int, found: VInformation) -> str | None:
    """Why PVI says nothing of its inputs, as a sentence for a warning; None where it does.

    `constant` of the `models` that read inputs give every input the same probabilities (see `is_constant`).
    """
    measured = f"V-information {found.value:.3f} bits ({found.low:.3f} to {found.high:.3f})"
    if constant:
        return (
            f"no usable information: {constant} of {models} models give every input the same probabilities, "
            f"{measured}; train longer, at a higher rate or on more rows before PVI is taken for difficulty"
        )
    if found.high <= 0:
        return (
            f"no usable information: labels are no likelier with the input than without it, {measured}; the "
            "models learned nothing that holds for other rows than their own"
        )
    return None
