"""Releases of corpora whose text may not be passed on: taking the text out, and putting it back.

A release without text has ids, scores and placements of its rows. Whoever has the corpus gets the rows by
joining both; the digests in the assignments prove every one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import Features

from ..errors import ReleaseError, UsageError
from ..eval.results import text_answers
from ..features import HEAD, PLACEMENT, PVI, payload_columns
from ..hashing import canonical_json, content_hash, row_digests, sha256_text
from ..progress import Stage, no_progress
from ..release import WITHOUT_TEXT, ReleaseFolder
from ..splitting.scores import ScoreTable
from ..tables import conform
from ._choosing import read_source
from ._describing import describe, files_of, other_files, release_name
from ._joining import Corpus, JoinedSplit, join_config, join_table
from .constituents import redistribution
from .hub.living import open_whole
from .recorded import builder_of, options_of, spec_of
from .release import ReleaseWriter
from .searched_text import BareTable, with_text, without_text

_IDS = frozenset([*HEAD, *PLACEMENT, *PVI, "best_score", "num_hits", "exact_copy"])
"""Columns that hold no text of the corpus."""
_SCORES = "scores"


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
    return bool(configs_with_text(release))


def configs_with_text(release: ReleaseFolder) -> list[str]:
    """The configs whose rows have columns of their corpus, or whose results may have answers out of it."""
    answered = {file.parent.name for file in text_answers(release)}
    found = [
        name
        for name, entry in release.configs.items()
        if name in answered
        or (_has_queries(release) if entry["kind"] == _SCORES else set(entry["features"]) - _IDS)
    ]
    return [*found, *sorted(answered - release.configs.keys())]


def must_lose_text(release: ReleaseFolder) -> list[str]:
    """The configs with text that a licence of their sources does not let be published."""
    return [name for name in configs_with_text(release) if redistribution(release.manifest, name) != "text"]


def _has_queries(release: ReleaseFolder) -> bool:
    """Whether score tables hold queries and hits with their text."""
    entry = release.configs.get(_SCORES)
    return entry is not None and "hits" in entry["features"] and WITHOUT_TEXT not in entry


def strip(
    release: str | Path | ReleaseFolder,
    *,
    out: str | Path,
    where_needed: bool = False,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Write a release again without the text of its corpus, for sources that may not be passed on.

    With `where_needed`, configs whose sources may be passed on keep their text. What was searched in corpora
    stands in one config for all of them: there it goes as a whole.

    Rows keep `uid`, `content_id` and the columns of their placement; configs that have no more stay as they
    are, and so do assignments, scores, analyses and the values of results. Of what was searched in corpora
    numbers, ids of documents and exact copies stay, no query and no document. Single answers stay only where
    they are labels: a program may be one of the corpus. Raises ReleaseError for a release that has no text,
    or that cannot be read or written.
    """
    old = open_whole(release, progress)
    if where_needed:
        chosen, meant = must_lose_text(old), "that its licences do not allow"
    else:
        chosen, meant = list(old.configs) if has_text(old) else [], "to take out"
    if not chosen:
        raise ReleaseError(f"{old.path} has no text {meant}; it can be published as it is")
    return strip_configs(old, chosen, out=out, overwrite=overwrite)


def strip_configs(
    old: ReleaseFolder, configs: Iterable[str], *, out: str | Path, overwrite: bool = False
) -> ReleaseFolder:
    """`strip` for some configs of a release; the others keep their text."""
    chosen = {name for name in configs if name in old.configs and _has_text(old, name)}
    key = sha256_text(canonical_json(["strip", old.manifest, sorted(chosen)]))
    with ReleaseWriter(out, key, overwrite) as writer:
        _take_over(writer, old, without=chosen)
        entries, tables = {}, old.manifest["scores"]
        for name, entry in old.configs.items():
            if name not in chosen:
                entries[name] = entry
            elif entry["kind"] == _SCORES:
                entries[name], tables = _stripped_scores(writer, old)
            elif _IDS & set(entry["features"]):
                entries[name] = _stripped(writer, old, name)
        manifest = {**old.manifest, "configs": entries, "scores": tables}
        name = release_name(Path(out))
        describe(writer, manifest, name=name, earlier=old.path, same_rows=True, withhold=True)
        return writer.finish(manifest)


def _has_text(release: ReleaseFolder, config: str) -> bool:
    entry = release.config(config)
    return _has_queries(release) if entry["kind"] == _SCORES else WITHOUT_TEXT not in entry


def hydrate(
    place: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    out: str | Path,
    corpus: Sequence[str] = (),
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> Hydration:
    """Put the text of a corpus into a release without it: a folder, or `ORG/NAME@REVISION`.

    `source` is the user's copy of the corpus, as for `build`. Rows are found by uid, or by the content of
    their inputs where the copy numbers its rows otherwise, and each one must have its published digest.
    If rows are missing or different, nothing is written and the answer names them; else the release at
    `out` has the files that were published from the whole text, byte for byte under equal library versions.
    Answers that were taken out are not put back: `benchwright eval` makes them again.

    Rows that were searched have hits of which `corpus` are the user's copies, as for `build`; of each only
    the documents that are hits are taken, nothing is searched again (see `searched_text`).

    Raises UsageError for a release that has its text and for corpora that are missing, SourceError for a
    source or corpus that cannot be read or is another copy, and for a corpus that was not searched.
    """
    old = open_whole(place, progress)
    if not old.is_stripped:
        raise UsageError(f"{old.path} has its text already; `hydrate` is for releases without text")
    manifest = old.manifest
    builder = builder_of(manifest)
    options = builder.resolved(options_of(manifest))
    root, data = read_source(builder, source, options, manifest["source"]["on_bad_row"])
    known = Corpus(builder, data)
    stripped = [name for name, entry in old.configs.items() if WITHOUT_TEXT in entry]
    tables: dict[str, ScoreTable] = {}
    if _SCORES in stripped:
        bare, missing = _bare_tables(old, known)
        if missing:
            return Hydration(None, sum(one.table.table.num_rows for one in bare), missing=missing)
        tables = with_text(builder, bare, corpus, progress)
    elif corpus:
        raise UsageError(f"{old.path} has no hits of corpora; leave out --corpus")
    known = Corpus(builder, data, tables)
    joined = {name: _joined(old, name, known) for name in stripped if name != _SCORES}
    answer = _answer(old, joined)
    digests = {name: row_digests(_payload(old, table)) for name, table in tables.items()}
    wrong = [name for name in tables if content_hash(digests[name]) != old.rows_hash(_SCORES, name)]
    answer = replace(answer, tables=(*answer.tables, *wrong))
    if answer.missing or answer.different or answer.tables:
        return answer
    key = sha256_text(canonical_json(["hydrate", manifest]))
    with ReleaseWriter(out, key, overwrite) as writer:
        _take_over(writer, old, without=stripped)
        scored = {name: JoinedSplit(_written(old, table), digests[name]) for name, table in tables.items()}
        entries = {
            name: _with_text(writer, name, entry, scored if name == _SCORES else joined[name])
            if name in stripped
            else entry
            for name, entry in old.configs.items()
        }
        whole = {**manifest, "configs": entries, "scores": _described(manifest["scores"], tables)}
        name, trees_from = release_name(Path(out)), root if builder.source_has_trees else None
        describe(writer, whole, name=name, earlier=old.path, trees_from=trees_from, same_rows=True)
        return replace(answer, release=writer.finish(whole))


def _bare_tables(old: ReleaseFolder, corpus: Corpus) -> tuple[list[BareTable], tuple[str, ...]]:
    """The score tables without text, with the rows of the source that they are of; uids of missing rows."""
    found, missing = [], []
    for name in old.splits(_SCORES):
        spec = next(spec_of(c, e) for c, e in old.placed_configs.items() if e["scores"] == name)
        table, rows = ScoreTable.from_release(old, name), corpus.rows_of(spec)
        places = rows.find(table.table.column("uid"), table.table.column("content_id"))
        absent = places < 0
        missing += table.table.column("uid").filter(pa.array(absent)).to_pylist()
        found.append(BareTable(name, table, rows.source.take(pa.array(rows.rows.order[places[~absent]]))))
    return found, tuple(dict.fromkeys(missing))


def _written(old: ReleaseFolder, table: ScoreTable) -> pa.Table:
    """A score table in the columns of config `scores`."""
    return conform(table.table, old.features(_SCORES).arrow_schema).combine_chunks()


def _payload(old: ReleaseFolder, table: ScoreTable) -> pa.Table:
    return _written(old, table).select(payload_columns(old.features(_SCORES)))


def _described(entries: Mapping[str, Any], tables: Mapping[str, ScoreTable]) -> dict[str, Any]:
    """What a manifest says of score tables, some of which have other text than it knows."""
    changed = dict(entries)
    for name, table in tables.items():
        hashes = {"content_hash": table.content_hash, "scores_hash": table.scores_hash}
        changed[name] = {**entries[name], "provenance": table.provenance, **hashes}
    return changed


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


def _stripped_scores(writer: ReleaseWriter, old: ReleaseFolder) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the score tables without text; their entry, and what the manifest says of each."""
    entry, features = old.config(_SCORES), old.features(_SCORES)
    tables = {name: without_text(ScoreTable.from_release(old, name)) for name in entry["splits"]}
    splits = {}
    for name, table in tables.items():
        digests = row_digests(_payload(old, table))
        splits[name] = writer.write_split(_SCORES, name, _written(old, table), digests, {})
    hashes = {split: {"content_hash": facts["content_hash"]} for split, facts in entry["splits"].items()}
    kept = {"features": features.to_dict(), "splits": hashes}
    return {**entry, "splits": splits, WITHOUT_TEXT: kept}, _described(old.manifest["scores"], tables)


def _made_from(entry: Mapping[str, Any], split: str) -> dict[str, Any]:
    return {"placed_by": entry["placed_by"][split]} if entry["kind"] == "split" else {}
