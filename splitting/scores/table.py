"""The score table: one log-likelihood, PVI or BM25 score per row, with everything needed to make it again."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...atomic import recover, replace_folder, write_text
from ...errors import ReleaseError, SourceError
from ...features import OVERLAP, OVERLAP_SCORES, PVI_SCORES, SCORE_COLUMNS, SCORES
from ...hashing import canonical_json, columns_hash, sha256_text
from ...release import ReleaseFolder
from ...tables import write_parquet

if TYPE_CHECKING:
    from ..base import Scores

OK = "ok"
OVERLENGTH = "overlength"
"""Context and continuation together do not fit the model; never truncated."""
EMPTY = "empty"
"""A column that the prompt needs is null, there is no token to score, or no query to search for."""
STATUSES = (OK, OVERLENGTH, EMPTY)
PVI_SCORER = "pvi"
OVERLAP_SCORER = "bm25"

SCHEMA: pa.Schema = SCORES.arrow_schema.remove_metadata()
PVI_SCHEMA: pa.Schema = PVI_SCORES.arrow_schema.remove_metadata()
OVERLAP_SCHEMA: pa.Schema = OVERLAP_SCORES.arrow_schema.remove_metadata()
_LANGUAGE_MODEL_COLUMNS = ("log_likelihood", "lm_num_tokens")
_OVERLAP_NUMBERS = ("best_score", "num_hits")
_PVI_COLUMNS = tuple(name for name in PVI_SCHEMA.names if name not in SCHEMA.names)

_TABLE = "scores.parquet"
_PROVENANCE = "provenance.json"
_FORMAT = 1
_REMAKE = "take the table from its release again, or score the rows again"


def score_identity(key: dict[str, Any]) -> str:
    """`sha256:<hex>` of everything that scores depend on: equal identities, equal scores."""
    return sha256_text(canonical_json(key))


@dataclass(frozen=True)
class ScoreTable:
    """Scores of rows, in the order of the rows they were made for.

    `table` has the columns of `benchwright.features.SCORES`: `log_likelihood` is the sum over the scored
    tokens of the natural logarithm of their probability (float32, no length normalisation), `lm_num_tokens`
    the number of those tokens, `length` that of the text in NLTK tokens, `fold` the fold whose model scored
    the row. Rows whose status is not `ok` have neither log-likelihood nor number of tokens.

    A table of scorer `pvi` has the columns of `PVI_SCORES`: for rows whose status is `ok`, `entropy_null`,
    `entropy_input` and `pvi` in bits; its log-likelihoods and numbers of tokens are null.

    A table of scorer `bm25` has the columns of `OVERLAP_SCORES`, with what was searched for and found; rows
    whose status is `ok` have a `best_score`, which is 0 where no document matches.

    `provenance["key"]` holds what the scores depend on, and `identity` is its hash. What is only recorded
    (`environment`: library versions, instruction set, threads, device) stands beside it.
    """

    table: pa.Table
    provenance: dict[str, Any]
    identity: str

    def __post_init__(self) -> None:
        # As it will be read back: a table that was just made equals the one that is loaded.
        object.__setattr__(self, "provenance", json.loads(canonical_json(self.provenance)))

    @property
    def scorer(self) -> str:
        """`prompt`, `kfold`, `pvi` or `bm25`."""
        return str(self.provenance["key"]["scorer"])

    @property
    def content_hash(self) -> str:
        """Hash of the rows without their scores: uid, content id, length and status, in order."""
        names = [name for name in self.table.column_names if name not in self._score_columns]
        return columns_hash(self.table.select(names))

    @property
    def scores_hash(self) -> str:
        """Hash of the score columns, in order."""
        return columns_hash(self.table.select(self._score_columns))

    @property
    def _score_columns(self) -> list[str]:
        names = (*SCORE_COLUMNS, *(_OVERLAP_NUMBERS if self.scorer == OVERLAP_SCORER else ()))
        return [name for name in names if name in self.table.column_names]

    def entry(self) -> dict[str, Any]:
        """What a release's manifest says about the table, under `scores`.

        Only language models score tokens: a table of scorer `pvi` or `bm25` has no `scored_tokens`.
        """
        status = self.table.column("status")
        counts = {name: pc.sum(pc.equal(status, name)).as_py() or 0 for name in STATUSES}
        tokens = {"scored_tokens": pc.sum(self.table.column("lm_num_tokens")).as_py() or 0}
        return {
            "scorer": self.scorer,
            "identity": self.identity,
            "provenance": self.provenance,
            "rows": self.table.num_rows,
            "scored": counts[OK],
            "overlength": counts[OVERLENGTH],
            "empty": counts[EMPTY],
            **(tokens if self.scorer not in (PVI_SCORER, OVERLAP_SCORER) else {}),
            "content_hash": self.content_hash,
            "scores_hash": self.scores_hash,
        }

    def select(
        self, uids: pa.Array | Sequence[str], content_ids: pa.Array | Sequence[str] | None = None
    ) -> ScoreTable:
        """The table of the rows `uids`, in that order.

        With `content_ids`, the inputs must be those that were scored. Raises SourceError for a uid that the
        table lacks, that is asked for twice, or whose input differs.
        """
        wanted = pa.array(uids, pa.string()) if not isinstance(uids, pa.Array | pa.ChunkedArray) else uids
        repeated = _first_duplicate(wanted)
        if repeated is not None:
            raise SourceError(
                "uid stands twice in the rows", field="uid", value=repeated, fix="make uids unique"
            )
        known = self.table.column("uid").combine_chunks()
        if isinstance(wanted, pa.Array) and wanted.equals(known):
            if content_ids is not None:
                _require_same_inputs(self.table, content_ids)
            return self
        positions = pc.index_in(wanted.cast(pa.string()), value_set=known)
        if positions.null_count:
            missing = wanted.filter(positions.is_null())
            raise SourceError(
                f"no score for {len(missing)} of {len(wanted)} rows, the first",
                field="uid",
                value=missing[0].as_py(),
                fix="these scores were made from other rows; score these",
            )
        found = self.table.take(positions)
        if content_ids is not None:
            _require_same_inputs(found, content_ids)
        return ScoreTable(found, self.provenance, self.identity)

    def scores(self) -> Scores:
        """The scores as splitters read them; NaN and 0 tokens where a row has no score."""
        from ..base import Scores

        def doubles(name: str) -> np.ndarray:
            values: np.ndarray = pc.fill_null(self.table.column(name), math.nan).to_numpy()
            return values.astype(np.float64)

        def floats(name: str) -> np.ndarray:
            return doubles(name).astype(np.float32)

        return Scores(
            log_likelihood=floats("log_likelihood"),
            num_tokens=pc.fill_null(self.table.column("lm_num_tokens"), 0).to_numpy().astype(np.int32),
            pvi=floats("pvi") if self.scorer == PVI_SCORER else None,
            best_score=doubles("best_score") if self.scorer == OVERLAP_SCORER else None,
            exact_copy=self._copied() if self.scorer == OVERLAP_SCORER else None,
        )

    def _copied(self) -> np.ndarray:
        copied: np.ndarray = pc.fill_null(self.table.column("exact_copy"), False).to_numpy()
        return copied.astype(bool)

    def searched(self) -> pa.Table | None:
        """What was searched for and found, which rows of configs show; None where it was not by `bm25`."""
        return self.table.select(list(OVERLAP)) if self.scorer == OVERLAP_SCORER else None

    def aligned(
        self, uids: pa.Array | Sequence[str], content_ids: pa.Array | Sequence[str] | None = None
    ) -> Scores:
        """The scores of the rows `uids`, in that order. Raises as `select` does."""
        return self.select(uids, content_ids).scores()

    def save(self, folder: Path) -> None:
        """Write `scores.parquet` and `provenance.json`, both or none.

        Raises ReleaseError if `folder` stands there and is no score table.
        """
        recover(folder)
        if folder.exists() and not (folder / _PROVENANCE).is_file() and any(folder.iterdir()):
            raise ReleaseError(
                f"{folder} is in the way: it is not empty and no score table; choose another folder"
            )
        staged = folder.with_name(f".{folder.name}.staged")
        shutil.rmtree(staged, ignore_errors=True)
        write_parquet(self.table, staged / _TABLE)
        entry = {"format": _FORMAT, **self.entry()}
        text = json.dumps(entry, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(staged / _PROVENANCE, text + "\n")
        replace_folder(staged, folder)

    @classmethod
    def load(cls, folder: Path) -> ScoreTable:
        """Read what `save` wrote.

        Raises ReleaseError if `folder` is no score table, SourceError if one of its files is damaged.
        """
        recover(folder)
        path = folder / _PROVENANCE
        if not path.is_file():
            raise ReleaseError(f"{folder} is no score table: it has no {_PROVENANCE}; {_REMAKE}")
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise SourceError(f"not JSON ({error})", path=path, fix=_REMAKE) from None
        if not isinstance(entry, dict) or entry.get("format") != _FORMAT:
            raise SourceError(f"unknown format; this version reads format {_FORMAT}", path=path, fix=_REMAKE)
        return cls._checked(_read_table(folder / _TABLE), entry, folder / _TABLE)

    @classmethod
    def from_release(cls, release: ReleaseFolder, name: str) -> ScoreTable:
        """The score table `name` of a release. Raises ReleaseError or SourceError as `load` does."""
        tables = release.manifest.get("scores") or {}
        if name not in tables or name not in release.splits("scores"):
            known = ", ".join(tables) or "none"
            raise ReleaseError(f"{release.path} has no score table {name!r}; it has {known}")
        return cls._checked(release.table("scores", name), tables[name], release.files("scores", name)[0])

    @classmethod
    def _checked(cls, table: pa.Table, entry: dict[str, Any], path: Path) -> ScoreTable:
        table = check_table(_own_columns(table, entry, path), path)
        try:
            scores = cls(table, entry["provenance"], entry["identity"])
            expected = (score_identity(scores.provenance["key"]), table.num_rows)
            stated = (entry["identity"], entry["rows"])
            hashes = (entry["content_hash"], entry["scores_hash"])
        except (KeyError, TypeError) as error:
            raise SourceError(f"provenance is incomplete ({error})", path=path, fix=_REMAKE) from None
        if stated != expected:
            reason = (
                f"provenance states {stated[1]} rows, {stated[0]}; found {expected[1]} rows, {expected[0]}"
            )
            raise SourceError(reason, path=path, fix=_REMAKE)
        if hashes != (scores.content_hash, scores.scores_hash):
            raise SourceError("rows or scores were changed after they were written", path=path, fix=_REMAKE)
        return scores


def check_table(table: pa.Table, path: Path | None = None) -> pa.Table:
    """The same table in the types of `SCHEMA`, of `PVI_SCHEMA` or of `OVERLAP_SCHEMA`, by its columns.

    Raises SourceError for other columns, a uid that is null or repeated, an unknown status, or a row that
    has a score and should have none (or the reverse).
    """

    def fault(reason: str, mask: pa.Array | None = None, field: str | None = None) -> SourceError:
        row = None if mask is None else int(np.flatnonzero(mask.to_numpy(zero_copy_only=False))[0])
        value = None if row is None or field is None else table.column(field)[row].as_py()
        return SourceError(reason, path=path, row=row, field=field, value=value, fix=_REMAKE)

    schema = _schema_of(table)
    if table.column_names != schema.names:
        raise fault(f"columns are {', '.join(table.column_names)} and not {', '.join(schema.names)}")
    try:
        table = table.replace_schema_metadata(None).cast(schema).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise fault(f"column types do not fit ({error})") from None
    uid, status = (table.column(name).combine_chunks() for name in ("uid", "status"))
    if uid.null_count:
        raise fault("a row has no uid", uid.is_null(), "uid")
    repeated = _first_duplicate(uid)
    if repeated is not None:
        raise fault("uid stands twice", pc.equal(uid, repeated), "uid")
    unknown = pc.invert(pc.is_in(status, value_set=pa.array(STATUSES)))
    if pc.any(unknown).as_py():
        raise fault(f"status is none of {', '.join(STATUSES)}", unknown, "status")
    ok = pc.equal(status, OK)
    for name, present in _present_scores(table).items():
        wrong = pc.xor(pc.fill_null(present, False), ok)
        if pc.any(wrong).as_py():
            raise fault("score and status contradict each other", wrong, name)
    if schema is not SCHEMA:
        what = "V-information" if schema is PVI_SCHEMA else "BM25 scores"
        for name in _LANGUAGE_MODEL_COLUMNS:
            given = table.column(name).combine_chunks().is_valid()
            if pc.any(given).as_py():
                raise fault(f"a table of {what} has no log-likelihoods", given, name)
    return table


def _schema_of(table: pa.Table) -> pa.Schema:
    if "best_score" in table.column_names:
        return OVERLAP_SCHEMA
    return PVI_SCHEMA if "pvi" in table.column_names else SCHEMA


def _present_scores(table: pa.Table) -> dict[str, pa.Array]:
    """For each column that a row with a score has, in which rows it is a score (null: not known)."""
    if "pvi" in table.column_names:
        return {name: pc.is_finite(table.column(name)).combine_chunks() for name in _PVI_COLUMNS}
    if "best_score" in table.column_names:
        best, hits = (table.column(name).combine_chunks() for name in ("best_score", "num_hits"))
        return {"best_score": pc.is_finite(best), "num_hits": pc.greater_equal(hits, 0)}
    score, tokens = (table.column(name).combine_chunks() for name in _LANGUAGE_MODEL_COLUMNS)
    return {"log_likelihood": pc.is_finite(score), "lm_num_tokens": pc.greater(tokens, 0)}


def _own_columns(table: pa.Table, entry: dict[str, Any], path: Path) -> pa.Table:
    """The table without columns that only others of its release have. Raises SourceError for values there."""
    others = [name for name in _PVI_COLUMNS if name in table.column_names]
    if entry.get("scorer") == PVI_SCORER or not others:
        return table
    for name in others:
        if table.column(name).null_count != table.num_rows:
            raise SourceError(
                "a table of language-model scores has no V-information", path=path, field=name, fix=_REMAKE
            )
    return table.drop_columns(others)


def _read_table(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, partitioning=None)
    except FileNotFoundError:
        raise ReleaseError(f"{path} is missing; {_REMAKE}") from None
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"not a whole parquet file ({error})", path=path, fix=_REMAKE) from None


def _first_duplicate(values: pa.Array | pa.ChunkedArray) -> str | None:
    counts = pc.value_counts(values)
    if len(counts) == len(values):
        return None
    return str(counts.field("values")[int(np.argmax(counts.field("counts").to_numpy() > 1))].as_py())


def _require_same_inputs(found: pa.Table, content_ids: pa.Array | Sequence[str]) -> None:
    now = (
        content_ids
        if isinstance(content_ids, pa.Array | pa.ChunkedArray)
        else pa.array(content_ids, pa.string())
    )
    same = pc.fill_null(pc.equal(found.column("content_id"), now), False)
    row = pc.index(same, False).as_py()
    if row >= 0:
        raise SourceError(
            "the row's input is not the one that was scored",
            field="content_id",
            value=found.column("uid")[row].as_py(),
            fix="the source changed after scoring; score its rows again",
        )
