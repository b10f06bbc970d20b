"""One pass over a corpus that was searched: documents of hits, exact copies of rows, n-grams of texts.

All that is asked of the text of a corpus, once it is indexed, is answered in this one pass; of a corpus in
shards, each is read by one worker, and the answer is that of one pass over the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...executor import Executor
from ...progress import Progress, silent
from .corpora import Corpus, Document
from .ngrams import CopySearch, NgramSearch

_CHARACTERS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Lookup:
    """What is looked for in every document. `most_copies`: documents that are kept of a row's copies."""

    copies: CopySearch
    most_copies: int
    ngrams: NgramSearch | None = None


@dataclass
class Reading:
    """What one pass found.

    `documents`: id and text, by number, of those asked for and of those that hold a copy. `copies`: by row,
    ascending numbers of documents that hold a copy of it, the first ones. `ngrams`: by run, number and id of
    the first document that has it. `length`: how many documents there are; `skipped` and `dropped`: how many
    records were none, by reason.
    """

    documents: dict[int, tuple[str, str]] = field(default_factory=dict)
    copies: dict[int, list[int]] = field(default_factory=dict)
    ngrams: dict[int, tuple[int, str]] = field(default_factory=dict)
    length: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, part: Reading, most_copies: int) -> None:
        """Go on with what the next part of the corpus gave."""
        start = self.length
        self.documents |= {number + start: found for number, found in part.documents.items()}
        for row, numbers in part.copies.items():
            known = self.copies.setdefault(row, [])
            known += [number + start for number in numbers[: most_copies - len(known)]]
        for run, (number, document_id) in part.ngrams.items():
            self.ngrams.setdefault(run, (number + start, document_id))
        self.length += part.length
        self.skipped += part.skipped
        self.dropped += part.dropped

    def listed_ngrams(self) -> list[list[Any]]:
        """Run, number and id of its first document, run after run; JSON-able."""
        return [[run, *found] for run, found in sorted(self.ngrams.items())]

    def to_json(self) -> dict[str, Any]:
        """As `of_json` reads it."""
        return {
            "documents": [[number, *found] for number, found in sorted(self.documents.items())],
            "copies": [[row, numbers] for row, numbers in sorted(self.copies.items())],
            "ngrams": self.listed_ngrams(),
            "length": self.length,
            "skipped": dict(sorted(self.skipped.items())),
            "dropped": dict(sorted(self.dropped.items())),
        }

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> Reading:
        """What `to_json` gave."""
        return cls(
            {number: (document_id, text) for number, document_id, text in facts["documents"]},
            dict(facts["copies"]),
            {run: (number, document_id) for run, number, document_id in facts["ngrams"]},
            facts["length"],
            Counter(facts["skipped"]),
            Counter(facts["dropped"]),
        )


def read_corpus(
    parts: Sequence[Corpus],
    wanted: Sequence[Collection[int]],
    lookup: Lookup,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> Reading:
    """Read the parts of a corpus, one after another or by the workers of `executor`; each is read once.

    `wanted` are the numbers of documents to keep, from 0 in each part. `progress` counts documents, parts
    where there is an executor. Raises SourceError for a part that cannot be read.
    """
    asked = list(zip(parts, map(frozenset, wanted), strict=True))
    if executor is None:
        read = [_read_part(part, lookup, progress) for part in asked]
    else:
        read = executor.map(partial(_read_part, lookup=lookup), asked, progress=progress)
    whole = Reading()
    for part in read:
        whole.add(part, lookup.most_copies)
    return whole


def _read_part(asked: tuple[Corpus, frozenset[int]], lookup: Lookup, progress: Progress = silent) -> Reading:
    corpus, wanted = asked
    found = Reading()
    for documents in _batches(corpus):
        texts = [document.text for document in documents]
        if lookup.copies:
            _note_copies(found, lookup.copies.within(texts), lookup.most_copies, documents)
        if lookup.ngrams is not None:
            for number, runs in enumerate(lookup.ngrams.within(texts)):
                for run in runs:
                    found.ngrams.setdefault(run, (found.length + number, documents[number].document_id))
        for number, document in enumerate(documents, found.length):
            if number in wanted:
                found.documents[number] = document.document_id, document.text
        found.length += len(documents)
        progress(len(documents))
    counts = corpus.counts
    found.skipped, found.dropped = Counter(counts.skipped), Counter(counts.dropped)
    return found


def _note_copies(
    found: Reading, copied: Sequence[Sequence[int]], most_copies: int, documents: Sequence[Document]
) -> None:
    for number, rows in enumerate(copied):
        for row in rows:
            numbers = found.copies.setdefault(row, [])
            if len(numbers) < most_copies:
                numbers.append(found.length + number)
                document = documents[number]
                found.documents[found.length + number] = document.document_id, document.text


def _batches(corpus: Corpus) -> Iterator[list[Document]]:
    """Documents in runs that are searched at once."""
    batch: list[Document] = []
    characters = 0
    for document in corpus:
        batch.append(document)
        characters += len(document.text)
        if characters > _CHARACTERS_AT_ONCE:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
