"""The rows of a release against its manifest and its assignments.

Parquet files are read directly: `datasets` may answer from a cache that does not depend on their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Features

from ..errors import ReleaseError, show
from ..features import SCORE_COLUMNS, class_names, payload_columns
from ..hashing import columns_hash, content_hash, row_digests, sha256_file, stored_digests
from ..release import WITHOUT_TEXT, ReleaseFolder, read_parquet
from ..wording import plural
from .comparison import Difference, RowList, first_unequal
from .hub._safety import check_parquet
from .release import ASSIGNMENT, UNUSED_SPLIT


def config_differences(release: ReleaseFolder, config: str) -> Iterator[Difference]:
    entry, assigned = release.config(config), None
    if entry["kind"] == "split":
        try:
            assigned = _read(release, release.assignment_file(config))
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
            tables = [_read(release, file) for file in release.files(config, split)]
        except ReleaseError as error:
            yield Difference("file", str(error), config=config, split=split)
        else:
            yield from _split_differences(release, config, split, tables, assigned)


def part_rows(source: Mapping[str, Any], entry: Mapping[str, Any]) -> int:
    """How many rows of the source a config divides: those of its part, or all; 0 for an unknown part."""
    part = entry.get("part")
    return int(source["rows"] if part is None else source.get("parts", {}).get(part, 0))


def _read(release: ReleaseFolder, file: Path) -> pa.Table:
    """A file of a release that may be anyone's. Raises ReleaseError, also if it is too large to be one."""
    if file.is_file():
        check_parquet(file, file.relative_to(release.path).as_posix(), str(release.path))
    return read_parquet(file)


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
    found = [
        *_row_differences(features, facts, table, config, split, assigned, entry.get(WITHOUT_TEXT)),
        *_withdrawn_rows(release, table, config, split),
    ]
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
    with_text: Mapping[str, Any] | None,
) -> Iterator[Difference]:
    """`with_text` is what the manifest says of the rows with text, where the files have none."""
    if table.num_rows != facts["rows"]:
        message = f"{plural(table.num_rows, 'row')} instead of {facts['rows']}"
        yield Difference("rows", message, config=config, split=split)
    digests = row_digests(table.select(payload_columns(features)), class_names(features))
    unequal = None
    if assigned is not None:
        members = assigned.filter(pc.equal(assigned.column("split"), split))
        published, found = stored_digests(members.column("row_digest")), digests
        if with_text is not None:
            # Digests are those of the rows with text: uids alone can be compared with these rows.
            if content_hash(published) != with_text["splits"][split]["content_hash"]:
                message = "digests of the assignment are not those of the rows with text"
                yield Difference("assignment", message, config=config, split=split)
            published, found = np.zeros_like(published), np.zeros_like(digests)
        unequal = first_unequal(
            RowList(table.column("uid"), found), RowList(members.column("uid"), published)
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


def _withdrawn_rows(release: ReleaseFolder, table: pa.Table, config: str, split: str) -> Iterator[Difference]:
    if "uid" not in table.column_names:
        return
    uids = [uid for withdrawal in release.publication.withdrawn for uid in withdrawal.uids]
    left = table.column("uid").filter(pc.is_in(table.column("uid"), pa.array(uids, pa.string())))
    if len(left):
        uid = left[0].as_py()
        message = f"{len(left)} withdrawn row(s) stand in it, first {show(uid)}"
        yield Difference("withdrawn", message, config=config, split=split, uid=uid)


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
    rows = part_rows(release.manifest["source"], entry)
    if table.num_rows != rows:
        message = f"it has {plural(table.num_rows, 'row')}, but the source has {rows}"
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


def _stored_features(schema: pa.Schema) -> Features | None:
    """The features that a file declares; None where it declares nothing that can be read."""
    try:
        return Features.from_arrow_schema(schema)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]


def _unequal_columns(found: pa.Schema, expected: pa.Schema) -> str:
    for position, wanted in enumerate(_columns(expected)):
        if position >= len(found) or _columns(found)[position] != wanted:
            got = f"{found[position].name!r} {found[position].type}" if position < len(found) else "nothing"
            return f"column {position} is {got} instead of {wanted[0]!r} {wanted[1]}"
    return f"columns that the manifest does not declare: {', '.join(found.names[len(expected) :])}"
