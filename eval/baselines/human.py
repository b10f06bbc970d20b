"""Agreement of single annotators with the gold label."""

from __future__ import annotations

from dataclasses import dataclass

from ...progress import Progress
from .base import Baseline, EvaluationData, Predictions


@dataclass(frozen=True)
class Human(Baseline):
    """The labels of five annotators, on the rows that have five (about 10 % of SNLI).

    The accuracy is the share of single annotators' labels that equal the gold label (2210.06799, human
    accuracy). The gold label is the majority of the same five labels, so this is an upper estimate of a
    new annotator's accuracy.
    """

    name = "human"
    tasks = ("nli",)
    needs_columns = ("annotator_labels",)
    metrics = ("accuracy",)

    annotators: int = 5

    def _not_applicable(self, data: EvaluationData) -> str | None:
        if not self._answered(data):
            return f"no row of {data.split} has {self.annotators} annotator labels"
        return None

    def _answered(self, data: EvaluationData) -> list[int]:
        columns = data.evaluation.extra["annotator_labels"]
        return [
            row for row, labels in enumerate(columns) if labels is not None and len(labels) == self.annotators
        ]

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        rows, labels = self._answered(data), data.evaluation.extra["annotator_labels"]
        progress(len(data.evaluation))
        without = len(data.evaluation) - len(rows)
        return Predictions(
            [data.evaluation.uids[row] for row in rows],
            [tuple(labels[row]) for row in rows],
            {f"without {self.annotators} annotator labels": without} if without else {},
        )
