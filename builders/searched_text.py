"""The text in tables of what was searched for in corpora and found there: taking it out, putting it back.

Queries are made of the rows, and hits are documents that may be copies of them, so that a release without
text has neither: of a hit it keeps corpus, document id, score and whether it is an exact copy. Whoever has
the rows makes the queries again; whoever has the corpora finds the documents again by their ids, in one pass
over each, which counts the documents that have each matched term besides. No corpus is indexed or searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa

from ..errors import ReleaseError, SourceError, UsageError, show
from ..faults import Policy
from ..features import OVERLAP
from ..progress import Progress, Stage, no_progress
from ..splitting.scores import ScoreTable
from ..splitting.scores.bm25.analysis import Analyzer, load_analyzer
from ..splitting.scores.bm25.engine import analysed
from ..splitting.scores.overlap import Queries
from ..splitting.scores.overlap_queries.explain import matched_terms
from .base import Builder
from .corpora import Corpus, open_corpus
from .corpora.base import Sentences

FREQUENCIES = "document_frequencies"
"""Key of what a manifest says of a searched corpus: its terms are words of the rows."""
_KEPT = ("best_score", "num_hits", "exact_copy", "hits")


def without_text(table: ScoreTable) -> ScoreTable:
    """A table of queries and hits without the text of rows and of documents."""
    bare = table.table
    for place, field in enumerate(bare.schema):
        if field.name in OVERLAP and field.name not in _KEPT:
            bare = bare.set_column(place, field, pa.nulls(bare.num_rows, field.type))
        elif field.name == "hits":
            hits = [
                hit and [{**one, "text": None, "matched_terms": None} for one in hit]
                for hit in bare.column("hits").to_pylist()
            ]
            bare = bare.set_column(place, field, pa.array(hits, field.type))
    corpora = [
        {key: value for key, value in corpus.items() if key != FREQUENCIES}
        for corpus in table.provenance["corpora"]
    ]
    return ScoreTable(bare.combine_chunks(), {**table.provenance, "corpora": corpora}, table.identity)


@dataclass(frozen=True)
class BareTable:
    """A table without text, with the rows of the source that it is of, in its order."""

    name: str
    table: ScoreTable
    rows: pa.Table


@dataclass(frozen=True)
class _Asked:
    """A bare table with its queries again."""

    bare: BareTable
    queries: Queries
    analyzer: Analyzer

    def documents(self, corpus: str) -> set[str]:
        """Ids of the documents of a corpus that are hits."""
        hits = (hit for found in self.bare.table.table.column("hits").to_pylist() for hit in found or ())
        return {hit["document_id"] for hit in hits if hit["corpus"] == corpus}

    def terms(self) -> set[str]:
        """All terms of all queries."""
        queries = [row.query for row in self.queries.rows if row.query is not None]
        asked = (analysed(query, self.analyzer) for query in queries)
        return {term for query in asked if query is not None for term in query.terms}


def with_text(
    builder: Builder, bare: Sequence[BareTable], locations: Sequence[str], progress: Stage = no_progress
) -> dict[str, ScoreTable]:
    """The tables with the text of their queries and hits, by name.

    `locations` are corpora as for `open_corpus`; the choices that they were read with are recorded. Raises
    UsageError for a corpus that is not given, SourceError for another copy of one and for one that was not
    searched, ReleaseError where queries would be made by another parser or analyzer, PrerequisiteError
    without one.
    """
    recorded = _recorded(bare)
    opened = _opened(recorded, locations)
    asked = [_asked(builder, one, progress) for one in bare]
    texts: dict[str, dict[str, str]] = {}
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for fingerprint, corpus in opened.items():
        readers = [one for one in asked if fingerprint in _fingerprints(one.bare.table)]
        with progress(f"hits in {corpus.name}", 0, "documents") as report:
            texts[fingerprint], found = _read(corpus, readers, report)
        counts |= {(fingerprint, analyzer): numbers for analyzer, numbers in found.items()}
    return {one.bare.name: _completed(one, texts, counts) for one in asked}


def _recorded(bare: Sequence[BareTable]) -> dict[str, dict[str, Any]]:
    """Every searched corpus by its fingerprint, as it was opened."""
    found: dict[str, dict[str, Any]] = {}
    for one in bare:
        known = zip(one.table.provenance["key"]["corpora"], one.table.provenance["corpora"], strict=True)
        found |= {facts["fingerprint"]: identity for identity, facts in known}
    return found


def _fingerprints(table: ScoreTable) -> dict[str, str]:
    """The name of each corpus of a table, by its fingerprint."""
    return {facts["fingerprint"]: facts["name"] for facts in table.provenance["corpora"]}


def _opened(recorded: Mapping[str, Mapping[str, Any]], locations: Sequence[str]) -> dict[str, Corpus]:
    """The given corpora by fingerprint: all that are `recorded`, each once."""
    found: dict[str, Corpus] = {}
    for location in dict.fromkeys(locations):
        tried = [(fingerprint, _open(location, identity)) for fingerprint, identity in recorded.items()]
        same = [one for one in tried if one[1].name == recorded[one[0]].get("name")]
        right = next((one for one in same if one[1].fingerprint == one[0]), None)
        if right is None and same:
            raise SourceError(
                "this is another copy of the corpus than was searched",
                path=location,
                fix="give the files with the sha256 that manifest.json records of it",
            )
        if right is None:
            names = ", ".join(str(identity.get("name")) for identity in recorded.values())
            raise SourceError(
                "this corpus was not searched",
                path=location,
                fix=f"give with --corpus your copies of: {names}",
            )
        found[right[0]] = right[1]
    for fingerprint, identity in recorded.items():
        if fingerprint not in found:
            raise UsageError(
                f"hits are documents of the corpus {show(identity.get('name'))}; give your copy of it with "
                "--corpus"
            )
    return found


def _open(location: str, identity: Mapping[str, Any]) -> Corpus:
    """A corpus read as a recorded one was."""
    return open_corpus(
        location,
        form=identity.get("form"),
        text_field=identity.get("text_field"),
        id_field=identity.get("id_field"),
        pattern=identity.get("pattern"),
        detokenize=bool(identity.get("detokenize")),
        sentences=cast("Sentences", identity.get("sentences") or "none"),
        on_bad_row=cast("Policy", identity.get("on_bad_row") or "fail"),
    )


def _asked(builder: Builder, bare: BareTable, progress: Stage) -> _Asked:
    key = bare.table.provenance["key"]
    name = analyzer_name(key["analyzer"])
    analyzer = load_analyzer(name)
    construction = key["construction"]
    queries = builder.overlap_queries(bare.rows, construction["construction"], name, progress)
    if (analyzer.identity, dict(queries.construction)) != (key["analyzer"], construction):
        raise ReleaseError(
            f"score table {bare.name}: queries were made by {show(construction)} and {key['analyzer']}, and "
            f"would be by {show(dict(queries.construction))} and {analyzer.identity}; install what made them"
        )
    return _Asked(bare, queries, analyzer)


def analyzer_name(identity: str) -> str:
    """The name of an analyzer with this identity.

    >>> [analyzer_name(name) for name in ("english-1", "characters-2-1", "jieba-0.42.1-1")]
    ['english', 'characters-2', 'jieba']
    """
    return "jieba" if identity.startswith("jieba") else identity.rpartition("-")[0]


def _read(
    corpus: Corpus, readers: Sequence[_Asked], report: Progress
) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Texts of all hits by document id, and by analyzer how many documents have each term that is asked for.

    Of two documents of one id the first counts, as `_completed` will find out where that is wrong.
    """
    wanted = set().union(*(reader.documents(corpus.name) for reader in readers))
    analyzers = {reader.analyzer.identity: reader.analyzer for reader in readers}
    terms = {
        name: set().union(*(reader.terms() for reader in readers if reader.analyzer.identity == name))
        for name in analyzers
    }
    counts: dict[str, dict[str, int]] = {name: {} for name in analyzers}
    texts: dict[str, str] = {}
    for document in corpus:
        if document.document_id in wanted:
            texts.setdefault(document.document_id, document.text)
        for name, analyzer in analyzers.items():
            known = counts[name]
            for term in terms[name].intersection(analyzer.terms(document.text)):
                known[term] = known.get(term, 0) + 1
        report(1)
    return texts, counts


def _completed(
    asked: _Asked,
    texts: Mapping[str, Mapping[str, str]],
    counts: Mapping[tuple[str, str], Mapping[str, int]],
) -> ScoreTable:
    """A table with its text: what does not fit is told by the digests of its rows."""
    bare = asked.bare.table
    names = {name: fingerprint for fingerprint, name in _fingerprints(bare).items()}
    lines = bare.table.to_pylist()
    used: dict[str, set[str]] = {name: set() for name in names}
    for line, row in zip(lines, asked.queries.rows, strict=True):
        line |= {name: row.parse.get(name) for name in OVERLAP if name not in _KEPT}
        for hit in line["hits"] or ():
            hit["text"] = texts[names[hit["corpus"]]].get(hit["document_id"])
            known = None if hit["text"] is None else row.query
            hit["matched_terms"] = [] if known is None else matched_terms(known, hit["text"], asked.analyzer)
            used[hit["corpus"]].update(hit["matched_terms"])
    table = pa.Table.from_pylist(lines, schema=bare.table.schema).combine_chunks()
    corpora = [
        {**facts, FREQUENCIES: _frequencies(counts, facts["fingerprint"], asked, used[facts["name"]])}
        for facts in bare.provenance["corpora"]
    ]
    return ScoreTable(table, {**bare.provenance, "corpora": corpora}, bare.identity)


def _frequencies(
    counts: Mapping[tuple[str, str], Mapping[str, int]], fingerprint: str, asked: _Asked, terms: Iterable[str]
) -> dict[str, int]:
    known = counts[fingerprint, asked.analyzer.identity]
    return {term: known.get(term, 0) for term in sorted(terms)}
