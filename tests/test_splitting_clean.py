"""The clean splitter: another rule's split without conflicts, duplicates and leaks, and nothing else."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.repair import clean_spec, with_clean, with_inputs
from benchwright.errors import SplitError, UsageError
from benchwright.splitting import UNUSED, CleanSplitter, Note, Scores, SplitRows, splitters
from benchwright.tasks import NLI, TEXT_TO_SQL

PUBLISHED = {
    "splitter": "published",
    "parameters": {"mapping": {"a": "train", "b": "validation", "c": "test"}},
}


def _rows(*rows: tuple[str, int, int | None], **arrays: object) -> SplitRows:
    """Rows of (source split, input, target)."""
    splits, inputs, targets = zip(*rows, strict=True)
    return SplitRows(
        pa.array([f"r{row}" for row in range(len(rows))]),
        np.arange(len(rows)),
        source_splits=np.array(splits, dtype=object),
        inputs=np.array(inputs),
        targets=None if targets[0] is None else np.array(targets),
        **arrays,
    )


def _placed(rows: SplitRows) -> list[str]:
    """What became of each row: the first letter of its side, or why it has none."""
    made = CleanSplitter(of=PUBLISHED).split(rows)
    return [
        word if side == UNUSED else "tvT"[side]
        for side, word in zip(made.side.tolist(), made.placed_by.tolist(), strict=True)
    ]


def test_every_row_of_a_conflict_goes_in_train_and_in_evaluation_data():
    rows = _rows(
        ("a", 0, 0), ("a", 1, 0), ("a", 0, 1), ("b", 2, 0), ("c", 2, 1), ("b", 3, 1), ("c", 5, 0),
        ("b", 4, 0), ("b", 4, 1),
    )  # fmt: skip
    gone = "conflict"
    assert _placed(rows) == [gone, "t", gone, gone, gone, "v", "T", gone, gone]


def test_a_train_row_that_contradicts_evaluation_data_is_a_leak_and_these_stay():
    rows = _rows(
        ("a", 9, 0), ("a", 0, 0), ("b", 0, 1), ("a", 1, 1), ("c", 1, 0), ("a", 2, 0), ("a", 2, 1), ("b", 2, 1)
    )  # fmt: skip
    assert _placed(rows) == ["t", "leak", "v", "leak", "T", "leak", "leak", "v"]


def test_a_train_row_leaks_into_evaluation_data_that_leave_as_conflicts():
    rows = _rows(("a", 0, 0), ("b", 0, 0), ("c", 0, 1), ("a", 1, 0), ("b", 2, 0), ("c", 3, 0))
    assert _placed(rows) == ["leak", "conflict", "conflict", "t", "v", "T"]


def test_later_copies_go_and_the_first_in_source_order_stays():
    rows = _rows(("a", 0, 0), ("a", 0, 0), ("b", 1, 0), ("a", 0, 0), ("b", 1, 0))
    assert _placed(rows) == ["t", "duplicate", "v", "duplicate", "duplicate"]


def test_leaks_leave_the_earlier_side_and_evaluation_data_stay():
    rows = _rows(
        ("a", 0, 0), ("b", 0, 0), ("a", 1, 0), ("c", 1, 0), ("b", 2, 0), ("c", 2, 0), ("a", 3, 0), ("b", 4, 0)
    )  # fmt: skip
    assert _placed(rows) == ["leak", "v", "leak", "T", "leak", "T", "t", "v"]


def test_copies_that_leak_are_leaks_all():
    rows = _rows(("a", 0, 0), ("a", 0, 0), ("b", 0, 0), ("a", 1, 0))
    assert _placed(rows) == ["leak", "leak", "v", "t"]


def test_without_targets_labels_tell_conflicts_and_without_both_copies_are_duplicates():
    rows = (("a", 0, None), ("a", 0, None), ("a", 1, None), ("b", 2, None))
    labelled = _rows(*rows, labels=np.array([0, 1, 0, 1]), label_names=("no", "yes"))
    assert _placed(labelled) == ["conflict", "conflict", "t", "v"]
    assert _placed(_rows(*rows)) == ["t", "duplicate", "t", "v"]


def test_notes_count_and_name_every_row_left_out():
    rows = _rows(("a", 0, 0), ("a", 0, 1), ("a", 1, 0), ("a", 1, 0), ("a", 2, 0), ("b", 2, 0), ("a", 3, 0))
    notes = CleanSplitter(of=PUBLISHED).split(rows).notes
    assert notes == (
        Note("conflict", "2 rows are in no split: rows of equal input have different targets", ("r0", "r1")),
        Note("duplicate", "1 rows are in no split: an earlier row of their split has equal input", ("r3",)),
        Note(
            "leak",
            "1 rows are in no split: the other rule has equal input in a later split",
            ("r4",),
        ),
        Note("empty_split", "test has no rows"),
    )


def test_rows_that_the_other_rule_leaves_out_have_no_say():
    mapping = {"a": "train", "b": "validation", "c": None}
    splitter = CleanSplitter(of={"splitter": "published", "parameters": {"mapping": mapping}})
    made = splitter.split(_rows(("a", 0, 0), ("c", 0, 1), ("b", 1, 0), ("c", 1, 0)))
    assert made.side.tolist() == [0, UNUSED, 1, UNUSED]
    assert made.placed_by.tolist() == ["published"] * 4


def test_the_order_and_the_scores_of_the_other_rule_are_kept():
    n = 40
    rows = SplitRows(
        pa.array([f"r{row}" for row in range(n)]),
        np.arange(n),
        lengths=np.ones(n, dtype=np.int64),
        inputs=np.arange(n) // 2,
        targets=np.zeros(n, dtype=np.int64),
    )
    scores = Scores(-np.arange(n, dtype=np.float32), np.ones(n, dtype=np.int32))
    of = {"splitter": "likelihood", "parameters": {"sizes": {"train": 20, "validation": 10, "test": 10}}}
    whole, clean = splitters.get("likelihood")(**of["parameters"]), CleanSplitter(of=of)
    before, after = whole.split(rows, scores), clean.split(rows, scores)
    for side in (0, 1, 2):
        kept = [row for row in before.rows(side).tolist() if after.side[row] == side]
        assert after.rows(side).tolist() == kept
    assert (after.score == before.score).all()
    assert after.side[20:].tolist().count(UNUSED) >= 10


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.integers(0, 1)), min_size=12, max_size=60
    ),
    st.randoms(use_true_random=False),
)
def test_what_is_left_has_no_finding_and_what_went_had_one(drawn, random):
    drawn = [*drawn, ("a", 100, 0), ("b", 101, 0), ("c", 102, 0)]
    rows = _rows(*drawn)
    made = CleanSplitter(of=PUBLISHED).split(rows)
    splits, inputs, targets = (list(values) for values in zip(*drawn, strict=True))
    kept = [row for row in range(len(drawn)) if made.side[row] != UNUSED]
    assert max(Counter(inputs[row] for row in kept).values()) == 1
    for row, word in enumerate(made.placed_by.tolist()):
        equal = [other for other in range(len(drawn)) if inputs[other] == inputs[row]]
        held = [other for other in equal if splits[other] != "a"]
        same = [other for other in equal if splits[other] == splits[row]]
        rivals = same if splits[row] == "a" else held
        contradicted = len({targets[other] for other in rivals}) > 1
        leaks = any(splits[other] > splits[row] for other in held)
        # What of two is told first: evaluation data contradict themselves, train leaks.
        told = {"conflict": contradicted, "leak": leaks, "duplicate": same[0] < row}
        order = ("leak", "conflict") if splits[row] == "a" else ("conflict", "leak")
        expected = next((name for name in (*order, "duplicate") if told[name]), "published")
        assert word == expected
        assert (made.side[row] == UNUSED) == (word != "published")
    noted = [uid for note in made.notes for uid in note.uids]
    assert sorted(noted) == sorted(f"r{row}" for row in range(len(drawn)) if row not in set(kept))
    order = list(range(len(drawn)))
    random.shuffle(order)
    again = CleanSplitter(of=PUBLISHED).split(rows.take(np.array(order)))
    assert again.side.tolist() == made.side[order].tolist()
    assert again.placed_by.tolist() == made.placed_by[order].tolist()


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 1)), min_size=1, max_size=40)
)
def test_evaluation_data_depend_on_evaluation_data_alone(drawn):
    drawn = [*drawn, ("a", 100, 0), ("b", 101, 0), ("c", 102, 0)]
    held = [row for row in drawn if row[0] != "a"]
    whole = CleanSplitter(of=PUBLISHED).split(_rows(*drawn))
    alone = CleanSplitter(of=PUBLISHED).split(_rows(*held))
    evaluates = np.array([split != "a" for split, _, _ in drawn])
    assert whole.side[evaluates].tolist() == alone.side.tolist()
    assert whole.placed_by[evaluates].tolist() == alone.placed_by.tolist()
    inputs = np.array([code for _, code, _ in drawn])
    trains = inputs[whole.side == 0]
    assert len(set(trains.tolist())) == len(trains)
    assert not np.isin(trains, inputs[evaluates]).any()


def test_rows_without_codes_of_inputs_are_refused():
    rows = SplitRows(pa.array(["x", "y"]), np.arange(2), source_splits=np.array(["a", "b"]))
    with pytest.raises(SplitError, match="codes of their inputs"):
        CleanSplitter(of=PUBLISHED).split(rows)


def test_a_side_that_loses_every_row_is_refused_and_one_that_had_none_is_not():
    message = (
        r"train would be empty: all of its 3 rows are left out \(2 conflict, 1 leak\); leave this config"
    )
    with pytest.raises(SplitError, match=message):
        CleanSplitter(of=PUBLISHED).split(_rows(("a", 0, 0), ("b", 0, 0), ("a", 1, 0), ("a", 1, 1)))
    with pytest.raises(SplitError, match=r"validation would be empty: all of its 2 rows .*\(2 conflict\)"):
        CleanSplitter(of=PUBLISHED).split(_rows(("a", 0, 0), ("b", 1, 0), ("b", 1, 1)))
    assert _placed(_rows(("a", 0, 0), ("b", 1, 0))) == ["t", "v"]


@pytest.mark.parametrize(
    "of", [None, {}, {"splitter": "published"}, {"splitter": "published", "parameters": 3}], ids=repr
)
def test_another_rule_that_is_none_is_one_line(of):
    with pytest.raises(SplitError, match="give"):
        CleanSplitter(of=of)


def test_another_rule_that_is_unknown_names_the_nearest():
    with pytest.raises(UsageError, match="published"):
        CleanSplitter(of={"splitter": "publishd", "parameters": {}})


def test_parameters_make_the_same_splitter():
    splitter = CleanSplitter(of=PUBLISHED)
    again = splitters.get("clean")(**splitter.parameters())
    assert again.parameters() == {"of": PUBLISHED}
    assert repr(again) == repr(splitter)


def test_groups_of_the_other_rule_stay_whole():
    """A published division may divide groups, and a group whose source divided it trains."""
    rows = _rows(("a", 0, 0), ("b", 1, 0), ("b", 2, 0), ("a", 3, 0), groups=np.array([0, 0, 1, 2]))
    made = CleanSplitter(of=PUBLISHED).split(rows)
    assert made.side.tolist() == [0, 0, 1, 0]


def test_inputs_and_targets_come_from_the_table():
    table = pa.table({"content_id": ["x", "y", "x"], "label": [0, 1, 1], "query": ["q", "q", None]})
    bare = SplitRows(pa.array(["a", "b", "c"]), np.arange(3))
    rows = with_inputs(bare, table, NLI)
    assert (rows.inputs.tolist(), rows.targets.tolist()) == ([0, 1, 0], [0, 1, 1])
    assert with_inputs(bare, table, TEXT_TO_SQL).targets.tolist() == [0, 0, 1]


def test_every_config_has_one_cleaned_config():
    from benchwright.builders.base import ConfigSpec

    spec = ConfigSpec("x", "published", {"mapping": {}}, "As published.", scores="t", default=True, part="p")
    clean = clean_spec(spec)
    assert (clean.name, clean.scores, clean.part, clean.default, clean.extra) == (
        "x_clean",
        "t",
        "p",
        False,
        True,
    )
    assert [made.name for made in with_clean([spec])] == ["x", "x_clean"]
    assert [made.name for made in with_clean([spec, clean])] == ["x", "x_clean"]
