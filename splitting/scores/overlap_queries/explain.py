"""What a query asks for, and what of it a document has, where, and with which share of the score.

Pure functions over an instance's constructions and its hits; `benchwright explain` prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..bm25.analysis import Analyzer, CharacterAnalyzer, EnglishAnalyzer
from ..bm25.engine import K1, B, Statistics, TermQuery, analysed, inverse_document_frequency
from ..bm25.lengths import LENGTHS, length_codes
from ..bm25.query import OverlapQuery
from .partial_parse import PartialParse

PREDICATES = {"pred_c": "Pred_C", "pred_q": "Pred_Q"}
PHRASE, CONTENT = "phrase", "content"

_WORD = re.compile(r"\w+(?:\.?\w+)*")

Place = tuple[int, int]
"""Characters of a text: the first, and the one after the last."""


@dataclass(frozen=True)
class TermMatch:
    """A term of the query in a document.

    `components`: what of the query it belongs to (Pred_C, Pred_Q, E1, E2, content; phrase where there is no
    partial parse). `places` are all its places in the document, empty where the analyzer does not tell them.
    `score` is its share of the document's score, None without statistics of the corpus.
    """

    term: str
    components: tuple[str, ...]
    places: tuple[Place, ...]
    score: float | None


@dataclass(frozen=True)
class DocumentMatch:
    """What of a query a document has; `phrase`: where the ordered phrase first stands, a place for each term.

    `phrase` is empty where the phrase does not match, or the analyzer tells no places.
    """

    text: str
    phrase: tuple[Place, ...]
    terms: tuple[TermMatch, ...]

    @property
    def score(self) -> float | None:
        """The sum of the terms' shares; None without statistics."""
        shares = [term.score for term in self.terms if term.score is not None]
        return sum(shares) if len(shares) == len(self.terms) else None


def query_text(query: OverlapQuery) -> str:
    """A query for people: quoted runs of adjacent words, distances between them, content words.

    >>> query_text(OverlapQuery(("does", "fit", "is"), (1, 10), ("box",), content_required=False))
    '"does fit" ~10 "is"; box'
    """
    runs = [[word] for word in query.phrase[:1]]
    shown = []
    for gap, word in zip(query.gaps, query.phrase[1:], strict=True):
        if gap == 1:
            runs[-1].append(word)
        else:
            shown.append(f'"{" ".join(runs[-1])}" ~{gap}')
            runs.append([word])
    shown += [f'"{" ".join(run)}"' for run in runs[-1:]]
    content = ", ".join(query.content)
    need = " (one of them)" if query.content_required and content else ""
    return " ".join(shown) + (f"; {content}{need}" if content else "")


def components_of(
    query: OverlapQuery, parse: PartialParse | None, analyzer: Analyzer
) -> dict[str, list[str]]:
    """For each term of a query, in its order, the components that it belongs to."""
    words: list[tuple[str, str]] = []
    if parse is None:
        words += [(word, PHRASE) for word in query.phrase]
    else:
        for field, name in PREDICATES.items():
            words += [(word, name) for word in getattr(parse, field)]
        words += [(parse.e1, "E1"), (parse.e2, "E2")]
    words += [(word, CONTENT) for word in query.content]
    asked = {term for word in (*query.phrase, *query.content) for term in analyzer.terms(word)}
    found: dict[str, list[str]] = {}
    for word, name in words:
        for term in analyzer.terms(word):
            names = found.setdefault(term, [])
            # the entities' words are content words, too: the narrower name is enough
            if name not in names and not (name == CONTENT and {"E1", "E2"} & set(names)):
                names.append(name)
    return {term: names for term, names in found.items() if term in asked}


def matched_components(
    query: OverlapQuery, parse: PartialParse | None, matched_terms: Collection[str], analyzer: Analyzer
) -> tuple[str, ...]:
    """The components of which a hit has at least one term, in the order of the schema."""
    names = components_of(query, parse, analyzer)
    found = {name for term in matched_terms for name in names.get(term, ())}
    return tuple(name for name in (*PREDICATES.values(), PHRASE, "E1", "E2", CONTENT) if name in found)


def explain_document(
    query: OverlapQuery,
    parse: PartialParse | None,
    text: str,
    analyzer: Analyzer,
    *,
    statistics: Statistics | None = None,
    idf: str = "whoosh",
) -> DocumentMatch:
    """What of a query a document has.

    `statistics` of the corpus (with the frequencies of the query's terms) and the `idf` formula give each
    term its share of the BM25 score; the shares sum up to the score that the engines give a hit.
    """
    asked = analysed(query, analyzer)
    if asked is None:
        return DocumentMatch(text, (), ())
    terms = analyzer.terms(text)
    spans = _places(text, terms, analyzer)
    positions = _positions(terms)
    chosen = _first_phrase(asked, positions)
    names = components_of(query, parse, analyzer)
    times = _times(asked, positions)
    matches = [
        TermMatch(
            term,
            tuple(names.get(term, ())),
            tuple(spans[p] for p in positions[term]) if spans else (),
            count * _share(term, len(positions[term]), len(terms), statistics, idf) if statistics else None,
        )
        for term, count in times.items()
    ]
    return DocumentMatch(text, tuple(spans[p] for p in chosen) if spans else (), tuple(matches))


def matched_terms(query: OverlapQuery, text: str, analyzer: Analyzer) -> list[str]:
    """The distinct terms that a document's score is the sum of, sorted; none where it does not match."""
    asked = analysed(query, analyzer)
    return sorted(_matched(asked, _positions(analyzer.terms(text)))) if asked is not None else []


def score_document(
    query: OverlapQuery,
    text: str,
    analyzer: Analyzer,
    statistics: Callable[[Iterable[str]], Statistics],
    idf: str,
) -> tuple[float, list[str]]:
    """The BM25 score that an engine would give a document, and the terms that it is the sum of, sorted.

    0 and no terms where the query does not match. `statistics` gives those of the corpus for some terms.
    """
    asked = analysed(query, analyzer)
    if asked is None:
        return 0.0, []
    terms = analyzer.terms(text)
    positions = _positions(terms)
    times = _matched(asked, positions)
    known = statistics(times)
    shares = (n * _share(term, len(positions[term]), len(terms), known, idf) for term, n in times.items())
    return sum(shares, 0.0), sorted(times)


def _positions(terms: Sequence[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for position, term in enumerate(terms):
        positions.setdefault(term, []).append(position)
    return positions


def _matched(asked: TermQuery, positions: Mapping[str, Sequence[int]]) -> Counter[str]:
    """How often each term is scored of a document that matches the query; empty for one that does not."""
    has_content = any(all(term in positions for term in group) for group in asked.content)
    if (asked.phrase and not _first_phrase(asked, positions)) or (asked.required and not has_content):
        return Counter()
    return _times(asked, positions)


def _times(asked: TermQuery, positions: Mapping[str, Sequence[int]]) -> Counter[str]:
    """How often each term that the document has is scored: once for each time it stands in the query."""
    found = [term for term in asked.phrase if term in positions]
    for group in asked.content:
        if all(term in positions for term in group):
            found += group
    return Counter(found)


def _share(term: str, frequency: int, length: int, statistics: Statistics, idf: str) -> float:
    weight = inverse_document_frequency(idf, statistics.documents, statistics.document_frequencies[term])
    kept = float(LENGTHS[length_codes(np.array([length]))[0]])
    norm = K1 * (1 - B + B * kept / statistics.average_length)
    return weight * frequency * (K1 + 1) / (frequency + norm)


def _first_phrase(asked: TermQuery, positions: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """The first positions that hold the phrase in order within its gaps; empty where none do.

    Backwards from the last term: which positions of a term can be followed by the rest of the phrase.
    """
    following: list[dict[int, int]] = []
    reachable: dict[int, int] = {}
    for number in range(len(asked.phrase) - 1, -1, -1):
        here = positions.get(asked.phrase[number], ())
        if not following:
            reachable = dict.fromkeys(here, -1)
        else:
            gap, later = asked.gaps[number], sorted(following[-1])
            steps = ((p, next((q for q in later if p < q <= p + gap), None)) for p in here)
            reachable = {p: q for p, q in steps if q is not None}
        following.append(reachable)
    if not following or not following[-1]:
        return ()
    place = min(following[-1])
    found = []
    for step in reversed(following):
        found.append(place)
        place = step[place]
    return tuple(found)


def _places(text: str, terms: Sequence[str], analyzer: Analyzer) -> list[Place]:
    """The characters of each term; nothing where they cannot be told."""
    if isinstance(analyzer, EnglishAnalyzer):
        return _places_of_words(text, terms, analyzer)
    lowered = text.lower()
    if len(lowered) != len(text):
        return []
    spans: list[Place] = []
    start = 0
    for term in terms:
        place = lowered.find(term, start)
        if place < 0:
            return []
        spans.append((place, place + len(term)))
        # N-grams of characters overlap, words of a segmenter do not.
        start = place + (1 if isinstance(analyzer, CharacterAnalyzer) else len(term))
    return spans


def _places_of_words(text: str, terms: Sequence[str], analyzer: Analyzer) -> list[Place]:
    """Nothing where a word is several terms."""
    spans: list[Place] = []
    found: list[str] = []
    for word in _WORD.finditer(text):
        of_word = analyzer.terms(word[0])
        if len(of_word) > 1:
            return []
        found += of_word
        spans += [word.span()] * len(of_word)
    return spans if found == list(terms) else []


def marked_text(match: DocumentMatch) -> str:
    """A document with its first phrase in «», other terms of the query in ‹›.

    >>> marked_text(DocumentMatch("Ann fell down", ((4, 8),), (TermMatch("ann", ("E1",), ((0, 3),), None),)))
    '‹Ann› «fell» down'
    """
    marks = dict.fromkeys((place for term in match.terms for place in term.places), ("‹", "›"))
    marks |= dict.fromkeys(match.phrase, ("«", "»"))
    parts, done = [], 0
    for (start, end), (opening, closing) in _merged(sorted(marks.items())):
        parts += [match.text[done:start], opening, match.text[start:end], closing]
        done = end
    return "".join((*parts, match.text[done:]))


def _merged(marks: Sequence[tuple[Place, tuple[str, str]]]) -> list[tuple[Place, tuple[str, str]]]:
    """Places that overlap as one: pairs of characters share them."""
    found: list[tuple[Place, tuple[str, str]]] = []
    for (start, end), mark in marks:
        if found and start < found[-1][0][1]:
            (first, last), known = found.pop()
            found.append(((first, max(last, end)), known))
        else:
            found.append(((start, end), mark))
    return found


def component_shares(match: DocumentMatch) -> dict[str, float]:
    """The shares of the score by component; they sum up to it. Empty without statistics.

    A term of several components is theirs together (`Pred_C, content`).
    """
    shares: dict[str, float] = {}
    for term in match.terms:
        if term.score is None:
            return {}
        name = ", ".join(term.components)
        shares[name] = shares.get(name, 0.0) + term.score
    return shares


def parse_lines(parse: PartialParse) -> list[str]:
    """The components of a partial parse, one a line."""
    shown = {
        "context clause": parse.context_clause,
        "query clause": parse.query_clause,
        "Pred_C": " ".join(parse.pred_c),
        "Pred_Q": " ".join(parse.pred_q),
        "E1": parse.e1,
        "E2": parse.e2,
        "pronoun": parse.pronoun,
        "connective": parse.connective,
        "content words": ", ".join(parse.content_words),
    }
    return [f"{name:<14}  {value or '-'}" for name, value in shown.items()]


def match_lines(match: DocumentMatch) -> list[str]:
    """A document with its matches marked, and a line for each term: components, times, share of the score."""
    lines = [marked_text(match)]
    if shares := component_shares(match):
        parts = " + ".join(f"{value:.4f} ({name})" for name, value in shares.items())
        lines.append(f"  {sum(shares.values()):.4f} = {parts}")
    width = max((len(term.term) for term in match.terms), default=0)
    for term in match.terms:
        share = "" if term.score is None else f"  {term.score:8.4f}"
        times = f" x{len(term.places)}" if len(term.places) > 1 else ""
        lines.append(f"  {term.term:<{width}}{share}  {', '.join(term.components)}{times}")
    return lines
