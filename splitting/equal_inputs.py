"""Rows that repeat or contradict others, by codes that are equal where inputs (or targets) are equal."""

from __future__ import annotations

import numpy as np


def later_copies(inputs: np.ndarray) -> np.ndarray:
    """Positions (int64), ascending, whose input stands at an earlier position.

    `inputs` (int64[n]) are codes from 0, dense or a part of dense ones.

    >>> later_copies(np.array([0, 1, 0, 2, 0])).tolist()
    [2, 4]
    """
    several = _repeated(inputs)
    _, first = np.unique(inputs[several], return_index=True)
    return np.delete(several, first)


def conflicts(inputs: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, int]:
    """Positions of rows whose input stands with more than one target, and the number of such inputs.

    `inputs` as for `later_copies`; `targets` (int64[n]) as the second of `combined`.

    >>> rows, inputs = conflicts(np.array([0, 1, 0, 1]), np.array([2, 3, 4, 3]))
    >>> rows.tolist(), inputs
    ([0, 2], 1)
    """
    several = _repeated(inputs)
    _, first = np.unique(combined(inputs[several], targets[several]), return_index=True)
    values, counts = np.unique(inputs[several][first], return_counts=True)
    found = values[counts > 1]
    return several[np.isin(inputs[several], found)], len(found)


def combined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Dense codes (int64) that are equal where both codes are; `second` may have -1 for none."""
    pairs = first * (int(second.max(initial=0)) + 2) + second + 1
    return dense(pairs)


def dense(codes: np.ndarray) -> np.ndarray:
    """Codes (int64) from 0 without gaps, equal where those of any integers are."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _repeated(keys: np.ndarray) -> np.ndarray:
    """Positions, ascending, whose key stands more than once: few, so that only these need sorting."""
    return np.flatnonzero(np.bincount(keys, minlength=1)[keys] > 1)
