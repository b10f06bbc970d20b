"""The words that mining looks for, and which words of a sentence may name a candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ...errors import SourceError
from ...text.tagging import Tagger
from ..sources.files import SourceFolder

Gender = Literal["female", "male"]

CONNECTIVES = (
    ",", ";", "or", "since", "but", "because", "although", "even though", "though", "after", "so", "if",
    "whether", "until", "where", "when",
)  # fmt: skip
PRONOUNS = ("he", "she", "it", "they", "him", "her", "them", "their", "his", "hers", "these", "those")
GENDER_OF_PRONOUN: dict[str, Gender] = {
    "he": "male",
    "him": "male",
    "his": "male",
    "she": "female",
    "her": "female",
    "hers": "female",
}
"""The pronouns that mark a problem as one about persons."""

CONNECTIVE_PUBLISHED = re.compile(rf"\b(?:{'|'.join(CONNECTIVES)})\b")
"""As the published code has it: `,` and `;` are found only between two letters without a space."""
CONNECTIVE = re.compile(rf"[,;]|\b(?:{'|'.join(CONNECTIVES[2:])})\b")
PRONOUN = re.compile(rf"\b(?:{'|'.join(PRONOUNS)})\b")
PRONOUN_ANY_CASE = re.compile(PRONOUN.pattern, re.IGNORECASE)

_CANDIDATE = re.compile(r"\w\w\w+")
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")


class NounTest(Protocol):
    """Decides which words of tokenised sentences may be nouns."""

    def candidates(self, sentences: Sequence[Sequence[str]]) -> list[frozenset[str]]:
        """For each sentence, its words of three letters or more that may be nouns."""
        ...

    def identity(self) -> str:
        """What decides, for the record of a run."""
        ...


@dataclass(frozen=True)
class ExcludedWords:
    """Every word may be a noun but those of a list, as in the published code (case-sensitive)."""

    words: frozenset[str]
    name: str = "list"

    def candidates(self, sentences: Sequence[Sequence[str]]) -> list[frozenset[str]]:
        return [
            frozenset(word for word in words if word not in self.words and _CANDIDATE.fullmatch(word))
            for words in sentences
        ]

    def identity(self) -> str:
        return f"{self.name} of {len(self.words)} words that are not nouns"


@dataclass(frozen=True)
class TaggedNouns:
    """A word may be a noun where a part-of-speech tagger takes it for one (tag N...)."""

    tagger: Tagger

    def candidates(self, sentences: Sequence[Sequence[str]]) -> list[frozenset[str]]:
        return [
            frozenset(
                word
                for word, tag in zip(words, tagged.tags, strict=True)
                if tag.startswith("N") and _CANDIDATE.fullmatch(word)
            )
            for words, tagged in zip(sentences, self.tagger.tag(sentences), strict=True)
        ]

    def identity(self) -> str:
        return "part-of-speech tagger"


def read_treebank(path: str | Path) -> ExcludedWords:
    """The words that stand in a Penn Treebank sample with a tag that is none of a noun (published code).

    `path` is NLTK's `treebank.zip` or its folder with `.mrg` files. Its licence keeps it to non-commercial
    use, so it is the user's. The sample of NLTK gives 6,381 words. Raises SourceError for a path without
    bracketed trees.
    """
    words: set[str] = set()
    files = [file for file in SourceFolder(Path(path)).files if file.format == "mrg"]
    if not files:
        raise SourceError(
            "no .mrg file of a treebank", path=path, fix="give NLTK's treebank.zip, or leave --treebank out"
        )
    for file in files:
        with file.open() as stream:
            text = stream.read().decode("utf-8", "replace")
        words.update(word for tag, word in _LEAF.findall(text) if not tag.startswith("N"))
    if not words:
        raise SourceError("no tree in the .mrg files", path=path, fix="give NLTK's treebank.zip")
    return ExcludedWords(frozenset(words), "treebank")
