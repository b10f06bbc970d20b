"""Taking back what was published: rows, configs and names of configs, and whole versions.

Each function works on a local release folder, which holds the old release or the new one at any moment. The
next publication carries the change to the Hub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..atomic import recover
from ..errors import ReleaseError, UsageError, show
from ..features import OVERLAP, class_names, payload_columns
from ..hashing import canonical_json, content_hash, row_digests, sha256_text
from ..publication import Publication, Withdrawal
from ..registry import closest
from ..release import WITHOUT_TEXT, ReleaseFolder
from ..splitting.base import SIDES, UNUSED
from ..splitting.scores import ScoreTable
from ..splitting.scores.table import OVERLAP_SCORER
from ..tables import conform
from . import audit as auditing
from ._describing import describe, files_of, other_files, release_name
from ._errata import (
    MADE_AS,
    Errata,
    Withdrawn,
    left_out,
    members,
    placement_record,
    recorded_rows,
    score_entry,
    scores_with_withdrawn,
    side_names,
    unplaced,
)
from .assemble import scores_summary
from .hub.location import HubLocation, parse_location
from .hub.remote import HubRelease
from .release import ASSIGNMENT, UNUSED_SPLIT, ReleaseWriter, placement_counts, scores_features

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_RESERVED = ("analyses", "assignments", "figures", "harness", "results", "scores")


def withdraw(
    release: str | Path | ReleaseFolder,
    *,
    uids: Sequence[str] = (),
    config: str | None = None,
    reason: str,
) -> ReleaseFolder:
    """Take back rows from every config, or a whole config, and say why; the release without them.

    Withdrawn rows leave the splits and the score tables; in assignments they are unused. Nothing else moves:
    rows are withdrawn after they were divided. A split that loses its last row is left out, with the reason.
    A withdrawn config goes with its files and with score tables that no other config reads; its results
    stay, marked stale. If it was the default, the first other likelihood split (else the first config) is.

    Raises UsageError for rows or a config that the release does not have, or has no longer, and where a
    config would lose its last row or the release its last config; ReleaseError for files that are not
    those of the manifest.
    """
    old = _local(release)
    if WITHOUT_TEXT in old.configs.get("scores", {}):
        raise ReleaseError(
            f"{old.path} has hits without their text, which prove its rows; run `benchwright hydrate` on it, "
            "withdraw from what that makes, and strip it again"
        )
    if bool(uids) == (config is not None):
        raise UsageError("give rows to withdraw, or a config, and not both")
    _check_reason(reason)
    if config is not None:
        _check_placed(old, config)
        if len(old.placed_configs) == 1:
            raise UsageError(f"{config!r} is the last config of {old.path}; yank its versions instead")
        return _revise(
            old, ["config", config, reason], lambda writer: _without_config(writer, old, config, reason)
        )
    chosen = tuple(dict.fromkeys(uids))
    _check_uids(old, chosen)
    _check_not_emptied(old, chosen)
    return _revise(
        old, ["rows", list(chosen), reason], lambda writer: _without_rows(writer, old, chosen, reason)
    )


def rename(release: str | Path | ReleaseFolder, *, config: str, to: str) -> ReleaseFolder:
    """Give a config another name; readers find it by the old one, too, until the next major version.

    Its files, its assignment and its results take the new name. Raises UsageError for a config that holds
    no split rows, and for a name that is taken or cannot be used.
    """
    old = _local(release)
    _check_name(old, config, to)

    def renamed(writer: ReleaseWriter) -> dict[str, Any]:
        entries = {
            to if name == config else name: _renamed_entry(entry, name, config, to)
            for name, entry in old.configs.items()
        }
        for name in files_of(old.configs.values()):
            writer.keep(old.path / name, _moved(name, config, to), link=True)
        known = old.publication
        aliases = {name: to if present == config else present for name, present in known.aliases.items()}
        aliases = {**{name: present for name, present in aliases.items() if name != to}, config: to}
        return replace(known, aliases=aliases).put_into({**old.manifest, "configs": entries})

    return _revise(old, ["rename", config, to], renamed, {config: to}, same_rows=True)


def yank(release: str | Path | ReleaseFolder, *, version: str, reason: str) -> ReleaseFolder:
    """Take a published version back: the next publication renames its tag, and the card says why.

    Raises UsageError for a version that was not published or is taken back already.
    """
    old = _local(release)
    _check_reason(reason)
    known = old.publication
    published = list(dict.fromkeys([*([known.version] if known.version else []), *_versions(known)]))
    if version in known.yanked:
        raise UsageError(f"version {version} is yanked already: {known.yanked[version]}")
    if version not in published:
        known_ones = ", ".join(published) or "none"
        raise UsageError(f"{old.path} knows no published version {show(version)}; it knows {known_ones}")

    def yanked(writer: ReleaseWriter) -> dict[str, Any]:
        _keep_rows(writer, old, old.configs.values())
        return replace(known, yanked={**known.yanked, version: reason}).put_into(old.manifest)

    return _revise(old, ["yank", version, reason], yanked, same_rows=True)


def _local(release: str | Path | ReleaseFolder) -> ReleaseFolder:
    """The folder to change. Raises UsageError for a release on the Hub."""
    location = release if isinstance(release, ReleaseFolder) else parse_location(release)
    if isinstance(location, HubLocation | HubRelease):
        place = location if isinstance(location, HubLocation) else location.place
        raise UsageError(
            f"{place} is on the Hub; change a copy and publish that: benchwright download {place} --out DIR"
        )
    if isinstance(location, ReleaseFolder):
        return location
    if not location.exists():
        recover(location)  # A kill between two renames leaves the old folder under another name.
    return ReleaseFolder(location)


def _revise(
    old: ReleaseFolder,
    operation: list[Any],
    change: Callable[[ReleaseWriter], dict[str, Any]],
    renamed: Mapping[str, str] | None = None,
    same_rows: bool = False,
) -> ReleaseFolder:
    """Replace the release by one that is made in a staging folder; `change` makes its rows and manifest."""
    key = sha256_text(canonical_json([old.manifest, operation]))
    with ReleaseWriter(old.path, key, overwrite=True) as writer:
        for name in other_files(old):
            writer.keep(old.path / name, name, link=True)
        manifest = change(writer)
        if not old.is_stripped:
            manifest["audit"] = _audit(old, writer.view(manifest), renamed or {})
        name = release_name(old.path)
        describe(writer, manifest, name=name, earlier=old.path, renamed=renamed, same_rows=same_rows)
        return writer.finish(manifest)


def _audit(old: ReleaseFolder, new: ReleaseFolder, renamed: Mapping[str, str]) -> dict[str, Any]:
    """Findings on the new rows. What was accepted stays so where no row was added to it."""
    agreed = set(old.manifest["audit"]["accepted"])
    findings = auditing.audit_release(new)
    accepted = {finding.id for finding in findings if finding.id in agreed}
    if agreed:
        known = [finding for finding in auditing.audit_release(old) if finding.id in agreed]
        accepted |= {
            finding.id
            for finding in findings
            for before in known
            if (before.code, renamed.get(before.config or "", before.config), before.splits)
            == (finding.code, finding.config, finding.splits)
            and set(finding.uids) <= set(before.uids)
        }
    return auditing.report(findings, accepted)


def _without_rows(
    writer: ReleaseWriter, old: ReleaseFolder, uids: tuple[str, ...], reason: str
) -> dict[str, Any]:
    """Write every config without the rows; the manifest."""
    known = old.publication
    publication = replace(known, withdrawn=(*known.withdrawn, Withdrawal(reason, uids=uids)))
    gone = Errata(publication).uids
    entries = {
        name: _config_without_rows(writer, old, name, uids) if entry["kind"] == "split" else entry
        for name, entry in old.configs.items()
    }
    scores = dict(old.manifest["scores"])
    if "scores" in old.configs:
        tables = {}
        for name in old.splits("scores"):
            tables[name], scores[name] = _scores_without_rows(old, name, gone)
        entries["scores"] = writer.write_scores(tables, old.config("scores")["summary"])
    _keep_rows(writer, old, [entry for entry in old.configs.values() if entry["kind"] == "table"])
    return publication.put_into({**old.manifest, "scores": scores, "configs": entries})


def _config_without_rows(
    writer: ReleaseWriter, old: ReleaseFolder, config: str, uids: Sequence[str]
) -> dict[str, Any]:
    """Write the splits and the assignment of a config without the rows; its entry."""
    entry, assigned = old.config(config), old.assignment(config)
    side = np.array([SIDES.get(name, UNUSED) for name in assigned.column("split").to_pylist()], np.int8)
    gone = members(assigned.column("uid"), uids)
    left, position = unplaced(side, assigned.column("position").to_numpy(), gone)
    splits, counts = {}, {}
    for split, facts in entry["splits"].items():
        if not (gone & (side == SIDES[split])).any():
            splits[split], counts[split] = facts, entry["placed_by"][split]
            for name in facts["files"]:
                writer.keep(old.path / name, name, link=True)
        elif (left == SIDES[split]).any():
            splits[split], counts[split] = _split_without_rows(writer, old, config, split, uids)
    if not gone.any():  # They are rows of another part.
        writer.keep(old.assignment_file(config), entry["assignment"]["file"], link=True)
        return dict(entry)
    record = _withdrawn_rows(old, config, side, gone)
    unsearched = _unsearched_digests(old, config, assigned.column("uid").filter(pa.array(gone)))
    assigned = _assigned(assigned, left, position, unsearched)
    return {
        **{key: value for key, value in entry.items() if key != "assignment"},
        "splits": splits,
        "placed_by": counts,
        "unused": int((left < 0).sum()),
        "left_out": left_out(entry["left_out"], entry["splits"], splits),
        **placement_record(record),
        **_text_without_rows(entry, assigned, splits),
        "assignment": writer.write_assignment(config, assigned),
    }


def _withdrawn_rows(
    old: ReleaseFolder, config: str, side: np.ndarray, gone: np.ndarray
) -> dict[str, Withdrawn]:
    """Every withdrawn row of a config by uid, in source order: those of before, and those that are `gone`.

    `side` and `gone` have one value for each row of the assignment.
    """
    uids, earlier = old.assignment(config).column("uid"), recorded_rows(old.config(config))
    columns = ["uid", "content_id"]
    placed = pa.concat_tables([old.table(config, split, columns) for split in old.splits(config)])
    chosen = placed.filter(pc.is_in(placed.column("uid"), uids.filter(pa.array(gone)).combine_chunks()))
    contents = dict(zip(*(chosen.column(name).to_pylist() for name in columns), strict=True))
    rows = np.flatnonzero(gone | members(uids, earlier))
    names = uids.take(pa.array(rows)).to_pylist()
    return {
        uid: earlier.get(uid) or Withdrawn(split, contents.get(uid, ""))
        for uid, split in zip(names, side_names(side[rows]), strict=True)
    }


def _split_without_rows(
    writer: ReleaseWriter, old: ReleaseFolder, config: str, split: str, uids: Sequence[str]
) -> tuple[dict[str, Any], dict[str, int]]:
    features, facts = old.features(config), old.config(config)["splits"][split]
    table = old.table(config, split).cast(features.arrow_schema).combine_chunks()
    digests = row_digests(table.select(payload_columns(features)), class_names(features))
    if content_hash(digests) != facts["content_hash"]:
        raise ReleaseError(
            f"{old.path}: the rows of {config}/{split} are not those of the manifest; verify it"
        )
    kept = ~members(table.column("uid"), uids)
    table = table.filter(pa.array(kept)).combine_chunks()
    counts = _counts(old.config(config)["placed_by"][split], table)
    return writer.write_split(config, split, table, digests[kept], {"placed_by": counts}), counts


def _counts(before: Mapping[str, int], table: pa.Table) -> dict[str, int]:
    """How many rows each way of placing placed, where rows do not say so or all were placed in one way.

    Raises ReleaseError where that cannot be known.
    """
    if "placed_by" in table.column_names:
        return placement_counts(table.column("placed_by"))
    if len(before) == 1:
        return dict.fromkeys(before, table.num_rows)
    raise ReleaseError("rows were placed in several ways and do not say how; build the release again instead")


def _text_without_rows(entry: Mapping[str, Any], assigned: pa.Table, splits: Iterable[str]) -> dict[str, Any]:
    """What a config without text keeps of the splits with text, for the rows that are left."""
    known = entry.get(WITHOUT_TEXT)
    if not known:
        return {}
    digests = np.frombuffer(b"".join(assigned.column("row_digest").to_pylist()), np.uint8)
    digests = digests.reshape(assigned.num_rows, -1)
    hashes = {
        split: {"content_hash": content_hash(digests[pc.equal(assigned.column("split"), split).to_numpy()])}
        for split in splits
    }
    return {WITHOUT_TEXT: {**known, "splits": hashes}}


def _unsearched_digests(old: ReleaseFolder, config: str, uids: pa.ChunkedArray) -> dict[str, bytes]:
    """Digests of rows, by uid, without what was searched for them in corpora and found; none if nothing was.

    As a build has them that withdraws these rows. Configs of one part show equal rows.
    """
    features, part = old.features(config), old.config(config).get("part")
    table = old.config(config)["scores"]
    if table is None or old.manifest["scores"][table]["scorer"] != OVERLAP_SCORER:
        return {}
    names = payload_columns(features)
    schema = pa.schema([features.arrow_schema.field(name) for name in names])
    found: dict[str, bytes] = {}
    for name, entry in old.placed_configs.items():
        if entry.get("part") != part or WITHOUT_TEXT in entry:
            continue
        for split in entry["splits"]:
            rows = old.table(name, split, names)
            rows = rows.filter(pc.is_in(rows.column("uid"), uids.combine_chunks()))
            known = rows.drop_columns([column for column in OVERLAP if column in names])
            digests = row_digests(conform(known, schema), class_names(features))
            found |= dict(zip(rows.column("uid").to_pylist(), map(bytes, digests), strict=True))
    return found


def _assigned(
    table: pa.Table, side: np.ndarray, position: np.ndarray, digests: Mapping[str, bytes]
) -> pa.Table:
    names = pa.array([*SIDES, UNUSED_SPLIT])
    split = names.take(pa.array(np.where(side < 0, len(SIDES), side)))
    columns = {"split": split, "position": pa.array(position, pa.int32())}
    if digests:
        known = zip(*(table.column(name).to_pylist() for name in ("uid", "row_digest")), strict=True)
        columns["row_digest"] = pa.array([digests.get(uid, digest) for uid, digest in known], pa.binary(16))
    return pa.table(
        [columns.get(field.name, table.column(field.name)) for field in ASSIGNMENT], schema=ASSIGNMENT
    ).combine_chunks()


def _scores_without_rows(
    old: ReleaseFolder, name: str, gone: Iterable[str]
) -> tuple[pa.Table, dict[str, Any]]:
    whole = scores_with_withdrawn(old, name)
    # In source order, as a build has it: assignments list every row of their part.
    part = old.manifest["scores"][name].get("part")
    reader = next(name for name, entry in old.placed_configs.items() if entry.get("part") == part)
    order = old.assignment(reader).column("uid")
    rows = pc.sort_indices(pc.index_in(whole.table.column("uid"), value_set=order.combine_chunks()))
    whole = ScoreTable(whole.table.take(rows).combine_chunks(), whole.provenance, whole.identity)
    table, entry = score_entry(whole, members(whole.table.column("uid"), gone))
    return table, entry if part is None else {**entry, "part": part}


def _without_config(writer: ReleaseWriter, old: ReleaseFolder, config: str, reason: str) -> dict[str, Any]:
    """Keep every config but one; the manifest."""
    entries = {name: _without_forward(entry, config) for name, entry in old.configs.items() if name != config}
    placed = {name: entry for name, entry in entries.items() if entry["kind"] == "split"}
    if old.config(config)["default"]:
        scored = {name: entry["parameters"] for name, entry in placed.items() if entry["scores"]}
        forward = [name for name, parameters in scored.items() if not parameters.get("reverse")]
        entries[(forward or list(placed))[0]]["default"] = True
    read = {entry["scores"] for entry in placed.values()}
    scores = {name: entry for name, entry in old.manifest["scores"].items() if name in read}
    if "scores" in entries:
        left = [name for name in entries["scores"]["splits"] if name in read]
        if left:
            entries["scores"] = _scores_of(writer, old, left)
        else:
            del entries["scores"]
    _keep_rows(writer, old, [entry for entry in entries.values() if entry["kind"] != "scores"])
    known = old.publication
    former = [name for name, present in known.aliases.items() if present == config]
    every = dict.fromkeys([config, *former, old.config(config).get(MADE_AS, config)])
    publication = replace(
        known,
        withdrawn=(*known.withdrawn, *(Withdrawal(reason, config=name) for name in every)),
        aliases={name: present for name, present in known.aliases.items() if present != config},
    )
    return publication.put_into({**old.manifest, "scores": scores, "configs": entries})


def _scores_of(writer: ReleaseWriter, old: ReleaseFolder, names: Sequence[str]) -> dict[str, Any]:
    """The entry of config `scores` with these tables alone, in new files where they need fewer columns."""
    entry = old.config("scores")
    tables = {name: ScoreTable.from_release(old, name).table for name in names}
    if old.features("scores") != scores_features(tables):
        return writer.write_scores(tables, scores_summary(tables))
    kept = {**entry, "splits": {name: entry["splits"][name] for name in names}}
    _keep_rows(writer, old, [kept])
    return kept


def _without_forward(entry: Mapping[str, Any], config: str) -> dict[str, Any]:
    """An entry of the manifest once `config`, of which it may be the reverse, is gone."""
    gone = {"reverse_of": None} if entry.get("reverse_of") == config else {}
    return {**entry, **gone}


def _keep_rows(writer: ReleaseWriter, old: ReleaseFolder, entries: Iterable[Mapping[str, Any]]) -> None:
    """Take over every file of some configs."""
    for name in files_of(entries):
        writer.keep(old.path / name, name, link=True)


def _renamed_entry(entry: Mapping[str, Any], name: str, config: str, to: str) -> dict[str, Any]:
    """An entry of the manifest once `config` is called `to`."""
    if name != config:
        if entry.get("reverse_of") != config:
            return dict(entry)
        summary = entry["summary"].replace(f"of {config}:", f"of {to}:")
        return {**entry, "reverse_of": to, "summary": summary}
    made_as = entry.get(MADE_AS, config)
    rest = {key: value for key, value in entry.items() if key not in (MADE_AS, "assignment")}
    splits = {
        split: {**facts, "files": [_moved(file, config, to) for file in facts["files"]]}
        for split, facts in entry["splits"].items()
    }
    assignment = {**entry["assignment"], "file": _moved(entry["assignment"]["file"], config, to)}
    former = {} if made_as == to else {MADE_AS: made_as}
    return {**rest, "splits": splits, **former, "assignment": assignment}


def _moved(file: str, config: str, to: str) -> str:
    """The name of a file of rows or of an assignment once `config` is called `to`."""
    if file == f"assignments/{config}.parquet":
        return f"assignments/{to}.parquet"
    folder, _, name = file.partition("/")
    return f"{to}/{name}" if folder == config else file


def _versions(publication: Publication) -> list[str]:
    return [entry.version for entry in publication.changelog]


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise UsageError("give a reason: readers of the card want to know why")


def _check_placed(old: ReleaseFolder, config: str) -> None:
    placed = list(old.placed_configs)
    if config in Errata.of(old.manifest).reasons:
        raise UsageError(f"config {config!r} is withdrawn already")
    if config not in placed:
        raise UsageError(f"{old.path} has no config {config!r} with splits; {closest(config, placed)}")


def _check_uids(old: ReleaseFolder, uids: Sequence[str]) -> None:
    # Assignments list every row of their part.
    parts = {entry.get("part"): config for config, entry in old.placed_configs.items()}
    known = [uid for config in parts.values() for uid in old.assignment(config).column("uid").to_pylist()]
    gone = Errata.of(old.manifest).uids
    for uid in uids:
        if uid in gone:
            raise UsageError(f"row {show(uid)} is withdrawn already; leave it out")
    unknown = sorted(set(uids) - set(known))
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"{old.path} has no row {show(unknown[0])}{more}; a uid looks like {show(known[0])}")


def _check_not_emptied(old: ReleaseFolder, uids: Sequence[str]) -> None:
    for config in old.placed_configs:
        assigned = old.assignment(config)
        placed = pc.not_equal(assigned.column("split"), UNUSED_SPLIT).to_numpy()
        if not (placed & ~members(assigned.column("uid"), uids)).any():
            raise UsageError(f"config {config!r} would have no row left; withdraw the config itself first")


def _check_name(old: ReleaseFolder, config: str, to: str) -> None:
    _check_placed(old, config)
    if not _NAME.fullmatch(to):
        raise UsageError(f"a config cannot be called {show(to)}; use letters, digits and _ . -")
    errata = Errata.of(old.manifest)
    foreign = [str(entry.get("config_name")) for entry in errata.publication.foreign.get("configs", ())]
    taken = {*old.configs, *_RESERVED, *errata.reasons, *foreign}
    taken |= {name for name, present in errata.publication.aliases.items() if present != config}
    if to.lower() in {name.lower() for name in taken - {config}} or to == config:
        raise UsageError(f"the name {to!r} is taken in {old.path}; choose another one")
