"""`benchwright overlap`: how much of a release's evaluation rows stands in corpora, for any task.

Exact n-gram matching finds documents that hold a run of a row's words (2005.14165, Appendix C), BM25 those
that are like it. What is found is kept beside the results (`eval.analyses.contamination`), and so
are accuracies on clean and on overlapping rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from datasets import Value

from ..atomic import all_or_nothing
from ..cache import cache_folder
from ..errors import BenchwrightWarning, UsageError, show
from ..eval import refresh_index
from ..eval.analyses.contamination import SCHEMA, search_file, write_search
from ..eval.results import read_analyses
from ..eval.run import EVALUATED
from ..faults import Policy
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from ..splitting.scores.bm25.analysis import Analyzer, load_analyzer
from ..splitting.scores.bm25.query import OverlapQuery
from ..splitting.scores.corpora import check_corpora
from ..splitting.scores.ngrams import NGRAM, NgramSearch, NgramsFound, has_characters
from ..splitting.scores.overlap import Execution, Queries, RowQuery, SearchOptions, search_corpora
from ._analysis_rows import is_text
from .corpora import Corpus, open_corpus
from .corpora.base import Sentences

SHORTEST = 8
"""Words from which an input is judged by itself (the least n of 2005.14165): `she` stands in every corpus."""
SHARE = 0.5
"""Default of `overlap_share`."""
_QUERY = {"query": "terms of all inputs", "version": 2}
_ENGLISH, _CHINESE = "english", "characters-2"


def overlap(
    release: ReleaseFolder | str | Path,
    *,
    corpus: Sequence[str] = (),
    configs: Sequence[str] | None = None,
    ngram: int = NGRAM,
    overlap_share: float | None = None,
    overlap_cutoff: float | None = None,
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

    A row overlaps by n-grams if a run of `ngram` words (`\\w+`, lower case; Chinese characters one by one) of
    all inputs together, of the longest one or of any with at least 8 words stands in a document; a text of
    fewer words than `ngram` counts only as a whole. This is the headline: it means the same for rows and
    corpora of any size.

    BM25 finds the documents that are most like a row, by a query of all its terms (`idf`: paper or whoosh,
    `engine`: fast or whoosh). Its scores grow with the number of terms, so that one score means much for a
    short row and little for a long one; a row overlaps by BM25 if one of its best documents has more than
    `overlap_share` of the query: of its distinct terms, weighted by how rare they are in the corpus (their
    inverse document frequency). Without it, 0.5: more than half of what makes the row distinctive. With
    `overlap_cutoff` instead, if its best score is above that. The `top_hits` best documents of each corpus
    are kept by id.

    Each corpus is read twice: to be indexed (not again where the cache has its index), and once for n-grams
    and ids of documents together. `executor`, `workers`, `ray_address` and `shards` say who does both (see
    `Execution`); no answer depends on them.

    Writes `results/CONFIG/overlap.parquet` for each config, and `results/index.json`; returns its lines
    `contamination` and `contamination_accuracy` of these configs (see `eval.analyses.contamination`).
    Indexes and scores are kept in `cache` (else BENCHWRIGHT_CACHE, or ~/.cache/benchwright). Nothing is
    written if anything fails. Raises UsageError for no corpus, unknown or textless configs and options that
    cannot be used, SourceError for a corpus that cannot be read.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    _check(corpus, ngram, top_hits)
    cutoff = _checked_cutoff(overlap_share, overlap_cutoff)
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
    found = _search(texts, corpora, ngram, options, execution, cache_folder(cache), progress)
    settings = {
        "ngram": ngram,
        "shortest_input": min(SHORTEST, ngram),
        **cutoff,
        "idf": idf,
        "engine": engine,
        "top_hits": top_hits,
        "analyzer": found.analyzer,
        **_QUERY,
    }
    names = [c.name for c in corpora]
    tables = [_table(part, texts, found, names, settings) for part in parts]
    described = [
        {**facts, "identity": dict(opened.identity)}
        for facts, opened in zip(found.described, corpora, strict=True)
    ]
    with all_or_nothing([search_file(folder, part.config) for part in parts]):
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


def _check(corpus: Sequence[str], ngram: int, top_hits: int) -> None:
    if isinstance(corpus, str):
        raise UsageError(f"corpus is the text {show(corpus)}; give a list of locations")
    if not corpus:
        raise UsageError("there is no corpus to search; give --corpus")
    for name, number in (("ngram", ngram), ("top_hits", top_hits)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise UsageError(f"{name} is {show(number)}; give a whole number from 1")


def _checked_cutoff(share: float | None, score: float | None) -> dict[str, Any]:
    """What a row must exceed to overlap by BM25: `cutoff`, and of what (`cutoff_of`: share or score)."""
    if share is not None and score is not None:
        raise UsageError("overlap_share and overlap_cutoff are two rules; give one of them")
    kind, value = ("share", SHARE if share is None else share) if score is None else ("score", score)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "share" and not (number and 0 <= value < 1):
        raise UsageError(f"overlap_share is {show(value)}; give a share from 0 to below 1")
    if not number or not 0 <= value < float("inf"):
        raise UsageError(f"overlap_cutoff is {show(value)}; give a BM25 score from 0")
    return {"cutoff": float(value), "cutoff_of": kind}


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
class _Found:
    """What stands in corpora of the distinct texts, by n-grams, and of the distinct rows, by BM25.

    `scores` (None without a query) and `hits` are of each whole row; `described` is what is said of each
    corpus.
    """

    search: NgramSearch
    corpora: list[NgramsFound]
    scores: dict[int, float | None]
    hits: dict[int, list[dict[str, Any]]]
    described: list[dict[str, Any]]
    analyzer: str

    def counts(self, text: int) -> dict[str, int]:
        first, *others = self.corpora
        return {
            "words": self.search.words[text],
            "ngrams": self.search.ngrams[text],
            "matched_ngrams": first.has(text, others),
        }


def _search(
    texts: _Texts,
    corpora: Sequence[Corpus],
    ngram: int,
    options: SearchOptions,
    execution: Execution,
    cache: Path,
    progress: Stage,
) -> _Found:
    wholes = [texts.texts[number] for number in texts.wholes]
    name = _CHINESE if 2 * sum(map(has_characters, wholes)) > len(wholes) else _ENGLISH
    analyzer = load_analyzer(name)
    ids = pa.array([str(number) for number in range(len(wholes))])
    rows = pa.table({"uid": ids, "content_id": ids, "source_index": pa.array(range(len(wholes)), pa.int32())})
    search = NgramSearch(texts.texts, ngram)
    made = search_corpora(
        rows,
        Queries([_query(text, analyzer) for text in wholes], _QUERY, analyzer=name),
        corpora,
        options,
        ngrams=search,
        cache=cache,
        execution=execution,
        progress=progress,
    )
    table, provenance = made.table.table, made.table.provenance
    kept = ("corpus", "document_id", "score")
    hits = [
        [
            {**{name: hit[name] for name in kept}, "share": share}
            for hit, share in zip(own, shares, strict=True)
        ]
        for own, shares in zip(table.column("hits").to_pylist(), made.shares, strict=True)
    ]
    told = ("name", "fingerprint", "documents", "terms", "skipped", "dropped")
    return _Found(
        search,
        made.ngrams,
        dict(zip(texts.wholes, table.column("best_score").to_pylist(), strict=True)),
        dict(zip(texts.wholes, hits, strict=True)),
        [{name: facts[name] for name in told} for facts in provenance["corpora"]],
        provenance["key"]["analyzer"],
    )


def _query(text: str, analyzer: Analyzer) -> RowQuery:
    """All terms of a row: a document with any of them may be a hit, and no order is asked for."""
    terms = tuple(dict.fromkeys(analyzer.terms(text)))
    if not terms:
        return RowQuery(None, reason="no term")
    return RowQuery(OverlapQuery((), (), terms, content_required=True, may_vanish=True))


def _table(
    part: _Part, texts: _Texts, found: _Found, names: Sequence[str], settings: dict[str, Any]
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
        similar = found.hits[whole]
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
                "best_score": found.scores[whole],
                "best_share": None
                if found.scores[whole] is None
                else max((hit["share"] for hit in similar), default=0.0),
                "hits": similar,
            }
        )
    return pa.Table.from_pylist(lines, schema=SCHEMA)


def _judged(whole: int, inputs: Sequence[int], words: Sequence[int], shortest: int) -> list[int]:
    """What a row is judged by: all inputs together, the longest, and others of at least `shortest` words."""
    longest = max(inputs, key=lambda text: words[text])
    return [whole, *(text for text in inputs if text == longest or words[text] >= shortest)]
