"""The two published procedures that turn an order of rows into three sides, for single rows and groups.

Ranked (tasks without classes; 2210.06799, code for Spider and GeoQuery): one cut through the whole order;
the evaluation list is permuted, its first part is validation, the rest test. By label (tasks with classes;
code for SNLI and BoolQ): one cut per label; each label's evaluation rows are shuffled, the first part is
test, the rest validation.

Both work on units. Without groups a unit is a row and the result is the published one. With groups a unit is
a group: it stands at the mean of its members' values, counts as many rows as it has, and is passed over
where it does not fit the room that is left, so that validation and test get at most their sizes and a large
group trains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from ..errors import SplitError, show
from ._units import Units
from .base import DEFAULT_SEED, Note, Placement, Sizes, SplitRows, Splitter
from .constraints import WITHOUT_CONSTRAINT, balance_atoms, equal_quotas, largest_remainder, share_quotas

Constraint = Literal["atoms"] | None
EvaluationLabels = Literal["shares", "equal"]
EmptyQuota = Literal["none", "whole_bucket"]
HoldOut = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
Sides = tuple[np.ndarray, np.ndarray, np.ndarray]


def checked_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise SplitError unless `value` is one of `choices`."""
    if value not in choices or isinstance(value, bool):
        raise SplitError(f"{name} is {show(value)}; choose {' or '.join(map(repr, choices))}")


class DividingSplitter(Splitter):
    """A splitter that orders rows and divides them by one of the two procedures.

    `evaluation_labels` ("shares" or "equal") is for rows with labels, `constraint` (None or "atoms") for rows
    without. Raises SplitError for other values.
    """

    sizes: Sizes

    def __init__(
        self,
        *,
        sizes: Sizes | Mapping[str, int],
        seed: int | None = DEFAULT_SEED,
        evaluation_labels: EvaluationLabels = "shares",
        constraint: Constraint = None,
    ) -> None:
        super().__init__(sizes=sizes, seed=seed)
        checked_choice("evaluation_labels", evaluation_labels, ("shares", "equal"))
        checked_choice("constraint", constraint, (None, "atoms"))
        self.evaluation_labels = evaluation_labels
        self.constraint = constraint

    def _draft(self, rows: SplitRows, rule: str) -> Draft:
        """All rows, none of them placed; under the constraint, those without atoms are set aside."""
        draft = Draft(rows, rule)
        if self.constraint is None:
            return draft
        if rows.labels is not None:
            raise SplitError(
                f"constraint={self.constraint!r} is for tasks without labels; {WITHOUT_CONSTRAINT}"
            )
        if rows.atoms is None:
            raise SplitError(f"constraint='atoms' needs rows with atoms (programs); {WITHOUT_CONSTRAINT}")
        draft.set_aside(np.array([atoms is None for atoms in rows.atoms()]), "unparsed")
        return draft

    def _ranked(self, draft: Draft, order: np.ndarray) -> np.ndarray:
        """`order` without the units that are set aside. Raises SplitError if those overfill train."""
        ranked = draft.ranked(order)
        aside = len(draft.rows) - draft.units.weight(ranked)
        if aside > self.sizes.train:
            raise SplitError(
                f"{aside} rows {draft.why_aside()} and must train, but train has {self.sizes.train} rows; "
                "mend these rows, or ask for fewer evaluation rows"
            )
        return ranked


ASIDE = {
    "unscored": ("have no score", "rows have no score: they train, after the scored rows"),
    "unparsed": ("have an unreadable program", "rows have a program that could not be read: they train"),
}
"""Why rows train whatever their rank, by the word of `placed_by`: as part of a sentence, and as a note."""


class Draft:
    """Units on their way to a side, with the rule that put each there and the notes made meanwhile.

    Orders and lists are arrays of unit numbers; sizes and rooms count rows.
    """

    def __init__(self, rows: SplitRows, rule: str) -> None:
        self.rows = rows
        self.units = Units.of(rows.groups, len(rows))
        self.placed_by = np.full(len(self.units), rule, dtype=object)
        self.notes: list[Note] = []
        self._aside: dict[str, np.ndarray] = {}
        self._tied: list[np.ndarray] = []

    def set_aside(self, rows: np.ndarray, word: str) -> None:
        """Let the units that have one of `rows` (bool[n]) train after all others; `word` is one of ASIDE."""
        if rows.any():
            self._aside[word] = rows | self._aside.get(word, False)

    def why_aside(self) -> str:
        return " or ".join(ASIDE[word][0] for word in self._aside)

    def aside(self) -> np.ndarray:
        """The units that are set aside: a mask over units."""
        mask = np.zeros(len(self.units), dtype=bool)
        for rows in self._aside.values():
            mask |= self.units.any(rows)
        return mask

    def ranked(self, order: np.ndarray) -> np.ndarray:
        """`order` without the units that are set aside."""
        return order[~self.aside()[order]] if self._aside else order

    def hold_out(
        self, order: np.ndarray, room: int, key: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut the last `room` rows off `order`: what trains and what evaluates, both in order.

        A group that does not fit the room that is left trains, and the next one is tried; "group" marks
        both. Units of equal `key` on both sides of the cut are noted.
        """
        walk = order[::-1]
        taken = self.units.fill(walk, room)
        if not self.units.single:
            self.placed_by[walk[taken != self.units.by_rank(walk, room)]] = "group"
        evaluates = taken[::-1]
        train, evaluation = order[~evaluates], order[evaluates]
        if key is not None and len(train) and len(evaluation) and key[train[-1]] == key[evaluation[0]]:
            self._tied.append(order[key[order] == key[evaluation[0]]])
        return train, evaluation

    def hold_out_by_bucket(
        self, order: np.ndarray, buckets: np.ndarray, quotas: np.ndarray, key: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut off `order` the last `quotas[b]` rows of each bucket b; `buckets` is aligned with `order`.

        The train list comes back with the highest `key` first, the evaluation list with the lowest first.
        """
        parts = [self.hold_out(order[buckets == b], quota, key) for b, quota in enumerate(quotas.tolist())]
        train, evaluation = (np.concatenate(lists) for lists in zip(*parts, strict=True))
        return (
            train[np.argsort(-key[train], kind="stable")],
            evaluation[np.argsort(key[evaluation], kind="stable")],
        )

    def correct_size(
        self, train: np.ndarray, evaluation: np.ndarray, room: int, *, returned_to: Literal["front", "end"]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Move units from the front of the longer list until evaluation has `room` rows.

        Train rows go to the front of the evaluation list, evaluation rows to `returned_to` of train's. With
        groups, evaluation may end with fewer rows, never with more.
        """
        excess = self.units.weight(evaluation) - room
        if excess > 0:
            count = int(np.searchsorted(np.cumsum(self.units.sizes[evaluation]), excess)) + 1
            moved, evaluation = evaluation[:count], evaluation[count:]
            train = np.concatenate([moved, train] if returned_to == "front" else [train, moved])
            self.placed_by[moved] = "size_correction"
        shortage = room - self.units.weight(evaluation)
        if shortage > 0:
            taken = self.units.fill(train, shortage)
            moved, train = train[taken], train[~taken]
            evaluation = np.concatenate([moved, evaluation])
            self.placed_by[moved] = "size_correction"
        return train, evaluation

    def balance_atoms(self, train: np.ndarray, evaluation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Swap units until every atom has a train row; units set aside train and are not swapped."""
        assert self.rows.atoms is not None
        # Rows without atoms are set aside, so that an empty set stands for nothing that is swapped.
        atoms = per_row = [listed or frozenset() for listed in self.rows.atoms()]
        if not self.units.single:
            members = np.split(self.units.members, self.units.starts[1:])
            atoms = [frozenset().union(*(atoms[row] for row in unit)) for unit in members]

        def named(units: list[int], wanted: set[str]) -> tuple[str, ...]:
            rows = np.sort(self.units.rows(np.array(units)))
            return self.rows.names(rows[[not wanted.isdisjoint(per_row[row]) for row in rows]])

        balanced = balance_atoms(
            train.tolist(),
            evaluation.tolist(),
            atoms,
            fixed=np.flatnonzero(self.aside()).tolist(),
            weights=self.units.sizes,
            named=named,
        )
        moved = sorted({*balanced.train} ^ {*train.tolist()})
        self.placed_by[moved] = "atom_swap"
        if balanced.swaps:
            swaps = "1 swap" if balanced.swaps == 1 else f"{balanced.swaps:,} swaps"
            message = f"{swaps} gave every atom of the evaluation rows a train row"
            self.notes.append(Note("atom_swaps", message, self._names(np.array(moved))))
        return np.array(balanced.train, dtype=np.int64), np.array(balanced.evaluation, dtype=np.int64)

    def divide(self, evaluation: np.ndarray, first: int, second: int) -> Sides:
        """Cut `evaluation`, in order, into sides of `first` and `second` rows, and what fits neither.

        If groups left the list short, the shortage is shared in proportion.
        """
        units = self.units
        share = int(largest_remainder(np.array([first, second]), units.weight(evaluation))[0])
        taken = units.fill(evaluation, share)
        ones, rest = evaluation[taken], evaluation[~taken]
        taken = units.fill(rest, second)
        twos, rest = rest[taken], rest[~taken]
        taken = units.fill(rest, first - units.weight(ones))
        ones, left = np.concatenate([ones, rest[taken]]), rest[~taken]
        self.placed_by[left] = "group"
        return ones, twos, left

    def top_up(self, order: np.ndarray, sides: Sides, sizes: Sizes) -> Sides:
        """Fill what groups left free in validation and test from the end of `order`, whatever the label."""
        train, validation, test = sides
        trains = np.zeros(len(self.units), dtype=bool)
        trains[train] = True
        filled = []
        for side, size in ((validation, sizes.validation), (test, sizes.test)):
            walk = order[::-1][trains[order[::-1]]]
            moved = walk[self.units.fill(walk, size - self.units.weight(side))]
            trains[moved] = False
            self.placed_by[moved] = "group"
            filled.append(np.concatenate([side, moved]))
        return train[trains[train]], filled[0], filled[1]

    def placement(self, sides: Sides, value: np.ndarray) -> Placement:
        """The rows of three lists of units, those set aside at the end of train; `value` is per row."""
        aside = np.flatnonzero(self.aside())
        self.placed_by[aside] = "group"
        train, validation, test = (self.units.rows(side) for side in sides)
        train = np.concatenate([train, self.units.rows(aside)])
        placed_by = self.units.per_row(self.placed_by)
        for word, mask in self._aside.items():
            rows = np.flatnonzero(mask)
            placed_by[rows] = word
            self.notes.append(Note(word, f"{len(rows)} {ASIDE[word][1]}", self.rows.names(rows)))
        moved = np.flatnonzero(placed_by == "group")
        if len(moved):
            message = f"{len(moved)} rows stand where their group fits, not where their rank is"
            self.notes.append(Note("moved_by_group", message, self.rows.names(moved)))
        if self._tied:
            tied = np.concatenate(self._tied)
            count = self.units.weight(tied)
            message = f"{count} rows have the value of a row across a cut: source order decided"
            self.notes.append(Note("tied_at_cut", message, self._names(tied)))
        return Placement(train, validation, test, placed_by, value, tuple(self.notes))

    def _names(self, units: np.ndarray) -> tuple[str, ...]:
        return self.rows.names(np.sort(self.units.rows(units)))


def divide_ranked(
    draft: Draft,
    train: np.ndarray,
    evaluation: np.ndarray,
    sizes: Sizes,
    *,
    permuted_by: np.random.Generator | None,
    constraint: Constraint,
) -> Sides:
    """Balance atoms, permute the evaluation list, cut it: validation first, then test."""
    if constraint == "atoms":
        train, evaluation = draft.balance_atoms(train, evaluation)
    if permuted_by is not None:
        evaluation = evaluation[permuted_by.permutation(len(evaluation))]
    validation, test, left = draft.divide(evaluation, sizes.validation, sizes.test)
    return np.concatenate([train, left]), validation, test


def divide_by_label(
    draft: Draft,
    order: np.ndarray,
    sizes: Sizes,
    *,
    rng: np.random.Generator,
    evaluation_labels: EvaluationLabels,
    hold_out: HoldOut,
) -> Sides:
    """Cut each label's part of `order` by itself, in the order in which labels first stand in it.

    `hold_out(part, rows)` gives what trains and what evaluates. Groups whose members differ in label count
    as one more label under "shares"; under "equal" they come last, where other groups left room.
    """
    strata, labels, validation, test = _quotas(draft, order, sizes, evaluation_labels)
    shuffle = np.random.RandomState(rng.bit_generator)
    parts: list[Sides] = []
    for label in labels:
        members = order[strata[order] == label]
        wanted = int(validation[label] + test[label])
        if wanted == 0:
            parts.append((members, members[:0], members[:0]))
            continue
        train, evaluation = hold_out(members, wanted)
        evaluation = evaluation[shuffle.permutation(len(evaluation))]
        tests, validations, left = draft.divide(evaluation, int(test[label]), int(validation[label]))
        parts.append((np.concatenate([train, left]), validations, tests))
    train, validations, tests = (np.concatenate(lists) for lists in zip(*parts, strict=True))
    if draft.units.single:
        return train, validations, tests
    return draft.top_up(order, (train, validations, tests), sizes)


def _quotas(
    draft: Draft, order: np.ndarray, sizes: Sizes, evaluation_labels: EvaluationLabels
) -> tuple[np.ndarray, list[int], np.ndarray, np.ndarray]:
    """Label of each unit, labels in order of first appearance, rows of each for validation and for test."""
    assert draft.rows.labels is not None
    names = [*draft.rows.label_names, "(several)"]
    several = len(names) - 1
    strata = draft.units.strata(draft.rows.labels, several)
    counts = np.bincount(strata, draft.units.sizes, minlength=len(names)).astype(np.int64)
    available = np.bincount(strata[order], draft.units.sizes[order], minlength=len(names)).astype(np.int64)
    found, first = np.unique(strata[order], return_index=True)
    labels: list[int] = found[np.argsort(first)].tolist()
    if evaluation_labels == "shares":
        validation, test = share_quotas(counts, sizes.validation, sizes.test)
    else:
        plain = [label for label in labels if label != several]
        if not plain:
            raise SplitError("every group has several labels; use evaluation_labels='shares'")
        validation, test = equal_quotas(plain, sizes.validation, sizes.test, len(names))
        draft.placed_by[strata == several] = "group"
    wanted = validation + test
    for label in np.flatnonzero(wanted > available).tolist():
        raise SplitError(
            f"label {names[label]!r} has {available[label]} rows that can evaluate, but "
            f"evaluation_labels={evaluation_labels!r} takes {wanted[label]} of {counts[label]}; "
            "ask for fewer evaluation rows" + (" or use 'shares'" if evaluation_labels == "equal" else "")
        )
    for code, side, lacking in (
        ("label_without_evaluation", "evaluation", (wanted == 0) & (counts > 0)),
        ("label_without_train", "train", (wanted == counts) & (counts > 0)),
    ):
        for label in np.flatnonzero(lacking[:several]).tolist():
            message = f"label {names[label]!r} ({counts[label]} rows) has no {side} rows"
            draft.notes.append(Note(code, message))
    return strata, labels, validation, test
