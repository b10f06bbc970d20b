"""Predicates in a dependency parse: which verb governs a word, and which words are its predicate.

A predicate is the verb with its auxiliaries, negation, particles and the adverbs between them; with an
infinitive or participle that follows at once ("tried to call"); with a predicative adjective and its degree
("is too large") or noun ("was a bad guy"); and with the preposition that leads to an option or the pronoun
("fit into", "was covered by"). Objects are no part of it: they are content words. Labels are those of
spaCy's English pipelines (ClearNLP).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from benchwright.text.parsing import ParsedSentence

from .base import word_set

_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj", "csubjpass", "expl"))
_AUXILIARIES = frozenset(("aux", "auxpass", "neg"))
# a verb's form with one of these labels is a part of another word's phrase
_NO_CLAUSE = frozenset(("aux", "auxpass", "amod", "compound", "det", "case"))
# parsers take one for the other; what has a subject or a subordinator of its own is a clause
_OPEN_COMPLEMENTS = frozenset(("xcomp", "ccomp", "advcl"))
_ADJECTIVES = frozenset(("acomp", "oprd"))
_PREPOSITIONS = frozenset(("prep", "agent", "dative"))
_PREPOSITION_TAGS = ("IN", "TO", "RP")
_PARTICLES = word_set("along apart around away back down in off on out over together up")
_DEGREES = word_set("as enough how less more much quite rather really so that too very")
_TERM = re.compile(r"\w+")


def is_predicate(parsed: ParsedSentence, token: int) -> bool:
    """Whether a token heads a clause: a verb that is no auxiliary, or anything with a subject."""
    if parsed.labels[token] in _NO_CLAUSE:
        return False
    if parsed.tags[token].startswith("VB") or parsed.tags[token] == "MD":
        return True
    return any(parsed.labels[child] in _SUBJECTS for child in parsed.children(token))


def governor(parsed: ParsedSentence, token: int) -> int | None:
    """The nearest predicate above a token; None where a fragment has none."""
    return next((above for above in parsed.ancestors(token) if is_predicate(parsed, above)), None)


def common_predicate(parsed: ParsedSentence, first: int, second: int) -> int | None:
    """The lowest predicate that is, or stands above, both tokens; None in different sentences."""
    above = [first, *parsed.ancestors(first)]
    meeting = next((t for t in (second, *parsed.ancestors(second)) if t in above), None)
    if meeting is None:
        return None
    return meeting if is_predicate(parsed, meeting) else governor(parsed, meeting)


def top_of_chain(parsed: ParsedSentence, verb: int) -> int:
    """The verb that a chain of infinitives begins with: `had` for `feed` in "had to feed"."""
    top = verb
    while True:
        above = parsed.heads[top]
        if parsed.labels[above] in _ADJECTIVES:
            above = parsed.heads[above]
        if above == top or not is_predicate(parsed, above) or verb not in predicate(parsed, above, ()):
            return top
        top = above


def predicate(parsed: ParsedSentence, verb: int, arguments: Collection[int]) -> list[int]:
    """The tokens of a verb's predicate, in order of the text.

    `arguments`: the tokens of options and pronoun; they are never in it, and prepositions lead to them.
    """
    chosen = _verb_group(parsed, verb, arguments)
    _add_preposition(parsed, chosen, arguments)
    between = set(range(min(chosen), max(chosen))) - set(arguments)
    for token in sorted(between - chosen):
        if parsed.tags[token].startswith("RB") and parsed.heads[token] in chosen:
            chosen.update(between.intersection(parsed.subtree(token)))
    tokens = sorted(chosen)
    # "I want to keep it dry", "stopped to rest": a chain's own `to` says nothing of it
    return tokens[1:] if parsed.tags[tokens[0]] == "TO" and len(tokens) > 1 else tokens


def _verb_group(parsed: ParsedSentence, verb: int, arguments: Collection[int]) -> set[int]:
    below = parsed.children(verb)
    chosen = {verb, *(t for t in below if parsed.labels[t] in _AUXILIARIES or _is_particle(parsed, t))}
    for child in below:
        if child < verb or child in arguments:
            continue
        phrase = _up_to_head(parsed, child, verb)
        label = parsed.labels[child]
        if label in _ADJECTIVES or (label == "advmod" and _is_complement(parsed, child, phrase, max(chosen))):
            chosen.update(phrase)
            chosen.update(_open_complements(parsed, child, max(chosen), arguments))
        elif label == "attr" and not set(phrase) & set(arguments):
            chosen.update(phrase)
    chosen.update(_open_complements(parsed, verb, max(chosen), arguments))
    return chosen


def _is_subordinator(parsed: ParsedSentence, token: int) -> bool:
    return parsed.labels[token] == "mark" or parsed.tags[token] in ("WRB", "WP", "WDT")


def _is_particle(parsed: ParsedSentence, token: int) -> bool:
    """Parsers take some prepositions for particles: what has an object is none."""
    return parsed.labels[token] == "prt" and not parsed.children(token)


def _is_complement(parsed: ParsedSentence, adverb: int, phrase: list[int], last: int) -> bool:
    """An adverb right after its verb that belongs to it: "was over", "got back", "went so fast"."""
    if phrase[0] != last + 1:
        return False
    if parsed.lemmas[parsed.heads[adverb]] == "be" or parsed.words[adverb].lower() in _PARTICLES:
        return True
    return any(parsed.words[t].lower() in _DEGREES for t in phrase[:-1])


def _open_complements(
    parsed: ParsedSentence, head: int, last: int, arguments: Collection[int]
) -> Iterator[int]:
    """Predicates of infinitives and participles without a subject that begin right after token `last`."""
    for child in parsed.children(head):
        if parsed.labels[child] not in _OPEN_COMPLEMENTS or child <= head:
            continue
        below = parsed.children(child)
        if any(parsed.labels[t] in _SUBJECTS or _is_subordinator(parsed, t) for t in below):
            continue
        group = _verb_group(parsed, child, arguments)
        begin = min(t for t in group if t > head)
        if all(parsed.tags[t].startswith("RB") for t in range(last + 1, begin)):
            yield from (t for t in group if t > head)


def _up_to_head(parsed: ParsedSentence, token: int, after: int) -> list[int]:
    """A phrase up to its head word, as far as it stands after token `after`."""
    inside = set(parsed.subtree(token))
    begin = token
    while begin - 1 in inside and begin - 1 > after:
        begin -= 1
    return [t for t in range(begin, token + 1) if parsed.tags[t] not in ("WP", "WDT", ",")]


def _add_preposition(parsed: ParsedSentence, chosen: set[int], arguments: Collection[int]) -> None:
    """The prepositions right after the predicate that lead to an argument, or to nothing (stranded)."""
    targets = set(arguments)
    while True:
        following = max(chosen) + 1
        if following >= len(parsed) or parsed.labels[following] not in _PREPOSITIONS:
            return
        below = set(parsed.subtree(following)) - {following}
        leads = not below or bool(below & targets)
        if (
            parsed.tags[following] not in ("IN", "TO", "RP")
            or parsed.heads[following] not in chosen
            or not leads
        ):
            return
        chosen.add(following)


def words_of(parsed: ParsedSentence, tokens: Sequence[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The written words of tokens (contractions are one word) and the distances from each to the next.

    A distance is 1 for neighbours, and never less than what the analyzer of an index counts in this text.
    """
    words: list[str] = []
    borders: list[tuple[int, int]] = []
    for token in tokens:
        start, end = parsed.offsets[token], parsed.end(token)
        if borders and borders[-1][1] == start:
            words[-1] += parsed.words[token]
            borders[-1] = (borders[-1][0], end)
        else:
            words.append(parsed.words[token])
            borders.append((start, end))
    kept = [i for i, word in enumerate(words) if _TERM.search(word)]
    between = (parsed.text[borders[i][1] : borders[j][0]] for i, j in pairwise(kept))
    return tuple(words[i] for i in kept), tuple(len(_TERM.findall(gap)) + 1 for gap in between)
