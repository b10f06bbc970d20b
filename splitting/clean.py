"""Another rule's split without the rows that an audit objects to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import SplitError, show
from .base import (
    SIDES,
    TEST,
    TRAIN,
    UNUSED,
    VALIDATION,
    Note,
    Placement,
    Scores,
    SplitRows,
    Splitter,
    splitters,
)

# By the word in `placed_by`: what is left out, as the end of "n rows ...".
_REASONS = {
    "conflict": "are in no split: rows of equal input have different targets",
    "duplicate": "are in no split: an earlier row of their split has equal input",
    "leak": "are in no split: a later split has a row of equal input",
}


class CleanSplitter(Splitter):
    """Place rows by another rule, then leave out conflicts, duplicates and leaks.

    Rows are compared by `inputs`, codes that are equal where inputs are, character for character. In this
    order, each step looking at rows that are still placed:

    1. "conflict": all rows of an input that stands with more than one target, on whatever sides;
    2. "duplicate": rows whose input an earlier row (in source order) of their side has;
    3. "leak": train rows whose input stands in validation or test, validation rows whose input stands in
       test. Evaluation data is never changed for the sake of train.

    `placed_by` has these words for rows left out, else the word of the other rule; sides keep its order.
    Rows that the other rule leaves out have no say. `of` is the other rule: its name as `splitter`, its
    `parameters`.

    Raises SplitError where a side loses all its rows.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> rows = SplitRows(
    ...     pa.array(list("abcdef")), np.arange(6), inputs=np.array([0, 1, 1, 2, 3, 0]),
    ...     source_splits=np.array(["train"] * 5 + ["dev"]),
    ... )
    >>> made = CleanSplitter(of={"splitter": "published", "parameters": {}}).split(rows)
    >>> made.side.tolist(), made.placed_by.tolist()
    ([-1, 0, -1, 0, 0, 1], ['leak', 'published', 'duplicate', 'published', 'published', 'published'])
    """

    name = "clean"
    uses_all_rows = False
    sizes = None

    def __init__(self, *, of: Mapping[str, Any]) -> None:
        if not isinstance(of, Mapping) or set(of) != {"splitter", "parameters"}:
            raise SplitError(f"of is {show(of)}; give the other rule as splitter and parameters")
        if not isinstance(of["parameters"], Mapping):
            raise SplitError(f"parameters of the other rule are {show(of['parameters'])}; give a mapping")
        self._rule = splitters.get(of["splitter"])(**of["parameters"])
        self.of = {"splitter": of["splitter"], "parameters": dict(of["parameters"])}

    def _groups(self, rows: SplitRows) -> np.ndarray | None:
        return self._rule._groups(rows)

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        if rows.inputs is None:
            raise SplitError(
                "a clean split needs rows with codes of their inputs; fill `inputs` of the rows, or choose "
                "another splitter"
            )
        made = self._rule.split(rows, scores)
        targets = rows.labels if rows.targets is None else rows.targets
        side, placed_by = made.side.copy(), made.placed_by.astype(object)
        # What it says of sides without rows is said of this split too.
        notes = [note for note in made.notes if note.code != "empty_split"]
        for word, found in (
            ("conflict", lambda: _conflicts(rows.inputs, targets, side)),
            ("duplicate", lambda: _later_copies(rows.inputs, side)),
            ("leak", lambda: _leaks(rows.inputs, side)),
        ):
            gone = found()
            if len(gone):
                side[gone], placed_by[gone] = UNUSED, word
                notes.append(Note(word, f"{len(gone)} rows {_REASONS[word]}", rows.names(gone)))
        for name, number in SIDES.items():
            if not (side == number).any() and (made.side == number).any():
                raise SplitError(
                    f"{name} would be empty: each of its rows is a conflict or stands in a later split; "
                    "leave this config out, or use another split of the rows"
                )
        kept = (made.rows(number) for number in SIDES.values())
        train, validation, test = (written[side[written] != UNUSED] for written in kept)
        unused = np.flatnonzero(side == UNUSED)
        return Placement(train, validation, test, placed_by, made.score, tuple(notes), unused)


def _conflicts(inputs: np.ndarray, targets: np.ndarray | None, side: np.ndarray) -> np.ndarray:
    """Placed rows whose input stands with more than one target on any side."""
    placed = np.flatnonzero(side != UNUSED)
    if targets is None:
        return placed[:0]
    pairs = np.unique(np.stack([inputs[placed], targets[placed]], axis=1), axis=0)
    values, counts = np.unique(pairs[:, 0], return_counts=True)
    return placed[np.isin(inputs[placed], values[counts > 1])]


def _later_copies(inputs: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Placed rows whose input stands in an earlier row of the same side."""
    later = []
    for number in SIDES.values():
        members = np.flatnonzero(side == number)
        _, first = np.unique(inputs[members], return_index=True)
        later.append(np.delete(members, first))
    return np.sort(np.concatenate(later))


def _leaks(inputs: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Rows whose input stands on a later side: train, validation, test."""
    train, validation, test = (np.flatnonzero(side == number) for number in (TRAIN, VALIDATION, TEST))
    evaluation = inputs[np.concatenate([validation, test])]
    return np.concatenate(
        [train[np.isin(inputs[train], evaluation)], validation[np.isin(inputs[validation], inputs[test])]]
    )
