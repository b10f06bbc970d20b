"""One config of two releases: columns, rows, scores and facts. Files are read only where hashes differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features

from ..errors import ReleaseError, show
from ..features import SCORE_COLUMNS, class_names, payload_columns
from ..hashing import DIGEST_SIZE, row_digests, stored_digests
from ..release import ReleaseFolder, read_parquet
from ._diff_facts import fact_changes
from ._diff_rows import (
    ConfigRows,
    Matching,
    common_codes,
    common_splits,
    compare_rows,
    compare_score_columns,
    first_repeated,
    match_contents,
    match_digests,
    match_unique,
    unequal,
)
from ._diff_types import ColumnChange, ConfigDiff, FeatureChange, RowsDiff, Sample, ScoreChange, cut
from .release import ASSIGNMENT, UNUSED_SPLIT

_DAMAGED = "run `benchwright verify` on it"
_IDENTITY = ("uid", "source_index")
"""Columns that say where a row stands in its source, which means nothing across source files."""


def place_of(release: ReleaseFolder) -> str:
    """What messages call a release: the Hub id and revision, or the folder."""
    return str(getattr(release, "place", release.path))


@dataclass(frozen=True)
class Side:
    """A config, or those of its splits that are compared alone, in one of the releases."""

    release: ReleaseFolder
    config: str
    splits: tuple[str, ...]

    @property
    def entry(self) -> dict[str, Any]:
        return self.release.config(self.config)

    @property
    def placed(self) -> bool:
        return self.entry["kind"] == "split"

    @cached_property
    def features(self) -> Features:
        return self.release.features(self.config)

    @cached_property
    def schema(self) -> pa.Schema:
        return self.features.arrow_schema

    def facts(self, split: str) -> Mapping[str, Any]:
        """The manifest's entry of a split; empty if it is none of these."""
        return self.entry["splits"][split] if split in self.splits else {}

    def column(self, split: str, name: str) -> pa.ChunkedArray:
        """One column of a split as the manifest declares it. Raises ReleaseError if the file has another."""
        kind = self.schema.field(name).type
        try:
            return self.release.table(self.config, split, [name]).column(name).cast(kind)
        except (KeyError, pa.ArrowException):
            raise self.damaged(f"has no column {show(name)} of type {kind} in {split!r}") from None

    def damaged(self, message: str) -> ReleaseError:
        """The error for files that are not what manifest or assignment say."""
        return ReleaseError(f"{place_of(self.release)}: config {self.config!r} {message}; {_DAMAGED}")


def config_diff(name: str, first: Side, second: Side, by_content: bool) -> ConfigDiff:
    """Everything that differs but the effects; an empty (false) one if nothing does.

    `by_content` matches rows by content_id where both sides have it. Raises ReleaseError for files that are
    missing or not what the manifest declares.
    """
    kind = second.entry["kind"]
    features = feature_changes(first.features, second.features)
    rows, scores = RowsDiff("uid"), list[ScoreChange]()
    content = _unequal_splits(first, second, "content_hash")
    scored = _unequal_splits(first, second, "scores_hash")
    assigned = [_hash(side.entry.get("assignment")) for side in (first, second)]
    if features or content or scored or assigned[0] != assigned[1]:
        pair = _matched(first, second, by_content, same_features=not features)
        rows = _rows_diff(pair)
        scores = _score_changes(pair, scored)
    former = first.config if first.config != second.config else None
    found = ConfigDiff(name, kind, former, features, rows, tuple(scores))
    facts = [_plain_facts(side, with_files=not found.differs) for side in (first, second)]
    return replace(found, facts=tuple(fact_changes(*facts)))


def feature_changes(first: Features, second: Features) -> tuple[FeatureChange, ...]:
    """Columns added, removed or of another type, label names, and the order of the columns."""
    found = []
    for name in dict.fromkeys([*first, *second]):
        old, new = first.get(name), second.get(name)
        if old == new:
            continue
        kind = "removed" if new is None else "added" if old is None else "type"
        if isinstance(old, ClassLabel) and isinstance(new, ClassLabel):
            found.append(FeatureChange("labels", cut(name), show(old.names), show(new.names)))
        else:
            found.append(FeatureChange(kind, cut(name), *(value and show(value) for value in (old, new))))
    common = [[name for name in side if name in first and name in second] for side in (first, second)]
    if common[0] != common[1]:
        found.append(FeatureChange("order", None, show(common[0]), show(common[1])))
    return tuple(found)


class _Pair(NamedTuple):
    """Rows of both sides and which of them are one row."""

    first: Side
    second: Side
    rows: ConfigRows
    others: ConfigRows
    matching: Matching
    matched_by: str


class _Values:
    """Values of some rows of one side (`index`), read one column at a time."""

    def __init__(self, side: Side, rows: ConfigRows, index: np.ndarray) -> None:
        self._side = side
        codes = np.unique(rows.split[index])
        self._splits = [rows.splits[code] for code in codes]
        members = [np.flatnonzero(rows.split == code) for code in codes]
        expected = rows.uids.take(pa.array(np.concatenate([*members, np.empty(0, np.int64)])))
        if not self._read("uid").cast(pa.large_string()).equals(pa.chunked_array([expected])):
            raise side.damaged("has other rows in its files than in its assignment")
        starts = np.zeros(len(rows.splits), dtype=np.int64)
        starts[codes] = np.cumsum([0, *(len(part) for part in members)])[:-1]
        self._place = pa.array(starts[rows.split[index]] + rows.place[index])

    def column(self, name: str) -> pa.ChunkedArray:
        """Values in the order of the rows asked for; classes by name."""
        values = self._read(name).take(self._place)
        kind = self._side.features[name]
        return _named(values, kind.names) if isinstance(kind, ClassLabel) else values

    def _read(self, name: str) -> pa.ChunkedArray:
        parts = [self._side.column(split, name) for split in self._splits]
        kind = self._side.schema.field(name).type
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind)


def _matched(first: Side, second: Side, by_content: bool, same_features: bool) -> _Pair:
    sides = first, second
    read = _file_rows
    if first.placed and second.placed:
        # Equal assignments under unequal splits contradict each other: then the files decide.
        agree = _hash(first.entry["assignment"]) == _hash(second.entry["assignment"])
        read = _file_rows if agree and same_features else _assigned_rows
    elif not all("uid" in side.features for side in sides):
        return _matched_by_digest(first, second)
    rows, others = (read(side, digests=same_features) for side in sides)
    codes = common_codes(rows.uids, others.uids)
    for side, names, uids in zip(sides, codes, (rows.uids, others.uids), strict=True):
        repeated = first_repeated(names)
        if repeated is not None and not side.placed:
            return _matched_by_digest(first, second)
        if repeated is not None:
            raise side.damaged(f"has {show(uids[repeated].as_py())} twice")
    if not (by_content and all("content_id" in side.features for side in sides)):
        return _Pair(first, second, rows, others, match_unique(*codes), "uid")
    contents = (
        _Values(side, members, np.arange(len(members))).column("content_id")
        for side, members in zip(sides, (rows, others), strict=True)
    )
    codes = common_codes(*(ids.combine_chunks() for ids in contents))
    matching = match_contents(*codes, *common_splits(rows, others)[1])
    return _Pair(first, second, rows, others, matching, "content_id")


def _matched_by_digest(first: Side, second: Side) -> _Pair:
    """Rows of tables that have no uids, named by their first column."""
    rows, others = (_file_rows(side, digests=True) for side in (first, second))
    assert rows.digests is not None
    assert others.digests is not None
    return _Pair(first, second, rows, others, match_digests(rows.digests, others.digests), "row")


def _assigned_rows(side: Side, digests: bool) -> ConfigRows:
    """The rows that the assignment places. Raises ReleaseError for an assignment of another form."""
    table = read_parquet(side.release.assignment_file(side.config))
    if [(f.name, f.type) for f in table.schema] != [(f.name, f.type) for f in ASSIGNMENT]:
        raise side.damaged(f"has an assignment with the columns {show(table.schema.names)}")
    table = table.filter(pc.not_equal(table.column("split"), UNUSED_SPLIT))
    split = pc.index_in(table.column("split"), value_set=pa.array(side.splits, pa.string()))
    if split.null_count:
        name = table.column("split").filter(pc.is_null(split))[0].as_py()
        raise side.damaged(f"has an assignment to {show(name)}, which is none of its splits")
    return ConfigRows(
        uids=table.column("uid").cast(pa.large_string()).combine_chunks(),
        split=split.to_numpy().astype(np.int64),
        splits=side.splits,
        digests=stored_digests(table.column("row_digest")).view(np.uint64) if digests else None,
        positions=table.column("position").to_numpy(),
    )


def _file_rows(side: Side, digests: bool) -> ConfigRows:
    """The rows that stand in the files, named by `uid`, or else by the first column."""
    name = "uid" if "uid" in side.features else next(iter(side.features))
    columns = payload_columns(side.features) if digests else [name]
    tables = [
        pa.table({column: side.column(split, column) for column in dict.fromkeys([name, *columns])})
        for split in side.splits
    ]
    uids = [chunk for table in tables for chunk in table.column(name).chunks]
    if name != "uid":
        uids = [pa.array([cut(value) for value in chunk.to_pylist()], pa.string()) for chunk in uids]
    return ConfigRows(
        uids=pa.chunked_array(uids, pa.string()).cast(pa.large_string()).combine_chunks(),
        split=np.repeat(np.arange(len(tables)), [table.num_rows for table in tables]),
        splits=side.splits,
        digests=_digests([table.select(columns) for table in tables], side) if digests else None,
    )


def _rows_diff(pair: _Pair) -> RowsDiff:
    rows, others, matching = pair.rows, pair.others, pair.matching
    left, right = matching.left, matching.right
    changed, renumbered = np.zeros(len(left), dtype=bool), np.zeros(len(left), dtype=bool)
    columns: list[ColumnChange] = []
    suspects = np.arange(len(left))
    if rows.digests is not None and others.digests is not None:
        suspects = np.flatnonzero((rows.digests[left] != others.digests[right]).any(axis=1))
        # Under other source files a digest differs for the uid alone; only values tell.
        changed[suspects] = pair.matched_by != "content_id"
    if len(suspects):
        values = _Values(pair.first, rows, left[suspects]), _Values(pair.second, others, right[suspects])
        for column in _comparable_columns(pair):
            differs, change = _column_change(column, *values, rows, left[suspects])
            if column in _IDENTITY and pair.matched_by == "content_id":
                renumbered[suspects] |= differs
            elif change is not None:
                changed[suspects] |= differs
                columns.append(change)
    found = replace(
        compare_rows(rows, others, matching, changed, pair.matched_by),
        columns=tuple(columns),
        withdrawn=rows.by_split(_withdrawn(pair)),
    )
    if not renumbered.any():
        return found
    index = left[renumbered]
    where = rows.splits[rows.split[index[0]]], cut(rows.uids[index[0]].as_py())
    return replace(found, renumbered=Sample.of(index, rows.uids), first=found.first or where)


def _withdrawn(pair: _Pair) -> np.ndarray:
    """Removed rows (int64) that the second release says it withdrew."""
    names = [uid for entry in pair.second.release.publication.withdrawn for uid in entry.uids]
    gone = pair.rows.uids.take(pa.array(pair.matching.removed))
    return pair.matching.removed[pc.is_in(gone, pa.array(names, pa.large_string())).to_numpy(False)]


def _comparable_columns(pair: _Pair) -> list[str]:
    """Payload columns of both sides whose values can be held against each other."""
    first, second = pair.first.features, pair.second.features
    return [
        name
        for name in payload_columns(first)
        if name in second
        and (first[name] == second[name] or {type(first[name]), type(second[name])} == {ClassLabel})
    ]


def _column_change(
    column: str, first: _Values, second: _Values, rows: ConfigRows, index: np.ndarray
) -> tuple[np.ndarray, ColumnChange | None]:
    """Which of the rows at `index` have other values in a column, and the first of them as example.

    Classes are compared by name, so that labels in another order are the same labels.
    """
    values = [side.column(column) for side in (first, second)]
    differs = unequal(*values)
    if not differs.any():
        return differs, None
    row = int(np.argmax(differs))
    old, new = (show(value[row].as_py()) for value in values)
    split, uid = rows.splits[rows.split[index[row]]], cut(rows.uids[index[row]].as_py())
    return differs, ColumnChange(cut(column), int(differs.sum()), split, uid, old, new)


def _named(values: pa.ChunkedArray, names: list[str]) -> pa.ChunkedArray:
    """Classes by name; an index without one stays null."""
    known = pc.and_(pc.greater_equal(values, 0), pc.less(values, len(names)))
    return pa.chunked_array([pa.array(names, pa.string())], pa.string()).take(
        pc.if_else(known, values, pa.scalar(None, values.type)).combine_chunks()
    )


def _score_changes(pair: _Pair, splits: Sequence[str]) -> list[ScoreChange]:
    """Score columns of rows that both sides have, in splits whose hashes differ."""
    first, second = pair.first.features, pair.second.features
    columns = [name for name in SCORE_COLUMNS if name in first and name in second]
    read = [
        np.isin(rows.split[index], [code for code, split in enumerate(rows.splits) if split in splits])
        for rows, index in ((pair.rows, pair.matching.left), (pair.others, pair.matching.right))
    ]
    chosen = read[0] & read[1]
    if not columns or not chosen.any() or pair.matched_by == "row":
        return []
    left, right = pair.matching.left[chosen], pair.matching.right[chosen]
    values = _Values(pair.first, pair.rows, left), _Values(pair.second, pair.others, right)
    found = []
    for column in columns:
        before, after = (
            pc.fill_null(side.column(column).cast(pa.float64()), np.nan).to_numpy() for side in values
        )
        found.append(compare_score_columns(column, before, after, pair.rows, left))
    return [change for change in found if change is not None]


def _unequal_splits(first: Side, second: Side, kind: str) -> list[str]:
    """Splits whose hashes in the manifests differ; a split without any content hash is not known."""
    hashes = {
        split: [_hash(side.facts(split), kind) for side in (first, second)]
        for split in dict.fromkeys([*first.splits, *second.splits])
    }
    unknown = [None, None] if kind == "content_hash" else []
    return [split for split, pair in hashes.items() if pair[0] != pair[1] or pair == unknown]


def _hash(facts: Any, kind: str = "content_hash") -> Any:
    return facts.get(kind) if isinstance(facts, dict) else None


def _plain_facts(side: Side, with_files: bool) -> dict[str, Any]:
    """What the manifest says of a config besides its rows; of its files, too, where nothing else differs."""
    left_out = {"features", "default", *(() if with_files else ("splits", "assignment"))}
    facts = {key: value for key, value in side.entry.items() if key not in left_out}
    if "splits" in facts:
        facts["splits"] = {split: side.facts(split) for split in side.splits}
    return facts


def _digests(tables: Sequence[pa.Table], side: Side) -> np.ndarray:
    """Row digests of tables one after the other, in the columns that the side declares."""
    columns = payload_columns(side.features)
    schema = pa.schema([side.schema.field(name) for name in columns])
    digests = [row_digests(table.cast(schema), class_names(side.features)) for table in tables]
    return np.concatenate([*digests, np.empty((0, DIGEST_SIZE), np.uint8)]).view(np.uint64)
