"""Questions as words with tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ._word_sets import NOMINAL, RELATIVE
from .tagging import TaggedWords

_EDGE = "\"'“”‘’()[]{},.;:!?`«»*"
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "'"}
_POSSESSIVE = re.compile(r"(?i)(.+)(['’]s)")


@dataclass(slots=True)
class Question:
    """Words of a question in parallel lists: as written, bare and lower-case, tagged, before a comma."""

    words: list[str]
    lows: list[str]
    tags: list[str]
    base: list[int]
    participle: list[int]
    commas: list[bool]

    def __len__(self) -> int:
        return len(self.words)

    def text(self, start: int, end: int | None = None) -> str:
        """The words `start:end` as they were written, joined by single spaces."""
        return " ".join(self.words[start:end])

    def tag(self, index: int) -> str:
        """The tag of a word, "" past the end."""
        return self.tags[index] if index < len(self.tags) else ""

    def low(self, index: int) -> str:
        """A word without its punctuation in lower case, "" past the end."""
        return self.lows[index] if index < len(self.lows) else ""

    def is_nominal(self, index: int) -> bool:
        """Whether a word can end a noun phrase."""
        return self.tags[index] in NOMINAL

    def is_relative(self, index: int) -> bool:
        """Whether a word can open a relative clause; a capital makes it part of a name ("Doctor Who")."""
        return self.lows[index] in RELATIVE and self.words[index][:1].islower()

    def is_quoted(self, index: int) -> bool:
        """Whether a quotation opens before a word and closes at it or after it."""
        opened = ""
        for word in self.words[:index]:
            if not opened and word[0] in _QUOTES and not _closes(word[1:], _QUOTES[word[0]]):
                opened = _QUOTES[word[0]]
            elif opened and _closes(word, opened):
                opened = ""
        return bool(opened) and any(_closes(word, opened) for word in self.words[index:])

    def part(self, start: int, end: int | None = None) -> Question:
        """The words `start:end` as a question of their own."""
        where = slice(start, end)
        return Question(
            self.words[where],
            self.lows[where],
            self.tags[where],
            self.base[where],
            self.participle[where],
            self.commas[where],
        )


def _closes(word: str, mark: str) -> bool:
    return mark in word[-2:]


@lru_cache(65_536)
def bare(word: str) -> str:
    """A word without quotes, brackets and punctuation at its edges; itself where nothing is left."""
    return word.strip(_EDGE) or word


@lru_cache(65_536)
def low_word(word: str) -> str:
    """A word as rules compare it: bare, in lower case, with a straight apostrophe."""
    return bare(word).lower().replace("’", "'")


def tagger_words(words: Iterable[str]) -> tuple[list[str], list[int]]:
    """The words as the tagger knows them (Treebank), and for each of `words` the number of its first part."""
    parts: list[str] = []
    starts = []
    for word in words:
        starts.append(len(parts))
        parts += _word_parts(word)
    return parts, starts


@lru_cache(65_536)
def _word_parts(word: str) -> tuple[str, ...]:
    core = bare(word)
    possessive = _POSSESSIVE.fullmatch(core)
    parts = (possessive[1], "'s") if possessive else (core,)
    return (*parts, ",") if word[-1] in ",;:" and word != core else parts


def tagged_question(words: list[str], tagged: TaggedWords, starts: Sequence[int]) -> Question:
    """A question from its words and the tags of `tagger_words`."""
    tags, base, participle = list(tagged.tags), list(tagged.base_verb), list(tagged.participle)
    if len(tags) > len(words):
        tags, base, participle = (
            [tags[i] for i in starts],
            [base[i] for i in starts],
            [participle[i] for i in starts],
        )
    commas = [word[-1] in ",;:" for word in words]
    lows = list(map(low_word, words))
    if "VBG" in tags:
        # names in lower case ("egypt")
        pairs = zip(tags, lows, strict=True)
        tags = ["NN" if tag == "VBG" and not low.endswith(("ing", "in'")) else tag for tag, low in pairs]
    return Question(words, lows, tags, base, participle, commas)
