"""Document lengths as Whoosh keeps them: one byte each, rounded up to the next value of its table.

METHODS part D.3. The table is 27 * (1.033^n - 1) rounded, n = 0..255: exact up to 10 terms, within 3.3 %
above, and every document of more than 106,374 terms counts as one of that length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LENGTHS: NDArray[np.int64] = np.array([round(27 * (1.033**n - 1)) for n in range(256)], dtype=np.int64)
"""The length that each code stands for, int64 [256], ascending."""


def length_codes(lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The code of each length: the first of the table that is not below it, uint8, same shape."""
    return np.minimum(np.searchsorted(LENGTHS, lengths), 255).astype(np.uint8)
