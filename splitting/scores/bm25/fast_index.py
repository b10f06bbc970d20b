"""The index of the fast engine: every occurrence of every term, sorted, in files that are mapped into memory.

An occurrence is one int64, document * 2^32 + position, so that one sorted array a term serves as its list of
documents, its frequencies and its positions, and "at most g terms after" is one comparison: positions stay
below 2^31, so no distance reaches into another document. Nothing is decoded to be read; what queries share
stays in the operating system's page cache.

Why an index of our own: tantivy was tried as a generator of candidates. It took 2.0 s for 50,000 made-up
sentences (0.8 s of it for our analyzer, whose terms it was given), this index 0.7 s with the analyzer. Its
conjunctions of a query's words took 0.7 ms and left 124 documents a query, whose texts must then be fetched
and analysed again, because its slop counts the whole phrase and its scores are 32-bit floats; here a whole
query takes 0.15 ms (_fast_search.py).

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
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....atomic import recover, replace_folder, write_text
from ....errors import PrerequisiteError, SourceError, UsageError
from ._fast_build import IndexWriter
from .analysis import Analyzer, as_bytes

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


def compiled_search() -> Any:
    """The module _fast_search. Raises PrerequisiteError where numba, which compiles it, cannot be used."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise PrerequisiteError(
            f"the search engine fast needs numba: {error}", "pip install benchwright[overlap]"
        ) from None
    from . import _fast_search

    return _fast_search


class FastIndex:
    """An open index; terms have numbers, sorted as their bytes."""

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
        self._compiled = compiled_search()
        self.documents = int(facts["documents"])
        self.total_length = int(facts["total_length"])
        terms, occurrences = int(facts["terms"]), int(facts["occurrences"])
        self._lengths: NDArray[np.uint8] = _mapped(folder / "lengths.uint8", "u1", self.documents)
        self._term_ends = _mapped(folder / "term_ends.int64", "<i8", terms + 1)
        self._terms = _mapped(folder / "terms.bytes", "u1", int(self._term_ends[-1]))
        self._ends = _mapped(folder / "occurrence_ends.int64", "<i8", terms + 1)
        self._document_frequencies = _mapped(folder / "document_frequencies.int64", "<i8", terms)
        self._most_in_document = _mapped(folder / "most_in_document.int64", "<i8", terms)
        self._occurrences: NDArray[np.int64] = _mapped(folder / "occurrences.int64", "<i8", occurrences)

    def numbers(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of terms, -1 where no document has one, int64 [terms]."""
        encoded = [as_bytes(term) for term in terms]
        ends = np.array([0, *accumulate(map(len, encoded))], dtype=np.int64)
        letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        numbers = np.empty(len(terms), dtype=np.int64)
        self._compiled.look_up(self._terms, self._term_ends, letters, ends, numbers)
        return numbers

    def document_frequencies(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of documents with each of the terms of these numbers, int64 [terms]."""
        return _taken(self._document_frequencies, numbers)

    def lists(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of the terms of these numbers: where the occurrences start and end, and the most in one document;
        with two more columns int64 [terms, 5], those of _fast_search.py."""
        lists = np.zeros((len(numbers), 5), dtype=np.int64)
        for column, of_all in enumerate((self._ends[:-1], self._ends[1:], self._most_in_document)):
            lists[:, column] = _taken(of_all, numbers)
        return lists

    def search(self, *queries: Any) -> None:
        """_fast_search.search on this index; `queries`: its arguments but the first two."""
        self._compiled.search(self._occurrences, self._lengths, *queries)


def _taken(of_all: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values at places, 0 for places below 0."""
    taken = np.zeros(len(numbers), dtype=np.int64)
    known = numbers >= 0
    taken[known] = of_all[numbers[known]]
    return taken
