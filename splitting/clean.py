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
from .equal_inputs import conflicts, dense, later_copies

# By the word in `placed_by`: what is left out, as the end of "n rows ...".
_REASONS = {
    "conflict": "are in no split: rows of equal input have different targets",
    "duplicate": "are in no split: an earlier row of their split has equal input",
    "leak": "are in no split: the other rule has equal input in a later split",
}


class CleanSplitter(Splitter):
    """Place rows by another rule, then leave out conflicts, duplicates and leaks.

    Rows are compared by `inputs`, codes that are equal where inputs are, character for character. Evaluation
    data is cleaned first and by itself, so that none of it depends on what trains. In this order, each step
    looking at rows that are still placed:

    1. "conflict": all rows of validation and test whose input stands there with more than one target;
    2. "leak": validation rows whose input stands in test;
    3. "leak": train rows whose input the other rule has in validation or test, whatever the target;
    4. "conflict": all train rows whose input stands in train with more than one target;
    5. "duplicate": rows whose input an earlier row (in source order) of their side has.

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

    Notes
    -----
    A train row that contradicts an evaluation row is a leak, not a conflict: were it a conflict, train would
    take rows out of evaluation, and two cleaned splits with one evaluation side could no longer be compared.
    It is a leak, too, where that evaluation row leaves as a conflict.
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
        left = _left_out(rows, made.side)
        # What it says of sides without rows is said of this split too.
        notes = [note for note in made.notes if note.code != "empty_split"]
        for word, reason in _REASONS.items():
            gone = np.flatnonzero(left == word)
            if len(gone):
                notes.append(Note(word, f"{len(gone)} rows {reason}", rows.names(gone)))
        side = np.where(left == "", made.side, UNUSED)
        placed_by = np.where(left == "", made.placed_by, left).astype(object)
        for name, number in SIDES.items():
            words = left[made.side == number]
            if len(words) and (words != "").all():
                counts = (f"{(words == word).sum()} {word}" for word in _REASONS if (words == word).any())
                raise SplitError(
                    f"{name} would be empty: all of its {len(words)} rows are left out "
                    f"({', '.join(counts)}); leave this config out, or use another split of the rows"
                )
        kept = (made.rows(number) for number in SIDES.values())
        train, validation, test = (written[side[written] != UNUSED] for written in kept)
        unused = np.flatnonzero(side == UNUSED)
        return Placement(train, validation, test, placed_by, made.score, tuple(notes), unused)


def _left_out(rows: SplitRows, side: np.ndarray) -> np.ndarray:
    """The word (object) for each row that is left out of the sides (int8[n]) of another rule, else ""."""
    assert rows.inputs is not None
    inputs = dense(rows.inputs)
    targets = rows.labels if rows.targets is None else rows.targets
    targets = np.zeros(len(rows), dtype=np.int64) if targets is None else dense(targets)
    left = np.full(len(rows), "", dtype=object)

    def placed(*sides: int) -> np.ndarray:
        return np.flatnonzero(np.isin(side, sides) & (left == ""))

    def contradicted(*sides: int) -> np.ndarray:
        members = placed(*sides)
        return members[conflicts(inputs[members], targets[members])[0]]

    evaluation = inputs[placed(VALIDATION, TEST)]
    left[contradicted(VALIDATION, TEST)] = "conflict"
    for earlier, later in ((VALIDATION, inputs[placed(TEST)]), (TRAIN, evaluation)):
        members = placed(earlier)
        left[members[np.isin(inputs[members], later)]] = "leak"
    left[contradicted(TRAIN)] = "conflict"
    for number in SIDES.values():
        members = placed(number)
        left[members[later_copies(inputs[members])]] = "duplicate"
    return left
