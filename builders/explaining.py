"""`benchwright explain`: the queries of one row of a release, and what of them its best hits have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from ..errors import UsageError, show
from ..release import ReleaseFolder
from ..splitting.scores.bm25.analysis import load_analyzer
from ..splitting.scores.bm25.query import OverlapQuery
from ..splitting.scores.overlap_queries import (
    DocumentMatch,
    Instance,
    NoQuery,
    ParsedInstance,
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
from .winograd.queries import searched_text

_COLUMNS = ("text", "pronoun", "pronoun_loc", "options", "hits", "best_score", "pred_c")


@dataclass(frozen=True)
class ExplainedHit:
    """A stored hit. `components`: which of the query it has; `match`: where in its text."""

    corpus: str
    document_id: str
    score: float
    exact_copy: bool
    components: tuple[str, ...]
    match: DocumentMatch


@dataclass(frozen=True)
class Explanation:
    """One row of a config with both constructions of its query.

    `searched`: `parsed` or `published`, which of them the release searched corpora for. Where one cannot be
    made, it is the reason instead (`parse` is None then). `hits` are those that the row holds, best first.
    """

    config: str
    uid: str
    text: str
    options: tuple[str, ...]
    parse: PartialParse | None
    parsed: str
    published: str
    searched: str
    best_score: float | None
    hits: tuple[ExplainedHit, ...]


def explain(
    release: str | Path, uid: str, *, config: str | None = None, parser: str = "parser"
) -> Explanation:
    """Explain a row of a local release of Winograd-style instances in English.

    `config`: where to look for it, else in every config; `parser`: the pipeline (see `load_parser`). Raises
    UsageError where no config has the row, it has no text or is no such instance, ReleaseError for an unknown
    config, PrerequisiteError for a missing parser or tagger.
    """
    folder = ReleaseFolder(release)
    name, row = _find(folder, uid, config)
    found, parsed = _parsed(row, parser)
    query, published = _published(row)
    # only the parsed construction has predicates
    searched = "published" if row["pred_c"] is None and row["best_score"] is not None else "parsed"
    parse = found.parse if found is not None else None
    if searched == "published":
        hits = _hits(row["hits"], query, None)
    else:
        hits = _hits(row["hits"], found.query if found is not None else None, parse)
    return Explanation(
        config=name,
        uid=uid,
        text=row["text"],
        options=tuple(row["options"]),
        parse=parse,
        parsed=parsed,
        published=published,
        searched=searched,
        best_score=row["best_score"],
        hits=hits,
    )


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


def _parsed(row: Mapping[str, Any], parser: str) -> tuple[ParsedInstance | None, str]:
    from ..text.parsing import load_parser

    instance = Instance(row["text"], row["pronoun"], row["pronoun_loc"], tuple(row["options"]))
    (found,) = parsed_queries([instance], load_parser(parser))
    return (None, found.reason) if isinstance(found, NoQuery) else (found, query_text(found.query))


def _published(row: Mapping[str, Any]) -> tuple[OverlapQuery | None, str]:
    from ..text.tagging import load_tagger
    from ..text.words import word_tokenize

    words = word_tokenize(searched_text({"published_text": None, **row}))
    (tagged,) = load_tagger().tag([words])
    pairs = list(zip(words, tagged.tags, strict=True))
    query = published_query(pairs)
    return (None, query.reason) if isinstance(query, NoQuery) else (query, published_query_string(pairs))


def _hits(
    hits: Sequence[Mapping[str, Any]] | None, query: OverlapQuery | None, parse: PartialParse | None
) -> tuple[ExplainedHit, ...]:
    if query is None:
        return ()
    analyzer = load_analyzer("english")
    return tuple(
        ExplainedHit(
            hit["corpus"],
            hit["document_id"],
            hit["score"],
            hit["exact_copy"],
            matched_components(query, parse, hit["matched_terms"], analyzer),
            explain_document(query, parse, hit["text"], analyzer),
        )
        for hit in hits or ()
    )


def explanation_lines(explanation: Explanation) -> list[str]:
    """What the command line prints."""
    lines = [f"{explanation.config} {explanation.uid}", explanation.text]
    lines.append(f"{'options':<14}  {' / '.join(explanation.options)}")
    if explanation.parse is not None:
        lines += parse_lines(explanation.parse)
    for name, query in (("parsed", explanation.parsed), ("published", explanation.published)):
        lines.append(f"{name + ' query':<15} {query}" + (" *" if name == explanation.searched else ""))
    score = "not searched" if explanation.best_score is None else f"{explanation.best_score:.4f}"
    lines.append(f"{'best score':<14}  {score} (*: the query that was searched)")
    for number, hit in enumerate(explanation.hits, 1):
        copy = ", an exact copy" if hit.exact_copy else ""
        lines += ["", f"hit {number}: {hit.score:.4f}, {hit.corpus} {hit.document_id}{copy}"]
        lines.append(f"has {', '.join(hit.components) or 'nothing of the query'}")
        lines += match_lines(hit.match)
    return lines
