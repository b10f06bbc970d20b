"""Which classes and programs the splits of a config hold (2210.06799, Figures 2 and 5, Tables 13 and 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def class_counts(values: np.ndarray, names: Sequence[str]) -> dict[str, int]:
    """Rows of every class, of those without rows too; `values` (int, shape (rows,)) index `names`.

    Rows with a negative value have no class and are not counted.
    """
    counts = np.bincount(values[values >= 0], minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))


class SymbolCounts:
    """What is counted in programs (tokens, atoms, compounds), ready to be summed over any choice of rows.

    `programs` are the counts of each distinct program, None for one that could not be read. Symbols are in
    alphabetical order, so that sums do not depend on that of the programs.
    """

    def __init__(self, programs: Sequence[Mapping[str, int] | None]) -> None:
        self.read = np.array([counts is not None for counts in programs], dtype=bool)
        self.symbols = sorted({symbol for counts in programs for symbol in counts or ()})
        number = {symbol: place for place, symbol in enumerate(self.symbols)}
        entries = [
            (place, number[symbol], count)
            for place, counts in enumerate(programs)
            for symbol, count in (counts or {}).items()
        ]
        self._program, self._symbol, self._count = np.array(entries, dtype=np.int64).reshape(-1, 3).T

    def totals(self, rows: np.ndarray) -> dict[str, int]:
        """The summed counts of some rows, given as places in `programs` (int, shape (rows,))."""
        times = np.bincount(rows, minlength=len(self.read))[self._program]
        # Exact: float64 holds integers up to 2**53.
        sums = np.bincount(self._symbol, weights=self._count * times, minlength=len(self.symbols))
        found = np.flatnonzero(sums).tolist()
        return {self.symbols[place]: int(sums[place]) for place in found}

    def unread(self, rows: np.ndarray) -> int:
        """How many of the rows have a program that could not be read."""
        return int((~self.read[rows]).sum())

    def lengths(self) -> np.ndarray:
        """The sum of all counts of each program: int64, shape (programs,); 0 for one that was not read."""
        sums = np.bincount(self._program, weights=self._count, minlength=len(self.read))
        return sums.astype(np.int64)
