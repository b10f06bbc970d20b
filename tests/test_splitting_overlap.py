"""Subsets by overlap: worked cases, refusals, and what holds for any scores."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import SplitError
from benchwright.splitting import (
    TEST,
    UNUSED,
    Assignment,
    OverlapSplitter,
    Scores,
    SplitRows,
    splitters,
)
from benchwright.splitting.overlap import PUBLISHED_CUTOFFS

BEST = [0.0, 31.5, np.nan, 12.0, 35.0, 35.25, 25.0, -2.5]
NO_SCORE = np.full(1, np.nan, np.float32)


def split(best: list[float] | np.ndarray, **parameters: Any) -> Assignment:
    n = len(best)
    rows = SplitRows(pa.array([f"r{row}" for row in range(n)]), np.arange(n))
    scores = Scores(
        np.full(n, np.nan, np.float32), np.zeros(n, np.int32), best_score=np.array(best, dtype=np.float64)
    )
    return OverlapSplitter(**parameters).split(rows, scores)


def chosen(best: list[float] | np.ndarray, **parameters: Any) -> list[int]:
    return split(best, **parameters).rows(TEST).tolist()


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({"subset": "all"}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"subset": "overlap"}, [1, 3, 4, 5, 6]),
        ({"subset": "overlap", "cutoff": 25}, [1, 4, 5]),
        ({"subset": "overlap", "cutoff": 35}, [5]),
        ({"subset": "overlap", "cutoff": -3}, [0, 1, 3, 4, 5, 6, 7]),
        ({"subset": "no_overlap"}, [0, 7]),
        ({"subset": "no_overlap", "cutoff": 25}, [0, 3, 6, 7]),
        # Overlapping rows score 12, 25, 31.5, 35 and 35.25: at or below 31.5 are three fifths of them.
        ({"subset": "overlap", "quantile": 0.6}, [4, 5]),
        ({"subset": "overlap", "quantile": 0.2}, [1, 4, 5, 6]),
        ({"subset": "no_overlap", "quantile": 0.2}, [0, 3, 7]),
    ],
)
def test_rows_of_each_subset(parameters, rows):
    assert chosen(BEST, **parameters) == rows


def test_unused_rows_have_a_reason_and_rows_their_best_score():
    made = split(BEST, subset="overlap", cutoff=25)
    assert made.placed_by.tolist() == [
        "below_cutoff",
        "score",
        "unscored",
        "below_cutoff",
        "score",
        "score",
        "below_cutoff",
        "below_cutoff",
    ]
    assert set(made.side.tolist()) == {TEST, UNUSED}
    assert np.array_equal(made.score, np.array(BEST, np.float32), equal_nan=True)
    made = split(BEST, subset="no_overlap")
    assert [made.placed_by[row] for row in (0, 1, 2)] == ["score", "above_cutoff", "unscored"]
    assert set(split(BEST, subset="all").placed_by.tolist()) == {"published"}


def test_rows_without_a_query_are_named():
    notes = {note.code: note for note in split(BEST, subset="no_overlap").notes}
    assert notes["unscored"].uids == ("r2",)
    assert "1 rows" in notes["unscored"].message


def test_a_quantile_says_where_it_cuts():
    (note,) = [
        note for note in split(BEST, subset="overlap", quantile=0.6).notes if note.code == "overlap_cut"
    ]
    assert "quantile 0.6 of 5 overlapping rows: the cut-off is 31.5000" in note.message


def test_the_whole_set_counts_what_overlaps_and_says_which_subsets_are_empty():
    notes = split(BEST, subset="all", cutoffs=[0, 25, 100]).notes
    counted = [note.message for note in notes if note.code == "overlap"]
    assert counted == [
        "5 of 8 rows have a best score above 0",
        "3 of 8 rows have a best score above 25",
    ]
    (empty,) = [note.message for note in notes if note.code == "empty_subset"]
    assert empty.startswith("no row has a best score above 100")
    (empty,) = [
        n.message for n in split([3.0, 4.0], subset="all", cutoffs=[0]).notes if n.code == "empty_subset"
    ]
    assert empty.startswith("every searched row overlaps")
    unsearched = split([np.nan], subset="all", cutoffs=[0]).notes
    assert [note.code for note in unsearched if note.code != "empty_split"] == ["empty_subset", "unscored"]


@pytest.mark.parametrize(
    ("best", "parameters", "message"),
    [
        ([0.0, 3.0], {"subset": "overlap", "cutoff": 25}, "no row has a best score above 25"),
        ([2.0, 3.0], {"subset": "no_overlap"}, "(they run from 2.00 to 3.00)"),
        ([0.0, 0.0], {"subset": "overlap", "quantile": 0.5}, "no quantile 0.5 to cut at"),
        ([1.0], {"subset": "overlap", "quantile": 0.5}, "no row has a best score above 1"),
        ([np.nan], {"subset": "no_overlap"}, "no query could be made of any row"),
        ([np.inf], {"subset": "all"}, "give finite numbers"),
        ([1.0], {"subset": "overlaps"}, "subset is 'overlaps'"),
        ([1.0], {"subset": "overlap", "cutoff": float("nan")}, "cutoff is nan"),
        ([1.0], {"subset": "overlap", "cutoff": True}, "cutoff is True"),
        ([1.0], {"subset": "overlap", "quantile": 1}, "quantile is 1"),
        ([1.0], {"subset": "all", "quantile": 0.5}, "all rows are not cut"),
    ],
)
def test_refusals(best, parameters, message):
    with pytest.raises(SplitError, match=re.escape(message)):
        split(best, **parameters)


def test_rows_must_have_been_searched():
    rows = SplitRows(pa.array(["a"]), np.arange(1))
    for scores in (None, Scores(NO_SCORE, np.zeros(1, np.int32))):
        with pytest.raises(SplitError, match="search the rows in a corpus"):
            OverlapSplitter(subset="all").split(rows, scores)


def test_scores_are_compared_in_double_precision():
    just_above = np.nextafter(25.0, 26.0)
    assert chosen([25.0, just_above], subset="overlap", cutoff=25) == [1]


def test_twins_and_groups_may_part():
    rows = SplitRows(pa.array(["a", "b"]), np.arange(2), groups=np.zeros(2, np.int64))
    scores = Scores(np.full(2, np.nan, np.float32), np.zeros(2, np.int32), best_score=np.array([9.0, 0.0]))
    assert OverlapSplitter(subset="overlap").split(rows, scores).side.tolist() == [TEST, UNUSED]


def test_parameters_make_the_same_splitter():
    splitter = OverlapSplitter(subset="all", cutoffs=PUBLISHED_CUTOFFS)
    again = splitters.get("overlap")(**splitter.parameters())
    assert again.parameters() == splitter.parameters()
    assert splitter.parameters()["cutoffs"] == [0.0, 25.0, 35.0]


scores_of_rows = st.lists(
    st.one_of(st.just(0.0), st.just(np.nan), st.floats(-5, 60, width=32)), min_size=1, max_size=30
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(scores_of_rows, st.sampled_from([*PUBLISHED_CUTOFFS, 12.5]), st.randoms(use_true_random=False))
def test_subsets_of_one_cutoff_divide_the_searched_rows_in_any_order(best, cutoff, random):
    order = list(range(len(best)))
    random.shuffle(order)
    values = np.array(best, dtype=np.float64)
    found: dict[str, set[int]] = {}
    for subset in ("overlap", "no_overlap"):
        try:
            found[subset] = set(chosen(values, subset=subset, cutoff=cutoff))
        except SplitError:
            found[subset] = set()
            continue
        shuffled = SplitRows(pa.array([f"r{row}" for row in order]), np.array(order))
        scores = Scores(np.full(len(best), np.nan), np.zeros(len(best), np.int32), best_score=values[order])
        made = OverlapSplitter(subset=subset, cutoff=cutoff).split(shuffled, scores)
        assert [order[row] for row in made.rows(TEST).tolist()] == sorted(found[subset])
    assert not found["overlap"] & found["no_overlap"]
    assert found["overlap"] | found["no_overlap"] == set(np.flatnonzero(~np.isnan(values)).tolist())
    assert all(values[row] > cutoff for row in found["overlap"])


def test_doctest():
    assert doctest.testmod(import_module("benchwright.splitting.overlap")).failed == 0


def test_rows_stay_in_the_splits_of_their_source() -> None:
    source_splits = np.array(["train", "dev", "test", "test", "test", "train"])
    rows = SplitRows(pa.array([f"r{i}" for i in range(6)]), np.arange(6), source_splits=source_splits)
    best = np.array([30.0, 0.0, 12.0, 0.0, np.nan, 5.0])
    scores = Scores(np.full(6, np.nan, np.float32), np.zeros(6, np.int32), best_score=best)
    mapping = {"train": "train", "dev": "validation", "test": "test"}
    whole = OverlapSplitter(subset="all", cutoffs=[0, 25], mapping=mapping).split(rows, scores)
    assert whole.side.tolist() == [0, 1, 2, 2, 2, 0]
    assert set(whole.placed_by) == {"published"}
    assert [note.message for note in whole.notes if note.code != "unscored"] == [
        "train: 2 of 2 rows have a best score above 0",
        "train: 1 of 2 rows have a best score above 25",
        "validation: 0 of 1 rows have a best score above 0",
        "validation: 0 of 1 rows have a best score above 25",
        "test: 1 of 3 rows have a best score above 0",
        "test: no row has a best score above 25: a subset of such rows is left out",
    ]
    only_test = {"train": None, "dev": None, "test": "test"}
    for subset, side in (("overlap", [-1, -1, 2, -1, -1, -1]), ("no_overlap", [-1, -1, -1, 2, -1, -1])):
        made = OverlapSplitter(subset=subset, mapping=only_test).split(rows, scores)
        assert made.side.tolist() == side
        assert made.placed_by[[0, 1, 5]].tolist() == ["other_split"] * 3
    # The quantile is that of the rows that count: 30 and 5 are of train.
    made = OverlapSplitter(subset="no_overlap", quantile=0.9, mapping=only_test).split(rows, scores)
    assert made.side.tolist() == [-1, -1, 2, 2, -1, -1]
    with pytest.raises(SplitError, match="no row is of a source split that mapping names"):
        OverlapSplitter(subset="all", mapping=dict.fromkeys(mapping)).split(rows, scores)
    with pytest.raises(SplitError, match="mapping sends 'dev' to 'held out'"):
        OverlapSplitter(subset="all", mapping={"dev": "held out"})


def test_rows_with_a_copy_that_their_query_misses_do_not_count_as_clean() -> None:
    rows = SplitRows(pa.array(list("abcde")), np.arange(5))
    best = np.array([0.0, 0.0, np.nan, 12.0, 0.0])
    copies = np.array([False, True, True, True, False])
    scores = Scores(np.full(5, np.nan, np.float32), np.zeros(5, np.int32), best_score=best, exact_copy=copies)
    made = OverlapSplitter(subset="no_overlap", without_copies=True).split(rows, scores)
    assert made.rows(TEST).tolist() == [0, 4]
    assert made.placed_by.tolist() == ["score", "exact_copy", "unscored", "above_cutoff", "score"]
    told = [(note.code, note.uids) for note in made.notes if note.uids]
    assert told == [("exact_copies", ("b",)), ("unscored", ("c",))]
    # As published, nobody looks.
    assert OverlapSplitter(subset="no_overlap").split(rows, scores).rows(TEST).tolist() == [0, 1, 4]
    # Permuting rows changes nothing, and scores that do not tell of copies have none.
    order = np.array([3, 1, 4, 0, 2])
    again = OverlapSplitter(subset="no_overlap", without_copies=True).split(
        rows.take(order), scores.take(order)
    )
    assert again.side.tolist() == made.side[order].tolist()
    untold = Scores(scores.log_likelihood, scores.num_tokens, best_score=best)
    chosen_untold = OverlapSplitter(subset="no_overlap", without_copies=True).split(rows, untold)
    assert chosen_untold.rows(TEST).tolist() == [0, 1, 4]
    with pytest.raises(SplitError, match="only rows that do not overlap may be without copies"):
        OverlapSplitter(subset="overlap", without_copies=True)
