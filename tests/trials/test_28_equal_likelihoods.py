"""Equal log-likelihoods: source order decides, and the split says so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchwright.splitting import TEST, TRAIN, VALIDATION, LikelihoodSplitter, Scores, SplitRows

SIZES = {"train": 5, "validation": 2, "test": 1}
SOURCE_INDEX = np.array([70, 10, 60, 20, 50, 30, 40, 0])


def _evaluates(values: list[float], reverse: bool = False) -> tuple[list[int], list[str]]:
    rows = SplitRows(pa.array([f"at{i}" for i in SOURCE_INDEX]), SOURCE_INDEX)
    scores = Scores(np.array(values, dtype=np.float32), np.ones(8, dtype=np.int32))
    assignment = LikelihoodSplitter(sizes=SIZES, reverse=reverse).split(rows, scores)
    evaluation = np.isin(assignment.side, [VALIDATION, TEST])
    assert (assignment.side[~evaluation] == TRAIN).all()
    return sorted(SOURCE_INDEX[evaluation].tolist()), [
        f"{note.code}: {note.message} ({', '.join(note.uids)})" for note in assignment.notes
    ]


@pytest.mark.parametrize("reverse", [False, True])
def test_all_equal(reverse: bool) -> None:
    evaluation, notes = _evaluates([-7.5] * 8, reverse)
    assert evaluation == [50, 60, 70]
    assert notes == [
        "tied_at_cut: 8 rows have the value of a row across a cut: source order decided "
        "(at0, at10, at20, at30, at40, at50, at60, at70)"
    ]


def test_a_tie_at_the_cut() -> None:
    # Likely first: at70, at10, at60, at20 | three rows with -3, of which the first trains | at0.
    evaluation, notes = _evaluates([-1, -1, -1, -1, -3, -3, -3, -9])
    assert evaluation == [0, 40, 50]
    assert notes == [
        "tied_at_cut: 3 rows have the value of a row across a cut: source order decided (at30, at40, at50)"
    ]


def test_scores_that_differ_beyond_float32_are_equal() -> None:
    """A split is rebuilt from published float32 scores, so finer differences may not decide."""
    rows = SplitRows(pa.array([f"r{i}" for i in range(8)]), np.arange(8))
    finer = -7.5 + np.arange(8) * 1e-12
    split = LikelihoodSplitter(sizes=SIZES).split(rows, Scores(finer, np.ones(8, dtype=np.int32)))
    assert split.rows(TRAIN).tolist() == [4, 3, 2, 1, 0]


def test_a_tie_away_from_the_cut_is_not_worth_a_word() -> None:
    assert _evaluates([-1, -1, -1, -1, -2, -5, -5, -5]) == ([0, 30, 40], [])
