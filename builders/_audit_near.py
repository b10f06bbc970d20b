"""Near-duplicates: inputs that are not equal, but nearly so.

Two inputs are near-duplicates where, in each input column, the Jaccard similarity of the two texts' sets of
character trigrams is at least 0.8. Texts are compared without case, punctuation and spacing, with a space put
before and after. In a sentence of forty characters that is a word of one or two letters more or less; of two
questions about one passage, the questions have to be alike too. Trigrams are compared as they are, so that
what is found is a fact about the texts. A set knows little of order: sentences of a template that say the
same words of other things are alike.

Candidates come from MinHash with banding (Broder 1997; Leskovec, Rajaraman and Ullman, "Mining of Massive
Datasets", 3.4). In each of 40 bands an input has a key of six minimum hashes: five of the column with the
most distinct texts, one of the next (all six of an only column). Inputs with a key in common are compared,
unless the hashes of a column say that they are far from alike. A pair at the threshold in every column
is missed with a probability of 5e-6, one of higher similarity with a lower one.

Signatures are made by rensa (Rust, seeded; no dependencies). Measured on the 36,850 premises of a
defeasible-inference corpus with 120 hashes each: 0.13 s, against about 6 s for datasketch, at a smaller error
than that of independent permutations. Its index gives candidates one query at a time as Python lists: the
bands of all inputs are joined here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

THRESHOLD = 0.8
_SHARED, _OF = 4, 5  # the threshold in whole numbers
_BANDS, _SEED = 40, 42
_HASHES = (5, 1)
"""In a band, of the column with the most distinct texts and of the next."""
_DEVIATIONS = 5.0
"""A pair with so many standard deviations fewer equal hashes than at the threshold is not compared."""
_CHARACTERS_AT_ONCE, _TEXTS_AT_ONCE = 4_000_000, 16_384
_PAIRS_AT_ONCE = 100_000
_SETS_KEPT = 20_000
# Odd constants of splitmix64 (Steele, Lea and Flood 2014), which spread the bits of packed characters.
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class NearDuplicates:
    """Looks among u inputs for near-duplicates.

    `columns`: for each input column its distinct texts and, for each input, which of them it has (int64[u]).
    No two inputs are equal in all columns.
    """

    def __init__(self, columns: Sequence[tuple[pa.Array, np.ndarray]]) -> None:
        ranked = sorted(columns, key=lambda column: len(column[0]), reverse=True)
        self._texts = [texts for texts, _ in ranked]
        self._codes = [codes for _, codes in ranked]
        self._set = lru_cache(_SETS_KEPT)(self._trigrams)
        hashes = _HASHES if len(ranked) > 1 else (sum(_HASHES),)
        self._signatures: list[np.ndarray] = []
        self._keys = np.zeros((_BANDS, len(self._codes[0])), dtype=np.uint32)
        for texts, codes, count in zip(self._texts, self._codes, hashes, strict=False):
            keys, signatures = _hashed(texts, count)
            self._signatures.append(signatures)
            for band in range(_BANDS):
                before = self._keys[band].astype(np.uint64)
                self._keys[band] = _mixed(before * _MIX[0] + keys[codes, band]) >> np.uint64(32)
        self._orders = [np.argsort(keys, kind="stable").astype(np.int32) for keys in self._keys]

    def of(self, queries: np.ndarray, others: np.ndarray) -> np.ndarray:
        """For each of `queries` the number of a near-duplicate among `others`, or -1: int64[queries].

        Both are numbers of inputs, without one in common. Which of several is given depends on the inputs
        alone.
        """
        found = np.full(len(self._codes[0]), -1, dtype=np.int64)
        among = np.zeros(len(found), dtype=bool)
        among[others] = True
        refused: set[tuple[int, int]] = set()
        for keys, order in zip(self._keys, self._orders, strict=True):
            members = order[among[order]]
            for left, right in _joined(keys, queries[found[queries] < 0], members):
                likely = self._likely(left, right)
                for pair in zip(left[likely].tolist(), right[likely].tolist(), strict=True):
                    if found[pair[0]] < 0 and pair not in refused:
                        if self._alike(*pair):
                            found[pair[0]] = pair[1]
                        else:
                            refused.add(pair)
        return found[queries]

    def _likely(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Which pairs may be alike in every hashed column, by the share of their hashes that are equal."""
        likely = np.arange(len(left))
        for codes, signatures in zip(self._codes, self._signatures, strict=False):
            one, two = (signatures[codes[rows[likely]]] for rows in (left, right))
            hashes = signatures.shape[1]
            far = THRESHOLD - _DEVIATIONS * math.sqrt(THRESHOLD * (1 - THRESHOLD) / hashes)
            likely = likely[(one == two).sum(axis=1) >= far * hashes]
        return likely

    def _alike(self, first: int, second: int) -> bool:
        return all(
            self._similar(column, int(codes[first]), int(codes[second]))
            for column, codes in enumerate(self._codes)
        )

    def _similar(self, column: int, first: int, second: int) -> bool:
        if first == second:
            return True
        one, two = self._set(column, first), self._set(column, second)
        if _OF * min(len(one), len(two)) < _SHARED * max(len(one), len(two)):
            return False
        shared = len(one & two)
        return _OF * shared >= _SHARED * (len(one) + len(two) - shared)

    def _trigrams(self, column: int, code: int) -> frozenset[str]:
        return trigrams(self._texts[column][code].as_py())


def trigrams(text: str) -> frozenset[str]:
    """The character trigrams of a text that has a space put before and after.

    >>> sorted(trigrams("abab"))
    [' ab', 'ab ', 'aba', 'bab']
    """
    padded = f" {text} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def _joined(
    keys: np.ndarray, queries: np.ndarray, members: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of a query and a member with one key, some at a time; `members` are sorted by key."""
    sorted_keys = keys[members]
    first = np.searchsorted(sorted_keys, keys[queries], "left")
    counts = np.searchsorted(sorted_keys, keys[queries], "right") - first
    with_any = np.flatnonzero(counts)
    start = 0
    ends = np.cumsum(counts[with_any])
    while start < len(with_any):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _PAIRS_AT_ONCE, "right")))
        some = with_any[start:stop]
        sizes = counts[some]
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield np.repeat(queries[some], sizes), members[np.repeat(first[some], sizes) + offsets]
        start = stop


def _hashed(texts: pa.Array, hashes: int) -> tuple[np.ndarray, np.ndarray]:
    """What texts are found by: a number for each band that is equal where so many hashes are, and all hashes.

    Returns uint32 of shape (texts, bands), and the last byte of each hash, uint8 of shape (texts, bands *
    hashes). Numbers that are equal by chance only cost a comparison.
    """
    keys = np.empty((len(texts), _BANDS), np.uint32)
    signatures = np.empty((len(texts), _BANDS * hashes), np.uint8)
    start = 0
    for some in _slices(texts):
        made = _signatures(some, _BANDS * hashes)
        place = slice(start, start + len(some))
        signatures[place] = made & 0xFF
        bands = made.astype(np.uint64).reshape(len(some), _BANDS, hashes)
        key = np.zeros((len(some), _BANDS), dtype=np.uint64)
        for number in range(hashes):
            key = _mixed(key * _MIX[0] + bands[:, :, number])
        keys[place] = key >> np.uint64(32)
        start += len(some)
    return keys, signatures


def _slices(texts: pa.Array) -> Iterator[list[str]]:
    """The texts in lists of bounded size."""
    held: list[str] = []
    size = 0
    for text in texts.to_pylist():
        held.append(text)
        size += len(text)
        if size > _CHARACTERS_AT_ONCE or len(held) == _TEXTS_AT_ONCE:
            yield held
            held, size = [], 0
    if held:
        yield held


def _signatures(texts: list[str], hashes: int) -> np.ndarray:
    """Minimum hashes of the trigrams of texts: uint32 of shape (texts, hashes)."""
    from rensa import RMinHash

    packed, offsets = _packed_trigrams(texts)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(packed, offsets, hashes, _SEED)
    return np.array(matrix.to_rows(), dtype=np.uint32).reshape(len(texts), hashes)


def _packed_trigrams(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The trigrams of texts as mixed integers (three code points of 21 bits), and where each text begins."""
    padded = "".join(f" {text} " for text in texts)
    points = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(sizes + 2)
    whole = np.ones(len(points), dtype=bool)
    whole[ends - 1] = whole[ends - 2] = False
    packed = (points[:-2] << np.uint64(42)) | (points[1:-1] << np.uint64(21)) | points[2:]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    return _mixed(packed[whole[:-2]]), offsets


def _mixed(values: np.ndarray) -> np.ndarray:
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    return values ^ (values >> np.uint64(31))
