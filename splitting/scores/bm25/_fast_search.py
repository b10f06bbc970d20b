"""The fast engine's search of one index, compiled by numba: ordered phrases, content words, the best k.

A document with the phrase is found from its rarest word: the other words' lists are searched forward from
where they stand, in steps that double, so that a long list is touched in few places. Whether the words stand
in order is Whoosh's rule: a place stands if the nearest standing place of the word before lies at most the
gap away. Content words are scored for documents with the phrase alone. Without a phrase, documents are taken
from the lists of the content words, and from ever fewer of them (MaxScore, Turtle and Flood 1995): as soon as
the words that can add least cannot, all together, reach the k-th best score, none of their documents needs a
look unless another word has it too. A document is dropped as soon as it cannot reach that score any more, by
bounds from a word's most occurrences in a document and the document's length.

Sums are added in the order given, by plain IEEE arithmetic (no fused or reassociated operations), so that a
document's score has the same bits on every machine, and whether its corpus is one index or many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]

START, END, MOST, AT, COUNT = range(5)
"""Columns of `lists`: where a term's occurrences start and end, its most in one document; the place reached,
and the occurrences in the document that was looked at last."""
_SLACK = 1e-9
"""Share by which a bound may be off through rounding; a score is far more exact."""
_NONE = -np.inf
_LAST = np.iinfo(np.int64).max
_helper = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


@_helper
def _advanced(occurrences: Numbers, start: int, end: int, target: int) -> int:
    """The first place from `start` on whose occurrence is not below `target`; `end` if there is none."""
    if start >= end or occurrences[start] >= target:
        return start
    step = 1
    low, high = start, start + 1
    while high < end and occurrences[high] < target:
        step *= 2
        low, high = high, high + step
    high = min(high, end)
    while high - low > 1:
        middle = (low + high) // 2
        if occurrences[middle] < target:
            low = middle
        else:
            high = middle
    return high


@_helper
def _count(occurrences: Numbers, lists: Numbers, slot: int, document: int) -> int:
    """Move to the document in a term's list; how often it has the term."""
    end = lists[slot, END]
    first = _advanced(occurrences, lists[slot, AT], end, document << 32)
    place = first
    while place < end and occurrences[place] >> 32 == document:
        place += 1
    lists[slot, AT], lists[slot, COUNT] = first, place - first
    return place - first


@_helper
def _part(idf: float, count: int, saturation: float, norm: float) -> float:
    """What a term adds to the score of a document that has it `count` times."""
    return idf * ((count * saturation) / (count + norm))


@_helper
def _below(score: float, least: float) -> bool:
    """Whether a score, whose bound may be off by rounding, is certainly below another."""
    return score < least - _SLACK * (1 + abs(least))


@_helper
def _next_with_all(occurrences: Numbers, lists: Numbers, words: Numbers, document: int) -> int:
    """The first document from `document` on that has all words, rarest first; -1 if there is none."""
    i = 0
    while i < len(words):
        slot = words[i]
        place = _advanced(occurrences, lists[slot, AT], lists[slot, END], document << 32)
        lists[slot, AT] = place
        if place == lists[slot, END]:
            return -1
        i += 1
        found = occurrences[place] >> 32
        if found != document:
            document, i = found, 0
    return document


@_helper
def _next_with_any(
    occurrences: Numbers, lists: Numbers, words: Numbers, heads: Numbers, needed: int, document: int
) -> int:
    """The first document from `document` on that has one of the first `needed` words; -1 if there is none.
    `heads`: int64 [words], the first such document of each."""
    least = _LAST
    for i in range(needed):
        if heads[i] < document:
            slot = words[i]
            place = _advanced(occurrences, lists[slot, AT], lists[slot, END], document << 32)
            lists[slot, AT] = place
            heads[i] = occurrences[place] >> 32 if place < lists[slot, END] else _LAST
        least = min(least, heads[i])
    return least if least < _LAST else -1


@_helper
def _in_order(
    occurrences: Numbers, lists: Numbers, phrase: Numbers, gaps: Numbers, order: Numbers, document: int
) -> bool:
    """Whether the phrase stands in the document: all words' places in ascending order, each once.
    `order`: int64 [2, words], each word's next place and its last that stands."""
    words = len(phrase)
    for i in range(words):
        order[0, i] = lists[phrase[i], AT]
        order[1, i] = (document << 32) - (1 << 33)
    while True:
        word, least = -1, (document + 1) << 32
        # Of equal places (a word that the phrase repeats) the later word's first: it needs one before.
        for i in range(words - 1, -1, -1):
            place = order[0, i]
            if place < lists[phrase[i], END] and occurrences[place] < least:
                word, least = i, occurrences[place]
        if word < 0:
            return False
        order[0, word] += 1
        if word == 0 or least - order[1, word - 1] <= gaps[word - 1]:
            if word == words - 1:
                return True
            order[1, word] = least


@_helper
def _fill_upper(
    lists: Numbers,
    idf: Scores,
    saturation: float,
    norm: float,
    members: Numbers,
    group_ends: Numbers,
    upper: Scores,
    code: int,
) -> None:
    """The most that a group and those after it can add to a document of this length code, in its row of
    `upper`, float64 [256, groups + 1]."""
    groups, end = len(group_ends), len(members)
    upper[code, groups] = 0.0
    for group in range(groups - 1, -1, -1):
        first = group_ends[group - 1] if group else 0
        total = upper[code, group + 1]
        for member in range(first, end):
            slot = members[member]
            total += max(0.0, _part(idf[slot], lists[slot, MOST], saturation, norm))
        upper[code, group], end = total, first


@_helper
def _add_groups(
    occurrences: Numbers,
    lists: Numbers,
    idf: Scores,
    saturation: float,
    norm: float,
    members: Numbers,
    group_ends: Numbers,
    heads: Numbers,
    needed: int,
    document: int,
    score: float,
    upper: Scores,
    code: int,
    least: float,
    present: Flags,
    row: int,
) -> tuple[float, bool]:
    """`score` with what the content words add, and whether one is there; -infinity as soon as it cannot reach
    `least` any more. `present`: in row `row`, the groups that are there.

    Of the first `needed` groups only those are there whose head is the document.
    """
    first, found = 0, False
    for group in range(len(group_ends)):
        end = group_ends[group]
        there = group >= needed or heads[group] == document
        if there and least > _NONE and _below(score + upper[code, group], least):
            return _NONE, found
        total = 0.0
        for member in range(first, end):
            if there:
                slot = members[member]
                count = _count(occurrences, lists, slot, document)
                there = count > 0
                total += _part(idf[slot], count, saturation, norm)
        if there:
            score += total
        present[row, group] = there
        found |= there
        first = end
    return score, found


@_helper
def _is_worse(scores: Scores, documents: Numbers, one: int, other: int) -> bool:
    """Whether one row is worse than another: by score, equal ones by document."""
    if scores[one] != scores[other]:
        return scores[one] < scores[other]
    return documents[one] > documents[other]


@_helper
def _sift(heap: Numbers, scores: Scores, documents: Numbers, size: int) -> None:
    """Move the first row of a heap, which has the worst row first, to where it belongs."""
    place, child, row = 0, 1, heap[0]
    while child < size:
        if child + 1 < size and _is_worse(scores, documents, heap[child + 1], heap[child]):
            child += 1
        if not _is_worse(scores, documents, heap[child], row):
            break
        heap[place], place = heap[child], child
        child = 2 * place + 1
    heap[place] = row


@_helper
def _sort(heap: Numbers, scores: Scores, documents: Numbers) -> None:
    """Put the rows of a heap into order, the best first."""
    for last in range(len(heap) - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        _sift(heap, scores, documents, last)


@_helper
def _start(
    lists: Numbers,
    phrase: Numbers,
    members: Numbers,
    heads: Numbers,
    heap: Numbers,
    documents: Numbers,
    scores: Scores,
) -> None:
    """Put every list at its start, and into the heap rows without a document, which are worse than any."""
    for group in range(len(heads)):
        heads[group] = -1
    for word in phrase:
        lists[word, AT] = lists[word, START]
    for member in members:
        lists[member, AT] = lists[member, START]
    for row in range(len(heap)):
        heap[row], scores[row], documents[row] = row, _NONE, len(heap) - row


@_helper
def _search_one(
    occurrences: Numbers,
    lengths: NDArray[np.uint8],
    norms: Scores,
    saturation: float,
    lists: Numbers,
    idf: Scores,
    phrase: Numbers,
    gaps: Numbers,
    words: Numbers,
    members: Numbers,
    group_ends: Numbers,
    required: bool,
    order: Numbers,
    heads: Numbers,
    upper: Scores,
    filled: Flags,
    heap: Numbers,
    documents: Numbers,
    scores: Scores,
    present: Flags,
) -> int:
    """Find the best len(heap) documents of a query; returns how many there are, their rows in `heap`, the
    best first: of `documents`, int64 [k + 1], `scores`, float64 [k + 1], and `present`, bool [k + 1, groups],
    the groups that they have.

    `phrase`: int64, places in `lists`; `gaps`: int64, one less. `members`: int64, the terms of the content's
    groups one after another, `group_ends`: int64 [groups], where each group ends; in this order their parts
    are added. `words`: int64, the distinct terms of the phrase, rarest first, or without a phrase the rarest
    term of each group. `required`: only documents with a group are hits. All else is as with `_search`.

    Room to work in: `order`, int64 [2, words of the phrase]; `heads`, int64 [groups]; `upper`, float64
    [256, groups + 1]; `filled`, bool [256], all False; each may be larger.
    """
    _start(lists, phrase, members, heads, heap, documents, scores)
    most = len(heap)
    size, spare, document, least = 0, most, -1, _NONE
    groups = len(group_ends)
    needed = 0 if len(phrase) else groups
    if needed:
        filled[0] = True
        _fill_upper(lists, idf, saturation, norms[0], members, group_ends, upper, np.int64(0))
    while True:
        if len(phrase):
            document = _next_with_all(occurrences, lists, words, document + 1)
        else:
            # The shortest length gives the highest bound.
            while needed and _below(upper[0, needed - 1], least):
                needed -= 1
            document = _next_with_any(occurrences, lists, words, heads, needed, document + 1)
        if document < 0:
            break
        if len(phrase) > 1 and not _in_order(occurrences, lists, phrase, gaps, order, document):
            continue
        code = np.int64(lengths[document])
        norm = norms[code]
        if least > _NONE and not filled[code]:
            filled[code] = True
            _fill_upper(lists, idf, saturation, norm, members, group_ends, upper, code)
        score = 0.0
        for slot in phrase:
            score += _part(idf[slot], _count(occurrences, lists, slot, document), saturation, norm)
        if least > _NONE and _below(score + upper[code, 0], least):
            continue
        documents[spare] = document
        scores[spare], found = _add_groups(
            occurrences,
            lists,
            idf,
            saturation,
            norm,
            members,
            group_ends,
            heads,
            needed,
            document,
            score,
            upper,
            code,
            least,
            present,
            spare,
        )
        if scores[spare] <= least or (required and not found):
            continue
        heap[0], spare = spare, heap[0]
        _sift(heap, scores, documents, most)
        least, size = scores[heap[0]], min(size + 1, most)
    _sort(heap, scores, documents)
    return size


def _search(
    occurrences: Numbers,
    lengths: NDArray[np.uint8],
    norms: Scores,
    saturation: float,
    lists: Numbers,
    idf: Scores,
    phrases: Numbers,
    gaps: Numbers,
    words: Numbers,
    members: Numbers,
    group_ends: Numbers,
    ends: Numbers,
    required: Flags,
    limits: Numbers,
    documents: Numbers,
    scores: Scores,
    present: Flags,
    counts: Numbers,
) -> None:
    """Find the best documents of many queries.

    `occurrences`, `lengths`: the index's. `norms`: float64 [256], by length code what stands beside the count
    in the denominator; `saturation`: K1 + 1. `lists`: int64 [terms, 5], and `idf`: float64 [terms], of the
    queries' terms. `phrases`, `gaps`, `words`, `members`, `group_ends`: int64, those of `_search_one`, query
    after query; `ends`: int64 [queries + 1, 5], where each query begins in them, and the last one ends.
    `required`: bool [queries]. `limits`: int64 [queries], the most documents of each.

    The answers: `counts`, int64 [queries], and, the best first and from the sum of the limits before the
    query on, `documents`, int64, `scores`, float64, and `present`, bool [sum of limits, most groups], the
    groups that they have.
    """
    most, longest, widest = np.int64(0), np.int64(0), present.shape[1]
    for query in range(len(limits)):
        most = max(most, limits[query])
        longest = max(longest, ends[query + 1, 0] - ends[query, 0])
    order = np.empty((2, longest), dtype=np.int64)
    heads = np.empty(widest, dtype=np.int64)
    upper = np.empty((256, widest + 1), dtype=np.float64)
    filled = np.empty(256, dtype=np.bool_)
    heap, rows = np.empty(most, dtype=np.int64), np.empty(most + 1, dtype=np.int64)
    row_scores = np.empty(most + 1, dtype=np.float64)
    row_present = np.empty((most + 1, widest), dtype=np.bool_)
    start = np.int64(0)
    for query in range(len(limits)):
        counts[query] = 0
        if not limits[query]:
            continue
        filled[:] = False
        counts[query] = _search_one(
            occurrences,
            lengths,
            norms,
            saturation,
            lists,
            idf,
            phrases[ends[query, 0] : ends[query + 1, 0]],
            gaps[ends[query, 1] : ends[query + 1, 1]],
            words[ends[query, 2] : ends[query + 1, 2]],
            members[ends[query, 3] : ends[query + 1, 3]],
            group_ends[ends[query, 4] : ends[query + 1, 4]],
            required[query],
            order,
            heads[: ends[query + 1, 4] - ends[query, 4]],
            upper,
            filled,
            heap[: limits[query]],
            rows,
            row_scores,
            row_present,
        )
        for place in range(counts[query]):
            row = heap[place]
            documents[start + place], scores[start + place] = rows[row], row_scores[row]
            for group in range(widest):
                present[start + place, group] = row_present[row, group]
        start += limits[query]


def _look_up(
    letters: NDArray[np.uint8],
    ends: Numbers,
    wanted: NDArray[np.uint8],
    wanted_ends: Numbers,
    numbers: Numbers,
) -> None:
    """Put the number of each wanted term among sorted ones into `numbers`, int64 [wanted terms]; -1 for an
    unknown one.

    `letters`, `ends`: uint8 and int64 [terms + 1], the bytes of all terms, and where each starts and the last
    ends; the wanted ones likewise.
    """
    for i in range(len(numbers)):
        start, size = wanted_ends[i], wanted_ends[i + 1] - wanted_ends[i]
        numbers[i] = -1
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            place, found = ends[middle], ends[middle + 1] - ends[middle]
            same = 0
            while same < min(size, found) and letters[place + same] == wanted[start + same]:
                same += 1
            if same == size == found:
                numbers[i] = middle
                break
            if same == found or (same < size and letters[place + same] < wanted[start + same]):
                low = middle + 1
            else:
                high = middle


def _compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A function as machine code, from numba's cache folder where it is there.

    numba trusts what it finds there under the function's name. The name therefore has all that the code
    depends on: this file, the versions of the compiler and the processor. So no process, of whatever version
    and on whatever machine with the same folder, finds another's code, however their writing interleaves.
    """
    options = {"error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        made_of = (
            Path(__file__).read_bytes(),
            numba.__version__,
            llvmlite.__version__,
            llvmlite.binding.get_process_triple(),
            numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
            numba.config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten(),
        )
        key = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
        function.__qualname__ = f"{function.__name__}_{key}"
        return numba.njit(arguments, cache=True, **options)(function)
    except Exception:
        # No folder that can be written, a full disk, a damaged file: all of them cost seconds only.
        return numba.njit(arguments, **options)(function)


_BYTES, _INT64, _FLOAT64, _FLAGS = (
    types.Array(kind, 1, "C", readonly=True)
    for kind in (types.uint8, types.int64, types.float64, types.boolean)
)

search = _compiled(
    _search,
    *(_INT64, _BYTES, _FLOAT64, types.float64),
    *(types.int64[:, ::1], _FLOAT64, _INT64, _INT64, _INT64, _INT64, _INT64),
    *(types.Array(types.int64, 2, "C", readonly=True), _FLAGS, _INT64),
    *(types.int64[::1], types.float64[::1], types.boolean[:, ::1], types.int64[::1]),
)
look_up = _compiled(_look_up, _BYTES, _INT64, _BYTES, _INT64, types.int64[::1])
