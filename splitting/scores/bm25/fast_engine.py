"""Searching the fast index: queries as numbers, the compiled search (_fast_search.py), and hits made of both.

What depends on the corpus as a whole is decided here, from statistics that all shards of a corpus share: the
idf of each term, and the order in which content words are added to a score, those that can add most first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .analysis import Analyzer
from .engine import (
    K1,
    MOST_HITS,
    B,
    Hit,
    Statistics,
    TermQuery,
    analysed_queries,
    check_choices,
    inverse_document_frequency,
)
from .fast_index import FastIndex
from .lengths import LENGTHS
from .query import OverlapQuery

_AT_ONCE = 256
"""Queries of one compiled call: what a call costs is shared, and the room for hits stays small."""

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]


class FastEngine:
    """Searches an index of fast_index.py with one of the two idf formulas."""

    def __init__(self, folder: Path, analyzer: Analyzer, *, idf: str = "whoosh") -> None:
        check_choices(idf=idf)
        self._index = FastIndex(folder, analyzer)
        self._analyzer, self._idf = analyzer, idf

    @property
    def documents(self) -> int:
        return self._index.documents

    @property
    def total_length(self) -> int:
        return self._index.total_length

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """The corpus's numbers, with the document frequencies of `terms`."""
        wanted = tuple(dict.fromkeys(terms))
        return self._statistics(wanted, self._index.numbers(wanted))

    def _statistics(self, terms: Sequence[str], numbers: Numbers) -> Statistics:
        frequencies = self._index.document_frequencies(numbers).tolist()
        return Statistics(self.documents, self.total_length, dict(zip(terms, frequencies, strict=True)))

    def search(self, queries: Sequence[OverlapQuery], *, k: int = MOST_HITS) -> list[list[Hit]]:
        """At most `k` hits of each query, best first, ties by document number.

        Equal queries are searched once. Raises UsageError for k < 1.
        """
        return self.search_terms(analysed_queries(queries, self._analyzer), k=k)

    def search_terms(
        self, queries: Sequence[TermQuery | None], *, k: int, statistics: Statistics | None = None
    ) -> list[list[Hit]]:
        """The same for queries after analysis, None among them having no hits. `statistics`: of the corpus
        that this index is a part of, with all terms of the queries; default the index's own."""
        check_choices(idf=self._idf, k=k)
        terms = all_terms(queries)
        numbers = self._index.numbers(terms)
        weights = _Weights(self._idf, terms, statistics or self._statistics(terms, numbers))
        search = _Search(self._index, terms, numbers, weights, k)
        distinct = [query for query in dict.fromkeys(queries) if query is not None]
        found: dict[TermQuery | None, list[Hit]] = {None: []}
        for start in range(0, len(distinct), _AT_ONCE):
            chosen = distinct[start : start + _AT_ONCE]
            found.update(zip(chosen, search.hits(chosen), strict=True))
        return [list(found[query]) for query in queries]


def all_terms(queries: Iterable[TermQuery | None]) -> tuple[str, ...]:
    """The distinct terms of queries, in order of appearance."""
    return tuple(dict.fromkeys(chain.from_iterable(query.terms for query in queries if query is not None)))


class _Weights:
    """`idf`: of each term; `norms`: 1.2 * (0.25 + 0.75 * L / average) by length code, float64 [256]."""

    def __init__(self, formula: str, terms: Sequence[str], statistics: Statistics) -> None:
        documents, frequencies = statistics.documents, statistics.document_frequencies
        self.idf = {
            term: inverse_document_frequency(formula, documents, frequencies[term]) if documents else 0.0
            for term in terms
        }
        norms = K1 * ((1 - B) + B * LENGTHS / statistics.average_length)
        self.norms: Scores = norms.astype(np.float64)

    def importance(self, group: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        """Sorts content words by what they can add, the most first."""
        return -sum(map(self.idf.__getitem__, group)), group


class _Search:
    """One index, and what all queries of a search share: their terms, which have places."""

    def __init__(
        self, index: FastIndex, terms: Sequence[str], numbers: Numbers, weights: _Weights, k: int
    ) -> None:
        self._index, self._weights, self._k = index, weights, k
        self._places = {term: place for place, term in enumerate(terms)}
        self._lists = index.lists(numbers)
        self._sizes: list[int] = (self._lists[:, 1] - self._lists[:, 0]).tolist()
        self._idf = np.array([weights.idf[term] for term in terms])

    def hits(self, queries: Sequence[TermQuery]) -> list[list[Hit]]:
        """The best `k` documents of each query."""
        packed = _Packed()
        contents = [sorted(query.content, key=self._weights.importance) for query in queries]
        for query, content in zip(queries, contents, strict=True):
            self._pack(query, content, packed)
        total, widest = sum(packed.limits), max(map(len, contents))
        documents, scores = np.empty(total, dtype=np.int64), np.empty(total)
        present, counts = np.empty((total, widest), dtype=bool), np.empty(len(queries), dtype=np.int64)
        self._index.search(
            self._weights.norms,
            K1 + 1,
            self._lists,
            self._idf,
            *map(_array, packed.parts),
            _array(packed.ends).reshape(-1, len(packed.parts)),
            np.array([query.required for query in queries]),
            _array(packed.limits),
            documents,
            scores,
            present,
            counts,
        )
        found = []
        first = 0
        for query, content, limit, count in zip(
            queries, contents, packed.limits, counts.tolist(), strict=True
        ):
            rows, first = slice(first, first + count), first + limit
            terms = _matched(query.phrase, content, present[rows, : len(content)].tolist())
            found.append([*map(Hit, documents[rows].tolist(), scores[rows].tolist(), terms)])
        return found

    def _pack(self, query: TermQuery, content: Sequence[tuple[str, ...]], packed: _Packed) -> None:
        place, size = self._places.__getitem__, self._sizes.__getitem__
        phrase = [*map(place, query.phrase)]
        groups = [[*map(place, group)] for group in content]
        if phrase:
            words = sorted(dict.fromkeys(phrase), key=size)
            most = size(words[0])
        else:
            words = [min(group, key=size) for group in groups]
            most = sum(map(size, words))
        packed.add(phrase, query.gaps, words, [*chain.from_iterable(groups)], [*accumulate(map(len, groups))])
        packed.limits.append(min(self._k, most))


class _Packed:
    """Queries as the compiled search takes them: `parts`, numbers query after query, and their `ends`."""

    def __init__(self) -> None:
        self.parts: tuple[list[int], ...] = ([], [], [], [], [])
        self.ends = [0] * len(self.parts)
        self.limits: list[int] = []

    def add(self, *parts: Sequence[int]) -> None:
        """The next query's phrase, gaps, words, members and ends of groups."""
        for whole, part in zip(self.parts, parts, strict=True):
            whole.extend(part)
        self.ends.extend(map(len, self.parts))


def _array(numbers: Sequence[int]) -> Numbers:
    return np.array(numbers, dtype=np.int64)


def _matched(
    phrase: Sequence[str], content: Sequence[Sequence[str]], present: Sequence[list[bool]]
) -> Iterator[tuple[str, ...]]:
    """For each row of `present`, bool [hits, content], the terms that the score is the sum of, sorted."""
    terms = [(term, group) for group, members in enumerate(content) for term in members]
    terms += [(term, len(content)) for term in phrase]
    terms.sort()
    for row in present:
        row.append(True)
        yield tuple([term for term, group in terms if row[group]])
