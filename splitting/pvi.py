"""Simple and hard halves by pointwise V-information, label by label, and the matrix that crosses them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..errors import SplitError, show
from ._division import checked_choice
from .base import (
    DEFAULT_SEED,
    SIDES,
    UNUSED,
    Note,
    Placement,
    Scores,
    SplitRows,
    Splitter,
    checked_seed,
)
from .published import STANDARD_NAMES, PublishedSplitter

Difficulty = Literal["simple", "hard"]
Cut = Literal["midrange", "published"]
Border = Literal["published", "pooled"]

DIFFICULTIES = ("simple", "hard")
_SIMPLE, _HARD, _NEITHER = 0, 1, -1
_EVALUATION = ("validation", "test")


class PviSplitter(Splitter):
    """Train on rows of one difficulty, evaluate on rows of one; all others are unused.

    A row is simple where its pointwise V-information (PVI, in bits) reaches the threshold of its label, else
    hard. Source: Curriculum (2204.06283) and the code that its splits were made with.

    train, evaluation
        "simple" or "hard": the cell of the generalisation matrix.
    cut
        "midrange": halfway between a label's lowest and highest PVI. Where they are equal, the first half in
        source order is simple. Both halves of a label of two rows or more have rows.
        "published": lowest + (|highest| + |lowest|) / 2, which is the midrange only where the two have
        different signs and lies above every row where both are large and positive: then nothing is simple,
        and SplitError is raised where the published code fails too. Where both are equal to two decimals, the
        rows from the highest PVI down (ties: source order) are cut in half.
    border
        "published": rows stay in the split that their source puts them in, and each split is cut by its own
        PVI. "pooled" (published code): train and validation are cut as one, then every half of every label is
        divided at random, `evaluation_share` of it (rounded up) to validation; a test split keeps its rows.
    mapping
        As for `PublishedSplitter`: the side of every source split, or None for rows that are left out.

    Rows without a PVI are unused ("unscored"). Groups are not looked at: the border is the source's, or one
    that was published without them. Written order: source order; of pooled rows that of the published code,
    label by label.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import Scores, SplitRows
    >>> splits = np.array(["train", "train", "train", "dev", "dev"])
    >>> rows = SplitRows(
    ...     pa.array(list("abcde")), np.arange(5), labels=np.zeros(5, int), label_names=("yes",),
    ...     source_splits=splits,
    ... )
    >>> pvi = np.array([0.9, -1.5, 0.8, -2.0, 0.1], dtype=np.float32)
    >>> scores = Scores(np.full(5, np.nan, np.float32), np.zeros(5, np.int32), pvi)
    >>> made = PviSplitter(train="simple", evaluation="hard").split(rows, scores)
    >>> [made.rows(side).tolist() for side in (0, 1)]
    [[0, 2], [3]]
    """

    name = "pvi"
    reads_scores = True
    uses_all_rows = False
    sizes = None

    def __init__(
        self,
        *,
        train: Difficulty = "simple",
        evaluation: Difficulty = "simple",
        cut: Cut = "midrange",
        border: Border = "published",
        mapping: Mapping[str, str | None] = STANDARD_NAMES,
        evaluation_share: float = 0.4,
        seed: int | None = DEFAULT_SEED,
    ) -> None:
        checked_choice("train", train, DIFFICULTIES)
        checked_choice("evaluation", evaluation, DIFFICULTIES)
        checked_choice("cut", cut, ("midrange", "published"))
        checked_choice("border", border, ("published", "pooled"))
        share = evaluation_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
            raise SplitError(f"evaluation_share is {show(share)}; give a share between 0 and 1")
        self._published = PublishedSplitter(mapping=mapping)
        self.train, self.evaluation, self.cut, self.border = train, evaluation, cut, border
        self.mapping = dict(mapping)
        self.evaluation_share = share
        self.seed = checked_seed(seed)

    def _groups(self, rows: SplitRows) -> np.ndarray | None:
        return None

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        pvi = self._pvi(rows, scores)
        side = self._published.published_sides(rows)
        placed_by = np.full(len(rows), "pvi", dtype=object)
        notes = _unscored(rows, np.isnan(pvi) & (side != UNUSED), placed_by)
        side[np.isnan(pvi)] = UNUSED
        if self.border == "pooled":
            sides, made = self._pooled(rows, pvi, side)
        else:
            sides, made = self._within_border(rows, pvi, side)
        _require_rows(sides, side, self)
        placed = np.concatenate(list(sides.values()))
        unused = np.setdiff1d(np.arange(len(rows)), placed)
        return Placement(**sides, placed_by=placed_by, score=pvi, notes=(*notes, *made), unused=unused)

    def _within_border(
        self, rows: SplitRows, pvi: np.ndarray, side: np.ndarray
    ) -> tuple[dict[str, np.ndarray], list[Note]]:
        sides, notes = {}, []
        for name, number in SIDES.items():
            members = np.flatnonzero(side == number)
            difficulty, made = self._difficulty(rows, pvi, members, name)
            sides[name] = members[difficulty == self._wanted(name)]
            notes += [*made, *_labels_without(rows, members, sides[name], name, self._word(name))]
        return sides, notes

    def _pooled(
        self, rows: SplitRows, pvi: np.ndarray, side: np.ndarray
    ) -> tuple[dict[str, np.ndarray], list[Note]]:
        """The published re-cut: one threshold per label for train and validation together."""
        pool = np.concatenate([np.flatnonzero(side == SIDES[name]) for name in ("train", "validation")])
        difficulty, notes = self._difficulty(rows, pvi, pool, "train and validation together")
        parts: dict[tuple[int, str], list[np.ndarray]] = {}
        for label, members in _by_label(rows, pool):
            ranked = members[np.argsort(-pvi[pool[members]], kind="stable")]
            for number, word in enumerate(DIFFICULTIES):
                half = pool[ranked[difficulty[ranked] == number]]
                train, held_out = self._divided(half, rows.label_names[label], word, pvi[pool[members]])
                parts.setdefault((number, "train"), []).append(train)
                parts.setdefault((number, "validation"), []).append(held_out)
        sides = {
            name: np.concatenate([pool[:0], *parts.get((self._wanted(name), name), [])])
            for name in ("train", "validation")
        }
        test = np.flatnonzero(side == SIDES["test"])
        tested, made = self._difficulty(rows, pvi, test, "test")
        sides["test"] = test[tested == self._wanted("test")]
        return sides, [*notes, *made]

    def _divided(
        self, half: np.ndarray, label: str, word: str, pvi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Train and validation of one half of one label. Raises SplitError where one would be empty."""
        held_out = math.ceil(self.evaluation_share * len(half))
        if held_out >= len(half):
            raise SplitError(
                f"label {label!r} has {len(half)} {word} rows of {len(pvi)} (PVI {pvi.min():.3f} to "
                f"{pvi.max():.3f}, threshold {self._threshold(pvi):.3f}), too few to divide between train "
                "and validation; use cut='midrange' or border='published'"
            )
        order = np.random.RandomState(self.seed).permutation(len(half))
        return half[order[held_out:]], half[order[:held_out]]

    def _difficulty(
        self, rows: SplitRows, pvi: np.ndarray, members: np.ndarray, where: str
    ) -> tuple[np.ndarray, list[Note]]:
        """_SIMPLE or _HARD for every one of `members`, each label cut by itself; what was cut where."""
        difficulty = np.full(len(members), _NEITHER, dtype=np.int8)
        notes = []
        for label, places in _by_label(rows, members):
            values = pvi[members[places]].astype(np.float64)
            halved = self._is_flat(values)
            difficulty[places] = self._halved(values) if halved else values < self._threshold(values)
            simple = int((difficulty[places] == _SIMPLE).sum())
            rule = "equal PVI, cut in half" if halved else f"threshold {self._threshold(values):.4f} bits"
            message = (
                f"{where}, label {rows.label_names[label]!r}: {rule}; {simple} rows are simple, "
                f"{len(places) - simple} hard"
            )
            notes.append(Note("pvi_cut", message))
        return difficulty, notes

    def _threshold(self, values: np.ndarray) -> float:
        low, high = float(values.min()), float(values.max())
        return (low + high) / 2 if self.cut == "midrange" else low + (abs(high) + abs(low)) / 2

    def _is_flat(self, values: np.ndarray) -> bool:
        low, high = float(values.min()), float(values.max())
        return low == high if self.cut == "midrange" else round(low, 2) == round(high, 2)

    def _halved(self, values: np.ndarray) -> np.ndarray:
        # The published half of an odd number is the smaller one; a lone row should stay with the simple ones.
        half = (len(values) + (self.cut == "midrange")) // 2
        difficulty = np.full(len(values), _HARD, dtype=np.int8)
        difficulty[np.argsort(-values, kind="stable")[:half]] = _SIMPLE
        return difficulty

    def _word(self, side: str) -> Difficulty:
        return self.evaluation if side in _EVALUATION else self.train

    def _wanted(self, side: str) -> int:
        return DIFFICULTIES.index(self._word(side))

    def _pvi(self, rows: SplitRows, scores: Scores | None) -> np.ndarray:
        if scores is None or scores.pvi is None:
            raise SplitError("a PVI split needs scores with PVI; score the rows with scorer 'pvi' first")
        if rows.labels is None:
            raise SplitError("a PVI split is cut label by label; give rows with labels")
        return scores.pvi


def difficulty_of_side(parameters: Mapping[str, Any], side: str) -> str:
    """The difficulty of the rows that a PVI split with these `parameters` puts on train, validation or test.

    >>> difficulty_of_side({"train": "simple", "evaluation": "hard"}, "test")
    'hard'
    """
    return str(parameters["evaluation" if side in _EVALUATION else "train"])


def _by_label(rows: SplitRows, members: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Labels in order of first appearance among `members`, each with its places in `members`."""
    assert rows.labels is not None
    labels = rows.labels[members]
    found, first = np.unique(labels, return_index=True)
    return [(int(label), np.flatnonzero(labels == label)) for label in found[np.argsort(first)]]


def _unscored(rows: SplitRows, missing: np.ndarray, placed_by: np.ndarray) -> list[Note]:
    unscored = np.flatnonzero(missing)
    if not len(unscored):
        return []
    placed_by[unscored] = "unscored"
    return [Note("unscored", f"{len(unscored)} rows have no PVI: they are unused", rows.names(unscored))]


def _labels_without(
    rows: SplitRows, members: np.ndarray, kept: np.ndarray, side: str, word: str
) -> list[Note]:
    assert rows.labels is not None
    lacking = np.setdiff1d(rows.labels[members], rows.labels[kept])
    return [
        Note(f"label_without_{side}", f"label {rows.label_names[label]!r} has no {word} rows in {side}")
        for label in lacking.tolist()
    ]


def _require_rows(sides: Mapping[str, np.ndarray], side: np.ndarray, splitter: PviSplitter) -> None:
    """Raise SplitError where a side that the source has would come out empty."""
    for name, number in SIDES.items():
        given = int((side == number).sum())
        if given and not len(sides[name]):
            other = "" if splitter.cut == "midrange" else "use cut='midrange', or "
            raise SplitError(
                f"{name} would be empty: none of its {given} rows is {splitter._word(name)} by "
                f"cut={splitter.cut!r}; {other}give a source with more rows of a label in {name}"
            )
    if not len(sides["train"]) or not (len(sides["validation"]) + len(sides["test"])):
        raise SplitError(
            "a PVI split needs rows that train and rows that evaluate, as their source splits them; "
            "give a source with both, or divide its train rows anew with border='pooled'"
        )
