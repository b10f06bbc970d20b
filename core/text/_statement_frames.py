"""Frames of statements: a question's words in declarative order, with a slot for the answer.

`frame` reads one question. Where no rule applies it gives a reason code instead of a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ._questions import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    FINITE,
    HAVE,
    MODALS,
    NOMINAL,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SUBORDINATORS,
    WH_WORDS,
    Question,
    adjunct_place,
    has_clear_verb,
    have_participle,
    inflected_verb,
    is_participle,
    main_verb,
    predicate_start,
    stranded,
)
from ._verbs import base_form, is_known_verb, is_past_participle, is_past_tense, past_tense, third_person

_IMPERATIVES = frozenset("give list describe explain identify tell complete state define choose select find".split())
_TIME_IN = frozenset("year years month decade century season era period age".split())
_TIME_ON = frozenset("day date days dates weekday".split())
_PLACES = frozenset(
    """city country state town county region continent area place province location village district island
    neighborhood neighbourhood capital borough nation stadium building room museum university school venue
    part parts cities countries states places areas regions""".split()
)
_INTRANSITIVE = frozenset(
    """happen occur live die originate begin start end take play compete grow work serve reside settle appear meet
    rule perform open arrive study""".split()
)
# "which KIND is X": the noun phrase after "be" is the subject
_KINDS = frozenset(
    """color colour kind type sort size shape nationality religion gender class category year day date language
    species form""".split()
)
# heads whose "of" phrase the answer does not repeat: "what percentage of farmland" + "half" -> "half of farmland"
_TAKE_PREPOSITION = frozenset(
    """reminiscent full aware fond proud capable indicative typical characteristic representative afraid critical
    similar close equal opposed dependent responsible famous compliant guilty""".split()
)
_GROUPS = frozenset("children's men's women's people's boys' girls' ladies' world's".split())
_SORTS = frozenset("kind kinds type types sort sorts".split())
_SHARES = frozenset("percentage percent share fraction proportion portion amount number half".split())
_NAMING = frozenset("call name consider term dub label nickname title deem".split())
_SAYING = frozenset("say think believe claim suggest argue feel assume assert hold propose conclude state".split())
_CONTROL = frozenset(
    """want ask tell allow force require encourage expect help cause persuade order like need teach advise urge invite
    enable lead permit get""".split()
)
_COPULAR = frozenset("feel look seem become sound smell taste get".split())
_MEASURES = frozenset("long tall high deep wide old thick".split())


@dataclass(frozen=True, slots=True)
class Frame:
    """`before` + answer + `after`, without a final full stop. `slot` names how the answer is fitted in.

    `noun`: the counted noun or the measuring adjective, or the "of" phrase of a share.
    `lost`: the words of the question that stand nowhere in the frame. `cased`: its first word is the question's.
    """

    rule: str
    before: str
    after: str
    slot: str = "noun"
    noun: str = ""
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class YesNo:
    """A yes/no question's two statements."""

    yes: str
    no: str
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _WhPhrase:
    kind: str  # who, what, which, whose, where, when, why, how, count, measure
    end: int
    head: str = ""
    slot: str = "noun"
    noun: str = ""
    preposition: str = ""


def frame(q: Question) -> Frame | YesNo | str:
    """The frame of a question, or a reason code."""
    if not len(q):
        return "empty_question"
    low = q.lows[0]
    if low == "name" and q.tag(1) in ("DT", "PRP$", "CD") or q.low(0) == "name" and q.low(1) in DETERMINERS:
        verb = "are" if q.low(1) in ("two", "three", "four") else "is"
        return Frame("name", "", f"{verb} {q.text(1)}", lost=(q.words[0],))
    if low in _IMPERATIVES:
        return "imperative"
    if low in AUXILIARIES:
        return _yes_no(q)
    if low in WH_WORDS and not _is_subordinate(q):
        return _wh(q, _wh_phrase(q, 0), 0)
    if low in PREPOSITIONS and q.low(1) in WH_WORDS and not (q.low(1) == "when" or _is_subordinate(q.part(1))):
        return _prepositional(q)
    return _fronted(q) or _in_place(q) or _cloze(q)


def _is_subordinate(q: Question) -> bool:
    """"When the war ended, who ...": a clause before the question proper."""
    if q.lows[0] not in ("when", "where"):
        return False
    for i in range(2, len(q)):
        if q.commas[i - 1] and (q.lows[i] in WH_WORDS or q.lows[i] in DO | BE):
            return q.lows[1] not in AUXILIARIES
    return False


def _fronted(q: Question) -> Frame | YesNo | str | None:
    """"In 1990, who won ...": what stands in front stays there, a whole sentence too."""
    for i in range(2, len(q) - 2):
        asks = q.lows[i] in WH_WORDS or (q.lows[i] in PREPOSITIONS and q.low(i + 1) in WH_WORDS)
        if q.words[i - 1].endswith(".") and q.words[i][:1].isupper() and asks and _asks(q.part(i)):
            return _behind(q.text(0, i), frame(q.part(i)))
    for i in range(1, len(q)):
        rest = q.part(i)
        prepositional = q.lows[i] in PREPOSITIONS and q.low(i + 1) in WH_WORDS - {"when", "where"}
        opens = q.lows[i] in WH_WORDS or prepositional
        after_comma = q.commas[i - 1]
        if q.lows[i] in ("who", "which", "whose") and q.tags[0] in NOMINAL | {"DT"} and any(
            low in WH_WORDS for low in q.lows[i + 1 :]
        ):
            return None
        polar = q.lows[i] in AUXILIARIES and q.lows[0] in PREPOSITIONS | SUBORDINATORS
        if after_comma and (opens or (polar and not set(rest.lows) & WH_WORDS)) and _asks(rest):
            return _behind(q.text(0, i), frame(rest))
        if q.tags[i] in FINITE or q.lows[i] in AUXILIARIES:
            if not (after_comma or q.lows[0] in PREPOSITIONS | SUBORDINATORS or is_participle(q, 0)):
                return None
        elif opens and not prepositional and q.lows[0] in PREPOSITIONS and _asks(rest) and not _finite_before(q, i):
            return _behind(q.text(0, i), frame(rest))
    return None


def _finite_before(q: Question, end: int) -> bool:
    return any(q.tags[i] in FINITE or q.lows[i] in AUXILIARIES for i in range(end))


def _asks(rest: Question) -> bool:
    """Whether a question proper begins here, not a relative clause or a question in place."""
    start = 1 if rest.lows[0] in PREPOSITIONS else 0
    if len(rest) < start + 2:
        return False
    if rest.lows[0] in AUXILIARIES:
        return True
    if rest.lows[start] == "which" and start == 0 and rest.tags[1] in FINITE:
        return False
    return any(
        rest.tags[i] in FINITE or rest.lows[i] in AUXILIARIES or is_past_tense(rest.lows[i])
        for i in range(start + 1, len(rest))
    )


def _behind(front: str, made: Frame | YesNo | str) -> Frame | YesNo | str:
    if isinstance(made, YesNo):
        return YesNo(f"{front} {made.yes}", f"{front} {made.no}", made.lost)
    if isinstance(made, Frame):
        before = made.before
        if front.endswith("."):
            before = before[:1].upper() + before[1:]
        return replace(made, rule=f"fronted_{made.rule}", before=f"{front} {before}".strip())
    return made


def _in_place(q: Question) -> Frame | None:
    """"The city was founded in what year": the wh-phrase is replaced where it stands."""
    for i in range(len(q) - 1, 0, -1):
        low = q.lows[i]
        if low not in WH_WORDS or (low in ("who", "which", "where", "when", "that") and _is_relative(q, i)):
            continue
        phrase = _wh_phrase(q.part(i), 0, stop_early=True)
        end = i + phrase.end
        slot = phrase.slot
        if low == "what" and q.lows[i - 1] == "do":
            lost = (q.words[i - 1], q.words[i])
            return Frame("in_place", q.text(0, i), q.text(end), "doing", f"{q.text(0, i - 1)}||do", lost)
        if q.lows[i - 1] in ("a", "an"):
            return Frame("in_place", q.text(0, i - 1), q.text(end), "article", "", tuple(q.words[i - 1 : end]))
        if q.lows[i - 1] in PREPOSITIONS and slot not in ("count", "sort", "which", "share", "possessive"):
            slot = "noun"
        lost = tuple(q.words[i:end]) if slot != "count" else (q.words[i], *q.words[i + 1 : i + 2])
        after = q.text(end)
        if q.commas[end - 1]:
            after = ", " + after
        return Frame("in_place", q.text(0, i), after, slot, phrase.noun, lost)
    return None


def _cloze(q: Question) -> Frame | str:
    """"X is the Latin name for": the answer completes it."""
    verb = any(q.tags[i] in FINITE or q.lows[i] in AUXILIARIES for i in range(1, len(q)))
    if verb and q.lows[-1] in PREPOSITIONS | {"the", "a", "an", "is", "was", "are", "called"}:
        return Frame("cloze", q.text(0), "")
    if not verb and q.tags[0] in ("DT", "PRP$", "NNP") and len(q) > 2:
        return Frame("noun_phrase", f"{q.text(0)} is", "")
    return "no_wh_word"


def _is_relative(q: Question, i: int) -> bool:
    if q.lows[i - 1] in PREPOSITIONS:
        return i + 1 < len(q) and q.lows[i] == "which" and (q.tags[i + 1] in ("DT", "PRP") or q.lows[i + 1] in AUXILIARIES)
    if i + 1 == len(q):
        return False
    after = q.tags[i + 1]
    if q.lows[i] == "which":
        return after in FINITE or after in ("PRP", "DT", "RB") or q.lows[i + 1] in AUXILIARIES
    return q.is_nominal(i - 1) or q.commas[i - 1]


def _wh_phrase(q: Question, start: int, *, stop_early: bool = False) -> _WhPhrase:
    low = q.lows[start]
    after = q.low(start + 1)
    if low in ("who", "whom"):
        return _WhPhrase("who", start + (2 if after == "else" else 1))
    if low == "where" and after in ("in", "on", "at", "near", "within"):
        end = _auxiliary(q, start + 1)
        if end is not None:
            return _WhPhrase(low, end, slot="place", noun=q.text(start + 1, end))
    if low in ("where", "when", "why"):
        return _WhPhrase(low, start + 1, slot={"where": "place", "when": "time", "why": "reason"}[low])
    if low == "how":
        return _how_phrase(q, start, after)
    if low == "what" and (after in AUXILIARIES or after == "else" or start + 1 >= len(q)):
        return _WhPhrase("what", start + (2 if after == "else" else 1))
    end = _noun_phrase_end(q, start + 1, stop_early=stop_early)
    if after == "of":
        while end < len(q) and q.lows[end] in PREPOSITIONS:
            end = _noun_phrase_end(q, end + 1, stop_early=stop_early)
    if low == "whose":
        return _WhPhrase("whose", start + 1, slot="possessive")
    owners = (i for i in range(start + 1, end) if q.lows[i].endswith("'s") and q.lows[i] not in _GROUPS)
    owner = next((i + 1 for i in owners if i + 1 < len(q)), None)
    if owner is not None and after != "of" and (q.tag(owner) in NOMINAL | {"JJ"}):
        return _WhPhrase("whose", owner, slot="possessive")
    if end == start + 1:
        return _WhPhrase("what", end)
    head = _head(q, start + 1, end)
    of = next((i for i in range(start + 1, end) if q.lows[i] == "of"), end)
    first = q.lows[of - 1]
    noun = q.text(of, end) if first in _SHARES and of < end else ""
    preposition = "in" if head in _TIME_IN else "on" if head in _TIME_ON else "at" if head == "time" else ""
    if first in _SORTS:
        named = q.text(of + 1, end) if of < end else ""
        return _WhPhrase("which", end, "kind", "sort", named)
    if first in ("color", "colour"):
        head = first
    if q.low(start + 1) in ("color", "colour") and end > start + 2:
        return _WhPhrase("which", end, head, "sort", q.text(start + 2, end))
    if noun or preposition or head in _PLACES or after == "of":
        return _WhPhrase("which", end, head, "share" if noun else "noun", noun, preposition)
    return _WhPhrase("which", end, head, "which", q.text(start + 1, end))


def _head(q: Question, start: int, end: int) -> str:
    of = next((i for i in range(start, end) if q.lows[i] in PREPOSITIONS), end)
    return q.lows[of - 1]


def _how_phrase(q: Question, start: int, after: str) -> _WhPhrase:
    if after in ("many", "much"):
        end = _noun_phrase_end(q, start + 2)
        return _WhPhrase("count", end, q.low(end - 1), "count", q.text(start + 2, end))
    if q.tag(start + 1) in ("JJ", "RB", "RP", "IN") and after not in AUXILIARIES:
        slot = "measure" if after in _MEASURES else "noun"
        return _WhPhrase("measure", start + 2, after, slot, after if after in _MEASURES else "")
    return _WhPhrase("how", start + 1, slot="manner")


def _noun_phrase_end(q: Question, start: int, *, stop_early: bool = False) -> int:
    """Past the noun phrase that begins at `start`: up to a verb, a preposition but "of", a comma or a clause."""
    i = start
    while i < len(q):
        low, tag = q.lows[i], q.tags[i]
        if low in AUXILIARIES and not (low in ("may", "might", "will") and tag in NOMINAL):
            return i
        noun = tag == "VBZ" and (q.low(i + 1) in AUXILIARIES or (i == start and (q.tag(i + 1) in ("VBD", "VBN") or q.low(i + 1) == "of")))
        if low == "born":
            i += 1
            continue
        noun = noun or (i == start and tag == "VBP" and not is_known_verb(low))
        if tag in FINITE and not (noun or (i == start and _is_modifier_of_noun(q, i))):
            return i
        if i > start and q.is_relative(i):
            return i
        if low in PREPOSITIONS and low != "of" and i > start and tag not in NOMINAL:
            return i
        if tag == "NNS" and i > start and _is_third_person(q, i):
            return i
        if tag in ("VBN", "VBG") and i > start and q.is_nominal(i - 1) and (stop_early or not _nominal_next(q, i)):
            return i
        if tag in ("RB", "TO", "VB") and i > start and q.is_nominal(i - 1):
            return i
        if q.commas[i]:
            return i + 1
        i += 1
    return next((k for k in range(start + 1, len(q)) if _may_be_finite(q, k)), i)


def _is_third_person(q: Question, i: int) -> bool:
    """Whether what the tagger took for a plural is the verb: no other verb follows, and an object does."""
    base = base_form(q.lows[i])
    if base is None or not is_known_verb(base) or q.tag(i + 1) not in NOMINAL | {"DT", "JJ", "PRP$"}:
        return False
    return q.tags[i - 1] in ("NN", "NNP") and not _finite_before(q.part(i + 1), len(q) - i - 1)


def _is_modifier_of_noun(q: Question, i: int) -> bool:
    """Whether a past tense after "what" is a participle before its noun ("what armed group stopped ...")."""
    if q.tags[i] != "VBD" or q.tag(i + 1) not in ("NN", "NNS", "JJ"):
        return False
    return any(q.tag(k) in FINITE or q.low(k) in DO for k in (i + 2, i + 3))


def _may_be_finite(q: Question, i: int) -> bool:
    """Whether a word can be the finite verb that the tagger took for something else."""
    if is_past_tense(q.lows[i]):
        return q.tags[i] in ("VBN", "VBD", "JJ", "VB", "NN", "VBP") and q.words[i][:1].islower()
    return q.tags[i] == "NNS" and q.tag(i + 1) in ("NNP", "DT", "JJ", "PRP$", "CD", "PRP")


def _nominal_next(q: Question, i: int) -> bool:
    return i + 1 < len(q) and q.tags[i + 1] in ("NN", "NNS", "NNP")


def _prepositional(q: Question) -> Frame | str:
    """"In what year did ...": the preposition goes with the answer."""
    rest = q.part(1)
    phrase = _wh_phrase(rest, 0)
    low = q.lows[0]
    if phrase.kind == "count" and low in ("about", "around", "over"):
        made = _wh(rest, phrase, 0)
        return made if isinstance(made, str) else replace(made, before=f"{made.before} {q.words[0]}".strip())
    slot = {"place": "noun", "time": "noun", "reason": "noun", "manner": "noun"}.get(phrase.slot, phrase.slot)
    auxiliary = _auxiliary(rest, phrase.end)
    if auxiliary is None:
        return _in_place(q) or "no_verb"
    if phrase.slot == "possessive":
        phrase = replace(phrase, noun=rest.text(phrase.end, auxiliary))
    modified = rest.part(auxiliary)
    kind = "time" if phrase.preposition else "place" if low in ("in", "at", "on") else "other"
    made = _inverted(modified, replace(phrase, kind="adjunct", slot=slot, end=0, preposition=low), kind)
    if isinstance(made, str):
        return made
    kept = 3 if phrase.slot == "count" else 0
    lost = rest.words[: 2 if kept else auxiliary] if phrase.slot != "share" else rest.words[:2]
    return replace(made, rule="prepositional", lost=(*made.lost, *lost))


def _auxiliary(q: Question, start: int) -> int | None:
    """The auxiliary of the main clause; words between a wh-phrase and it belong to the phrase."""
    for i in range(start, len(q)):
        if q.lows[i] in AUXILIARIES and not (i > start and any(q.is_relative(k) for k in range(start, i))):
            return i
    return next((i for i in range(len(q) - 2, start, -1) if q.lows[i] in AUXILIARIES), None)


def _wh(q: Question, phrase: _WhPhrase, start: int) -> Frame | str:
    end = phrase.end
    if end >= len(q):
        return "no_verb"
    if phrase.kind == "whose":
        return _whose(q, end)
    if q.lows[0] == "which" and end == 1 and "or" in q.lows:
        return "alternatives"
    auxiliary = end if q.lows[end] in AUXILIARIES else None
    if auxiliary is None and phrase.kind in ("which", "count"):
        later = next((i for i in range(end, len(q)) if q.lows[i] in AUXILIARIES), None)
        relative = later is not None and any(q.is_relative(k) for k in range(end, later))
        if later and q.lows[later] in DO and not relative and not any(q.commas[end:later]):
            auxiliary = later
    if auxiliary is None:
        return _subject(q, phrase) if phrase.kind in ("who", "what", "which", "count") else _embedded(q, phrase)
    lost = _lost(q, phrase, auxiliary)
    rest = q.part(auxiliary)
    if phrase.kind in ("who", "what", "which", "count") and _is_subject(rest, phrase):
        return _subject(q, phrase)
    made = _inverted(rest, replace(phrase, end=0), phrase.kind)
    return made if isinstance(made, str) else replace(made, lost=(*made.lost, *lost))


def _lost(q: Question, phrase: _WhPhrase, end: int) -> tuple[str, ...]:
    """The words of a wh-phrase that the frame does not hold."""
    if phrase.slot in ("count", "measure"):
        kept = phrase.noun.split()
        return tuple(word for word in q.words[:2] if word not in kept) + tuple(q.words[phrase.end : end])
    kept = phrase.noun.split() if phrase.slot == "share" else []
    return tuple(q.words[: end - len(kept)])


def _embedded(q: Question, phrase: _WhPhrase) -> Frame | str:
    """No auxiliary follows ("How many years ago ...", "Why the ...")."""
    return _in_place(q) or "no_verb"


def _whose(q: Question, start: int) -> Frame | str:
    """"Whose wall ..." and "which king's wall ...": the answer in the possessive."""
    end = _noun_phrase_end(q, start)
    if end < len(q) and q.lows[end] in DO:
        phrase = _WhPhrase("which", 0, q.lows[end - 1], "possessive", q.text(start, end))
        made = _inverted(q.part(end), phrase, "which")
        return made if isinstance(made, str) else replace(made, lost=(*made.lost, *q.words[:start]))
    return Frame("whose", "", q.text(start), "possessive", lost=tuple(q.words[:start]))


def _subject(q: Question, phrase: _WhPhrase) -> Frame:
    """The wh-phrase is the subject: only the answer takes its place."""
    end = phrase.end
    after = q.text(end)
    if q.commas[end - 1] and q.lows[end] not in AUXILIARIES and any(q.commas[end:]):
        after = f", {after}"
    if phrase.kind == "what" and q.lows[end : end + 3] == ["will", "happen", "to"] and end + 3 < len(q):
        stop = next((i for i in range(end + 4, len(q)) if q.lows[i] in PREPOSITIONS or q.tags[i] == "RB"), len(q))
        whom = f"{q.text(end + 3, stop)} {q.words[end].lower()}"
        tail = q.text(stop)
        return Frame("happening", "", after, "happening", f"{whom}|{tail}", _lost(q, phrase, end))
    # "who" and "what" do not say whether one is asked for or several
    slot = "subject" if phrase.kind in ("who", "what") else phrase.slot
    noun = "person" if phrase.kind == "who" else phrase.noun
    return Frame("subject", "", after, slot, noun, _lost(q, phrase, end))


def _is_subject(rest: Question, phrase: _WhPhrase) -> bool:
    """Whether the verb group `rest` has no subject of its own, or "be" joins two noun phrases."""
    low = rest.lows[0]
    if len(rest) < 2:
        return True
    first, tag = rest.lows[1], rest.tags[1]
    if low in DO:
        return first == "not" or (phrase.kind == "who" and not has_clear_verb(rest, 1))
    if low in MODALS:
        if tag == "VB" and not is_known_verb(first):
            return not any(rest.tags[i] in ("VB", "VBP") and rest.lows[i - 1] != "to" for i in range(2, len(rest)))
        if tag == "VB" or (tag == "RB" and rest.tag(2) in ("VB", "RB")):
            return True
        return main_verb(rest, 1) is None
    if low in HAVE:
        return _have_subject(rest, phrase)
    if first in ("there", "it", "he", "she", "they", "we", "i", "you"):
        return False
    if first == "not":
        return True
    if tag == "VBN":
        later = any(is_participle(rest, i) for i in range(3, len(rest)))
        return not (rest.tag(2) in NOMINAL and (later or rest.lows[-1] in PREPOSITIONS))
    if tag in ("VBG", "RB", "IN", "TO", "RBR", "RBS", "JJR") and not _opens_noun_phrase(rest, 1):
        return True
    if tag == "JJ" and not _opens_noun_phrase(rest, 1):
        return True
    return phrase.kind == "which" and phrase.head not in _KINDS and _equative(rest, phrase)


def _have_subject(rest: Question, phrase: _WhPhrase) -> bool:
    tag = rest.tags[1]
    if rest.lows[1] in ("a", "an", "no", "one", "two"):
        return True
    if tag == "VBN" or (tag == "RB" and (rest.tag(2) in ("VBN", "VBD", "RB") or is_past_participle(rest.low(2)))):
        return True
    if tag in ("PRP", "NNP", "NNPS", "EX"):
        return have_participle(rest, 1) is None
    return have_participle(rest, 1) is None


def _opens_noun_phrase(q: Question, i: int) -> bool:
    """Whether an adjective, adverb or participle modifies a noun that follows."""
    while i < len(q) and q.tags[i] in ("JJ", "RB", "VBN", "VBG", "JJR", "JJS", "CC", "RBS", "RBR"):
        i += 1
    return i < len(q) and q.tags[i] in NOMINAL and q.lows[i - 1] not in PREPOSITIONS


def _equative(rest: Question, phrase: _WhPhrase) -> bool:
    """"Which city is the capital of ...": no gap after the noun phrase, so the wh-phrase is the subject."""
    if phrase.preposition:
        return False
    if rest.lows[-1] in PREPOSITIONS:
        return False
    place = predicate_start(rest, 1, openers=False)
    return place is None or not (is_participle(rest, place) and not _is_modifier(rest, place))


def _is_modifier(q: Question, place: int) -> bool:
    """Whether a participle right after a noun is likely to modify it ("the city located in ...")."""
    if q.commas[place - 1] or (q.tags[place] == "VBG" and q.tag(place + 1) in ("NNP", "DT", "NN")):
        return True
    return place + 1 < len(q) and q.lows[place + 1] in PREPOSITIONS and q.lows[-1] not in PREPOSITIONS


def _inverted(rest: Question, phrase: _WhPhrase, kind: str) -> Frame | str:
    """AUXILIARY SUBJECT VERB ... with the answer's gap somewhere after the verb."""
    low = rest.lows[0]
    if len(rest) < 2:
        return "no_subject"
    if low in BE:
        return _inverted_be(rest, phrase, kind)
    verb = have_participle(rest, 1) if low in HAVE else None
    if low not in HAVE:
        verb = main_verb(rest, 1)
        if low in DO and _is_doubtful(rest, verb):
            past = inflected_verb(rest, 1)
            verb = past if past is not None else verb
    if verb is None:
        return "no_main_verb"
    subject, adverbs = _subject_text(rest, verb)
    lost: tuple[str, ...] = ()
    if low in ("do", "does", "did") and "not" not in (adverb.lower() for adverb in adverbs):
        head, lost = adverbs + [_inflected(rest, 0, verb)], (rest.words[0],)
        lost += (rest.words[verb],) if head[-1] != rest.words[verb] else ()
    else:
        head = [rest.words[0].lower(), *adverbs, rest.words[verb]]
    return _with_gap(rest, verb, f"{subject} {' '.join(head)}", phrase, kind, lost)


def _is_doubtful(q: Question, verb: int | None) -> bool:
    """Whether a main verb may rather be a noun of the subject ("did the stock market crash caused")."""
    if verb is None:
        return True
    if q.tags[verb] in ("VB", "VBP"):
        return False
    return not is_known_verb(q.lows[verb]) or q.tag(verb + 1) in ("NN", "NNS")


def _subject_text(q: Question, verb: int) -> tuple[str, list[str]]:
    """The subject from word 1, and the adverbs between it and the verb."""
    end = verb
    while end - 1 > 1 and q.tags[end - 1] == "RB" and q.tags[end - 2] not in ("DT", "IN", "CC"):
        end -= 1
    return q.text(1, end), q.words[end:verb]


def _inflected(q: Question, auxiliary: int, verb: int) -> str:
    """The main verb as the auxiliary had it: did invent -> invented. What is around the word stays."""
    word, low = q.words[verb], q.lows[verb]
    place = word.lower().find(low)
    given = word[place : place + len(low)]
    if q.lows[auxiliary] == "do" or place < 0 or q.tags[verb] == "VBD" and is_past_tense(low):
        return word
    made = past_tense(given) if q.lows[auxiliary] == "did" else third_person(given)
    return word[:place] + made + word[place + len(low) :]


def _with_gap(
    q: Question, verb: int, head: str, phrase: _WhPhrase, kind: str, lost: tuple[str, ...] = ()
) -> Frame | str:
    """Put the slot where the wh-phrase would stand after `verb`; a comma before it goes behind it."""
    while q.lows[verb] in ("be", "been", "have", "being") and verb + 1 < len(q):
        if not (is_participle(q, verb + 1) or q.lows[verb + 1] == "been"):
            break
        verb += 1
        head = f"{head} {q.words[verb]}"
    made = _gap(q, verb, head, phrase, kind, lost)
    if made.before.endswith(",") and made.after and made.slot != "doing":
        return replace(made, before=made.before[:-1], after=f", {made.after}")
    return made


def _gap(q: Question, verb: int, head: str, phrase: _WhPhrase, kind: str, lost: tuple[str, ...]) -> Frame:
    preposition = phrase.preposition
    slot = phrase.slot
    hanging = stranded(q, verb)
    if kind in ("why", "how", "adjunct", "time", "other") or (kind == "place" and preposition):
        hanging = None
    if kind == "which" and preposition and hanging is not None and q.lows[hanging] not in (
        "in", "on", "at", "during", "since", "until", "from", "by", "of", "for",
    ):
        hanging = None
    if kind == "where" and hanging is not None and q.lows[hanging] not in ("to", "from", "at", "in", "near", "on", "into"):
        hanging = None
    if hanging is not None:
        bound = "noun" if slot in ("place", "time") else slot
        return Frame(
            "stranded", f"{head} {q.text(verb + 1, hanging + 1)}".strip(), q.text(hanging + 1), bound, phrase.noun, lost
        )
    verb_low = q.lows[verb]
    if kind == "what" and verb_low == "do" and q.lows[0] not in HAVE:
        return _doing(q, verb, head, lost)
    purpose = next((i for i in range(verb + 1, len(q) - 1) if q.lows[i] == "to" and q.lows[i + 1] == "do"), None)
    if kind == "what" and purpose is not None and _ends_verb_phrase(q, purpose + 2):
        before = f"{head} {q.text(verb + 1, purpose + 1)}"
        return Frame("doing", f"{before} {q.words[purpose + 1]}", q.text(purpose + 2), "doing", f"{before}||do", (*lost, "do"))
    if kind in ("what", "who", "which", "count") and not preposition:
        if phrase.head in _PLACES and verb_low != "play" and (verb_low in _INTRANSITIVE or q.lows[0] in BE) and _no_object(q, verb):
            place = adjunct_place(q, verb, before_time=True)
            return Frame("place", f"{head} {q.text(verb + 1, place)}".strip(), q.text(place), "place", "", lost)
        place = _object_place(q, verb, kind)
        return Frame("object", f"{head} {q.text(verb + 1, place)}".strip(), q.text(place), slot, phrase.noun, lost)
    if kind == "measure":
        return _measured(q, verb, head, phrase, lost)
    if kind == "how" and (verb_low in _COPULAR or verb_low == "describe"):
        if verb_low == "describe":
            place = adjunct_place(q, verb, before_time=True)
            return Frame("describe", f"{head} {q.text(verb + 1, place)} as".strip(), q.text(place), "noun", "", lost)
        return Frame("complement", head, q.text(verb + 1), "noun", "", lost)
    place = adjunct_place(q, verb, before_time=kind in ("where", "how"))
    before = f"{head} {q.text(verb + 1, place)}".strip()
    if preposition:
        dated = bool(phrase.preposition and phrase.head in _TIME_IN | _TIME_ON | {"time"}) and not phrase.noun
        return Frame(
            "adverbial",
            f"{before} {preposition}",
            q.text(place),
            "dated" if dated else slot,
            phrase.head if dated else phrase.noun,
            lost,
        )
    return Frame("adverbial", before, q.text(place), _moving(slot, verb_low), phrase.noun, lost)


def _ends_verb_phrase(q: Question, i: int) -> bool:
    return i >= len(q) or q.lows[i] in PREPOSITIONS | SUBORDINATORS | {"next", "now"} or q.tags[i] == "RB"


def _moving(slot: str, verb: str) -> str:
    moves = "go move travel sail flee return emigrate send migrate head retreat relocate come bring lead"
    return "goal" if slot == "place" and verb in moves.split() else slot


def _no_object(q: Question, verb: int) -> bool:
    after = verb + 1
    return after >= len(q) or q.lows[after] in PREPOSITIONS or q.tags[after] in ("RB", "RP") or q.lows[after] in (
        "place", "part",
    )


def _doing(q: Question, verb: int, head: str, lost: tuple[str, ...]) -> Frame:
    """"What did X do": the answer is a verb phrase, or the object of "do"."""
    end = verb + 1
    auxiliary = q.words[0].lower() if q.lows[0] in DO else ""
    noun = f"{q.text(1, verb)}|{auxiliary}|{q.lows[verb]}"
    return Frame("doing", head, q.text(end), "doing", noun, lost)


def _object_place(q: Question, verb: int, kind: str) -> int:
    """Where the object's gap is."""
    after = verb + 1
    if after >= len(q):
        return after
    low = q.lows[verb]
    if q.lows[after] == "to" and q.tag(after + 1) == "VB":
        inner = after + 1
        if inner + 1 >= len(q) or q.lows[inner + 1] in PREPOSITIONS | SUBORDINATORS | RELATIVE or q.tags[inner + 1] in ("RB", "TO"):
            return _object_place(q, inner, kind)
        return after
    if q.tags[after] in ("RP",) and q.lows[after] in PREPOSITIONS:
        return after + 1
    if q.tags[after] in FINITE or q.lows[after] in AUXILIARIES:
        return after
    opens = q.tags[after] in NOMINAL | {"DT", "PRP", "PRP$", "JJ"} or q.lows[after] in DETERMINERS
    if not opens or q.lows[after] in PREPOSITIONS:
        return after
    if low in _SAYING:
        inner_verb = next((i for i in range(after + 1, len(q)) if q.tags[i] in FINITE or q.lows[i] in AUXILIARIES), None)
        while inner_verb is not None and q.lows[inner_verb] in AUXILIARIES and inner_verb + 1 < len(q):
            if not (q.tags[inner_verb + 1] in ("VB", "RB", "VBN", "VBG") or is_known_verb(q.lows[inner_verb + 1])):
                break
            inner_verb += 1
        return len(q) if inner_verb is None else _object_place(q, inner_verb, kind)
    for i in range(after, len(q)):
        if low in _CONTROL and q.lows[i] == "to" and q.tag(i + 1) == "VB":
            return _object_place(q, i + 1, kind)
        if q.lows[i] in SUBORDINATORS or (i > after and q.lows[i] in PREPOSITIONS and q.lows[i] != "of"):
            return i
        if q.commas[i]:
            return i + 1
    return len(q)


def _measured(q: Question, verb: int, head: str, phrase: _WhPhrase, lost: tuple[str, ...]) -> Frame:
    word = phrase.head
    if word in ("often", "frequently", "well", "quickly", "fast", "soon", "early", "late"):
        place = adjunct_place(q, verb, before_time=False)
        return Frame("adverbial", f"{head} {q.text(verb + 1, place)}".strip(), q.text(place), "noun", "", lost)
    passive = q.lows[verb] == "be" and q.tag(verb + 1) in ("VBN", "VBD")
    if word == "long" and (passive or q.lows[verb] not in ("last", "take", "be", "spend", "wait")):
        place = adjunct_place(q, verb, before_time=False)
        return Frame("duration", f"{head} {q.text(verb + 1, place)}".strip(), q.text(place), "duration", "", (*lost, "long"))
    if word == "long":
        place = verb + 1
        if place < len(q) and q.tags[place] in ("PRP",):
            place += 1
        before = f"{head} {q.text(verb + 1, place)}".strip()
        return Frame("measure", before, q.text(place), "noun", "", (*lost, "long"))
    return Frame("measure", head, q.text(verb + 1), phrase.slot, phrase.noun, lost)


def _inverted_be(q: Question, phrase: _WhPhrase, kind: str) -> Frame | str:
    """BE SUBJECT PREDICATE: the predicate keeps its place, the slot is in it or is it."""
    verb = q.words[0].lower()
    if q.lows[1] == "it" and kind in ("what", "which") and q.low(2) in SUBORDINATORS | {"that"}:
        return Frame("cleft", f"it {verb}", q.text(2), "noun", phrase.noun)
    if q.lows[1] == "there":
        head = f"there {verb}"
        rest = q.text(2)
        slot = phrase.slot
        if kind in ("adjunct", "time", "place", "other"):
            return Frame("there", f"{head} {rest} {phrase.preposition}".strip(), "", slot, phrase.noun)
        return Frame("there", head, rest, slot, phrase.noun)
    if kind in ("what", "who", "which", "count") and not phrase.preposition:
        return _complement_be(q, phrase, kind)
    place = predicate_start(q, 1, openers=kind in ("why", "adjunct", "when", "where", "which"))
    if place is not None and kind == "when" and q.lows[place] in ("for", "of", "between", "against", "from", "to", "with"):
        place = None
    if place is not None and q.lows[place] in PREPOSITIONS and kind in ("where", "adjunct", "place") and not is_participle(q, place):
        place = None
    if kind == "how" and q.lows[-1] == "known" and len(q) > 2:
        end = len(q) - 2 if q.lows[-2] in ("better", "best", "also", "commonly", "originally", "formerly") else len(q) - 1
        return Frame("complement", f"{q.text(1, end)} {verb} {q.text(end)} as", "")
    if kind == "measure" or (kind == "how" and (place is None or not is_participle(q, place))):
        if kind == "measure" and place is not None and is_participle(q, place):
            return _with_gap(q, place, _be_head(q, place), phrase, kind)
        place = place if place is not None else len(q)
        return Frame("measure", f"{q.text(1, place)} {verb}", q.text(place), "noun" if kind == "how" else phrase.slot, phrase.noun)
    if place is None and kind == "where" and q.lows[-1] in ("to", "from", "at", "in", "on") and len(q) > 2:
        return Frame("stranded", f"{q.text(1, len(q) - 1)} {verb} {q.words[-1]}", "")
    if place is None:
        before = f"{q.text(1)} {verb}"
        if phrase.preposition:
            slot = "dated" if kind == "which" else phrase.slot
            return Frame("located", f"{before} {phrase.preposition}", "", slot, phrase.noun)
        return Frame("located", before, "", phrase.slot, phrase.noun)
    return _with_gap(q, place, _be_head(q, place), phrase, kind)


def _be_head(q: Question, place: int) -> str:
    """SUBJECT BE ADVERBS PARTICIPLE; the auxiliary stands before the adverbs."""
    subject, adverbs = _subject_text(q, place)
    return " ".join([subject, q.words[0].lower(), *adverbs, q.words[place]])


def _complement_be(q: Question, phrase: _WhPhrase, kind: str) -> Frame | str:
    """"What is X called", "What is X known for", "What is the capital of ..."."""
    verb = q.words[0].lower()
    cut = next((i + 1 for i in range(2, len(q) - 1) if q.commas[i] and q.lows[i] in PREPOSITIONS), None)
    if cut is not None:
        made = _complement_be(q.part(0, cut), phrase, kind)
        return made if isinstance(made, str) else replace(made, after=f"{made.after} , {q.text(cut)}".strip())
    place = _gapped_predicate(q)
    if place is not None and q.low(place + 1) in ("that", "which", "who"):
        # "what is the law named that defines ...": the clause goes back to its noun
        subject = f"{q.text(1, place)} {q.text(place + 1)}"
        return Frame("object", f"{subject} {verb} {q.words[place]}", "", phrase.slot, phrase.noun)
    if place is not None:
        return _with_gap(q, place, _be_head(q, place), phrase, kind)
    if phrase.head in _PLACES and q.lows[-1] not in PREPOSITIONS:
        place = predicate_start(q, 1, openers=False)
        if place is not None and is_participle(q, place):
            return _with_gap(q, place, _be_head(q, place), phrase, kind)
    if q.lows[-1] in PREPOSITIONS and q.lows[-1] != "like" and len(q) > 2:
        return Frame("stranded", f"{q.text(1, len(q) - 1)} {verb} {q.words[-1]}", "", "noun", phrase.noun)
    if q.lows[-1] == "like" and len(q) > 2:
        return Frame("object", f"{q.text(1, len(q) - 1)} {verb} like", "", phrase.slot, phrase.noun)
    if kind == "who" and not _is_name(q, 1):
        return Frame("equative", "", f"{verb} {q.text(1)}", "noun")
    if kind == "what" and q.lows[1] in ("it", "he", "she", "they", "this", "that", "these", "those"):
        return Frame("equative", f"{q.words[1]} {verb}", q.text(2), phrase.slot, phrase.noun)
    if kind in ("who", "what") and _is_name(q, 1):
        return Frame("equative", f"{q.text(1)} {verb}", "", "role", phrase.noun)
    end = adjunct_place(q, 1, before_time=False) if kind == "which" else len(q)
    slot = {"sort": "role", "which": "noun"}.get(phrase.slot, phrase.slot)
    return Frame("equative", f"{q.text(1, end)} {verb}", q.text(end), slot, phrase.noun)


def _is_name(q: Question, start: int) -> bool:
    """Whether the rest is a name or a pronoun alone ("Who is Marie Curie")."""
    return all(tag in ("NNP", "NNPS", "PRP") for tag in q.tags[start:]) and not any("'s" in w for w in q.lows[start:])


def _gapped_predicate(q: Question) -> int | None:
    """The predicate of "what is SUBJECT PREDICATE" if it has a gap for the answer."""
    hanging = q.lows[-1] in PREPOSITIONS and q.lows[-1] != "like"
    for i in range(2, len(q)):
        low = q.lows[i]
        before = q.lows[i - 1]
        based = hanging and is_participle(q, i) and i == len(q) - 2
        if before in PREPOSITIONS or before in DETERMINERS - PRONOUNS or (q.tags[i - 1] in ("JJ", "DT") and not based):
            continue
        if before in ("and", "or"):
            continue
        if q.is_relative(i) and q.is_nominal(i - 1) and not hanging:
            return None
        if is_participle(q, i):
            if q.tags[i] == "VBG":
                if (hanging and not any(is_participle(q, k) for k in range(i + 1, len(q)))) or i == len(q) - 1 or q.lows[1] in PRONOUNS or _progressive(q, i):
                    return i
                continue
            if hanging or _takes_complement(q, i):
                return i
        elif hanging and q.tags[i] in ("JJ", "RB") and q.is_nominal(i - 1) and q.tag(i + 1) not in NOMINAL:
            return i
        elif hanging and (low in DETERMINERS or low == "part") and q.is_nominal(i - 1):
            return i
        elif hanging and low in _TAKE_PREPOSITION and i == len(q) - 2:
            return i
        elif hanging and q.tags[i] == "NNS" and i == len(q) - 2 and q.is_nominal(i - 1) and q.lows[-1] == "of":
            return i
    return None


def _progressive(q: Question, i: int) -> bool:
    return q.lows[i] in ("doing", "trying", "planning", "going", "working") and q.is_nominal(i - 1)


def _takes_complement(q: Question, i: int) -> bool:
    naming = "called named considered termed dubbed labeled labelled nicknamed titled deemed renamed".split()
    if q.lows[i] in naming:
        after = q.low(i + 1)
        return after == "" or after in PREPOSITIONS - {"after"} | SUBORDINATORS or q.tags[i + 1] in ("RB", "DT", "WDT") or (
            after in RELATIVE
        )
    if q.low(i + 1) in ("as", "for", "of", "in", "by") and i + 2 == len(q):
        return True
    return i == len(q) - 1 and q.tags[i] == "VBN" and q.lows[i] in ("awarded", "given", "paid", "offered", "told", "taught")


def _yes_no(q: Question) -> YesNo | str:
    low = q.lows[0]
    if len(q) < 3:
        return "no_predicate"
    auxiliary = q.words[0].lower()
    if low in BE:
        place = 2 if q.lows[1] == "there" else predicate_start(q, 1)
        if place is None and q.tags[-2] == "NNS" and q.tags[-1] in NOMINAL:
            place = len(q) - 1
        if place is None:
            return "no_predicate"
        subject, adverbs = _subject_text(q, place)
        made = _polar(subject, auxiliary, " ".join([*adverbs, q.text(place)]))
        return replace(made, lost=(q.words[0],))
    if low in HAVE:
        verb = have_participle(q, 1)
    else:
        verb = main_verb(q, 1)
        if low in DO and _is_doubtful(q, verb):
            past = inflected_verb(q, 1)
            if past is not None:
                return "verb_inflected_twice"
    if verb is None:
        return "no_main_verb"
    subject, adverbs = _subject_text(q, verb)
    rest = " ".join([*adverbs, q.text(verb)])
    if low not in ("do", "does", "did"):
        return replace(_polar(subject, auxiliary, rest), lost=(q.words[0],))
    made = _inflected(q, 0, verb)
    yes = " ".join([subject, *adverbs, made, q.text(verb + 1)]).strip()
    lead = [a for a in adverbs if a.lower() in ("still", "also")]
    tail = " ".join([*(a for a in adverbs if a not in lead), q.text(verb)])
    return YesNo(yes, " ".join([subject, *lead, auxiliary, "not", tail]), (q.words[0], q.words[verb]) if made != q.words[verb] else (q.words[0],))


def _polar(subject: str, auxiliary: str, rest: str) -> YesNo:
    if auxiliary.endswith("n't") or auxiliary == "cannot":
        auxiliary = {"can't": "can", "cannot": "can", "won't": "will"}.get(auxiliary, auxiliary.removesuffix("n't"))
    if auxiliary in ("is", "was") and " and " in subject.lower() and rest.lower().startswith(("the same", "same")):
        # "is X and Y the same" asks about two
        auxiliary = {"is": "are", "was": "were"}[auxiliary]
    negated = "cannot" if auxiliary == "can" else f"{auxiliary} not"
    adverb, _, after = rest.partition(" ")
    if adverb.lower() in ("still", "also") and auxiliary not in BE:
        return YesNo(f"{subject} {auxiliary} {rest}", f"{subject} {adverb} {negated} {after}")
    return YesNo(f"{subject} {auxiliary} {rest}", f"{subject} {negated} {rest}")
