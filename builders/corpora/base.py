"""A corpus: documents that can be iterated over again and again, cut into shards, told by a fingerprint."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from ...errors import SourceError, UsageError
from ...faults import FaultLog, Policy
from ...hashing import canonical_json, sha256_text
from ...text.words import sentence_split
from ..sources.files import InputFile

Sentences = Literal["none", "lines", "punkt"]
SENTENCES: tuple[Sentences, ...] = ("none", "lines", "punkt")
EMPTY = "empty text"

_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One document, or one sentence of a document (`ID#k`, k from 0), without white space around it.

    `document_id` is the source's own id, else `file:line` (lines from 1), `file:row` (rows from 0) or, for a
    whole file, its name: the same in every run and in every shard.
    """

    document_id: str
    text: str


@dataclass
class CorpusCounts:
    """What one iteration has met so far: documents given, records skipped and bad records, by reason."""

    documents: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Part:
    """A stretch of one file: `start` to `end` (exclusive, None: to its end) in the unit of its form.

    The unit is bytes of the plain file for forms by lines, rows for parquet; `number` is the line or row at
    `start`. `file` is None for a part on the Hub, whose number is `start`.
    """

    file: InputFile | None
    start: int = 0
    end: int | None = None
    number: int = 1


class CorpusForm(ABC):
    """How the documents of one kind of file are read and cut. Instances can be pickled."""

    @abstractmethod
    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        """The documents of one part, in order; what is skipped is counted, bad records go to `faults`."""

    @abstractmethod
    def cut(self, parts: Sequence[Part], shards: int) -> list[list[Part]]:
        """All of `parts` as at most `shards` lists of parts, none of them empty, in order."""


class Corpus:
    """Documents in a fixed order. Iterating reads them anew each time, one by one, in bounded memory.

    Raises while iterating: SourceError for a file that cannot be read to its end, SourceErrors for a bad
    record (with `on_bad_row="drop"` it is counted instead), SourceError for a corpus without any document.
    """

    def __init__(
        self,
        name: str,
        form: CorpusForm,
        parts: Sequence[Part],
        *,
        identity: Callable[[], dict[str, Any]],
        sentences: Sentences = "none",
        rewrite: Callable[[str], str] | None = None,
        on_bad_row: Policy = "fail",
    ) -> None:
        self.name, self.counts = name, CorpusCounts()
        self._form, self._parts = form, tuple(parts)
        self._identify = identity
        self._sentences, self._rewrite, self._policy = sentences, rewrite, on_bad_row
        self._shard: tuple[int, int] | None = None

    def __repr__(self) -> str:
        shard = "" if self._shard is None else f", shard {self._shard[0]} of {self._shard[1]}"
        return f"Corpus({self.name!r}{shard})"

    def __iter__(self) -> Iterator[CorpusDocument]:
        counts = self.counts = CorpusCounts()
        faults = FaultLog(self._policy)
        # A corpus may be read for days: the first bad record stops it, not the twentieth.
        faults.limit = 1
        counts.dropped = faults.dropped
        for part in self._parts:
            for document in self._form.documents(part, counts, faults):
                yield from self._pieces(document, counts)
        if not counts.documents and self._shard is None:
            met = ", ".join(f"{n:,} {reason}" for reason, n in (counts.skipped + counts.dropped).items())
            raise SourceError(
                "no document in the corpus", path=self.name, value=met or None, fix="check its form and field"
            )

    def _pieces(self, document: CorpusDocument, counts: CorpusCounts) -> Iterator[CorpusDocument]:
        text = document.text if self._rewrite is None else self._rewrite(document.text)
        if self._sentences == "none":
            pieces, several = [text.strip()], False
        else:
            pieces, several = _sentences_of(text, self._sentences), True
        number = 0
        for piece in pieces:
            if not piece:
                continue
            name = f"{document.document_id}#{number}" if several else document.document_id
            counts.documents += 1
            number += 1
            yield CorpusDocument(name, piece)
        if not number:
            counts.skipped[EMPTY] += 1

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the documents are made from, for a manifest: form, choices and files with their sha256.

        Computed on first use (every file is read once). It has no absolute path; two corpora of the same
        identity give the same documents. Of a shard, `shard` is its number from 0 and how many there are.
        """
        shard = {} if self._shard is None else {"shard": list(self._shard)}
        return self._identify() | shard

    @property
    def fingerprint(self) -> str:
        """`sha256:<hex>` of the identity without the name that the user has given it."""
        return sha256_text(
            canonical_json({key: value for key, value in self.identity.items() if key != "name"})
        )

    def shards(self, n: int) -> list[Corpus]:
        """At most `n` corpora, disjoint and together complete: one after another they give this corpus.

        Documents keep their ids. Parts are of about equal size in stored bytes; a single compressed file is
        decompressed once more to be cut, and from its start by every shard. Raises UsageError for n < 1, and
        for a shard.
        """
        if n < 1:
            raise UsageError(f"a corpus has at least 1 shard, got {n}")
        if self._shard is not None:
            raise UsageError("a shard is not cut again; cut the corpus into more shards")
        lists = [list(self._parts)] if n == 1 else self._form.cut(self._parts, n)
        return [self._with(parts, (number, len(lists))) for number, parts in enumerate(lists)]

    def _with(self, parts: Sequence[Part], shard: tuple[int, int]) -> Corpus:
        corpus = Corpus(
            self.name,
            self._form,
            parts,
            identity=self._identify,
            sentences=self._sentences,
            rewrite=self._rewrite,
            on_bad_row=self._policy,
        )
        corpus._shard = shard
        return corpus


def _sentences_of(text: str, how: Sentences) -> list[str]:
    """Lines, or sentences by Punkt within paragraphs (an empty line ends one)."""
    if how == "lines":
        pieces = text.split("\n")
    else:
        pieces = [sentence for paragraph in _PARAGRAPHS.split(text) for sentence in sentence_split(paragraph)]
    return [piece.strip() for piece in pieces]


def cut_evenly(parts: Sequence[Part], sizes: Sequence[int], shards: int) -> list[list[Part]]:
    """Whole parts in at most `shards` runs of about equal size, none of them empty."""
    runs: list[list[Part]] = []
    total, before, last = sum(sizes), 0, -1
    for part, size in zip(parts, sizes, strict=True):
        # The shard that the middle of the part falls into.
        shard = min(shards - 1, (2 * before + size) * shards // max(1, 2 * total))
        if shard != last:
            runs.append([])
            last = shard
        runs[-1].append(part)
        before += size
    return runs


def stretches(part: Part, borders: Sequence[tuple[int, int]]) -> list[Part]:
    """A whole file cut at ascending (place, number at that place) pairs; empty stretches are left out."""
    made, start, number = [], part.start, part.number
    for place, next_number in borders:
        if place > start:
            made.append(replace(part, start=start, end=place, number=number))
            start, number = place, next_number
    return [*made, replace(part, start=start, end=None, number=number)]
