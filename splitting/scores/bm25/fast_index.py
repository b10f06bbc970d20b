"""The index of the fast engine: every occurrence of every term, sorted, in files that are mapped into memory.

An occurrence is one int64, document * 2^32 + position, so that one sorted array a term serves as its list of
documents, its frequencies and its positions, and "at most g terms after" is one comparison: positions stay
below 2^31, so no distance reaches into another document. Nothing is decoded to be read; what queries share
stays in the operating system's page cache.

Why an index of our own: tantivy was tried as a generator of candidates. It took 2.0 s for 50,000 made-up
sentences (0.8 s of it for our analyzer, whose terms it was given), this index 0.9 s with the analyzer. Its
conjunctions of a query's words took 0.7 ms and left 124 documents a query, whose texts must then be fetched
and analysed again, because its slop counts the whole phrase and its scores are 32-bit floats; here a whole
query takes 1.1 ms.

Files of an index folder (numbers little-endian):

    index.json                  format, analyzer, numbers of documents, terms and occurrences, total length
    terms.bytes                 the terms in UTF-8, sorted by bytes, one after another
    term_ends.int64             [terms + 1] where each term starts and the last one ends
    occurrence_ends.int64       [terms + 1] the same in `occurrences`
    document_frequencies.int64  [terms] documents with the term
    most_in_document.int64      [terms] its most occurrences in one document
    occurrences.int64           [occurrences] sorted by term, document, position
    lengths.uint8               [documents] length codes (lengths.py)

The bytes depend on the documents and the analyzer alone, not on the memory allowed while building.
"""

from __future__ import annotations

import json
import mmap
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....atomic import recover, replace_folder, write_text
from ....errors import SourceError, UsageError
from ._fast_build import IndexWriter
from .analysis import Analyzer

FORMAT = "benchwright-bm25-1"
DOCUMENT_BITS = 32
LEAST_MEMORY = 32 << 20


def build_index(
    documents: Iterable[str], folder: Path, analyzer: Analyzer, *, memory: int, note: str = ""
) -> None:
    """Index `documents` in `folder`, using about `memory` bytes beside the vocabulary; replaces what stands
    there once the new one is whole. `note` is kept in index.json.

    Raises UsageError for less memory than 32 MiB.
    """
    if memory < LEAST_MEMORY:
        raise UsageError(f"building an index takes at least {LEAST_MEMORY} bytes of memory, got {memory}")
    recover(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = folder.with_name(f".{folder.name}.staged")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir()
    try:
        writer = IndexWriter(staged, analyzer, memory)
        writer.add(documents)
        counts = writer.finish()
        facts = {"format": FORMAT, "analyzer": analyzer.identity, "note": note, **counts}
        write_text(staged / "index.json", json.dumps(facts, indent=1, sort_keys=True) + "\n")
        replace_folder(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def read_facts(folder: Path) -> dict[str, Any]:
    """index.json of an index folder. Raises SourceError where there is none or it is of another format."""
    recover(folder)
    path = folder / "index.json"
    try:
        facts = json.loads(path.read_text("utf-8"))
    except OSError:
        raise SourceError("no index here", path=folder, fix="index the corpus first") from None
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise SourceError(
            "not an index of this version", path=path, fix="remove the folder and index the corpus again"
        )
    return facts


def _mapped(path: Path, kind: str, count: int) -> NDArray[Any]:
    """A file's numbers, mapped. Raises SourceError if the file does not hold `count` of them."""
    dtype = np.dtype(kind)
    try:
        size = path.stat().st_size
    except OSError:
        size = -1
    if size != count * dtype.itemsize:
        raise SourceError(
            "the index is damaged", path=path, value=size, fix="remove the folder and index the corpus again"
        )
    if not size:
        return np.zeros(0, dtype=dtype)
    with path.open("rb") as handle:
        return np.frombuffer(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ), dtype=dtype)


class FastIndex:
    """An open index. `lengths`: uint8 [documents], length codes; `occurrences_of(n)`: int64, sorted."""

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        facts = read_facts(folder)
        if facts["analyzer"] != analyzer.identity:
            raise SourceError(
                "the index was made with another analyzer",
                path=folder,
                value=facts["analyzer"],
                fix=f"use that one, or index the corpus again with {analyzer.identity}",
            )
        if sys.byteorder != "little":
            raise UsageError("indexes are read and written on little-endian machines alone")
        self.documents = int(facts["documents"])
        self.total_length = int(facts["total_length"])
        terms, occurrences = int(facts["terms"]), int(facts["occurrences"])
        self.lengths: NDArray[np.uint8] = _mapped(folder / "lengths.uint8", "u1", self.documents)
        self._term_ends = _mapped(folder / "term_ends.int64", "<i8", terms + 1)
        self._terms = _mapped(folder / "terms.bytes", "u1", int(self._term_ends[-1]))
        self._ends = _mapped(folder / "occurrence_ends.int64", "<i8", terms + 1)
        self.document_frequencies = _mapped(folder / "document_frequencies.int64", "<i8", terms)
        self.most_in_document = _mapped(folder / "most_in_document.int64", "<i8", terms)
        self._occurrences: NDArray[np.int64] = _mapped(folder / "occurrences.int64", "<i8", occurrences)
        self._numbers: dict[str, int] = {}

    def number(self, term: str) -> int:
        """The term's number, -1 if no document has it."""
        if term not in self._numbers:
            if len(self._numbers) > 1_000_000:
                self._numbers.clear()
            self._numbers[term] = self._look_up(term.encode("utf-8", "surrogatepass"))
        return self._numbers[term]

    def _look_up(self, term: bytes) -> int:
        low, high = 0, len(self._term_ends) - 1
        while low < high:
            middle = (low + high) // 2
            found = self._terms[self._term_ends[middle] : self._term_ends[middle + 1]].tobytes()
            if found == term:
                return middle
            if found < term:
                low = middle + 1
            else:
                high = middle
        return -1

    def occurrences_of(self, number: int) -> NDArray[np.int64]:
        """The occurrences of a term by its number, a view; empty for -1."""
        if number < 0:
            return self._occurrences[:0]
        return self._occurrences[self._ends[number] : self._ends[number + 1]]
