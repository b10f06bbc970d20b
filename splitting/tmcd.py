"""TMCD splits: train and evaluation use the same atoms, but combine them as differently as can be."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from numbers import Integral
from random import Random
from typing import Literal

import numpy as np

from ..errors import SplitError, show
from ..wording import plural
from ._division import Constraint, DividingSplitter, Draft, Sides, checked_choice, divide_ranked
from ._tmcd_best import best_swaps
from ._tmcd_reference import MAX_ITERATIONS, first_improvements
from ._tmcd_state import Bipartition
from .base import DEFAULT_SEED, Note, Placement, Scores, Sizes, SplitRows
from .divergence import COMPOUND_ALPHA, chernoff_divergence, total_counts

Mode = Literal["best", "reference"]


class TmcdSplitter(DividingSplitter):
    """Target maximum compound divergence: swap rows to drive apart what train and evaluation are made of.

    Source: 2210.06799, Section 4, after "Compositional Generalization and Natural Language Variation: Can a
    Semantic Parsing Approach Handle Both?" (2010.12725), Section 4.2. Rows are shuffled by Python's
    `random.Random(seed)`, the first train, the others evaluate; rows are swapped until every atom of an
    evaluation row has a train row, then while that raises the compound divergence (Chernoff, alpha = 0.1) of
    train against evaluation. Rows whose program has no compounds (no unique parse), or under the constraint
    no atoms, are in no split, so that train has fewer rows than its size by their number.

    mode
        "best": the best swaps first, then again from where a smoothed divergence leads (`_tmcd_best`): the
        higher divergence, in a fraction of the time. "reference": the published algorithm, the first swap
        that raises the divergence in each iteration, list for list.
    constraint
        "atoms" keeps every atom of an evaluation row in a train row, at every swap; None lets atoms go.
    max_iterations
        The most swaps; None for 10,000 by "reference", for as many as raise the divergence by "best".

    Where rows have groups, groups are swapped for groups of equally many rows.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> programs = ["f(a)", "f(b)", "g(a)", "g(b)", "f(a)", "f(a)"]
    >>> rows = SplitRows(
    ...     pa.array(list("uvwxyz")),
    ...     np.arange(6),
    ...     atoms=lambda: [frozenset(program) - {"(", ")"} for program in programs],
    ...     compounds=lambda: [{program: 1} for program in programs],
    ... )
    >>> splitter = TmcdSplitter(sizes={"train": 3, "validation": 2, "test": 1}, seed=0)
    >>> result = splitter.split(rows)
    >>> [result.rows(side).tolist() for side in (0, 1, 2)]
    [[2, 1, 3], [5, 4], [0]]
    >>> result.notes[0].message
    'compound divergence of train against evaluation is 1.000000 (0.377978 before 2 rows changed sides)'
    """

    name = "tmcd"
    uses_all_rows = False

    def __init__(
        self,
        *,
        sizes: Sizes | Mapping[str, int],
        seed: int | None = DEFAULT_SEED,
        mode: Mode = "best",
        constraint: Constraint = "atoms",
        max_iterations: int | None = None,
    ) -> None:
        super().__init__(sizes=sizes, seed=seed, constraint=constraint)
        checked_choice("mode", mode, ("best", "reference"))
        whole = isinstance(max_iterations, Integral) and not isinstance(max_iterations, bool)
        if max_iterations is not None and (not whole or max_iterations < 0):
            raise SplitError(f"max_iterations is {show(max_iterations)}; give an integer, 0 or more, or None")
        self.mode = mode
        self.max_iterations = None if max_iterations is None else int(max_iterations)

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        parsed = self._parsed(rows)
        self._require_fitting_sizes(len(rows), int(parsed.sum()))
        used = np.flatnonzero(parsed)
        draft = self._draft(rows.take(used), "random")
        shuffled = list(range(len(draft.units)))
        Random(self.seed).shuffle(shuffled)
        train, evaluation = draft.hold_out(np.array(shuffled), self.sizes.evaluation)
        if self.constraint == "atoms":
            train, evaluation = draft.balance_atoms(train, evaluation)
        train, evaluation, before = self._swapped(draft, train, evaluation)
        rng = np.random.default_rng(self.seed)
        sides = divide_ranked(draft, train, evaluation, self.sizes, permuted_by=rng, constraint=None)
        draft.notes.append(_divergence_note(draft, sides, before))
        placed = draft.placement(sides, np.full(len(used), np.nan, dtype=np.float32))
        return _among_all(rows, used, placed)

    def _expected(self, rows: SplitRows) -> Sizes:
        unused = len(rows) - int(self._parsed(rows).sum())
        return Sizes(self.sizes.train - unused, self.sizes.validation, self.sizes.test)

    def _parsed(self, rows: SplitRows) -> np.ndarray:
        """Which rows have compounds, and atoms where the constraint asks for them: bool[n]."""
        if rows.compounds is None:
            raise SplitError("a tmcd split needs rows with compounds (of programs); choose another splitter")
        parsed = np.array([compounds is not None for compounds in rows.compounds()])
        if self.constraint == "atoms" and rows.atoms is not None:
            parsed &= np.array([atoms is not None for atoms in rows.atoms()])
        return parsed

    def _require_fitting_sizes(self, rows: int, parsed: int) -> None:
        if self.sizes.total != rows:
            raise SplitError(
                f"sizes {self.sizes.train} + {self.sizes.validation} + {self.sizes.test} add up to "
                f"{self.sizes.total}, but there are {rows} rows; give sizes that add up to {rows}"
            )
        if parsed == 0:
            raise SplitError(f"none of the {rows} programs could be read; choose another structure")
        if parsed <= self.sizes.evaluation:
            raise SplitError(
                f"{parsed} of {rows} programs could be read, which leaves no train row beside "
                f"{self.sizes.evaluation} evaluation rows; ask for fewer evaluation rows"
            )

    def _swapped(
        self, draft: Draft, train: np.ndarray, evaluation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Both lists of units after the swaps, in order, and the divergence before them."""
        atoms = None
        if self.constraint == "atoms" and draft.rows.atoms is not None:
            atoms = [symbols or frozenset() for symbols in draft.rows.atoms()]
        begins = np.isin(np.arange(len(draft.units)), train)
        state = Bipartition(draft.units, _compounds(draft), atoms, begins)
        divergence = state.divergence()
        if self.mode == "reference":
            most = MAX_ITERATIONS if self.max_iterations is None else self.max_iterations
            train, evaluation, _ = first_improvements(state, train, evaluation, most)
        else:
            best_swaps(state, sys.maxsize if self.max_iterations is None else self.max_iterations)
            both = np.concatenate([train, evaluation])
            train, evaluation = both[state.trains[both]], both[~state.trains[both]]
        draft.placed_by[state.trains != begins] = "divergence"
        return train, evaluation, divergence


def _compounds(draft: Draft) -> list[Mapping[str, int]]:
    assert draft.rows.compounds is not None
    return [counted or {} for counted in draft.rows.compounds()]


def _divergence_note(draft: Draft, sides: Sides, before: float) -> Note:
    """The divergence, counted anew from the rows on the sides, and the rows that swaps left on another side.

    Not the number of swaps: a row may be swapped back.
    """
    compounds = _compounds(draft)
    train, evaluation = (
        total_counts(compounds[row] for row in draft.units.rows(side).tolist())
        for side in (sides[0], np.concatenate(sides[1:]))
    )
    divergence = chernoff_divergence(train, evaluation, COMPOUND_ALPHA)
    changed = draft.units.weight(np.flatnonzero(draft.placed_by == "divergence"))
    message = (
        f"compound divergence of train against evaluation is {divergence:.6f} "
        f"({before:.6f} before {plural(changed, 'row')} changed sides)"
    )
    return Note("divergence", message)


def _among_all(rows: SplitRows, used: np.ndarray, placed: Placement) -> Placement:
    """`placed`, made of the rows `used` alone, as a placement of all rows; the others are unused."""
    unused = np.setdiff1d(np.arange(len(rows)), used)
    placed_by = np.full(len(rows), "unparsed", dtype=object)
    placed_by[used] = placed.placed_by
    notes = list(placed.notes)
    if len(unused):
        message = f"{len(unused)} rows have a program that could not be read: they are in no split"
        notes.append(Note("unparsed", message, rows.names(unused)))
    return Placement(
        used[placed.train],
        used[placed.validation],
        used[placed.test],
        placed_by,
        np.full(len(rows), np.nan, dtype=np.float32),
        tuple(notes),
        unused,
    )
