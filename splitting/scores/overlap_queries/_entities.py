"""Where the options of a test instance stand in its text, also where they do not stand there verbatim."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from benchwright.text.parsing import ParsedSentence

from .base import word_set

BLANK = "_"
"""What stands for the pronoun in WinoGrande, and in releases that replaced it."""

DETERMINERS = word_set(
    "a an the this that these those my your his her its our their some any one each every both"
)

_PIECE = re.compile(r"\w+")
_BLANK = re.compile(r"(?<!\w)_(?!\w)")
_LEADING = re.compile(rf"(?:(?:{'|'.join(sorted(DETERMINERS))})\s+)+", re.IGNORECASE)
# where the head noun of an option ends: "copies of our newsletter", "the jar with the label"
_POSTMODIFIERS = word_set("of in on at with from by for to about near behind under over who that which whose")
_MOST_PLACES = 8


class Filled(NamedTuple):
    """A text that a parser can read; `start` and `end` (characters) hold what stands for the pronoun."""

    text: str
    start: int
    end: int


def fill_blanks(text: str, pronoun: str, start: int, options: Sequence[str]) -> Filled:
    """The text with an option in the place of every `_`, since parsers know no blanks.

    The first option is taken, without its determiner where one stands before the blank; a text with its
    pronoun is kept as it is. `start`: the character where `pronoun` stands.
    """
    if pronoun != BLANK or not options:
        return Filled(text, start, start + len(pronoun))
    parts: list[str] = []
    size, done, place = 0, 0, Filled(text, start, start + len(pronoun))
    for blank in _BLANK.finditer(text):
        before = text[done : blank.start()]
        word = _option_in_place(options[0], text[: blank.start()])
        parts += [before, word]
        size += len(before)
        if blank.start() == start:
            place = Filled("", size, size + len(word))
        size += len(word)
        done = blank.end()
    parts.append(text[done:])
    return place._replace(text="".join(parts))


def _option_in_place(option: str, before: str) -> str:
    bare = _LEADING.sub("", option, count=1).strip() if _LEADING.match(option) else option.strip()
    words = before.split()
    if words and words[-1].lower() in DETERMINERS:
        return bare
    starts = not words or words[-1][-1] in ".!?"
    word = option.strip()
    return word[:1].upper() + word[1:] if starts else word


def find_option(parsed: ParsedSentence, option: str, excluded: Collection[int]) -> list[range]:
    """The places of an option, as ranges of tokens in order of the text; at most 8.

    Determiners and case are passed over. An option that is not there so is looked for by lemmas, then by its
    head noun, then by any of its words, the last one first. `excluded` tokens (the pronoun's) are no place.
    """
    pieces = [p for p in _pieces(parsed) if p.token not in excluded]
    words = _option_words(option)
    if not words:
        return []
    head = next((i for i, word in enumerate(words) if i and word in _POSTMODIFIERS), len(words))
    attempts: list[tuple[Sequence[str], bool]] = [
        (words, False),
        (words, True),
        (words[head - 1 : head], True),
    ]
    attempts += [([word], True) for word in reversed(words) if len(word) > 2 and word not in _POSTMODIFIERS]
    for attempt, by_lemma in attempts:
        found = list(_places(pieces, attempt, by_lemma=by_lemma))
        if found:
            return found[:_MOST_PLACES]
    return []


class _Piece(NamedTuple):
    token: int
    word: str
    lemma: str


def _pieces(parsed: ParsedSentence) -> list[_Piece]:
    """Runs of letters and digits: spaCy splits `Ann's` and keeps `pan-`, options are written as they come."""
    found = []
    for token, word in enumerate(parsed.words):
        parts = _PIECE.findall(word.lower())
        lemma = parsed.lemmas[token].lower() if len(parts) == 1 else ""
        found += [_Piece(token, part, lemma or part) for part in parts]
    return found


def _option_words(option: str) -> list[str]:
    words = _PIECE.findall(re.sub(r"['’]s?\s*$", "", option.strip().lower()))
    while len(words) > 1 and words[0] in DETERMINERS:
        del words[0]
    return words


def _places(pieces: Sequence[_Piece], words: Sequence[str], *, by_lemma: bool) -> Iterator[range]:
    for start in range(len(pieces) - len(words) + 1):
        chosen = pieces[start : start + len(words)]
        if all(_same(piece, word, by_lemma=by_lemma) for piece, word in zip(chosen, words, strict=True)):
            yield range(chosen[0].token, chosen[-1].token + 1)


def _same(piece: _Piece, word: str, *, by_lemma: bool) -> bool:
    if piece.word == word:
        return True
    return by_lemma and (piece.lemma == word or _singular(word) in (piece.lemma, piece.word))


def _singular(word: str) -> str:
    """A plural's singular as far as endings tell; the lemmas of the text do the rest."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
