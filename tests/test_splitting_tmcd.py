"""TMCD splits: the published lists, values worked out by hand, and what holds for any corpus."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchwright.errors import SplitError
from benchwright.splitting import SIDES, TEST, TRAIN, UNUSED, VALIDATION, Assignment, Note, SplitRows
from benchwright.splitting._tmcd_best import best_swaps
from benchwright.splitting._tmcd_reference import first_improvements
from benchwright.splitting._tmcd_state import Bipartition
from benchwright.splitting._units import Units
from benchwright.splitting.constraints import balance_atoms
from benchwright.splitting.divergence import COMPOUND_ALPHA, chernoff_divergence, total_counts
from benchwright.splitting.tmcd import TmcdSplitter

Compounds = list[Counter[str] | None]
MODES = ["best", "reference"]
examples = settings(max_examples=12, deadline=None, derandomize=True)


def corpus(
    compounds: Compounds, atoms: list[frozenset[str] | None] | None, groups: np.ndarray | None = None
) -> SplitRows:
    """Rows in source order."""
    return SplitRows(
        pa.array([f"r{row}" for row in range(len(compounds))]),
        np.arange(len(compounds)),
        groups=groups,
        atoms=None if atoms is None else lambda: atoms,
        compounds=lambda: compounds,
    )


def made(n: int, seed: int, *, unread: int = 0) -> tuple[Compounds, list[frozenset[str] | None]]:
    """Programs of a few functions and arguments; a compound may stand in one several times."""
    rng = np.random.default_rng(seed)
    calls = [[f"{'fgh'[a]}({'xyzuvw'[b]})" for a, b in rng.integers(0, [3, 6], (4, 2))] for _ in range(n)]
    compounds: Compounds = [Counter(row[: 1 + i % 4]) for i, row in enumerate(calls)]
    atoms: list[frozenset[str] | None] = [frozenset("".join(row)) for row in map(list, compounds)]
    for row in rng.choice(n, unread, replace=False).tolist():
        compounds[row] = None
    return compounds, atoms


def note(assignment: Assignment, code: str) -> Note:
    return next(note for note in assignment.notes if note.code == code)


def recomputed(compounds: Compounds, train: list[int], evaluation: list[int]) -> float:
    train_counts, evaluation_counts = (
        total_counts(counted for row in side if (counted := compounds[row]) is not None)
        for side in (train, evaluation)
    )
    return chernoff_divergence(train_counts, evaluation_counts, COMPOUND_ALPHA)


def divergence(compounds: Compounds, assignment: Assignment) -> float:
    evaluation = [*assignment.rows(VALIDATION).tolist(), *assignment.rows(TEST).tolist()]
    return recomputed(compounds, assignment.rows(TRAIN).tolist(), evaluation)


def split_or_skip(splitter: TmcdSplitter, rows: SplitRows) -> Assignment:
    try:
        return splitter.split(rows)
    except SplitError:
        assume(False)
        raise


def halves(n: int) -> dict[str, int]:
    return {"train": n - 2 * (n // 4), "validation": n // 4, "test": n // 4}


def bipartition(
    compounds: Compounds, atoms: list[frozenset[str] | None], train: list[int], groups: Any = None
) -> Bipartition:
    units = Units.of(groups, len(compounds))
    return Bipartition(units, compounds, atoms, np.isin(np.arange(len(units)), train))  # type: ignore[arg-type]


# The published algorithm


def geoquery(folder: Path) -> SplitRows:
    read = [json.loads(line) for line in (folder / "dataset.jsonl").read_text().splitlines()]
    return corpus([row["compounds"] for row in read], [frozenset(row["atoms"]) for row in read])


def run_reference(
    rows: SplitRows, order: list[int], train_size: int, max_iterations: int
) -> tuple[list[int], list[int], list[float]]:
    """Balance and swap; both lists and the divergence at the start of each iteration."""
    assert rows.atoms is not None
    assert rows.compounds is not None
    atoms, compounds = rows.atoms(), rows.compounds()
    balanced = balance_atoms(order[:train_size], order[train_size:], atoms)  # type: ignore[arg-type]
    trace: list[float] = []
    train, evaluation, swaps = first_improvements(
        bipartition(compounds, atoms, balanced.train),  # type: ignore[arg-type]
        np.array(balanced.train),
        np.array(balanced.evaluation),
        max_iterations,
        trace.append,
    )
    assert len(trace) in (swaps, swaps + 1)
    return train.tolist(), evaluation.tolist(), trace


def assert_lists(assignment: Assignment, seed: int, train: list[int], evaluation: list[int]) -> None:
    """Train in the published order; evaluation is permuted into validation and test."""
    order = np.random.default_rng(seed).permutation(len(evaluation))
    assert assignment.rows(TRAIN).tolist() == train
    written = [*assignment.rows(VALIDATION).tolist(), *assignment.rows(TEST).tolist()]
    assert written == [evaluation[place] for place in order]


@pytest.mark.corpora
@pytest.mark.parametrize("seed", [1, 2])
def test_geoquery_as_published(oracle_folder: Path, seed: int) -> None:
    """Seed 1 is the published `tmcd_1`."""
    rows = geoquery(oracle_folder / "tmcd_geoquery")
    expected = json.loads((oracle_folder / "tmcd_geoquery" / "expected_old.json").read_text())
    run = expected[f"gen_old_seed{seed}_minatom1"]
    sizes = {"train": 440, "validation": 220, "test": 220}

    train, evaluation, trace = run_reference(rows, run["initial_order"], 440, 1_000)
    assert (train, evaluation) == (run["examples_1"], run["examples_2"])
    assert len(trace) == run["n_iterations"]
    assert trace[0] == pytest.approx(run["first_div"], abs=1e-9)
    assert trace[-1] == pytest.approx(run["last_div"], abs=1e-9)

    splitter = TmcdSplitter(sizes=sizes, seed=seed, mode="reference", max_iterations=1_000)
    reference = splitter.split(rows)
    assert_lists(reference, seed, train, evaluation)
    assert f"is {run['last_div']:.6f} ({run['first_div']:.6f} before" in note(reference, "divergence").message
    untouched = TmcdSplitter(sizes=sizes, seed=seed, max_iterations=0, constraint=None).split(rows)
    assert untouched.rows(TRAIN).tolist() == run["initial_order"][:440]

    assert rows.compounds is not None
    best = TmcdSplitter(sizes=sizes, seed=seed).split(rows)
    assert divergence(rows.compounds(), best) > 1.5 * run["last_div"]


@pytest.mark.corpora
@pytest.mark.parametrize("seed", [1, 2])
def test_spider_sample_as_published(oracle_folder: Path, data_folder: Path, seed: int) -> None:
    from benchwright.text.sql_grammar import SPIDER

    expected = json.loads((oracle_folder / "tmcd_spider" / "swap_old.json").read_text())
    run, numbers = expected[f"seed{seed}"], expected["input_dev_indices"]
    with gzip.open(data_folder / "spider" / "dev.json.gz") as handle:
        queries = [" ".join(record["query"].lower().split()) for record in json.load(handle)]
    programs = [SPIDER.analyse(queries[number]) for number in numbers]
    place = {number: row for row, number in enumerate(numbers)}
    rows = corpus([program.compounds for program in programs], [program.atoms for program in programs])  # type: ignore[misc]

    order, *lists = ([place[i] for i in run[name]] for name in ("initial_order", "examples_1", "examples_2"))
    train, evaluation, trace = run_reference(rows, order, 250, 60)
    assert [train, evaluation] == lists
    assert trace == pytest.approx(run["divergence_trace"], abs=1e-9)
    assert len(trace) == 60

    sizes = {"train": 250, "validation": 75, "test": 75}
    splitter = TmcdSplitter(sizes=sizes, seed=seed, mode="reference", max_iterations=60)
    assert_lists(splitter.split(rows), seed, train, evaluation)


# By hand

CALLS: Compounds = [Counter({name: 1}) for name in "ppqpqr"]
SAME: list[frozenset[str] | None] = [frozenset("a")] * 6


def test_the_best_swap_of_six_rows() -> None:
    """Train p, p, q; evaluation p, q, r. Similar by p (2^0.1) and by q (1), of 3: only q against p is 0."""
    for raise_divergence in (first_improvements, None):
        state = bipartition(CALLS, SAME, [0, 1, 2])
        assert state.divergence() == pytest.approx(1 - (2**0.1 + 1) / 3, abs=1e-12)
        # Without q, train has 2 compounds of 6: p (2^0.1) is shared, of 2^0.1 * 4^0.9.
        assert state.divergences_after_moves()[2] == pytest.approx(1 - 1 / 4**0.9, abs=1e-12)
        if raise_divergence is None:
            assert best_swaps(state, 10) == 1
        else:
            raise_divergence(state, np.arange(3), np.arange(3, 6))
        assert state.divergence() == 1.0
        assert np.flatnonzero(state.trains).tolist() == [0, 1, 3]


def test_an_atom_that_one_train_row_has_stays() -> None:
    """Row 2 (q) alone has atom b in train, and row 5 (r) has it too: q stays, and a p goes for the other q.

    That is as far as one swap leads; a smoothed divergence leads on, to no p in train.
    """
    atoms: list[frozenset[str] | None] = [frozenset(x) for x in ("a", "a", "ab", "a", "a", "ab")]
    state = bipartition(CALLS, atoms, [0, 1, 2])
    assert state.free().tolist() == [True, True, False, False, False, False]
    assert best_swaps(state, 1) == 1
    assert sorted("ppqpqr"[row] for row in np.flatnonzero(state.trains)) == ["p", "q", "q"]
    assert state.divergence() == pytest.approx(1 - 2**0.9 / 3, abs=1e-12)
    best_swaps(state, 10)
    assert np.flatnonzero(state.trains).tolist() == [2, 4, 5]
    assert state.divergence() == 1.0


def test_rows_that_could_not_be_read_are_in_no_split() -> None:
    compounds, atoms = made(40, 0, unread=3)
    atoms[next(row for row in range(40) if compounds[row] is not None)] = None
    unread = [row for row in range(40) if compounds[row] is None or atoms[row] is None]
    assignment = TmcdSplitter(sizes={"train": 20, "validation": 12, "test": 8}).split(
        corpus(compounds, atoms)
    )
    assert [len(assignment.rows(side)) for side in SIDES.values()] == [16, 12, 8]
    assert assignment.rows(UNUSED).tolist() == unread
    assert set(assignment.placed_by[unread]) == {"unparsed"}
    assert note(assignment, "unparsed").uids == tuple(f"r{row}" for row in unread)
    free = TmcdSplitter(sizes={"train": 20, "validation": 12, "test": 8}, constraint=None)
    assert len(free.split(corpus(compounds, atoms)).rows(UNUSED)) == 3


def test_the_rule_that_placed_each_row() -> None:
    compounds, atoms = made(120, 3)
    rows = corpus(compounds, atoms)
    begun = TmcdSplitter(sizes=halves(120), max_iterations=0, constraint=None).split(rows)
    balanced = TmcdSplitter(sizes=halves(120), max_iterations=0).split(rows)
    ended = TmcdSplitter(sizes=halves(120)).split(rows)
    assert set(begun.placed_by) == {"random"}
    swapped = (ended.side == TRAIN) != (balanced.side == TRAIN)
    assert set(ended.placed_by[swapped]) == {"divergence"}
    assert ended.placed_by[~swapped].tolist() == balanced.placed_by[~swapped].tolist()
    message = note(ended, "divergence").message
    assert message == (
        f"compound divergence of train against evaluation is {divergence(compounds, ended):.6f} "
        f"({divergence(compounds, balanced):.6f} before {swapped.sum()} rows changed sides)"
    )


# For any corpus

seeds = st.integers(0, 10_000)


@examples
@given(seed=seeds, n=st.integers(4, 30), grouped=st.booleans())
def test_divergences_are_those_recomputed_from_counts(seed: int, n: int, grouped: bool) -> None:
    compounds, atoms = made(n, seed)
    rng = np.random.default_rng(seed)
    units = Units.of(rng.integers(0, n, n) if grouped else None, n)
    state = Bipartition(units, compounds, atoms, rng.random(len(units)) < 0.6)  # type: ignore[arg-type]

    def exact(trains: np.ndarray) -> float:
        sides = (units.rows(np.flatnonzero(side)).tolist() for side in (trains, ~trains))
        return recomputed(compounds, *sides)

    for unit in rng.integers(0, len(units), 8).tolist():
        assert state.divergence() == pytest.approx(exact(state.trains), abs=1e-12)
        moved = [state.trains ^ (np.arange(len(units)) == other) for other in range(len(units))]
        assert state.divergences_after_moves() == pytest.approx([*map(exact, moved)], abs=1e-12)
        state.move(unit)


@pytest.mark.parametrize("mode", MODES)
@examples
@given(seed=seeds, n=st.integers(16, 40), grouped=st.booleans(), unread=st.integers(0, 3))
def test_what_every_split_keeps(mode: Any, seed: int, n: int, grouped: bool, unread: int) -> None:
    compounds, atoms = made(n, seed, unread=unread)
    groups = np.random.default_rng(seed).integers(0, n, n) if grouped else None
    rows = corpus(compounds, atoms, groups)
    splitter = TmcdSplitter(sizes=halves(n), seed=seed, mode=mode)
    begun = split_or_skip(TmcdSplitter(sizes=halves(n), seed=seed, max_iterations=0), rows)
    ended = splitter.split(rows)
    if not grouped:
        assert divergence(compounds, ended) >= divergence(compounds, begun)
        assert [len(ended.rows(side)) for side in SIDES.values()] == [
            halves(n)["train"] - unread,
            n // 4,
            n // 4,
        ]
    trained = {atom for row in ended.rows(TRAIN).tolist() for atom in atoms[row] or ()}
    assert all((atoms[row] or set()) <= trained for row in np.flatnonzero(ended.side > TRAIN).tolist())
    assert len(ended.rows(UNUSED)) == unread
    if groups is not None:
        used = ended.side != UNUSED
        assert len({*zip(groups[used], ended.side[used], strict=True)}) == len({*groups[used]})

    order = np.random.default_rng(seed).permutation(n)
    again = splitter.split(rows.take(order))
    assert again.side.tolist() == ended.side[order].tolist()
    assert again.position.tolist() == ended.position[order].tolist()
    same = type(splitter)(**json.loads(json.dumps(splitter.parameters())))
    assert same.split(rows).side.tolist() == ended.side.tolist()


def test_every_swap_raises_the_divergence_and_keeps_the_atoms() -> None:
    compounds, atoms = made(200, 5)
    rows = corpus(compounds, atoms)
    for mode in MODES:
        reached: list[float] = []
        begins: list[bool] = []
        for most in range(6):
            splitter = TmcdSplitter(sizes=halves(200), mode=mode, max_iterations=most)  # type: ignore[arg-type]
            ended = splitter.split(rows)
            reached.append(divergence(compounds, ended))
            trains = (ended.side == TRAIN).tolist()
            begins = begins or trains
            changed = sum(now != before for now, before in zip(trains, begins, strict=True))
            assert f"before {changed} rows changed sides" in note(ended, "divergence").message
            assert most <= changed <= 2 * most
            trained = {atom for row in ended.rows(TRAIN).tolist() for atom in atoms[row] or ()}
            assert all((atoms[row] or set()) <= trained for row in range(200))
        assert reached == sorted(set(reached))


def test_the_best_mode_reaches_more_than_the_reference() -> None:
    reached = dict.fromkeys(MODES, 0.0)
    for seed in range(6):
        compounds, atoms = made(300, seed)
        for mode in MODES:
            splitter = TmcdSplitter(sizes=halves(300), mode=mode)  # type: ignore[arg-type]
            reached[mode] += divergence(compounds, splitter.split(corpus(compounds, atoms)))
    assert reached["best"] > 1.1 * reached["reference"]


HASHED = """
import sys
sys.path.insert(0, {tests!r})
from test_splitting_tmcd import *
for mode in MODES:
    result = TmcdSplitter(sizes=halves(120), mode=mode).split(corpus(*made(120, 1)))
    print([result.rows(side).tolist() for side in SIDES.values()], result.notes)
"""


def test_hashes_change_nothing() -> None:
    program = HASHED.format(tests=str(Path(__file__).parent))
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert printed[0] == printed[1]
    assert b"divergence" in printed[0]


# What cannot be split


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compounds": None}, "needs rows with compounds"),
        ({"atoms": None}, "needs rows with atoms"),
        ({"compounds": lambda: [None] * 6}, "none of the 6 programs could be read"),
        ({"compounds": lambda: [*CALLS[:3], None, None, None]}, "3 of 6 programs could be read"),
        ({"atoms": lambda: [frozenset(x) for x in "abcdef"]}, "no train row can be given up"),
    ],
)
def test_rows_that_cannot_be_split(change: dict[str, Any], message: str) -> None:
    from dataclasses import replace

    rows = replace(corpus(CALLS, SAME), **change)
    with pytest.raises(SplitError, match=message):
        TmcdSplitter(sizes={"train": 3, "validation": 2, "test": 1}).split(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "new"}, "mode is 'new'; choose 'best' or 'reference'"),
        ({"constraint": "labels"}, "constraint is 'labels'"),
        ({"max_iterations": -1}, "max_iterations is -1; give an integer, 0 or more, or None"),
        ({"max_iterations": True}, "max_iterations is True"),
        ({"max_iterations": 1.5}, "max_iterations is 1.5"),
        ({"sizes": {"train": 2, "validation": 2, "test": 1}}, "add up to 5, but there are 6 rows"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: dict[str, Any], message: str) -> None:
    given = {"sizes": {"train": 3, "validation": 2, "test": 1}, **arguments}
    with pytest.raises(SplitError, match=message):
        TmcdSplitter(**given).split(corpus(CALLS, SAME))
