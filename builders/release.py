"""Writing a release: parquet files that depend on the rows alone, and a manifest that proves them.

Row digests are computed once per source row; every config's content hash is a selection of them. Files are
written into a staging folder (see `_staging`), the manifest last; then the folder moves to its place.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import shutil
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Features

from ..atomic import write_text
from ..errors import ReleaseError, show
from ..features import (
    OVERLAP_SCORES,
    PVI,
    PVI_SCORES,
    SCORE_COLUMNS,
    SCORES,
    class_names,
    payload_columns,
)
from ..hashing import canonical_json, columns_hash, content_hash, digest_column, row_digests, sha256_text
from ..release import MANIFEST, ReleaseFolder
from ..splitting.base import SIDES, Assignment, Note
from ..tables import SHARD_BYTES, conform, write_parquet
from ..tasks import Task
from ._manifest import MANIFEST_KEYS, OPTIONAL_KEYS, finished_manifest, manifest_text, plain
from ._staging import Staging, check_target, writing
from .base import ConfigSpec

__all__ = [
    "ASSIGNMENT",
    "MANIFEST_KEYS",
    "OPTIONAL_KEYS",
    "PendingConfig",
    "ReleaseWriter",
    "SourceRows",
    "check_target",
    "manifest_text",
    "placement_counts",
]

ASSIGNMENT = pa.schema(
    [
        ("uid", pa.string()),
        ("split", pa.string()),
        ("position", pa.int32()),
        ("score", pa.float32()),
        ("row_digest", pa.binary(16)),
    ]
)
"""Columns of assignments/<config>.parquet; `split` may be `unused`, whose position is -1."""

UNUSED_SPLIT = "unused"
_UIDS_SHOWN = 20
# Arrow works without the interpreter's lock. Each writer holds one split's rows in memory.
_WRITERS = 2
_SCHEMA = "huggingface"


class SourceRows:
    """All rows of a source as every config shows them, with their digests.

    `table` holds the payload columns of `features` (absent ones are null), sorted by `source_index`;
    `order` gives the row of the given table that each came from; `digests` has shape (rows, 16).
    Raises ReleaseError for a class value without a name, ValueError for a column that `features` lacks. That
    uids are unique is proven by the splitters.
    """

    def __init__(self, table: pa.Table, features: Features) -> None:
        self.features = features
        self.order = np.argsort(table.column("source_index").to_numpy(), kind="stable")
        if not np.array_equal(self.order, np.arange(len(self.order))):
            table = table.take(pa.array(self.order))
        self.table = self._conformed(table, payload_columns(features))
        self.digests = row_digests(self.table, class_names(features))
        _check_classes(self.table, features)

    def with_columns(self, columns: pa.Table) -> tuple[pa.Table, np.ndarray]:
        """Payload and digests with the columns of one config, which come in the order of the given table."""
        columns = self._conformed(columns.take(pa.array(self.order)), columns.column_names)
        table = self.table
        for name in columns.column_names:
            position = table.column_names.index(name)
            table = table.set_column(position, table.schema.field(position), columns.column(name))
        _check_classes(table, self.features)
        return table, row_digests(table, class_names(self.features))

    def _conformed(self, table: pa.Table, names: list[str]) -> pa.Table:
        schema = self.features.arrow_schema
        return conform(table, pa.schema([schema.field(name) for name in names])).combine_chunks()


@dataclasses.dataclass(frozen=True, eq=False)
class _PlacedRows:
    """One config's rows in source order, before they are divided."""

    payload: pa.Table
    digests: np.ndarray
    scores: pa.Table
    side: np.ndarray
    position: np.ndarray
    placed_by: pa.Array
    score: np.ndarray

    @classmethod
    def of(
        cls, rows: SourceRows, assignment: Assignment, scores: pa.Table | None, columns: pa.Table | None
    ) -> _PlacedRows:
        payload, digests = (rows.table, rows.digests) if columns is None else rows.with_columns(columns)
        return cls(
            payload=payload,
            digests=digests,
            scores=_score_columns(scores, rows),
            side=assignment.side[rows.order],
            position=assignment.position[rows.order],
            placed_by=pa.array(assignment.placed_by[rows.order], pa.string()),
            score=assignment.score[rows.order],
        )

    def take(self, rows: np.ndarray, schema: pa.Schema) -> pa.Table:
        index = pa.array(rows)
        columns = {"placed_by": self.placed_by.take(index)}
        columns.update({name: self.payload.column(name).take(index) for name in self.payload.column_names})
        columns.update({name: self.scores.column(name).take(index) for name in self.scores.column_names})
        return pa.table([columns[field.name] for field in schema], schema=schema)

    def assignment(self) -> pa.Table:
        names = pa.array([*SIDES, UNUSED_SPLIT])
        columns = [
            self.payload.column("uid"),
            names.take(pa.array(np.where(self.side < 0, len(SIDES), self.side))),
            pa.array(self.position),
            pa.array(self.score, pa.float32(), from_pandas=True),
            digest_column(self.digests),
        ]
        return pa.table(columns, schema=ASSIGNMENT)


@dataclasses.dataclass(frozen=True)
class PendingConfig:
    """A config whose files are being written by other threads."""

    facts: dict[str, Any]
    splits: dict[str, Future[dict[str, Any]]]
    assignment: Future[dict[str, Any]]

    def entry(self) -> dict[str, Any]:
        """The config's entry for the manifest, once all its files are written. Raises ReleaseError."""
        splits = {split: job.result() for split, job in self.splits.items()}
        return {**self.facts, "splits": splits, "assignment": self.assignment.result()}


class ReleaseWriter:
    """Makes one release. Use it as a context manager; nothing is at `target` until `finish` returns.

    `plan_key` is a hexadecimal hash of everything that the release is made from: the same key continues an
    interrupted build, another removes what it left (`notes` says so). Raises ReleaseError before any work
    if `target` exists and `overwrite` is off, if it is something else than a release, or if another build
    writes it; and whenever the disk refuses.
    """

    def __init__(self, target: str | Path, plan_key: str, overwrite: bool = False) -> None:
        self.target = Path(target)
        self._staging = Staging(self.target, plan_key, overwrite)

    def __enter__(self) -> ReleaseWriter:
        self._staging.__enter__()
        self._pool = ThreadPoolExecutor(_WRITERS)
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self._pool.shutdown(cancel_futures=True)
        finally:
            self._staging.__exit__(*exception)

    @property
    def folder(self) -> Path:
        """Where the release is being made; files put here (card, figures) are published with it."""
        return self._staging.folder

    @property
    def notes(self) -> list[str]:
        """What an earlier run left and what became of it, for the user."""
        return self._staging.notes

    def view(self, manifest: dict[str, Any]) -> ReleaseFolder:
        """The unfinished release as readers (audit, card) see a finished one."""
        return ReleaseFolder(self.folder, plain(manifest))

    def start_config(
        self,
        spec: ConfigSpec,
        rows: SourceRows,
        assignment: Assignment,
        *,
        task: Task,
        scores: pa.Table | None = None,
        columns: pa.Table | None = None,
    ) -> PendingConfig:
        """Write the splits and the assignment of one config in other threads, while the caller goes on.

        `assignment`, `scores` (a score table, of whose columns rows show those of SCORE_COLUMNS) and
        `columns` (payload of this config alone) have one row per row of the table given to `rows`, in its
        order. Rows stand in source order within each split. A split without rows is left out, and the
        entry says why. Raises ReleaseError if no row is placed.
        """
        placed = _PlacedRows.of(rows, assignment, scores, columns)
        members = {split: np.flatnonzero(placed.side == side) for split, side in SIDES.items()}
        written = {split: index for split, index in members.items() if len(index)}
        if not written:
            raise ReleaseError(f"config {spec.name!r} places no row in any split; nothing can be published")
        counts = {
            split: placement_counts(placed.placed_by.take(pa.array(index)))
            for split, index in written.items()
        }
        parameters = plain(spec.parameters)
        facts = {
            "kind": "split",
            "summary": spec.summary,
            "default": spec.default,
            "task": plain(task.to_json()),
            "features": rows.features.to_dict(),
            "splitter": spec.splitter,
            "parameters": parameters,
            "scores": spec.scores,
            **({} if spec.part is None else {"part": spec.part}),
            "reverse_of": spec.reverse_of,
            "splits": {},
            "placed_by": counts,
            "unused": int((placed.side < 0).sum()),
            "notes": [_note(note) for note in assignment.notes],
            "left_out": [_left_out(split, parameters) for split in members if split not in written],
        }
        splits = {
            split: self._pool.submit(
                self._write_placed, spec.name, split, placed, index, rows.features, counts[split]
            )
            for split, index in written.items()
        }
        assigned = self._pool.submit(lambda: self.write_assignment(spec.name, placed.assignment()))
        return PendingConfig(facts, splits, assigned)

    def write_scores(
        self, tables: Mapping[str, pa.Table], summary: str, features: Features | None = None
    ) -> dict[str, Any]:
        """Write config `scores`, one split per score table (rows in source order).

        `features` are those of the config, which may have further tables (None: of these tables alone).
        """
        features = scores_features(tables) if features is None else features
        digests: dict[str, np.ndarray] = {}
        splits = {}
        for name, table in tables.items():
            table = _checked("scores", name, table, features)
            payload = table.select(payload_columns(features))
            key = columns_hash(payload)
            if key not in digests:  # Tables of one build mostly differ in their scores alone.
                digests[key] = row_digests(payload)
            splits[name] = self.write_split("scores", name, table, digests[key], {})
        return _side_entry("scores", features, summary, splits)

    def write_table(self, name: str, table: pa.Table, features: Features, summary: str) -> dict[str, Any]:
        """Write a side table as a config with the one split `train`; its entry for the manifest."""
        table = _checked(name, "train", table, features)
        digests = row_digests(table.select(payload_columns(features)), class_names(features))
        splits = {"train": self.write_split(name, "train", table, digests, {})}
        return _side_entry("table", features, summary, splits)

    def adding(self, name: str) -> AbstractContextManager[None]:
        """Around code that writes `name` into `folder`: a failing disk becomes a ReleaseError of one line."""
        return writing(self.target / name)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file. Raises ReleaseError if the disk refuses, or for a name that leads outside."""
        path = self._staging.path(name)
        with self.adding(name):
            write_text(path, text)

    def finish(self, manifest: dict[str, Any]) -> ReleaseFolder:
        """Write the manifest and move the release to its target.

        `manifest` is as in `finished_manifest`, whose errors are raised.
        """
        self.write_text(MANIFEST, manifest_text(finished_manifest(manifest)))
        self._staging.publish()
        return ReleaseFolder(self.target)

    def _write_placed(
        self,
        config: str,
        split: str,
        placed: _PlacedRows,
        index: np.ndarray,
        features: Features,
        placed_by: dict[str, int],
    ) -> dict[str, Any]:
        table = placed.take(index, features.arrow_schema)
        return self.write_split(config, split, table, placed.digests[index], {"placed_by": placed_by})

    def write_split(
        self, config: str, split: str, table: pa.Table, digests: np.ndarray, made_from: dict[str, Any]
    ) -> dict[str, Any]:
        """Write the files of one split; its facts for the manifest.

        `table` has the columns and the schema of the config, in source order; `digests`, of shape (rows, 16),
        are those of its payload; `made_from` is what the files depend on besides.
        """
        hashes = {"content_hash": content_hash(digests)}
        scores = [name for name in table.column_names if name in SCORE_COLUMNS]
        if scores:
            hashes["scores_hash"] = columns_hash(table.select(scores))
        pieces = _shards(table)
        facts = []
        for number, piece in enumerate(pieces):
            name = f"{config}/{split}-{number:05d}-of-{len(pieces):05d}.parquet"
            source = {**made_from, **hashes, "schema": table.schema.metadata[_SCHEMA.encode()].decode()}
            facts.append(self._write_file(name, piece, source))
        return {
            "files": [f"{config}/{split}-{n:05d}-of-{len(pieces):05d}.parquet" for n in range(len(pieces))],
            "rows": table.num_rows,
            "bytes": sum(fact["bytes"] for fact in facts),
            "num_bytes": _arrow_bytes(table),
            "sha256": [fact["sha256"] for fact in facts],
            **hashes,
        }

    def write_assignment(self, config: str, table: pa.Table) -> dict[str, Any]:
        """Write the assignment of one config, a table of schema ASSIGNMENT; its facts for the manifest."""
        hashes = {
            "content_hash": columns_hash(table.drop_columns(["score"])),
            "scores_hash": columns_hash(table.select(["score"])),
        }
        name = f"assignments/{config}.parquet"
        return {"file": name, "rows": table.num_rows, **self._write_file(name, table, hashes), **hashes}

    def keep(self, file: Path, name: str, *, link: bool) -> None:
        """Take over a finished file as `name`.

        With `link` without a copy, where the disk allows it: files of releases are replaced, never changed
        in place, so that the release that is replaced may share them. Raises ReleaseError if the disk
        refuses, or for a name that leads outside.
        """
        target = self._staging.path(name)
        with self.adding(name):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            if link and not file.is_symlink():
                with suppress(OSError):
                    os.link(file, target)
                    return
            shutil.copyfile(file, target)

    def _write_file(self, name: str, table: pa.Table, source: dict[str, Any]) -> dict[str, Any]:
        def write(path: Path) -> None:
            write_parquet(table, path)

        made_from = sha256_text(canonical_json({**source, "pyarrow": pa.__version__}))
        return self._staging.file(name, made_from, write)


def scores_features(tables: Mapping[str, pa.Table]) -> Features:
    """The columns of config `scores` that hold these score tables."""
    if any("best_score" in table.column_names for table in tables.values()):
        return OVERLAP_SCORES
    return PVI_SCORES if any("pvi" in table.column_names for table in tables.values()) else SCORES


def _checked(config: str, split: str, table: pa.Table, features: Features) -> pa.Table:
    """A whole table in the declared types. Raises ReleaseError without rows or for a class without a name."""
    table = _null_for_nan(conform(table, features.arrow_schema))
    _check_classes(table, features)
    if not table.num_rows:
        raise ReleaseError(f"config {config!r} has no rows in {split!r}; readers cannot load an empty split")
    return table


def _shards(table: pa.Table) -> list[pa.Table]:
    """Equal runs of rows of at most SHARD_BYTES on average, before compression."""
    count = min(max(1, -(-_arrow_bytes(table) // SHARD_BYTES)), table.num_rows)
    bounds = [table.num_rows * piece // count for piece in range(count + 1)]
    return [table.slice(begin, end - begin) for begin, end in itertools.pairwise(bounds)]


def _arrow_bytes(table: pa.Table) -> int:
    """Bytes in memory, without bitmaps of nulls where there is none: whether they exist is an accident."""
    return table.nbytes - sum(_idle_bytes(chunk) for column in table.columns for chunk in column.chunks)


def _idle_bytes(array: pa.Array) -> int:
    """Bytes that hold nothing: bitmaps without a null, and bits of a slice that stand before it."""
    if pa.types.is_struct(array.type):
        # Arrow does not count the bitmap of the struct itself.
        return sum(_idle_bytes(array.field(number)) for number in range(array.type.num_fields))
    needed, spanned = (-(-bits // 8) for bits in (len(array), array.offset % 8 + len(array)))
    has_bitmap = array.buffers()[0] is not None
    idle = spanned - (needed if array.null_count else 0) if has_bitmap else 0
    if pa.types.is_boolean(array.type):
        idle += spanned - needed
    if pa.types.is_list(array.type) and len(array):
        return idle + _idle_bytes(array.values[array.offsets[0].as_py() : array.offsets[-1].as_py()])
    return idle


def _score_columns(scores: pa.Table | None, rows: SourceRows) -> pa.Table:
    """The score columns of the config in the order of `rows`; all null where there is no score table."""
    schema = rows.features.arrow_schema
    names = [name for name in SCORE_COLUMNS if name in schema.names]
    wanted = pa.schema([schema.field(name) for name in names])
    if scores is None:
        return pa.table([pa.nulls(len(rows.order), field.type) for field in wanted], schema=wanted)
    if scores.num_rows != len(rows.order):
        raise ValueError(f"{scores.num_rows} scores for {len(rows.order)} rows; give one score per row")
    if "pvi" in scores.column_names:
        # Such a table has no other folds than those of its own models.
        scores = scores.rename_columns({"fold": "pvi_fold"})
    present = scores.select([name for name in names if name in scores.column_names])
    return _null_for_nan(conform(present.take(pa.array(rows.order)), wanted)).combine_chunks()


def _null_for_nan(table: pa.Table) -> pa.Table:
    """Null wherever a score is NaN: a reader finds one form of "no value"."""
    for name in ("log_likelihood", *PVI):
        if name not in table.column_names or not pa.types.is_floating(table.schema.field(name).type):
            continue
        position = table.column_names.index(name)
        values = table.column(position)
        missing = pc.fill_null(pc.is_nan(values), False)
        values = pc.if_else(missing, pa.scalar(None, values.type), values)
        table = table.set_column(position, table.schema.field(position), values)
    return table


def _check_classes(table: pa.Table, features: Features) -> None:
    for name, labels in class_names(features).items():
        if name not in table.column_names:
            continue
        values = table.column(name)
        wrong = pc.or_(pc.less(values, 0), pc.greater_equal(values, len(labels)))
        row = pc.index(pc.fill_null(wrong, False), True).as_py()
        if row >= 0:
            place = show(table.column("uid")[row].as_py()) if "uid" in table.column_names else row
            raise ReleaseError(
                f"row {place} has {name} {values[row].as_py()}, but only indices of {show(labels)} may "
                "stand there; leave such rows out of the source table"
            )


def placement_counts(placed_by: pa.Array | pa.ChunkedArray) -> dict[str, int]:
    """How many rows each way of placing placed, as the manifest has it."""
    counts = placed_by.value_counts()
    return dict(
        sorted(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
    )


def _note(note: Note) -> dict[str, Any]:
    shown = list(note.uids[:_UIDS_SHOWN])
    return {"code": note.code, "message": note.message, "uids": shown, "count": len(note.uids)}


def _left_out(split: str, parameters: dict[str, Any]) -> dict[str, str]:
    asked_for_none = (parameters.get("sizes") or {}).get(split) == 0
    return {"split": split, "reason": "its size is 0" if asked_for_none else "no row was placed in it"}


def _side_entry(kind: str, features: Features, summary: str, splits: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "summary": summary,
        "default": False,
        "features": features.to_dict(),
        "splits": splits,
    }
