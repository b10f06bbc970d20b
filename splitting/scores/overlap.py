"""Scores of rows by what of them stands in corpora: BM25 search, its hits, and exact copies among them.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767), section 3; METHODS part D.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...errors import UsageError, show
from ...executor import EXECUTORS, Executor, open_executor
from ...hashing import canonical_json, sha256_text
from ...progress import Stage, no_progress
from ...registry import closest
from .bm25.analysis import load_analyzer
from .bm25.engine import (
    SearchEngine,
    analysed,
    check_choices,
    inverse_document_frequency,
)
from .bm25.query import OverlapQuery
from .cache import Workspace, open_workspace, read_scores, write_scores
from .corpora import Corpus, check_corpora
from .indexes import Index, Indexes
from .ngrams import CopySearch, NgramSearch, NgramsFound
from .overlap_queries.explain import score_document
from .reading import Lookup, Reading, read_corpus
from .table import EMPTY, OK, OVERLAP_SCHEMA, OVERLAP_SCORER, ScoreTable, score_identity

PUBLISHED_HITS = 50
"""Most hits of a query in one corpus (published code)."""
_VERSION = 2
_QUERIES_PER_CHUNK = 128
_HIT = np.dtype([("item", "<i8"), ("document", "<i8"), ("score", "<f8")])
"""One hit: the number of the row, of the document in its corpus, and its BM25 score."""
_PARSE = ("e1", "e2", "pred_c", "pred_q", "connective", "content_words", "query")


@dataclass(frozen=True)
class RowQuery:
    """What is searched for a row; `query` is None where none could be made, for a `reason`.

    `parse` has values of the columns of `features.OVERLAP` that tell of the query. `copies` are the forms of
    the row's text of which a document that holds one, word by word, is an exact copy.
    """

    query: OverlapQuery | None
    parse: Mapping[str, Any] = field(default_factory=dict)
    copies: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Queries:
    """One query a row; `construction` (JSON-able) says how they were made, by which models.

    `analyzer` names what turns texts into terms, the same for queries and corpora (see `bm25.analysis`).
    """

    rows: Sequence[RowQuery]
    construction: Mapping[str, Any]
    analyzer: str = "english"


@dataclass(frozen=True)
class SearchOptions:
    """How rows are searched.

    `engine` (fast, whoosh); `idf` (whoosh, paper); `hits_per_query`: most hits in each corpus; `top_hits`:
    how many of these, the best of each corpus, are kept, beside as many exact copies as `hits_per_query`.
    """

    engine: str = "fast"
    idf: str = "paper"
    hits_per_query: int = PUBLISHED_HITS
    top_hits: int = 10

    def __post_init__(self) -> None:
        check_choices(idf=self.idf, engine=self.engine)
        for name in ("hits_per_query", "top_hits"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} is {show(value)}; give a whole number from 1")


@dataclass(frozen=True)
class Execution:
    """Who indexes and searches; no answer depends on it.

    `executor`: `serial` (this process), `local` (`workers` processes) or `ray` (the cluster at `ray_address`,
    else one of `workers` cores that is started here). With `local` and `ray` each corpus is indexed in
    `shards` parts, by default one for each worker; a part that is finished is not indexed again.
    """

    executor: str = "serial"
    workers: int | None = None
    ray_address: str | None = None
    shards: int | None = None

    def check(self, engine: str) -> None:
        """Raise UsageError for choices that do not fit each other or the engine."""
        if self.executor not in EXECUTORS:
            raise UsageError(f"unknown executor {show(self.executor)}; {closest(self.executor, EXECUTORS)}")
        for name in ("workers", "shards"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"{name} is {show(value)}; give a whole number from 1")
        if self.executor == "serial":
            given = [name for name in ("workers", "ray_address", "shards") if getattr(self, name) is not None]
            if given:
                raise UsageError(f"{given[0]} is for the executors local and ray; name one with --executor")
        elif engine != "fast":
            raise UsageError(f"engine {engine} makes one index in one process; leave out --executor")

    def open(self) -> AbstractContextManager[Executor | None]:
        """The executor; None for this process."""
        if self.executor == "serial":
            return nullcontext()
        return open_executor(self.executor, workers=self.workers, address=self.ray_address)


IN_THIS_PROCESS = Execution()


class _Found(NamedTuple):
    """A hit of a row in one corpus."""

    document: int
    score: float
    matched_terms: list[str]


@dataclass(frozen=True)
class Searched:
    """A score table, and what else was found in each corpus where n-grams were looked for.

    `ngrams` are those that stand in it; `shares` give, for each row and each of its hits in the table, the
    share of the query that a document has: of its distinct terms, each weighted by its inverse document
    frequency (below 0: by 0).
    """

    table: ScoreTable
    ngrams: list[NgramsFound]
    shares: list[list[float]]


def score_by_overlap(
    rows: pa.Table,
    queries: Queries,
    corpora: Sequence[Corpus],
    options: SearchOptions,
    *,
    cache: Path,
    execution: Execution = IN_THIS_PROCESS,
    progress: Stage = no_progress,
) -> ScoreTable:
    """Search every row in every corpus, and look for exact copies of it.

    `rows` has the columns uid, content_id, source_index, maybe length, and one query each, in their order.
    Corpora are searched apart, each with its own statistics; the best score of a row is the highest of all.
    Copies are looked for in every document, whatever the query finds, and of rows without a query, too.

    A corpus is read twice: to be indexed (not again where the cache has its index), and once more for copies
    and the texts of hits; its files once before that for their sha256. Work that an earlier call left in
    `cache` is not done again: neither indexes nor hits nor the second reading. Scores depend neither on the
    order of rows nor on interruptions. Raises UsageError for no or repeated corpora, SourceError for a
    corpus that cannot be read.
    """
    return search_corpora(
        rows, queries, corpora, options, cache=cache, execution=execution, progress=progress
    ).table


def search_corpora(
    rows: pa.Table,
    queries: Queries,
    corpora: Sequence[Corpus],
    options: SearchOptions,
    *,
    ngrams: NgramSearch | None = None,
    cache: Path,
    execution: Execution = IN_THIS_PROCESS,
    progress: Stage = no_progress,
) -> Searched:
    """`score_by_overlap`, which looks for `ngrams` besides, in the same reading of each corpus."""
    check_corpora(corpora)
    execution.check(options.engine)
    if len(queries.rows) != rows.num_rows:
        raise ValueError(f"{len(queries.rows)} queries for {rows.num_rows} rows; give one query a row")
    order = np.argsort(rows.column("source_index").to_numpy(), kind="stable")
    ordered = [queries.rows[row] for row in order.tolist()]
    key = {
        "scorer": OVERLAP_SCORER,
        "version": _VERSION,
        **asdict(options),
        "analyzer": load_analyzer(queries.analyzer).identity,
        "construction": dict(queries.construction),
        "queries": sha256_text(canonical_json([_query_key(row) for row in ordered])),
        "corpora": [{"name": corpus.name, **corpus.identity} for corpus in corpora],
        **({} if ngrams is None else {"ngrams": ngrams.identity}),
    }
    with open_workspace(cache, key, _environment(options)) as workspace:
        finished = workspace.finished()
        if finished is None:
            with execution.open() as executor:
                indexes = Indexes(
                    options.engine, options.idf, queries.analyzer, cache, executor, execution.shards, progress
                )
                facts = _Search(ordered, corpora, options, indexes, ngrams, progress).run(workspace)
            workspace.finish(np.array([found["best_score"] for found in facts["rows"]]), facts)
            for left in workspace.folder.glob("corpus-*"):
                shutil.rmtree(left)
        else:
            facts = finished[1]
        environment = workspace.environment
    found = [facts["rows"][place] for place in np.argsort(order).tolist()]
    without = Counter(row.reason or "no query" for row in ordered if row.query is None)
    provenance = {
        "key": key,
        "corpora": facts["corpora"],
        "without_query": dict(sorted(without.items())),
        "environment": environment,
    }
    table = ScoreTable(_table(rows, queries.rows, found), provenance, score_identity(key))
    if ngrams is None:
        return Searched(table, [], [])
    return Searched(table, [ngrams.found(runs) for runs in facts["ngrams"]], [row["shares"] for row in found])


class _Search:
    """Every query in every corpus, and every corpus read for what was found; all of it is JSON-able."""

    def __init__(
        self,
        rows: Sequence[RowQuery],
        corpora: Sequence[Corpus],
        options: SearchOptions,
        indexes: Indexes,
        ngrams: NgramSearch | None,
        progress: Stage,
    ) -> None:
        self._rows, self._corpora, self._options = rows, corpora, options
        self._indexes, self._progress = indexes, progress
        self._items = [item for item, row in enumerate(rows) if row.query is not None]
        copies = CopySearch([row.copies for row in rows])
        self._lookup = Lookup(copies, options.hits_per_query, ngrams)

    def run(self, workspace: Workspace) -> dict[str, Any]:
        """`rows`: best_score (-1 without a query), num_hits, exact_copy and hits of each row; what is said
        of `corpora`; `ngrams` in each.
        """
        best = [-1.0 if row.query is None else 0.0 for row in self._rows]
        counts = [0] * len(self._rows)
        hits: list[list[dict[str, Any]]] = [[] for _ in self._rows]
        described, ngrams = [], []
        for number, corpus in enumerate(self._corpora):
            part = workspace.part(f"corpus-{number}")
            index = self._indexes.of(corpus)
            found = self._found(corpus, index.engine, part)
            reading = self._read(corpus, index, found, part)
            kept = [self._kept(row, found[row], reading, index.engine) for row in range(len(self._rows))]
            if self._lookup.ngrams is not None:
                self._add_shares(kept, index.engine)
            for row, own in enumerate(found):
                best[row] = max([best[row], *(hit.score for hit in own)])
                counts[row] += len(own)
                hits[row] += [{"corpus": corpus.name, **hit} for hit in kept[row]]
            described.append(_described(corpus, index.engine, reading, kept))
            ngrams.append(reading.listed_ngrams())
        rows = []
        for row, kept_hits in enumerate(hits):
            kept_hits.sort(key=lambda hit: -(hit["score"] or 0.0))
            facts = {"best_score": best[row], "num_hits": counts[row]}
            copied = any(hit["exact_copy"] for hit in kept_hits)
            shares = [hit.pop("share", 0.0) for hit in kept_hits]
            rows.append({**facts, "exact_copy": copied, "hits": kept_hits, "shares": shares})
        return {"rows": rows, "corpora": described, "ngrams": ngrams}

    def _found(self, corpus: Corpus, engine: SearchEngine, part: Workspace) -> list[list[_Found]]:
        """The hits of each row in one corpus, best first, chunk by chunk."""
        found: list[list[_Found]] = [[] for _ in self._rows]
        with self._progress(f"queries in {corpus.name}", len(self._items), "queries") as report:
            for chunk, start in enumerate(range(0, len(self._items), _QUERIES_PER_CHUNK)):
                items = self._items[start : start + _QUERIES_PER_CHUNK]
                seal, path = part.seal.at(chunk=chunk), part.folder / f"chunk-{chunk:06d}.scores"
                stored = read_scores(path, seal)
                if stored is None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    stored = self._hits(items, engine)
                    write_scores(path, seal, *stored)
                hits, facts = stored
                for (item, document, score), terms in zip(hits.tolist(), facts["matched_terms"], strict=True):
                    found[item].append(_Found(document, score, terms))
                report(len(items))
        return found

    def _hits(self, items: list[int], index: SearchEngine) -> tuple[np.ndarray, dict[str, Any]]:
        queries = [query for item in items if (query := self._rows[item].query) is not None]
        answers = index.search(queries, k=self._options.hits_per_query)
        listed = [(item, hit) for item, hits in zip(items, answers, strict=True) for hit in hits]
        hits = np.array([(item, hit.document, hit.score) for item, hit in listed], dtype=_HIT)
        return hits, {"matched_terms": [list(dict.fromkeys(hit.matched_terms)) for _, hit in listed]}

    def _read(
        self, corpus: Corpus, index: Index, found: Sequence[Sequence[_Found]], part: Workspace
    ) -> Reading:
        """The one reading of a corpus after its search: the best documents of every row, copies, n-grams."""
        seal, path = part.seal.at(part="reading"), part.folder / "reading.scores"
        stored = read_scores(path, seal)
        if stored is not None:
            return Reading.of_json(stored[1])
        wanted = sorted({hit.document for hits in found for hit in hits[: self._options.top_hits]})
        executor = self._indexes.executor
        total, unit = (0, "documents") if executor is None else (len(index.parts), "shards")
        with self._progress(f"copies and hits in {corpus.name}", total, unit) as report:
            reading = read_corpus(index.parts, index.by_part(wanted), self._lookup, executor, report)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_scores(path, seal, np.zeros(0), reading.to_json())
        return reading

    def _kept(
        self, row: int, found: Sequence[_Found], reading: Reading, engine: SearchEngine
    ) -> list[dict[str, Any]]:
        """The best hits of a row and its copies in one corpus, those of equal score in the corpus's order."""
        copies = reading.copies.get(row, [])
        hits = {hit.document: hit for hit in found}
        best = [hit.document for hit in found[: self._options.top_hits]]
        kept = []
        for document in dict.fromkeys([*best, *copies]):
            document_id, text = reading.documents[document]
            # Of very many copies the first are known; a hit may be another one.
            many = len(copies) == self._lookup.most_copies
            exact = document in copies or (many and row in self._lookup.copies.within([text])[0])
            score, terms = self._scored(row, hits.get(document), len(found), text, engine)
            kept.append(
                {
                    "document_id": document_id,
                    "text": text,
                    "score": score,
                    "matched_terms": terms,
                    "exact_copy": exact,
                }
            )
        return sorted(kept, key=lambda hit: -(hit["score"] or 0.0))

    def _scored(
        self, row: int, hit: _Found | None, hits: int, text: str, engine: SearchEngine
    ) -> tuple[float | None, list[str]]:
        """Score and matched terms of a document of a row with so many hits: None without a query."""
        query = self._rows[row].query
        if hit is not None:
            return hit.score, hit.matched_terms
        if query is None or hits < self._options.hits_per_query:
            # Every document that the query matches is among its hits.
            return (None if query is None else 0.0), []
        return score_document(query, text, self._indexes.loaded, engine.statistics, self._options.idf)

    def _add_shares(self, kept: Sequence[Sequence[dict[str, Any]]], engine: SearchEngine) -> None:
        """Give every hit of one corpus its `share` (see `Searched`)."""
        analyzer = self._indexes.loaded
        asked = [None if row.query is None else analysed(row.query, analyzer) for row in self._rows]
        known = engine.statistics({term: None for query in asked if query for term in query.terms})
        weights = {
            term: max(0.0, inverse_document_frequency(self._options.idf, known.documents, frequency))
            for term, frequency in known.document_frequencies.items()
        }
        for query, hits in zip(asked, kept, strict=True):
            whole = sum(weights[term] for term in query.terms) if query else 0.0
            for hit in hits:
                hit["share"] = sum(weights[t] for t in hit["matched_terms"]) / whole if whole else 0.0


def _described(
    corpus: Corpus, engine: SearchEngine, reading: Reading, kept: Sequence[Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """What a manifest says of a searched corpus: enough to take the scores of kept hits apart again."""
    terms = sorted({term for hits in kept for hit in hits for term in hit["matched_terms"]})
    return {
        "name": corpus.name,
        "fingerprint": corpus.fingerprint,
        "documents": engine.documents,
        "terms": engine.total_length,
        "skipped": dict(sorted(reading.skipped.items())),
        "dropped": dict(sorted(reading.dropped.items())),
        "document_frequencies": dict(engine.statistics(terms).document_frequencies),
    }


def without_idle_frequencies(table: ScoreTable) -> ScoreTable:
    """A table some of whose rows are gone, without document frequencies of terms that only those had."""
    if "corpora" not in table.provenance:
        return table
    used: dict[str, set[str]] = {}
    for hits in table.table.column("hits").to_pylist():
        for hit in hits or ():
            used.setdefault(hit["corpus"], set()).update(hit["matched_terms"] or ())
    corpora = []
    for facts in table.provenance["corpora"]:
        known, left = facts.get("document_frequencies"), used.get(facts["name"], set())
        kept = {term: count for term, count in (known or {}).items() if term in left}
        corpora.append(facts if known is None else {**facts, "document_frequencies": kept})
    return ScoreTable(table.table, {**table.provenance, "corpora": corpora}, table.identity)


def _environment(options: SearchOptions) -> dict[str, Any]:
    """What the last bits of scores may depend on."""
    return {"engine": options.engine, "versions": {"numpy": np.__version__, "python": python_version()}}


def _query_key(row: RowQuery) -> dict[str, Any]:
    query = None if row.query is None else asdict(row.query)
    return {"query": query, "parse": dict(row.parse), "copies": list(row.copies)}


def _table(rows: pa.Table, queries: Sequence[RowQuery], found: Sequence[Mapping[str, Any]]) -> pa.Table:
    searched = [row.query is not None for row in queries]
    numbers = ("best_score", "num_hits")
    nothing = pa.nulls(rows.num_rows)
    columns = {
        "uid": rows.column("uid"),
        "content_id": rows.column("content_id"),
        "length": rows.column("length") if "length" in rows.column_names else nothing,
        "status": pa.array([OK if there else EMPTY for there in searched]),
        **{name: pa.array([row.parse.get(name) for row in queries]) for name in _PARSE},
        **{
            name: pa.array([row[name] if there else None for row, there in zip(found, searched, strict=True)])
            for name in numbers
        },
        **{name: pa.array([row[name] for row in found]) for name in ("exact_copy", "hits")},
    }
    arrays = [columns.get(field.name, nothing) for field in OVERLAP_SCHEMA]
    return pa.table(
        [array.cast(field.type) for array, field in zip(arrays, OVERLAP_SCHEMA, strict=True)],
        schema=OVERLAP_SCHEMA,
    )
