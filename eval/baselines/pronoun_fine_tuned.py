"""An encoder that is fine-tuned to tell right candidates from wrong ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...progress import Progress
from ._pronouns import TASK, best_candidates, by_row, filled_rows, one_candidate
from .base import EvaluationData, Predictions, Rows
from .classifier import warn_of_truncation
from .fine_tuned import FineTuned

WRONG, RIGHT = "wrong", "right"


@dataclass(frozen=True)
class FineTunedPronoun(FineTuned):
    """Answers with the candidate that a fine-tuned encoder finds the most right.

    Each candidate gives a pair of texts, as in the files of KnowRef-60k (2011.04767): all that stands before
    the pronoun and the candidate in its place, and what follows. The pair of the right candidate is one of
    the class `right`, those of the others are `wrong`; the answer is the candidate whose pair has the largest
    difference of the logits of `right` and `wrong`, the first of equal ones (the row is flagged as tied).
    Rows are held out, and counted by `rows_per_label`, whole: never one candidate of a row without the
    others. All else as with `fine_tuned_full_input`.
    """

    name = "fine_tuned_pronoun"
    tasks = (TASK,)
    whole_input = True

    def _not_applicable(self, data: EvaluationData) -> str | None:
        counts = Counter(data.train.gold.tolist())
        for label in data.task.labels or ():
            if self.rows_per_label is not None and counts[label] < self.rows_per_label:
                return f"it has {counts[label]} train rows of label {label!r}, not {self.rows_per_label}"
        return one_candidate(data)

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "columns": ["text with candidate", "rest of text"]}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Warns of rows that were truncated. Raises UsageError where nothing can be trained."""
        rows = data.evaluation
        candidates = [len(options) for options in rows.inputs["options"]]
        pairs = _pairs(rows, data)
        model, log = self._trained(data, seed)
        answers = model.classify(
            *self._texts(pairs, data),
            max_length=self.recipe.max_length,
            progress=by_row(progress, candidates),
        )
        scores = answers.logits[:, 1].astype(np.float64) - answers.logits[:, 0]
        found = best_candidates(data, rows, candidates, scores, {})
        row_of_pair = np.repeat(np.arange(len(rows)), candidates)
        truncated = [rows.uids[row] for row in np.unique(row_of_pair[answers.truncated])]
        if truncated:
            longest = min(self.recipe.max_length, model.max_positions)
            warn_of_truncation(data, len(truncated), longest, model.name)
        return Predictions(
            found.uids,
            found.values,
            flagged={**found.flagged, **({"truncated": frozenset(truncated)} if truncated else {})},
            training={**log.to_json(), "rows_per_label": self.rows_per_label},
        )

    def _training_rows(self, data: EvaluationData, seed: int) -> tuple[Rows, Rows]:
        train, held_out = super()._training_rows(data, seed)
        return _pairs(train, data), _pairs(held_out, data)

    def _classes(self, data: EvaluationData) -> tuple[str, ...]:
        return WRONG, RIGHT

    def _texts(self, rows: Rows, data: EvaluationData) -> tuple[list[str], list[str]]:
        return rows.inputs["before"], rows.inputs["after"]


def _pairs(rows: Rows, data: EvaluationData) -> Rows:
    """A row for each candidate: `before`, `after` and whether it is right."""
    uids, before, after, gold = [], [], [], []
    labels = data.task.labels or ()
    for uid, label, options in zip(rows.uids, rows.gold, filled_rows(data, rows), strict=True):
        for place, option in enumerate(options):
            uids.append(f"{uid}#{place}")
            before.append(option.prefix)
            after.append(option.after)
            gold.append(RIGHT if labels[place] == label else WRONG)
    return Rows(uids, {"before": before, "after": after}, np.array(gold, dtype=object))
