"""A causal language model that was not trained on the task, asked by a prompt."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UsageError
from ...progress import Progress
from ...prompts import ANSWER_PROMPTS
from .base import Baseline, EvaluationData, Predictions

if TYPE_CHECKING:
    from ..models import CausalModel


@dataclass(frozen=True)
class ZeroShotLanguageModel(Baseline):
    """Answers with the label whose text is the most likely continuation of the prompt.

    Log-likelihoods are summed over the answer's tokens, with a start token before the prompt; there is no
    calibration against an empty input and no normalisation by length, so a model's preference for some
    answer shows in the score. Equal likelihoods go to the label that is first in the task's order. Rows
    that do not fit the model's positions are left out and counted.
    """

    name = "lm_zero_shot"
    tasks = tuple(ANSWER_PROMPTS)
    needs_model = "causal_lm"
    default = False

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        prompt = ANSWER_PROMPTS[data.task.name]
        return {**super().settings(data), **asdict(prompt), "model": _model(data).identity()}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises UsageError if no row fits the model."""
        assert data.task.labels is not None
        prompt = ANSWER_PROMPTS[data.task.name]
        answers = [prompt.answers[label] for label in data.task.labels]
        prompts = prompt.render(data.evaluation.inputs)
        scores = _model(data).choice_log_likelihoods(
            prompts, answers, start="always", progress=_per_row(progress, len(answers))
        )
        fits = np.flatnonzero(~np.isnan(scores).any(axis=1))
        if not len(fits):
            raise UsageError(
                f"no row of {data.config}/{data.split} fits the model; take one with more positions"
            )
        overlength = len(scores) - len(fits)
        return Predictions(
            [data.evaluation.uids[row] for row in fits],
            [data.task.labels[best] for best in scores[fits].argmax(axis=1)],
            {"overlength": overlength} if overlength else {},
        )


def _per_row(progress: Progress, answers: int) -> Progress:
    """Progress by pairs of row and answer, told as rows."""
    pairs = 0

    def report(done: int) -> None:
        nonlocal pairs
        before, pairs = pairs // answers, pairs + done
        progress(pairs // answers - before)

    return report


def _model(data: EvaluationData) -> CausalModel:
    from ..models import MaskedLanguageModel, SequenceClassifier, SequenceToSequenceModel, TrainableClassifier

    others = SequenceClassifier | SequenceToSequenceModel | TrainableClassifier | MaskedLanguageModel
    if data.model is None or isinstance(data.model, others):
        raise UsageError("lm_zero_shot needs a causal language model; name one with --model (Python: model=)")
    return data.model
