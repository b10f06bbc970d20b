"""What is placed as one: single rows, or whole groups of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Units:
    """u units over n rows, numbered by their first row.

    `sizes` (int64[u]) counts rows; `members` (int64[n]) lists the rows of unit 0, then unit 1, ..., each in
    row order; `starts` (int64[u]) says where a unit begins in `members`; `single` means that every unit is
    one row, so that units and rows have the same numbers.
    """

    sizes: np.ndarray
    members: np.ndarray
    starts: np.ndarray
    single: bool

    @classmethod
    def of(cls, groups: np.ndarray | None, n: int) -> Units:
        """Units of equal `groups` (int[n]); every row by itself where that is None or nothing repeats."""
        if groups is not None:
            _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
            if len(first) < n:
                rank = np.empty(len(first), dtype=np.int64)
                rank[np.argsort(first)] = np.arange(len(first))
                unit = rank[inverse]
                sizes = np.bincount(unit)
                return cls(sizes, np.argsort(unit, kind="stable"), np.cumsum(sizes) - sizes, False)
        rows = np.arange(n)
        return cls(np.ones(n, dtype=np.int64), rows, rows, True)

    def __len__(self) -> int:
        return len(self.sizes)

    def weight(self, units: np.ndarray) -> int:
        """Number of rows in `units`."""
        return len(units) if self.single else int(self.sizes[units].sum())

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of a row value over each unit, NaN where a member has NaN; unchanged for single rows."""
        if self.single:
            return values
        return np.add.reduceat(values[self.members].astype(np.float64), self.starts) / self.sizes

    def any(self, marked: np.ndarray) -> np.ndarray:
        """Which units have a member that is `marked` (bool[n]): bool[u]."""
        return marked if self.single else np.logical_or.reduceat(marked[self.members], self.starts)

    def rows(self, units: np.ndarray) -> np.ndarray:
        """Rows of `units`, unit by unit in the order given."""
        if self.single:
            return units
        sizes = self.sizes[units]
        ends = np.cumsum(sizes)
        offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return self.members[np.repeat(self.starts[units], sizes) + offsets]

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Values per unit, repeated for each row, in row order."""
        if self.single:
            return values
        repeated = np.empty(len(self.members), dtype=values.dtype)
        repeated[self.members] = np.repeat(values, self.sizes)
        return repeated

    def fill(self, walk: np.ndarray, room: int) -> np.ndarray:
        """Walk over units and take each that still fits into `room` rows: a mask over `walk`."""
        taken = np.zeros(len(walk), dtype=bool)
        if self.single:
            taken[:room] = True
            return taken
        for place, size in enumerate(self.sizes[walk].tolist()):
            if room == 0:
                break
            if size <= room:
                taken[place] = True
                room -= size
        return taken

    def by_rank(self, walk: np.ndarray, room: int) -> np.ndarray:
        """The units of `walk` that begin within `room` rows, whether or not they fit: a mask over `walk`."""
        sizes = self.sizes[walk]
        return np.cumsum(sizes) - sizes < room

    def strata(self, labels: np.ndarray, number: int) -> np.ndarray:
        """Label of each unit; `number` (one more than the last label) where members differ."""
        if self.single:
            return labels.astype(np.int64)
        ordered = labels[self.members]
        low = np.minimum.reduceat(ordered, self.starts)
        high = np.maximum.reduceat(ordered, self.starts)
        return np.where(low == high, low, number).astype(np.int64)


def connected_groups(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Group of each row where rows of one value of `first` or of `second` belong together: int64[n].

    Both are int64[n]; -1 in `second` stands for no value. A chain of the two relations is one group. Groups
    are numbered by their first row.

    >>> connected_groups(np.array([5, 5, 1, 2]), np.array([-1, 7, 7, -1])).tolist()
    [0, 0, 0, 1]
    """
    nodes = np.unique(first, return_inverse=True)[1].tolist()
    parents = list(range(len(nodes)))

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    holders: dict[int, int] = {}
    for node, value in zip(nodes, second.tolist(), strict=True):
        if value >= 0:
            parents[root(node)] = root(holders.setdefault(value, node))
    numbers: dict[int, int] = {}
    roots = (root(node) for node in nodes)
    return np.array([numbers.setdefault(top, len(numbers)) for top in roots], dtype=np.int64)
