"""What is searched for each row of a test set, and the forms of its text that count as copies of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ...progress import Stage, no_progress
from ...splitting.scores.bm25.analysis import Analyzer, load_analyzer
from ...splitting.scores.bm25.query import OverlapQuery
from ...splitting.scores.overlap import Queries, RowQuery

BLANK = "_"
NO_TERM = "no term in the text"


def filled(text: str, pronoun: str, pronoun_loc: int, option: str) -> str:
    """The text with an option in place of the pronoun, or of every blank where it has those.

    >>> filled("Ann called Bea because she was ill.", "she", 23, "Bea")
    'Ann called Bea because Bea was ill.'
    >>> filled("_ is ill, so _ rests.", "_", 0, "Ann")
    'Ann is ill, so Ann rests.'
    """
    if pronoun == BLANK:
        return text.replace(BLANK, option)
    return text[:pronoun_loc] + option + text[pronoun_loc + len(pronoun) :]


def copies_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The forms of a row's text: with its pronoun, with each option in its place, and as published."""
    forms = [] if row["pronoun"] == BLANK else [row["text"]]
    forms += [filled(row["text"], row["pronoun"], row["pronoun_loc"], option) for option in row["options"]]
    if row["published_text"] is not None:
        forms.append(row["published_text"])
    return tuple(dict.fromkeys(forms))


def searched_text(row: Mapping[str, Any]) -> str:
    """The sentence that the published code makes a query of: the first option stands for the pronoun."""
    if row["published_text"] is not None:
        return str(row["published_text"])
    return filled(row["text"], row["pronoun"], row["pronoun_loc"], row["options"][0])


def term_query(text: str, analyzer: Analyzer) -> OverlapQuery | None:
    """All terms of a text, of which a document needs one, in any order; None for a text without any."""
    terms = tuple(dict.fromkeys(analyzer.terms(text)))
    return OverlapQuery((), (), terms, content_required=True, may_vanish=True) if terms else None


def row_queries(
    rows: pa.Table, construction: str, language: str, analyzer: str, progress: Stage = no_progress
) -> Queries:
    """One query for each of `rows` (columns of `builders.sources.winograd.INSTANCES_SCHEMA`).

    `construction` is `parsed` or `published` for English. Of Chinese text all terms are searched, as
    `analyzer` cuts it, in any order. Raises PrerequisiteError for a parser or tagger that is not there.
    """
    records = rows.to_pylist()
    if language == "zh":
        return _term_queries(records, analyzer)
    return _published(records) if construction == "published" else _parsed(records, progress)


def _term_queries(records: Sequence[Mapping[str, Any]], name: str) -> Queries:
    analyzer = load_analyzer(name)
    made = []
    for record in records:
        query = term_query(record["text"], analyzer)
        if query is None:
            made.append(RowQuery(None, {}, copies_of(record), NO_TERM))
            continue
        parse = {"content_words": list(query.content), "query": " ".join(query.content)}
        made.append(RowQuery(query, parse, copies_of(record)))
    return Queries(made, {"construction": "terms"}, analyzer=name)


def _published(records: Sequence[Mapping[str, Any]]) -> Queries:
    from ...splitting.scores.overlap_queries import published_query, published_query_string
    from ...text.tagging import TAGGER_NAME, load_tagger
    from ...text.words import word_tokenize

    tokens = [word_tokenize(searched_text(record)) for record in records]
    made = []
    for record, words, found in zip(records, tokens, load_tagger().tag(tokens), strict=True):
        tagged = list(zip(words, found.tags, strict=True))
        query, copies = published_query(tagged), copies_of(record)
        if isinstance(query, OverlapQuery):
            parse = {"content_words": list(query.content), "query": published_query_string(tagged)}
            made.append(RowQuery(query, parse, copies))
        else:
            made.append(RowQuery(None, {}, copies, query.reason))
    return Queries(made, {"construction": "published", "tagger": TAGGER_NAME})


def _parsed(records: Sequence[Mapping[str, Any]], progress: Stage) -> Queries:
    from ...splitting.scores.overlap_queries import Instance, NoQuery, parsed_queries, query_text
    from ...text.parsing import load_parser

    parser = load_parser()
    instances = [
        Instance(row["text"], row["pronoun"], row["pronoun_loc"], tuple(row["options"])) for row in records
    ]
    made = []
    for record, found in zip(records, parsed_queries(instances, parser, progress), strict=True):
        copies = copies_of(record)
        if isinstance(found, NoQuery):
            made.append(RowQuery(None, {}, copies, found.reason))
            continue
        parse = {
            "e1": found.parse.e1,
            "e2": found.parse.e2,
            "pred_c": " ".join(found.parse.pred_c),
            "pred_q": " ".join(found.parse.pred_q),
            "connective": found.parse.connective,
            "content_words": list(found.parse.content_words),
            "query": query_text(found.query),
        }
        # An option or a connective that is not there is null, as everywhere.
        made.append(RowQuery(found.query, {k: v if v else None for k, v in parse.items()}, copies))
    return Queries(made, {"construction": "parsed", "parser": parser.identity()})
