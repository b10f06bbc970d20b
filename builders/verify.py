"""Proving that a release is what its manifest says, and that two releases hold the same rows.

Parquet files are read directly: `datasets` may answer from a cache that does not depend on their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from datasets import Features

from ..cards.yaml_header import card_metadata
from ..errors import ReleaseError, show
from ..features import SCORE_COLUMNS, class_names, payload_columns
from ..hashing import DIGEST_SIZE, columns_hash, content_hash, row_digests, sha256_file
from ..release import MANIFEST, ReleaseFolder, read_parquet
from .release import ASSIGNMENT, UNUSED_SPLIT

README = "README.md"
_HEADER = re.compile(r"---\n(.*?\n)---$", re.DOTALL | re.MULTILINE)


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
        place = [part for part in (self.file, self.config, self.split) if part]
        return f"{', '.join(place)}: {self.message}" if place else self.message


def verify(release: str | Path | ReleaseFolder) -> list[Difference]:
    """Every disagreement between a release's files, manifest and card; an empty list if there is none.

    Checked: the manifest's counts; files that are missing, changed or not named; types, rows, content and
    score hashes of every split; that every assignment covers every row once and names the rows that stand
    in the files; the card's configs, sizes and hashes. Raises ReleaseError for a folder that is no release
    or a manifest that cannot be used.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    with _reading_fields(folder):
        found = list(_count_differences(folder.manifest))
    found += _stray_files(folder)
    for name in folder.configs:
        found += _config_differences(folder, name)
    with _reading_fields(folder):
        return found + list(_card_differences(folder))


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


@contextmanager
def _reading_fields(release: ReleaseFolder) -> Iterator[None]:
    """A manifest may be anyone's: a field that is missing or of another type is one line, not a traceback."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReleaseError(
            f"{release.path / MANIFEST} lacks or misuses a field ({error}); build the release again"
        ) from None


def _count_differences(manifest: dict[str, Any]) -> Iterator[Difference]:
    source = manifest["source"]
    rows, out = source["rows"], sum(source["filtered"].values()) + sum(source["dropped"].values())
    if source["read"] != rows + out:
        message = f"source: {source['read']} rows read, but {rows} kept and {out} filtered or dropped"
        yield Difference("counts", message, MANIFEST)
    defaults = [name for name, entry in manifest["configs"].items() if entry.get("default")]
    if len(defaults) != 1:
        yield Difference("default", f"exactly one config must be the default, got {defaults}", MANIFEST)
    for name, entry in manifest["configs"].items():
        if entry["kind"] != "split":
            continue
        placed = sum(facts["rows"] for facts in entry["splits"].values())
        if placed + entry["unused"] != rows:
            message = f"{placed} rows placed and {entry['unused']} unused, but the source has {rows}"
            yield Difference("counts", message, MANIFEST, name)
        for split, facts in entry["splits"].items():
            counted = sum(entry["placed_by"].get(split, {}).values())
            if counted != facts["rows"]:
                message = f"placed_by counts {counted} rows of {facts['rows']}"
                yield Difference("counts", message, MANIFEST, name, split)
        for left_out in entry["left_out"]:
            if left_out["split"] in entry["splits"]:
                yield Difference("counts", "both left out and present", MANIFEST, name, left_out["split"])
        if entry["scores"] is not None and entry["scores"] not in manifest["scores"]:
            message = f"made with score table {show(entry['scores'])}, which the manifest does not describe"
            yield Difference("scores", message, MANIFEST, name)


def _stray_files(release: ReleaseFolder) -> Iterator[Difference]:
    """Files where readers look for rows that the manifest does not name: left by hand or by another build."""
    named = {
        file.relative_to(release.path)
        for config, entry in release.configs.items()
        for split in entry["splits"]
        for file in release.files(config, split)
    }
    named |= {release.assignment_file(config).relative_to(release.path) for config in release.placed_configs}
    folders = {*release.configs, "assignments"}
    for path in sorted(release.path.rglob("*")):
        name = path.relative_to(release.path)
        if path.is_dir() or name in named:
            continue
        if (name.parts[0] in folders and len(name.parts) > 1) or name.suffix == ".parquet":
            yield Difference("extra_file", "the manifest does not name it; remove it", name.as_posix())
        elif len(name.parts) == 1 and name.suffix == ".py":
            yield Difference(
                "extra_file", "a script here keeps readers from loading the data", name.as_posix()
            )


def _config_differences(release: ReleaseFolder, config: str) -> Iterator[Difference]:
    entry, assigned = release.config(config), None
    if entry["kind"] == "split":
        try:
            assigned = release.assignment(config)
        except ReleaseError as error:
            yield Difference("file", str(error), entry["assignment"]["file"], config)
        else:
            if _columns(assigned.schema) == _columns(ASSIGNMENT):
                yield from _assignment_differences(release, config, assigned)
            else:
                message = _unequal_columns(assigned.schema, ASSIGNMENT)
                yield Difference("schema", message, entry["assignment"]["file"], config)
                assigned = None
    for split in entry["splits"]:
        try:
            tables = [read_parquet(file) for file in release.files(config, split)]
        except ReleaseError as error:
            yield Difference("file", str(error), config=config, split=split)
        else:
            yield from _split_differences(release, config, split, tables, assigned)


def _split_differences(
    release: ReleaseFolder, config: str, split: str, tables: list[pa.Table], assigned: pa.Table | None
) -> Iterator[Difference]:
    entry, features = release.config(config), release.features(config)
    facts = entry["splits"][split]
    for name, table in zip(facts["files"], tables, strict=True):
        if _columns(table.schema) != _columns(features.arrow_schema):
            message = _unequal_columns(table.schema, features.arrow_schema)
            yield Difference("schema", message, name, config, split)
            return
        if _stored_features(table.schema) != features:
            message = "its features (label names, types) are not those of the manifest"
            yield Difference("features", message, name, config, split)
            return
    table = pa.concat_tables(tables)
    found = list(_row_differences(features, facts, table, config, split, assigned))
    if entry["kind"] == "split" and "placed_by" in table.column_names:
        counts = table.column("placed_by").value_counts()
        counted = dict(
            zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
        )
        if counted != entry["placed_by"].get(split):
            message = f"placed_by counts {show(counted)} instead of {show(entry['placed_by'].get(split))}"
            found.append(Difference("placed_by", message, config=config, split=split))
    if not found and [sha256_file(file) for file in release.files(config, split)] != facts.get("sha256"):
        message = "file bytes changed, though rows and scores did not: another program wrote them"
        found.append(Difference("bytes", message, config=config, split=split))
    yield from found


def _row_differences(
    features: Features,
    facts: Mapping[str, Any],
    table: pa.Table,
    config: str,
    split: str,
    assigned: pa.Table | None,
) -> Iterator[Difference]:
    if table.num_rows != facts["rows"]:
        message = f"{table.num_rows} rows instead of {facts['rows']}"
        yield Difference("rows", message, config=config, split=split)
    digests = row_digests(table.select(payload_columns(features)), class_names(features))
    unequal = None
    if assigned is not None:
        members = assigned.filter(pc.equal(assigned.column("split"), split))
        unequal = _first_unequal(
            _Rows(table.column("uid"), digests), _Rows(members.column("uid"), _stored_digests(members))
        )
    if content_hash(digests) != facts.get("content_hash"):
        message = "rows are not those of the manifest"
        if unequal is not None:
            message += f": {unequal.told('the file', 'the assignment')}"
        uid = unequal and unequal.uid
        yield Difference("content", message, config=config, split=split, uid=uid)
    elif unequal is not None:
        message = f"rows are not those of the assignment: {unequal.told('the file', 'the assignment')}"
        yield Difference("assignment", message, config=config, split=split, uid=unequal.uid)
    scores = [name for name in table.column_names if name in SCORE_COLUMNS]
    if scores and columns_hash(table.select(scores)) != facts.get("scores_hash"):
        yield Difference("scores", "scores are not those of the manifest", config=config, split=split)


def _assignment_differences(release: ReleaseFolder, config: str, table: pa.Table) -> Iterator[Difference]:
    entry = release.config(config)
    facts = entry["assignment"]
    hashes = {
        "content_hash": columns_hash(table.drop_columns(["score"])),
        "scores_hash": columns_hash(table.select(["score"])),
    }
    wrong = [name for name, found in hashes.items() if found != facts.get(name)]
    if wrong:
        yield Difference(
            "assignment", f"not what the manifest says: {', '.join(wrong)}", facts["file"], config
        )
    elif sha256_file(release.assignment_file(config)) != facts.get("sha256"):
        yield Difference("bytes", "its bytes changed, though its rows did not", facts["file"], config)
    split, counts = table.column("split"), table.column("uid").value_counts()
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        uid = twice.field("values")[0].as_py()
        yield Difference("assignment", f"{show(uid)} stands in it twice", facts["file"], config, uid=uid)
    rows = release.manifest["source"]["rows"]
    if table.num_rows != rows:
        message = f"it has {table.num_rows} rows, but the source has {rows}"
        yield Difference("assignment", message, facts["file"], config)
    known = pa.array([*entry["splits"], UNUSED_SPLIT], pa.string())
    unknown = table.filter(pc.invert(pc.is_in(split, known)))
    if unknown.num_rows:
        uid, name = unknown.column("uid")[0].as_py(), unknown.column("split")[0].as_py()
        message = f"it puts {show(uid)} in {show(name)}, which the config does not have"
        yield Difference("assignment", message, facts["file"], config, uid=uid)
    for name in entry["splits"]:
        positions = np.sort(table.filter(pc.equal(split, name)).column("position").to_numpy())
        if not np.array_equal(positions, np.arange(len(positions))):
            message = f"positions in it are not 0 to {len(positions) - 1}, each once"
            yield Difference("assignment", message, facts["file"], config, name)


def _card_differences(release: ReleaseFolder) -> Iterator[Difference]:
    """Where README.md's header, which readers load rows by, disagrees with the manifest."""
    try:
        text = (release.path / README).read_text(encoding="utf-8")
        match = _HEADER.match(text)
        header = yaml.safe_load(match[1]) if match else None
        expected = card_metadata(release)
    except FileNotFoundError:
        yield Difference("card", "missing; write it with `benchwright card`", README)
        return
    except (RecursionError, UnicodeDecodeError, yaml.YAMLError) as error:
        yield Difference("card", f"its header cannot be read ({error}); write it again", README)
        return
    except ReleaseError as error:
        yield Difference("card", str(error), MANIFEST)
        return
    for key in ("configs", "dataset_info"):
        stated = header.get(key) if isinstance(header, dict) else None
        if not isinstance(stated, list) or not all(isinstance(item, dict) for item in stated):
            yield Difference("card", f"its header has no list {key!r}; write it again", README)
            continue
        by_name = {str(item.get("config_name")): item for item in stated}
        for item in expected[key]:
            name = item["config_name"]
            if name not in by_name:
                yield Difference("card", f"its {key} lack the config", README, name)
            elif by_name[name] != item:
                wrong = [
                    field
                    for field in {**item, **by_name[name]}
                    if by_name[name].get(field) != item.get(field)
                ]
                message = f"its {key} disagree with the manifest in {', '.join(wrong)}"
                yield Difference("card", message, README, name)
        for name in by_name:
            if name not in release.configs:
                yield Difference("card", f"its {key} name a config that the manifest lacks", README, name)


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
    rows = [_Rows(table.column("uid"), digest) for table, digest in zip(tables, digests, strict=True)]
    unequal = _first_unequal(*rows)
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
                f"{name} differs in {int((~equal).sum())} rows, by at most {largest:.3g}; first {show(uid)}: "
                f"{values[0][row]} and {values[1][row]}"
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


class _Rows(NamedTuple):
    """Rows in order: uids, and digests of shape (rows, 16)."""

    uids: pa.ChunkedArray
    digests: np.ndarray


class _Unequal(NamedTuple):
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


def _first_unequal(left: _Rows, right: _Rows) -> _Unequal | None:
    shared = min(len(left.uids), len(right.uids))
    same = pc.fill_null(pc.equal(left.uids.slice(0, shared), right.uids.slice(0, shared)), False)
    equal = same.to_numpy() & (left.digests[:shared] == right.digests[:shared]).all(axis=1)
    row = shared if equal.all() else int(np.argmin(equal))
    uids = [rows.uids[row].as_py() if row < len(rows.uids) else None for rows in (left, right)]
    return None if uids == [None, None] else _Unequal(row, *uids)


def _stored_features(schema: pa.Schema) -> Features | None:
    """The features that a file declares; None where it declares nothing that can be read."""
    try:
        return Features.from_arrow_schema(schema)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _stored_digests(assigned: pa.Table) -> np.ndarray:
    """Row digests of an assignment, of shape (rows, 16)."""
    values = b"".join(pc.fill_null(assigned.column("row_digest"), bytes(DIGEST_SIZE)).to_pylist())
    return np.frombuffer(values, np.uint8).reshape(assigned.num_rows, -1)


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]


def _unequal_columns(found: pa.Schema, expected: pa.Schema) -> str:
    for position, wanted in enumerate(_columns(expected)):
        if position >= len(found) or _columns(found)[position] != wanted:
            got = f"{found[position].name!r} {found[position].type}" if position < len(found) else "nothing"
            return f"column {position} is {got} instead of {wanted[0]!r} {wanted[1]}"
    return f"columns that the manifest does not declare: {', '.join(found.names[len(expected) :])}"
