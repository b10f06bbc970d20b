"""What every splitter promises, whoever wrote it, and the errors that say how to mend the input."""

from __future__ import annotations

import dataclasses
import doctest
import json
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.errors import SplitError, UsageError
from benchwright.splitting import (
    TEST,
    TRAIN,
    UNUSED,
    VALIDATION,
    LengthSplitter,
    LikelihoodSplitter,
    Placement,
    PublishedSplitter,
    RandomSplitter,
    Scores,
    Sizes,
    SplitRows,
    Splitter,
    TemplateSplitter,
    TmcdSplitter,
    splitters,
)

SIX = {"train": 4, "validation": 1, "test": 1}


def rows(n: int = 6, **arrays: Any) -> SplitRows:
    return SplitRows(pa.array([f"r{i}" for i in range(n)]), np.arange(n), **arrays)


class Fixed(Splitter):
    """Places row numbers as told."""

    name = "fixed"

    def __init__(self, *, train: list[int], validation: list[int], test: list[int]) -> None:
        super().__init__(sizes=SIX)
        self.train, self.validation, self.test = train, validation, test

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        lists = (np.array(list_, dtype=np.int64) for list_ in (self.train, self.validation, self.test))
        return Placement(*lists, np.full(len(rows), "score", dtype=object), np.zeros(len(rows)))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (([0, 1, 2, 3], [3], [5]), "twice or nowhere"),
        (([0, 1, 2, 3], [4], []), "twice or nowhere"),
        (([0, 1, 2], [3], [4, 5]), "gave train 3 rows instead of 4"),
        (([0, 1, 2, 3], [4], [7]), "twice or nowhere"),
    ],
)
def test_a_subclass_cannot_return_what_is_no_split(lists: tuple[list[int], ...], message: str) -> None:
    splitter = Fixed(train=lists[0], validation=lists[1], test=lists[2])
    with pytest.raises(SplitError, match=message):
        splitter.split(rows())


def test_a_subclass_says_what_sizes_it_is_held_to() -> None:
    class Leaving(Fixed):
        uses_all_rows = False

        def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
            return dataclasses.replace(super()._place(rows, scores), unused=np.array([3]))

        def _expected(self, rows: SplitRows) -> Sizes:
            return Sizes(3, 1, 1)

    lists = {"validation": [4], "test": [5]}
    assert Leaving(train=[0, 1, 2], **lists).split(rows()).side.tolist() == [0, 0, 0, UNUSED, 1, 2]
    with pytest.raises(SplitError, match="gave train 1 rows instead of 3"):
        Leaving(train=[0], validation=[4, 1], test=[5, 2]).split(rows())


def test_a_subclass_cannot_divide_a_group() -> None:
    splitter = Fixed(train=[0, 1, 2, 3], validation=[4], test=[5])
    with pytest.raises(SplitError, match="group 7 stands on two sides"):
        splitter.split(rows(groups=np.array([0, 1, 2, 7, 7, 3])))


def test_assignment_is_in_the_order_of_the_given_rows() -> None:
    splitter = Fixed(train=[3, 2, 1, 0], validation=[4], test=[5])
    shuffled = np.array([5, 0, 4, 1, 3, 2])
    assignment = splitter.split(rows().take(shuffled))
    assert assignment.side.tolist() == [TEST, TRAIN, VALIDATION, TRAIN, TRAIN, TRAIN]
    assert assignment.position.tolist() == [0, 3, 0, 2, 0, 1]
    assert assignment.rows(TRAIN).tolist() == [4, 5, 3, 1]
    assert assignment.sizes() == Sizes(4, 1, 1)
    assert assignment.side.dtype == np.int8
    assert assignment.position.dtype == np.int32
    assert assignment.score.dtype == np.float32


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (rows(0), "there are no rows"),
        (rows(7), r"4 \+ 1 \+ 1 add up to 6, but there are 7 rows"),
        (
            dataclasses.replace(rows(), uids=pa.array(["a", "b", "a", "c", "d", "e"])),
            "uid 'a' stands in 2 rows",
        ),
        (dataclasses.replace(rows(), uids=pa.array(["a", "b", None, "c", "d", "e"])), "1 rows have no uid"),
        (
            dataclasses.replace(rows(), source_index=np.array([0, 1, 2, 3, 4, 4])),
            "source_index 4 stands in 2 rows",
        ),
        (rows(lengths=np.arange(5)), "lengths has 5 values for 6 rows"),
        (rows(lengths=np.arange(6) / 2), "lengths has type float64; give integers"),
        (
            rows(labels=np.array([0, 1, -1, 0, 0, 0]), label_names=("no", "yes")),
            r"row 'r2' has label -1 \(1 such rows\), but labels index \('no', 'yes'\)",
        ),
    ],
)
def test_unusable_rows(bad: SplitRows, message: str) -> None:
    with pytest.raises(SplitError, match=message):
        RandomSplitter(sizes=SIX).split(bad)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([-1.0] * 5, "5 values of log_likelihood for 6 rows"),
        ([-1.0, -2.0, -np.inf, -3.0, -4.0, -5.0], "row 2 has log-likelihood -inf"),
        (
            [-1.0, np.nan, np.nan, np.nan, np.nan, np.nan],
            "5 rows have no score and must train, but train has 4",
        ),
    ],
)
def test_unusable_scores(values: list[float], message: str) -> None:
    scores = Scores(np.array(values, dtype=np.float32), np.ones(6, dtype=np.int32))
    with pytest.raises(SplitError, match=message):
        LikelihoodSplitter(sizes=SIX).split(rows(), scores)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SplitError, match="needs scores"):
        LikelihoodSplitter(sizes=SIX).split(rows())
    with pytest.raises(SplitError, match="needs rows with lengths"):
        LengthSplitter(sizes=SIX).split(rows())
    with pytest.raises(SplitError, match="needs rows with the split of their source"):
        PublishedSplitter().split(rows())
    with pytest.raises(SplitError, match="needs rows with atoms"):
        RandomSplitter(sizes=SIX, constraint="atoms").split(rows())
    with pytest.raises(SplitError, match="row 'r3' has 0 scored tokens"):
        LikelihoodSplitter(sizes=SIX, criterion="perplexity").split(
            rows(), Scores(np.zeros(6, dtype=np.float32), np.array([1, 1, 1, 0, 1, 1], dtype=np.int32))
        )
    labelled = rows(labels=np.zeros(6, dtype=np.int64), label_names=("one",))
    with pytest.raises(SplitError, match="for tasks without labels"):
        RandomSplitter(sizes=SIX, constraint="atoms").split(labelled)
    with pytest.raises(SplitError, match="source split 'dev', which mapping does not name"):
        PublishedSplitter(mapping={"train": "train"}).split(
            rows(source_splits=np.array(["train"] * 5 + ["dev"]))
        )


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("criterion", "likelihood"),
        ("length_control", "Exact"),
        ("length_control", 1),
        ("length_control", True),
        ("reverse", "yes"),
        ("evaluation_labels", "same"),
        ("empty_quota", None),
        ("constraint", "atom"),
        ("seed", -1),
        ("seed", 1.0),
        ("sizes", {"train": 4, "dev": 1, "test": 1}),
        ("sizes", {"train": 4, "validation": -1, "test": 1}),
        ("sizes", {"train": 4, "validation": 0, "test": 0}),
        ("sizes", {"train": 0, "validation": 3, "test": 3}),
        ("sizes", 6),
    ],
)
def test_switches_that_do_not_exist_are_quoted(switch: str, value: Any) -> None:
    with pytest.raises(SplitError) as caught:
        LikelihoodSplitter(**{"sizes": SIX, switch: value})
    message = str(caught.value)
    assert switch in message or "size of" in message
    assert repr(value) in message or "validation is -1;" in message
    assert "\n" not in message


def test_a_split_of_size_zero_is_said() -> None:
    assignment = RandomSplitter(sizes={"train": 5, "validation": 0, "test": 1}).split(rows())
    assert [(note.code, note.message) for note in assignment.notes] == [
        ("empty_split", "validation has no rows")
    ]


@pytest.mark.parametrize(
    "splitter",
    [
        RandomSplitter(sizes=SIX, seed=3, evaluation_labels="equal", constraint="atoms"),
        LengthSplitter(sizes=Sizes(4, 1, 1)),
        LikelihoodSplitter(sizes=SIX, criterion="perplexity", length_control=4, reverse=True),
        PublishedSplitter(mapping={"train": "train", "extra": None}),
        PublishedSplitter(sizes=SIX),
        PublishedSplitter(split="tmcd_1"),
        TemplateSplitter(sizes=SIX, seed=1, mode="train_first", constraint="atoms"),
        TmcdSplitter(sizes=SIX, mode="reference", constraint=None, max_iterations=5),
    ],
)
def test_parameters_rebuild_the_splitter(splitter: Splitter) -> None:
    parameters = json.loads(json.dumps(splitter.parameters()))
    again = splitters.get(splitter.name)(**parameters)
    assert again.parameters() == splitter.parameters()
    assert repr(again) == repr(splitter)
    assert all(name in repr(splitter) for name in parameters)


def test_registry() -> None:
    assert {"random", "length", "likelihood", "published", "template", "tmcd"} <= set(splitters)
    assert splitters.get("likelihood") is LikelihoodSplitter
    with pytest.raises(UsageError, match="did you mean likelihood"):
        splitters.get("likelyhood")


def test_sizes_scale_in_proportion() -> None:
    snli = Sizes(549_018, 10_000, 10_000)
    assert Sizes.proportional(snli, 569_018) == snli
    assert Sizes.proportional(snli, 1_000) == Sizes(965, 18, 17)
    assert Sizes.proportional(snli, 10) == Sizes(8, 1, 1)
    assert Sizes.proportional(Sizes(10, 0, 5), 3) == Sizes(2, 0, 1)
    assert Sizes.holding_out(100, validation=10, test=20) == Sizes(70, 10, 20)
    with pytest.raises(SplitError, match="2 rows cannot fill 3 splits"):
        Sizes.proportional(snli, 2)
    with pytest.raises(SplitError, match="more than the 15 rows"):
        Sizes.holding_out(15, validation=10, test=10)


def test_published_splits() -> None:
    given = rows(source_splits=np.array(["dev", "train", "train", "test", "other", "train"]))
    assignment = PublishedSplitter(
        mapping={"train": "train", "dev": "validation", "test": "test", "other": None}
    ).split(given)
    assert assignment.side.tolist() == [VALIDATION, TRAIN, TRAIN, TEST, UNUSED, TRAIN]
    assert assignment.position.tolist() == [0, 0, 1, 0, -1, 2]
    assert set(assignment.placed_by) == {"published"}
    assert [note.code for note in assignment.notes] == ["left_out"]


def test_published_splits_with_sizes_that_differ() -> None:
    given = rows(source_splits=np.array(["dev", "train", "train", "test", "dev", "train"]))
    with pytest.raises(SplitError, match="gave train 3 rows instead of 4"):
        PublishedSplitter(sizes=SIX).split(given)


MODULES = [
    "_division",
    "_lengths",
    "_tmcd_best",
    "_tmcd_reference",
    "_tmcd_state",
    "_units",
    "base",
    "constraints",
    "divergence",
    "length",
    "likelihood",
    "published",
    "random",
    "template",
    "tmcd",
]


@pytest.mark.parametrize(
    "module",
    ["benchwright.splitting", *(f"benchwright.splitting.{name}" for name in MODULES), "benchwright.text.sql"],
)
def test_doctests(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_every_splitter_has_a_doctest() -> None:
    for name in ("random", "length", "likelihood", "published", "template", "tmcd"):
        assert ">>> " in (splitters.get(name).__doc__ or "")
