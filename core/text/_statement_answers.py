"""Fitting an answer into the slot of a frame."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ._answer_forms import may_be_time
from ._answers import Answer
from ._statement_articles import (
    FRONT_NAMING,
    ORDINAL,
    agreeing,
    allows_article,
    has_verb,
    is_people,
    manner_word,
    place_preposition,
    reason_word,
    singular,
    time_preposition,
)
from ._statement_gaps import Frame, YesNo
from ._statement_repeats import (
    repeats_three,
    repeats_verb,
    without_overlap,
    without_preposition,
    without_repeated,
    without_repeated_verb,
)
from ._verbs import is_known_verb, is_past_tense
from ._word_sets import (
    ADVERBIAL_STARTS,
    BARE_ADJECTIVES,
    BE,
    BEFORE_THE,
    COUNTABLE,
    DETERMINERS,
    HAVE,
    KINDS,
    MODALS,
    NO,
    PEOPLES,
    PLACES,
    PLURALS,
    WORKS,
    YES,
    word_set,
)

_ADJECTIVE = re.compile(
    r"(?:ern|ist|ite|(?:wood|gold|wool|silk)en|ic|al|ory|ary|ive|ese|ish|ous|able|ible|ful|less)$"
)
_PLAIN_ADJECTIVE = re.compile(
    r"(?:ical|icial|ocial|native|nomic|ional|atic|ific|etic|ative|uous|eous|ious|ary|ular|less|ible|able)$"
)
_DEMONYM = re.compile(r"[A-Z][\w-]*(?:an|ish|ese|ist|ern|ench|utch|eek|rab)")
_PERSON = re.compile(r"(?:ist|ian|or|er|man|woman|ant)$")
_WITH_ARTICLE = frozenset(
    ["noun", "sort", "subject", "place", "goal", "dated", "century", "which", "role", "reason"]
)
_NOMINAL = frozenset(["noun", "subject", "role"])
_PEOPLE = PEOPLES | {"person"}
_AFTER_PLURAL = frozenset(["CC", "IN", "TO", "NNS", "VBG", "VBN", "WDT", "WP"])
_WITH_HEAD = COUNTABLE | PEOPLES
_ABOUT = word_set("about approximately over almost nearly around under up just only less more")
_COUNTED = [[noun] for noun in sorted(COUNTABLE)]
_AMOUNT = re.compile(
    r"(?:.* )?(?:dozens|hundreds|thousands|millions|billions|scores|tens)|half|"
    r"a quarter|a third|one third|two thirds"
)
_CLOSING = "\"'”’)]"
_END_MARKS = (".", "!", "?", "…")
_BEFORE_COMMA = re.compile(r" (?=, )")
_UNTIL = re.compile(r"\d.* (?:to|until|till) ")
_FIGURE = re.compile(r"[\d.,]+")
_CURRENCY = re.compile(r"[$£€¥]")
_PLURAL_NOUN = re.compile(r"[a-z]+[^us]s")
_ONE_WORD = re.compile(r"[\w-]+")
_ANYONE = re.compile(r"(?i)any(?:one|body)(?= )")
_ANY = re.compile(r"(?i)any(?= \w+)( of)?")
_ABBREVIATION = re.compile(r"(?:^|[\s.(])(?:[A-Za-z]|Jr|Sr|Dr|St|Inc|Ltd|Co|Corp|No|etc|vs|Mt)\.$")
_NUMBER = re.compile(
    r"(?i)(?:.*[\d%½¼¾]|(?:.*\b)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|"
    r"hundred|thousand|million|billion|trillion|many|few|several|dozen|half|none|no|all|most|some))\W*$"
)
_FRACTION = re.compile(r"(?:third|quarter|fifth|tenth|quarter|majority|minority) of ")
_QUANTITY = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundreds?|thousands?|"
    r"millions?|billions?|dozens?|an?|several|few|many|most|more|less|half|none|no|all|both|thirds?|quarters?|"
    r"single|multiple|every|each|only|pair|couple|numerous|some|enough|little|much|the|scores?|lots?|once|twice)\b"
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
    r"(?i)\b(?:any|anyone|anything|anybody|anywhere|ever(?!$)|yet)\b(?! (?:other than|more|longer))"
)


def fill(frame: Frame, answer: Answer) -> str | None:
    """The statement's words without a final full stop; None where the answer does not fit the slot."""
    slot, words, tags = frame.slot, answer.words, answer.tags
    whole = _WHOLE.get(slot)
    if whole is not None:
        return whole(frame, answer)
    if slot in ("count", "measure") and answer.form == "finite" and tags[:1] not in (("VBN",), ("VBD",)):
        return None
    fitter = _FITTERS.get(slot)
    fitted = ("", "") if fitter is None else fitter(answer, frame.noun)
    if fitted is None:
        return None
    lead, trail = fitted
    before, after = frame.before, frame.after
    asks_for_subject = frame.rule.endswith("subject")
    if slot == "subject":
        after = agreeing(after, words, tags, named=bool(frame.noun))
    elif slot == "which" and asks_for_subject:
        after = singular(after, words, tags)
        several = tags[:1] == ("NNS",) and _AFTER_PLURAL.issuperset(tags[1:2])
        if several and words[0].islower() and not names_a_work(frame.noun):
            after = agreeing(after, words, tags, named=False)
    elif slot == "dated":
        before = without_preposition(before, lead, answer.first)
    if before:
        before, lead = without_repeated_verb(before, lead, answer)
        if not lead:
            before = without_repeated(before, answer.first)
    if asks_for_subject and repeats_verb(after, answer):
        return None
    opened: str | None = ""
    if slot in _NOMINAL or (slot == "which" and not names_a_work(frame.noun)):
        opened = _opened(frame, answer)
        if opened is None:
            return None
        lead = opened or lead
    front, back = without_overlap(before.split(), after.split(), answer.lows)
    if len(words) > 2 and repeats_three(front, back, words):
        return None
    before, after = " ".join(front), " ".join(back)
    if slot in _WITH_ARTICLE and lead in BEFORE_THE:
        lead = _with_article(frame, answer, before, lead, opened=bool(opened))
    body = f"{lead} {_bare_answer(answer.text, last=not (trail or after))}".strip()
    return _join(before, body, trail, after)


def _with_article(frame: Frame, answer: Answer, before: str, lead: str, *, opened: bool) -> str:
    """The lead with the article that the answer lacks, if it does; names asked for stay as they are."""
    text = answer.text
    missing = (answer.takes_article and allows_article(before)) or (
        not before and is_people(answer.words) and _head(frame.noun.lower()) in _PEOPLE
    )
    if missing and not opened:
        named = (not lead and FRONT_NAMING.search(before) is not None) or names_a_work(frame.noun)
        if not named:
            common = frame.rule == "equative" and text.islower() and _last_low(before) in BE
            return ("an" if text[0] in "aeiou" else "a") if common else f"{lead} the".strip()
    return "a" if answer.words[0] == "single" and not lead else lead


def _last_low(text: str) -> str:
    return text.rpartition(" ")[2].lower()


def _head(noun: str) -> str:
    """The last word, in lower case, of a noun phrase before any "of"."""
    return _last_low(noun.partition(" of ")[0])


@lru_cache(4096)
def names_a_work(noun: str) -> bool:
    """Whether answers may be titles, which can look like any phrase ("meet the parents")."""
    return not WORKS.isdisjoint(word.lower().removesuffix("s") for word in noun.split())


def _opened(frame: Frame, answer: Answer) -> str | None:
    """What a verb phrase needs in a place for a noun phrase: "to" in a predicate ("the aim is to win")."""
    if answer.is_adverbial:
        return None
    if answer.tags[:1] == ("VBG",) and len(answer.words) > 1 and _last_low(frame.before) in HAVE:
        return None
    form = answer.form
    if not form or FRONT_NAMING.search(frame.before):
        return ""
    if form == "finite":
        return None
    last = _last_low(frame.before)
    if frame.rule.endswith("equative") and last in BE:
        return "to"
    return "" if last in MODALS or last in ("to", "not") else None


def _place(answer: Answer, noun: str) -> tuple[str, str] | None:
    if answer.tags[:1] in (("VBZ",), ("VBD",), ("VBN",)) and answer.text[:1].islower():
        return None
    return place_preposition(answer.text, answer.first), noun


def _goal(answer: Answer, noun: str) -> tuple[str, str]:
    return "" if answer.first in ADVERBIAL_STARTS else "to", ""


def _time(answer: Answer, noun: str) -> tuple[str, str] | None:
    return (time_preposition(answer.text, answer.first), "") if may_be_time(answer.text) else None


def _dated(answer: Answer, noun: str) -> tuple[str, str]:
    """A wh-phrase such as "what year" with its preposition: the answer decides on it."""
    lead = time_preposition(answer.text, answer.first)
    if ORDINAL.fullmatch(answer.text):
        return lead if answer.first == "the" else f"{lead} the", noun
    return lead, ""


def _century(answer: Answer, noun: str) -> tuple[str, str]:
    """A wh-phrase such as "which century" whose preposition stands in the question."""
    if ORDINAL.fullmatch(answer.text):
        return "" if answer.first == "the" else "the", noun
    return "", ""


def _reason(answer: Answer, noun: str) -> tuple[str, str] | None:
    if answer.tags[:1] in (("VBN",), ("VBD",)) and not has_verb(answer.text, answer.tags):
        return None
    return reason_word(answer.first, answer.text, answer.tags), ""


def _manner(answer: Answer, noun: str) -> tuple[str, str] | None:
    word = manner_word(answer.first, answer.tags)
    return None if word is None else (word, "")


def _duration(answer: Answer, noun: str) -> tuple[str, str]:
    if answer.first in ADVERBIAL_STARTS - _ABOUT - {"early", "late"}:
        return "", ""
    return "from" if _UNTIL.search(answer.text) else "for", ""


def _article(answer: Answer, noun: str) -> tuple[str, str]:
    """ "... to ban a what": the article of the question goes where the answer has one."""
    if answer.first in DETERMINERS or answer.first[:1].isdigit():
        return "", ""
    return "an" if answer.first[:1] in "aeiou" else "a", ""


def _role(answer: Answer, noun: str) -> tuple[str, str]:
    """ "Who was Galilei" + "physicist": a count noun in the predicate takes "a"."""
    counted = _PERSON.search(answer.text) is not None or answer.words[-1] in COUNTABLE
    return _article(answer, noun) if counted and len(answer.words) < 4 and answer.text.islower() else ("", "")


def _sort(answer: Answer, noun: str) -> tuple[str, str]:
    """ "What kind of arches" + "rounded": an adjective takes the noun with it."""
    adjective = (
        answer.tags[-1:] in (("JJ",), ("VBN",))
        or _ADJECTIVE.search(answer.text)
        or answer.text in BARE_ADJECTIVES
    )
    if len(answer.words) > 3 or not (adjective or _is_one_of_several(answer, noun)):
        return "", ""
    lead = _article(answer, noun)[0] if noun.split(" of ")[0].split()[-1:] in _COUNTED else ""
    return lead, noun


def _is_one_of_several(answer: Answer, noun: str) -> bool:
    """Whether a noun in the singular can only modify the plural asked for ("sittings" + "autumn")."""
    word = noun.split(" of ")[0].rpartition(" ")[2]
    plural = _PLURAL_NOUN.fullmatch(word) is not None
    return plural and answer.tags == ("NN",) and answer.text.islower() and answer.text not in PLURALS


def _which(answer: Answer, noun: str) -> tuple[str, str] | None:
    if ORDINAL.fullmatch(answer.text):
        return "" if answer.first == "the" else "the", noun
    if len(answer.words) > 1 or not _is_bare_adjective(answer, noun):
        return "", ""
    if noun.startswith("other "):
        return None
    return "the" if _head(noun) in _WITH_HEAD else "", noun


def _is_bare_adjective(answer: Answer, noun: str) -> bool:
    """Whether one word can only modify the noun asked for ("level" + "federal", "group" + "Irish")."""
    head = _head(noun)
    if head in PLACES and not answer.text.endswith("ern") and answer.text not in BARE_ADJECTIVES:
        return False
    if answer.text.islower():
        if _PLAIN_ADJECTIVE.search(answer.text) or answer.text in BARE_ADJECTIVES:
            return True
        likely = _ADJECTIVE.search(answer.text) or answer.text.endswith(("-based", "-shaped", "-like"))
        return answer.tags[:1] == ("JJ",) and head not in KINDS and likely is not None and bool(likely)
    return _DEMONYM.fullmatch(answer.text) is not None and head.removesuffix("s") in PEOPLES


def _share(answer: Answer, noun: str) -> tuple[str, str]:
    trail = "" if " of " in f" {answer.text} " else noun
    if not _FIGURE.fullmatch(answer.text):
        return "", trail
    small = len(answer.text.split(".")[0]) < 3
    return "", f"percent {trail}" if small else trail.removeprefix("of ")


def _counted(answer: Answer, noun: str) -> tuple[str, str] | None:
    """The counted noun, unless the answer has it or an amount of money says it all."""
    low = answer.text.lower()
    if not noun or _CURRENCY.search(answer.text):
        return "", ""
    if _AMOUNT.fullmatch(low):
        return "", f"of {noun}"
    last = noun.split()[-1].lower()
    if noun.lower().startswith("of ") and " of " not in low:
        return "", noun
    if re.search(rf"\b{re.escape(last.removesuffix('s'))}", low):
        return "", ""
    lead = _quantity_article(answer)
    if _FRACTION.match(low):
        return "a", ""
    if _NUMBER.fullmatch(answer.text):
        return lead, _singular(noun) if low in ("one", "1") else noun
    if last.endswith("s") and not _QUANTITY.search(low):
        return None
    return lead, ""


def _quantity_article(answer: Answer) -> str:
    """ "estimated 2,000" and "additional three" take an article."""
    if answer.tags[:2] not in (("JJ", "CD"), ("VBN", "CD")) or not answer.first.endswith(("ed", "al", "ge")):
        return ""
    return "an" if answer.first[0] in "aeiou" else "a"


def _singular(noun: str) -> str:
    """The counted noun, before any "of", in the singular."""
    head, of, rest = noun.partition(" of ")
    if head.endswith("ies") and len(head) > 5:
        head = head[:-3] + "y"
    elif head.endswith(("ches", "shes", "sses", "xes")):
        head = head[:-2]
    elif head.endswith("s") and not head.endswith(("ss", "us", "is", "series", "species")):
        head = head[:-1]
    return head + of + rest


def _measured(answer: Answer, noun: str) -> tuple[str, str]:
    if re.search(rf"\b{re.escape(noun)}\b", answer.text.lower()):
        return "", ""
    if noun == "old" and _ONE_WORD.fullmatch(answer.text) and _NUMBER.fullmatch(answer.text):
        return "", "years old"
    return "", noun if _UNIT.fullmatch(answer.text) else ""


def _owned(frame: Frame, answer: Answer) -> str:
    return _join(frame.before, _possessive(answer.text), frame.noun, frame.after)


def _happening(frame: Frame, answer: Answer) -> str:
    """ "What will happen to X" + "lose it": a verb phrase has X as its subject."""
    subject, tail = frame.noun.split("|")
    if answer.tags[:1] not in (("VB",), ("VBP",), ("NN",)) or answer.first in DETERMINERS:
        return _join(answer.text, frame.after)
    return _join(subject, _bare_answer(answer.text, last=not tail), tail)


def _doing(frame: Frame, answer: Answer) -> str | None:
    """ "What did X do": a verb phrase takes the place of "do", a noun phrase is its object."""
    subject, auxiliary, _ = frame.noun.split("|")
    tag = answer.tags[0] if answer.tags else ""
    body = _bare_answer(answer.text, last=not frame.after)
    if auxiliary and ((is_past_tense(answer.first) and auxiliary == "did") or tag == "VBZ"):
        return _join(subject, body, frame.after)
    if not auxiliary:
        return _join(without_repeated(frame.before.rsplit(" ", 1)[0], answer.first), body, frame.after)
    if tag == "VBG" and auxiliary:
        return None
    opens = answer.tags[1:2] in (("IN",), ("DT",), ("PRP$",), ("TO",))
    if tag in ("VB", "VBP") or (tag == "NN" and opens and is_known_verb(answer.first)):
        return _join(subject, auxiliary, body, frame.after)
    return _join(frame.before, body, frame.after)


_FITTERS: dict[str, Callable[[Answer, str], tuple[str, str] | None]] = {
    "place": _place,
    "goal": _goal,
    "time": _time,
    "dated": _dated,
    "century": _century,
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
_WHOLE: dict[str, Callable[[Frame, Answer], str | None]] = {
    "possessive": _owned,
    "happening": _happening,
    "doing": _doing,
}


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
    someone = _ANYONE.match(frame.yes)
    if someone:
        return "no one" + frame.yes[someone.end() :]
    subject = _ANY.match(frame.no)
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
    return text if text.rstrip(_CLOSING).endswith(_END_MARKS) else text + "."


def _join(*parts: str) -> str:
    text = " ".join(part for part in parts if part)
    return _BEFORE_COMMA.sub("", text) if " , " in text else text


def _bare_answer(answer: str, *, last: bool) -> str:
    """Without a trailing full stop inside a statement, unless it belongs to an abbreviation."""
    answer = answer.rstrip(" ,;:")
    if last or not answer.endswith(".") or answer.endswith("..") or _ABBREVIATION.search(answer):
        return answer
    return answer[:-1]


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
