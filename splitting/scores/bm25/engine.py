"""What both search engines share: hits, statistics, a query as terms, the BM25 formula, and opening an index.

Score of a document (METHODS part D.3) = sum over the words of the phrase, then over the content words that it
has, of idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * L / average)): L its quantised length, average the exact
mean length. Hits are ordered by score, equal scores by document number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

from ....errors import UsageError
from ....registry import closest
from .analysis import Analyzer, load_analyzer
from .query import OverlapQuery

K1 = 1.2
B = 0.75
MOST_HITS = 50
"""Hits that the published code keeps of a query."""
MEMORY = 1 << 30
"""Bytes that building an index may use, unless told otherwise."""
IDFS = ("whoosh", "paper")
ENGINES = ("fast", "whoosh")


class Hit(NamedTuple):
    """A document that matches. `document`: its 0-based number in the corpus. `matched_terms`: the terms that
    its score is the sum of, sorted: those of the phrase and of the content words found in it, a term as often
    as the query has it."""

    document: int
    score: float
    matched_terms: tuple[str, ...]


@dataclass(frozen=True)
class Statistics:
    """What a score needs to know of the whole corpus: the number of documents, their terms together, and
    for each asked term the number of documents that have it (0 for an unknown one)."""

    documents: int
    total_length: int
    document_frequencies: Mapping[str, int]

    @property
    def average_length(self) -> float:
        """Mean length of a document in terms; 1 for a corpus without terms."""
        return self.total_length / self.documents if self.total_length else 1.0

    @classmethod
    def summed(cls, parts: Iterable[Statistics]) -> Statistics:
        """The statistics of parts of a corpus together: all sums."""
        documents = total = 0
        frequencies: dict[str, int] = {}
        for part in parts:
            documents += part.documents
            total += part.total_length
            for term, count in part.document_frequencies.items():
                frequencies[term] = frequencies.get(term, 0) + count
        return cls(documents, total, frequencies)


class SearchEngine(Protocol):
    """An index that is open for searching."""

    @property
    def documents(self) -> int:
        """Documents in the corpus, empty ones too."""
        ...

    @property
    def total_length(self) -> int:
        """Terms of all documents."""
        ...

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """The corpus's numbers, with the document frequencies of `terms`."""
        ...

    def search(self, queries: Sequence[OverlapQuery], *, k: int = MOST_HITS) -> list[list[Hit]]:
        """At most `k` hits of each query, best first, ties by document number."""
        ...


@dataclass(frozen=True)
class TermQuery:
    """A query after analysis. `phrase`: terms in order, never empty unless `content` alone is searched;
    `gaps`: largest distances between neighbours; `content`: groups of terms, a group counts where all of
    its terms are; `required`: at least one group must be there."""

    phrase: tuple[str, ...]
    gaps: tuple[int, ...]
    content: tuple[tuple[str, ...], ...]
    required: bool

    @property
    def terms(self) -> tuple[str, ...]:
        """All distinct terms, in order of appearance."""
        return tuple(dict.fromkeys(chain(self.phrase, *self.content)))


def analysed(query: OverlapQuery, analyzer: Analyzer) -> TermQuery | None:
    """The query as terms; None where nothing can be found (OverlapQuery.may_vanish)."""
    return analysed_queries([query], analyzer)[0]


def analysed_queries(queries: Iterable[OverlapQuery], analyzer: Analyzer) -> list[TermQuery | None]:
    """Many queries as terms, each of their words analysed once."""

    @cache
    def terms_of(word: str) -> tuple[str, ...]:
        return tuple(analyzer.terms(word))

    return [_analysed(query, terms_of) for query in queries]


def _analysed(query: OverlapQuery, terms_of: Callable[[str], tuple[str, ...]]) -> TermQuery | None:
    phrase: list[str] = []
    gaps: list[int] = []
    gap = 0
    for before, word in zip((0, *query.gaps), query.phrase, strict=False):
        # A dropped word leaves the larger of the gaps around it; after a kept one they count anew.
        gap = max(gap, before)
        terms = terms_of(word)
        for term in terms:
            if phrase:
                gaps.append(gap)
            phrase.append(term)
            gap = query.inner_gap
        if terms:
            gap = 0
    groups = [terms_of(word) for word in query.content]
    distinct = (tuple(dict.fromkeys(group)) if len(group) > 1 else group for group in groups if group)
    content = tuple(dict.fromkeys(distinct))
    if not phrase and not (content and query.may_vanish):
        return None
    required = query.content_required or not phrase
    if required and not content:
        if not query.may_vanish:
            return None
        required = False
    return TermQuery(tuple(phrase), tuple(gaps), content, required)


def inverse_document_frequency(formula: str, documents: int, frequency: int) -> float:
    """`whoosh`: ln(N / (df + 1)) + 1, as published; `paper`: ln((N - df + 0.5) / (df + 0.5))."""
    if formula == "whoosh":
        return math.log(documents / (frequency + 1)) + 1
    return math.log((documents - frequency + 0.5) / (frequency + 0.5))


def check_choices(*, idf: str, engine: str = "fast", k: int = 1) -> None:
    """Raises UsageError for an unknown formula or engine, or fewer than one hit."""
    for kind, value, known in (("idf formula", idf, IDFS), ("search engine", engine, ENGINES)):
        if value not in known:
            raise UsageError(f"unknown {kind} {value!r}; {closest(value, known)}")
    if k < 1:
        raise UsageError(f"a search keeps at least one hit, got k={k}")


def index_corpus(
    documents: Iterable[str],
    folder: Path,
    *,
    engine: str = "fast",
    analyzer: str | Analyzer = "english",
    idf: str = "whoosh",
    memory: int = MEMORY,
) -> SearchEngine:
    """Index `documents` (read once, numbered from 0) in `folder`, and open it.

    `memory`: bytes that building may use; the corpus may be larger. The folder appears when it is whole; one
    that stands there is replaced.
    """
    check_choices(idf=idf, engine=engine)
    chosen = load_analyzer(analyzer) if isinstance(analyzer, str) else analyzer
    if engine == "whoosh":
        from .whoosh_engine import build_whoosh_index

        build_whoosh_index(documents, folder, chosen, memory=memory)
    else:
        from .fast_index import build_index, compiled_search

        compiled_search()
        build_index(documents, folder, chosen, memory=memory)
    return open_index(folder, engine=engine, analyzer=chosen, idf=idf)


def open_index(
    folder: Path, *, engine: str = "fast", analyzer: str | Analyzer = "english", idf: str = "whoosh"
) -> SearchEngine:
    """Open an index that `index_corpus` wrote, with the analyzer that it was made with.

    Raises SourceError where there is none, or one of another analyzer.
    """
    check_choices(idf=idf, engine=engine)
    chosen = load_analyzer(analyzer) if isinstance(analyzer, str) else analyzer
    if engine == "whoosh":
        from .whoosh_engine import WhooshEngine

        return WhooshEngine(folder, chosen, idf=idf)
    from .fast_engine import FastEngine

    return FastEngine(folder, chosen, idf=idf)
