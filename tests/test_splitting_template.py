"""Template splits: whole templates on one side, sizes as upper limits, unreadable programs train."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import SplitError
from benchwright.splitting import (
    TEST,
    TRAIN,
    VALIDATION,
    Assignment,
    Placement,
    Scores,
    Sizes,
    SplitRows,
    TemplateSplitter,
    connected_groups,
)

HALVES = {"train": 440, "validation": 0, "test": 440}


def rows(templates: list[str | None], **arrays: Any) -> SplitRows:
    uids = pa.array([f"r{row}" for row in range(len(templates))])
    return SplitRows(uids, np.arange(len(templates)), templates=lambda: templates, **arrays)


def written(assignment: Assignment) -> list[list[int]]:
    return [assignment.rows(side).tolist() for side in (TRAIN, VALIDATION, TEST)]


def order_of(templates: str, seed: int) -> str:
    """Distinct templates, one letter each, as Python's shuffle puts them."""
    distinct = list(dict.fromkeys(templates))
    Random(seed).shuffle(distinct)
    return "".join(distinct)


@pytest.mark.corpora
@pytest.mark.parametrize("version", ["old", "new"])
@pytest.mark.parametrize("seed", [1, 3])
def test_the_published_code_trains_first(oracle_folder: Path, version: str, seed: int) -> None:
    folder = oracle_folder / "tmcd_geoquery"
    targets = [json.loads(line)["target"] for line in (folder / "dataset.jsonl").read_text().splitlines()]
    expected = json.loads((folder / f"expected_{version}.json").read_text())[f"template_gen_seed{seed}"]
    assignment = TemplateSplitter(sizes=HALVES, seed=seed, mode="train_first").split(rows(targets))
    assert assignment.rows(TRAIN).tolist() == expected["examples_1"]
    assert assignment.rows(TEST).tolist() == expected["examples_2"]
    assert set(assignment.placed_by) == {"template"}


def test_templates_that_fit_evaluate() -> None:
    """Shuffled: D, C, B, A. D (1 row) validates and C (3 rows) is the test; B and A train."""
    templates = "AABCCCBDAA"
    assert order_of(templates, 6) == "DCBA"
    sizes = {"train": 6, "validation": 1, "test": 3}
    assignment = TemplateSplitter(sizes=sizes, seed=6).split(rows(list(templates)))
    assert written(assignment) == [[2, 6, 0, 1, 8, 9], [7], [3, 4, 5]]
    assert set(assignment.placed_by) == {"template"}
    assert assignment.notes == ()


def test_templates_that_do_not_fit_are_passed_over() -> None:
    """D (1 row) validates; C (3 rows) does not fit the test, B (2 rows) does."""
    templates = "AABCCCBDAA"
    sizes = {"train": 7, "validation": 1, "test": 2}
    assignment = TemplateSplitter(sizes=sizes, seed=6).split(rows(list(templates)))
    assert written(assignment) == [[3, 4, 5, 0, 1, 8, 9], [7], [2, 6]]


def test_validation_and_test_are_at_most_their_sizes() -> None:
    """After D (1 row) nothing fits the second row of validation; C (3 rows) is the test."""
    templates = "AABCCCBDAA"
    sizes = {"train": 5, "validation": 2, "test": 3}
    assignment = TemplateSplitter(sizes=sizes, seed=6).split(rows(list(templates)))
    assert written(assignment) == [[2, 6, 0, 1, 8, 9], [7], [3, 4, 5]]
    assert [(note.code, note.message) for note in assignment.notes] == [
        ("below_size", "validation has 1 of 2 rows: templates stay whole")
    ]


def test_train_first_stops_at_the_first_template_that_would_exceed() -> None:
    """Shuffled: D, C, B, A. Train takes D and C (4 rows); B would exceed 5, so that A evaluates as well."""
    templates = "AABCCCBDAA"
    sizes = {"train": 5, "validation": 2, "test": 3}
    splitter = TemplateSplitter(sizes=sizes, seed=6, mode="train_first")
    assignment = splitter.split(rows(list(templates)))
    assert written(assignment) == [[7, 3, 4, 5], [2, 6], [0, 1, 8, 9]]
    assert [note.message for note in assignment.notes] == ["train has 4 of 5 rows: templates stay whole"]


@pytest.mark.parametrize(("mode", "sizes"), [("evaluation", Sizes(5, 1, 2)), ("train_first", Sizes(5, 0, 3))])
def test_programs_that_could_not_be_read_train(mode: Any, sizes: Sizes) -> None:
    templates = ["A", None, "B", "C", None, "B", "A", "D"]
    for seed in range(10):
        assignment = TemplateSplitter(sizes=sizes, seed=seed, mode=mode).split(rows(templates))
        assert assignment.rows(TRAIN).tolist()[-2:] == [1, 4]
        assert assignment.placed_by.tolist() == [
            "unparsed" if template is None else "template" for template in templates
        ]
        note = next(note for note in assignment.notes if note.code == "unparsed")
        assert note.message == "2 rows have a program that could not be read: they train"
        assert note.uids == ("r1", "r4")


def test_groups_and_templates_are_one_relation() -> None:
    """Rows 0 and 3 share a group, so that templates A and C are one; row 1, unread, is tied to row 5."""
    templates = ["A", None, "B", "C", "C", "D", "E"]
    given = rows(templates, groups=np.array([9, 4, 5, 9, 6, 4, 7]))
    for seed in range(10):
        assignment = TemplateSplitter(sizes=Sizes(5, 1, 1), seed=seed).split(given)
        side = assignment.side
        assert side[0] == side[3] == side[4] == TRAIN
        assert side[1] == side[5] == TRAIN
        assert {side[2], side[6]} == {VALIDATION, TEST}
        assert assignment.placed_by.tolist() == [
            "template",
            "unparsed",
            *["template"] * 3,
            "group",
            "template",
        ]
        assert [note.code for note in assignment.notes] == ["unparsed", "moved_by_group"]


def test_atoms_are_balanced_by_whole_templates() -> None:
    """An evaluation template has an atom of its own: one of as many rows goes out for it."""
    templates = list("AABBCCDD")
    atoms = [frozenset({"x", template} if template == "C" else {"x"}) for template in templates]
    given = rows(templates, atoms=lambda: atoms)
    sizes = {"train": 4, "validation": 2, "test": 2}
    swapped = 0
    for seed in range(20):
        assignment = TemplateSplitter(sizes=sizes, seed=seed, constraint="atoms").split(given)
        assert (assignment.side[4:6] == TRAIN).all()
        assert (assignment.side[::2] == assignment.side[1::2]).all()
        assert assignment.sizes() == Sizes(4, 2, 2)
        swapped += "atom_swap" in assignment.placed_by
    assert 0 < swapped < 20


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(SplitError, match="needs rows with templates"):
        TemplateSplitter(sizes=Sizes(1, 1, 1)).split(SplitRows(pa.array(["a", "b", "c"]), np.arange(3)))
    with pytest.raises(SplitError, match="test would be empty: no whole template fits its 1 rows"):
        TemplateSplitter(sizes=Sizes(3, 0, 1)).split(rows(["A", "A", "B", "B"]))
    with pytest.raises(SplitError, match="train would be empty: no whole template fits its 1 rows"):
        TemplateSplitter(sizes=Sizes(1, 0, 3), mode="train_first").split(rows(["A", "A", "B", "B"]))
    with pytest.raises(SplitError, match="3 rows have an unreadable program and must train, but train has 2"):
        TemplateSplitter(sizes=Sizes(2, 0, 2)).split(rows(["A", None, None, None]))
    with pytest.raises(SplitError, match="mode is 'train'; choose 'evaluation' or 'train_first'"):
        TemplateSplitter(sizes=Sizes(2, 0, 2), mode="train")  # type: ignore[arg-type]


def test_a_subclass_cannot_divide_a_template() -> None:
    class Careless(TemplateSplitter):
        def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
            places = (np.array([0]), np.array([1]), np.array([2]))
            return Placement(*places, np.full(3, "template", dtype=object), np.zeros(3))

    with pytest.raises(SplitError, match="group 0 stands on two sides"):
        Careless(sizes=Sizes(1, 1, 1)).split(rows(["A", "A", "B"]))


def test_connected_groups() -> None:
    assert connected_groups(np.array([3, 3, 8, 9, 1]), np.array([-1, 2, 2, -1, -1])).tolist() == [
        0,
        0,
        0,
        1,
        2,
    ]
    assert connected_groups(np.arange(3), np.array([-1, -1, -1])).tolist() == [0, 1, 2]
    chain = connected_groups(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2]))
    assert chain.tolist() == [0] * 5


@given(
    numbers=st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=10, max_size=60),
    seed=st.integers(0, 50),
    first=st.booleans(),
)
def test_no_template_is_on_two_sides(numbers: list[int | None], seed: int, first: bool) -> None:
    templates = [None if number is None else f"T{number}" for number in numbers]
    sizes = Sizes.proportional(Sizes(6, 2, 2), len(templates))
    mode = "train_first" if first else "evaluation"
    try:
        assignment = TemplateSplitter(sizes=sizes, seed=seed, mode=mode).split(rows(templates))
    except SplitError as error:
        assert "would be empty" in str(error) or "must train" in str(error)  # noqa: PT017
        return
    sides: dict[str, set[int]] = {}
    for template, side in zip(templates, assignment.side.tolist(), strict=True):
        if template is None:
            assert side == TRAIN
        else:
            sides.setdefault(template, set()).add(side)
    assert all(len(found) == 1 for found in sides.values())
    made = assignment.sizes()
    if first:
        assert made.train <= sizes.train
    else:
        assert made.validation <= sizes.validation
        assert made.test <= sizes.test
