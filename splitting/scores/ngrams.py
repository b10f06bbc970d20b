"""Which runs of words of a release's texts stand in a corpus, word by word: exact n-gram matching.

Source: "Language Models are Few-Shot Learners" (2005.14165), Appendix C, which calls a benchmark's row
contaminated where a run of 13 of its words stands in the training corpus. Words are `\\w+` in lower case, as
for exact copies (`splitting.scores.overlap`); nothing between them counts.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import UsageError, show

NGRAM = 13
"""Words of a run that is looked for (2005.14165)."""
_WORD = re.compile(r"\w+")
_BYTES = array("I").itemsize
_UNKNOWN = 0


def ngram_words(text: str) -> list[str]:
    """The words of a text that runs are made of.

    >>> ngram_words("It's LATE, so late.")
    ['it', 's', 'late', 'so', 'late']
    """
    return _WORD.findall(text.casefold())


@dataclass(frozen=True)
class NgramMatch:
    """What of a text stands in one corpus: distinct runs found, and the first document with any of them."""

    ngrams: int
    document: int
    document_id: str


class NgramSearch:
    """Runs of `n` words of `texts`; a text of fewer words is one run, matched as a whole or not at all.

    `words` and `ngrams` count the words and the distinct runs of each text. Memory holds the runs of the
    texts and nothing of a corpus but ids of documents. Runs are compared word for word, not by hashes.
    Raises UsageError for n < 1.
    """

    def __init__(self, texts: Sequence[str], n: int = NGRAM) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise UsageError(f"ngram is {show(n)}; give a whole number of words from 1")
        self._numbers: dict[str, int] = {}
        self._ngrams: dict[bytes, int] = {}
        self.words: list[int] = []
        self._of_texts: list[tuple[int, ...]] = []
        lengths: dict[int, set[int]] = {}
        for text in texts:
            numbers = [self._numbers.setdefault(word, len(self._numbers) + 1) for word in ngram_words(text)]
            self.words.append(len(numbers))
            size = min(n, len(numbers))
            packed = array("I", numbers).tobytes()
            found: dict[int, None] = {}
            for start in range(len(numbers) - size + 1 if size else 0):
                run = packed[start * _BYTES : (start + size) * _BYTES]
                found[self._ngrams.setdefault(run, len(self._ngrams))] = None
                lengths.setdefault(numbers[start], set()).add(size)
            self._of_texts.append(tuple(found))
        self.ngrams = [len(found) for found in self._of_texts]
        self._lengths = {first: tuple(sorted(sizes)) for first, sizes in lengths.items()}

    def scan(self, documents: Iterable[tuple[str, str]]) -> NgramsFound:
        """Which runs stand in a corpus of (id, text), which is gone through once, document by document."""
        found = NgramsFound(self._of_texts)
        for document, (document_id, text) in enumerate(documents):
            found.add(document, document_id, self._runs(text))
        return found

    def _runs(self, text: str) -> Iterable[int]:
        numbers = [self._numbers.get(word, _UNKNOWN) for word in ngram_words(text)]
        packed: bytes | None = None
        for start, first in enumerate(numbers):
            for size in self._lengths.get(first, ()):
                if start + size > len(numbers):
                    break
                packed = array("I", numbers).tobytes() if packed is None else packed
                run = self._ngrams.get(packed[start * _BYTES : (start + size) * _BYTES])
                if run is not None:
                    yield run


class NgramsFound:
    """The runs that stand in one corpus, each with the first document that has it."""

    def __init__(self, of_texts: Sequence[tuple[int, ...]]) -> None:
        self._of_texts = of_texts
        self._first: dict[int, tuple[int, str]] = {}

    def add(self, document: int, document_id: str, runs: Iterable[int]) -> None:
        """Note the runs of a document; documents come in the order of the corpus."""
        for run in runs:
            self._first.setdefault(run, (document, document_id))

    def has(self, text: int, others: Sequence[NgramsFound] = ()) -> int:
        """How many distinct runs of text number `text` stand in this corpus or in `others`."""
        corpora = (self, *others)
        return sum(any(run in corpus._first for corpus in corpora) for run in self._of_texts[text])

    def match(self, text: int) -> NgramMatch | None:
        """What of text number `text` stands in this corpus; None for nothing."""
        places = [self._first[run] for run in self._of_texts[text] if run in self._first]
        return NgramMatch(len(places), *min(places)) if places else None
