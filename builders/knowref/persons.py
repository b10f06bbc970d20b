"""Stage 4 of mining: two persons before a connective and a pronoun after it, by parse and named entities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...text.parsing import ParsedSentence
from ..base import Method
from .chunking import collapsed
from .order import published_order
from .words import CONNECTIVES, GENDER_OF_PRONOUN, PRONOUNS, Gender

NO_CONNECTIVE = "parse: no connective outside noun phrases"
TOO_FEW_PHRASES = "parse: fewer than 2 noun phrases before the connective"
TOO_MANY_PHRASES = "parse: more than 2 noun phrases before the connective"
EARLY_PRONOUN = "parse: pronoun before the connective"
NO_PRONOUN = "parse: no pronoun"
NO_PERSON_PRONOUN = "parse: pronoun of things or of several persons"
NO_PERSONS = "parse: a candidate is not a person"
SEVERAL_PERSONS = "parse: a candidate is several persons"
# How far a sentence came: of one with several connectives the last of its faults in this order is told.
_FAULTS = (
    NO_CONNECTIVE,
    TOO_FEW_PHRASES,
    TOO_MANY_PHRASES,
    EARLY_PRONOUN,
    NO_PRONOUN,
    NO_PERSON_PRONOUN,
    NO_PERSONS,
    SEVERAL_PERSONS,
)
LOST_CHUNK = "parse: published code loses 1,000 sentences with one that has no usable connective"
UNUSABLE = frozenset(_FAULTS[: _FAULTS.index(NO_PERSON_PRONOUN)])
"""Faults at every one of which the published code stops with an error."""

_PERSON = "PERSON"
_CONNECTIVES, _PRONOUNS = frozenset(CONNECTIVES), frozenset(PRONOUNS)
# A noun with one of these labels is part of the phrase of its head.
_WITHIN = frozenset({"compound", "poss", "conj", "appos", "nmod", "nn", "flat", "nummod", "amod"})

Span = tuple[int, int]


class SentenceParser(Protocol):
    """What stage 4 needs of `benchwright.text.parsing.Parser`."""

    def parse(self, texts: Sequence[str], *, batch_size: int = 256) -> list[ParsedSentence]:
        """One parse per text."""
        ...

    def identity(self) -> dict[str, Any]:
        """Name and version of the pipeline."""
        ...


@dataclass(frozen=True)
class Problem:
    """A sentence about two persons, one of whom its pronoun refers to; nobody has said yet which one.

    `sentence` is tokenised, with single spaces; `persons` are the two candidates as spans of characters, in
    the order of their numbers; `pronoun` and `connective` begin at these characters.
    """

    sentence: str
    persons: tuple[Span, Span]
    pronoun: Span
    connective: Span

    @property
    def sha224(self) -> str:
        """The hash by which released data name the sentence."""
        return sentence_hash(self.sentence)

    @property
    def names(self) -> tuple[str, str]:
        return self.text(self.persons[0]), self.text(self.persons[1])

    @property
    def gender(self) -> Gender:
        return GENDER_OF_PRONOUN[self.text(self.pronoun)]

    def text(self, span: Span) -> str:
        return self.sentence[slice(*span)]

    def to_json(self) -> dict[str, Any]:
        """One line of `problems.jsonl`; the first fields are those of the published code's last file."""
        start, end = self.pronoun
        marked = f"{self.sentence[:start]}[{self.sentence[start:end]}]{self.sentence[end:]}"
        return {
            "original_sentence": self.sentence,
            "sentence_with_pronoun": marked,
            "candidate0": self.names[0],
            "candidate1": self.names[1],
            "candidate0_loc": list(self.persons[0]),
            "candidate1_loc": list(self.persons[1]),
            "pronoun": self.text(self.pronoun),
            "pronoun_loc": list(self.pronoun),
            "connective": self.text(self.connective),
            "connective_loc": list(self.connective),
            "gender": self.gender,
            "sentence_sha224": self.sha224,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Problem:
        """The problem of a line of `problems.jsonl`."""
        (a, b), (c, d) = record["candidate0_loc"], record["candidate1_loc"]
        pronoun, connective = record["pronoun_loc"], record["connective_loc"]
        return cls(
            sentence=record["original_sentence"],
            persons=((a, b), (c, d)),
            pronoun=(pronoun[0], pronoun[1]),
            connective=(connective[0], connective[1]),
        )


def sentence_hash(sentence: str) -> str:
    """SHA-224 of a tokenised sentence, 56 hexadecimal digits."""
    return hashlib.sha224(sentence.encode()).hexdigest()


@dataclass(frozen=True)
class _Phrases:
    """Noun phrases of a parse: `whole` ones, as wide as they go, and the `least`, which hold no other."""

    whole: tuple[Span, ...]

    def least_before(self, token: int) -> list[Span]:
        """Those that end before a token and hold no smaller one that does."""
        before = [span for span in self.whole if span[1] <= token]
        return [span for span in before if not any(_holds(span, other) for other in before)]

    def cover(self, token: int) -> bool:
        return any(start <= token < end for start, end in self.whole)


def find_problem(
    parsed: ParsedSentence, method: Method = "corrected", *, persons: bool = True
) -> Problem | str:
    """The pronoun problem of a parsed sentence, or the reason why it is none.

    For a connective outside noun phrases: exactly two noun phrases that hold no other stand before it and no
    pronoun does; the first pronoun of the sentence is he, she, her, his, hers or him; the last word of either
    phrase belongs to the name of a person. Corrected, the first connective for which all this holds is taken,
    neither phrase may be a coordination (`Kevin and Paul`), and candidate 0 is the one that is named first;
    published, the last connective with two phrases and a pronoun (persons or not) is taken, and the
    candidates have the order of `published_order`. Without `persons` the names need not be recognised: for
    sentences that are known to be problems.
    """
    phrases = noun_phrases(parsed)
    all_connectives = [i for i, word in enumerate(parsed.words) if word in _CONNECTIVES]
    connectives = [i for i in collapsed(all_connectives) if not phrases.cover(i)]
    pronouns = [i for i, word in enumerate(parsed.words) if word in _PRONOUNS]
    faults = [NO_CONNECTIVE]
    chosen: list[tuple[int, list[Span], str | None]] = []
    for connective in connectives:
        pair = phrases.least_before(connective)
        fault = _fault_of_shape(parsed, pair, connective, pronouns)
        if fault is None and persons:
            fault = _fault_of_persons(parsed, pair, method)
        if fault is None or (method == "published" and fault not in UNUSABLE):
            chosen.append((connective, pair, fault))
        if fault is not None:
            faults.append(fault)
    if not chosen:
        return max(faults, key=_FAULTS.index)
    connective, pair, fault = chosen[-1 if method == "published" else 0]
    if fault is not None:
        return fault
    if method == "published":
        order = published_order(phrases.whole)
        pair = sorted(pair, key=order.index)
    first, second = (_characters(parsed, span) for span in pair)
    return Problem(
        sentence=parsed.text,
        persons=(first, second),
        pronoun=_characters(parsed, (pronouns[0], pronouns[0] + 1)),
        connective=_characters(parsed, (connective, connective + 1)),
    )


def noun_phrases(parsed: ParsedSentence) -> _Phrases:
    """For every noun the widest phrase that it is part of without leaving noun phrases.

    In a dependency parse: from the noun up over compounds, possessors, conjuncts and appositions to the head
    of the phrase, then all that depends on it, without punctuation and particles at its ends.
    """
    spans = []
    for token, tag in enumerate(parsed.tags):
        if not tag.startswith("N"):
            continue
        head = token
        while (
            parsed.heads[head] != head
            and parsed.labels[head] in _WITHIN
            and parsed.tags[parsed.heads[head]].startswith("N")
        ):
            head = parsed.heads[head]
        spans.append(_extent(parsed, head))
    return _Phrases(tuple(dict.fromkeys(spans)))


def _extent(parsed: ParsedSentence, head: int) -> Span:
    tokens = parsed.subtree(head)
    left = right = tokens.index(head)
    while left and tokens[left - 1] == tokens[left] - 1:
        left -= 1
    while right + 1 < len(tokens) and tokens[right + 1] == tokens[right] + 1:
        right += 1
    while left < right and parsed.words[tokens[left]] in _CONNECTIVES | {"and", "both", "either"}:
        left += 1
    while left < right and not any(character.isalnum() for character in parsed.words[tokens[right]]):
        right -= 1
    return tokens[left], tokens[right] + 1


def _fault_of_shape(
    parsed: ParsedSentence, pair: Sequence[Span], connective: int, pronouns: Sequence[int]
) -> str | None:
    if len(pair) != 2:
        return TOO_FEW_PHRASES if len(pair) < 2 else TOO_MANY_PHRASES
    if not pronouns:
        return NO_PRONOUN
    if pronouns[0] < connective:
        return EARLY_PRONOUN
    if parsed.words[pronouns[0]] not in GENDER_OF_PRONOUN:
        return NO_PERSON_PRONOUN
    return None


def _fault_of_persons(parsed: ParsedSentence, pair: Sequence[Span], method: Method) -> str | None:
    if any(parsed.entities[end - 1] != _PERSON for _, end in pair):
        return NO_PERSONS
    joined = any("CC" in parsed.tags[start:end] for start, end in pair)
    return SEVERAL_PERSONS if joined and method == "corrected" else None


def _holds(outer: Span, inner: Span) -> bool:
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def _characters(parsed: ParsedSentence, span: Span) -> Span:
    return parsed.offsets[span[0]], parsed.end(span[1] - 1)


def lost_in_chunks(faults: Sequence[str | None], size: int = 1000) -> list[bool]:
    """Which sentences the published code loses because of another one: all of a chunk with an unusable one.

    `faults` are those of the sentences in order (None: a problem was found).

    >>> lost_in_chunks([None, NO_CONNECTIVE, None, NO_PERSONS], size=2)
    [True, True, False, False]
    """
    lost: list[bool] = []
    for start in range(0, len(faults), size):
        chunk = faults[start : start + size]
        lost += [any(fault in UNUSABLE for fault in chunk)] * len(chunk)
    return lost
