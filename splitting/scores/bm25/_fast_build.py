"""How the fast engine's index is built: sorted runs of bounded size, then one merge.

Documents are analysed block by block. When the terms held would outgrow the memory allowed, they are sorted
and written as a run: its own vocabulary, and its occurrences by term. Runs follow one another in document
order, so that the merge only puts each term's pieces behind one another, for as many terms at a time as
memory allows. The vocabulary is held whole during the merge: tens of bytes a term.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....errors import SourceError
from .analysis import Analyzer
from .lengths import length_codes

Numbers = NDArray[np.int64]

_BLOCK_CHARACTERS = 1 << 21
_BLOCK_DOCUMENTS = 1 << 16
_BYTES_A_TERM = 44
"""Of a run while it is sorted: code, key, occurrence, and a temporary of 64 bits for each; half as much again
for what the allocator keeps."""
_VOCABULARY_COPIES = 4
"""Of the blocks' vocabularies: as they came, put together, as a dictionary, sorted."""
_LONGEST = 1 << 31


@dataclass(frozen=True)
class _Run:
    """Sorted terms with their counts; the occurrences stand in a file."""

    terms: pa.LargeBinaryArray
    counts: Numbers
    document_frequencies: Numbers
    most_in_document: Numbers
    path: Path


class IndexWriter:
    """Writes the files of one index, all but index.json, into an empty folder."""

    def __init__(self, folder: Path, analyzer: Analyzer, memory: int) -> None:
        self._folder, self._analyzer, self._memory = folder, analyzer, memory
        self._runs: list[_Run] = []
        self._documents = self._total_length = 0
        self._lengths_file = (folder / "lengths.uint8").open("wb")
        self._start_run()

    def _start_run(self) -> None:
        self._first_document = self._documents
        self._words: list[pa.LargeBinaryArray] = [pa.array([], pa.large_binary())]
        self._codes: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        self._lengths: list[Numbers] = [np.zeros(0, dtype=np.int64)]
        self._word_count = self._held = 0

    def add(self, documents: Iterable[str]) -> None:
        """Analyse and add documents; they are read once."""
        block: list[str] = []
        characters = 0
        for document in documents:
            block.append(document)
            characters += len(document)
            if characters >= _BLOCK_CHARACTERS or len(block) >= _BLOCK_DOCUMENTS:
                self._add_block(block)
                block, characters = [], 0
        if block:
            self._add_block(block)

    def _add_block(self, block: list[str]) -> None:
        encoded = self._analyzer.encode(block)
        if encoded.lengths.max(initial=0) >= _LONGEST:
            raise SourceError("a document of 2^31 terms", fix="divide it")
        self._words.append(encoded.vocabulary)
        self._codes.append(encoded.terms + np.int32(self._word_count))
        self._lengths.append(encoded.lengths)
        length_codes(encoded.lengths).tofile(self._lengths_file)
        self._documents += len(block)
        self._total_length += len(encoded.terms)
        self._word_count += len(encoded.vocabulary)
        self._held += len(encoded.terms) * _BYTES_A_TERM + encoded.vocabulary.nbytes * _VOCABULARY_COPIES
        if self._held > self._memory:
            self._end_run()

    def _end_run(self) -> None:
        """Sort what is held and write it."""
        terms, rank = _sorted_terms(pa.concat_arrays(self._words))
        self._words.clear()
        keys = rank[np.concatenate(self._codes)]
        self._codes.clear()
        counts = np.bincount(keys, minlength=len(terms))
        keys <<= 32
        keys |= np.arange(len(keys))
        keys.sort()
        keys &= 0xFFFFFFFF
        occurrences = self._occurrences()[keys]
        del keys
        path = self._folder / f"run-{len(self._runs)}.int64"
        occurrences.tofile(path)
        frequencies, most = _document_counts(occurrences, counts)
        self._runs.append(_Run(terms, counts, frequencies, most, path))
        self._start_run()

    def _occurrences(self) -> Numbers:
        """document * 2^32 + position of each held term, in document order."""
        lengths = np.concatenate(self._lengths)
        ends = np.cumsum(lengths)
        documents = np.arange(self._first_document, self._first_document + len(lengths))
        first = (documents << 32) - (ends - lengths)
        occurrences = np.repeat(first, lengths)
        occurrences += np.arange(len(occurrences))
        return occurrences

    def finish(self) -> dict[str, int]:
        """Merge the runs; the numbers for index.json."""
        if len(self._lengths) > 1 or not self._runs:
            self._end_run()
        self._lengths_file.close()
        merged = _Merge(self._runs, self._folder, self._memory)
        merged.write()
        return {
            "documents": self._documents,
            "total_length": self._total_length,
            "terms": len(merged.terms),
            "occurrences": self._total_length,
        }


def _sorted_terms(words: pa.LargeBinaryArray) -> tuple[pa.LargeBinaryArray, Numbers]:
    """The distinct ones of `words` sorted by bytes, and each word's place among them."""
    dictionary = words.dictionary_encode()
    order = pc.sort_indices(dictionary.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    return dictionary.dictionary.take(order), rank[dictionary.indices.to_numpy()]


def _document_counts(occurrences: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """For each term: its documents, and its most occurrences in one; `occurrences`: of all, in order."""
    if not len(counts):
        return counts, counts
    starts = np.cumsum(counts) - counts
    documents = occurrences >> 32
    new = np.empty(len(documents), dtype=bool)
    new[0] = True
    np.not_equal(documents[1:], documents[:-1], out=new[1:])
    new[starts] = True
    frequencies = np.add.reduceat(new, starts, dtype=np.int64)
    places = np.flatnonzero(new)
    times = np.diff(places, append=len(documents))
    return frequencies, np.maximum.reduceat(times, np.cumsum(frequencies) - frequencies)


class _Merge:
    """Runs to the files of an index."""

    def __init__(self, runs: list[_Run], folder: Path, memory: int) -> None:
        self._runs, self._folder = runs, folder
        self._most_occurrences = max(1, memory // 40)
        self.terms, numbers = _sorted_terms(pa.concat_arrays([run.terms for run in runs]))
        self._numbers: list[Numbers] = np.split(numbers, np.cumsum([len(run.terms) for run in runs])[:-1])

    def write(self) -> None:
        """All files that hold terms and occurrences; run files are removed."""
        size = len(self.terms)
        counts, frequencies, most = (np.zeros(size, dtype=np.int64) for _ in range(3))
        for run, numbers in zip(self._runs, self._numbers, strict=True):
            counts[numbers] += run.counts
            frequencies[numbers] += run.document_frequencies
            most[numbers] = np.maximum(most[numbers], run.most_in_document)
        offsets = np.frombuffer(self.terms.buffers()[1] or b"", dtype=np.int64)[: size + 1]
        letters = np.frombuffer(self.terms.buffers()[2] or b"", dtype=np.uint8)
        term_ends = offsets if size else np.zeros(1, dtype=np.int64)
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        term_ends.tofile(self._folder / "term_ends.int64")
        letters[: term_ends[-1]].tofile(self._folder / "terms.bytes")
        ends.tofile(self._folder / "occurrence_ends.int64")
        frequencies.tofile(self._folder / "document_frequencies.int64")
        most.tofile(self._folder / "most_in_document.int64")
        target = self._folder / "occurrences.int64"
        if len(self._runs) == 1:
            self._runs[0].path.rename(target)
        else:
            self._write_occurrences(target, ends)
        for run in self._runs:
            run.path.unlink(missing_ok=True)

    def _write_occurrences(self, target: Path, ends: Numbers) -> None:
        starts = [np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(run.counts)]) for run in self._runs]
        with target.open("wb") as handle:
            first = 0
            while first < len(ends) - 1:
                last = int(np.searchsorted(ends, ends[first] + self._most_occurrences, side="right")) - 1
                last = max(last, first + 1)
                self._merge_terms(first, last, starts, ends).tofile(handle)
                first = last

    def _merge_terms(self, first: int, last: int, starts: list[Numbers], ends: Numbers) -> Numbers:
        """The occurrences of terms `first` to `last` (exclusive), each run's part behind the one before."""
        merged = np.empty(ends[last] - ends[first], dtype=np.int64)
        filled = ends[first:last] - ends[first]
        for run, numbers, run_starts in zip(self._runs, self._numbers, starts, strict=True):
            low, high = np.searchsorted(numbers, (first, last))
            counts = run.counts[low:high]
            part = np.fromfile(
                run.path, dtype=np.int64, count=int(counts.sum()), offset=int(run_starts[low]) * 8
            )
            here = numbers[low:high] - first
            places = np.repeat(filled[here] - (np.cumsum(counts) - counts), counts)
            places += np.arange(len(part))
            merged[places] = part
            filled[here] += counts
        return merged
