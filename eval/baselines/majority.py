"""The most frequent answer of the train split."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...progress import Progress
from .base import Baseline, EvaluationData, Predictions


@dataclass(frozen=True)
class Majority(Baseline):
    """Answers every row with the most frequent label, or text, of the train split.

    Of equally frequent answers the one that is first in the task's order of labels, or first by code
    points for text, is taken.
    """

    name = "majority"
    needs_train = True

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        counts = Counter(data.train.gold.tolist())
        candidates = data.task.labels if data.task.labels is not None else sorted(counts)
        answer = max(candidates, key=lambda candidate: counts[candidate])
        progress(len(data.evaluation))
        return Predictions(data.evaluation.uids, [answer] * len(data.evaluation))
