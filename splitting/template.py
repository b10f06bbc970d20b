"""Template splits: no program of an evaluation row is a training program with other values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Literal

import numpy as np

from ..errors import SplitError
from ._division import Constraint, DividingSplitter, Draft, Sides, checked_choice
from ._units import connected_groups
from .base import DEFAULT_SEED, Placement, Scores, Sizes, SplitRows
from .constraints import largest_remainder

Mode = Literal["evaluation", "train_first"]


class TemplateSplitter(DividingSplitter):
    """Place whole templates at random: rows whose programs differ in values alone stay on one side.

    Source: 2210.06799, Section 4 (query splits after Finegan-Dollak et al., 1806.09029), and the template
    splits of google-research/language. Templates, in the order in which they first appear, are shuffled by
    Python's `random.Random(seed)`. Rows without a template (the program could not be read) train, after all
    others. Where rows have groups too, a chain of equal templates and equal groups is one template.

    mode
        "evaluation" (the paper's words): the first templates that fit validate, up to the size of
        validation, the next that fit are the test; the rest trains. "train_first" (the library's code):
        templates train one by one until the first that would exceed the size of train; it and all later ones
        evaluate, so that validation and test may have more rows than asked for.
    constraint
        "atoms" swaps templates of equally many rows until every atom of an evaluation row has a train row.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> templates = ["SELECT _", "COUNT _", "SELECT _", "MAX _"]
    >>> rows = SplitRows(pa.array(["a", "b", "c", "d"]), np.arange(4), templates=lambda: templates)
    >>> splitter = TemplateSplitter(sizes={"train": 2, "validation": 1, "test": 1}, seed=0)
    >>> [splitter.split(rows).rows(side).tolist() for side in (0, 1, 2)]
    [[0, 2], [3], [1]]
    """

    name = "template"
    kept_whole = "template"

    def __init__(
        self,
        *,
        sizes: Sizes | Mapping[str, int],
        seed: int | None = DEFAULT_SEED,
        mode: Mode = "evaluation",
        constraint: Constraint = None,
    ) -> None:
        super().__init__(sizes=sizes, seed=seed, constraint=constraint)
        checked_choice("mode", mode, ("evaluation", "train_first"))
        self.mode = mode

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        draft = self._draft(replace(rows, groups=self._groups(rows)), self.name)
        draft.set_aside(np.array([template is None for template in _templates(rows)]), "unparsed")
        shuffled = self._ranked(draft, np.arange(len(draft.units))).tolist()
        Random(self.seed).shuffle(shuffled)
        order = np.array(shuffled, dtype=np.int64)
        sides = (
            self._train_first(draft, order) if self.mode == "train_first" else self._held_out(draft, order)
        )
        # The place of a template is where it fits: it has no rank that it could miss.
        draft.placed_by[draft.placed_by == "group"] = self.name
        return draft.placement(sides, np.full(len(rows), np.nan, dtype=np.float32))

    def _groups(self, rows: SplitRows) -> np.ndarray:
        codes: dict[str, int] = {}
        numbers = [-1 if text is None else codes.setdefault(text, len(codes)) for text in _templates(rows)]
        alone = np.arange(len(rows)) if rows.groups is None else rows.groups
        return connected_groups(alone, np.array(numbers, dtype=np.int64))

    def _limited(self) -> tuple[str, ...]:
        return ("train",) if self.mode == "train_first" else super()._limited()

    def _held_out(self, draft: Draft, order: np.ndarray) -> Sides:
        units = draft.units
        validates = units.fill(order, self.sizes.validation)
        validation, rest = order[validates], order[~validates]
        tests = units.fill(rest, self.sizes.test)
        train, test = rest[~tests], rest[tests]
        if self.constraint is None:
            return train, validation, test
        train, evaluation = draft.balance_atoms(train, np.concatenate([validation, test]))
        validation, test, left = draft.divide(evaluation, units.weight(validation), units.weight(test))
        return np.concatenate([train, left]), validation, test

    def _train_first(self, draft: Draft, order: np.ndarray) -> Sides:
        units = draft.units
        room = self.sizes.train - (len(draft.rows) - units.weight(order))
        count = int(np.searchsorted(np.cumsum(units.sizes[order]), room, side="right"))
        train, evaluation = order[:count], order[count:]
        if self.constraint == "atoms":
            train, evaluation = draft.balance_atoms(train, evaluation)
        wanted = np.array([self.sizes.validation, self.sizes.test])
        validates = units.fill(evaluation, int(largest_remainder(wanted, units.weight(evaluation))[0]))
        return train, evaluation[validates], evaluation[~validates]


def _templates(rows: SplitRows) -> list[str | None]:
    if rows.templates is None:
        raise SplitError("a template split needs rows with templates (of programs); choose another splitter")
    return rows.templates()
