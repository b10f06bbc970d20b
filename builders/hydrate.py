"""Releases of corpora whose text may not be passed on: taking the text out, and putting it back.

A release without text has ids, scores and placements of its rows. Whoever has the corpus gets the rows by
joining both; the digests in the assignments prove every one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from datasets import Features

from ..errors import ReleaseError, UsageError
from ..eval.results import text_answers
from ..features import HEAD, PLACEMENT, PVI, payload_columns
from ..hashing import canonical_json, row_digests, sha256_text
from ..progress import Stage, no_progress
from ..release import WITHOUT_TEXT, ReleaseFolder
from ._choosing import read_source
from ._describing import describe, files_of, other_files, release_name
from ._joining import Corpus, JoinedSplit, join_config, join_table
from .hub.living import open_whole
from .recorded import builder_of, options_of
from .release import ReleaseWriter

_IDS = frozenset([*HEAD, *PLACEMENT, *PVI])
"""Columns that hold no text of the corpus."""


@dataclass(frozen=True)
class Hydration:
    """What became of `hydrate`: the release, or the uids that stand in its way.

    `missing` rows are not in the source; `different` ones are there, with other values than were published.
    Where rows have columns that depend on all of them, they are judged only if none is missing.
    `tables` are the side tables that differ.
    """

    release: ReleaseFolder | None
    rows: int
    missing: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def has_text(release: ReleaseFolder) -> bool:
    """Whether a release has columns of its corpus, or answers that may be text of it, and not ids alone."""
    columns = any(
        set(entry["features"]) - _IDS for entry in release.configs.values() if entry["kind"] != "scores"
    )
    return columns or bool(text_answers(release))


def strip(
    release: str | Path | ReleaseFolder,
    *,
    out: str | Path,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Write a release again without the text of its corpus, for sources that may not be passed on.

    Rows keep `uid`, `content_id` and the columns of their placement; configs that have no more stay as they
    are, and so do assignments, scores, analyses and the values of results. Single answers stay only where
    they are labels: a program may be one of the corpus. Raises ReleaseError for a release that has no text,
    or that cannot be read or written.
    """
    old = open_whole(release, progress)
    if not has_text(old):
        raise ReleaseError(f"{old.path} has no text to take out; it can be published as it is")
    if "scores" in old.configs and "hits" in old.features("scores"):
        raise ReleaseError(
            f"{old.path} is of queries and hits, text through and through; nothing of use would be left of it"
        )
    return strip_configs(old, old.configs, out=out, overwrite=overwrite)


def strip_configs(
    old: ReleaseFolder, configs: Iterable[str], *, out: str | Path, overwrite: bool = False
) -> ReleaseFolder:
    """`strip` for some configs of a release; the others keep their text."""
    chosen = {name for name in configs if name in old.configs and _is_whole(old.config(name))}
    key = sha256_text(canonical_json(["strip", old.manifest, sorted(chosen)]))
    with ReleaseWriter(out, key, overwrite) as writer:
        _take_over(writer, old, without=chosen)
        entries = {}
        for name, entry in old.configs.items():
            if name not in chosen:
                entries[name] = entry
            elif _IDS & set(entry["features"]):
                entries[name] = _stripped(writer, old, name)
        manifest = {**old.manifest, "configs": entries}
        name = release_name(Path(out))
        describe(writer, manifest, name=name, earlier=old.path, same_rows=True, withhold=True)
        return writer.finish(manifest)


def _is_whole(entry: Mapping[str, Any]) -> bool:
    return entry["kind"] != "scores" and WITHOUT_TEXT not in entry


def hydrate(
    place: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    out: str | Path,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> Hydration:
    """Put the text of a corpus into a release without it: a folder, or `ORG/NAME@REVISION`.

    `source` is the user's copy of the corpus, as for `build`. Rows are found by uid, or by the content of
    their inputs where the copy numbers its rows otherwise, and each one must have its published digest.
    If rows are missing or different, nothing is written and the answer names them; else the release at
    `out` has the files that were published from the whole text, byte for byte under equal library versions.
    Answers that were taken out are not put back: `benchwright eval` makes them again.

    Raises UsageError for a release that has its text, SourceError for a source that cannot be read.
    """
    old = open_whole(place, progress)
    if not old.is_stripped:
        raise UsageError(f"{old.path} has its text already; `hydrate` is for releases without text")
    manifest = old.manifest
    builder = builder_of(manifest)
    options = builder.resolved(options_of(manifest))
    root, data = read_source(builder, source, options, manifest["source"]["on_bad_row"])
    corpus = Corpus(builder, data)
    joined = {
        name: _joined(old, name, corpus) for name, entry in old.configs.items() if WITHOUT_TEXT in entry
    }
    answer = _answer(old, joined)
    if answer.missing or answer.different or answer.tables:
        return answer
    key = sha256_text(canonical_json(["hydrate", manifest]))
    with ReleaseWriter(out, key, overwrite) as writer:
        _take_over(writer, old, without=joined)
        entries = {
            name: _with_text(writer, name, entry, joined[name]) if WITHOUT_TEXT in entry else entry
            for name, entry in old.configs.items()
        }
        whole = {**manifest, "configs": entries}
        name, trees_from = release_name(Path(out)), root if builder.source_has_trees else None
        describe(writer, whole, name=name, earlier=old.path, trees_from=trees_from, same_rows=True)
        return replace(answer, release=writer.finish(whole))


def _joined(old: ReleaseFolder, config: str, corpus: Corpus) -> dict[str, JoinedSplit]:
    """The splits of a config with their text; none for a side table that differs."""
    if old.config(config)["kind"] == "split":
        return join_config(old, config, corpus)
    table = join_table(old, config, corpus)
    return {} if table is None else {"train": table}


def _answer(old: ReleaseFolder, joined: Mapping[str, Mapping[str, JoinedSplit]]) -> Hydration:
    """What is missing or different, in the order of configs and rows, each once."""
    splits = [split for found in joined.values() for split in found.values()]
    placed = [found for name, found in joined.items() if name in old.placed_configs]
    tables = [split.table for found in placed for split in found.values()]
    uids = {uid for table in tables for uid in table.column("uid").to_pylist()}
    missing = tuple(dict.fromkeys(uid for split in splits for uid in split.missing))
    different = tuple(dict.fromkeys(uid for split in splits for uid in split.different))
    wrong = tuple(name for name, found in joined.items() if not found)
    return Hydration(None, len(uids | set(missing)), missing, different, wrong)


def _with_text(
    writer: ReleaseWriter, config: str, entry: Mapping[str, Any], joined: Mapping[str, JoinedSplit]
) -> dict[str, Any]:
    """Write the splits of a config with their text; its entry as it was before the text was taken out."""
    splits = {
        split: writer.write_split(config, split, found.table, found.digests, _made_from(entry, split))
        for split, found in joined.items()
    }
    rest = {key: value for key, value in entry.items() if key != WITHOUT_TEXT}
    return {**rest, "features": entry[WITHOUT_TEXT]["features"], "splits": splits}


def _take_over(writer: ReleaseWriter, old: ReleaseFolder, without: Collection[str]) -> None:
    """Copy the files that stay as they are: all but the rows of some configs, and what is made anew."""
    kept = [entry for name, entry in old.configs.items() if name not in without]
    assigned = [entry["assignment"]["file"] for entry in old.placed_configs.values()]
    for name in dict.fromkeys([*assigned, *files_of(kept), *other_files(old)]):
        writer.keep(old.path / name, name, link=False)


def _stripped(writer: ReleaseWriter, old: ReleaseFolder, config: str) -> dict[str, Any]:
    """Write the splits of a config without text; its entry, which keeps what they were with it."""
    entry = old.config(config)
    whole = old.features(config)
    features = Features({name: kind for name, kind in whole.items() if name in _IDS})
    splits = {}
    for split in entry["splits"]:
        table = old.table(config, split, list(features)).cast(features.arrow_schema).combine_chunks()
        digests = row_digests(table.select(payload_columns(features)))
        splits[split] = writer.write_split(config, split, table, digests, _made_from(entry, split))
    hashes = {split: {"content_hash": facts["content_hash"]} for split, facts in entry["splits"].items()}
    kept = {"features": entry["features"], "splits": hashes}
    return {**entry, "features": features.to_dict(), "splits": splits, WITHOUT_TEXT: kept}


def _made_from(entry: Mapping[str, Any], split: str) -> dict[str, Any]:
    return {"placed_by": entry["placed_by"][split]} if entry["kind"] == "split" else {}
