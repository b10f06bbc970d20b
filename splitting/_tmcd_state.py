"""Two sides of a corpus of programs, and what every move of a unit would do to their compound divergence.

With N_k occurrences of compound k in all, c_k of them in train, and T of all W in train, the divergence is
1 - sum_k c_k^alpha (N_k - c_k)^(1 - alpha) / (T^alpha (W - T)^(1 - alpha)). A move changes the terms of a
unit's own compounds and nothing else. Terms are kept in fixed point: their sums are exact, so that the order
of summation never shows, nothing drifts, and swaps of equal programs are exact ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ._units import Units
from .divergence import COMPOUND_ALPHA

_FIXED_POINT_BITS = 60


@dataclass(frozen=True, eq=False)
class _Counts:
    """How often each of u units has each of `width` symbols; entries of a unit stand together.

    Unit i has `counts[j]` times symbol `symbols[j]` for j in `starts[i]` to `starts[i + 1]`.
    """

    starts: np.ndarray
    symbols: np.ndarray
    counts: np.ndarray
    width: int

    @classmethod
    def of(cls, units: Units, listed: Sequence[Mapping[str, int]]) -> _Counts:
        """Sums of the counts that are `listed` per row. Symbols are numbered anyhow: only counts matter."""
        numbers: dict[str, int] = {}
        symbols = [numbers.setdefault(symbol, len(numbers)) for counted in listed for symbol in counted]
        counts = [count for counted in listed for count in counted.values()]
        unit = np.repeat(units.per_row(np.arange(len(units))), [len(counted) for counted in listed])
        width = max(1, len(numbers))
        keys, entry = np.unique(unit * width + np.array(symbols, dtype=np.int64), return_inverse=True)
        summed = np.bincount(entry, counts, minlength=len(keys)).astype(np.int64)
        starts = np.searchsorted(keys, np.arange(len(units) + 1) * width)
        return cls(starts, keys % width, summed, width)

    def of_unit(self, unit: int) -> slice:
        """The entries of a unit."""
        return slice(self.starts[unit], self.starts[unit + 1])

    def per_entry(self, values: np.ndarray) -> np.ndarray:
        """Values per unit, repeated for each of its entries."""
        return np.repeat(values, np.diff(self.starts))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of integers per entry over each unit: int64[u]."""
        sums = np.zeros(len(self.starts) - 1, dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.starts))
        if len(filled):
            sums[filled] = np.add.reduceat(values, self.starts[filled], dtype=np.int64)
        return sums

    def totals(self, units: np.ndarray) -> np.ndarray:
        """How often each symbol occurs in the units of a mask: int64[width]."""
        counts = self.counts * self.per_entry(units)
        return np.bincount(self.symbols, counts, minlength=self.width).astype(np.int64)


class Bipartition:
    """u units, each on the side `trains` (bool[u]) or on the evaluation side.

    `compounds` says for each row how often it has a compound. `atoms` (symbols of each row) stands for the
    constraint that every atom of an evaluation unit occurs in a train unit; None for no constraint.
    """

    def __init__(
        self,
        units: Units,
        compounds: Sequence[Mapping[str, int]],
        atoms: Sequence[frozenset[str]] | None,
        trains: np.ndarray,
    ) -> None:
        self.sizes = units.sizes
        self._compounds = _Counts.of(units, compounds)
        listed = [frozenset[str]()] * len(compounds) if atoms is None else atoms
        self._atoms = _Counts.of(units, [dict.fromkeys(row, 1) for row in listed])
        self._atoms.counts[:] = 1
        self._totals = self._compounds.totals(np.ones(len(units), dtype=bool))
        self._weights = self._compounds.sums(self._compounds.counts)
        self._distinct_weights, self._weight_numbers = np.unique(self._weights, return_inverse=True)
        self._whole = int(self._weights.sum())
        self._resolution = 2.0 ** (self._whole.bit_length() - _FIXED_POINT_BITS)
        # Entries share few distinct pairs of a compound and a count; each pair is weighed once.
        most = int(self._compounds.counts.max(initial=0)) + 1
        keys = self._compounds.symbols * most + self._compounds.counts
        pairs, self._pair_of_entry = np.unique(keys, return_inverse=True)
        self._pair_symbols, self._pair_counts = pairs // most, pairs % most
        self.place(trains)

    def place(self, trains: np.ndarray) -> None:
        """Put the units of the mask on the train side, all others on the evaluation side."""
        self.trains = trains.copy()
        self._in_train = self._compounds.totals(trains)
        self._train_units_with = self._atoms.totals(trains)
        self._train_weight = int(self._weights[trains].sum())
        # Where an entry's change stands among those of entering train, followed by those of leaving it.
        leaves = self._compounds.per_entry(trains)
        self._change_of_entry = self._pair_of_entry + leaves * len(self._pair_symbols)
        self.set_alpha(COMPOUND_ALPHA)

    def set_alpha(self, alpha: float) -> None:
        """Measure the divergence with this exponent of train's shares."""
        numbers = range(int(self._totals.max(initial=0)) + 1)
        # Python's powers are the C library's; those of numpy depend on the processor.
        self._train_powers = np.array([number**alpha for number in numbers])
        self._evaluation_powers = np.array([number ** (1 - alpha) for number in numbers])
        self._alpha = alpha
        self._similarity = int(self._terms(self._in_train, self._totals).sum())

    def divergence(self) -> float:
        """The divergence of train against evaluation; 1.0 if one side has no compounds."""
        norm = self._norm(self._train_weight)
        return 1.0 - self._similarity * self._resolution / norm if norm > 0 else 1.0

    def divergences_after_moves(self) -> np.ndarray:
        """For each unit the divergence if it alone stood on the other side: float64[u]."""
        counts, totals = self._in_train[self._pair_symbols], self._totals[self._pair_symbols]
        now = self._terms(counts, totals)
        # Limits concern pairs that no unit has on that side.
        entered = self._terms(np.minimum(counts + self._pair_counts, totals), totals) - now
        left = self._terms(np.maximum(counts - self._pair_counts, 0), totals) - now
        changes = self._compounds.sums(np.concatenate([entered, left])[self._change_of_entry])
        weight = self._train_weight
        norms = np.array(
            [(self._norm(weight + own), self._norm(weight - own)) for own in self._distinct_weights.tolist()]
        )
        norm = norms[self._weight_numbers, self.trains.astype(np.int64)]
        shared = np.zeros(len(norm))
        np.divide((self._similarity + changes) * self._resolution, norm, out=shared, where=norm > 0)
        return 1.0 - shared

    def free(self) -> np.ndarray:
        """Train units each of whose atoms another train unit has too: bool[u]."""
        alone = self._train_units_with[self._atoms.symbols] <= 1
        return self.trains & (self._atoms.sums(alone) == 0)

    def keeps_atoms(self, unit: int) -> bool:
        """Whether train has every atom of `unit`."""
        symbols = self._atoms.symbols[self._atoms.of_unit(unit)]
        return bool((self._train_units_with[symbols] > 0).all())

    def move(self, unit: int) -> None:
        """Put `unit` on the other side."""
        sign = -1 if self.trains[unit] else 1
        entries = self._compounds.of_unit(unit)
        symbols = self._compounds.symbols[entries]
        before, totals = self._in_train[symbols], self._totals[symbols]
        after = before + sign * self._compounds.counts[entries]
        self._similarity += int((self._terms(after, totals) - self._terms(before, totals)).sum())
        self._in_train[symbols] = after
        self._change_of_entry[entries] += sign * len(self._pair_symbols)
        self._train_units_with[self._atoms.symbols[self._atoms.of_unit(unit)]] += sign
        self._train_weight += sign * int(self._weights[unit])
        self.trains[unit] = sign > 0

    def _terms(self, in_train: np.ndarray, totals: np.ndarray) -> np.ndarray:
        products = self._train_powers[in_train] * self._evaluation_powers[totals - in_train]
        return np.rint(products / self._resolution).astype(np.int64)

    def _norm(self, train_weight: int) -> float:
        train = min(max(train_weight, 0), self._whole)
        return float(train**self._alpha * (self._whole - train) ** (1 - self._alpha))
