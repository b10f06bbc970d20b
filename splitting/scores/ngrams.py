"""Which runs of words of texts stand in a corpus, word by word: n-grams, and whole texts (exact copies).

Source of the n-grams: "Language Models are Few-Shot Learners" (2005.14165), Appendix C, which calls a
benchmark's row contaminated where a run of 13 of its words stands in the training corpus. Words are `\\w+` in
lower case, of Chinese and Japanese every character; nothing between them counts.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError, show
from .bm25.analysis import as_bytes

NGRAM = 13
"""Words of a run that is looked for (2005.14165)."""
# Scripts without spaces between words: ideographs, kana, bopomofo.
_CHARACTERS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U000323af"
)
_ASCII_WORD = re.compile(r"\w+")
_WORD = re.compile(rf"(?=\w)[{_CHARACTERS}]|[^\W{_CHARACTERS}]+")
_CHARACTER = re.compile(rf"(?=\w)[{_CHARACTERS}]")
_BYTES = array("I").itemsize
_UNKNOWN = 0
_PAIR = 1 << 32


def ngram_words(text: str) -> list[str]:
    """The words of a text that runs are made of; variants of one character (full width, ligatures) are one.

    >>> ngram_words("It's LATE, so late.")
    ['it', 's', 'late', 'so', 'late']
    >>> ngram_words("船追，ＯＫ！")
    ['船', '追', 'ok']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def has_characters(text: str) -> bool:
    """Whether a text has ideographs or kana, which are words of their own.

    >>> has_characters("船追"), has_characters("ship")
    (True, False)
    """
    return not text.isascii() and _CHARACTER.search(text) is not None


class Digest(Protocol):
    """A hash that bytes are added to."""

    def update(self, data: bytes, /) -> None: ...


class _Runs:
    """Distinct runs of words to look for, numbered from 0; they are compared word for word, not by hashes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._runs: dict[bytes, int] = {}
        # Lengths of runs by their first two words: few places of a document begin like any of them.
        self._lengths: dict[int, tuple[int, ...]] = {}

    def words(self, text: str) -> array[int]:
        """The numbers of a text's words, from 1."""
        numbers = self._numbers
        return array("I", [numbers.setdefault(word, len(numbers) + 1) for word in ngram_words(text)])

    def add(self, words: array[int]) -> int:
        """The number of a run of at least one word."""
        pair = words[0] * _PAIR + (words[1] if len(words) > 1 else _UNKNOWN)
        known = self._lengths.get(pair, ())
        if len(words) not in known:
            self._lengths[pair] = (*known, len(words))
        return self._runs.setdefault(words.tobytes(), len(self._runs))

    def update(self, digest: Digest) -> None:
        """Add all runs, word by word, to a digest."""
        for word in self._numbers:
            digest.update(as_bytes(f"{word}\n"))
        for run in self._runs:
            digest.update(array("I", [len(run)]).tobytes() + run)

    def within(self, texts: Sequence[str]) -> list[list[int]]:
        """The runs that stand in each text, one as often as it does."""
        numbers: list[int] = []
        ends = []
        for text in texts:
            numbers += [self._numbers.get(word, _UNKNOWN) for word in ngram_words(text)]
            # No run goes from one text to the next.
            numbers.append(_UNKNOWN)
            ends.append(len(numbers))
        codes = np.array([*numbers, _UNKNOWN], dtype=np.uint32)
        packed = codes.tobytes()
        found: list[list[int]] = [[] for _ in texts]
        pairs = codes[:-1].astype(np.uint64) * _PAIR + codes[1:]
        for pair_of in (pairs, codes[:-1].astype(np.uint64) * _PAIR):
            starts = np.flatnonzero(_members(pair_of, self._beginnings))
            places = np.searchsorted(ends, starts, side="right")
            for start, place, pair in zip(
                starts.tolist(), places.tolist(), pair_of[starts].tolist(), strict=True
            ):
                for size in self._lengths[pair]:
                    run = self._runs.get(packed[start * _BYTES : (start + size) * _BYTES])
                    if run is not None:
                        found[place].append(run)
        return found

    @cached_property
    def _beginnings(self) -> NDArray[np.uint64]:
        return np.array(sorted(self._lengths), dtype=np.uint64)


def _members(values: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which values are among ascending `known` ones."""
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    return known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values


@dataclass(frozen=True)
class NgramMatch:
    """What of a text stands in one corpus: distinct runs found, and the first document with any of them."""

    ngrams: int
    document: int
    document_id: str


class NgramSearch:
    """Runs of `n` words of `texts`; a text of fewer words is one run, matched as a whole or not at all.

    `words` and `ngrams` count the words and the distinct runs of each text. Memory holds the runs of the
    texts and nothing of a corpus but ids of documents. Raises UsageError for n < 1.
    """

    def __init__(self, texts: Sequence[str], n: int = NGRAM) -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise UsageError(f"ngram is {show(n)}; give a whole number of words from 1")
        self.n, self._runs = n, _Runs()
        self.words: list[int] = []
        self._of_texts: list[tuple[int, ...]] = []
        for text in texts:
            words = self._runs.words(text)
            size = min(n, len(words))
            starts = range(len(words) - size + 1 if size else 0)
            self.words.append(len(words))
            self._of_texts.append(
                tuple(dict.fromkeys(self._runs.add(words[start : start + size]) for start in starts))
            )
        self.ngrams = [len(found) for found in self._of_texts]

    def within(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the runs that stand in each of some documents."""
        return self._runs.within(texts)

    @cached_property
    def identity(self) -> str:
        """`sha256:<hex>` of all that is looked for."""
        found = hashlib.sha256(str(self.n).encode())
        self._runs.update(found)
        for runs in self._of_texts:
            found.update(array("Q", [len(runs), *runs]).tobytes())
        return f"sha256:{found.hexdigest()}"

    def found(self, runs: Iterable[tuple[int, int, str]] = ()) -> NgramsFound:
        """What stands in a corpus: of each run found, its number, and number and id of its first document."""
        found = NgramsFound(self._of_texts)
        found.first.update((run, (document, document_id)) for run, document, document_id in runs)
        return found


class NgramsFound:
    """The runs that stand in one corpus, each with the first document that has it.

    `first`: by the number of the run, the number and the id of that document.
    """

    def __init__(self, of_texts: Sequence[tuple[int, ...]]) -> None:
        self._of_texts = of_texts
        self.first: dict[int, tuple[int, str]] = {}

    def has(self, text: int, others: Sequence[NgramsFound] = ()) -> int:
        """How many distinct runs of text number `text` stand in this corpus or in `others`."""
        corpora = (self, *others)
        return sum(any(run in corpus.first for corpus in corpora) for run in self._of_texts[text])

    def match(self, text: int) -> NgramMatch | None:
        """What of text number `text` stands in this corpus; None for nothing."""
        places = [self.first[run] for run in self._of_texts[text] if run in self.first]
        return NgramMatch(len(places), *min(places)) if places else None


class CopySearch:
    """Looks for exact copies: documents that hold all words of a text, one after another.

    `forms` are, for each row, the texts of which any one will do, of whatever length; one without a word is
    nowhere.

    >>> search = CopySearch([("Ann left.", "Ann she left."), ("Bea left",)])
    >>> search.within(["Then Bea left. Ann left, too.", "Ann."])
    [[0, 1], []]
    """

    def __init__(self, forms: Sequence[Sequence[str]]) -> None:
        self._runs = _Runs()
        self._rows: dict[int, list[int]] = {}
        for row, texts in enumerate(forms):
            for words in map(self._runs.words, texts):
                if words:
                    rows = self._rows.setdefault(self._runs.add(words), [])
                    if rows[-1:] != [row]:
                        rows.append(row)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def within(self, texts: Sequence[str]) -> list[list[int]]:
        """The rows, ascending, that each of some documents holds a copy of."""
        return [
            sorted({row for run in set(runs) for row in self._rows[run]}) for runs in self._runs.within(texts)
        ]
