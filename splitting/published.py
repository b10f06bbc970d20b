"""The split that a data set was published with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import SplitError, show
from ..registry import closest
from ._units import Units
from .base import SIDES, UNUSED, Note, Placement, Scores, Sizes, SplitRows, Splitter

STANDARD_NAMES = {"train": "train", "dev": "validation", "validation": "validation", "test": "test"}


class PublishedSplitter(Splitter):
    """Keep every row on the side where its source put it, in source order.

    `mapping` says for each source split train, validation, test, or None for rows that are left out.
    `sizes`, if given, must be those that come out. Where rows have groups, a group that the source divided
    trains as a whole, and `sizes` are upper limits for validation and test.

    `split` names one of `published_splits` of the rows: a division that others published over this source
    (None: the source's own). It is never altered, for groups either; rows that have no place in it are left
    out.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> source_splits = np.array(["dev", "train", "test", "train"])
    >>> rows = SplitRows(pa.array(["a", "b", "c", "d"]), np.arange(4), source_splits=source_splits)
    >>> [PublishedSplitter().split(rows).rows(side).tolist() for side in (0, 1, 2)]
    [[1, 3], [0], [2]]
    """

    name = "published"
    uses_all_rows = False

    def __init__(
        self,
        *,
        mapping: Mapping[str, str | None] = STANDARD_NAMES,
        sizes: Sizes | Mapping[str, int] | None = None,
        split: str | None = None,
    ) -> None:
        for source, side in mapping.items():
            if side is not None and side not in SIDES:
                raise SplitError(
                    f"mapping sends {source!r} to {show(side)}; choose {', '.join(SIDES)} or None"
                )
        if split is not None and not isinstance(split, str):
            raise SplitError(f"split is {show(split)}; give the name of a published division, or None")
        self.mapping = dict(mapping)
        self.sizes = None if sizes is None else Sizes.of(sizes)
        self.division = split

    def parameters(self) -> dict[str, Any]:
        """Constructor arguments; `split` of a splitter is its method."""
        sizes = None if self.sizes is None else asdict(self.sizes)
        return {"mapping": self.mapping, "sizes": sizes, "split": self.division}

    def _groups(self, rows: SplitRows) -> np.ndarray | None:
        return rows.groups if self.division is None else None

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        side = self.published_sides(rows)
        placed_by = np.full(len(rows), "published", dtype=object)
        notes = []
        divided = _divided_groups(self._groups(rows), side)
        if len(divided):
            side[divided] = SIDES["train"]
            placed_by[divided] = "group"
            message = f"{len(divided)} rows train because their group stands in several source splits"
            notes.append(Note("moved_by_group", message, rows.names(divided)))
        unused = np.flatnonzero(side == UNUSED)
        if len(unused):
            why = "mapping leaves out their source split"
            if self.division is not None:
                why = f"{self.division!r} was published without them"
            notes.append(Note("left_out", f"{len(unused)} rows are in no split: {why}"))
        train, validation, test = (np.flatnonzero(side == number) for number in SIDES.values())
        none = np.full(len(rows), np.nan, dtype=np.float32)
        return Placement(train, validation, test, placed_by, none, tuple(notes), unused)

    def published_sides(self, rows: SplitRows) -> np.ndarray:
        """The side of every row by the division's names of splits (int8[n]). Raises SplitError."""
        names = self._published_names(rows)
        side = np.full(len(rows), UNUSED, dtype=np.int8)
        for source in sorted({name for name in names.tolist() if name is not None}):
            if source not in self.mapping:
                raise SplitError(
                    f"rows come from source split {source!r}, which mapping does not name; "
                    f"it names {', '.join(map(repr, self.mapping))}: add {source!r} or leave these rows out"
                )
            target = self.mapping[source]
            side[names == source] = UNUSED if target is None else SIDES[target]
        return side

    def _published_names(self, rows: SplitRows) -> np.ndarray:
        if self.division is not None:
            if self.division not in rows.published_splits:
                known = closest(self.division, list(rows.published_splits))
                raise SplitError(f"rows have no published split {self.division!r}; {known}")
            return rows.published_splits[self.division]
        if rows.source_splits is None:
            raise SplitError(
                "the published split needs rows with the split of their source; choose another splitter"
            )
        return rows.source_splits


def _divided_groups(groups: np.ndarray | None, side: np.ndarray) -> np.ndarray:
    """Rows of groups that stand on more than one side; rows that are left out do not count."""
    used = np.flatnonzero(side != UNUSED)
    if groups is None:
        return used[:0]
    units = Units.of(groups[used], len(used))
    return used[units.per_row(units.strata(side[used], len(SIDES)) == len(SIDES))]
