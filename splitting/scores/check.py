"""Comparing two scorings of the same rows, say the published one and one made on another machine.

Pure functions over arrays. Scores are log-likelihoods of shape (rows,), NaN where a row has none; sides are
those of `benchwright.splitting`: 0 train, 1 validation, 2 test, -1 unused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import TRAIN, UNUSED

SCORE_TOLERANCE = 1e-3
"""Nats by which scores may differ between kinds of machines; a larger difference is another score."""


@dataclass(frozen=True)
class CutCheck:
    """What a second scoring would do to a split.

    `flipped` are the rows (int64) that would change sides. `margin` is the smallest difference, in nats,
    between a training row and an evaluation row at a cut: scores that move by less than half of it change
    nothing. It is NaN where no cut has rows on both of its sides.
    """

    flipped: np.ndarray
    margin: float


@dataclass(frozen=True)
class ScoreComparison:
    """Two scorings of the same rows.

    `compared` rows have a score in both; `only_one` are the rows (int64) that have one in one of them.
    `largest_difference` is in nats, at row `largest_at` (-1 if nothing was compared). `changed_ranks` are
    the rows (int64) whose rank, most likely first and ties in the order of the rows, differs.
    """

    compared: int
    only_one: np.ndarray
    largest_difference: float
    largest_at: int
    changed_ranks: np.ndarray
    cut: CutCheck | None

    def within(self, tolerance: float = SCORE_TOLERANCE) -> bool:
        """Whether the same rows have scores and none differs by more than `tolerance` nats."""
        return not len(self.only_one) and self.largest_difference <= tolerance


def compare_scores(
    published: np.ndarray,
    rescored: np.ndarray,
    side: np.ndarray | None = None,
    strata: np.ndarray | None = None,
) -> ScoreComparison:
    """Compare two scorings, and with `side` what the second would change in the split (see `check_cut`).

    Raises ValueError for arrays of different lengths.
    """
    _require_same_length(published, rescored)
    has_published, has_rescored = ~np.isnan(published), ~np.isnan(rescored)
    both = np.flatnonzero(has_published & has_rescored)
    difference = np.abs(published[both].astype(np.float64) - rescored[both].astype(np.float64))
    largest = int(np.argmax(difference)) if len(both) else -1
    return ScoreComparison(
        compared=len(both),
        only_one=np.flatnonzero(has_published != has_rescored),
        largest_difference=float(difference[largest]) if len(both) else 0.0,
        largest_at=int(both[largest]) if len(both) else -1,
        changed_ranks=both[_ranks(published[both]) != _ranks(rescored[both])],
        cut=None if side is None else check_cut(published, rescored, side, strata),
    )


def check_cut(
    published: np.ndarray, rescored: np.ndarray, side: np.ndarray, strata: np.ndarray | None = None
) -> CutCheck:
    """Which rows cross a cut when `rescored` takes the place of `published`, and how close the cuts are.

    In each stratum (a label, a length, or both; one for all rows by default) as many rows train as do in
    `side`. The training rows of a stratum lie on one end of its scores, the most likely one unless the split
    is a reverse one; which of the two is read from `side`. Rows that something other than their score placed
    (an exact size, a swapped atom) should be given side -1, like unused ones; they and rows without a score
    stay out.
    """
    for array in (rescored, side, *([] if strata is None else [strata])):
        _require_same_length(published, array)
    usable = np.flatnonzero((side != UNUSED) & ~np.isnan(published) & ~np.isnan(rescored))
    groups = (
        np.zeros(len(usable), dtype=np.int64)
        if strata is None
        else np.unique(strata[usable], return_inverse=True)[1]
    )
    sign = _direction(published[usable], side[usable], groups)
    flipped, margin = [], math.inf
    for group in np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]):
        members = usable[group]
        trained = int((side[members] == TRAIN).sum())
        before = np.argsort(-sign * published[members], kind="stable")
        after = np.argsort(-sign * rescored[members], kind="stable")
        flipped.append(members[np.setxor1d(before[:trained], after[:trained])])
        if 0 < trained < len(members):
            last, first = (float(published[members[before[at]]]) for at in (trained - 1, trained))
            margin = min(margin, abs(last - first))
    rows = np.sort(np.concatenate(flipped)) if flipped else np.empty(0, dtype=np.int64)
    return CutCheck(rows, margin if math.isfinite(margin) else math.nan)


def _ranks(scores: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return ranks


def _direction(scores: np.ndarray, side: np.ndarray, groups: np.ndarray) -> int:
    """1 where the more likely rows of the strata train, -1 in a reverse split."""
    if not len(scores):
        return 1
    means = np.bincount(groups, weights=scores) / np.bincount(groups)
    return 1 if (scores - means[groups])[side == TRAIN].sum() >= 0 else -1


def _require_same_length(first: np.ndarray, second: np.ndarray) -> None:
    if len(first) != len(second):
        raise ValueError(f"arrays of {len(first)} and {len(second)} rows; align both to the same rows")
