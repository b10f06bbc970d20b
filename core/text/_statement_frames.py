"""Frames of statements: a question's words in declarative order, with a slot for the answer.

`frame` reads one question. Where no rule applies it gives a reason code instead of a guess.
"""

from __future__ import annotations

from ._clauses import (
    finite_before,
    has_clear_verb,
    have_participle,
    inflected_verb,
    is_doubtful,
    is_participle,
    main_auxiliary,
    main_verb,
    opens_noun_phrase,
    predicate_start,
    subject_text,
    with_inflected,
)
from ._questions import Question
from ._statement_copulas import inverted_be, yes_no
from ._statement_gaps import Frame, YesNo, with_gap
from ._verbs import base_form, is_known_verb, is_past_participle, is_past_tense
from ._wh_phrases import WhPhrase, noun_phrase_end, wh_phrase
from ._word_sets import (
    ADVERBS,
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    FINITE,
    GIVEN,
    HAVE,
    IMPERATIVES,
    KINDS,
    MEASURES,
    MODALS,
    NOMINAL,
    PREPOSITIONS,
    SUBORDINATORS,
    WH_WORDS,
)


def frame(q: Question) -> Frame | YesNo | str:
    """The frame of a question, or a reason code."""
    if not len(q):
        return "empty_question"
    low = q.lows[0]
    if (low == "name" and q.tag(1) in ("DT", "PRP$", "CD")) or (
        q.low(0) == "name" and q.low(1) in DETERMINERS
    ):
        verb = "are" if q.low(1) in ("two", "three", "four") else "is"
        return Frame("name", "", f"{verb} {q.text(1)}", lost=(q.words[0],))
    if low in IMPERATIVES and q.tag(1) not in NOMINAL:
        return "imperative"
    if low in AUXILIARIES:
        return yes_no(q)
    if low in WH_WORDS and not _is_subordinate(q):
        return _wh(q, wh_phrase(q, 0), 0)
    if (
        low in PREPOSITIONS
        and q.low(1) in WH_WORDS
        and not (q.low(1) == "when" or _is_subordinate(q.part(1)))
    ):
        return _prepositional(q)
    if low in PREPOSITIONS and q.low(1) == "when":
        return "no_wh_word"
    return _fronted(q) or _in_place(q) or _cloze(q)


def _is_subordinate(q: Question) -> bool:
    """ "When the war ended, who ...": a clause before the question proper."""
    if q.lows[0] not in ("when", "where"):
        return False
    for i in range(2, len(q)):
        if q.commas[i - 1] and (q.lows[i] in WH_WORDS or q.lows[i] in DO | BE):
            return q.lows[1] not in AUXILIARIES
    return False


def _fronted(q: Question) -> Frame | YesNo | str | None:
    """ "In 1990, who won ...": what stands in front stays there, a whole sentence too."""
    for i in range(2, len(q) - 2):
        asks = q.lows[i] in WH_WORDS or (q.lows[i] in PREPOSITIONS and q.low(i + 1) in WH_WORDS)
        begins = q.words[i][:1].isupper() or i > 3
        if q.words[i - 1].endswith((".", ";")) and begins and asks and _asks(q.part(i)):
            return _behind(q.text(0, i), frame(q.part(i)))
    for i in range(1, len(q)):
        if i > 2 and {q.lows[0], q.lows[i - 1]} <= PREPOSITIONS and q.lows[i] in ("what", "which"):
            made = _fronted_phrase(q, i)
            if made is not None:
                return made
        rest = q.part(i)
        prepositional = q.lows[i] in PREPOSITIONS and q.low(i + 1) in WH_WORDS - {"when", "where"}
        opens = q.lows[i] in WH_WORDS or prepositional
        after_comma = q.commas[i - 1]
        if (
            q.lows[i] in ("who", "which", "whose")
            and q.tags[0] in NOMINAL | {"DT"}
            and any(low in WH_WORDS for low in q.lows[i + 1 :])
        ):
            return None
        polar = q.lows[i] in AUXILIARIES and q.lows[0] in PREPOSITIONS | SUBORDINATORS
        if after_comma and (opens or (polar and not set(rest.lows) & WH_WORDS)) and _asks(rest):
            return _behind(q.text(0, i), frame(rest))
        if q.tags[i] in FINITE or q.lows[i] in AUXILIARIES:
            if not (after_comma or q.lows[0] in PREPOSITIONS | SUBORDINATORS or is_participle(q, 0)):
                return None
        elif (
            opens
            and not prepositional
            and (q.lows[0] in PREPOSITIONS or q.lows[:2] == ["other", "than"])
            and _asks(rest)
            and not finite_before(q, i)
        ):
            return _behind(q.text(0, i), frame(rest))
    return None


def _asks(rest: Question) -> bool:
    """Whether a question proper begins here, not a relative clause or a question in place."""
    start = 1 if rest.lows[0] in PREPOSITIONS else 0
    if len(rest) < start + 2:
        return False
    if rest.lows[0] in AUXILIARIES:
        return True
    if rest.lows[start] == "which" and start == 0 and rest.tags[1] in FINITE and _is_verb_form(rest.lows[1]):
        return False
    return any(
        rest.tags[i] in FINITE
        or rest.lows[i] in AUXILIARIES
        or is_past_tense(rest.lows[i])
        or is_known_verb(base_form(rest.lows[i]) or "")
        for i in range(start + 1, len(rest))
    )


def _is_verb_form(low: str) -> bool:
    return low in AUXILIARIES or is_past_tense(low) or is_known_verb(low) or base_form(low) is not None


def _fronted_phrase(q: Question, i: int) -> Frame | YesNo | str | None:
    """ "At the end of which century did ...": the answer stands in what is in front; `i` is the wh-word."""
    apart = q.lows[0] in ("before", "after", "since") and q.tags[1] == "VBG"
    if apart or q.tags[i - 2] == "CD" or q.lows[i - 1] == "to":
        # "In 2009 to what did ...": two phrases stand in front
        return _behind(q.text(0, i - 1), frame(q.part(i - 1))) if _asks(q.part(i - 1)) else None
    phrase = wh_phrase(q.part(i), 0)
    auxiliary = i + phrase.end
    if q.low(auxiliary) not in AUXILIARIES:
        return None
    slot, noun = phrase.slot, phrase.noun
    if phrase.head == "century" and slot == "noun":
        slot, noun = "century", "century"
    lost = tuple(q.words[i:auxiliary])
    if q.low(auxiliary + 1) == "be" or (auxiliary + 1 < len(q) and is_participle(q, auxiliary + 1)):
        return Frame("in_place", q.text(0, i), q.text(auxiliary), slot, noun, lost)
    made = yes_no(q.part(auxiliary))
    if isinstance(made, YesNo):
        return Frame("fronted_phrase", q.text(0, i), f", {made.yes}", slot, noun, (*made.lost, *lost))
    if q.lows[auxiliary] not in BE or auxiliary + 1 == len(q):
        return None
    # "In the south of which country is Lyon"
    before = f"{q.text(auxiliary + 1)} {q.lows[auxiliary]} {q.lows[0]} {q.text(1, i)}"
    return Frame("fronted_phrase", before, "", slot, noun, lost)


def _behind(front: str, made: Frame | YesNo | str) -> Frame | YesNo | str:
    if isinstance(made, YesNo):
        return YesNo(f"{front} {made.yes}", f"{front} {made.no}", made.lost)
    return _frame_behind(front, made) if isinstance(made, Frame) else made


def _frame_behind(front: str, made: Frame) -> Frame:
    before = made.before
    if front[-1].isalnum():
        front += ","
    if front.endswith("."):
        before = before[:1].upper() + before[1:]
    # these slots have the subject in `noun`, to be used without "do"
    noun = f"{front} {made.noun}" if made.slot in ("doing", "happening") else made.noun
    return made._replace(rule=f"fronted_{made.rule}", before=f"{front} {before}".strip(), noun=noun)


def _in_place(q: Question) -> Frame | str | None:
    """ "The city was founded in what year": the wh-phrase is replaced where it stands."""
    if not any(_may_be_verb(q, i) for i in range(len(q))):
        return None
    for i in range(len(q) - 1, 0, -1):
        low = q.lows[i]
        if low not in WH_WORDS or (low in ("who", "which", "where", "when", "that") and _is_relative(q, i)):
            continue
        phrase = wh_phrase(q.part(i), 0, stop_early=True)
        end = i + phrase.end
        slot = phrase.slot
        if end < len(q) and q.lows[end] in DO and q.low(end + 1) != "not":
            # "Most often what does ...": the question proper begins here
            made = frame(q.part(i))
            return _frame_behind(q.text(0, i), made) if isinstance(made, Frame) else None
        if low == "what" and q.lows[i - 1] == "do":
            without = q.text(0, i - 1)
            lost: tuple[str, ...] = (q.words[i - 1], q.words[i])
            return Frame("in_place", q.text(0, i), q.text(end), "doing", f"{without}||do", lost)
        if (
            i == 1
            and q.lows[0] in PREPOSITIONS
            and (q.tag(end) == "VBP" or not finite_before(q.part(end), len(q) - end))
        ):
            return "no_inversion"
        if q.lows[i - 1] in ("a", "an"):
            return Frame(
                "in_place", q.text(0, i - 1), q.text(end), "article", "", tuple(q.words[i - 1 : end])
            )
        if q.lows[i - 1] in PREPOSITIONS | {"and"} and slot not in (
            "count",
            "sort",
            "which",
            "share",
            "possessive",
        ):
            slot = "noun"
        lost = tuple(q.words[i:end]) if slot != "count" else (q.words[i], *q.words[i + 1 : i + 2])
        before = q.text(0, i)
        if phrase.head == "century" and slot == "noun":
            phrase, slot = phrase._replace(noun="century"), "century"
        if phrase.naming and q.lows[i - 1] in PREPOSITIONS:
            before, slot = f"{before} {phrase.naming}", "noun"
        if end + 2 == len(q) and q.tags[end] == "VBG" and q.is_nominal(end + 1):
            return "participle_or_modifier"  # "which world leading band"
        after = q.text(end)
        if q.commas[end - 1]:
            after = ", " + after
        return Frame("in_place", before, after, slot, phrase.noun, lost)
    return None


def _cloze(q: Question) -> Frame | str:
    """ "X is the Latin name for": the answer completes it."""
    verb = any(q.tags[i] in FINITE or q.lows[i] in AUXILIARIES for i in range(1, len(q)))
    if "which" in q.lows or "what" in q.lows:
        return "no_wh_word"
    if verb and q.lows[-1] in PREPOSITIONS | {"the", "a", "an", "is", "was", "are", "called"}:
        return Frame("cloze", q.text(0), "")
    if not verb and q.tags[0] in ("DT", "PRP$", "NNP") and len(q) > 2:
        return Frame("noun_phrase", f"{q.text(0)} is", "")
    return "no_wh_word"


def _is_relative(q: Question, i: int) -> bool:
    if q.lows[i - 1] in PREPOSITIONS:
        return (
            i + 1 < len(q)
            and q.lows[i] == "which"
            and (q.tags[i + 1] in ("DT", "PRP") or q.lows[i + 1] in AUXILIARIES)
        )
    if i + 1 == len(q):
        return False
    after = q.tags[i + 1]
    if q.lows[i] == "which":
        return after in FINITE or after in ("PRP", "DT", "RB") or q.lows[i + 1] in AUXILIARIES
    return q.is_nominal(i - 1) or q.commas[i - 1]


def _prepositional(q: Question) -> Frame | str:
    """ "In what year did ...": the preposition goes with the answer."""
    rest = q.part(1)
    phrase = wh_phrase(rest, 0)
    low = q.lows[0]
    if phrase.kind == "count" and low in ("about", "around", "over"):
        made = _wh(rest, phrase, 0)
        return made if isinstance(made, str) else made._replace(before=f"{made.before} {q.words[0]}".strip())
    slot = {"place": "noun", "time": "noun", "reason": "noun", "manner": "noun"}.get(phrase.slot, phrase.slot)
    auxiliary = main_auxiliary(rest, phrase.end)
    if auxiliary is None:
        return _in_place(q) or "no_verb"
    doubled: tuple[str, ...] = ()
    if rest.lows[-1] == low and len(rest) > auxiliary + 3:
        # "in which town was it built in"
        rest, doubled = rest.part(0, len(rest) - 1), (rest.words[-1],)
    if phrase.slot == "possessive":
        phrase = phrase._replace(noun=rest.text(phrase.end, auxiliary))
    modified = rest.part(auxiliary)
    bare = modified.tag(1) == "VBN" and is_past_participle(modified.low(1))
    if bare or modified.tag(1) == "IN" or (modified.tag(1) == "RB" and modified.tag(2) in ("JJ", "VBN")):
        return "no_subject"
    if phrase.naming:
        low, slot = f"{low} {phrase.naming}", "noun"
    kind = "time" if phrase.preposition else "place" if low in ("in", "at", "on") else "other"
    made = _inverted(modified, phrase._replace(kind="adjunct", slot=slot, end=0, preposition=low), kind)
    if isinstance(made, str):
        return made
    kept = 3 if phrase.slot == "count" else 0
    lost = rest.words[: 2 if kept else auxiliary] if phrase.slot != "share" else rest.words[:2]
    return made._replace(rule="prepositional", lost=(*made.lost, *lost, *doubled))


def _wh(q: Question, phrase: WhPhrase, start: int) -> Frame | str:
    end = phrase.end
    if end >= len(q):
        return "no_verb"
    if phrase.kind == "whose":
        return _whose(q, end)
    if any(word in ("-", "–", "—", ":") for word in q.words) and "or" in q.lows:
        return "alternatives"
    if phrase.kind == "who" and q.tags[end] == "NN" and not is_known_verb(q.lows[end]):
        return "two_nouns"
    if phrase.kind == "count" and q.lows[end] in MEASURES and q.low(end + 1) in BE:
        # "how many stories tall is the tower"
        before = f"{q.text(end + 2)} {q.words[end + 1]}"
        return Frame("measure", before, q.words[end], "count", phrase.noun, tuple(q.words[:2]))
    if q.lows[0] == "which" and end == 1 and "or" in q.lows:
        return "alternatives"
    auxiliary = end if q.lows[end] in AUXILIARIES else None
    if auxiliary is None and phrase.kind in ("which", "count"):
        later = next((i for i in range(end, len(q)) if q.lows[i] in AUXILIARIES and not q.is_quoted(i)), None)
        relative = later is not None and any(q.is_relative(k) for k in range(end, later))
        if later and q.lows[later] in DO and not relative and not any(q.commas[end:later]):
            auxiliary = later
    if auxiliary is None:
        return (
            _subject(q, phrase) if phrase.kind in ("who", "what", "which", "count") else _embedded(q, phrase)
        )
    lost = _lost(q, phrase, auxiliary)
    rest = q.part(auxiliary)
    if phrase.kind in ("who", "what", "which", "count") and _is_subject(rest, phrase):
        return _subject(q, phrase)
    made = _inverted(rest, phrase._replace(end=0), phrase.kind)
    if isinstance(made, str):
        return made
    made = made._replace(lost=(*made.lost, *lost))
    if phrase.kind == "where" and phrase.noun:
        # "where in Spain is ...": where it is asked for stands in front
        return _frame_behind(phrase.noun, made._replace(noun=""))
    return made


def _lost(q: Question, phrase: WhPhrase, end: int) -> tuple[str, ...]:
    """The words of a wh-phrase that the frame does not hold."""
    if phrase.slot in ("count", "measure"):
        kept = phrase.noun.split()
        return tuple(word for word in q.words[:2] if word not in kept) + tuple(q.words[phrase.end : end])
    kept = phrase.noun.split() if phrase.slot == "share" else []
    return tuple(q.words[: end - len(kept)])


def _embedded(q: Question, phrase: WhPhrase) -> Frame | str:
    """No auxiliary follows ("How many years ago ...", "Why the ...")."""
    return _in_place(q) or "no_verb"


def _whose(q: Question, start: int) -> Frame | str:
    """ "Whose wall ..." and "which king's wall ...": the answer in the possessive."""
    end = noun_phrase_end(q, start)
    if end < len(q) and q.lows[end] in DO:
        phrase = WhPhrase("which", 0, q.lows[end - 1], "possessive", q.text(start, end))
        made = _inverted(q.part(end), phrase, "which")
        return made if isinstance(made, str) else made._replace(lost=(*made.lost, *q.words[:start]))
    return Frame("whose", "", q.text(start), "possessive", lost=tuple(q.words[:start]))


def _subject(q: Question, phrase: WhPhrase) -> Frame | str:
    """The wh-phrase is the subject: only the answer takes its place."""
    end = phrase.end
    after = q.text(end)
    if q.commas[end - 1] and q.lows[end] not in AUXILIARIES and any(q.commas[end:]):
        after = f", {after}"
    if phrase.kind == "what" and q.lows[end : end + 3] == ["will", "happen", "to"] and end + 3 < len(q):
        stop = next(
            (i for i in range(end + 4, len(q)) if q.lows[i] in PREPOSITIONS or q.tags[i] == "RB"), len(q)
        )
        whom = f"{q.text(end + 3, stop)} {q.words[end].lower()}"
        tail = q.text(stop)
        return Frame("happening", "", after, "happening", f"{whom}|{tail}", _lost(q, phrase, end))
    if not _has_verb(q, end):
        return "no_verb"
    if phrase.naming and any(low in GIVEN for low in q.lows[end : end + 4]):
        return Frame("subject", phrase.naming, after, "noun", "", _lost(q, phrase, end))
    # "who" and "what" do not say whether one is asked for or several
    slot = "subject" if phrase.kind in ("who", "what") else phrase.slot
    noun = "person" if phrase.kind == "who" else phrase.noun
    return Frame("subject", "", after, slot, noun, _lost(q, phrase, end))


def _has_verb(q: Question, start: int) -> bool:
    """Whether what follows a subject can be a predicate."""
    if q.lows[start] in PREPOSITIONS and not finite_before(q.part(start), len(q) - start):
        return any(is_past_tense(q.lows[i]) or q.tags[i] in ("VB", "VBN") for i in range(start, len(q)))
    if is_known_verb(q.lows[start]) and q.low(start + 1) in DETERMINERS:
        return True
    return any(_may_be_verb(q, i) for i in range(start, len(q)))


def _may_be_verb(q: Question, i: int) -> bool:
    low, tag = q.lows[i], q.tags[i]
    if tag in ("VBD", "VBZ", "VBP", "MD", "VB", "VBN") or low in AUXILIARIES or is_past_tense(low):
        return True
    base = base_form(low) or ""
    return is_known_verb(base) or (tag == "NNS" and base != "" and q.low(i + 1) in PREPOSITIONS)


def _is_subject(rest: Question, phrase: WhPhrase) -> bool:
    """Whether the verb group `rest` has no subject of its own, or "be" joins two noun phrases."""
    low = rest.lows[0]
    if len(rest) < 2:
        return True
    if len(rest) == 2 and low in BE and phrase.kind == "what" and rest.tags[1] not in ("VBN", "VBG"):
        return False
    first, tag = rest.lows[1], rest.tags[1]
    if low in DO:
        if phrase.kind == "who" and tag == "NNP" and "'s" not in first:
            return False
        negated = low.endswith("n't") and tag == "VB"
        if phrase.kind == "what" and low == "did" and first in ("a", "an"):
            verb = main_verb(rest, 1)
            return verb is None or rest.tags[verb] == "NNS"  # "what did a good job with the blades"
        return first == "not" or negated or (phrase.kind == "who" and not has_clear_verb(rest, 1))
    if low in MODALS:
        if tag == "VB" and not is_known_verb(first):
            return not any(
                rest.tags[i] in ("VB", "VBP") and rest.lows[i - 1] != "to" for i in range(2, len(rest))
            )
        if tag == "VB" or (tag == "RB" and rest.tag(2) in ("VB", "RB")):
            return True
        return tag not in ("DT", "PRP", "PRP$") and main_verb(rest, 1) is None
    if low in HAVE:
        return _have_subject(rest, phrase)
    if first in ("there", "it", "he", "she", "they", "we", "i", "you"):
        return False
    if first == "not":
        return True
    if phrase.kind == "count" and tag not in ("DT", "PRP", "PRP$", "NNP"):
        # "how many children are homeless"
        return True
    if rest.words[1][:1].isupper() and rest.low(2) not in BE:
        return phrase.kind == "which" and phrase.head not in KINDS and _equative(rest, phrase)
    if len(rest) == 2 and first in ("this", "that", "these", "those"):
        return False
    if tag == "VBN" or (tag == "VBD" and low.endswith("n't") and is_past_participle(first)):
        later = any(is_participle(rest, i) for i in range(3, len(rest)))
        return not (rest.tag(2) in NOMINAL and (later or rest.lows[-1] in PREPOSITIONS))
    if tag == "RB" and (first in ADVERBS - {"most", "more", "no", "so"} or first.endswith("ly")):
        return True
    if tag in ("VBG", "IN", "TO", "RBR", "RBS", "JJR") and not opens_noun_phrase(rest, 1):
        return True
    if tag == "JJ" and first not in ("many", "most", "several") and not opens_noun_phrase(rest, 1):
        return True
    defined = phrase.slot == "sort" and first == "the"
    return phrase.kind == "which" and (defined or phrase.head not in KINDS) and _equative(rest, phrase)


def _have_subject(rest: Question, phrase: WhPhrase) -> bool:
    tag = rest.tags[1]
    if rest.lows[1] in ("a", "an", "no", "one", "two") or (rest.lows[0] == "has" and tag == "NNS"):
        return True
    if tag == "VBN" or (
        tag == "RB" and (rest.tag(2) in ("VBN", "VBD", "RB") or is_past_participle(rest.low(2)))
    ):
        return True
    if phrase.kind == "which" and tag in ("JJ", "NN", "NNS") and rest.tag(2) in ("NN", "NNS"):
        return True
    return have_participle(rest, 1) is None


def _equative(rest: Question, phrase: WhPhrase) -> bool:
    """ "Which city is the capital of ...": no gap after the noun phrase, so the wh-phrase is the subject."""
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


def _inverted(rest: Question, phrase: WhPhrase, kind: str) -> Frame | str:
    """AUXILIARY SUBJECT VERB ... with the answer's gap somewhere after the verb."""
    low = rest.lows[0]
    if len(rest) < 2:
        return "no_subject"
    if low in BE:
        return inverted_be(rest, phrase, kind)
    verb = have_participle(rest, 1) if low in HAVE else None
    if low not in HAVE:
        verb = main_verb(rest, 1)
        if low in DO and is_doubtful(rest, verb):
            past = inflected_verb(rest, 1)
            verb = past if past is not None else verb
        elif low in DO and verb is not None and rest.tags[verb - 1] in ("JJ", "DT", "PRP$"):
            # "who did the town provided clandestine support for"
            verb = inflected_verb(rest, 1) or verb
    if verb is None:
        return "no_main_verb"
    subject, adverbs = subject_text(rest, verb)
    lost: tuple[str, ...] = ()
    if low in ("do", "does", "did") and "not" not in (adverb.lower() for adverb in adverbs):
        made, last, gone = with_inflected(rest, verb)
        head, lost = [*adverbs, made.text(verb, last + 1)], (rest.words[0], *gone)
        rest, verb = made, last
    elif "not" in adverbs:
        others = [adverb for adverb in adverbs if adverb != "not"]
        head = [rest.words[0].lower(), "not", *others, rest.words[verb]]
    else:
        head = [rest.words[0].lower(), *adverbs, rest.words[verb]]
    return with_gap(rest, verb, f"{subject} {' '.join(head)}", phrase, kind, lost)
