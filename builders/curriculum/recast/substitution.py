"""Wrong answers of the type of the right one, from the same passage or from the same corpus.

Source: "Curriculum" (2204.06283, Section 3): hypotheses that are not entailed come from free-response answers
by another answer of the type. What is chosen depends on the answers, the passage and the row's key alone:
neither the order of rows nor that of candidates matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from .rules import NO_NAMES, normalised, stable_number

Kind = Literal["date", "year", "percentage", "money", "quantity", "number", "name", "phrase"]

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan\.?|Feb\.?|Mar\.?|Apr\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)"
)
_DATE_FORM = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?"
    rf"|{_MONTH},?\s+\d{{4}})"
)
_UNITS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
_TENS = "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_NUMBER_WORD = rf"(?:{_UNITS}|{_TENS})(?:-(?:{_UNITS}))?"
_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_NUMBER_FORM = rf"(?:{_DIGITS}|{_NUMBER_WORD})(?:\s+(?:hundred|thousand|million|billion|trillion))?"
_YEAR_FORM = r"(?:1\d{3}|20\d{2})"

_DATE = re.compile(rf"\b{_DATE_FORM}(?!\w)")
_YEAR = re.compile(rf"(?<![\w.,$£€-]){_YEAR_FORM}(?![\w%]|[.,]\d)")
_PERCENTAGE = re.compile(rf"(?<![\w.,]){_NUMBER_FORM}\s?(?:%|percent\b|per cent\b)", re.IGNORECASE)
_MONEY = re.compile(rf"[$£€]\s?{_NUMBER_FORM}", re.IGNORECASE)
_NUMBER = re.compile(rf"(?<![\w.,$£€]){_NUMBER_FORM}(?!\w|%|[.,]\d)", re.IGNORECASE)
_QUANTITY = re.compile(rf"({_NUMBER_FORM})((?:[-\s][a-z]+){{1,3}})", re.IGNORECASE)
# What all of these begin with.
_BEGINS_FORM = re.compile(rf"[\d$£€]|{_MONTH}|{_UNITS}|{_TENS}", re.IGNORECASE)
_CAPITALISED = r"[A-Z][\w'’-]*"
_NAME = re.compile(rf"{_CAPITALISED}(?:\s+(?:(?:of|de|van|von)\s+)?{_CAPITALISED})*")
_OPENING = " \"'“‘(["
_ENDS_SENTENCE = ".!?:\n"
_LINKS = frozenset({"of", "de", "van", "von", "the", "and", "for", "in", "a", "an", "&"})
_PREPOSITION = (
    "about above across after against along among around as at before behind below beneath beside between "
    "beyond by down during for from in inside into near of off on onto out outside over past since through "
    "throughout to toward towards under until up upon via when where while with within without because if"
)
_PREPOSITIONS = frozenset(_PREPOSITION.split())
_CALENDAR = re.compile(rf"{_MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day")
# Each kind with its form and a sign that a text may have one, which is quicker to look for.
_FORMS: tuple[tuple[Kind, re.Pattern[str], re.Pattern[str] | None], ...] = (
    ("date", _DATE, re.compile(_MONTH)),
    ("percentage", _PERCENTAGE, re.compile("%|cent", re.IGNORECASE)),
    ("money", _MONEY, re.compile("[$£€]")),
    ("year", _YEAR, None),
    ("number", _NUMBER, None),
)


@lru_cache(maxsize=1 << 16)
def kind_of(answer: str) -> Kind:
    """The type of an answer: what may be put in its place.

    >>> [kind_of(text) for text in ("1998", "May 3, 1998", "35 yards", "twelve", "Bank of Ghana", "a cold")]
    ['year', 'date', 'quantity', 'number', 'name', 'phrase']
    """
    text = answer.strip().rstrip(".")
    if _BEGINS_FORM.match(text):
        for kind, form, _ in _FORMS:
            if form.fullmatch(text):
                return kind
        if _QUANTITY.fullmatch(text):
            return "quantity"
    words = text.split()
    named = [word for word in words if word.lower() not in _LINKS]
    begins = bool(words) and (words[0] in named or words[0].lower() == "the")
    if begins and named and len(words) <= 8 and all(word[0].isupper() for word in named):
        return "name"
    return "phrase"


class WrongAnswers:
    """Draws wrong answers; `answers` are those of the whole corpus, the last resort.

    >>> draw = WrongAnswers(["Rome", "Paris"]).draw
    >>> draw(["Rome"], key="1"), draw(["1990"], key="1", passage="Built 1990, burnt 1995.")
    ('Paris', '1995')
    """

    def __init__(self, answers: Iterable[str]) -> None:
        self._answers = set(answers)
        self._sorted: dict[tuple[str, int], list[str]] = {}

    def draw(
        self,
        gold: Sequence[str],
        *,
        key: str,
        nearby: Sequence[str] = (),
        passage: str = "",
        question: str = "",
    ) -> str | None:
        """An answer of the kind of `gold[0]` that is none of `gold`; None if there is none.

        First comes one of `nearby` (answers to other questions about the passage), then what the passage
        itself has of that kind, then the corpus. Nothing is drawn that is equal to a gold answer after
        normalisation, contains one, is contained in one, or is all in the question.
        """
        kind = kind_of(gold[0])
        wrong = _Wrong(gold, question)
        if kind == "quantity":
            return self._quantity(gold[0], wrong, key, passage)
        fitting = wrong.allowed(_by_shape(tuple(nearby)).get(_shape(gold[0]), ()))
        if not fitting:
            fitting = wrong.allowed(_candidates_in(passage, kind))
        if fitting:
            return fitting[stable_number(key) % len(fitting)]
        return self._from_pool(_shelf(gold[0]), wrong, key)

    def _quantity(self, gold: str, wrong: _Wrong, key: str, passage: str) -> str | None:
        """The quantity with another number before its unit."""
        match = _QUANTITY.fullmatch(gold.strip().rstrip("."))
        unit = match.group(2) if match else ""
        fitting = wrong.allowed(_candidates([number + unit for number in found_in(passage, "number")]))
        if fitting:
            return fitting[stable_number(key) % len(fitting)]
        number = self._from_pool(("number", 0), wrong, key, unit)
        return None if number is None else number + unit

    @cached_property
    def _shelves(self) -> dict[tuple[str, int], list[str]]:
        """The answers of the corpus: they are needed only where a passage has no fitting one."""
        shelves: dict[tuple[str, int], list[str]] = {}
        for answer in self._answers:
            shelves.setdefault(_shelf(answer), []).append(answer)
        return shelves

    def _on_shelf(self, shelf: tuple[str, int]) -> list[str]:
        """The answers of a shelf in an order that does not depend on that of the corpus."""
        if shelf not in self._sorted:
            found = self._shelves.get(shelf, ())
            self._sorted[shelf] = sorted(found, key=lambda answer: (normalised(answer), answer))
        return self._sorted[shelf]

    def _from_pool(self, shelf: tuple[str, int], wrong: _Wrong, key: str, unit: str = "") -> str | None:
        """The first fitting answer of a shelf, from a place that the key gives on."""
        answers = self._on_shelf(shelf)
        if not answers:
            return None
        start = stable_number(key) % len(answers)
        for step in range(min(len(answers), 50)):
            answer = answers[(start + step) % len(answers)]
            if wrong.allowed(_candidates([answer + unit])):
                return answer
        return None


class _Candidate(NamedTuple):
    """What may be drawn, and the words by which it is compared."""

    text: str
    words: frozenset[str]


def _candidates(texts: Iterable[str]) -> tuple[_Candidate, ...]:
    """Each text once, in an order that does not depend on that of `texts`."""
    return tuple([_Candidate(text, _words(text)) for text in sorted(set(texts))])


@lru_cache(maxsize=512)
def _by_shape(answers: tuple[str, ...]) -> dict[str, tuple[_Candidate, ...]]:
    """The answers to the questions on one passage by shape: all of these questions draw from them."""
    shelves: dict[str, list[str]] = {}
    for answer in set(answers):
        shelves.setdefault(_shape(answer), []).append(answer)
    return {shape: _candidates(shelf) for shape, shelf in shelves.items()}


@lru_cache(maxsize=512)
def _candidates_in(passage: str, kind: Kind) -> tuple[_Candidate, ...]:
    return _candidates(found_in(passage, kind))


@lru_cache(maxsize=1 << 16)
def _shape(answer: str) -> str:
    """The kind, and for phrases how they begin: with a figure, a preposition (which one) or otherwise."""
    kind = kind_of(answer)
    if kind != "phrase":
        return kind
    first = answer.split()[0].lower()
    if first in _PREPOSITIONS:
        return f"phrase with {first}"
    return "phrase with a figure" if first[0].isdigit() else kind


def _shelf(answer: str) -> tuple[str, int]:
    """Shape and, for names and phrases, a class of length: wrong answers are about as long as right ones."""
    shape = _shape(answer)
    return shape, min(len(answer.split()), 8) // 2 if shape.startswith(("name", "phrase")) else 0


class _Wrong:
    """Whether a candidate is surely another answer than the gold ones."""

    def __init__(self, gold: Sequence[str], question: str) -> None:
        distinct = dict.fromkeys(map(_words, gold))
        self._gold = [words for words in distinct if words]
        self._question = _words(question)

    def allowed(self, candidates: Iterable[_Candidate]) -> list[str]:
        fitting = [item for item in candidates if item.words and not item.words <= self._question]
        for gold in self._gold:
            fitting = [item for item in fitting if not (item.words <= gold or gold <= item.words)]
        return [item.text for item in fitting]


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> frozenset[str]:
    return frozenset(normalised(text).split())


@lru_cache(maxsize=512)
def found_in(passage: str, kind: Kind) -> tuple[str, ...]:
    """What a passage has of a kind, every form once, in order; nothing for phrases and quantities.

    What is part of a date, a percentage or an amount of money is no year or number of its own.
    """
    if kind == "name":
        return tuple(dict.fromkeys(_names(passage)))
    rest = passage
    for form_kind, form, sign in _FORMS:
        if sign is None or sign.search(rest):
            if form_kind == kind:
                return tuple(dict.fromkeys(match.group() for match in form.finditer(rest)))
            if form_kind != "number":
                rest = form.sub(lambda match: "\x00" * len(match.group()), rest)
    return ()


def _names(passage: str) -> Iterator[str]:
    """Runs of capitalised words; a single word that begins a sentence may be none and is left out."""
    for match in _NAME.finditer(passage):
        name = match.group().rstrip(".")
        before = match.start() - 1
        while before >= 0 and passage[before] in _OPENING:
            before -= 1
        begins = before < 0 or passage[before] in _ENDS_SENTENCE
        first, _, rest = name.partition(" ")
        if first.lower() in NO_NAMES:
            name, begins = rest.removeprefix("of ").removeprefix("and "), False
        if len(name) > 1 and not (begins and " " not in name) and not _CALENDAR.fullmatch(name):
            yield name.removesuffix("'s").removesuffix("’s")
