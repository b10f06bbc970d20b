"""Frames of statements, and where in a clause the slot for the answer is."""

from __future__ import annotations

from typing import NamedTuple

from ._clauses import adjunct_place, is_participle, stranded
from ._questions import Question
from ._verbs import is_known_verb
from ._wh_phrases import WhPhrase
from ._word_sets import (
    AUXILIARIES,
    BE,
    CONTROL,
    COPULAR,
    DETERMINERS,
    DO,
    FINITE,
    GIVING,
    HAVE,
    INTRANSITIVE,
    NOMINAL,
    PLACE_PREPOSITIONS,
    PLACES,
    PREPOSITIONS,
    RELATIVE,
    SAYING,
    SUBORDINATORS,
    TIME_IN,
    TIME_ON,
    TIME_PREPOSITIONS,
)


class Frame(NamedTuple):
    """`before` + answer + `after`, without a final full stop. `slot` names how the answer is fitted in.

    `noun`: the counted noun or the measuring adjective, or the "of" phrase of a share.
    `lost`: the question's words that stand nowhere in it.
    """

    rule: str
    before: str
    after: str
    slot: str = "noun"
    noun: str = ""
    lost: tuple[str, ...] = ()


class YesNo(NamedTuple):
    """A yes/no question's two statements."""

    yes: str
    no: str
    lost: tuple[str, ...] = ()


def with_gap(
    q: Question, verb: int, head: str, phrase: WhPhrase, kind: str, lost: tuple[str, ...] = ()
) -> Frame | str:
    """Put the slot where the wh-phrase would stand after `verb`; a comma before it goes behind it."""
    while q.lows[verb] in ("be", "been", "have", "being") and verb + 1 < len(q):
        if not (is_participle(q, verb + 1) or q.lows[verb + 1] == "been"):
            break
        verb += 1
        head = f"{head} {q.words[verb]}"
    if q.lows[verb] == "be" and q.tag(verb + 1) in ("VB", "VBP") and not is_participle(q, verb + 1):
        return "no_participle"
    made = _gap(q, verb, head, phrase, kind, lost)
    if made.before.endswith(",") and made.after and made.slot != "doing":
        return made._replace(before=made.before[:-1], after=f", {made.after}")
    return made


def _gap(q: Question, verb: int, head: str, phrase: WhPhrase, kind: str, lost: tuple[str, ...]) -> Frame:
    hanging = _hanging(q, verb, phrase, kind)
    if hanging is not None:
        slot = "noun" if phrase.slot in ("place", "time") else phrase.slot
        before = f"{head} {q.text(verb + 1, hanging + 1)}"
        if q.lows[verb] == "referred" and q.lows[hanging] == "to" and hanging + 1 == len(q):
            before += " as"
        if phrase.naming:
            return Frame("stranded", f"{before} {phrase.naming}", q.text(hanging + 1), "noun", "", lost)
        return Frame("stranded", before, q.text(hanging + 1), slot, phrase.noun, lost)
    if kind == "what":
        made = _action(q, verb, head, lost)
        if made is not None:
            return made
    if kind in ("what", "who", "which", "count") and not phrase.preposition:
        return _object(q, verb, head, phrase, kind, lost)
    if kind == "measure":
        return _measured(q, verb, head, phrase, lost)
    if kind == "how" and q.lows[verb] == "describe":
        place = adjunct_place(q, verb, before_time=True)
        return Frame("describe", f"{_joined(head, q, verb, place)} as", q.text(place), "noun", "", lost)
    if kind == "how" and q.lows[verb] in COPULAR and q.tag(verb + 1) not in ("JJ", "NN", "DT", "VBN"):
        return Frame("complement", head, q.text(verb + 1), "noun", "", lost)
    return _adverbial(q, verb, head, phrase, kind, lost)


def _hanging(q: Question, verb: int, phrase: WhPhrase, kind: str) -> int | None:
    """The preposition that the wh-phrase belongs to; no particle, and none of an adverbial's own clause."""
    if kind in ("why", "how", "adjunct", "time", "other") or (kind == "place" and phrase.preposition):
        return None
    hanging = stranded(q, verb)
    if hanging is None:
        return None
    low = q.lows[hanging]
    if kind == "which" and phrase.preposition and low not in TIME_PREPOSITIONS | {"to"}:
        return None
    if kind == "where" and low not in PLACE_PREPOSITIONS:
        return None
    return hanging


def _joined(head: str, q: Question, verb: int, end: int) -> str:
    return f"{head} {q.text(verb + 1, end)}".strip()


def _action(q: Question, verb: int, head: str, lost: tuple[str, ...]) -> Frame | None:
    """ "What did X do", "what is X doing", "what does X want to do": the answer may be a verb phrase."""
    if q.lows[verb] == "do" and q.lows[0] not in HAVE:
        return _doing(q, verb, head, lost)
    if q.lows[verb] == "doing":
        without = head.rpartition(" ")[0]
        return Frame("doing", head, q.text(verb + 1), "doing", f"{without}||do", (*lost, "doing"))
    for i in range(verb + 1, len(q) - 1):
        if q.lows[i] == "to" and q.lows[i + 1] == "do":
            if not _ends_verb_phrase(q, i + 2):
                return None
            before = _joined(head, q, verb, i + 1)
            with_verb = f"{before} {q.words[i + 1]}"
            return Frame("doing", with_verb, q.text(i + 2), "doing", f"{before}||do", (*lost, "do"))
    return None


def _object(q: Question, verb: int, head: str, phrase: WhPhrase, kind: str, lost: tuple[str, ...]) -> Frame:
    low = q.lows[verb]
    intransitive = low != "play" and (low in INTRANSITIVE or q.lows[0] in BE)
    if phrase.head in PLACES and intransitive and _no_object(q, verb):
        place = adjunct_place(q, verb, before_time=True)
        return Frame("place", _joined(head, q, verb, place), q.text(place), "place", "", lost)
    place = _object_place(q, verb, kind)
    if phrase.naming and low in GIVING:
        before = f"{_joined(head, q, verb, place)} {phrase.naming}"
        return Frame("object", before, q.text(place), "noun", "", lost)
    return Frame("object", _joined(head, q, verb, place), q.text(place), phrase.slot, phrase.noun, lost)


def _adverbial(
    q: Question, verb: int, head: str, phrase: WhPhrase, kind: str, lost: tuple[str, ...]
) -> Frame:
    place = adjunct_place(q, verb, before_time=kind in ("where", "how"))
    before, after = _joined(head, q, verb, place), q.text(place)
    slot, noun, preposition = phrase.slot, phrase.noun, phrase.preposition
    if not preposition:
        return Frame("adverbial", before, after, _moving(slot, q.lows[verb]), noun, lost)
    if phrase.head in TIME_IN | TIME_ON | {"time"} and not noun:
        # only "in", "on" and "at" follow from the answer; "by", "since" and the like stay
        slot, noun = "dated" if preposition in ("in", "on", "at") else "which", phrase.head
    return Frame("adverbial", f"{before} {preposition}", after, slot, noun, lost)


def _ends_verb_phrase(q: Question, i: int) -> bool:
    return i >= len(q) or q.lows[i] in PREPOSITIONS | SUBORDINATORS | {"next", "now"} or q.tags[i] == "RB"


def _moving(slot: str, verb: str) -> str:
    moves = "go move travel sail flee return emigrate send migrate head retreat relocate come bring lead"
    return "goal" if slot == "place" and verb in moves.split() else slot


def _no_object(q: Question, verb: int) -> bool:
    after = verb + 1
    return (
        after >= len(q)
        or q.lows[after] in PREPOSITIONS
        or q.tags[after] in ("RB", "RP")
        or q.lows[after]
        in (
            "place",
            "part",
        )
    )


def _doing(q: Question, verb: int, head: str, lost: tuple[str, ...]) -> Frame:
    """ "What did X do": the answer is a verb phrase, or the object of "do"."""
    end = verb + 1
    auxiliary = q.words[0].lower() if q.lows[0] in DO else ""
    subject = q.text(1, verb)
    if auxiliary and subject.endswith(" not"):
        subject, auxiliary = subject.removesuffix(" not"), f"{auxiliary} not"
    noun = f"{subject}|{auxiliary}|{q.lows[verb]}"
    return Frame("doing", head, q.text(end), "doing", noun, lost)


def _object_place(q: Question, verb: int, kind: str) -> int:
    """Where the object's gap is."""
    after = verb + 1
    if after >= len(q):
        return after
    low = q.lows[verb]
    if q.lows[after] == "that" and q.tag(after + 1) in FINITE:
        return after
    if low == "take" and q.lows[after] == "to":
        return after
    if q.lows[after] == "to" and q.tag(after + 1) == "VB":
        inner = after + 1
        if (
            inner + 1 >= len(q)
            or q.lows[inner + 1] in PREPOSITIONS | SUBORDINATORS | RELATIVE
            or q.tags[inner + 1] in ("RB", "TO")
        ):
            return _object_place(q, inner, kind)
        return after
    if q.tags[after] == "RP" and q.lows[after] in PREPOSITIONS and q.tag(after + 1) not in NOMINAL | {"DT"}:
        return after + 1
    if q.tags[after] in FINITE or q.lows[after] in AUXILIARIES:
        return after
    opens = q.tags[after] in NOMINAL | {"DT", "PRP", "PRP$", "JJ"} or q.lows[after] in DETERMINERS
    if not opens or q.lows[after] in PREPOSITIONS:
        return after
    if low in SAYING:
        inner_verb = next(
            (i for i in range(after + 1, len(q)) if q.tags[i] in FINITE or q.lows[i] in AUXILIARIES), None
        )
        while inner_verb is not None and q.lows[inner_verb] in AUXILIARIES and inner_verb + 1 < len(q):
            if not (
                q.tags[inner_verb + 1] in ("VB", "RB", "VBN", "VBG") or is_known_verb(q.lows[inner_verb + 1])
            ):
                break
            inner_verb += 1
        return len(q) if inner_verb is None else _object_place(q, inner_verb, kind)
    for i in range(after, len(q)):
        if low in CONTROL and q.lows[i] == "to" and q.tag(i + 1) == "VB":
            return _object_place(q, i + 1, kind)
        if q.lows[i] in SUBORDINATORS or (i > after and q.lows[i] in PREPOSITIONS and q.lows[i] != "of"):
            return i
        if q.commas[i]:
            return i + 1
    return len(q)


def _measured(q: Question, verb: int, head: str, phrase: WhPhrase, lost: tuple[str, ...]) -> Frame:
    word = phrase.head
    if word in ("often", "frequently", "well", "quickly", "fast", "soon", "early", "late"):
        place = adjunct_place(q, verb, before_time=False)
        return Frame(
            "adverbial", f"{head} {q.text(verb + 1, place)}".strip(), q.text(place), "noun", "", lost
        )
    passive = q.lows[verb] == "be" and q.tag(verb + 1) in ("VBN", "VBD")
    if word == "long" and (passive or q.lows[verb] not in ("last", "take", "be", "spend", "wait")):
        place = adjunct_place(q, verb, before_time=False)
        return Frame(
            "duration",
            f"{head} {q.text(verb + 1, place)}".strip(),
            q.text(place),
            "duration",
            "",
            (*lost, "long"),
        )
    if word == "long":
        place = verb + 1
        if place < len(q) and q.tags[place] in ("PRP",):
            place += 1
        before = f"{head} {q.text(verb + 1, place)}".strip()
        return Frame("measure", before, q.text(place), "noun", "", (*lost, "long"))
    return Frame("measure", head, q.text(verb + 1), phrase.slot, phrase.noun, lost)
