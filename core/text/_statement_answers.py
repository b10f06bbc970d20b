"""Fitting an answer into the slot of a frame."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ._statement_articles import (
    FRONT_NAMING,
    ORDINAL,
    agreeing,
    has_verb,
    manner_word,
    needs_article,
    place_preposition,
    reason_word,
    time_preposition,
)
from ._statement_gaps import Frame, YesNo
from ._verbs import is_past_tense
from ._word_sets import (
    ADVERBIAL_STARTS,
    AUXILIARIES,
    BEFORE_THE,
    COUNTABLE,
    DETERMINERS,
    FREE,
    NO,
    PREPOSITIONS,
    REPEATABLE,
    YES,
    word_set,
)

_ADJECTIVE = re.compile(
    r"(?:ist|ite|(?:wood|gold|wool|silk)en|ic|al|ory|ary|ive|ese|ish|ous|able|ible|ful|less)$"
)
_PLAIN_ADJECTIVE = re.compile(r"(?:ical|ional|atic|ific|etic|ative|uous|eous|ious|ary|ular|less|ible|able)$")
_PERSON = re.compile(r"(?:ist|ian|or|er|man|woman|ant)$")
_CLAUSE_STARTS = frozenset(["PRP", "NN", "NNS", "NNP", "NNPS", "DT", "PRP$", "JJ"])
_CLAUSE_STOPS = frozenset(["WDT", "WP", "WRB", "IN", "VBG", "TO", "CC"])
_WITH_ARTICLE = frozenset(["noun", "subject", "place", "goal", "dated", "which", "role", "reason"])
_ABOUT = word_set("about approximately over almost nearly around under up just only less more")
_COUNTED = [[noun] for noun in sorted(COUNTABLE)]
_AMOUNT = re.compile(
    r"(?:.* )?(?:dozens|hundreds|thousands|millions|billions|scores|tens)|half|"
    r"a quarter|a third|one third|two thirds"
)
_ENDS_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*$")
_ABBREVIATION = re.compile(r"(?:^|[\s.(])(?:[A-Za-z]|Jr|Sr|Dr|St|Inc|Ltd|Co|Corp|No|etc|vs|Mt)\.$")
_NUMBER = re.compile(
    r"(?i)(?:.*[\d%½¼¾]|(?:.*\b)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty(?:-\w+)?|"
    r"hundred|thousand|million|billion|trillion|many|few|several|dozen|half|none|no|all|most|some))\W*$"
)
_UNIT = re.compile(
    r"(?i)[\d,.\- –]*\d\s?(?:years?|yrs?|months?|days?|feet|foot|ft|m|km|cm|mm|inch(?:es)?|miles?|yards?|"
    r"\w*met(?:er|re)s?)\.?$"
)
_SOME = {
    "any": "some",
    "anyone": "someone",
    "anything": "something",
    "anybody": "somebody",
    "anywhere": "somewhere",
    "ever": "at some time",
    "yet": "already",
}
_POLAR_WORD = re.compile(
    r"(?i)\b(?:any|anyone|anything|anybody|anywhere|ever|yet)\b(?! (?:other than|more|longer))"
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer as one line: its words, the first one bare, their tags (only where a rule reads them)."""

    text: str
    words: list[str]
    first: str
    tags: tuple[str, ...]


def fill(frame: Frame, text: str, tags: tuple[str, ...] = ()) -> str | None:
    """The statement's words without a final full stop; None where the answer does not fit the slot."""
    words = text.split()
    answer = _Answer(text, words, words[0].strip("\"'“”‘’(").lower(), tags)
    whole = _WHOLE.get(frame.slot)
    if whole is not None:
        return whole(frame, answer)
    fitted = _FITTERS[frame.slot](answer, frame.noun) if frame.slot in _FITTERS else ("", "")
    if fitted is None:
        return None
    before, after = frame.before, frame.after
    lead, trail = fitted
    if frame.slot == "subject":
        after = agreeing(after, words, tags, named=bool(frame.noun))
    if frame.slot == "dated":
        before = _without_preposition(before, lead, answer.first)
    if not lead:
        before = _without_repeated(before, answer.first)
    named = not lead and FRONT_NAMING.search(before) is not None
    if frame.slot in _WITH_ARTICLE and lead in BEFORE_THE and not named and needs_article(text, before):
        lead = f"{lead} the".strip()
    body = f"{lead} {_bare_answer(text, last=not (trail or after))}".strip()
    return _join(before, body, trail, after)


def _place(answer: _Answer, noun: str) -> tuple[str, str]:
    return place_preposition(answer.text, answer.first), noun


def _goal(answer: _Answer, noun: str) -> tuple[str, str]:
    return "" if answer.first in ADVERBIAL_STARTS else "to", ""


def _time(answer: _Answer, noun: str) -> tuple[str, str]:
    return time_preposition(answer.text, answer.first), ""


def _dated(answer: _Answer, noun: str) -> tuple[str, str]:
    """A wh-phrase such as "what year" with its preposition: the answer decides on it."""
    lead = time_preposition(answer.text, answer.first)
    if ORDINAL.fullmatch(answer.text):
        return lead if answer.first == "the" else f"{lead} the", noun
    return lead, ""


def _reason(answer: _Answer, noun: str) -> tuple[str, str] | None:
    if answer.tags[:1] in (("VBN",), ("VBD",)) and not has_verb(answer.text, answer.tags):
        return None
    return reason_word(answer.first, answer.text, answer.tags), ""


def _manner(answer: _Answer, noun: str) -> tuple[str, str] | None:
    word = manner_word(answer.first, answer.tags)
    return None if word is None else (word, "")


def _duration(answer: _Answer, noun: str) -> tuple[str, str]:
    return "" if answer.first in ADVERBIAL_STARTS - _ABOUT else "for", ""


def _article(answer: _Answer, noun: str) -> tuple[str, str]:
    """ "... to ban a what": the article of the question goes where the answer has one."""
    if answer.first in DETERMINERS or answer.first[:1].isdigit():
        return "", ""
    return "an" if answer.first[:1] in "aeiou" else "a", ""


def _role(answer: _Answer, noun: str) -> tuple[str, str]:
    """ "Who was Galilei" + "physicist": a count noun in the predicate takes "a"."""
    counted = _PERSON.search(answer.text) is not None or answer.words[-1] in COUNTABLE
    return _article(answer, noun) if counted and len(answer.words) < 4 and answer.text.islower() else ("", "")


def _sort(answer: _Answer, noun: str) -> tuple[str, str]:
    """ "What kind of arches" + "rounded": an adjective takes the noun with it."""
    adjective = answer.tags[-1:] in (("JJ",), ("VBN",)) or _ADJECTIVE.search(answer.text)
    if not adjective or len(answer.words) > 3:
        return "", ""
    lead = _article(answer, noun)[0] if noun.split(" of ")[0].split()[-1:] in _COUNTED else ""
    return lead, noun


def _which(answer: _Answer, noun: str) -> tuple[str, str]:
    if ORDINAL.fullmatch(answer.text):
        return "" if answer.first == "the" else "the", noun
    adjective = len(answer.words) == 1 and answer.text.islower() and _PLAIN_ADJECTIVE.search(answer.text)
    return "", noun if adjective else ""


def _share(answer: _Answer, noun: str) -> tuple[str, str]:
    trail = "" if " of " in f" {answer.text} " else noun
    return "", f"percent {trail}" if re.fullmatch(r"[\d.,]+", answer.text) else trail


def _counted(answer: _Answer, noun: str) -> tuple[str, str]:
    """The counted noun, unless the answer has it or an amount of money says it all."""
    low = answer.text.lower()
    if not noun or re.search(r"[$£€¥]", answer.text):
        return "", ""
    if _AMOUNT.fullmatch(low):
        return "", f"of {noun}"
    last = noun.split()[-1].lower()
    if noun.lower().startswith("of ") and " of " not in low:
        return "", noun
    if re.search(rf"\b{re.escape(last.removesuffix('s'))}", low):
        return "", ""
    return "", noun if _NUMBER.fullmatch(answer.text) else ""


def _measured(answer: _Answer, noun: str) -> tuple[str, str]:
    if re.search(rf"\b{re.escape(noun)}\b", answer.text.lower()):
        return "", ""
    if noun == "old" and re.fullmatch(r"[\w-]+", answer.text) and _NUMBER.fullmatch(answer.text):
        return "", "years old"
    return "", noun if _UNIT.fullmatch(answer.text) else ""


def _owned(frame: Frame, answer: _Answer) -> str:
    return _join(frame.before, _possessive(answer.text), frame.noun, frame.after)


def _happening(frame: Frame, answer: _Answer) -> str:
    """ "What will happen to X" + "lose it": a verb phrase has X as its subject."""
    subject, tail = frame.noun.split("|")
    if answer.tags[:1] not in (("VB",), ("VBP",), ("NN",)) or answer.first in DETERMINERS:
        return _join(answer.text, frame.after)
    return _join(subject, _bare_answer(answer.text, last=not tail), tail)


def _doing(frame: Frame, answer: _Answer) -> str:
    """ "What did X do": a verb phrase takes the place of "do", a noun phrase is its object."""
    subject, auxiliary, _ = frame.noun.split("|")
    tag = answer.tags[0] if answer.tags else ""
    body = _bare_answer(answer.text, last=not frame.after)
    if auxiliary and ((is_past_tense(answer.first) and auxiliary == "did") or tag == "VBZ"):
        return _join(subject, body, frame.after)
    if not auxiliary:
        return _join(_without_repeated(frame.before.rsplit(" ", 1)[0], answer.first), body, frame.after)
    if tag in ("VB", "VBP"):
        return _join(subject, auxiliary, body, frame.after)
    return _join(frame.before, body, frame.after)


_FITTERS: dict[str, Callable[[_Answer, str], tuple[str, str] | None]] = {
    "place": _place,
    "goal": _goal,
    "time": _time,
    "dated": _dated,
    "reason": _reason,
    "manner": _manner,
    "duration": _duration,
    "article": _article,
    "role": _role,
    "sort": _sort,
    "which": _which,
    "share": _share,
    "count": _counted,
    "measure": _measured,
}
_WHOLE: dict[str, Callable[[Frame, _Answer], str]] = {
    "possessive": _owned,
    "happening": _happening,
    "doing": _doing,
}


def is_clause(answer: str, tags: tuple[str, ...]) -> bool:
    """Whether an answer of four words or more is a sentence of its own ("they contain striated muscle")."""
    shortest = 3 if tags[:1] == ("PRP",) else 4
    if len(tags) < shortest or tags[0] not in _CLAUSE_STARTS:
        return False
    for i, word in enumerate(answer.split()):
        if tags[i] in _CLAUSE_STOPS or word[-1] in ",;:" or word[0] in '(["':
            return False
        if i and (tags[i] in ("VBZ", "VBP", "MD") or (tags[i] == "VBD" and word.lower() in AUXILIARIES)):
            return True
    return False


def polar(frame: YesNo, answer: str) -> str | None:
    """The statement that a yes or a no makes; None for any other answer."""
    word = answer.strip(" .!").lower()
    if word in YES:
        if frame.lost and frame.lost[0].lower() in ("can", "could", "may"):
            # "you can use any lane": any is free choice here
            return frame.yes
        return _POLAR_WORD.sub(lambda m: _SOME[m[0].lower()], frame.yes)
    if word not in NO:
        return None
    subject = re.match(r"(?i)any(?= \w+)( of)?", frame.no)
    if subject:
        return ("none" if subject[1] else "no") + frame.yes[3:]
    return frame.no


def sentence(text: str, *, capital: bool) -> str:
    """A full stop at the end, and a capital at the start of a lower-case word of the question."""
    first = text.split(" ", 1)[0].strip("\"'“”‘’(")
    if capital and first.islower() and (first.isalpha() or "'" in first or "-" in first):
        place = text.find(first)
        text = text[:place] + text[place].upper() + text[place + 1 :]
    text = text.rstrip(" ,;:")
    return text if _ENDS_SENTENCE.search(text) else text + "."


def _join(*parts: str) -> str:
    text = " ".join(part for part in parts if part)
    return re.sub(r" (?=, )", "", text)


def _bare_answer(answer: str, *, last: bool) -> str:
    """Without a trailing full stop inside a statement, unless it belongs to an abbreviation."""
    answer = answer.rstrip(" ,;:")
    if last or not answer.endswith(".") or answer.endswith("..") or _ABBREVIATION.search(answer):
        return answer
    return answer[:-1]


def _without_preposition(before: str, lead: str, first: str) -> str:
    """Drop the frame's own preposition of time where the answer has or gets one."""
    head, _, given = before.rpartition(" ")
    return head if given in ("in", "on", "at") and (lead or first in PREPOSITIONS) else before


def _without_repeated(before: str, first: str) -> str:
    """Drop the frame's last preposition where the answer brings its own ("in" + "in 1995")."""
    head, _, last = before.rpartition(" ")
    if last.lower() == first and first in REPEATABLE:
        return head
    if first in FREE and last.lower() in ("in", "on", "at", "during"):
        return head
    return before


def _possessive(answer: str) -> str:
    if answer.endswith(("'s", "’s", "s'", "s’")) or answer.lower() in (
        "his",
        "her",
        "their",
        "its",
        "my",
        "our",
        "your",
    ):
        return answer
    return answer + ("'" if answer.endswith("s") and not answer.istitle() else "'s")
