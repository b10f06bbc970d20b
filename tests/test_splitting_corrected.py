"""The corrected choices and the placing of groups, on values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.errors import SplitError
from benchwright.splitting import (
    TEST,
    TRAIN,
    VALIDATION,
    Assignment,
    LengthSplitter,
    LikelihoodSplitter,
    PublishedSplitter,
    RandomSplitter,
    Scores,
    SplitRows,
)
from benchwright.splitting._lengths import length_buckets, rounded_quotas
from benchwright.splitting.constraints import balance_atoms, equal_quotas, share_quotas


def rows(n: int, **arrays: Any) -> SplitRows:
    return SplitRows(pa.array([f"r{i}" for i in range(n)]), np.arange(n), **arrays)


def scores(values: list[float], tokens: int = 10) -> Scores:
    return Scores(np.array(values, dtype=np.float32), np.full(len(values), tokens, dtype=np.int32))


def evaluates(assignment: Assignment) -> set[int]:
    return {*assignment.rows(VALIDATION).tolist(), *assignment.rows(TEST).tolist()}


def label_counts(assignment: Assignment, labels: np.ndarray, side: int) -> list[int]:
    return np.bincount(labels[assignment.side == side], minlength=int(labels.max()) + 1).tolist()


def test_shares_of_labels_are_kept_where_the_published_code_takes_equal_numbers() -> None:
    labels = np.array([0] * 62 + [1] * 38)
    given = rows(100, labels=labels, label_names=("yes", "no"))
    values = scores([-float(i % 50) for i in range(100)])
    sizes = {"train": 60, "validation": 20, "test": 20}

    kept = LikelihoodSplitter(sizes=sizes).split(given, values)
    assert label_counts(kept, labels, VALIDATION) == [12, 8]
    assert label_counts(kept, labels, TEST) == [13, 7]
    assert label_counts(kept, labels, TRAIN) == [37, 23]

    published = LikelihoodSplitter(sizes=sizes, evaluation_labels="equal").split(given, values)
    assert label_counts(published, labels, VALIDATION) == [10, 10]
    assert label_counts(published, labels, TEST) == [10, 10]
    assert label_counts(published, labels, TRAIN) == [42, 18]


def test_shares_have_exact_totals_and_leave_every_label_a_train_row() -> None:
    validation, test = share_quotas(np.array([1, 1, 1, 1, 6]), 2, 2)
    assert (validation + test).tolist() == [0, 0, 0, 0, 4]
    assert validation.sum() == test.sum() == 2
    # Nothing can be kept where every label has one row.
    validation, test = share_quotas(np.array([1, 1, 1]), 1, 1)
    assert (validation + test).tolist() == [1, 1, 0]
    assert [quota.tolist() for quota in share_quotas(np.array([0, 7]), 2, 1)] == [[0, 2], [0, 1]]


def test_equal_quotas_give_remainders_to_the_first_label_met() -> None:
    """SNLI: 3,334 of the first label for each of validation and test, 3,333 of the others."""
    validation, test = equal_quotas([1, 2, 0], 10_000, 10_000, 3)
    assert validation.tolist() == test.tolist() == [3_333, 3_334, 3_333]


def test_length_control_takes_the_unlikely_end_of_every_length() -> None:
    lengths = np.array([3] * 10 + [9] * 10)
    values = [-1.0 - i for i in range(10)] + [-30.0 - i for i in range(10)]
    sizes = {"train": 16, "validation": 2, "test": 2}
    given = rows(20, lengths=lengths)

    plain = LikelihoodSplitter(sizes=sizes).split(given, scores(values))
    assert evaluates(plain) == {16, 17, 18, 19}
    controlled = LikelihoodSplitter(sizes=sizes, length_control="exact").split(given, scores(values))
    assert evaluates(controlled) == {8, 9, 18, 19}
    assert set(controlled.placed_by) == {"score"}
    assert controlled.rows(TRAIN).tolist() == [*range(17, 9, -1), *range(7, -1, -1)]


def test_reverse_evaluates_on_the_likely_end() -> None:
    values = [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    sizes = {"train": 4, "validation": 1, "test": 1}
    assert evaluates(LikelihoodSplitter(sizes=sizes).split(rows(6), scores(values))) == {4, 5}
    backwards = LikelihoodSplitter(sizes=sizes, reverse=True).split(rows(6), scores(values))
    assert evaluates(backwards) == {0, 1}
    assert backwards.rows(TRAIN).tolist() == [2, 3, 4, 5]
    labels = np.array([0, 0, 0, 1, 1, 1])
    by_label = LikelihoodSplitter(sizes=sizes, reverse=True).split(
        rows(6, labels=labels, label_names=("a", "b")), scores(values)
    )
    assert evaluates(by_label) == {0, 3}


def test_perplexity_prefers_long_rows_that_are_likely_per_token() -> None:
    values = Scores(
        np.array([-10, -11, -12, -13], dtype=np.float32), np.array([2, 20, 20, 2], dtype=np.int32)
    )
    sizes = {"train": 2, "validation": 1, "test": 1}
    assert evaluates(LikelihoodSplitter(sizes=sizes).split(rows(4), values)) == {2, 3}
    perplexity = LikelihoodSplitter(sizes=sizes, criterion="perplexity").split(rows(4), values)
    assert evaluates(perplexity) == {0, 3}
    np.testing.assert_allclose(perplexity.score, np.exp([5, 0.55, 0.6, 6.5]), rtol=1e-6)
    by_length = LikelihoodSplitter(sizes=sizes, criterion="length_perplexity").split(
        rows(4, lengths=np.array([20, 2, 2, 20])), values
    )
    assert evaluates(by_length) == {1, 2}


def test_rows_without_a_score_train_after_all_others() -> None:
    values = [-1.0, np.nan, -3.0, -4.0, np.nan, -6.0]
    sizes = {"train": 4, "validation": 1, "test": 1}
    for labels in (None, np.array([0, 0, 1, 0, 1, 1])):
        given = rows(6, labels=labels, label_names=("a", "b"))
        assignment = LikelihoodSplitter(sizes=sizes).split(given, scores(values))
        assert evaluates(assignment) == {3, 5}
        assert assignment.rows(TRAIN).tolist() == [2, 0, 1, 4]
        assert assignment.placed_by.tolist() == ["score", "unscored", "score", "score", "unscored", "score"]
        assert [(note.code, note.uids) for note in assignment.notes if note.code == "unscored"] == [
            ("unscored", ("r1", "r4"))
        ]
        assert np.isnan(assignment.score).tolist() == np.isnan(values).tolist()


def test_a_row_without_a_score_may_be_the_only_train_row_of_an_atom_and_stays() -> None:
    atoms = [frozenset("ax"), frozenset("a"), frozenset("a"), frozenset("ax"), frozenset("a"), frozenset("a")]
    values = [np.nan, -1.0, -2.0, -9.0, -8.0, -3.0]
    assignment = LikelihoodSplitter(sizes={"train": 4, "validation": 1, "test": 1}, constraint="atoms").split(
        rows(6, atoms=lambda: atoms), scores(values)
    )
    assert evaluates(assignment) == {3, 4}
    assert assignment.placed_by.tolist() == ["unscored", *["score"] * 5]


def test_atom_swaps_are_marked_and_explained() -> None:
    atoms = [frozenset("a"), frozenset("a"), frozenset("b"), frozenset("b"), frozenset("c"), frozenset("a")]
    values = [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    assignment = LikelihoodSplitter(sizes={"train": 4, "validation": 1, "test": 1}, constraint="atoms").split(
        rows(6, atoms=lambda: atoms), scores(values)
    )
    # Train is [3, 2, 1, 0]; row 3 is the first that train can spare, row 4 alone has "c".
    assert evaluates(assignment) == {3, 5}
    assert assignment.rows(TRAIN).tolist() == [2, 1, 0, 4]
    assert [row for row in range(6) if assignment.placed_by[row] == "atom_swap"] == [3, 4]
    message = "1 swap gave every atom of the evaluation rows a train row"
    assert [(note.code, note.message, note.uids) for note in assignment.notes] == [
        ("atom_swaps", message, ("r3", "r4"))
    ]


def test_atoms_that_cannot_be_balanced() -> None:
    with pytest.raises(SplitError) as raised:
        balance_atoms([0, 1], [2], [frozenset("a"), frozenset("b"), frozenset("c")])
    assert str(raised.value) == (
        "no train row can be given up for one with 1 atom (['c'], in evaluation row 2); ask for fewer "
        "evaluation rows, or switch the constraint off (--constraint none; constraint=None in Python)"
    )
    with pytest.raises(SplitError, match=r"0 swaps left 1 atom .* without a train row"):
        balance_atoms([0, 1], [2], [frozenset("a"), frozenset("a"), frozenset("c")], max_swaps=0)


def test_rows_with_atoms_that_cannot_be_balanced_are_named() -> None:
    splitter = LikelihoodSplitter(sizes={"train": 2, "validation": 2, "test": 2}, constraint="atoms")
    values = scores([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0])
    with pytest.raises(
        SplitError, match=r"4 atoms \(.*\], in evaluation rows r2, r3, r4, ...\); ask for fewer"
    ):
        splitter.split(rows(6, atoms=lambda: [frozenset(letter) for letter in "abcdef"]), values)
    # Of a group only the rows that have the atom are named.
    groups = np.array([0, 0, 2, 2, 4, 4])
    atoms = [frozenset(letter) for letter in "abcaab"]
    with pytest.raises(SplitError, match=r"1 atom \(\['c'\], in evaluation row r2\); ask for fewer"):
        splitter.split(rows(6, atoms=lambda: atoms, groups=groups), values)


def test_buckets_and_quotas() -> None:
    assert length_buckets(np.array([2, 2, 5, 9, 9, 9]), "exact").tolist() == [0, 0, 1, 2, 2, 2]
    assert length_buckets(np.array([1, 2, 3, 4]), 2).tolist() == [0, 0, 1, 1]
    assert length_buckets(np.array([7, 7, 7]), 4).tolist() == [0, 0, 0]
    counts = np.array([10, 1, 29])
    drawn = np.array([rounded_quotas(counts, 20, np.random.default_rng(seed)) for seed in range(400)])
    assert set(drawn[:, 0]) == {5}
    assert set(drawn[:, 1]) == {0, 1}
    assert set(drawn[:, 2]) == {14, 15}
    np.testing.assert_allclose(drawn.mean(axis=0), [5, 0.5, 14.5], atol=0.08)


def test_groups_stand_at_their_mean_and_fill_the_room() -> None:
    # From the unlikely end: group 1 (mean -8, 3 rows) fits 4 rows; group 0 (mean -5, 2 rows) does not
    # fit the one that is left; row 5 (-4) does.
    groups = np.array([0, 0, 1, 1, 1, 5, 6, 7, 8])
    values = [-4.0, -6.0, -9.0, -8.0, -7.0, -4.0, -3.0, -2.0, -1.0]
    assignment = LikelihoodSplitter(sizes={"train": 5, "validation": 3, "test": 1}).split(
        rows(9, groups=groups), scores(values)
    )
    assert assignment.rows(VALIDATION).tolist() == [2, 3, 4]
    assert assignment.rows(TEST).tolist() == [5]
    assert [row for row in range(9) if assignment.placed_by[row] == "group"] == [0, 1, 5]
    assert [(note.code, note.uids) for note in assignment.notes] == [("moved_by_group", ("r0", "r1", "r5"))]


def test_groups_of_one_row_change_nothing() -> None:
    rng = np.random.default_rng(0)
    labels, lengths = rng.integers(0, 3, 60), rng.integers(2, 9, 60)
    values = scores(rng.normal(-20, 5, 60).round().tolist())
    sizes = {"train": 40, "validation": 10, "test": 10}
    for splitter in (
        RandomSplitter(sizes=sizes),
        LengthSplitter(sizes=sizes),
        LikelihoodSplitter(sizes=sizes),
        LikelihoodSplitter(sizes=sizes, length_control="exact"),
    ):
        for arrays in (
            {"lengths": lengths},
            {"lengths": lengths, "labels": labels, "label_names": ("a", "b", "c")},
        ):
            alone = splitter.split(rows(60, **arrays), values)
            grouped = splitter.split(rows(60, groups=np.arange(60)[::-1].copy(), **arrays), values)
            assert alone.side.tolist() == grouped.side.tolist()
            assert alone.position.tolist() == grouped.position.tolist()
            assert alone.placed_by.tolist() == grouped.placed_by.tolist()


def test_groups_with_several_labels() -> None:
    """Three hypotheses of one premise: no label can claim the group, and shares still come out."""
    labels = np.tile([0, 1, 2], 20)
    given = rows(60, labels=labels, label_names=("a", "b", "c"), groups=np.repeat(np.arange(20), 3))
    values = scores([-float(i // 3) for i in range(60)])
    sizes = {"train": 42, "validation": 9, "test": 9}
    kept = LikelihoodSplitter(sizes=sizes).split(given, values)
    assert evaluates(kept) == set(range(42, 60))
    assert label_counts(kept, labels, TEST) == label_counts(kept, labels, VALIDATION) == [3, 3, 3]
    with pytest.raises(SplitError, match="every group has several labels; use evaluation_labels='shares'"):
        LikelihoodSplitter(sizes=sizes, evaluation_labels="equal").split(given, values)


def test_a_group_with_an_unscored_row_trains() -> None:
    values = [-1.0, -2.0, -3.0, -4.0, -9.0, np.nan]
    assignment = LikelihoodSplitter(sizes={"train": 4, "validation": 1, "test": 1}).split(
        rows(6, groups=np.array([0, 1, 2, 3, 4, 4])), scores(values)
    )
    assert evaluates(assignment) == {2, 3}
    assert assignment.placed_by.tolist()[4:] == ["group", "unscored"]


def test_a_group_that_the_source_divided_trains() -> None:
    source_splits = np.array(["train", "train", "dev", "dev", "test", "test", "old"])
    given = rows(7, source_splits=source_splits, groups=np.array([0, 1, 1, 2, 3, 4, 0]))
    mapping = {"train": "train", "dev": "validation", "test": "test", "old": None}
    assignment = PublishedSplitter(mapping=mapping).split(given)
    assert assignment.rows(TRAIN).tolist() == [0, 1, 2]
    assert assignment.rows(VALIDATION).tolist() == [3]
    assert assignment.placed_by.tolist() == ["published", "group", "group", *["published"] * 4]
    assert [note.code for note in assignment.notes] == ["moved_by_group", "left_out"]


def test_length_split_prefers_whitespace_lengths_without_labels() -> None:
    whitespace, tokens = np.array([1, 2, 3, 4]), np.array([4, 3, 2, 1])
    sizes = {"train": 2, "validation": 1, "test": 1}
    by_words = LengthSplitter(sizes=sizes).split(rows(4, lengths=tokens, whitespace_lengths=whitespace))
    assert by_words.rows(TRAIN).tolist() == [0, 1]
    assert by_words.score.tolist() == [1, 2, 3, 4]
    assert LengthSplitter(sizes=sizes).split(rows(4, lengths=tokens)).rows(TRAIN).tolist() == [3, 2]
    labelled = rows(
        4, lengths=tokens, whitespace_lengths=whitespace, labels=np.zeros(4, dtype=int), label_names=("a",)
    )
    assert LengthSplitter(sizes=sizes).split(labelled).rows(TRAIN).tolist() == [3, 2]
