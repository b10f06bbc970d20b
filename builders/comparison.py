"""Where two releases hold other rows, columns, scores or positions.

Hashes of the manifests are compared; files are read only to name what differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Features

from ..errors import printable, show
from ..features import SCORE_COLUMNS, class_names, payload_columns
from ..hashing import row_digests
from ..release import ReleaseFolder
from ..wording import plural


@dataclass(frozen=True)
class Difference:
    """One disagreement. `code` is a stable word, `message` one line; the rest says where, as far as known."""

    code: str
    message: str
    file: str | None = None
    config: str | None = None
    split: str | None = None
    uid: str | None = None

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.config, self.split) if part)
        line = f"{place}: {self.message}" if place else self.message
        return printable(line)


def compare(first: str | Path | ReleaseFolder, second: str | Path | ReleaseFolder) -> list[Difference]:
    """Where two releases hold other rows, columns, scores or positions; an empty list if nowhere.

    Hashes of the manifests are compared; files are read only to name the first row that differs. If rows
    differ and the sources do, too, the first difference says so. Raises ReleaseError for a folder that is
    no release.
    """
    one, other = (f if isinstance(f, ReleaseFolder) else ReleaseFolder(f) for f in (first, second))
    found: list[Difference] = []
    for name in dict.fromkeys([*one.configs, *other.configs]):
        if name not in other.configs or name not in one.configs:
            side = "first" if name in one.configs else "second"
            found.append(Difference("config", f"only the {side} release has it", config=name))
        elif one.features(name) != other.features(name) or list(one.features(name)) != list(
            other.features(name)
        ):
            message = _unequal_features(one.features(name), other.features(name))
            found.append(Difference("features", message, config=name))
        else:
            found += _unequal_rows(one, other, name)
    if found:
        found[:0] = _unequal_sources(one.manifest.get("source", {}), other.manifest.get("source", {}))
    return found


class RowList(NamedTuple):
    """Rows in order: uids, and digests of shape (rows, 16)."""

    uids: pa.ChunkedArray
    digests: np.ndarray


class UnequalRow(NamedTuple):
    """The first row where two lists part; a uid is None where a list has ended."""

    row: int
    left: str | None
    right: str | None

    @property
    def uid(self) -> str | None:
        return self.left if self.left is not None else self.right

    def told(self, left: str, right: str) -> str:
        if self.left == self.right:
            return f"row {self.row} ({show(self.left)}) has other values in {left} than in {right}"
        texts = [
            f"{show(uid)} in {place}" if uid is not None else f"missing in {place}"
            for uid, place in ((self.left, left), (self.right, right))
        ]
        return f"row {self.row} is {' and '.join(texts)}"


def first_unequal(left: RowList, right: RowList) -> UnequalRow | None:
    shared = min(len(left.uids), len(right.uids))
    same = pc.fill_null(pc.equal(left.uids.slice(0, shared), right.uids.slice(0, shared)), False)
    equal = same.to_numpy() & (left.digests[:shared] == right.digests[:shared]).all(axis=1)
    row = shared if equal.all() else int(np.argmin(equal))
    uids = [rows.uids[row].as_py() if row < len(rows.uids) else None for rows in (left, right)]
    return None if uids == [None, None] else UnequalRow(row, *uids)


def _unequal_rows(one: ReleaseFolder, other: ReleaseFolder, config: str) -> Iterator[Difference]:
    left, right = one.config(config), other.config(config)
    same_rows = True
    for split in dict.fromkeys([*left["splits"], *right["splits"]]):
        if split not in left["splits"] or split not in right["splits"]:
            same_rows = False
            side = "first" if split in left["splits"] else "second"
            yield Difference("split", f"only the {side} release has it", config=config, split=split)
            continue
        facts, others = left["splits"][split], right["splits"][split]
        if facts.get("content_hash") != others.get("content_hash"):
            same_rows = False
            yield _unequal_content(one, other, config, split)
        elif facts.get("scores_hash") != others.get("scores_hash"):
            yield _unequal_scores(one, other, config, split)
    if left["kind"] == right["kind"] == "split" and same_rows:
        hashes = [entry["assignment"].get("content_hash") for entry in (left, right)]
        if hashes[0] != hashes[1]:
            yield _unequal_positions(one.assignment(config), other.assignment(config), config)


def _unequal_content(one: ReleaseFolder, other: ReleaseFolder, config: str, split: str) -> Difference:
    tables = [folder.table(config, split) for folder in (one, other)]
    features = one.features(config)
    digests = [
        row_digests(table.select(payload_columns(features)), class_names(features)) for table in tables
    ]
    rows = [RowList(table.column("uid"), digest) for table, digest in zip(tables, digests, strict=True)]
    unequal = first_unequal(*rows)
    if unequal is None:
        message = "hashes differ, though the rows do not; run `benchwright verify` on both"
        return Difference("content", message, config=config, split=split)
    message = unequal.told("the first release", "the second")
    if unequal.left == unequal.right:
        values = [table.slice(unequal.row, 1).to_pylist()[0] for table in tables]
        column = next(name for name in payload_columns(features) if values[0][name] != values[1][name])
        message += f" (column {column!r}: {show(values[0][column])} and {show(values[1][column])})"
    return Difference("content", message, config=config, split=split, uid=unequal.uid)


def _unequal_scores(one: ReleaseFolder, other: ReleaseFolder, config: str, split: str) -> Difference:
    columns = [name for name in one.features(config) if name in SCORE_COLUMNS]
    left, right = (folder.table(config, split, ["uid", *columns]) for folder in (one, other))
    for name in columns:
        values = [table.column(name).to_numpy(zero_copy_only=False) for table in (left, right)]
        equal = (values[0] == values[1]) | (np.isnan(values[0]) & np.isnan(values[1]))
        if not equal.all():
            row = int(np.argmin(equal))
            apart = np.abs(values[0] - values[1])
            largest = 0.0 if np.isnan(apart).all() else float(np.nanmax(apart))
            uid = left.column("uid")[row].as_py()
            message = (
                f"{name} differs in {plural(int((~equal).sum()), 'row')}, by at most {largest:.3g}; "
                f"first {show(uid)}: {values[0][row]} and {values[1][row]}"
            )
            return Difference("scores", message, config=config, split=split, uid=uid)
    return Difference(
        "scores", "hashes differ, though the scores do not; verify both", config=config, split=split
    )


def _unequal_positions(left: pa.Table, right: pa.Table, config: str) -> Difference:
    """Splits hold the same rows, so that only the written order or the unused rows can differ."""
    sides = [
        dict(zip(t.column("uid").to_pylist(), t.column("position").to_pylist(), strict=True))
        for t in (left, right)
    ]
    for uid, position in sides[0].items():
        if sides[1].get(uid) != position:
            positions = f"{position} in the first release and {sides[1].get(uid)} in the second"
            message = f"{show(uid)} has position {positions}"
            return Difference("positions", message, config=config, uid=uid)
    return Difference("positions", "assignments differ in unused rows or hashes; verify both", config=config)


def _unequal_features(left: Features, right: Features) -> str:
    for name in dict.fromkeys([*left, *right]):
        if left.get(name) != right.get(name):
            kinds = f"{show(left.get(name))} in the first release and {show(right.get(name))} in the second"
            return f"column {name!r} is {kinds}"
    return f"columns stand in another order: {show(list(left))} and {show(list(right))}"


def _unequal_sources(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[Difference]:
    if left.get("fingerprint") == right.get("fingerprint"):
        return []
    hashes = [{file["name"]: file["sha256"] for file in source.get("files", [])} for source in (left, right)]
    names = [n for n in dict.fromkeys([*hashes[0], *hashes[1]]) if hashes[0].get(n) != hashes[1].get(n)]
    return [Difference("source", f"made from other source files: {', '.join(names) or 'unknown'}")]
