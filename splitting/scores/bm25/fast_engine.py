"""Searching the fast index: ordered phrases with a largest distance per gap, then content words, then top-k.

A phrase is found from its rarest word: documents that have it are looked up in the other words' lists by
binary search, the rarer lists first, so that a long list is touched in few places. In the documents that are
left, positions are filtered from word to word: a place stands if the nearest place of the word before lies at
most the gap away. That is Whoosh's rule: distances are measured from one word to the next.

Content words are scored only for documents with the phrase. Where these are many (a phrase of one frequent
word), words that can add most come first, and documents that cannot reach the k-th best score any more are
left out (MaxScore, Turtle and Flood 1995), by bounds from the most occurrences of a word and the document's
length. Partial sums are added in an order that depends on corpus-wide statistics alone, so that a document's
score has the same bits whether its corpus is one index or many.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
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
    analysed,
    check_choices,
    inverse_document_frequency,
)
from .fast_index import FastIndex
from .lengths import LENGTHS
from .query import OverlapQuery

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]

_PRUNE_FROM = 2_000
_FEW = 24
"""Documents that are looked up one by one."""
_SLACK = 1e-9
"""Share by which a bound may be off through rounding; a score is far more exact."""


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
        index = self._index
        numbers = {term: index.number(term) for term in terms}
        frequencies = {t: int(index.document_frequencies[n]) if n >= 0 else 0 for t, n in numbers.items()}
        return Statistics(index.documents, index.total_length, frequencies)

    def analysed(self, queries: Sequence[OverlapQuery]) -> list[TermQuery | None]:
        """The queries as terms of this index's analyzer."""
        return [analysed(query, self._analyzer) for query in queries]

    def search(
        self, queries: Sequence[OverlapQuery], *, k: int = MOST_HITS, statistics: Statistics | None = None
    ) -> list[list[Hit]]:
        """At most `k` hits of each query, best first, ties by document number.

        `statistics`: of the corpus that this index is a part of, with all terms of the queries; default the
        index's own. Equal queries are searched once. Raises UsageError for k < 1.
        """
        check_choices(idf=self._idf, k=k)
        wanted = self.analysed(queries)
        if statistics is None:
            statistics = self.statistics({t: None for query in wanted if query for t in query.terms})
        weights = _Weights(self._idf, statistics)
        found: dict[TermQuery | None, list[Hit]] = {None: []}
        for query in wanted:
            if query is None or query in found:
                continue
            held = self.documents and all(statistics.document_frequencies[term] for term in query.phrase)
            found[query] = _Search(self._index, weights, query).hits(k) if held else []
        return [list(found[query]) for query in wanted]


class _Weights:
    """idf of each term, and 1.2 * (0.25 + 0.75 * L / average) for each length code, float64 [256]."""

    def __init__(self, formula: str, statistics: Statistics) -> None:
        self._formula, self._statistics = formula, statistics
        norms = K1 * ((1 - B) + B * LENGTHS / statistics.average_length)
        self.norms: Scores = norms.astype(np.float64)

    def idf(self, term: str) -> float:
        frequency = self._statistics.document_frequencies[term]
        return inverse_document_frequency(self._formula, self._statistics.documents, frequency)


class _Search:
    """One query on one index."""

    def __init__(self, index: FastIndex, weights: _Weights, query: TermQuery) -> None:
        self._index, self._query, self._weights = index, query, weights
        self._numbers = {term: index.number(term) for term in query.terms}
        self._lists = {term: index.occurrences_of(number) for term, number in self._numbers.items()}
        self._idf = {term: weights.idf(term) for term in query.terms}

    def hits(self, k: int) -> list[Hit]:
        """The best `k` documents."""
        state = _Candidates(self._index, self._weights, self._candidates())
        if not len(state.documents):
            return []
        self._score(state, k)
        chosen = np.flatnonzero(state.found) if self._query.required else np.arange(len(state.documents))
        if len(chosen) > k:
            scores = state.scores[chosen]
            chosen = chosen[scores >= np.partition(scores, len(scores) - k)[len(scores) - k]]
        chosen = chosen[np.lexsort((chosen, -state.scores[chosen]))[:k]]
        terms = self._matched(state, chosen)
        documents, scores = state.documents[chosen].tolist(), state.scores[chosen].tolist()
        return [Hit(*hit) for hit in zip(documents, scores, terms, strict=True)]

    def _score(self, state: _Candidates, k: int) -> None:
        """Add up the scores of all candidates; some that are not among the best `k` are left out."""
        query = self._query
        for term in query.phrase:
            counts = self._counts(term, state)
            state.scores += self._idf[term] * ((counts * (K1 + 1)) / (counts + state.norms))
        groups = sorted(query.content, key=lambda group: (-sum(self._idf[term] for term in group), group))
        bounds = self._bounds(groups) if len(state.documents) >= _PRUNE_FROM else []
        for i, group in enumerate(groups):
            if len(state.documents) >= _PRUNE_FROM:
                state.prune(k, *bounds[i], required=query.required)
            self._add_group(group, state)

    def _counts(self, term: str, state: _Candidates) -> Numbers:
        """How often each candidate has the term."""
        if term not in state.counts:
            state.counts[term] = _frequencies(self._lists[term], state.documents)
        return state.counts[term]

    def _candidates(self) -> Numbers:
        """Documents with the phrase; without one, those with a content word."""
        query = self._query
        if query.phrase:
            return _phrase_documents([self._lists[term] for term in query.phrase], query.gaps)
        found = [_common_documents([self._lists[term] for term in group]) for group in query.content]
        return np.unique(np.concatenate(found))

    def _add_group(self, group: tuple[str, ...], state: _Candidates) -> None:
        """Add what the terms of a content word score together, where a document has all of them."""
        present = _all_positive([self._counts(term, state) for term in group])
        if not present.any():
            return
        total = np.zeros(len(state.documents))
        for term in group:
            counts = self._counts(term, state)
            total += self._idf[term] * ((counts * (K1 + 1)) / (counts + state.norms))
        state.scores += total * present
        state.found |= present

    def _bounds(self, groups: list[tuple[str, ...]]) -> list[tuple[Scores, Scores]]:
        """Before each group: the least and the most that it and those after it can add, by length code."""
        lower, upper = np.zeros(256), np.zeros(256)
        bounds: list[tuple[Scores, Scores]] = []
        for group in reversed(groups):
            least, most = np.zeros(256), np.zeros(256)
            for term in group:
                number = self._numbers[term]
                count = float(self._index.most_in_document[number]) if number >= 0 else 0.0
                change = self._idf[term] * ((count * (K1 + 1)) / (count + self._weights.norms))
                least += np.minimum(change, 0)
                most += np.maximum(change, 0)
            lower, upper = lower + least, upper + most
            bounds.append((lower, upper))
        return bounds[::-1]

    def _matched(self, state: _Candidates, chosen: Numbers) -> list[tuple[str, ...]]:
        """The terms that the chosen candidates' scores are sums of."""
        matched = [list(self._query.phrase) for _ in chosen]
        for group in self._query.content:
            present = _all_positive([self._counts(term, state)[chosen] for term in group])
            for terms, there in zip(matched, present.tolist(), strict=True):
                if there:
                    terms.extend(group)
        return [tuple(sorted(terms)) for terms in matched]


class _Candidates:
    """Documents that may be hits, ascending, with what is known of them so far."""

    def __init__(self, index: FastIndex, weights: _Weights, documents: Numbers) -> None:
        self.documents = documents
        self.codes = index.lengths[documents]
        self.norms = weights.norms[self.codes]
        self.scores: Scores = np.zeros(len(documents))
        self.found = np.zeros(len(documents), dtype=bool)
        self.counts: dict[str, Numbers] = {}

    def prune(self, k: int, lower: Scores, upper: Scores, *, required: bool) -> None:
        """Leave out documents that cannot be among the best `k`, whatever is still added."""
        certain = self.scores + lower[self.codes]
        if required:
            certain = certain[self.found]
        if len(certain) < k:
            return
        least = np.partition(certain, len(certain) - k)[len(certain) - k]
        kept = self.scores + upper[self.codes] >= least - _SLACK * (1 + abs(least))
        if not kept.all():
            self.documents, self.codes = self.documents[kept], self.codes[kept]
            self.norms, self.scores, self.found = self.norms[kept], self.scores[kept], self.found[kept]
            self.counts = {term: counts[kept] for term, counts in self.counts.items()}


def _all_positive(counts: Sequence[Numbers]) -> NDArray[np.bool_]:
    present = counts[0] > 0
    for more in counts[1:]:
        present &= more > 0
    return present


def _documents_of(occurrences: Numbers) -> Numbers:
    """The documents of sorted occurrences, each once, ascending."""
    documents = occurrences >> 32
    kept = np.ones(len(documents), dtype=bool)
    np.not_equal(documents[1:], documents[:-1], out=kept[1:])
    return documents[kept]


def _first_places(occurrences: Numbers, documents: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Where each document's occurrences would start, and whether there are any."""
    places = np.searchsorted(occurrences, documents << 32)
    if not len(occurrences):
        return places, np.zeros(len(documents), dtype=bool)
    return places, occurrences[np.minimum(places, len(occurrences) - 1)] >> 32 == documents


def _frequencies(occurrences: Numbers, documents: Numbers) -> Numbers:
    """How often each of the ascending `documents` stands among sorted occurrences."""
    if len(documents) <= _FEW:
        return _frequencies_of_few(occurrences, documents)
    counts = np.zeros(len(documents), dtype=np.int64)
    if len(occurrences) < len(documents):
        of_occurrence = occurrences >> 32
        places = np.minimum(np.searchsorted(documents, of_occurrence), len(documents) - 1)
        np.add.at(counts, places[documents[places] == of_occurrence], 1)
        return counts
    places, present = _first_places(occurrences, documents)
    left = np.flatnonzero(present)
    places = places[left]
    while len(left):
        counts[left] += 1
        places = places + 1
        inside = places < len(occurrences)
        left, places = left[inside], places[inside]
        more = occurrences[places] >> 32 == documents[left]
        left, places = left[more], places[more]
    return counts


def _frequencies_of_few(occurrences: Numbers, documents: Numbers) -> Numbers:
    """The same by bisection in plain Python: a handful of look-ups costs less than one call of numpy."""
    held = occurrences.data
    counts: list[int] = []
    for document in documents.tolist():
        first = bisect_left(held, document << 32)
        counts.append(0)
        while first < len(held) and held[first] >> 32 == document:
            counts[-1] += 1
            first += 1
    return np.array(counts, dtype=np.int64)


def _common_documents(lists: Sequence[Numbers]) -> Numbers:
    """Documents that stand in every list of occurrences, ascending."""
    ordered = sorted(lists, key=len)
    documents = _documents_of(ordered[0])
    for occurrences in ordered[1:]:
        if not len(documents):
            break
        documents = documents[_first_places(occurrences, documents)[1]]
    return documents


def _in_documents(occurrences: Numbers, documents: Numbers) -> Numbers:
    """The occurrences in the given ascending documents."""
    first = np.searchsorted(occurrences, documents << 32)
    counts = np.searchsorted(occurrences, (documents + 1) << 32) - first
    places = np.repeat(first - (np.cumsum(counts) - counts), counts)
    return occurrences[places + np.arange(len(places))]


def _phrase_documents(lists: Sequence[Numbers], gaps: Sequence[int]) -> Numbers:
    """Documents with an occurrence of each list in turn, neighbours at most `gaps` apart, ascending."""
    documents = _common_documents(lists)
    if len(lists) == 1 or not len(documents):
        return documents
    ends = _in_documents(lists[0], documents)
    for occurrences, gap in zip(lists[1:], gaps, strict=True):
        places = _in_documents(occurrences, documents)
        # The nearest end before a place decides: any other is farther away.
        before = np.searchsorted(ends, places) - 1
        stands = before >= 0
        stands &= places - ends[before] <= gap
        ends = places[stands]
        if not len(ends):
            break
    return _documents_of(ends)
