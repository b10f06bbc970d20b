"""Constituency parsers that analyses can call: a seam for packages, with two built in.

A parser is a class that is registered under a name (`parsers`, entry points `benchwright.parsers`) and made
without arguments. What it cannot parse, it gives None for.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from types import ModuleType
from typing import Any, ClassVar

from ...errors import PrerequisiteError
from ...registry import Registry
from ...text.words import sentence_split, word_tokenize

# The tokenizer writes quotation marks as treebanks do; the parser takes words as they stand in the text.
_QUOTES = {"``": '"', "''": '"'}

parsers: Registry[type[Parser]] = Registry("parser")
parsers.declare("stanza", "benchwright.eval.analyses.parsers:StanzaParser")
parsers.declare("benepar", "benchwright.eval.analyses.parsers:BeneparParser")


class Parser(ABC):
    """Turns texts into bracketed constituency trees."""

    @abstractmethod
    def parse(self, texts: Sequence[str]) -> Iterator[str | None]:
        """The trees of every text in order, one after another where it has several sentences."""

    def identity(self) -> dict[str, Any]:
        """What the trees depend on (package, version, model), as plain JSON for the release."""
        return {}


class StanzaParser(Parser):
    """Stanza's English constituency parser; its models must have been downloaded."""

    model: ClassVar[str] = "en"

    def __init__(self) -> None:
        stanza = _package("stanza", "pip install stanza")
        try:
            self._pipeline = stanza.Pipeline(
                self.model,
                processors="tokenize,pos,constituency",
                download_method=None,
                verbose=False,
            )
        except Exception as error:
            raise PrerequisiteError(
                f"Stanza's English models cannot be loaded ({error})",
                """python -c "import stanza; stanza.download('en')\"""",
            ) from None

    def parse(self, texts: Sequence[str]) -> Iterator[str | None]:
        for text in texts:
            # On one line, and a blank inside a word as `_`, so that it stays one word.
            trees = [f"{sentence.constituency:_O}" for sentence in self._pipeline(text).sentences]
            yield " ".join(trees) or None

    def identity(self) -> dict[str, Any]:
        return {"package": "stanza", "version": version("stanza"), "model": self.model}


class BeneparParser(Parser):
    """The Berkeley Neural Parser on NLTK's sentences and words; its model must have been downloaded."""

    model: ClassVar[str] = "benepar_en3"

    def __init__(self) -> None:
        self._benepar = _package("benepar", "pip install benepar")
        try:
            self._parser = self._benepar.Parser(self.model)
        except Exception as error:
            raise PrerequisiteError(
                f"the model {self.model} cannot be loaded ({error})",
                f"""python -c "import benepar; benepar.download('{self.model}')\"""",
            ) from None

    def parse(self, texts: Sequence[str]) -> Iterator[str | None]:
        for text in texts:
            sentences = [
                self._benepar.InputSentence(
                    words=[_QUOTES.get(word, word) for word in word_tokenize(sentence)]
                )
                for sentence in sentence_split(text)
            ]
            trees = [tree.pformat(margin=10**9) for tree in self._parser.parse_sents(sentences)]
            yield " ".join(trees) or None

    def identity(self) -> dict[str, Any]:
        return {"package": "benepar", "version": version("benepar"), "model": self.model}


def _package(name: str, install: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PrerequisiteError(f"the parser {name} needs the package {name} ({error})", install) from None
