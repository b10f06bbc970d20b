"""PVI splits: the published procedure, the label-wise midrange, borders, ties, rows that cannot be placed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchwright.errors import SplitError
from benchwright.splitting import TEST, TRAIN, UNUSED, VALIDATION, Assignment, PviSplitter, Scores, SplitRows
from benchwright.splitting.pvi import difficulty_of_side

CELLS = list(itertools.product(("simple", "hard"), repeat=2))
PUBLISHED = {"cut": "published", "border": "pooled"}


def scores_of(pvi: Sequence[float] | np.ndarray) -> Scores:
    n = len(pvi)
    return Scores(np.full(n, np.nan, np.float32), np.zeros(n, np.int32), np.array(pvi, dtype=np.float32))


def rows_of(labels: Sequence[int], splits: Sequence[str] | None = None, names: int = 3) -> SplitRows:
    n = len(labels)
    return SplitRows(
        pa.array([f"r{i}" for i in range(n)]),
        np.arange(n),
        labels=np.array(labels),
        label_names=("a", "b", "c")[:names],
        source_splits=np.array(splits if splits is not None else ["train"] * n),
    )


def sides(made: Assignment) -> list[list[int]]:
    return [made.rows(side).tolist() for side in (TRAIN, VALIDATION, TEST)]


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["entailed_all_zero", "mixed_sign", "all_negative_skewed_threshold"])
@pytest.mark.parametrize("validation", [0, 20], ids=["one_file", "two_files"])
def test_equal_to_the_published_code(oracle_folder: Path, name: str, validation: int) -> None:
    cases = json.loads((oracle_folder / "pvi" / "split.json").read_text())
    expected = next(case for case in cases if case["name"] == name)
    records = expected["records"]
    names = list(dict.fromkeys(record["gold_label"] for record in records))
    ids = np.array([record["id"] for record in records])
    splits = np.where(np.arange(len(records)) < len(records) - validation, "train", "dev")
    rows = rows_of([names.index(record["gold_label"]) for record in records], splits.tolist(), len(names))
    scores = scores_of([record["pvi"] for record in records])
    for train, evaluation in CELLS:
        made = PviSplitter(train=train, evaluation=evaluation, **PUBLISHED).split(rows, scores)
        assert ids[made.rows(TRAIN)].tolist() == expected[f"train_{train}"]
        assert ids[made.rows(VALIDATION)].tolist() == expected[f"val_{evaluation}"]
        assert len(made.rows(TEST)) == 0


@pytest.mark.corpora
def test_the_published_code_fails_where_every_pvi_is_large(oracle_folder: Path) -> None:
    """scikit-learn's "With n_samples=0" is told in one line that says what to do."""
    cases = json.loads((oracle_folder / "pvi" / "split.json").read_text())
    failed = next(case for case in cases if case["name"] == "all_positive_spread")
    assert "n_samples=0" in failed["error"]
    pvi = [3.0, 3.5, 4.0, 4.5, 5.0]
    with pytest.raises(SplitError) as caught:
        PviSplitter(**PUBLISHED).split(rows_of([0] * 5), scores_of(pvi))
    assert str(caught.value) == (
        "label 'a' has 0 simple rows of 5 (PVI 3.000 to 5.000, threshold 7.000), too few to divide between "
        "train and validation; use cut='midrange' or border='published'"
    )
    made = PviSplitter(cut="midrange", border="pooled", evaluation_share=0.3).split(
        rows_of([0] * 5), scores_of(pvi)
    )
    assert sorted(made.rows(TRAIN).tolist() + made.rows(VALIDATION).tolist()) == [2, 3, 4]


def test_the_recut_is_that_of_scikit_learn() -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    rng = np.random.default_rng(5)
    pvi = rng.normal(size=47).astype(np.float32)
    made = PviSplitter(train="hard", evaluation="hard", **PUBLISHED, seed=7).split(
        rows_of([0] * 47), scores_of(pvi)
    )
    threshold = pvi.min() + (abs(pvi.max()) + abs(pvi.min())) / 2
    hard = [row for row in np.argsort(-pvi, kind="stable").tolist() if pvi[row] < threshold]
    train, validation = model_selection.train_test_split(hard, test_size=0.4, random_state=7)
    assert sides(made) == [train, validation, []]


def test_each_side_is_cut_by_itself() -> None:
    splits = ["train"] * 4 + ["dev"] * 4 + ["test"] * 2
    pvi = [0.9, -1.5, 0.8, -2.0, -5.0, -4.0, -1.0, -0.5, 0.2, 0.1]
    rows, scores = rows_of([0] * 10, splits), scores_of(pvi)
    assert sides(PviSplitter().split(rows, scores)) == [[0, 2], [6, 7], [8]]
    assert sides(PviSplitter(train="hard", evaluation="hard").split(rows, scores)) == [[1, 3], [4, 5], [9]]
    crossed = PviSplitter(train="simple", evaluation="hard").split(rows, scores)
    assert sides(crossed) == [[0, 2], [4, 5], [9]]
    assert crossed.side[[1, 3, 6, 7, 8]].tolist() == [UNUSED] * 5
    np.testing.assert_array_equal(crossed.score, np.array(pvi, dtype=np.float32))
    assert next(note.message for note in crossed.notes) == (
        "train, label 'a': threshold -0.5500 bits; 2 rows are simple, 2 hard"
    )


def test_each_label_is_cut_by_itself() -> None:
    splits = ["train"] * 4 + ["dev"] * 4
    rows = rows_of([0, 1, 0, 1, 1, 0, 1, 0], splits)
    made = PviSplitter().split(rows, scores_of([-9, 0.1, -3, 0.3, -1, -1, -2, -3]))
    assert sides(made) == [[2, 3], [4, 5], []]


def test_equal_pvi_are_halved_in_source_order() -> None:
    splits = ["train"] * 5 + ["dev"] * 2
    rows, scores = rows_of([0] * 7, splits), scores_of([0.25] * 7)
    assert sides(PviSplitter().split(rows, scores)) == [[0, 1, 2], [5], []]
    made = PviSplitter(train="hard", evaluation="hard").split(rows, scores)
    assert sides(made) == [[3, 4], [6], []]
    assert "train, label 'a': equal PVI, cut in half; 3 rows are simple, 2 hard" in {
        note.message for note in made.notes
    }


def test_a_label_of_one_row_is_simple_and_missed_among_the_hard() -> None:
    splits = ["train"] * 3 + ["dev"] * 2
    rows, scores = rows_of([0, 0, 1, 0, 0], splits), scores_of([1, -1, -3, 2, -2])
    assert sides(PviSplitter().split(rows, scores)) == [[0, 2], [3], []]
    hard = PviSplitter(train="hard", evaluation="hard").split(rows, scores)
    assert sides(hard) == [[1], [4], []]
    notes = {note.code: note.message for note in hard.notes}
    assert notes["label_without_train"] == "label 'b' has no hard rows in train"


def test_a_side_without_rows_of_the_difficulty_is_refused() -> None:
    rows = rows_of([0, 0, 1, 0], ["train", "train", "dev", "dev"])
    with pytest.raises(
        SplitError,
        match=r"validation would be empty: none of its 2 rows is hard by cut='midrange'; give a source with "
        r"more rows of a label in validation$",
    ):
        PviSplitter(evaluation="hard").split(rows, scores_of([1, -1, 0, 0]))
    rows = rows_of([0, 0, 0], ["train"] * 3)
    with pytest.raises(SplitError, match=r"rows that evaluate.*border='pooled'"):
        PviSplitter().split(rows, scores_of([1, 0, -1]))
    rows = rows_of([0] * 4, ["train", "train", "dev", "dev"])
    with pytest.raises(
        SplitError, match="none of its 2 rows is simple by cut='published'; use cut='midrange', or"
    ):
        PviSplitter(cut="published").split(rows, scores_of([3, 4, 1, -1]))


def test_rows_without_pvi_are_unused() -> None:
    rows = rows_of([0] * 5, ["train"] * 3 + ["dev"] * 2)
    made = PviSplitter().split(rows, scores_of([1, np.nan, -1, 2, 1]))
    assert sides(made) == [[0], [3], []]
    assert made.placed_by[1] == "unscored"
    assert made.notes[0].uids == ("r1",)


def test_source_splits_that_are_left_out_are_unused() -> None:
    rows = rows_of([0] * 6, ["train", "train", "val", "val", "extra", "extra"])
    mapping = {"train": "train", "val": "test", "extra": None}
    made = PviSplitter(mapping=mapping).split(rows, scores_of([1, -1, 1, -1, 9, -9]))
    assert sides(made) == [[0], [], [2]]
    with pytest.raises(SplitError, match="rows come from source split 'extra', which mapping does not name"):
        PviSplitter(mapping={"train": "train", "val": "test"}).split(rows, scores_of([1] * 6))


def test_a_test_split_is_not_pooled() -> None:
    rows = rows_of([0] * 14, ["train"] * 6 + ["dev"] * 4 + ["test"] * 4)
    pvi = [5, 4, -4, -5, 3, -3, 2, -2, 1, -1, 0.1, 0.2, 0.3, 0.4]
    made = PviSplitter(border="pooled", train="hard", evaluation="simple").split(rows, scores_of(pvi))
    assert sorted(made.rows(TRAIN).tolist()) == sorted(set(made.rows(TRAIN).tolist()) & {2, 3, 5, 7, 9})
    assert made.rows(TEST).tolist() == [12, 13]
    assert set(made.rows(VALIDATION).tolist()) <= {0, 1, 4, 6, 8}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": "easy"}, "train is 'easy'; choose 'simple' or 'hard'"),
        ({"evaluation": None}, "evaluation is None"),
        ({"cut": "median"}, "cut is 'median'; choose 'midrange' or 'published'"),
        ({"border": "none"}, "border is 'none'"),
        ({"evaluation_share": 1}, "evaluation_share is 1; give a share between 0 and 1"),
        ({"seed": -1}, "seed is -1"),
        ({"mapping": {"dev": "dev"}}, "mapping sends 'dev' to 'dev'"),
    ],
)
def test_parameters_that_cannot_be_used(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SplitError, match=message):
        PviSplitter(**arguments)


def test_rows_that_cannot_be_cut() -> None:
    rows = rows_of([0, 1])
    with pytest.raises(SplitError, match="needs scores with PVI"):
        PviSplitter().split(rows, Scores(np.zeros(2, np.float32), np.ones(2, np.int32)))
    with pytest.raises(SplitError, match="scores have 1 values of pvi for 2 rows"):
        PviSplitter().split(rows, Scores(np.zeros(2), np.ones(2), np.zeros(1)))
    with pytest.raises(SplitError, match=r"row 0 has PVI inf \(1 such rows\)"):
        PviSplitter().split(rows, scores_of([np.inf, 1]))
    unlabelled = SplitRows(pa.array(["x", "y"]), np.arange(2), source_splits=np.array(["train", "dev"]))
    with pytest.raises(SplitError, match="give rows with labels"):
        PviSplitter().split(unlabelled, scores_of([1, 2]))


def test_the_difficulty_of_a_side() -> None:
    parameters = PviSplitter(train="hard", evaluation="simple").parameters()
    assert [difficulty_of_side(parameters, side) for side in ("train", "validation", "test")] == [
        "hard",
        "simple",
        "simple",
    ]


@st.composite
def scored_rows(draw: st.DrawFn) -> tuple[SplitRows, Scores]:
    n = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    splits = np.where(np.arange(n) < n // 2, "train", rng.choice(["dev", "test"], n))
    # Few distinct values: many ties, and labels whose rows are all equal.
    pvi = rng.choice(rng.normal(draw(st.floats(-4, 4)), 1, draw(st.integers(1, 9))), n)
    return rows_of(rng.integers(0, 3, n).tolist(), splits.tolist()), scores_of(pvi)


@given(scored_rows())
def test_the_midrange_divides_every_side_and_label(corpus: tuple[SplitRows, Scores]) -> None:
    rows, scores = corpus
    assert rows.labels is not None
    assert rows.source_splits is not None
    assert scores.pvi is not None
    for split in ("train", "dev", "test"):
        counts = np.bincount(rows.labels[rows.source_splits == split], minlength=3)
        assume(counts.max() > 1 or not counts.any())
    found = {
        word: PviSplitter(train=word, evaluation=word).split(rows, scores) for word in ("simple", "hard")
    }
    used = [made.side != UNUSED for made in found.values()]
    assert (used[0] ^ used[1]).all()
    for split, label in itertools.product(("train", "dev", "test"), range(3)):
        members = np.flatnonzero((rows.source_splits == split) & (rows.labels == label))
        simple, hard = (members[mask[members]] for mask in used)
        if len(members) > 1:
            assert len(simple)
            assert len(hard)
            if scores.pvi[members].min() < scores.pvi[members].max():
                assert scores.pvi[simple].min() > scores.pvi[hard].max()
            else:
                assert simple.max() < hard.min()


@given(scored_rows(), st.sampled_from([{}, PUBLISHED]), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    corpus: tuple[SplitRows, Scores], variant: dict[str, str], random: Any
) -> None:
    rows, scores = corpus
    order = np.array(random.sample(range(len(rows)), len(rows)))

    def outcome(given_: SplitRows, values: Scores) -> dict[str, tuple[int, int]] | str:
        try:
            made = PviSplitter(train="simple", evaluation="hard", **variant).split(given_, values)
        except SplitError as error:
            return str(error)
        placed = zip(made.side.tolist(), made.position.tolist(), strict=True)
        return dict(zip(given_.uids.to_pylist(), placed, strict=True))

    assert outcome(rows, scores) == outcome(rows.take(order), scores.take(order))
