"""`benchwright explain`: the queries of one row of a release, and what of them its best hits have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ..errors import UsageError, show
from ..release import ReleaseFolder
from ..splitting.scores.bm25.analysis import Analyzer, load_analyzer
from ..splitting.scores.bm25.engine import Statistics
from ..splitting.scores.bm25.query import OverlapQuery
from ..splitting.scores.overlap_queries import (
    DocumentMatch,
    Instance,
    NoQuery,
    PartialParse,
    explain_document,
    match_lines,
    matched_components,
    parse_lines,
    parsed_queries,
    published_query,
    published_query_string,
    query_text,
)
from .searched_text import analyzer_name
from .winograd.queries import NO_TERM, searched_text, term_query

_COLUMNS = ("text", "pronoun", "pronoun_loc", "options", "hits", "best_score", "pred_c")


@dataclass(frozen=True)
class ExplainedHit:
    """A stored hit. `components`: which of the query it has; `match`: where in its text, with which shares of
    the score. `score` is None for a copy of a row without a query.
    """

    corpus: str
    document_id: str
    score: float | None
    exact_copy: bool
    components: tuple[str, ...]
    match: DocumentMatch


@dataclass(frozen=True)
class Explanation:
    """One row of a config with every construction of its query.

    `searched`: `parsed`, `published` or, of Chinese text, `terms`: which of them the release searched corpora
    for. Where one cannot be made, it is the reason instead; None: it is not for this language. `parse` is
    None where there is none. `hits` are those that the row holds, best first.
    """

    config: str
    uid: str
    text: str
    options: tuple[str, ...]
    parse: PartialParse | None
    parsed: str | None
    published: str | None
    searched: str
    best_score: float | None
    hits: tuple[ExplainedHit, ...]
    terms: str | None = None


@dataclass(frozen=True)
class _Search:
    """How rows of a config were searched: `statistics` by corpus, none where the release does not tell."""

    construction: str
    analyzer: Analyzer
    idf: str
    statistics: Mapping[str, Statistics]


@dataclass(frozen=True)
class _Constructed:
    """A query, and the text of it or the reason why there is none."""

    query: OverlapQuery | None
    text: str
    parse: PartialParse | None = None


def explain(
    release: str | Path, uid: str, *, config: str | None = None, parser: str = "parser"
) -> Explanation:
    """Explain a row of a local release of Winograd-style instances.

    `config`: where to look for it, else in every config; `parser`: the pipeline (see `load_parser`). Raises
    UsageError where no config has the row, it has no text or is no such instance, ReleaseError for an unknown
    config, PrerequisiteError for a missing parser, tagger or segmenter.
    """
    folder = ReleaseFolder(release)
    name, row = _find(folder, uid, config)
    search = _search(folder, name, row)
    made: dict[str, _Constructed] = (
        {"terms": _terms(row, search.analyzer)}
        if search.construction == "terms"
        else {"parsed": _parsed(row, parser), "published": _published(row)}
    )
    searched = made[search.construction]
    return Explanation(
        config=name,
        uid=uid,
        text=row["text"],
        options=tuple(row["options"]),
        parse=next((one.parse for one in made.values() if one.parse is not None), None),
        **{kind: made[kind].text if kind in made else None for kind in ("parsed", "published", "terms")},
        searched=search.construction,
        best_score=row["best_score"],
        hits=tuple(_explained(hit, searched, search) for hit in row["hits"] or ()),
    )


def _search(folder: ReleaseFolder, config: str, row: Mapping[str, Any]) -> _Search:
    table = folder.manifest.get("scores", {}).get(folder.config(config).get("scores"))
    try:
        provenance = table["provenance"]
        key = provenance["key"]
        statistics = {
            corpus["name"]: Statistics(corpus["documents"], corpus["terms"], corpus["document_frequencies"])
            for corpus in provenance["corpora"]
            if "document_frequencies" in corpus
        }
        construction, idf = key["construction"]["construction"], key["idf"]
        analyzer = load_analyzer(analyzer_name(key["analyzer"]))
    except (AttributeError, KeyError, TypeError):
        # Only the parsed construction has predicates.
        published = row["pred_c"] is None and row["best_score"] is not None
        return _Search("published" if published else "parsed", load_analyzer("english"), "paper", {})
    return _Search(construction, analyzer, idf, statistics)


def _find(folder: ReleaseFolder, uid: str, config: str | None) -> tuple[str, dict[str, Any]]:
    names = list(folder.placed_configs) if config is None else [config]
    for name in names:
        for split in folder.splits(name):
            rows = folder.table(name, split)
            rows = rows.filter(pc.equal(rows.column("uid"), uid))
            if not rows.num_rows:
                continue
            missing = [column for column in _COLUMNS if column not in rows.column_names]
            if missing:
                fix = "hydrate it first" if folder.is_stripped else "only pronoun problems have queries"
                raise UsageError(f"config {name} of {folder.path} has no column {missing[0]}; {fix}")
            return name, rows.to_pylist()[0]
    raise UsageError(f"no row {show(uid)} in {', '.join(names)}; uids stand in column uid")


def _parsed(row: Mapping[str, Any], parser: str) -> _Constructed:
    from ..text.parsing import load_parser

    instance = Instance(row["text"], row["pronoun"], row["pronoun_loc"], tuple(row["options"]))
    (found,) = parsed_queries([instance], load_parser(parser))
    if isinstance(found, NoQuery):
        return _Constructed(None, found.reason)
    return _Constructed(found.query, query_text(found.query), found.parse)


def _published(row: Mapping[str, Any]) -> _Constructed:
    from ..text.tagging import load_tagger
    from ..text.words import word_tokenize

    words = word_tokenize(searched_text({"published_text": None, **row}))
    (tagged,) = load_tagger().tag([words])
    pairs = list(zip(words, tagged.tags, strict=True))
    query = published_query(pairs)
    if isinstance(query, NoQuery):
        return _Constructed(None, query.reason)
    return _Constructed(query, published_query_string(pairs))


def _terms(row: Mapping[str, Any], analyzer: Analyzer) -> _Constructed:
    query = term_query(row["text"], analyzer)
    return _Constructed(None, NO_TERM) if query is None else _Constructed(query, " ".join(query.content))


def _explained(hit: Mapping[str, Any], searched: _Constructed, search: _Search) -> ExplainedHit:
    components: tuple[str, ...] = ()
    match = DocumentMatch(hit["text"], (), ())
    # Copies that the query does not match have no term that counts.
    if searched.query is not None and hit["matched_terms"]:
        query, parse = searched.query, searched.parse
        components = matched_components(query, parse, hit["matched_terms"], search.analyzer)
        match = explain_document(
            query,
            parse,
            hit["text"],
            search.analyzer,
            statistics=search.statistics.get(hit["corpus"]),
            idf=search.idf,
        )
    return ExplainedHit(hit["corpus"], hit["document_id"], hit["score"], hit["exact_copy"], components, match)


def explanation_lines(explanation: Explanation) -> list[str]:
    """What the command line prints."""
    lines = [f"{explanation.config} {explanation.uid}", explanation.text]
    lines.append(f"{'options':<14}  {' / '.join(explanation.options)}")
    if explanation.parse is not None:
        lines += parse_lines(explanation.parse)
    for name in ("parsed", "published", "terms"):
        if (query := getattr(explanation, name)) is not None:
            mark = " *" if name == explanation.searched else ""
            lines.append(f"{name + ' query':<15} {query}{mark}")
    score = "not searched" if explanation.best_score is None else f"{explanation.best_score:.4f}"
    lines.append(f"{'best score':<14}  {score} (*: the query that was searched)")
    for number, hit in enumerate(explanation.hits, 1):
        copy = ", an exact copy" if hit.exact_copy else ""
        value = "no score" if hit.score is None else f"{hit.score:.4f}"
        lines += ["", f"hit {number}: {value}, {hit.corpus} {hit.document_id}{copy}"]
        lines.append(f"has {', '.join(hit.components)}" if hit.components else "not found by the query")
        lines += match_lines(hit.match)
    return lines
