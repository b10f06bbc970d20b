"""Length splits: short inputs train, long ones evaluate."""

from __future__ import annotations

import numpy as np

from ..errors import SplitError
from ._division import DividingSplitter, divide_by_label, divide_ranked
from .base import Placement, Scores, SplitRows


class LengthSplitter(DividingSplitter):
    """Train on short inputs, evaluate on long ones; equal lengths stay in source order.

    Source: 2210.06799, Section 4 (after the length splits of google-research/language). Without labels
    rows are sorted by `whitespace_lengths` where there are any, else by `lengths` (NLTK tokens); the
    longest evaluate, permuted by `seed` into validation and test. With labels, rows are sorted by `lengths`
    and the longest of each label evaluate. `evaluation_labels` and `constraint` as in RandomSplitter. A
    group's length is the mean of its members'.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> rows = SplitRows(pa.array(["a", "b", "c", "d"]), np.arange(4), lengths=np.array([7, 3, 5, 9]))
    >>> splitter = LengthSplitter(sizes={"train": 2, "validation": 1, "test": 1})
    >>> [splitter.split(rows).rows(side).tolist() for side in (0, 1, 2)]
    [[1, 2], [3], [0]]
    """

    name = "length"

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        lengths = rows.lengths
        if rows.labels is None and rows.whitespace_lengths is not None:
            lengths = rows.whitespace_lengths
        if lengths is None:
            raise SplitError(
                "a length split needs rows with lengths; count the tokens of the text column first"
            )
        draft = self._draft(rows, "length")
        key = draft.units.mean(lengths)
        order = self._ranked(draft, np.argsort(key, kind="stable"))
        rng = np.random.default_rng(self.seed)

        def hold_out(part: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
            return draft.hold_out(part, room, key)

        if rows.labels is None:
            train, evaluation = hold_out(order, self.sizes.evaluation)
            sides = divide_ranked(
                draft, train, evaluation, self.sizes, permuted_by=rng, constraint=self.constraint
            )
        else:
            sides = divide_by_label(
                draft,
                order,
                self.sizes,
                rng=rng,
                evaluation_labels=self.evaluation_labels,
                hold_out=hold_out,
            )
        return draft.placement(sides, lengths.astype(np.float32))
