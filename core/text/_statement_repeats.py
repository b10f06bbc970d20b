"""What an answer repeats of its frame, which then stands once, or shows that the answer does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from ._answers import Answer
from ._word_sets import AUXILIARIES, FREE, PREPOSITIONS, REPEATABLE

_VERBAL = (("VBN",), ("VBD",), ("VBZ",), ("NNS",))
_FREED = frozenset(["in", "on", "at", "during", "among"])
_LONGEST_OVERLAP = 6


def without_repeated_verb(before: str, lead: str, answer: Answer) -> tuple[str, str]:
    """The frame without the verb that the answer opens with, and the lead that the answer then needs."""
    head, _, last = before.rpartition(" ")
    if head and last.lower() == answer.first and len(answer.words) > 1 and answer.tags[:1] in _VERBAL:
        return head, ""  # "is defined" + "defined as a loss"
    return before, lead


def without_preposition(before: str, lead: str, first: str) -> str:
    """Drop the frame's own preposition of time where the answer has or gets one."""
    head, _, given = before.rpartition(" ")
    return head if given in ("in", "on", "at") and (lead or first in PREPOSITIONS) else before


def without_repeated(before: str, first: str) -> str:
    """Drop the frame's last preposition where the answer brings its own ("in" + "in 1995")."""
    head, _, last = before.rpartition(" ")
    if last.lower() == first and first in REPEATABLE:
        return head
    if (last.lower(), first) == ("for", "to") or (first in FREE and last.lower() in _FREED):
        return head
    return before


def repeats_verb(after: str, answer: Answer) -> bool:
    """Whether an answer is the whole statement: it has the frame's verb ("Who made tea" + "Al made tea")."""
    if len(answer.words) < 4:
        return False
    verb = after.partition(" ")[0].lower()
    return verb not in AUXILIARIES and verb in answer.lows[1:]


def repeats_three(front: list[str], back: list[str], words: list[str]) -> bool:
    """Whether an answer has three words of the frame in a row: it is then a statement of its own."""
    said = set(_triples([word.strip(",;.") for word in words]))
    return not (said.isdisjoint(_triples(front)) and said.isdisjoint(_triples(back)))


def _triples(words: list[str]) -> Iterator[tuple[str, str, str]]:
    return zip(words, words[1:], words[2:], strict=False)


def without_overlap(front: list[str], back: list[str], lows: list[str]) -> tuple[list[str], list[str]]:
    """Drop from the frame what the answer repeats of it ("is a part of" + "a part of the crown")."""
    # At least one word of the answer stays, and one word alone is no overlap.
    longest = min(len(lows) - 1, _LONGEST_OVERLAP)
    if longest < 2:
        return front, back
    shared = _overlap([word.lower() for word in front[-longest:]], lows[:longest])
    if shared:
        front = front[:-shared]
    shared = _overlap(lows[-longest:], [word.lower() for word in back[:longest]])
    return front, back[shared:]


def _overlap(left: list[str], right: list[str]) -> int:
    """How many words, two or more, both end `left` and begin `right`; 0 where none do."""
    for size in range(min(len(left), len(right)), 1, -1):
        if left[-size:] == right[:size]:
            return size
    return 0
