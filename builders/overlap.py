"""`benchwright overlap`: how much of a release's evaluation rows stands in corpora, for any task.

BM25 finds documents that are like a row, exact n-gram matching those that hold a run of its words
(2005.14165, Appendix C). What is found is kept beside the results (`eval.analyses.contamination`), and so
are accuracies on clean and on overlapping rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from datasets import Value

from ..cache import cache_folder
from ..errors import BenchwrightWarning, UsageError, show
from ..eval import refresh_index
from ..eval.analyses.contamination import SCHEMA, write_search
from ..eval.results import read_analyses
from ..eval.run import EVALUATED
from ..faults import Policy
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from ..splitting.scores.bm25.query import OverlapQuery
from ..splitting.scores.ngrams import NGRAM, NgramSearch, NgramsFound, ngram_words
from ..splitting.scores.overlap import (
    Execution,
    Queries,
    RowQuery,
    SearchOptions,
    check_corpora,
    score_by_overlap,
)
from ._analysis_rows import is_text
from .corpora import Corpus, open_corpus
from .corpora.base import Sentences

SHORTEST = 8
"""Words from which an input is judged by itself (the least n of 2005.14165): `she` stands in every corpus."""
_QUERY = {"query": "words of all inputs", "version": 1}


def overlap(
    release: ReleaseFolder | str | Path,
    *,
    corpus: Sequence[str] = (),
    configs: Sequence[str] | None = None,
    ngram: int = NGRAM,
    overlap_cutoff: float = 25.0,
    corpus_form: str | None = None,
    corpus_field: str | None = None,
    sentences: str = "none",
    idf: str = "paper",
    engine: str = "fast",
    top_hits: int = 5,
    executor: str = "serial",
    workers: int | None = None,
    ray_address: str | None = None,
    shards: int | None = None,
    on_bad_row: Policy = "fail",
    cache: str | Path | None = None,
    progress: Stage = no_progress,
) -> dict[str, list[dict[str, Any]]]:
    """Search the evaluation rows of configs in corpora, store what is found and compare accuracies.

    The rows are those of the test split or, where a config has none, of validation; `configs` None: every
    placed config that has one and a text input. `corpus` are locations as for `open_corpus`, read with
    `corpus_form`, `corpus_field`, `sentences` and `on_bad_row`. Texts are the inputs of the task that hold
    strings, each alone and all together.

    A row overlaps by n-grams if a run of `ngram` words (`\\w+`, lower case) of all inputs together, of the
    longest one or of any with at least 8 words stands in a document; a text of fewer words than `ngram`
    counts only as a whole. It overlaps by BM25 if its best score, of a query of all its words (English terms;
    `idf`: paper or whoosh, `engine`: fast or whoosh), is above `overlap_cutoff`; scores grow with the length
    of the row. The `top_hits` best documents of each corpus are kept by id. `executor`, `workers`,
    `ray_address` and `shards` say who searches for BM25 (see `Execution`); no answer depends on them.

    Writes `results/CONFIG/overlap.parquet` for each config, and `results/index.json`; returns its lines
    `contamination` and `contamination_accuracy` of these configs (see `eval.analyses.contamination`).
    Indexes and scores are kept in `cache` (else BENCHWRIGHT_CACHE, or ~/.cache/benchwright). Nothing is
    written if anything fails. Raises UsageError for no corpus, unknown or textless configs and options that
    cannot be used, SourceError for a corpus that cannot be read.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    _check(corpus, ngram, overlap_cutoff, top_hits)
    options = SearchOptions(engine=engine, idf=idf, hits_per_query=top_hits, top_hits=top_hits)
    execution = Execution(executor, workers, ray_address, shards)
    execution.check(engine)
    parts = _parts(folder, configs)
    corpora = [
        open_corpus(
            location,
            form=corpus_form,
            text_field=corpus_field,
            sentences=cast("Sentences", sentences),
            on_bad_row=on_bad_row,
        )
        for location in corpus
    ]
    check_corpora(corpora)
    texts = _Texts(parts)
    found = _search_ngrams(texts, corpora, ngram, progress)
    scored = _search_similar(texts, corpora, options, execution, cache_folder(cache), progress)
    settings = {
        "ngram": ngram,
        "shortest_input": min(SHORTEST, ngram),
        "cutoff": float(overlap_cutoff),
        "idf": idf,
        "engine": engine,
        "top_hits": top_hits,
        "analyzer": scored.analyzer,
        **_QUERY,
    }
    described = [
        {**facts, **left_out, "identity": dict(opened.identity)}
        for facts, left_out, opened in zip(scored.corpora, found.left_out, corpora, strict=True)
    ]
    tables = [_table(part, texts, found, scored, [c.name for c in corpora], settings) for part in parts]
    for part, table in zip(parts, tables, strict=True):
        facts = {
            "split": part.split,
            "rows_hash": part.rows_hash,
            "task_inputs": list(folder.task(part.config).inputs),
            "inputs": list(part.inputs),
            "settings": settings,
            "corpora": described,
        }
        write_search(folder, part.config, table, facts)
    refresh_index(folder)
    chosen = {part.config for part in parts}
    lines = read_analyses(folder)
    return {
        name: [line for line in lines[name] if line["config"] in chosen]
        for name in ("contamination", "contamination_accuracy")
    }


def _check(corpus: Sequence[str], ngram: int, cutoff: float, top_hits: int) -> None:
    if isinstance(corpus, str):
        raise UsageError(f"corpus is the text {show(corpus)}; give a list of locations")
    if not corpus:
        raise UsageError("there is no corpus to search; give --corpus")
    for name, number in (("ngram", ngram), ("top_hits", top_hits)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise UsageError(f"{name} is {show(number)}; give a whole number from 1")
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | float) or not 0 <= cutoff < float("inf"):
        raise UsageError(f"overlap_cutoff is {show(cutoff)}; give a BM25 score from 0")


@dataclass(frozen=True)
class _Part:
    """The evaluation rows of a config: uids, and of each row its text inputs, in the order of `inputs`."""

    config: str
    split: str
    rows_hash: str
    inputs: tuple[str, ...]
    uids: list[str]
    rows: list[tuple[str, ...]]


def _parts(release: ReleaseFolder, configs: Sequence[str] | None) -> list[_Part]:
    """The rows to search. Raises UsageError for a named config without them, or if no config has any."""
    names = list(release.placed_configs) if configs is None else list(dict.fromkeys(configs))
    parts, without = [], {}
    for name in names:
        release.config(name)
        part = _part(release, name)
        if isinstance(part, _Part):
            parts.append(part)
        else:
            without[name] = part
    told = "; ".join(without.values())
    if without and (configs is not None or not parts):
        raise UsageError(f"nothing to search: {told}")
    if without:
        warnings.warn(f"left out: {told}", BenchwrightWarning, stacklevel=4)
    return parts


def _part(release: ReleaseFolder, config: str) -> _Part | str:
    """The rows of a config, or why it has none to search."""
    if config not in release.placed_configs:
        return f"config {config!r} holds no split rows"
    split = next((name for name in EVALUATED if name in release.splits(config)), None)
    if split is None:
        return f"config {config!r} has neither a test nor a validation split"
    features = release.features(config)
    inputs = tuple(name for name in release.task(config).inputs if _holds_text(features.get(name)))
    rows_hash = release.rows_hash(config, split)
    if not inputs or rows_hash is None:
        return f"config {config!r} has no input that is text"
    table = release.table(config, split, ["uid", *inputs])
    columns = [map(_joined, table.column(name).to_pylist()) for name in inputs]
    uids = table.column("uid").to_pylist()
    return _Part(config, split, rows_hash, inputs, uids, list(zip(*columns, strict=True)))


def _holds_text(kind: object) -> bool:
    feature = kind[0] if isinstance(kind, list) and len(kind) == 1 else getattr(kind, "feature", kind)
    return isinstance(feature, Value) and is_text(feature)


def _joined(value: Any) -> str:
    """A text input as one text; of a list, its texts one after another."""
    if isinstance(value, list):
        return "\n".join(text for text in value if text is not None)
    return "" if value is None else str(value)


class _Texts:
    """Distinct texts of all parts: configs share rows, and rows share inputs, which are searched once.

    `of(row)` gives the numbers of a row's texts: all inputs together, then each one. `wholes` are the
    distinct first ones in order.
    """

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._numbers: dict[str, int] = {}
        self._of: dict[tuple[str, ...], tuple[int, ...]] = {}
        for part in parts:
            for row in part.rows:
                if row not in self._of:
                    self._of[row] = tuple(self._number(text) for text in ("\n".join(row), *row))
        self.texts = list(self._numbers)
        self.wholes = list(dict.fromkeys(numbers[0] for numbers in self._of.values()))

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def of(self, row: tuple[str, ...]) -> tuple[int, ...]:
        return self._of[row]


@dataclass(frozen=True)
class _Ngrams:
    """Runs of every text, those found in each corpus, and documents of it that were left out, by reason."""

    search: NgramSearch
    corpora: list[NgramsFound]
    left_out: list[dict[str, dict[str, int]]]

    def counts(self, text: int) -> dict[str, int]:
        first, *others = self.corpora
        return {
            "words": self.search.words[text],
            "ngrams": self.search.ngrams[text],
            "matched_ngrams": first.has(text, others),
        }


def _search_ngrams(texts: _Texts, corpora: Sequence[Corpus], ngram: int, progress: Stage) -> _Ngrams:
    search = NgramSearch(texts.texts, ngram)
    found, left_out = [], []
    for corpus in corpora:
        with progress(f"{ngram}-grams in {corpus.name}", 0, "documents") as report:

            def documents(corpus: Corpus = corpus, report: Any = report) -> Iterator[tuple[str, str]]:
                for document in corpus:
                    yield document.document_id, document.text
                    report(1)

            found.append(search.scan(documents()))
        counts = {"skipped": corpus.counts.skipped, "dropped": corpus.counts.dropped}
        left_out.append({name: dict(sorted(of.items())) for name, of in counts.items()})
    return _Ngrams(search, found, left_out)


@dataclass(frozen=True)
class _Similar:
    """Best score (None without a query) and hits of every distinct row, and what is said of the corpora."""

    scores: dict[int, float | None]
    hits: dict[int, list[dict[str, Any]]]
    corpora: list[dict[str, Any]]
    analyzer: str


def _search_similar(
    texts: _Texts,
    corpora: Sequence[Corpus],
    options: SearchOptions,
    execution: Execution,
    cache: Path,
    progress: Stage,
) -> _Similar:
    queries = [_query(texts.texts[number]) for number in texts.wholes]
    ids = pa.array([str(number) for number in range(len(queries))])
    rows = pa.table(
        {"uid": ids, "content_id": ids, "source_index": pa.array(range(len(queries)), pa.int32())}
    )
    made = score_by_overlap(
        rows,
        Queries(queries, _QUERY),
        corpora,
        options,
        cache=cache,
        execution=execution,
        progress=progress,
    )
    hits = made.table.column("hits").to_pylist()
    kept = ("corpus", "document_id", "score")
    return _Similar(
        dict(zip(texts.wholes, made.table.column("best_score").to_pylist(), strict=True)),
        {
            number: [{name: hit[name] for name in kept} for hit in found or ()]
            for number, found in zip(texts.wholes, hits, strict=True)
        },
        made.provenance["corpora"],
        made.provenance["key"]["analyzer"],
    )


def _query(text: str) -> RowQuery:
    """All words of a row: a document with any of them may be a hit, and no order is asked for."""
    words = tuple(dict.fromkeys(ngram_words(text)))
    if not words:
        return RowQuery(None, reason="no word")
    return RowQuery(OverlapQuery((), (), words, content_required=True, may_vanish=True))


def _table(
    part: _Part,
    texts: _Texts,
    found: _Ngrams,
    scored: _Similar,
    names: Sequence[str],
    settings: dict[str, Any],
) -> pa.Table:
    """A line for each row, as `contamination.SCHEMA`."""
    lines = []
    for uid, row in zip(part.uids, part.rows, strict=True):
        whole, *inputs = texts.of(row)
        counts = found.counts(whole)
        judged = _judged(whole, inputs, found.search.words, settings["shortest_input"])
        hits = []
        for name, corpus in zip(names, found.corpora, strict=True):
            matches = [match for text in judged if (match := corpus.match(text)) is not None]
            if matches:
                first = min(matches, key=lambda match: match.document)
                most = max(match.ngrams for match in matches)
                hits.append({"corpus": name, "document_id": first.document_id, "ngrams": most})
        lines.append(
            {
                "uid": uid,
                "overlapping": bool(hits) if counts["words"] else None,
                **counts,
                "inputs": [
                    {"input": name, **found.counts(text)}
                    for name, text in zip(part.inputs, inputs, strict=True)
                ],
                "ngram_hits": hits,
                "best_score": scored.scores[whole],
                "hits": scored.hits[whole],
            }
        )
    return pa.Table.from_pylist(lines, schema=SCHEMA)


def _judged(whole: int, inputs: Sequence[int], words: Sequence[int], shortest: int) -> list[int]:
    """What a row is judged by: all inputs together, the longest, and others of at least `shortest` words."""
    longest = max(inputs, key=lambda text: words[text])
    return [whole, *(text for text in inputs if text == longest or words[text] >= shortest)]
