"""Tables and columns of one database, as Spider's queries name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """A column by the lower-cased names of its table and itself; `*` is of no table."""

    table: str
    name: str


STAR = Column("", "*")


@dataclass(frozen=True)
class Schema:
    """What the parser of Spider's evaluation knows of a database; names are compared in lower case.

    `column_names` are (table number, name) pairs, the first one usually `*` of table -1; `foreign_keys` are
    pairs of column numbers. Raises ValueError for a number that is out of range.
    """

    table_names: tuple[str, ...]
    column_names: tuple[tuple[int, str], ...]
    foreign_keys: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for table, name in self.column_names:
            if not -1 <= table < len(self.table_names):
                raise ValueError(f"column {name!r} is of table {table}; there are {len(self.table_names)}")
        for key in self.foreign_keys:
            if not all(0 <= column < len(self.column_names) for column in key):
                raise ValueError(f"foreign key {key} in a schema of {len(self.column_names)} columns")

    @cached_property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """Names of the columns of every table."""
        tables: dict[str, set[str]] = {name.lower(): set() for name in self.table_names}
        for column in self._columns:
            if column != STAR:
                tables[column.table].add(column.name)
        return {name: frozenset(columns) for name, columns in tables.items()}

    @cached_property
    def representatives(self) -> Mapping[Column, Column]:
        """Columns that foreign keys make equivalent -> the first column of their group.

        One pass over the keys: each joins the first group that has one of its columns. Two groups that a
        later key connects stay apart, as in Spider's evaluation.
        """
        groups: list[set[int]] = []
        for key in self.foreign_keys:
            group = next((found for found in groups if not found.isdisjoint(key)), None)
            if group is None:
                groups.append(group := set())
            group.update(key)
        # A column of two groups takes the later one.
        return {self._columns[number]: self._columns[min(group)] for group in groups for number in group}

    @cached_property
    def _columns(self) -> list[Column]:
        return [
            Column(self.table_names[table].lower(), name.lower()) if table >= 0 else STAR
            for table, name in self.column_names
        ]


def from_rows(table: pa.Table) -> dict[str, Schema]:
    """db_id -> schema, from the rows of a release's config `schemas`. Raises ValueError for a faulty one."""
    return {
        row["db_id"]: Schema(
            tuple(row["table_names"]),
            tuple((column["table_id"], column["name"]) for column in row["column_names"]),
            tuple((key["column_id"], key["referenced_column_id"]) for key in row["foreign_keys"]),
        )
        for row in table.to_pylist()
    }
