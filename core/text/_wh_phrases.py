"""The wh-phrase of a question: its kind, its extent, and how an answer stands for it."""

from __future__ import annotations

from typing import NamedTuple

from ._clauses import finite_before, main_auxiliary
from ._questions import Question
from ._verbs import base_form, is_known_verb, is_past_tense
from ._word_sets import (
    AUXILIARIES,
    CAUSING,
    DO,
    FINITE,
    GROUPS,
    MEASURES,
    NAMING_NOUNS,
    NO_BOUNDARY,
    NOMINAL,
    PREPOSITIONS,
    SHARES,
    SORTS,
    SUBORDINATORS,
    TIME_IN,
    TIME_ON,
)

_FREQUENCIES = frozenset(["sometimes", "often", "always", "never", "also", "still", "now", "once"])
_OPEN_OBJECT = frozenset(["the", "a", "an"])
_OPENS_COMPLEMENT = NOMINAL | {"DT", "JJ", "PRP$", "IN", "TO"}


class WhPhrase(NamedTuple):
    kind: str  # who, what, which, whose, where, when, why, how, count, measure
    end: int
    head: str = ""
    slot: str = "noun"
    noun: str = ""
    preposition: str = ""

    @property
    def naming(self) -> str:
        """ "the name" for "which name": what stays before an answer that is one, else ""."""
        return f"the {self.noun}" if self.slot == "which" and self.head in NAMING_NOUNS else ""


def wh_phrase(q: Question, start: int, *, stop_early: bool = False) -> WhPhrase:
    low = q.lows[start]
    after = q.low(start + 1)
    if low in ("who", "whom"):
        return WhPhrase("who", start + (2 if after == "else" else 1))
    if low == "where" and after in ("in", "on", "at", "near", "within"):
        end = main_auxiliary(q, start + 1)
        if end is not None:
            return WhPhrase(low, end, slot="place", noun=q.text(start + 1, end))
    if low in ("where", "when", "why"):
        return WhPhrase(low, start + 1, slot={"where": "place", "when": "time", "why": "reason"}[low])
    if low == "how":
        return _how_phrase(q, start, after)
    if low == "what" and (after in AUXILIARIES or after == "else" or start + 1 >= len(q)):
        return WhPhrase("what", start + (2 if after == "else" else 1))
    if low == "what" and not stop_early and _is_adverb_of_verb(q, start + 1):
        return WhPhrase("what", start + 1)
    if stop_early and low == "what" and after in (PREPOSITIONS | SUBORDINATORS) - {"of"}:
        # "described it as what during the war"
        return WhPhrase("what", start + 1)
    end = noun_phrase_end(q, start + 1, stop_early=stop_early)
    if after == "of":
        while end < len(q) and q.lows[end] in PREPOSITIONS:
            end = noun_phrase_end(q, end + 1, stop_early=stop_early)
    if low == "whose":
        return WhPhrase("whose", start + 1, slot="possessive")
    owners = (i for i in range(start + 1, end) if q.lows[i].endswith("'s") and q.lows[i] not in GROUPS)
    owner = next((i + 1 for i in owners if i + 1 < len(q)), None)
    if owner is not None and after != "of" and after not in SHARES and (q.tag(owner) in NOMINAL | {"JJ"}):
        return WhPhrase("whose", owner, slot="possessive")
    if end == start + 1:
        return WhPhrase("what", end)
    head = _head(q, start + 1, end)
    of = next((i for i in range(start + 1, end) if q.lows[i] == "of"), end)
    first = q.lows[of - 1]
    noun = q.text(of, end) if first in SHARES and of < end else ""
    preposition = "in" if head in TIME_IN else "on" if head in TIME_ON else "at" if head == "time" else ""
    if first in SORTS:
        named = q.text(of + 1, end) if of < end else ""
        return WhPhrase("which", end, "kind", "sort", named)
    if first.removesuffix("s") in ("color", "colour"):
        head = first.removesuffix("s")
    if q.low(start + 1) in ("color", "colour") and end > start + 2:
        return WhPhrase("which", end, head, "sort", q.text(start + 2, end))
    if noun or preposition or after == "of":
        return WhPhrase("which", end, head, "share" if noun else "noun", noun, preposition)
    return WhPhrase("which", end, head, "which", q.text(start + 1, end))


def _is_adverb_of_verb(q: Question, i: int) -> bool:
    """Whether an adverb after "what" is the verb's ("what usually comes"), no adjective's."""
    if q.tag(i) != "RB" or not (q.lows[i] in _FREQUENCIES or q.lows[i].endswith("ly")):
        return False
    participle = q.tag(i + 1) in ("VBN", "VBD") and q.tag(i + 2) in ("NN", "NNS")
    return q.tag(i + 1) != "JJ" and not (participle and finite_before(q.part(i + 2), len(q) - i - 2))


def _head(q: Question, start: int, end: int) -> str:
    of = next((i for i in range(start, end) if q.lows[i] in PREPOSITIONS), end)
    return q.lows[of - 1]


def _how_phrase(q: Question, start: int, after: str) -> WhPhrase:
    if after in ("many", "much"):
        end = noun_phrase_end(q, start + 2)
        return WhPhrase("count", end, q.low(end - 1), "count", q.text(start + 2, end))
    if (q.tag(start + 1) in ("JJ", "RB", "RP", "IN") and after not in AUXILIARIES) or after in MEASURES:
        slot = "measure" if after in MEASURES else "noun"
        return WhPhrase("measure", start + 2, after, slot, after if after in MEASURES else "")
    return WhPhrase("how", start + 1, slot="manner")


def noun_phrase_end(q: Question, start: int, *, stop_early: bool = False) -> int:
    """The end of the noun phrase at `start`: a verb, a preposition but "of", a comma or a clause."""
    if _is_only_verb(q, start):
        return start
    for i in range(start, len(q)):
        if i > start and q.commas[i - 1] and not (q.tags[i - 1] == "JJ" and q.tags[i] in ("JJ", "NN")):
            return i
        if (
            i > start + 1
            and not stop_early
            and q.lows[i] in _OPEN_OBJECT
            and q.lows[i - 1] not in NO_BOUNDARY
        ):
            # "which avenues traverse the campus"; an article after another noun is in no phrase
            return i - 1 if _takes_object(q, i - 1) else len(q)
        if q.lows[i] != "born" and _ends_noun_phrase(q, start, i, stop_early):
            if q.lows[i] in PREPOSITIONS and not finite_before(q.part(i + 1), len(q) - i - 1):
                # "which Bulgarian beat Andy Murray in ...": no verb is left but one inside
                inside = next((k for k in range(start + 1, i) if _may_be_finite(q, k)), i)
                return (
                    i - 1
                    if inside == i and not stop_early and _may_be_third_person(q, start, i - 1)
                    else inside
                )
            return i
    return next((k for k in range(start + 1, len(q)) if _may_be_finite(q, k)), max(start, len(q)))


def _ends_noun_phrase(q: Question, start: int, i: int, stop_early: bool) -> bool:
    low, tag, inside = q.lows[i], q.tags[i], i > start
    if low in AUXILIARIES:
        return not (low in ("may", "might", "will") and tag in NOMINAL)
    if tag in FINITE:
        modifier = stop_early and not inside and tag == "VBD" and q.tag(i + 1) in ("NN", "NNS")
        return not (modifier or _is_mistagged_noun(q, start, i))
    if not inside:
        return tag == "VBG" and q.tag(i + 1) in ("PRP$", "DT")
    if q.is_relative(i) or (low in PREPOSITIONS and low != "of" and tag not in NOMINAL):
        return True
    if tag == "NNS":
        return _is_third_person(q, i)
    if not (q.is_nominal(i - 1) or (i - 1 == start and _is_mistagged_noun(q, start, start))):
        return False
    if tag == "VBG" and q.tag(i + 1) in ("NNP", "DT") and q.words[i].islower():
        return True
    return tag in ("RB", "TO", "VB") or (tag in ("VBN", "VBG") and (stop_early or not _nominal_next(q, i)))


def _is_mistagged_noun(q: Question, start: int, i: int) -> bool:
    """Whether a word of a wh-phrase has the tag of a finite verb and cannot be one."""
    low, tag = q.lows[i], q.tags[i]
    if tag == "VBD" and not is_past_tense(low):
        return True
    if tag == "VBZ" and q.low(i + 1) in AUXILIARIES:
        return True
    if i > start:
        return False
    governs = q.low(i + 2) in _OPEN_OBJECT or q.tag(i + 1) in ("VB", "VBP")
    if tag == "VBZ" and governs and is_known_verb(q.low(i + 1)):
        return base_form(low) not in CAUSING  # "which clubs visit the campus"
    if tag == "VBZ":
        later = i + 2 if q.tag(i + 1) == "RB" else i + 1
        return q.tag(later) in ("VBD", "VBN") or q.low(i + 1) == "of"
    return (tag == "VBP" and not is_known_verb(low)) or _is_modifier_of_noun(q, i)


def _is_third_person(q: Question, i: int) -> bool:
    """Whether what the tagger took for a plural is the verb: no other verb follows, and an object does."""
    base = base_form(q.lows[i])
    if base is None or not is_known_verb(base) or q.tag(i + 1) not in _OPENS_COMPLEMENT:
        return False
    named = q.tags[i - 1] in ("NN", "NNP") or _is_mistagged_noun(q, i - 1, i - 1)
    return named and not finite_before(q.part(i + 1), len(q) - i - 1)


def _takes_object(q: Question, i: int) -> bool:
    """Whether the word before an article can be a verb."""
    low = q.lows[i]
    return q.tags[i][:2] == "VB" or is_known_verb(low) or is_known_verb(base_form(low) or "")


def _may_be_third_person(q: Question, start: int, i: int) -> bool:
    """Whether a plural after a singular can be the only verb ("what kind of rain evaporates before ...")."""
    base = base_form(q.lows[i]) or ""
    return (
        i > start
        and q.tags[i] == "NNS"
        and q.tags[i - 1] in ("NN", "NNP")
        and q.lows[start - 1] != "many"
        and (is_known_verb(base) or base.endswith(("ate", "ize", "ify")))
    )


def _is_only_verb(q: Question, i: int) -> bool:
    """Whether "what" stands before a third person taken for a plural ("What affects poor countries")."""
    base = base_form(q.low(i))
    if base is None or q.tag(i) != "NNS" or not is_known_verb(base):
        return False
    opens = q.tag(i + 1) in ("DT", "JJ", "NNS", "PRP$", "NNP")
    return (
        opens
        and not any(_may_be_finite(q, k) or q.tags[k] == "VBP" for k in range(i + 1, len(q)))
        and not (finite_before(q.part(i + 1), len(q) - i - 1))
    )


def _is_modifier_of_noun(q: Question, i: int) -> bool:
    """Whether a past tense after "what" is a participle before its noun ("what armed group stopped ...")."""
    if q.tags[i] != "VBD" or q.tag(i + 1) not in ("NN", "NNS", "JJ"):
        return False
    return any(q.tag(k) in FINITE or q.low(k) in DO for k in (i + 2, i + 3))


def _may_be_finite(q: Question, i: int) -> bool:
    """Whether a word can be the finite verb that the tagger took for something else."""
    if is_past_tense(q.lows[i]):
        return q.tags[i] in ("VBN", "VBD", "JJ", "VB", "NN", "VBP", "NNP") and q.words[i][:1].islower()
    return q.tags[i] == "NNS" and q.tag(i + 1) in ("NNP", "DT", "JJ", "PRP$", "CD", "PRP")


def _nominal_next(q: Question, i: int) -> bool:
    return i + 1 < len(q) and q.tags[i + 1] in ("NN", "NNS", "NNP")
