"""Random splits: the baseline that every other split is compared with."""

from __future__ import annotations

from random import Random

import numpy as np

from ._division import DividingSplitter, divide_by_label, divide_ranked
from .base import Placement, Scores, SplitRows


class RandomSplitter(DividingSplitter):
    """Divide rows at random. Source: 2210.06799, Section 4, and its published code.

    Without labels: Python's `random.Random(seed).shuffle` of the rows in source order; the first rows
    train, the next validate, the rest test. With labels: a shuffle of all rows, then for each label the
    last rows are shuffled again and give test and validation. `evaluation_labels` "shares" keeps the shares
    of labels, "equal" takes the same number of every label as the published code does. `constraint`
    "atoms" swaps rows until every atom of an evaluation row has a train row (tasks without labels); rows
    whose program could not be read then train ("unparsed").

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import SplitRows
    >>> rows = SplitRows(pa.array(["a", "b", "c", "d", "e"]), np.arange(5))
    >>> splitter = RandomSplitter(sizes={"train": 3, "validation": 1, "test": 1}, seed=0)
    >>> splitter.parameters()["sizes"]
    {'train': 3, 'validation': 1, 'test': 1}
    >>> [splitter.split(rows).rows(side).tolist() for side in (0, 1, 2)]
    [[2, 1, 0], [4], [3]]
    """

    name = "random"

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        draft = self._draft(rows, "random")
        unscored = np.full(len(rows), np.nan, dtype=np.float32)
        if rows.labels is None:
            order = list(range(len(draft.units)))
            Random(self.seed).shuffle(order)
            ranked = self._ranked(draft, np.array(order))
            train, evaluation = draft.hold_out(ranked, self.sizes.evaluation)
            sides = divide_ranked(
                draft, train, evaluation, self.sizes, permuted_by=None, constraint=self.constraint
            )
        else:
            rng = np.random.default_rng(self.seed)
            sides = divide_by_label(
                draft,
                np.random.RandomState(rng.bit_generator).permutation(len(draft.units)),
                self.sizes,
                rng=rng,
                evaluation_labels=self.evaluation_labels,
                hold_out=draft.hold_out,
            )
        return draft.placement(sides, unscored)
