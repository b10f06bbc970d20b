"""Pronouns and the blanks of Winograd schemas, replaced by the candidates that they might stand for.

Casing and possessives follow the place: "his car" becomes "Bob's car", and "the trophy" gets a capital where
it begins a sentence. Nothing else of a text changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from punkt.data import english

from .rules import capitalised, filled, in_mid_sentence

_DETERMINING = frozenset({"his", "its", "their", "my", "our", "your", "whose"})
_STANDING_ALONE = frozenset({"hers", "theirs", "mine", "ours", "yours"})
# Words that cannot begin a noun phrase: before one of them, or at the end, "her" is an object.
_BEGIN_NO_NOUN_PHRASE = (
    "a about after again against all alone along also an and anymore around as at away because before "
    "behind both but by did does down during either even every for from had has he here home how i if in "
    "inside instead into is it just like more much near no nor not of off on once one only onto or out over "
    "she since so some soon still than that the there these they this those though through to today together "
    "tomorrow too toward towards under until up upon very was we were what when where whether which while "
    "who whom why with within without would yesterday yet you"
)
_AFTER_OBJECT_HER = frozenset(_BEGIN_NO_NOUN_PHRASE.split())
_NEXT_WORD = re.compile(r"\s*([^\W\d_]+)?")
_BACK_TO = re.compile(r"\s*back (?:to|from|in|into|home|at|up|after|when|and)\b")
_PERSONAL = frozenset({"he", "she", "him", "they", "them", "who", "whom"})
_OF_A_TEXT = "my|your|his|her|its|our|their|the|a|an|some|this|that|these|those"
_DETERMINED = re.compile(rf"(?:{_OF_A_TEXT})\b", re.IGNORECASE)
STOP = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[`]*[A-Z0-9_])")


def possessive(name: str) -> str:
    """The possessive of a name: "Bob's", "the councilmen's", "the guests'".

    >>> possessive("Bob"), possessive("the demonstrators"), possessive("James")
    ("Bob's", "the demonstrators'", "James's")
    """
    if name.endswith(("'s", "’s", "s'", "s’")):
        return name
    plural = name.endswith("s") and not name.endswith("ss") and not name.split()[-1][:1].isupper()
    return f"{name}'" if plural else f"{name}'s"


def is_possessive(pronoun: str, following: str) -> bool:
    """Whether a pronoun stands for a possessive, given the text after it.

    "her" is one unless what follows cannot begin a noun phrase: nothing, punctuation, a preposition, ...

    >>> is_possessive("her", " hand"), is_possessive("her", " with it."), is_possessive("him", " it")
    (True, False, False)
    """
    word = pronoun.lower()
    if word in _DETERMINING or word in _STANDING_ALONE:
        return True
    if word != "her" or _BACK_TO.match(following):
        return False
    match = _NEXT_WORD.match(following)
    following_word = match.group(1) if match else None
    return following_word is not None and following_word.lower() not in _AFTER_OBJECT_HER


def replace_pronoun(text: str, start: int, pronoun: str, candidate: str) -> str:
    """`text` with the pronoun at `start` replaced by the candidate that it might stand for.

    The candidate becomes a possessive where the pronoun is one, and loses that form where the pronoun stands
    for a person and is none; it takes a capital where the pronoun has one, and else gets its determiner in
    lower case. Raises ValueError if the pronoun does not stand there,
    EmptyComponentError for an empty candidate.

    >>> replace_pronoun("Ann rang as his car broke.", 12, "his", "Bob")
    "Ann rang as Bob's car broke."
    """
    return replaced_by_each(text, start, pronoun, [candidate])[0]


def replaced_by_each(text: str, start: int, pronoun: str, candidates: Iterable[str]) -> list[str]:
    """`replace_pronoun` for every candidate, in order."""
    end = start + len(pronoun)
    if not pronoun or text[start:end] != pronoun:
        raise ValueError(f"{pronoun!r} does not stand at {start}")
    before, after = text[:start], text[end:]
    owns, person = is_possessive(pronoun, after), pronoun.lower() in _PERSONAL
    cased: Callable[[str], str] = capitalised if pronoun[0].isupper() else in_mid_sentence
    made = []
    for candidate in candidates:
        name = filled("candidate", candidate)
        if owns:
            name = possessive(name)
        elif person:
            name = name.removesuffix("'s").removesuffix("’s")
        made.append(f"{before}{cased(name)}{after}")
    return made


def with_determiner(text: str, candidate: str) -> str:
    """A candidate that was cut from `text` without the determiner before it, with one.

    A possessive pronoun is taken as it is, any other determiner becomes "the"; an adjective may stand
    between. Names, and candidates that have a determiner or never had one, are left as they are.

    >>> with_determiner("Ann fired her trainer.", "trainer"), with_determiner("A tall man ate.", "man")
    ('her trainer', 'the man')
    """
    if not candidate[:1].islower() or _DETERMINED.match(candidate):
        return candidate
    pattern = rf"\b({_OF_A_TEXT})\s+(?:[^\W\d_]+\s+)?{re.escape(candidate)}\b"
    match = re.search(pattern, text, re.IGNORECASE)
    if match is None:
        return candidate
    determiner = match.group(1).lower()
    return f"{determiner if determiner in _DETERMINING or determiner == 'her' else 'the'} {candidate}"


def fill_blank(text: str, blank: str, candidate: str) -> str:
    """`text` with the one `blank` in it replaced, its casing after its place in the sentence.

    Raises ValueError unless the blank stands there exactly once, EmptyComponentError for an empty candidate.

    >>> fill_blank("It rained. _ got wet.", "_", "the cat")
    'It rained. The cat got wet.'
    """
    if text.count(blank) != 1:
        raise ValueError(f"{text.count(blank)} blanks")
    name = filled("candidate", candidate)
    start = text.index(blank)
    before = text[:start].rstrip("\"'“‘([` ")
    name = capitalised(name) if not before or before[-1] in ".!?" else in_mid_sentence(name)
    return text[:start] + name + text[start + len(blank) :]


def sentence_around(text: str, position: int, size: int = 1) -> tuple[int, int]:
    """Where the sentence begins and ends (exclusive) that `position` stands in, without white space around.

    It goes on to the end of the sentence in which the last of the `size` characters from there stands.

    A sentence ends with `.`, `!` or `?` before white space and a capital, a digit or `_` (a blank), unless
    the full stop is that of an initial or of an abbreviation that Punkt knows.

    >>> text = "Mr. Ali sat. He slept."
    >>> [text[slice(*sentence_around(text, place))] for place in (0, 14)]
    ['Mr. Ali sat.', 'He slept.']
    """
    start, end = 0, len(text)
    # White space after the nearest mark may reach over the position: it ends the sentence then.
    mark, search_from = _last_mark(text, position), position
    while mark >= 0:
        stop = STOP.match(text, mark)
        if stop is not None:
            if stop.end() > position:
                search_from = mark
            elif ends_sentence(stop):
                start = stop.end()
                break
        mark = _last_mark(text, mark)
    for stop in STOP.finditer(text, search_from):
        if stop.end() >= position + size and ends_sentence(stop):
            end = stop.end()
            break
    while start < end and text[start].isspace():
        start += 1
    return start, start + len(text[start:end].rstrip())


def _last_mark(text: str, end: int) -> int:
    """Where the last mark that may end a sentence stands before `end`; -1 if there is none."""
    return max(text.rfind(".", 0, end), text.rfind("!", 0, end), text.rfind("?", 0, end))


def ends_sentence(stop: re.Match[str]) -> bool:
    """Whether a mark is no full stop of an initial ("W.", "U.S.") or of a known abbreviation."""
    text, place = stop.string, stop.start()
    if text[place] != ".":
        return True
    start = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place)) + 1
    stem = text[start:place].lstrip("\"'“‘([`")
    if stem.lower() in english.ABBREV_TYPES:
        return False
    if len(stem) > 1 and stem[1] != ".":
        return True
    return stem == "I" or not all(len(letter) == 1 and letter.isupper() for letter in stem.split("."))
