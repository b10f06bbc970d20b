"""The paper's query schema: the partial parse of a Winograd-style instance, and the query made of it.

"An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767), section 3, after the schema of "A
Knowledge Hunting Framework for Common Sense Reasoning" (1810.01375): a context clause with the two options
E1 and E2 and the predicate Pred_C about them, a query clause with the pronoun and its predicate Pred_Q, and
the connective between both. Where the query clause comes first ("When she arrived, Ann hugged Mary"), its
predicate is the first in the query, too. The papers parse with CoreNLP; here dependency parses of any spaCy
pipeline are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchwright.text.parsing import ParsedSentence

from ..bm25.query import OverlapQuery
from ._clauses import clause_text, connective_tokens, content_tokens, path_below
from ._entities import find_option
from ._predicates import common_predicate, governor, predicate, top_of_chain, words_of
from .base import (
    NO_CONTEXT_PREDICATE,
    NO_OPTION,
    NO_PRONOUN,
    NO_QUERY_PREDICATE,
    ONE_PREDICATE,
    NoQuery,
)

DISTANCE = 10
"""Largest distance from the last word of Pred_C to the first of Pred_Q."""


@dataclass(frozen=True)
class PartialParse:
    """The components of an instance.

    `pred_c` and `pred_q` are words as they are written; `gaps_c` and `gaps_q` how far each stands from the
    next one (1, but where another word stands between, as in "turned it off"). `e1` and `e2` are as they
    stand in the text, empty where an option is not found there. `query_first`: the query clause's predicate
    stands before that of the context clause. `connective` is empty where clauses follow without one.
    """

    context_clause: str
    query_clause: str
    pred_c: tuple[str, ...]
    pred_q: tuple[str, ...]
    gaps_c: tuple[int, ...]
    gaps_q: tuple[int, ...]
    e1: str
    e2: str
    pronoun: str
    connective: str
    content_words: tuple[str, ...]
    query_first: bool


def parsed_query(parse: PartialParse) -> OverlapQuery:
    """The paper's query: both predicates as exact phrases, the later one at most 10 terms after the other.

    Content words, E1 and E2 first, only add to the score; the pronoun is in no part.
    """
    first, second = (parse.pred_c, parse.gaps_c), (parse.pred_q, parse.gaps_q)
    if parse.query_first:
        first, second = second, first
    return OverlapQuery(
        phrase=first[0] + second[0],
        gaps=(*first[1], DISTANCE, *second[1]),
        content=parse.content_words,
        content_required=False,
    )


def partial_parse(
    parsed: ParsedSentence, start: int, end: int, options: Sequence[str], *, pronoun: str
) -> PartialParse | NoQuery:
    """The partial parse of an instance, or the reason why there is none.

    `parsed`: the parse of its text, blanks filled (`fill_blanks`); `start` and `end`: the characters of what
    stands for the pronoun; `options`: one or more, of which the first two count; `pronoun`: as the instance
    writes it (`_` for a blank), which is how the query clause shows it.
    """
    place = [t for t in range(len(parsed)) if parsed.offsets[t] < end and parsed.end(t) > start]
    if not place:
        return NoQuery(NO_PRONOUN)
    head = next((t for t in place if parsed.heads[t] not in place), place[0])
    query_verb = governor(parsed, head)
    if query_verb is None:
        return NoQuery(NO_QUERY_PREDICATE)
    found = [find_option(parsed, option, place) for option in options[:2]]
    if not any(found):
        return NoQuery(NO_OPTION)
    entities = _choose(parsed, found, query_verb, min(place))
    context_verb = _context_verb(parsed, entities, query_verb)
    if isinstance(context_verb, NoQuery):
        return context_verb
    return _assemble(parsed, place, pronoun, entities, context_verb, query_verb)


def _choose(
    parsed: ParsedSentence, found: Sequence[Sequence[range]], query_verb: int, pronoun: int
) -> list[range | None]:
    """One place for each option: both in one sentence, outside the query clause, close before the pronoun."""
    query = set(parsed.subtree(query_verb))
    firsts: Sequence[range | None] = found[0] or [None]
    seconds: Sequence[range | None] = (found[1] if len(found) > 1 else ()) or [None]
    pairs: list[tuple[range | None, range | None]] = [
        (first, second) for first in firsts for second in seconds
    ]

    def cost(pair: tuple[range | None, range | None]) -> tuple[int, ...]:
        there = [place for place in pair if place is not None]
        overlap = len(there) == 2 and bool(set(there[0]) & set(there[1]))
        apart = _clauses_apart(parsed, *there) if len(there) == 2 else 0
        inside = sum(place[-1] in query for place in there)
        after = sum(place[0] > pronoun for place in there)
        distance = sum(abs(pronoun - place[-1]) for place in there)
        return (overlap, apart, inside, after, distance)

    best = min(pairs, key=cost)
    return list(best)


def _clauses_apart(parsed: ParsedSentence, first: range, second: range) -> int:
    """0: one verb governs both; 1: two verbs of one sentence; 2: verbs of two sentences."""
    if governor(parsed, first[-1]) == governor(parsed, second[-1]):
        return 0
    return 1 if common_predicate(parsed, first[-1], second[-1]) is not None else 2


def _context_verb(parsed: ParsedSentence, entities: Sequence[range | None], query_verb: int) -> int | NoQuery:
    """The verb over both options; where that is the pronoun's own, a verb over one of them."""
    heads = [_head(parsed, place) for place in entities if place is not None]
    verb = common_predicate(parsed, heads[0], heads[-1]) if len(heads) == 2 else None
    # of options in different sentences the later one is nearer to the pronoun
    verbs = [verb, *(governor(parsed, head) for head in sorted(heads, reverse=True))]
    if not any(verb is not None for verb in verbs):
        return NoQuery(NO_CONTEXT_PREDICATE)
    query = top_of_chain(parsed, query_verb)
    chosen = (v for v in verbs if v is not None and top_of_chain(parsed, v) != query)
    return next(chosen, NoQuery(ONE_PREDICATE))


def _head(parsed: ParsedSentence, place: range) -> int:
    return next((t for t in place if parsed.heads[t] not in place), place[-1])


def _assemble(
    parsed: ParsedSentence,
    place: Sequence[int],
    pronoun: str,
    entities: Sequence[range | None],
    context_verb: int,
    query_verb: int,
) -> PartialParse | NoQuery:
    arguments = {t for span in entities if span is not None for t in span}
    context_top, query_top = (top_of_chain(parsed, verb) for verb in (context_verb, query_verb))
    context = predicate(parsed, context_top, arguments | set(place))
    query = predicate(parsed, query_top, arguments | set(place))
    # a predicate of both clauses is the context's: the phrase has each word once
    query = [t for t in query if t not in context] or query
    pred_c, gaps_c = words_of(parsed, context)
    pred_q, gaps_q = words_of(parsed, query)
    if not pred_c or not pred_q:
        return NoQuery(NO_QUERY_PREDICATE if pred_c else NO_CONTEXT_PREDICATE)
    connective = connective_tokens(parsed, context_top, query_top)
    query_clause, context_clause = _clauses(parsed, query_top, context_top, connective)
    shown = {place[0]: pronoun} | dict.fromkeys(place[1:], "")
    spans = [span for span in entities if span is not None]
    return PartialParse(
        context_clause=clause_text(parsed, context_clause, shown),
        query_clause=clause_text(parsed, query_clause, shown),
        pred_c=pred_c,
        pred_q=pred_q,
        gaps_c=gaps_c,
        gaps_q=gaps_q,
        e1=_entity_text(parsed, entities[0]),
        e2=_entity_text(parsed, entities[1]),
        pronoun=pronoun,
        connective=" ".join(parsed.words[t].lower() for t in connective),
        content_words=content_tokens(parsed, spans, {*context, *query, *place, *connective}),
        query_first=query[0] < context[0],
    )


def _clauses(
    parsed: ParsedSentence, query_top: int, context_top: int, connective: Collection[int]
) -> tuple[list[int], list[int]]:
    """The tokens of query and context clause: a clause that stands inside the other one is cut out of it."""
    query, context = set(parsed.subtree(query_top)), set(parsed.subtree(context_top))
    if context_top in query:
        query -= set(parsed.subtree(path_below(parsed, context_top, query_top)))
    else:
        context -= query
    return sorted(query - set(connective)), sorted(context - set(connective))


def _entity_text(parsed: ParsedSentence, place: range | None) -> str:
    if place is None:
        return ""
    start = place[0]
    if start and parsed.labels[start - 1] in ("det", "poss") and parsed.heads[start - 1] in place:
        start -= 1
    return parsed.span_text(start, place[-1] + 1)
