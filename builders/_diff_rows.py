"""Finding each row of one release in another one and telling what became of it, over whole columns at once.

Index arrays are int64. Digests have shape (rows, 2), uint64: the 16 bytes of a row digest as two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..hashing import row_digests
from ..splitting.scores.check import SCORE_TOLERANCE, compare_scores
from ._diff_types import Move, RowsDiff, Sample, ScoreChange, cut


@dataclass(frozen=True, eq=False)
class ConfigRows:
    """The rows of one config that readers can load, in file order within each split.

    `uids` are unique (large_string); `split` (int64) indexes `splits`. `digests` is None where rows cannot be
    told apart by them, `positions` where rows have no written order.
    """

    uids: pa.Array
    split: np.ndarray
    splits: tuple[str, ...]
    digests: np.ndarray | None = None
    positions: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.uids)

    @cached_property
    def place(self) -> np.ndarray:
        """Number of each row within its split (int64)."""
        return _occurrences(self.split)

    def by_split(self, index: np.ndarray) -> dict[str, Sample]:
        """The rows at `index` as samples of each split that has any, in the order of `splits`."""
        codes = self.split[index]
        return {self.splits[code]: Sample.of(index[codes == code], self.uids) for code in np.unique(codes)}


class Matching(NamedTuple):
    """Pairs of equal rows, `left` ascending, and the rows of each side without a partner."""

    left: np.ndarray
    right: np.ndarray
    removed: np.ndarray
    added: np.ndarray


def common_codes(first: pa.Array, second: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Equal texts of both sides as equal numbers from 0 (int64); a null is a text of its own."""
    both = pa.chunked_array([first, second]).combine_chunks().dictionary_encode(null_encoding="encode")
    codes = both.indices.to_numpy().astype(np.int64)
    return codes[: len(first)], codes[len(first) :]


def first_repeated(codes: np.ndarray) -> int | None:
    """A row whose code another row has, too; None if there is none."""
    counts = np.bincount(codes)
    return int(np.flatnonzero(counts[codes] > 1)[0]) if counts.max(initial=0) > 1 else None


def match_unique(first: np.ndarray, second: np.ndarray) -> Matching:
    """Rows of one code are one row; no side has a code twice.

    >>> match_unique(np.array([0, 1, 2]), np.array([3, 2, 0])).right.tolist()
    [2, 1]
    """
    places = np.full(max(first.max(initial=-1), second.max(initial=-1)) + 1, -1)
    places[second] = np.arange(len(second))
    found = places[first]
    left = np.flatnonzero(found >= 0)
    return _matching(left, found[left], len(first), len(second))


def match_contents(
    first: np.ndarray, second: np.ndarray, splits: np.ndarray, other_splits: np.ndarray
) -> Matching:
    """Rows of one content are one row; contents and splits as codes of both sides (int64 from 0).

    Rows that repeat a content are paired within their splits first, so that none of them seems to have moved
    that need not have, and in their order.
    """
    width = max(splits.max(initial=0), other_splits.max(initial=0)) + 1
    left, right = pair_in_order(first * width + splits, second * width + other_splits)
    rest, other_rest = np.setdiff1d(np.arange(len(first)), left), np.setdiff1d(np.arange(len(second)), right)
    more_left, more_right = pair_in_order(first[rest], second[other_rest])
    left = np.concatenate([left, rest[more_left]])
    right = np.concatenate([right, other_rest[more_right]])
    order = np.argsort(left)
    return _matching(left[order], right[order], len(first), len(second))


def match_digests(first: np.ndarray, second: np.ndarray) -> Matching:
    """Rows of equal digests are one row, the k-th the k-th; for tables without uids."""
    codes = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)[1].reshape(-1)
    left, right = pair_in_order(codes[: len(first)], codes[len(first) :])
    return _matching(left, right, len(first), len(second))


def pair_in_order(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs the k-th row of a code with the k-th row of that code on the other side.

    Codes are int64 from 0. Returns two index arrays of one length, the first ascending.

    >>> [side.tolist() for side in pair_in_order(np.array([7, 7, 8]), np.array([8, 7]))]
    [[0, 2], [1, 0]]
    """
    width = max(len(first), len(second)) + 1
    keys, others = (codes * width + _occurrences(codes) for codes in (first, second))
    _, left, right = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    order = np.argsort(left)
    return left[order], right[order]


def compare_rows(
    first: ConfigRows, second: ConfigRows, matching: Matching, changed: np.ndarray, matched_by: str
) -> RowsDiff:
    """What became of every row. `changed` (bool, shape (pairs,)) says which pairs have other values."""
    names, sides = common_splits(first, second)
    left, right = sides[0][matching.left], sides[1][matching.right]
    stays = left == right
    moves, index = np.unique((left * len(names) + right)[~stays], return_inverse=True)
    moved = matching.left[~stays]
    reordered = _reordered(first, matching, left, stays)
    repositioned = _repositioned(first, second, matching)
    found = RowsDiff(
        matched_by,
        added=second.by_split(matching.added),
        removed=first.by_split(matching.removed),
        changed=first.by_split(matching.left[changed]),
        moved=tuple(
            Move(
                names[code // len(names)], names[code % len(names)], Sample.of(moved[index == n], first.uids)
            )
            for n, code in enumerate(moves.tolist())
        ),
        reordered=first.by_split(reordered),
    )
    if not found:
        # Positions follow from which rows a split has; they say something only where those are the same.
        found = replace(found, positions=Sample.of(repositioned, first.uids))
        return replace(found, first=_first(first, second, repositioned, matching.added)) if found else found
    index = np.concatenate([matching.removed, matching.left[changed], moved, reordered])
    return replace(found, first=_first(first, second, index, matching.added))


def common_splits(first: ConfigRows, second: ConfigRows) -> tuple[list[str], list[np.ndarray]]:
    """The splits of both sides, and the split of every row of each side as an index into them (int64)."""
    place = {name: n for n, name in enumerate(dict.fromkeys([*first.splits, *second.splits]))}
    numbers = [np.array([place[name] for name in rows.splits], np.int64) for rows in (first, second)]
    return list(place), [number[rows.split] for number, rows in zip(numbers, (first, second), strict=True)]


def unequal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> np.ndarray:
    """Which values of two columns of one type differ (bool); nulls are equal, and so are NaNs."""
    if pa.types.is_nested(left.type):
        digests = [row_digests(pa.table({"value": column})) for column in (left, right)]
        return np.asarray((digests[0] != digests[1]).any(axis=1))
    same = pc.fill_null(pc.equal(left, right), False)
    same = pc.or_(same, pc.and_(pc.is_null(left, nan_is_null=True), pc.is_null(right, nan_is_null=True)))
    return ~same.to_numpy()


def compare_score_columns(
    column: str, left: np.ndarray, right: np.ndarray, rows: ConfigRows, index: np.ndarray
) -> ScoreChange | None:
    """Two columns of scores of the rows at `index` (float64, NaN where there is none); None if equal."""
    only_one = np.isnan(left) != np.isnan(right)
    with np.errstate(invalid="ignore"):
        apart = np.where((left == right) | np.isnan(left) | np.isnan(right), 0.0, np.abs(left - right))
        changed_ranks = len(compare_scores(left, right).changed_ranks)
    differs = only_one | (apart > 0)
    if not differs.any():
        return None
    row = int(np.argmax(apart)) if apart.any() else int(np.argmax(only_one))
    return ScoreChange(
        column=column,
        rows=int(differs.sum()),
        beyond=int((only_one | (apart > SCORE_TOLERANCE)).sum()),
        only_one=int(only_one.sum()),
        largest=float(apart.max()),
        split=rows.splits[rows.split[index[row]]],
        uid=cut(rows.uids[index[row]].as_py()),
        changed_ranks=changed_ranks,
    )


def _matching(left: np.ndarray, right: np.ndarray, rows: int, others: int) -> Matching:
    alone, others_alone = np.ones(rows, dtype=bool), np.ones(others, dtype=bool)
    alone[left], others_alone[right] = False, False
    return Matching(left, right, np.flatnonzero(alone), np.flatnonzero(others_alone))


def _occurrences(codes: np.ndarray) -> np.ndarray:
    """How many earlier rows have the code of each row."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else order
    lengths = np.diff(np.concatenate([starts, [len(ranked)]]))
    earlier = np.empty(len(codes), dtype=np.int64)
    earlier[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    return earlier


def _reordered(first: ConfigRows, matching: Matching, split: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Rows of `first` that stay in their split but stand at another place among the rows that do."""
    left, right, codes = matching.left[stays], matching.right[stays], split[stays]
    before, after = np.lexsort((left, codes)), np.lexsort((right, codes))
    return np.sort(left[before[before != after]])


def _repositioned(first: ConfigRows, second: ConfigRows, matching: Matching) -> np.ndarray:
    if first.positions is None or second.positions is None:
        return np.empty(0, dtype=np.int64)
    return matching.left[first.positions[matching.left] != second.positions[matching.right]]


def _first(first: ConfigRows, second: ConfigRows, index: np.ndarray, added: np.ndarray) -> tuple[str, str]:
    """Split and uid of the first row at `index`, in the order of the first release; else of `added`."""
    rows, row = (first, int(index.min())) if len(index) else (second, int(added[0]))
    return rows.splits[rows.split[row]], cut(rows.uids[row].as_py())
