"""Clauses with "be" as the only verb or as an auxiliary, and yes/no questions."""

from __future__ import annotations

import re

from ._clauses import (
    adjunct_place,
    have_participle,
    inflected_verb,
    is_doubtful,
    is_participle,
    main_verb,
    predicate_start,
    subject_text,
    with_inflected,
)
from ._questions import Question
from ._statement_gaps import Frame, YesNo, with_gap
from ._verbs import is_known_verb
from ._wh_phrases import WhPhrase
from ._word_sets import (
    AUXILIARIES,
    BE,
    COMPOUND,
    DETERMINERS,
    DO,
    FINITE,
    HAVE,
    NAMING_NOUNS,
    NOMINAL,
    OFFICES,
    PLACES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SUBORDINATORS,
    TAKE_PREPOSITION,
    word_set,
)

# participles that take a name or a rank
_NAMED = word_set("""
    called named considered termed dubbed labeled labelled nicknamed titled deemed renamed voted elected
    declared proclaimed crowned rated ranked
""")


def inverted_be(q: Question, phrase: WhPhrase, kind: str) -> Frame | str:
    """BE SUBJECT PREDICATE: the predicate keeps its place, the slot is in it or is it."""
    verb = q.words[0].lower()
    if q.lows[1] == "it" and kind in ("what", "which") and q.low(2) in SUBORDINATORS | {"that"}:
        return Frame("cleft", f"it {verb}", q.text(2), "noun", phrase.noun)
    if q.lows[1] == "there":
        head = f"there {verb}"
        rest = q.text(2)
        slot = phrase.slot
        if kind == "which" and not phrase.preposition and q.lows[-1] not in PREPOSITIONS:
            return "no_gap"
        if kind in ("adjunct", "time", "place", "other"):
            return Frame("there", f"{head} {rest} {phrase.preposition}".strip(), "", slot, phrase.noun)
        return Frame("there", head, rest, slot, phrase.noun)
    if kind in ("what", "who", "which", "count") and not phrase.preposition:
        return _complement_be(q, phrase, kind)
    place = predicate_start(q, 1, openers=kind in ("why", "adjunct", "when", "where", "which"))
    if place is not None and q.lows[place - 1] in BE:
        return "two_verbs"
    if (
        place is not None
        and kind == "when"
        and q.lows[place] in ("for", "of", "between", "against", "from", "to", "with")
    ):
        place = None
    if (
        place is not None
        and q.lows[place] in PREPOSITIONS
        and kind in ("where", "adjunct", "place")
        and not is_participle(q, place)
    ):
        place = None
    if kind == "how" and q.lows[-1] == "known" and len(q) > 2:
        end = (
            len(q) - 2
            if q.lows[-2] in ("better", "best", "also", "commonly", "originally", "formerly")
            else len(q) - 1
        )
        return Frame("complement", f"{q.text(1, end)} {verb} {q.text(end)} as", "")
    if kind == "measure" or (kind == "how" and (place is None or not is_participle(q, place))):
        if kind == "measure" and place is not None and is_participle(q, place):
            return with_gap(q, place, _be_head(q, place), phrase, kind)
        place = place if place is not None else len(q)
        comma = "," if q.commas[place - 1] else ""
        return Frame(
            "measure",
            f"{q.text(1, place).removesuffix(',')} {verb}",
            f"{comma} {q.text(place)}".strip(),
            "noun" if kind == "how" else phrase.slot,
            phrase.noun,
        )
    if place is None:
        return _located(q, verb, phrase, kind)
    return with_gap(q, place, _be_head(q, place), phrase, kind)


def _located(q: Question, verb: str, phrase: WhPhrase, kind: str) -> Frame | str:
    """BE and one noun phrase: the slot is the predicate ("Where is the castle")."""
    last = q.lows[-1]
    if kind == "where" and last in ("to", "from", "at", "in", "on") and len(q) > 2:
        return Frame("stranded", f"{q.text(1, len(q) - 1)} {verb} {q.words[-1]}", "")
    if kind in ("where", "when") and last in OFFICES and q.tags[1] == "NNP":
        return with_gap(q, len(q) - 1, _be_head(q, len(q) - 1), phrase, kind)
    if last in ("occur", "happen", "begin", "originate", "arise", "appear", "exist"):
        return "two_verbs"
    before = f"{q.text(1)} {verb}"
    if phrase.preposition:
        slot = "dated" if kind == "which" else phrase.slot
        return Frame("located", f"{before} {phrase.preposition}", "", slot, phrase.noun)
    return Frame("located", before, "", phrase.slot, phrase.noun)


def _be_head(q: Question, place: int) -> str:
    """SUBJECT BE ADVERBS PARTICIPLE; the auxiliary stands before the adverbs."""
    subject, adverbs = subject_text(q, place)
    return " ".join([subject, q.words[0].lower(), *adverbs, q.words[place]])


def _complement_be(q: Question, phrase: WhPhrase, kind: str) -> Frame | str:
    """ "What is X called", "What is X known for", "What is the capital of ..."."""
    verb = q.words[0].lower()
    cut = next((i + 1 for i in range(2, len(q) - 1) if q.commas[i] and q.lows[i] in PREPOSITIONS), None)
    if cut is not None:
        made = _complement_be(q.part(0, cut), phrase, kind)
        return made if isinstance(made, str) else made._replace(after=f"{made.after} , {q.text(cut)}".strip())
    place = _gapped_predicate(q)
    if place is not None and q.low(place + 1) in ("that", "which", "who"):
        # "what is the law named that defines ...": the clause goes back to its noun
        subject = f"{q.text(1, place)} {q.text(place + 1)}"
        return Frame("object", f"{subject} {verb} {q.words[place]}", "", phrase.slot, phrase.noun)
    if place is not None:
        return with_gap(q, place, _be_head(q, place), phrase, kind)
    if phrase.head in PLACES and q.lows[-1] not in PREPOSITIONS:
        place = predicate_start(q, 1, openers=False)
        if place is not None and is_participle(q, place):
            return with_gap(q, place, _be_head(q, place), phrase, kind)
    if q.lows[-1] in PREPOSITIONS and q.lows[-1] != "like" and len(q) > 2 and not _ends_in_relative(q):
        return Frame("stranded", f"{q.text(1, len(q) - 1)} {verb} {q.words[-1]}", "", "noun", phrase.noun)
    like = next(
        (i for i in range(2, len(q) - 1) if q.lows[i] == "like" and q.lows[i + 1] in PREPOSITIONS), None
    )
    if like is not None and q.is_nominal(like - 1):
        # "what is the climate like in ...": the answer says how it is
        return Frame(
            "equative", f"{q.text(1, like)} {q.text(like + 1)} {verb}", "", "noun", "", (q.words[like],)
        )
    if q.lows[-1] == "like" and len(q) > 2:
        return Frame("object", f"{q.text(1, len(q) - 1)} {verb} like", "", phrase.slot, phrase.noun)
    if kind == "who" and not _is_name(q, 1):
        return Frame("equative", "", f"{verb} {q.text(1)}", "noun")
    if q.lows[1] == "it" and q.tag(2) == "JJ":
        return "no_gap"
    if kind == "what" and q.lows[1] in ("it", "he", "she", "they", "this", "that", "these", "those"):
        return Frame("equative", f"{q.words[1]} {verb}", q.text(2), phrase.slot, phrase.noun)
    if kind in ("who", "what") and _is_name(q, 1):
        return Frame("equative", f"{q.text(1)} {verb}", "", "role", phrase.noun)
    end = adjunct_place(q, 1, before_time=False) if kind == "which" else len(q)
    slot = {"sort": "role", "which": "noun"}.get(phrase.slot, phrase.slot)
    return Frame("equative", f"{q.text(1, end)} {verb}", q.text(end), slot, phrase.noun)


def _ends_in_relative(q: Question) -> bool:
    """Whether the preposition at the end belongs to a relative clause ("the lake that the town lies on")."""
    relative = next((i for i in range(3, len(q)) if q.is_relative(i) or q.lows[i] == "that"), None)
    if relative is None or not q.is_nominal(relative - 1):
        return False
    return any(
        q.tags[i] in FINITE | {"VB"} or q.lows[i] in AUXILIARIES or is_known_verb(q.lows[i])
        for i in range(relative + 1, len(q))
    )


def _is_name(q: Question, start: int) -> bool:
    """Whether the rest is a name or a pronoun alone ("Who is Marie Curie")."""
    return all(tag in ("NNP", "NNPS", "PRP") for tag in q.tags[start:]) and not any(
        "'s" in w for w in q.lows[start:]
    )


def _gapped_predicate(q: Question) -> int | None:
    """The predicate of "what is SUBJECT PREDICATE" if it has a gap for the answer."""
    hanging = q.lows[-1] in PREPOSITIONS and q.lows[-1] != "like"
    if hanging and _ends_in_relative(q):
        return None
    if q.lows[-1] in _NAMED:
        return len(q) - 1
    if q.low(2) in NAMING_NOUNS and q.low(3) == "of" and not hanging:
        return None
    for i in range(2, len(q)):
        low = q.lows[i]
        before = q.lows[i - 1]
        if q.is_nominal(i - 1) and q.tags[i] in ("JJ", "VBP", "VBN") and _lacks_object(q, i + 1):
            return i
        based = hanging and is_participle(q, i) and i == len(q) - 2
        if (
            before in PREPOSITIONS
            or before in DETERMINERS - PRONOUNS
            or (q.tags[i - 1] in ("JJ", "DT") and not based and low not in _NAMED)
        ):
            continue
        if before in ("and", "or"):
            continue
        if q.is_relative(i) and q.is_nominal(i - 1) and not hanging:
            return None
        if is_participle(q, i):
            if q.commas[i - 1] and i + 1 < len(q):
                continue  # "the highest mountain (1,622 metres), named in 1873 after ..."
            if q.tags[i] == "VBG":
                if (
                    (hanging and not any(is_participle(q, k) for k in range(i + 1, len(q))))
                    or (i == len(q) - 1 and PREPOSITIONS.isdisjoint(q.lows[1:i]))
                    or (q.lows[1] in PRONOUNS and i < 4)
                    or _progressive(q, i)
                ):
                    return i
                continue
            if hanging or _takes_complement(q, i):
                return i
        elif (
            (hanging and q.tags[i] in ("JJ", "RB") and q.is_nominal(i - 1) and q.tag(i + 1) not in NOMINAL)
            or (hanging and (low in DETERMINERS or low == "part") and q.is_nominal(i - 1))
            or (hanging and low in TAKE_PREPOSITION and i == len(q) - 2)
            or (
                hanging
                and q.tags[i] == "NNS"
                and i == len(q) - 2
                and q.is_nominal(i - 1)
                and q.lows[-1] == "of"
            )
        ):
            return i
    return None


def _lacks_object(q: Question, i: int) -> bool:
    """Whether a preposition inside a clause has lost its noun phrase ("dependent on for their strength")."""
    both = (q.low(i), q.low(i + 1))
    return set(both) <= PREPOSITIONS and both not in COMPOUND and q.tag(i) in ("IN", "TO") and both[1] != "to"


def _progressive(q: Question, i: int) -> bool:
    return q.lows[i] in ("doing", "trying", "planning", "going", "working") and q.is_nominal(i - 1)


def _takes_complement(q: Question, i: int) -> bool:
    if q.lows[i] in _NAMED:
        after = q.low(i + 1)
        return (
            after == ""
            or after in PREPOSITIONS - {"after"} | SUBORDINATORS
            or q.tags[i + 1] in ("RB", "DT", "WDT")
            or (after in RELATIVE)
        )
    if q.low(i + 1) in ("as", "for", "of", "in", "by") and i + 2 == len(q):
        return True
    return (
        i == len(q) - 1
        and q.tags[i] in ("VBN", "VBD")
        and q.lows[i] in ("awarded", "given", "paid", "offered", "told", "taught")
    )


def yes_no(q: Question) -> YesNo | str:
    low = q.lows[0]
    if len(q) < 3 or q.lows[1] in ("why", "how"):
        return "no_predicate"
    auxiliary = q.words[0].lower()
    if low in BE:
        place = 2 if q.lows[1] == "there" else predicate_start(q, 1)
        if place is None and q.tags[-2] == "NNS" and q.tags[-1] in NOMINAL:
            place = len(q) - 1
        if place is None and len(q) == 4 and q.tags[1] == "DT":
            # "is the sky blue": the subject is the article and one noun, whatever the tags
            place = 3
        if place is None:
            return "no_predicate"
        subject, adverbs = subject_text(q, place)
        made = _polar(subject, auxiliary, " ".join([*adverbs, q.text(place)]))
        return made._replace(lost=(q.words[0],))
    if low in HAVE:
        verb = have_participle(q, 1)
    else:
        verb = main_verb(q, 1)
        if low in DO and is_doubtful(q, verb):
            past = inflected_verb(q, 1)
            if past is not None:
                return "verb_inflected_twice"
    if verb is None:
        return "no_main_verb"
    subject, adverbs = subject_text(q, verb)
    rest = " ".join([*adverbs, q.text(verb)])
    if low not in ("do", "does", "did"):
        return _polar(subject, auxiliary, rest)._replace(lost=(q.words[0],))
    affirmed, _, gone = with_inflected(q, verb)
    yes = " ".join([subject, *adverbs, affirmed.text(verb)])
    lead = [a for a in adverbs if a.lower() in ("still", "also")]
    tail = " ".join([*(a for a in adverbs if a not in lead), q.text(verb)])
    return YesNo(
        yes,
        " ".join([subject, *lead, auxiliary, "not", tail]),
        (q.words[0], *gone),
    )


def _polar(subject: str, auxiliary: str, rest: str) -> YesNo:
    if auxiliary.endswith("n't") or auxiliary == "cannot":
        auxiliary = {"can't": "can", "cannot": "can", "won't": "will"}.get(
            auxiliary, auxiliary.removesuffix("n't")
        )
    if (
        auxiliary in ("is", "was")
        and " and " in subject.lower()
        and re.match(r"(?:the )?same\b(?! as)", rest.lower())
    ):
        # "is X and Y the same" asks about two
        auxiliary = {"is": "are", "was": "were"}[auxiliary]
    negated = "cannot" if auxiliary == "can" else f"{auxiliary} not"
    adverb, _, after = rest.partition(" ")
    if adverb.lower() in ("still", "also") and auxiliary not in BE:
        return YesNo(f"{subject} {auxiliary} {rest}", f"{subject} {adverb} {negated} {after}")
    return YesNo(f"{subject} {auxiliary} {rest}", f"{subject} {negated} {rest}")
