"""Finding rows of one release in another: arrays in, arrays out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders._diff_rows import (
    ConfigRows,
    common_codes,
    compare_rows,
    compare_score_columns,
    first_repeated,
    match_contents,
    match_digests,
    match_unique,
    pair_in_order,
    unequal,
)

CODES = st.lists(st.integers(0, 5), max_size=12).map(lambda codes: np.array(codes, np.int64))
TEXTS = st.lists(st.one_of(st.none(), st.text("ab", max_size=3)), max_size=12)


def rows(splits: str, names: str = "") -> ConfigRows:
    """A row per letter: t rains, v alidates, e valuates."""
    return ConfigRows(
        uids=pa.array(list(names or "abcdefghij"[: len(splits)]), pa.large_string()),
        split=np.array(["tve".index(letter) for letter in splits], np.int64),
        splits=("train", "validation", "test"),
    )


@given(TEXTS, TEXTS)
def test_equal_texts_have_equal_codes(first, second) -> None:
    codes = np.concatenate(common_codes(*(pa.array(side, pa.large_string()) for side in (first, second))))
    texts = [*first, *second]
    for left, code in zip(texts, codes, strict=True):
        for right, other in zip(texts, codes, strict=True):
            assert (left == right) == (code == other)


@given(CODES)
def test_repeated_codes_are_found(codes) -> None:
    found = first_repeated(codes)
    counts = Counter(codes.tolist())
    expected = [row for row, code in enumerate(codes.tolist()) if counts[code] > 1]
    assert found == (expected[0] if expected else None)


@given(st.permutations(range(8)), st.permutations(range(8)), st.integers(0, 8), st.integers(0, 8))
def test_unique_codes_are_matched_as_a_dictionary_would(first, second, rows_first, rows_second) -> None:
    first, second = np.array(first[:rows_first], np.int64), np.array(second[:rows_second], np.int64)
    found = match_unique(first, second)
    places = {code: row for row, code in enumerate(second.tolist())}
    pairs = [(row, places[code]) for row, code in enumerate(first.tolist()) if code in places]
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs
    assert {*found.removed.tolist()} == {*range(rows_first)} - {left for left, _ in pairs}
    assert {*found.added.tolist()} == {*range(rows_second)} - {right for _, right in pairs}


@given(CODES, CODES)
def test_repeated_codes_are_paired_in_order_as_often_as_both_sides_have_them(first, second) -> None:
    left, right = pair_in_order(first, second)
    assert (first[left] == second[right]).all()
    assert Counter(first[left].tolist()) == Counter(first.tolist()) & Counter(second.tolist())
    assert (np.diff(left) > 0).all()
    for code in set(first[left].tolist()):
        assert (np.diff(right[first[left] == code]) > 0).all()


@given(CODES, CODES, st.data())
def test_contents_are_paired_with_the_fewest_moves(first, second, data) -> None:
    splits = [
        np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(side), max_size=len(side))), np.int64)
        for side in (first, second)
    ]
    found = match_contents(first, second, *splits)
    assert (first[found.left] == second[found.right]).all()
    assert Counter(first[found.left].tolist()) == Counter(first.tolist()) & Counter(second.tolist())
    keys = [
        Counter(zip(side.tolist(), split.tolist(), strict=True))
        for side, split in zip((first, second), splits, strict=True)
    ]
    stay = int((splits[0][found.left] == splits[1][found.right]).sum())
    assert stay == (keys[0] & keys[1]).total()


def test_rows_without_uids_are_matched_by_digest() -> None:
    digests = [np.array(side, np.uint64).reshape(-1, 2) for side in ([1, 1, 1, 2, 1, 1], [1, 2, 1, 1])]
    found = match_digests(*digests)
    assert (found.left.tolist(), found.right.tolist()) == ([0, 1], [1, 0])
    assert (found.removed.tolist(), found.added.tolist()) == ([2], [])


def test_the_rest_of_a_split_keeps_its_order_when_a_row_goes() -> None:
    first, second = rows("tttt"), rows("ttt", "acd")
    matching = match_unique(*common_codes(first.uids, second.uids))
    found = compare_rows(first, second, matching, np.zeros(3, bool), "uid")
    assert found.removed["train"].uids == ("b",)
    assert not found.reordered
    assert found.first == ("train", "b")


def test_rows_that_change_places_are_in_another_order() -> None:
    first, second = rows("ttte"), rows("ttte", "acbd")
    matching = match_unique(*common_codes(first.uids, second.uids))
    found = compare_rows(first, second, matching, np.zeros(4, bool), "uid")
    assert found.reordered["train"].uids == ("b", "c")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (["a", None, "b", None], ["a", None, "c", "d"], [False, False, True, True]),
        ([1.0, float("nan"), None, 2.0], [1.0, float("nan"), None, 2.5], [False, False, False, True]),
        ([1.0, float("nan")], [float("nan"), float("nan")], [True, False]),
        ([[1], None, [], [1, 2]], [[1], [], [], [2, 1]], [False, True, False, True]),
        ([{"a": 1}, None], [{"a": 2}, None], [True, False]),
        ([True, False], [True, None], [False, True]),
    ],
    ids=["text", "numbers", "nan", "lists", "structs", "booleans"],
)
def test_values_are_compared_with_nulls_and_nans(left, right, expected) -> None:
    kind = pa.array(left).type
    columns = [
        pa.chunked_array([pa.array(side[:1], kind), pa.array(side[1:], kind)]) for side in (left, right)
    ]
    assert unequal(*columns).tolist() == expected


def test_scores() -> None:
    left = np.array([-1.0, -2.0, np.nan, -4.0, np.nan])
    right = np.array([-1.0, -2.0009, -3.0, -4.002, np.nan])
    found = compare_score_columns("log_likelihood", left, right, rows("tvtee"), np.arange(5))
    assert found is not None
    assert (found.rows, found.beyond, found.only_one) == (3, 2, 1)
    assert found.largest == pytest.approx(0.002)
    assert (found.split, found.uid) == ("test", "d")
    assert compare_score_columns("log_likelihood", left, left, rows("tvtee"), np.arange(5)) is None


def test_infinite_scores_are_compared_without_a_warning(recwarn) -> None:
    """A release that anyone made may hold them."""
    left, right = np.array([-np.inf, -np.inf, 1.0]), np.array([-np.inf, 0.0, 1.0])
    found = compare_score_columns("log_likelihood", left, right, rows("tve"), np.arange(3))
    assert found is not None
    assert (found.rows, found.beyond, found.uid) == (1, 1, "b")
    assert not recwarn.list
