"""How long the texts of a split are (2210.06799, Figures 6 and 9)."""

from __future__ import annotations

from typing import Any

import numpy as np


def length_summary(lengths: np.ndarray) -> dict[str, Any]:
    """Mean, median, quartiles and histogram of lengths in tokens, integers of shape (rows,), rows > 0.

    Quartiles are interpolated linearly; `histogram` lists [length, rows] for every length that occurs.
    """
    values, counts = np.unique(lengths, return_counts=True)
    first, median, third = np.percentile(lengths, (25, 50, 75)).tolist()
    return {
        "rows": len(lengths),
        "mean": int(lengths.sum(dtype=np.int64)) / len(lengths),
        "median": median,
        "quartiles": [first, third],
        "histogram": [list(pair) for pair in zip(values.tolist(), counts.tolist(), strict=True)],
    }


def average(values: np.ndarray) -> dict[str, float]:
    """Mean and median of numbers of shape (rows,), rows > 0, whatever their order."""
    # Sorted first, so that the order of the rows cannot show in the last bit of the sum.
    ordered = np.sort(values)
    return {"mean": float(ordered.mean()), "median": float(np.median(ordered))}
