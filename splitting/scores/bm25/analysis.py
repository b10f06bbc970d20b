"""From text to terms: the same for documents, queries and both engines.

`english` is Whoosh's default analyzer (METHODS part D.3): words by `\\w+(\\.?\\w+)*`, lower-case, without
stop words and words of one character, positions renumbered after that; nothing is stemmed. `doesn't` becomes
`doesn`, `20,000` two terms. It works on whole blocks of bytes: words are found by a table of byte classes,
and of the distinct ones of a block only those with other than ASCII characters meet the pattern itself.

For Chinese, `characters-N` takes N-grams of each run of Chinese characters (N = 1: every character is a term;
since a query's word keeps its terms adjacent, a word of several characters is found as a whole), and a
segmenter cuts words: `jieba` by name, any other through `SegmenterAnalyzer`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....errors import PrerequisiteError, UsageError
from ....registry import closest

STOP_WORDS = frozenset(
    {
        *(
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "by",
            "can",
            "for",
            "from",
            "have",
            "if",
            "in",
            "is",
            "it",
        ),
        *("may", "not", "of", "on", "or", "tbd", "that", "the", "this", "to", "us", "we", "when", "will"),
        *("with", "yet", "you", "your"),
    }
)
"""Whoosh's stop words."""

_STOPPED = pa.array(sorted(word.encode() for word in STOP_WORDS), pa.large_binary())
_WORD = re.compile(r"\w+(?:\.?\w+)*")
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN_OR_WORD = re.compile(rf"([{_HAN}]+)|[^\W{_HAN}]+(?:\.?[^\W{_HAN}]+)*")
_DOT = ord(".")


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as numbers. `vocabulary`: terms in UTF-8, each used, some perhaps twice; `terms`: int32 [terms of
    all texts], places in it, text after text; `lengths`: int64 [texts], the terms of each."""

    vocabulary: pa.LargeBinaryArray
    terms: NDArray[np.int32]
    lengths: NDArray[np.int64]


def as_bytes(term: str) -> bytes:
    """A term as indexes keep it; lone surrogates are possible in text that Python has read."""
    return term.encode("utf-8", "surrogatepass")


class Analyzer(ABC):
    """Turns a text into its terms, in order; a term's place in the list is its position."""

    identity: str
    """Names the analyzer and all its choices: equal identities give equal terms. Part of an index's key."""

    @abstractmethod
    def terms(self, text: str) -> list[str]:
        """The terms of one text."""

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        """The terms of many texts at once."""
        numbers: dict[str, int] = {}
        lengths = np.zeros(len(texts), dtype=np.int64)
        codes: list[int] = []
        for i, text in enumerate(texts):
            found = self.terms(text)
            lengths[i] = len(found)
            codes.extend(numbers.setdefault(term, len(numbers)) for term in found)
        vocabulary = pa.array(map(as_bytes, numbers), pa.large_binary())
        return EncodedTexts(vocabulary, np.array(codes, dtype=np.int32), lengths)


class EnglishAnalyzer(Analyzer):
    """Whoosh's default analyzer."""

    identity = "english-1"

    def terms(self, text: str) -> list[str]:
        # Words of queries come one by one; most need no search for what the pattern finds.
        words = [text] if text.isascii() and text.isalnum() else _WORD.findall(text)
        return self._kept([word.lower() for word in words])

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        encoded = [as_bytes(text) for text in texts]
        # A separator stands after each text.
        sizes = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)) + 1
        words, starts = _words(b"\n".join(encoded))
        borders = np.searchsorted(starts, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)]))
        dictionary = words.dictionary_encode()
        vocabulary, counts, expansions = self._expand(dictionary.dictionary)
        codes = dictionary.indices.to_numpy()
        repeats = counts[codes]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(repeats)])
        first = np.cumsum(counts) - counts
        if counts.max(initial=0) <= 1:
            places = first[codes[repeats > 0]]
        else:
            places = np.repeat(first[codes] - ends[:-1], repeats) + np.arange(ends[-1])
        return EncodedTexts(vocabulary, expansions[places], np.diff(ends[borders]))

    def _expand(
        self, words: pa.LargeBinaryArray
    ) -> tuple[pa.LargeBinaryArray, NDArray[np.int64], NDArray[np.int32]]:
        """The terms of distinct words, how many each word becomes, and which, one word's after another's."""
        if not len(words):
            return words, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        ends = np.frombuffer(words.buffers()[1], dtype=np.int64)[: len(words) + 1]
        letters = np.frombuffer(words.buffers()[2], dtype=np.uint8)[: ends[-1]]
        plain = np.maximum.reduceat(letters, ends[:-1]) < 128
        kept = plain & (np.diff(ends) > 1) & ~pc.is_in(words, _STOPPED).to_numpy(zero_copy_only=False)
        counts = kept.astype(np.int64)
        others = [
            (i, self.terms(words[i].as_py().decode("utf-8", "surrogatepass"))) for i in np.flatnonzero(~plain)
        ]
        for i, terms in others:
            counts[i] = len(terms)
        more = [as_bytes(term) for _, terms in others for term in terms]
        vocabulary = pa.concat_arrays([words.filter(pa.array(kept)), pa.array(more, pa.large_binary())])
        expansions = np.empty(counts.sum(), dtype=np.int32)
        plain_terms = np.repeat(kept, counts)
        expansions[plain_terms] = np.arange(kept.sum())
        expansions[~plain_terms] = np.arange(kept.sum(), len(vocabulary))
        return vocabulary, counts, expansions

    def _kept(self, words: Iterable[str]) -> list[str]:
        return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


def _classes() -> bytes:
    """1 for bytes of words (all of other than ASCII among them), 2 for the dot, 0 for the rest."""
    return bytes(
        2 if byte == _DOT else int(byte >= 128 or chr(byte).isalnum() or byte == ord("_"))
        for byte in range(256)
    )


_CLASSES = _classes()
_LOWER = bytes(range(256)).lower()


def _words(block: bytes) -> tuple[pa.LargeBinaryArray, NDArray[np.int64]]:
    """The words of a block, ASCII letters in lower case, and where each starts; only of those that are all
    ASCII is it certain that the pattern finds them as they are."""
    classes = np.frombuffer(block.translate(_CLASSES), dtype=np.uint8)
    inside = np.zeros(len(classes) + 2, dtype=bool)
    np.equal(classes, 1, out=inside[1:-1])
    dots = np.flatnonzero(classes == 2)
    # inside[i + 1] is place i: a dot joins what stands directly before and after it.
    joining = dots[inside[dots] & inside[dots + 2]]
    inside[joining + 1] = True
    borders = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = borders[::2], borders[1::2]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(ends - starts)])
    letters = np.frombuffer(block.translate(_LOWER), dtype=np.uint8)[inside[1:-1]]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts), buffers), starts


class CharacterAnalyzer(Analyzer):
    """N-grams of the characters in each run of Chinese ones (a shorter run is one term); other words, numbers
    and punctuation as in `english`, but with words of one character and stop words kept."""

    def __init__(self, size: int = 1) -> None:
        if size < 1:
            raise UsageError(f"n-grams have at least one character, got {size}")
        self.size = size
        self.identity = f"characters-{size}-1"

    def terms(self, text: str) -> list[str]:
        found: list[str] = []
        for match in _HAN_OR_WORD.finditer(text):
            run = match[1]
            if run is None:
                found.append(match[0].lower())
            else:
                last = max(1, len(run) - self.size + 1)
                found.extend(run[i : i + self.size] for i in range(last))
        return found


class SegmenterAnalyzer(Analyzer):
    """Words as a segmenter cuts them, in lower case; those without a letter or digit are dropped.

    `identity` must name the segmenter, its version and its dictionary.
    """

    def __init__(self, segment: Callable[[str], Iterable[str]], identity: str) -> None:
        self._segment = segment
        self.identity = identity

    def terms(self, text: str) -> list[str]:
        return [word.strip().lower() for word in self._segment(text) if _WORD.search(word)]


def _jieba() -> SegmenterAnalyzer:
    try:
        import jieba
    except ImportError:
        raise PrerequisiteError(
            "the segmenter jieba is not installed", "pip install benchwright[chinese]"
        ) from None
    jieba.setLogLevel("WARNING")
    return SegmenterAnalyzer(jieba.Tokenizer().cut, f"jieba-{jieba.__version__}-1")


_NAMES = ("english", "characters-1", "characters-2", "jieba")


def load_analyzer(name: str) -> Analyzer:
    """An analyzer by name: `english`, `characters-N` or `jieba`.

    Raises UsageError for an unknown name, PrerequisiteError where the segmenter is missing.
    """
    if name == "english":
        return EnglishAnalyzer()
    if name == "jieba":
        return _jieba()
    size = re.fullmatch(r"characters-([1-9])", name)
    if size:
        return CharacterAnalyzer(int(size[1]))
    raise UsageError(f"unknown analyzer {name!r}; {closest(name, _NAMES)}")
