"""Length buckets and their quotas: how likelihood splits keep the distribution of lengths.

Source: 2210.06799, Section 3.3, and the published code (quotas are rounded at random, one draw per bucket
in ascending order of length).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

LengthControl = Literal["exact"] | int | None


def length_buckets(lengths: np.ndarray, control: Literal["exact"] | int) -> np.ndarray:
    """Bucket number of each length, ascending with length: int64, same shape as `lengths`.

    "exact" makes one bucket per distinct length; a number makes that many quantile buckets as pandas'
    `qcut` does, fewer where quantiles coincide.

    >>> length_buckets(np.array([9, 4, 4, 7]), "exact").tolist()
    [2, 0, 0, 1]
    """
    if control == "exact":
        return np.unique(lengths, return_inverse=True)[1]
    import pandas as pd

    buckets = pd.qcut(pd.Series(lengths), control, labels=False, duplicates="drop")
    # One single length leaves no interval, and pandas then gives no bucket at all.
    return buckets.fillna(0).to_numpy(dtype=np.int64)


def rounded_quotas(counts: np.ndarray, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """`wanted` in proportion to `counts`, each quota rounded up with the probability of its fraction.

    Draws once per bucket (nothing where the fraction is 0). The quotas add up to `wanted` only on average.
    """
    total = int(counts.sum())
    quotas = np.empty(len(counts), dtype=np.int64)
    for bucket, count in enumerate(counts.tolist()):
        exact = wanted * count / total
        quotas[bucket] = int(exact) + rng.binomial(1, exact - int(exact))
    return quotas
