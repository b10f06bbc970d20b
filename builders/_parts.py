"""The rows of a source, part by part, as its configs show, score and divide them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import BenchwrightWarning, SplitError
from ..splitting.base import Assignment, SplitRows, splitters
from ..splitting.scores import ScoreTable
from .base import Builder, ConfigSpec, SourceData
from .release import SourceRows
from .repair import with_inputs


class PlacedConfig(NamedTuple):
    """A config, and where the rows of its part stand (int8, one a row, in source order)."""

    spec: ConfigSpec
    side: np.ndarray


class Divided(NamedTuple):
    """A config, and where its splitter puts the rows of its part, in table order."""

    spec: ConfigSpec
    made: Assignment


class Part:
    """The rows of one part, or of the whole source, for the configs that divide them; each made once.

    `tables` are the score tables of these rows, in the order of `data.table`.
    """

    def __init__(self, builder: Builder, data: SourceData, tables: Mapping[str, ScoreTable]) -> None:
        self.data, self.tables = data, tables
        self._builder = builder
        self._shown: dict[str, SourceRows] = {}

    def split_rows(self, spec: ConfigSpec) -> SplitRows:
        """What splitters know of the rows, for a config of them."""
        return with_inputs(self._split_rows, self.data.table, self._builder.task_of(spec))

    @cached_property
    def _split_rows(self) -> SplitRows:
        return self._builder.split_rows(self.data)

    @cached_property
    def order(self) -> np.ndarray:
        """The rows (int64) in the order in which releases list them."""
        return np.argsort(self.data.table.column("source_index").to_numpy(), kind="stable")

    def rows(self, spec: ConfigSpec) -> SourceRows:
        """The rows as a config shows them; configs of equal columns share them."""
        features = self._builder.features_of(spec)
        key = repr(features)
        if key not in self._shown:
            table = self.data.table
            if spec.part is not None:
                table = table.select([name for name in table.column_names if name in features])
            self._shown[key] = SourceRows(table, features)
        return self._shown[key]

    def columns(self, spec: ConfigSpec, side: np.ndarray, withdrawn: np.ndarray) -> pa.Table | None:
        """Payload columns of a config alone, in table order, of rows that it has on `side` (int8[n]).

        Of `withdrawn` rows (bool[n]) nothing is said of what was searched for and found.
        """
        table = None if spec.scores is None else self.tables[spec.scores]
        scores = None if table is None else table.scores()
        placed = self._builder.placed_columns(self.data, side, spec, scores)
        found = None if table is None else table.searched()
        if found is None:
            return placed
        if withdrawn.any():
            found = found.take(pa.array(np.arange(len(found)), mask=withdrawn))
        if placed is not None:
            for name in placed.column_names:
                found = found.append_column(name, placed.column(name))
        return found


class SourceParts:
    """A source by the parts that configs divide, with the score tables that they read.

    Raises SourceError for a table that lacks a row of its part or was made from other inputs, ValueError if
    configs of several parts read one table.
    """

    def __init__(
        self,
        builder: Builder,
        data: SourceData,
        specs: Iterable[ConfigSpec],
        tables: Mapping[str, ScoreTable],
    ) -> None:
        self.builder = builder
        wanted: dict[str | None, dict[str, ScoreTable]] = {}
        for spec in specs:
            read = wanted.setdefault(spec.part, {})
            if spec.scores is not None:
                read[spec.scores] = tables[spec.scores]
        self._parts = {}
        for part, read in wanted.items():
            of_part = data.part(part)
            uids, contents = (of_part.table.column(name).combine_chunks() for name in ("uid", "content_id"))
            selected = {name: table.select(uids, contents) for name, table in read.items()}
            self._parts[part] = Part(builder, of_part, selected)
        names = [name for part in self._parts.values() for name in part.tables]
        if len(set(names)) != len(names):
            raise ValueError(f"configs of several parts read one score table of {', '.join(names)}")

    def part_of(self, spec: ConfigSpec) -> Part:
        """The rows that a config divides."""
        return self._parts[spec.part]

    def tables(self) -> Iterator[tuple[str | None, Part, str]]:
        """Every score table by its name, with the part whose rows it has (and that part's name)."""
        for name, part in self._parts.items():
            for table in part.tables:
                yield name, part, table


def divide(source: SourceParts, specs: Sequence[ConfigSpec], optional: Collection[str]) -> list[Divided]:
    """What each config makes of the rows; those whose rows cannot be divided are left out with a warning.

    Only configs of the names `optional` can be left out, and one of all must be there: else SplitError.
    """
    divided: list[Divided] = []
    failed: list[tuple[ConfigSpec, SplitError]] = []
    for spec in specs:
        part = source.part_of(spec)
        scores = None if spec.scores is None else part.tables[spec.scores].scores()
        try:
            made = splitters.get(spec.splitter)(**spec.parameters).split(part.split_rows(spec), scores)
        except SplitError as error:
            if spec.name not in optional:
                raise
            failed.append((spec, error))
        else:
            divided.append(Divided(spec, made))
    if failed and not divided:
        raise failed[0][1]
    for spec, reason in failed:
        warnings.warn(f"config {spec.name} is left out: {reason}", BenchwrightWarning, stacklevel=3)
    return divided
