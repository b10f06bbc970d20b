"""The reference engine: Whoosh itself, with queries built as objects.

The maintained fork, whoosh-reloaded 2.7.5, gives the scores of Whoosh 2.7.4 as long as the analyzer is not
its default one (the fork counts `*` as a letter). A phrase is a SpanNear2 over SpanNear2s, so that each gap
has its own largest distance; with one distance everywhere it is the query that Whoosh's Phrase becomes. Slow
by design: postings are walked in Python.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from ....atomic import recover, replace_folder, write_text
from ....errors import PrerequisiteError, SourceError
from ....hashing import canonical_json
from .analysis import STOP_WORDS, Analyzer, EnglishAnalyzer
from .engine import (
    K1,
    MOST_HITS,
    B,
    Hit,
    Statistics,
    TermQuery,
    analysed,
    check_choices,
    inverse_document_frequency,
)
from .query import OverlapQuery

_FIELD = "content"
_FORMAT = "benchwright-whoosh-1"
_FACTS = "benchwright.json"
_WRITER_MEGABYTES = 128
"""Whoosh's default."""


def _whoosh() -> Any:
    try:
        import whoosh.analysis
        import whoosh.collectors
        import whoosh.fields
        import whoosh.index
        import whoosh.query
        import whoosh.query.spans
        import whoosh.scoring
    except ImportError:
        raise PrerequisiteError(
            "the engine whoosh is not installed", "pip install benchwright[overlap]"
        ) from None
    return whoosh


class _Tokens:
    """Our analyzer as one of Whoosh's."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def __getstate__(self) -> dict[str, Any]:
        # Whoosh pickles its schema into the index; indexes are opened with a schema of ours instead.
        return {}

    def __call__(
        self, value: str, positions: bool = False, chars: bool = False, **options: Any
    ) -> Iterator[Any]:
        token = _whoosh().analysis.Token(positions, chars, **options)
        for position, term in enumerate(self._analyzer.terms(value)):
            token.text, token.pos, token.boost, token.stopped = term, position, 1.0, False
            yield token


def _schema(analyzer: Analyzer) -> Any:
    """Whoosh's schema; its own analyzer where ours is the same rule, so that it checks ours."""
    whoosh = _whoosh()
    if isinstance(analyzer, EnglishAnalyzer):
        tokenizer = whoosh.analysis.RegexTokenizer(r"\w+(\.?\w+)*")
        stop = whoosh.analysis.StopFilter(stoplist=STOP_WORDS)
        chain = tokenizer | whoosh.analysis.LowercaseFilter() | stop
        return whoosh.fields.Schema(**{_FIELD: whoosh.fields.TEXT(analyzer=chain)})

    return whoosh.fields.Schema(**{_FIELD: whoosh.fields.TEXT(analyzer=_Tokens(analyzer))})


def build_whoosh_index(documents: Iterable[str], folder: Path, analyzer: Analyzer, *, memory: int) -> None:
    """Index `documents` with Whoosh's default writer in one process; replaces what stands in `folder`."""
    whoosh = _whoosh()
    recover(folder)
    staged = folder.with_name(f".{folder.name}.staged")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        index = whoosh.index.create_in(str(staged), _schema(analyzer))
        writer = index.writer(limitmb=max(1, min(_WRITER_MEGABYTES, memory >> 20)))
        for document in documents:
            writer.add_document(**{_FIELD: document})
        writer.commit()
        index.close()
        facts = {"format": _FORMAT, "analyzer": analyzer.identity}
        write_text(staged / _FACTS, canonical_json(facts))
        replace_folder(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


class WhooshEngine:
    """Searches an index that Whoosh wrote."""

    def __init__(self, folder: Path, analyzer: Analyzer, *, idf: str = "whoosh") -> None:
        check_choices(idf=idf)
        whoosh = _whoosh()
        recover(folder)
        try:
            facts = (folder / _FACTS).read_text("utf-8")
        except OSError:
            raise SourceError("no Whoosh index here", path=folder, fix="index the corpus first") from None
        if facts != canonical_json({"format": _FORMAT, "analyzer": analyzer.identity}):
            raise SourceError(
                "the index was made with another analyzer or version",
                path=folder,
                fix="index the corpus again",
            )
        self._analyzer, self._idf = analyzer, idf
        index = whoosh.index.open_dir(str(folder), schema=_schema(analyzer))
        self._searcher = index.searcher(weighting=_weighting(idf))

    @property
    def documents(self) -> int:
        return int(self._searcher.doc_count_all())

    @property
    def total_length(self) -> int:
        return int(self._searcher.field_length(_FIELD))

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """The corpus's numbers, with the document frequencies of `terms`."""
        frequencies = {term: int(self._searcher.doc_frequency(_FIELD, term)) for term in terms}
        return Statistics(self.documents, self.total_length, frequencies)

    def search(self, queries: Sequence[OverlapQuery], *, k: int = MOST_HITS) -> list[list[Hit]]:
        """At most `k` hits of each query, best first, ties by document number."""
        check_choices(idf=self._idf, k=k)
        return [self._search(analysed(query, self._analyzer), k) for query in queries]

    def _search(self, query: TermQuery | None, k: int) -> list[Hit]:
        if query is None or not self.documents:
            return []
        collectors = _whoosh().collectors
        # Whoosh's short cuts take scores below 0 for misses; the published formula has none of these.
        exact = {} if self._idf == "whoosh" else {"usequality": False, "replace": 0}
        collector = collectors.TermsCollector(collectors.TopCollector(limit=k, **exact))
        self._searcher.search_with_collector(_as_whoosh(query), collector)
        results = collector.results()
        hits: list[Hit] = []
        for hit in results:
            # A group that ended short of this document may still name one of its terms: whole groups count.
            seen = {term.decode() for _, term in hit.matched_terms()}
            groups = (group for group in query.content if seen.issuperset(group))
            terms = sorted((*query.phrase, *(term for group in groups for term in group)))
            hits.append(Hit(int(hit.docnum), float(hit.score), tuple(terms)))
        return hits


def _weighting(idf: str) -> Any:
    whoosh = _whoosh()
    if idf == "whoosh":
        return whoosh.scoring.BM25F(B=B, K1=K1)

    class PaperWeighting(whoosh.scoring.BM25F):  # type: ignore[name-defined]
        def idf(self, searcher: Any, fieldname: str, text: bytes) -> float:
            parent = searcher.get_parent()
            return inverse_document_frequency(
                idf, parent.doc_count_all(), parent.doc_frequency(fieldname, text)
            )

    return PaperWeighting(B=B, K1=K1)


def _as_whoosh(query: TermQuery) -> Any:
    """The query as Whoosh's objects."""
    q = _whoosh().query

    def term(text: str) -> Any:
        return q.Term(_FIELD, text)

    groups = [
        q.And([term(t) for t in group]) if len(group) > 1 else term(group[0]) for group in query.content
    ]
    content = q.Or(groups) if len(groups) > 1 else next(iter(groups), None)
    if not query.phrase:
        return content
    phrase = term(query.phrase[0])
    following = zip(query.gaps, query.phrase[1:], strict=True)
    for gap, neighbours in groupby(following, key=itemgetter(0)):
        terms = [phrase, *(term(text) for _, text in neighbours)]
        phrase = q.spans.SpanNear2(terms, slop=gap, ordered=True, mindist=1)
    if content is None:
        return phrase
    return q.And([phrase, content]) if query.required else q.AndMaybe(phrase, content)
