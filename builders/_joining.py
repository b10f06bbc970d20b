"""Joining rows without text with a copy of the corpus that they come from, and proving every one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import Features

from ..errors import ReleaseError
from ..features import class_names, payload_columns
from ..hashing import content_hash, row_digests
from ..release import WITHOUT_TEXT, ReleaseFolder
from ..splitting.base import SIDES, UNUSED, Scores
from ..splitting.scores import ScoreTable
from ._errata import recorded_rows, scores_with_withdrawn
from ._parts import Part
from .base import Builder, ConfigSpec, SourceData
from .recorded import spec_of
from .release import SourceRows


@dataclass(frozen=True)
class JoinedSplit:
    """A split with its text, and the digests of its rows, of shape (rows, 16).

    `missing` are uids that the corpus lacks; `different` those whose digests are not the published ones.
    """

    table: pa.Table
    digests: np.ndarray
    missing: tuple[str, ...] = ()
    different: tuple[str, ...] = ()


class CorpusRows:
    """The rows of a copy of the corpus that some configs divide, as these show them, in source order."""

    def __init__(self, builder: Builder, part: Part, rows: SourceRows) -> None:
        self._builder, self._part, self.rows = builder, part, rows
        self._uids, self._contents = (
            rows.table.column(name).combine_chunks().cast(pa.string()) for name in ("uid", "content_id")
        )
        self._equal: dict[str, list[int]] = {}
        for place, content in enumerate(self._contents.to_pylist()):
            self._equal.setdefault(content, []).append(place)

    @property
    def source(self) -> pa.Table:
        """The rows with all that the source says of them, in the order of the part's table."""
        return self._part.data.table

    def find(self, uids: pa.ChunkedArray, content_ids: pa.ChunkedArray) -> np.ndarray:
        """The place of each row in source order (int64), -1 for one that is not there.

        A row is known by its uid where its inputs agree, else by its inputs: a copy may be numbered
        otherwise.
        """
        by_uid, by_content = _places(uids, self._uids), _places(content_ids, self._contents)
        same = np.zeros(len(by_uid), dtype=bool)
        known = by_uid >= 0
        found = self._contents.take(pa.array(by_uid[known]))
        wanted = content_ids.combine_chunks().filter(pa.array(known))
        same[known] = pc.equal(found, wanted).to_numpy(zero_copy_only=False)
        return np.where(same, by_uid, by_content)

    def others(self, place: int) -> list[int]:
        """The places of the other rows whose inputs are those of the row at `place`."""
        return [other for other in self._equal[self._contents[place].as_py()] if other != place]

    def payload(self, spec: ConfigSpec, side: np.ndarray, table: ScoreTable | None) -> tuple[pa.Table, bool]:
        """All rows as a config shows them that has them on `side` (int8, source order), and whether the
        side matters for them.

        `table` has the scores that the config read; rows that it lacks have none.
        """
        in_table_order = np.empty_like(side)
        in_table_order[self.rows.order] = side
        scores = None if table is None else self._scores(table)
        columns = self._builder.placed_columns(self._part.data, in_table_order, spec, scores)
        found = None if table is None else self._searched(table)
        if found is not None:
            of_config = () if columns is None else columns.itercolumns()
            for name, column in zip([] if columns is None else columns.column_names, of_config, strict=True):
                found = found.append_column(name, column)
        shown = columns if found is None else found
        payload = self.rows.table if shown is None else self.rows.with_columns(shown)[0]
        return payload, columns is not None

    def _searched(self, table: ScoreTable) -> pa.Table | None:
        """What was searched for the rows and found, in the order of the part's table; null where nothing."""
        found = table.searched()
        if found is None:
            return None
        places = self.find(table.table.column("uid"), table.table.column("content_id"))
        scored = np.flatnonzero(places >= 0)
        chosen = np.full(len(self.rows.order), -1, dtype=np.int64)
        chosen[self.rows.order[places[scored]]] = scored
        return found.take(pa.array(chosen, mask=chosen < 0)).combine_chunks()

    def _scores(self, table: ScoreTable) -> Scores:
        """Scores of the rows, in the order of the part's table."""
        places = self.find(table.table.column("uid"), table.table.column("content_id"))
        scored = np.flatnonzero(places >= 0)
        rows, found = self.rows.order[places[scored]], table.scores().take(scored)

        def spread(values: np.ndarray, otherwise: float) -> np.ndarray:
            of_rows = np.full(len(self.rows.order), otherwise, dtype=values.dtype)
            of_rows[rows] = values
            return of_rows

        return Scores(
            log_likelihood=spread(found.log_likelihood, np.nan),
            num_tokens=spread(found.num_tokens, 0),
            pvi=None if found.pvi is None else spread(found.pvi, np.nan),
        )


class Corpus:
    """A copy of the corpus, as one builder reads it.

    `tables` are the score tables of a release that are to be read in place of its own, which have no text.
    """

    def __init__(
        self, builder: Builder, data: SourceData, tables: Mapping[str, ScoreTable] | None = None
    ) -> None:
        self.builder, self.data, self.tables = builder, data, dict(tables or {})
        self._parts: dict[str | None, Part] = {}
        self._rows: dict[tuple[str | None, str], CorpusRows] = {}

    def rows_of(self, spec: ConfigSpec) -> CorpusRows:
        """The rows that a config divides; configs of one part and of equal columns share them.

        Of a part that the copy lacks there are none.
        """
        if spec.part not in self._parts:
            known = spec.part is None or spec.part in self.data.parts
            data = (
                self.data.part(spec.part) if known else replace(self.data, table=self.data.table.slice(0, 0))
            )
            self._parts[spec.part] = Part(self.builder, data, {})
        part = self._parts[spec.part]
        key = spec.part, repr(self.builder.features_of(spec))
        if key not in self._rows:
            self._rows[key] = CorpusRows(self.builder, part, part.rows(spec))
        return self._rows[key]


def join_config(release: ReleaseFolder, config: str, corpus: Corpus) -> dict[str, JoinedSplit]:
    """Every split of a config without text, joined with the corpus.

    Raises ReleaseError where this version of benchwright reads other columns than were published.
    """
    entry, assigned = release.config(config), release.assignment(config)
    features = Features.from_dict(entry[WITHOUT_TEXT]["features"])
    kept = {split: release.table(config, split) for split in entry["splits"]}
    spec = spec_of(config, entry)
    known = corpus.rows_of(spec)
    found = _places_of_splits(kept, known)
    table = None if spec.scores is None else corpus.tables.get(spec.scores)
    if table is None and spec.scores is not None:
        table = scores_with_withdrawn(release, spec.scores)
    payload, side_matters = known.payload(spec, _sides(entry, found, known), table)
    absent = [name for name in features if name not in payload.column_names + kept_columns(kept)]
    if absent:
        raise ReleaseError(
            f"{release.path}: this version reads no column {absent[0]!r} of config {config!r}; "
            f"install benchwright=={release.manifest['benchwright']}"
        )
    incomplete = any((places < 0).any() for places in found.values())
    joined = {}
    for split, rows in kept.items():
        members = assigned.filter(pc.equal(assigned.column("split"), split))
        published = np.frombuffer(b"".join(members.column("row_digest").to_pylist()), np.uint8)
        one = _join(rows, payload, found[split], features, published.reshape(members.num_rows, -1), known)
        # Columns that depend on where all rows stand cannot be judged while some are not there.
        joined[split] = replace(one, different=()) if incomplete and side_matters else one
    return joined


def join_table(release: ReleaseFolder, config: str, corpus: Corpus) -> JoinedSplit | None:
    """A side table with its text; None if the corpus does not give the published one."""
    table, features = corpus.data.extras.get(config, (None, None))
    if table is None or features is None:
        return None
    table = table.cast(features.arrow_schema).combine_chunks()
    digests = row_digests(table.select(payload_columns(features)), class_names(features))
    published = release.config(config)[WITHOUT_TEXT]["splits"]["train"]["content_hash"]
    return JoinedSplit(table, digests) if content_hash(digests) == published else None


def kept_columns(splits: Mapping[str, pa.Table]) -> list[str]:
    """The columns that splits without text have."""
    return next(iter(splits.values())).column_names


def _places_of_splits(kept: Mapping[str, pa.Table], corpus: CorpusRows) -> dict[str, np.ndarray]:
    """The place in the corpus of each row of each split; rows of equal inputs have places of their own."""
    rows = pa.concat_tables([table.select(["uid", "content_id"]) for table in kept.values()])
    places = corpus.find(rows.column("uid"), rows.column("content_id"))
    claimed, used = set(places.tolist()), set()
    for row in range(len(places)):
        place = int(places[row])
        if place in used:
            free = (other for other in corpus.others(place) if other not in claimed)
            place = places[row] = next(free, place)
            claimed.add(place)
        if place >= 0:
            used.add(place)
    ends = np.cumsum([table.num_rows for table in kept.values()])[:-1]
    return dict(zip(kept, np.split(places, ends), strict=True))


def _sides(entry: Mapping[str, Any], found: Mapping[str, np.ndarray], corpus: CorpusRows) -> np.ndarray:
    """Where rows stood when they were divided (int8, source order): withdrawn rows count, too."""
    side = np.full(corpus.rows.table.num_rows, UNUSED, dtype=np.int8)
    for split, places in found.items():
        side[places[places >= 0]] = SIDES[split]
    gone = {uid: row for uid, row in recorded_rows(entry).items() if row.split}
    contents = pa.chunked_array([[row.content_id for row in gone.values()]], pa.string())
    places = corpus.find(pa.chunked_array([list(gone)], pa.string()), contents)
    for place, row in zip(places, gone.values(), strict=True):
        if place >= 0:
            side[place] = SIDES[row.split]
    return side


def _join(
    rows: pa.Table,
    payload: pa.Table,
    places: np.ndarray,
    features: Features,
    published: np.ndarray,
    corpus: CorpusRows,
) -> JoinedSplit:
    """Rows without text, the corpus, and the place in it of each row; `published` digests, one a row."""
    there = places >= 0
    kept, places, published = rows.filter(pa.array(there)), places[there].copy(), published[there]
    digests = _complete(kept, payload, places, features)[1]
    for row in np.flatnonzero((digests != published).any(axis=1)):
        # Rows of equal inputs have one content id: in a copy numbered otherwise it may be another one.
        one = kept.slice(row, 1)
        for other in corpus.others(int(places[row])):
            if (_complete(one, payload, np.array([other]), features)[1] == published[row]).all():
                places[row] = other
                break
    table, digests = _complete(kept, payload, places, features)
    equal = (digests == published).all(axis=1)
    return JoinedSplit(
        table,
        digests,
        missing=tuple(rows.column("uid").filter(pa.array(~there)).to_pylist()),
        different=tuple(kept.column("uid").filter(pa.array(~equal)).to_pylist()),
    )


def _complete(
    kept: pa.Table, payload: pa.Table, places: np.ndarray, features: Features
) -> tuple[pa.Table, np.ndarray]:
    """Rows without text with the columns that they lack, from these places of the corpus; their digests."""
    text = payload.take(pa.array(places))
    columns = [
        (kept if field.name in kept.column_names else text).column(field.name).cast(field.type)
        for field in features.arrow_schema
    ]
    table = pa.table(columns, schema=features.arrow_schema).combine_chunks()
    return table, row_digests(table.select(payload_columns(features)), class_names(features))


def _places(wanted: pa.ChunkedArray | pa.Array, known: pa.Array) -> np.ndarray:
    found = pc.fill_null(pc.index_in(wanted.cast(pa.string()), value_set=known), -1)
    return found.to_numpy(zero_copy_only=False).astype(np.int64)
