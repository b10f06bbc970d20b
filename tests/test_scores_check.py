"""Comparing two scorings: differences, ranks, and rows that would change sides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchwright.splitting.scores import check_cut, compare_scores

NAN = math.nan


def test_equal_scores_agree() -> None:
    scores = np.array([-1.0, NAN, -2.0], np.float32)
    result = compare_scores(scores, scores.copy(), np.array([0, -1, 1]))
    assert result.within(0.0)
    assert (result.compared, result.largest_difference, len(result.changed_ranks)) == (2, 0.0, 0)
    assert result.cut is not None
    assert (result.cut.flipped.tolist(), result.cut.margin) == ([], 1.0)


def test_largest_difference_and_changed_ranks() -> None:
    published = np.array([-1.0, -2.0, -3.0, -4.0])
    rescored = np.array([-1.0, -3.5, -3.0, -4.0])
    result = compare_scores(published, rescored)
    assert (result.largest_difference, result.largest_at) == (1.5, 1)
    assert result.changed_ranks.tolist() == [1, 2]
    assert not result.within(1e-3)
    assert result.within(1.5)
    assert result.cut is None


def test_a_score_that_only_one_side_has_is_a_disagreement() -> None:
    result = compare_scores(np.array([-1.0, NAN, NAN]), np.array([-1.0, -2.0, NAN]))
    assert result.only_one.tolist() == [1]
    assert not result.within(10.0)


def test_nothing_to_compare() -> None:
    result = compare_scores(np.array([NAN]), np.array([NAN]), np.array([0]))
    assert (result.compared, result.largest_at, result.within()) == (0, -1, True)
    assert result.cut is not None
    assert math.isnan(result.cut.margin)


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_that_cross_the_cut(reverse: bool) -> None:
    published = np.array([-1.0, -2.0, -2.25, -5.0])
    rescored = np.array([-1.0, -2.5, -2.25, -5.0])
    side = np.array([1, 2, 0, 0]) if reverse else np.array([0, 0, 1, 2])
    cut = check_cut(published, rescored, side)
    assert cut.flipped.tolist() == [1, 2]
    assert cut.margin == 0.25


def test_cuts_are_made_within_strata() -> None:
    # Long texts (stratum 1) are all less likely than short ones, and most of them train.
    published = np.array([-1.0, -2.0, -2.5, -11.0, -12.0, -12.125, -13.0])
    side = np.array([0, 1, 2, 0, 0, 0, 1])
    strata = np.array([0, 0, 0, 1, 1, 1, 1])
    assert check_cut(published, published, side, strata).margin == 0.875
    moved = published.copy()
    moved[5] = -14.0
    assert check_cut(published, moved, side, strata).flipped.tolist() == [5, 6]


def test_rows_that_their_score_did_not_place_stay_out() -> None:
    published = np.array([-1.0, -1.5, -2.0, -9.0])
    side = np.array([0, -1, 1, -1])
    assert check_cut(published, published, side).margin == 1.0
    assert check_cut(published, published[::-1], side).flipped.tolist() == [0, 2]


def test_arrays_of_other_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="arrays of 2 and 3 rows"):
        compare_scores(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="arrays of 2 and 1 rows"):
        check_cut(np.zeros(2), np.zeros(2), np.zeros(1))


SCORES = arrays(np.float64, 20, elements=st.floats(-1000, 0, width=32))


@given(scores=SCORES, trained=st.integers(1, 19), noise=arrays(np.float64, 20, elements=st.floats(-1, 1)))
def test_noise_below_half_the_margin_flips_nothing(
    scores: np.ndarray, trained: int, noise: np.ndarray
) -> None:
    side = np.ones(20, dtype=np.int8)
    side[np.argsort(-scores, kind="stable")[:trained]] = 0
    margin = check_cut(scores, scores, side).margin
    assert not len(check_cut(scores, scores, side).flipped)
    if margin > 1e-6:
        assert not len(check_cut(scores, scores + 0.49 * margin * noise, side).flipped)
