"""Stages 2 and 3 of mining: noun phrases by part-of-speech tags, and sentences that are too easy or lists."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..base import Method
from .words import CONNECTIVES

TOO_MANY_PHRASES = "more than 5 noun phrases"
NO_CONNECTIVE = "no connective outside noun phrases"
TOO_MANY_CONNECTIVES = "more than 2 connectives"
TOO_FEW_PHRASES = "fewer than 2 noun phrases before the connective"
REPEATED = "several noun phrases from before the connective stand after it too"
TOO_EASY = "a noun phrase from before the connective stands after it too"

_MOST_PHRASES = 5
_MOST_CONNECTIVES = 2
_DETERMINERS = ("DT", "JJ")
# One noun phrase over the tags of a sentence, each in angle brackets.
_PHRASE = r"(?:<DT>)?(?:<JJ>)*(?:<NN[^<>]*>)+"
_PUBLISHED = re.compile(_PHRASE + r"(?:<IN>)?(?:<DT>)?(?:<JJ>)*(?:<NN[^<>]*>)*")
_CORRECTED = re.compile(rf"{_PHRASE}(?:(?:<IN>|<CC>){_PHRASE})?")
_CONNECTIVES = frozenset(CONNECTIVES)
_FEW = {"men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot"}
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))


@dataclass(frozen=True)
class Chunked:
    """Noun phrases of a sentence as spans of tokens, and its connectives as tokens; both in order."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    phrases: tuple[tuple[int, int], ...]
    connectives: tuple[int, ...]


def chunk(words: Sequence[str], tags: Sequence[str], method: Method = "corrected") -> Chunked:
    """Divide a tagged sentence (Penn Treebank tags) into noun phrases and the rest.

    A noun phrase is a run of nouns with determiner and adjectives, perhaps with a second one joined by a
    preposition or a conjunction. In the published grammar the preposition stands there whether or not a noun
    follows, so `Melissa because` is a phrase and its connective is lost; and its rule for conjunctions comes
    to nothing. Corrected, the second phrase must be whole, and no connective joins.
    """
    tags = tuple(tags)
    if method == "corrected":
        # a connective is not seen as a preposition, nor as anything else that a phrase may hold
        tags = tuple("-" if word in _CONNECTIVES else tag for word, tag in zip(words, tags, strict=True))
    text = "".join(f"<{tag}>" for tag in tags)
    token_at = {start: token for token, start in enumerate(_starts(tags))}
    pattern = _PUBLISHED if method == "published" else _CORRECTED
    phrases = tuple((token_at[match.start()], token_at[match.end()]) for match in pattern.finditer(text))
    inside = {token for start, end in phrases for token in range(start, end)}
    connectives = tuple(i for i, word in enumerate(words) if word in _CONNECTIVES and i not in inside)
    return Chunked(tuple(words), tags, phrases, connectives)


def fault_of_phrases(sentence: Chunked) -> str | None:
    """Why a sentence is not parsed (stage 3); None if it is.

    Adjacent connectives count as one (`, but`). One of the connectives must have two noun phrases before it,
    of which none stands after it too: then the pronoun would be the other one. Phrases are compared by the
    singular of their words, without determiners and adjectives; one after the connective with an adjective
    only counts where some phrase before has the same determiners and adjectives.
    """
    if len(sentence.phrases) > _MOST_PHRASES:
        return TOO_MANY_PHRASES
    connectives = collapsed(sentence.connectives)
    if not connectives:
        return NO_CONNECTIVE
    if len(connectives) > _MOST_CONNECTIVES:
        return TOO_MANY_CONNECTIVES
    faults = [_fault_at(sentence, connective) for connective in connectives]
    return None if None in faults else faults[-1]


def collapsed(connectives: Sequence[int]) -> list[int]:
    """Connectives (tokens, in order) without those that follow another one directly.

    >>> collapsed([3, 4, 9])
    [3, 9]
    """
    return [token for before, token in itertools.pairwise([-2, *connectives]) if token != before + 1]


def _fault_at(sentence: Chunked, connective: int) -> str | None:
    before = {_key(sentence, span): span for span in sentence.phrases if span[0] < connective}
    if len(before) < 2:
        return TOO_FEW_PHRASES
    qualities = {_qualities(sentence, span) for span in before.values()}
    after = {
        _key(sentence, span)
        for span in sentence.phrases
        if span[0] > connective
        and ("JJ" not in sentence.tags[slice(*span)] or _qualities(sentence, span) in qualities)
    }
    again = after & before.keys()
    if again:
        return REPEATED if len(again) > 1 else TOO_EASY
    return None


def _key(sentence: Chunked, span: tuple[int, int]) -> str:
    """The words of a phrase in the singular, without determiners and adjectives."""
    return "_".join(
        singular(sentence.words[token]) for token in range(*span) if sentence.tags[token] not in _DETERMINERS
    )


def _qualities(sentence: Chunked, span: tuple[int, int]) -> str:
    """The determiners and adjectives of a phrase."""
    return "-".join(
        sentence.words[token] for token in range(*span) if sentence.tags[token] in _DETERMINERS
    ).lower()


def singular(word: str) -> str:
    """A noun without the ending of a plural, by rule; the published code asks WordNet, which is more exact.

    >>> [singular(word) for word in ("cities", "boxes", "dogs", "boss", "James", "women")]
    ['city', 'box', 'dog', 'boss', 'James', 'woman']
    """
    if word in _FEW:
        return _FEW[word]
    if not word.islower() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending):
            return word.removesuffix(ending) + replacement
    return word


def _starts(tags: Sequence[str]) -> list[int]:
    """Where each tag begins in the text of tags, and where that ends."""
    return list(itertools.accumulate((len(tag) + 2 for tag in tags), initial=0))
