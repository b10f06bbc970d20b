"""Counts of classes and symbols, and summaries of lengths."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchwright.eval.analyses.composition import SymbolCounts, class_counts
from benchwright.eval.analyses.text_lengths import average, length_summary
from benchwright.splitting.divergence import total_counts

PROGRAMS = st.lists(
    st.none() | st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), max_size=5),
    min_size=1,
    max_size=9,
)


def test_classes_without_rows_count_zero_and_rows_without_a_class_do_not_count():
    assert class_counts(np.array([1, 1, -1, 0]), ["easy", "hard", "extra"]) == {
        "easy": 1,
        "hard": 2,
        "extra": 0,
    }


def test_lengths_by_hand():
    assert length_summary(np.array([4, 2, 2, 9])) == {
        "rows": 4,
        "mean": 4.25,
        "median": 3.0,
        "quartiles": [2.0, 5.25],
        "histogram": [[2, 2], [4, 1], [9, 1]],
    }


def test_symbols_of_programs_by_hand():
    counts = SymbolCounts([{"select": 1, "a": 2}, None, {"select": 1, "b": 1}, {}])
    rows = np.array([0, 2, 2, 1, 3])
    assert counts.totals(rows) == {"a": 2, "b": 2, "select": 3}
    assert list(counts.totals(rows)) == ["a", "b", "select"]
    assert counts.unread(rows) == 1
    assert counts.lengths().tolist() == [3, 0, 2, 0]


@given(PROGRAMS, st.data())
def test_totals_are_the_sums_of_the_programs(programs, data):
    rows = data.draw(st.lists(st.integers(0, len(programs) - 1)))
    expected = total_counts(programs[row] for row in rows if programs[row] is not None)
    found = SymbolCounts(programs).totals(np.array(rows, dtype=np.int64))
    assert Counter(found) == expected
    order = data.draw(st.permutations(range(len(programs))))
    place = {old: new for new, old in enumerate(order)}
    moved = SymbolCounts([programs[old] for old in order])
    assert list(moved.totals(np.array([place[row] for row in rows], dtype=np.int64)).items()) == list(
        found.items()
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.data())
def test_averages_do_not_depend_on_the_order_of_rows(values, data):
    shuffled = data.draw(st.permutations(values))
    assert average(np.array(values)) == average(np.array(shuffled))
