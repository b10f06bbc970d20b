"""Scores of rows by what of them stands in corpora: BM25 search, its hits, and exact copies among them.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767), section 3; METHODS part D.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from filelock import FileLock

from ...errors import UsageError, show
from ...executor import EXECUTORS, Executor, open_executor
from ...features import OVERLAP
from ...hashing import canonical_json, sha256_text
from ...progress import Progress, Stage, no_progress
from ...registry import closest
from .bm25.analysis import load_analyzer
from .bm25.engine import SearchEngine, check_choices, index_corpus, open_index
from .bm25.query import OverlapQuery
from .bm25.sharded import Shard, index_shards
from .cache import Workspace, open_workspace, read_scores, write_scores
from .ngrams import ngram_words
from .table import EMPTY, OK, OVERLAP_SCHEMA, OVERLAP_SCORER, ScoreTable, score_identity

PUBLISHED_HITS = 50
"""Most hits of a query in one corpus (published code)."""
_VERSION = 1
_QUERIES_PER_CHUNK = 128
_HIT = np.dtype([("item", "<i8"), ("document", "<i8"), ("score", "<f8")])
"""One hit: the number of the row, of the document in its corpus, and its BM25 score."""
_PARSE = ("e1", "e2", "pred_c", "pred_q", "connective", "content_words", "query")


class Document(Protocol):
    """One document of a corpus."""

    @property
    def document_id(self) -> str: ...

    @property
    def text(self) -> str: ...


class Corpus(Protocol):
    """Documents that can be iterated again and again, always the same in the same order.

    `identity` is JSON-able and says what the corpus is made of, without a path of this machine.
    """

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, Any]: ...

    @property
    def fingerprint(self) -> str: ...

    def __iter__(self) -> Iterator[Document]: ...

    def shards(self, n: int) -> Sequence[Corpus]: ...


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
    how many of these, the best of each corpus, are kept beside the exact copies.
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
    """A hit of a row in corpus number `corpus`."""

    corpus: int
    document: int
    score: float
    matched_terms: list[str]


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
    """Search every row in every corpus.

    `rows` has the columns uid, content_id, source_index, maybe length, and one query each, in their order.
    Corpora are searched apart, each with its own statistics; the best score of a row is the highest of all.
    Work that an earlier call left in `cache` is not done again: neither indexes nor hits. Scores depend
    neither on the order of rows nor on interruptions. Raises UsageError for no or repeated corpora,
    SourceError for a corpus that cannot be read.
    """
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
    }
    with open_workspace(cache, key, _environment(options)) as workspace:
        finished = workspace.finished()
        if finished is None:
            with execution.open() as executor:
                indexes = _Indexes(options, queries.analyzer, cache, executor, execution.shards, progress)
                facts = _Search(ordered, corpora, options, indexes, progress).run(workspace)
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
    return ScoreTable(_table(rows, queries.rows, found), provenance, score_identity(key))


class _Search:
    """Every query in every corpus; what was found is JSON-able."""

    def __init__(
        self,
        rows: Sequence[RowQuery],
        corpora: Sequence[Corpus],
        options: SearchOptions,
        indexes: _Indexes,
        progress: Stage,
    ) -> None:
        self._rows, self._corpora, self._options = rows, corpora, options
        self._indexes, self._progress = indexes, progress
        self._items = [item for item, row in enumerate(rows) if row.query is not None]

    def run(self, workspace: Workspace) -> dict[str, Any]:
        """`rows`: best_score (-1 without a query), num_hits, exact_copy and hits of each row; `corpora`."""
        found: list[list[_Found]] = [[] for _ in self._rows]
        described = []
        for number, corpus in enumerate(self._corpora):
            part = workspace.part(f"corpus-{number}")
            described.append(self._search_corpus(number, corpus, part, found))
        texts = [self._documents(number, corpus, found) for number, corpus in enumerate(self._corpora)]
        rows = [self._row(row, hits, texts) for row, hits in zip(self._rows, found, strict=True)]
        return {"rows": rows, "corpora": described}

    def _search_corpus(
        self, number: int, corpus: Corpus, part: Workspace, found: list[list[_Found]]
    ) -> dict[str, Any]:
        """Add the hits in one corpus, chunk by chunk, to those `found`; what to say of the corpus."""
        index = self._indexes.of(corpus)
        with self._progress(f"queries in {corpus.name}", len(self._items), "queries") as report:
            for chunk, start in enumerate(range(0, len(self._items), _QUERIES_PER_CHUNK)):
                items = self._items[start : start + _QUERIES_PER_CHUNK]
                seal, path = part.seal.at(chunk=chunk), part.folder / f"chunk-{chunk:06d}.scores"
                stored = read_scores(path, seal)
                if stored is None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    stored = self._hits(items, index)
                    write_scores(path, seal, *stored)
                hits, facts = stored
                for hit, terms in zip(hits.tolist(), facts["matched_terms"], strict=True):
                    item, document, score = hit
                    found[item].append(_Found(number, document, score, terms))
                report(len(items))
        return {
            "name": corpus.name,
            "fingerprint": corpus.fingerprint,
            "documents": index.documents,
            "terms": index.total_length,
        }

    def _hits(self, items: list[int], index: SearchEngine) -> tuple[np.ndarray, dict[str, Any]]:
        queries = [query for item in items if (query := self._rows[item].query) is not None]
        answers = index.search(queries, k=self._options.hits_per_query)
        listed = [(item, hit) for item, hits in zip(items, answers, strict=True) for hit in hits]
        hits = np.array([(item, hit.document, hit.score) for item, hit in listed], dtype=_HIT)
        return hits, {"matched_terms": [list(dict.fromkeys(hit.matched_terms)) for _, hit in listed]}

    def _documents(
        self, number: int, corpus: Corpus, found: Sequence[Sequence[_Found]]
    ) -> dict[int, tuple[str, str]]:
        """Id and text of every document that was hit, by its number."""
        wanted = {hit.document for hits in found for hit in hits if hit.corpus == number}
        if not wanted:
            return {}
        last = max(wanted)
        documents = {}
        for place, document in enumerate(corpus):
            if place in wanted:
                documents[place] = (document.document_id, document.text)
            if place == last:
                break
        return documents

    def _row(
        self, row: RowQuery, found: Sequence[_Found], texts: Sequence[Mapping[int, tuple[str, str]]]
    ) -> dict[str, Any]:
        copies = [form for copy in row.copies if (form := _word_by_word(copy))]
        hits, kept = [], dict.fromkeys(range(len(self._corpora)), 0)
        for hit in sorted(found, key=lambda hit: (-hit.score, hit.corpus, hit.document)):
            document_id, text = texts[hit.corpus][hit.document]
            words = _word_by_word(text)
            exact = any(copy in words for copy in copies)
            if kept[hit.corpus] < self._options.top_hits or exact:
                kept[hit.corpus] += 1
                hits.append(
                    {
                        "corpus": self._corpora[hit.corpus].name,
                        "document_id": document_id,
                        "text": text,
                        "score": hit.score,
                        "matched_terms": hit.matched_terms,
                        "exact_copy": exact,
                    }
                )
        return {
            "best_score": -1.0 if row.query is None else max((hit.score for hit in found), default=0.0),
            "num_hits": len(found),
            "exact_copy": any(hit["exact_copy"] for hit in hits),
            "hits": hits,
        }


@dataclass(frozen=True)
class _Indexes:
    """The indexes of corpora, which the cache keeps for other rows; each is made by one run at a time."""

    options: SearchOptions
    analyzer: str
    cache: Path
    executor: Executor | None
    shards: int | None
    progress: Stage

    def of(self, corpus: Corpus) -> SearchEngine:
        """One index, or with an executor one of several shards; documents are numbered alike."""
        if self.executor is not None:
            return self._sharded(corpus, self.executor)
        engine, idf = self.options.engine, self.options.idf
        folder = self._folder(corpus.fingerprint)
        with self._locked(folder):
            if folder.is_dir():
                return open_index(folder, engine=engine, analyzer=self.analyzer, idf=idf)
            with self.progress(f"indexing {corpus.name}", 0, "documents") as report:
                texts = _reported(corpus, report)
                return index_corpus(texts, folder, engine=engine, analyzer=self.analyzer, idf=idf)

    def _sharded(self, corpus: Corpus, executor: Executor) -> SearchEngine:
        parts = corpus.shards(self.shards or executor.workers)
        folder = self._folder(corpus.fingerprint, len(parts))
        shards = [Shard(part.fingerprint, partial(_texts, part)) for part in parts]
        with self._locked(folder), self.progress(f"indexing {corpus.name}", len(shards), "shards") as report:
            return index_shards(
                shards,
                folder,
                executor=executor,
                analyzer=self.analyzer,
                idf=self.options.idf,
                progress=report,
            )

    def _folder(self, *made_from: str | int) -> Path:
        made_by = [*made_from, self.options.engine, load_analyzer(self.analyzer).identity]
        return self.cache / "indexes" / sha256_text(canonical_json(made_by)).removeprefix("sha256:")

    def _locked(self, folder: Path) -> FileLock:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(folder.with_name(f"{folder.name}.lock"))


def _texts(corpus: Corpus) -> Iterator[str]:
    return (document.text for document in corpus)


def _reported(corpus: Corpus, report: Progress) -> Iterator[str]:
    for document in corpus:
        yield document.text
        report(1)


def _environment(options: SearchOptions) -> dict[str, Any]:
    """What the last bits of scores may depend on."""
    return {"engine": options.engine, "versions": {"numpy": np.__version__, "python": python_version()}}


def check_corpora(corpora: Sequence[Corpus]) -> None:
    """Raise UsageError for no corpus, and for two of one name."""
    names = [corpus.name for corpus in corpora]
    if not names:
        raise UsageError("there is no corpus to search; give --corpus")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two corpora are called {show(name)}; rename one of the files or folders")


def _query_key(row: RowQuery) -> dict[str, Any]:
    query = None if row.query is None else asdict(row.query)
    return {"query": query, "parse": dict(row.parse), "copies": list(row.copies)}


def _word_by_word(text: str) -> str:
    """The words of a text in lower case, so that a text that holds another one's words holds its string.

    >>> _word_by_word("It is late.") in _word_by_word("Well, it is late!")
    True
    >>> _word_by_word("late") in _word_by_word("chocolate")
    False
    """
    words = ngram_words(text)
    return f" {' '.join(words)} " if words else ""


def _table(rows: pa.Table, queries: Sequence[RowQuery], found: Sequence[Mapping[str, Any]]) -> pa.Table:
    searched = [row.query is not None for row in queries]
    nothing = pa.nulls(rows.num_rows)
    columns = {
        "uid": rows.column("uid"),
        "content_id": rows.column("content_id"),
        "length": rows.column("length") if "length" in rows.column_names else nothing,
        "status": pa.array([OK if there else EMPTY for there in searched]),
        **{name: pa.array([row.parse.get(name) for row in queries]) for name in _PARSE},
        **{
            name: pa.array([row[name] if there else None for row, there in zip(found, searched, strict=True)])
            for name in OVERLAP
            if name not in _PARSE
        },
    }
    arrays = [columns.get(field.name, nothing) for field in OVERLAP_SCHEMA]
    return pa.table(
        [array.cast(field.type) for array, field in zip(arrays, OVERLAP_SCHEMA, strict=True)],
        schema=OVERLAP_SCHEMA,
    )
