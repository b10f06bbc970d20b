"""Rows as an audit compares them: codes that are equal where texts, inputs or targets are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..splitting.equal_inputs import combined, dense
from ..tasks import Task
from ._audit_near import NearDuplicates

# A recast joins what it was given by this sign; nothing before or after it means that a piece is missing.
_SEPARATOR = r"(^|\s);\s*$|^\s*;(\s|$)"


@dataclass(frozen=True, eq=False)
class Component:
    """One input column of n rows with d distinct texts.

    `at` (int64[n]): which distinct text a row has. By distinct text: `normalised`, itself without case,
    punctuation and spacing; `empty` (bool[d]), nothing but white space; `broken` (bool[d]), a separator with
    nothing on one side; `words` (int64[d]), number of words between white space.
    """

    at: np.ndarray
    normalised: pa.Array
    empty: np.ndarray
    broken: np.ndarray
    words: np.ndarray

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Component:
        """Each distinct text is looked at once: premises and passages stand in several rows."""
        texts, at = _distinct(column)
        return cls(
            at=at,
            normalised=_normalise(texts),
            empty=_numpy(pc.equal(pc.utf8_trim_whitespace(texts), "")),
            broken=_numpy(pc.match_substring_regex(texts, _SEPARATOR)),
            words=_numpy(pc.count_substring_regex(texts, r"\S+")).astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class AuditRows:
    """What the checks need of n rows, in source order.

    `exact`, `normalised`, `targets`: int64 arrays of shape (n,), codes dense from 0 for the first two.
    `components`: the input columns by name. `source_splits` (int64[n]) indexes `source_names`.
    """

    uids: pa.Array
    exact: np.ndarray
    normalised: np.ndarray
    targets: np.ndarray
    target_names: tuple[str, ...]
    labelled: bool
    components: Mapping[str, Component]
    source_splits: np.ndarray
    source_names: tuple[str, ...]

    @classmethod
    def from_table(cls, table: pa.Table, task: Task) -> AuditRows:
        """Rows of one corpus; `table` has uid, the task's inputs, its target and maybe source_split."""
        exact = normalised = np.zeros(table.num_rows, dtype=np.int64)
        components = {name: Component.of(table.column(name)) for name in task.inputs}
        for component in components.values():
            exact = combined(exact, component.at)
            normalised = combined(normalised, _distinct(component.normalised)[1][component.at])
        targets, names = _target_codes(table, task)
        sources, at = pa.array([""]), np.zeros(table.num_rows, np.int64)
        if "source_split" in table.column_names:
            sources, at = _distinct(table.column("source_split"))
        return cls(
            table.column("uid").combine_chunks(),
            exact,
            normalised,
            targets,
            names,
            task.labels is not None,
            components,
            at,
            tuple(sources.to_pylist()),
        )

    def __len__(self) -> int:
        return len(self.exact)

    def take(self, rows: np.ndarray) -> AuditRows:
        """The rows at `rows`, ascending."""
        return replace(
            self,
            uids=self.uids.take(pa.array(rows)),
            exact=dense(self.exact[rows]),
            normalised=dense(self.normalised[rows]),
            targets=self.targets[rows],
            components={name: replace(c, at=c.at[rows]) for name, c in self.components.items()},
            source_splits=self.source_splits[rows],
        )

    def named(self, rows: np.ndarray) -> list[str]:
        """The uids of these rows, in row order."""
        return self.uids.take(pa.array(np.sort(rows))).to_pylist()

    @cached_property
    def near(self) -> NearDuplicates:
        """Near-duplicates among the distinct normalised inputs, which have the numbers in `normalised`."""
        _, first = np.unique(self.normalised, return_index=True)
        columns = []
        for component in self.components.values():
            texts, codes = _distinct(component.normalised)
            columns.append((texts, codes[component.at[first]]))
        return NearDuplicates(columns)


def _distinct(texts: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The distinct texts (null reads as nothing) and, for each row, which of them it holds (int64).

    A list of texts is compared as its texts, one a line.
    """
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.binary_join(
            column.cast(pa.large_list(pa.large_string())), pa.scalar("\n", pa.large_string())
        )
    encoded = pc.fill_null(column.cast(pa.large_string()), "").dictionary_encode()
    return encoded.dictionary, _numpy(encoded.indices).astype(np.int64)


def _numpy(values: pa.Array) -> np.ndarray:
    return values.to_numpy(zero_copy_only=False)


def _target_codes(table: pa.Table, task: Task) -> tuple[np.ndarray, tuple[str, ...]]:
    if task.target not in table.column_names:
        return np.zeros(table.num_rows, np.int64), ()
    column = table.column(task.target).combine_chunks()
    if task.labels is not None and not (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        return _numpy(pc.fill_null(column.cast(pa.int64()), -1)), task.labels
    encoded = column.dictionary_encode(null_encoding="encode")
    return _numpy(encoded.indices).astype(np.int64), tuple(map(str, encoded.dictionary.to_pylist()))


def _normalise(texts: pa.Array) -> pa.Array:
    """Case, compatibility forms, punctuation and spacing removed; a text of symbols alone stays itself."""
    folded = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    words = pc.utf8_trim_whitespace(pc.replace_substring_regex(folded, r"[^\p{L}\p{M}\p{N}]+", " "))
    return pc.if_else(pc.equal(words, ""), folded, words)
