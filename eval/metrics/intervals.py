"""95 % intervals: Wilson's for single proportions, percentile bootstrap over rows for everything else.

The bootstrap draws with one fixed seed: it is part of the metric, so that equal predictions always have
equal intervals. Rows that count alike are drawn together (resampling n rows with replacement draws the
counts of each kind of row from a multinomial distribution), so the result does not depend on row order
and needs no n x resamples array.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Interval = tuple[float, float] | tuple[None, None]

RESAMPLES = 2_000
BOOTSTRAP = "bootstrap over rows 95%"
WILSON = "Wilson 95%"
_SEED = 0
_Z = 1.959963984540054


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    The standard choice for an accuracy over independent rows: unlike the normal approximation it keeps
    its coverage near 0 and 1 and for small n (Brown, Cai and DasGupta 2001).

    >>> low, high = wilson(24, 40)
    >>> round(low, 4), round(high, 4)
    (0.446, 0.7365)
    """
    share = successes / n
    scale = 1 + _Z**2 / n
    centre = (share + _Z**2 / (2 * n)) / scale
    margin = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / scale
    # At 0 and n the bound is exact; rounding would leave 1e-17.
    return (0.0 if successes == 0 else centre - margin), (1.0 if successes == n else centre + margin)


def bootstrap_counts(counts: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Interval:
    """Percentile bootstrap of a statistic of counts; (None, None) for one row, which has no spread.

    `counts` has shape (kinds,): how many rows are of each kind, in an order that is fixed by the kinds.
    `statistic` maps resampled counts of shape (resamples, kinds) to values of shape (resamples,).
    """
    n = int(counts.sum())
    if n < 2:
        return None, None
    resampled = np.random.default_rng(_SEED).multinomial(n, counts / n, size=RESAMPLES)
    low, high = np.percentile(statistic(resampled), [2.5, 97.5])
    return float(low), float(high)


def bootstrap_mean(values: np.ndarray) -> Interval:
    """Percentile bootstrap of the mean of `values`, shape (n,)."""
    kinds, counts = np.unique(values, return_counts=True)
    return bootstrap_counts(counts, lambda resampled: resampled @ kinds / len(values))
