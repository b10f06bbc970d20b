"""A candidate drawn at random: what guessing scores where there is no train split to count labels in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...hashing import canonical_json, sha256_text
from ...progress import Progress
from ._pronouns import TASK
from .base import Baseline, EvaluationData, Predictions


@dataclass(frozen=True)
class RandomOption(Baseline):
    """Answers every row with one of its candidates, each as likely as the others.

    A row with one candidate, which is right or wrong, is answered with either label. Drawn by seed and uid,
    so that a row has the same answer in every config and order of rows.
    """

    name = "random_option"
    tasks = (TASK,)

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        labels = data.task.labels or ()
        rows = data.evaluation
        answers = [
            labels[_drawn(uid, seed, options)]
            for uid, options in zip(rows.uids, rows.inputs["options"], strict=True)
        ]
        progress(len(rows))
        return Predictions(rows.uids, answers)


def _drawn(uid: str, seed: int, options: Sequence[str]) -> int:
    digest = sha256_text(canonical_json([seed, uid])).removeprefix("sha256:")
    return int(np.random.default_rng(int(digest, 16)).integers(max(2, len(options))))
