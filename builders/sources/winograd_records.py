"""What one record of a Winograd-style test set says, for every reader that needs it.

Nothing here knows of folders, tables or configs: records go in, and their parts come out as they stand, so
that the readers of the test sets and the recasts of the same corpora cannot differ.

Sources: "The Winograd Schema Challenge" (Levesque, Davis and Morgenstern, 2012); "WinoGrande: An Adversarial
Winograd Schema Challenge at Scale" (1907.10641).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .records import Record

BLANK = "_"
NOT_ONE_BLANK = "not one blank"
UNKNOWN_ANSWER = "unknown answer"

_PARTS_OF_TEXT = ("text/txt1", "text/pron", "text/txt2")
_ANSWER = re.compile(r"\s*([A-Z])\s*\.?\s*")
_NO_SPACE_BEFORE = (",", ".", ";", ":", "!", "?", ")", "]", "’", "'")
_OPENS = ('"', "“", "(")
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})
# "wine-12-1" and "wine-12-2" are twins.
_TWIN = re.compile(r"-[12]$")


class Schema(NamedTuple):
    """A `schema` of `WSCollection.xml` or of PDP in the same form.

    `text[pronoun_loc:]` begins with `pronoun`; both may be empty where the record has none. `correct` is the
    number of the right answer.
    """

    text: str
    pronoun: str
    pronoun_loc: int
    answers: tuple[str, ...]
    correct: int


def parse_schema(record: Record) -> Schema:
    """The parts of a `schema` element (see `XmlRecords`).

    White space is that of the XML layout and is collapsed; between the three parts of the text there is a
    space, but for one before a mark that follows a word. `correctAnswer` is a letter with or without a full
    stop and white space. Raises SourceError for missing parts and for an answer that is none of the letters.
    """
    before, pronoun, after = [" ".join(" ".join(record.texts(name)).split()) for name in _PARTS_OF_TEXT]
    before += "" if not before or before.endswith(_OPENS) else " "
    text = before + pronoun + ("" if not after or after.startswith(_NO_SPACE_BEFORE) else " ") + after
    answers = tuple([" ".join(answer.split()) for answer in record.texts("answers/answer")])
    return Schema(text, pronoun, len(before), answers, _correct(record, len(answers)))


def _correct(record: Record, answers: int) -> int:
    given = "".join(record.texts("correctAnswer")[:1])
    number = _number_of_letter(given)
    if number is None or number >= answers:
        known = ", ".join(chr(ord("A") + n) for n in range(answers))
        raise record.fault(UNKNOWN_ANSWER, "correctAnswer", value=given, fix=f"known answers: {known}")
    return number


@lru_cache(maxsize=1 << 8)
def _number_of_letter(given: str) -> int | None:
    match = _ANSWER.fullmatch(given)
    return ord(match.group(1)) - ord("A") if match else None


class BlankSentence(NamedTuple):
    """A sentence with one `_` that one of two options fills.

    `correct` is the number of the right option, None where the record has no answer. `twins` is what the two
    sentences of a pair share of their ids.
    """

    sentence: str
    options: tuple[str, str]
    correct: int | None
    name: str
    twins: str


def has_answer(record: Record) -> bool:
    """Whether a record of WinoGrande has an answer: those of the test set have none."""
    return record.fields.get("answer") not in (None, "")


def parse_blank(record: Record) -> BlankSentence:
    """A record of WinoGrande's JSON Lines: `qID`, `sentence`, `option1`, `option2`, `answer` (1 or 2).

    White space around the sentence goes. Raises SourceError for a missing part, a sentence with another
    number of blanks than one, and an unknown answer.
    """
    correct = record.label("answer", {"1": 0, "2": 1, 1: 0, 2: 1}) if has_answer(record) else None
    sentence = record.filled_text("sentence").strip()
    if sentence.count(BLANK) != 1:
        fix = "the sentence has one _ for the options"
        raise record.fault(NOT_ONE_BLANK, "sentence", value=sentence, fix=fix)
    name = record.text("qID")
    options = (record.text("option1"), record.text("option2"))
    return BlankSentence(sentence, options, correct, name, _TWIN.sub("", name))


def same_options(options: Iterable[str]) -> frozenset[str]:
    """What the options of two twins have in common: case, articles, punctuation and order do not count.

    >>> same_options(["The Men ", "a dog"]) == same_options(["dog", "men"])
    True
    """
    return frozenset(map(_plain_option, options))


@lru_cache(maxsize=1 << 12)
def _plain_option(option: str) -> str:
    return " ".join([word for word in _WORD.findall(option.lower()) if word not in _ARTICLES])


def twin_groups(items: Iterable[tuple[str, Sequence[str]]]) -> Iterator[int]:
    """For each item (text, options) the number of the first one of its group of twins.

    Twins follow each other in the published files, have the same options, and share most of their texts: the
    characters that they begin and end with alike are at least half of the shorter one. Without the last rule
    two schemas about the same two people would be one.

    >>> texts = ("Al fed Bo as he ate.", "Al fed Bo as he sat.", "Bo ran.")
    >>> list(twin_groups((text, ["Al", "Bo"]) for text in texts))
    [0, 0, 2]
    """
    first, shared, beginning = 0, frozenset[str](), ""
    for number, (text, options) in enumerate(items):
        found = same_options(options)
        if not number or found != shared or not _mostly_alike(beginning, text):
            first, shared, beginning = number, found, text
        yield first


def _mostly_alike(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    ahead = _shared(one, other)
    behind = _shared(one[ahead:][::-1], other[ahead:][::-1])
    return 2 * (ahead + behind) >= shorter


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def blanks_of_pair(first: str, second: str, candidates: tuple[str, str]) -> tuple[str, list[int]] | None:
    """The text from which two were made by putting a candidate each in the same places, with `_` in them.

    Returns the text and the offsets of its blanks, or None if the two differ elsewhere, too. Case does not
    count where a candidate stands.

    >>> blanks_of_pair("Al rang Bo as Al was ill.", "Al rang Bo as Bo was ill.", ("Al", "Bo"))
    ('Al rang Bo as _ was ill.', [14])
    """
    text, blanks, one, other = "", list[int](), first, second
    while one != other:
        place = _first_difference(one, other, candidates)
        if place is None:
            return None
        blanks.append(len(text) + place)
        text += one[:place] + BLANK
        one, other = one[place + len(candidates[0]) :], other[place + len(candidates[1]) :]
    return (text + one, blanks) if blanks else None


def _first_difference(one: str, other: str, candidates: tuple[str, str]) -> int | None:
    """Where the candidates begin that make two texts differ first."""
    shared = _shared(one, other)
    # Candidates may begin alike ("Rose", "Rose Ann"): where both stand last, at the edge of a word.
    for place in range(shared, max(-1, shared - max(map(len, candidates)) - 1), -1):
        stand = _stands(one, place, candidates[0]) and _stands(other, place, candidates[1])
        if stand and not (place and one[place - 1].isalnum()):
            return place
    return None


def _stands(text: str, place: int, candidate: str) -> bool:
    return bool(candidate) and text[place : place + len(candidate)].lower() == candidate.lower()
