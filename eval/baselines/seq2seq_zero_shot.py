"""A text-to-text model that was not trained on the task, asked by a prompt."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UsageError
from ...progress import Progress
from ...prompts import ANSWER_PROMPTS
from .base import Baseline, EvaluationData, Predictions
from .classifier import warn_of_truncation

if TYPE_CHECKING:
    from ..models import SequenceToSequenceModel


@dataclass(frozen=True)
class ZeroShotSequenceToSequence(Baseline):
    """Answers with the label whose text is the most likely output for the prompt.

    Log-likelihoods are summed over the answer's tokens and its end token, without calibration or
    normalisation by length. Equal likelihoods go to the label that is first in the task's order. Inputs of
    more than `max_input_length` tokens are truncated at their end, answered and flagged as `truncated`.
    """

    name = "seq2seq_zero_shot"
    tasks = tuple(ANSWER_PROMPTS)
    needs_model = "seq2seq"
    default = False

    max_input_length: int = 512

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        prompt = ANSWER_PROMPTS[data.task.name]
        return {**super().settings(data), **asdict(prompt), "model": _model(data).identity()}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Warns of inputs that were truncated."""
        from ..models import answer_log_likelihoods

        assert data.task.labels is not None
        prompt, model = ANSWER_PROMPTS[data.task.name], _model(data)
        # An answer stands behind a blank where it continues a prompt; here it is a text of its own.
        answers = [prompt.answers[label].strip() for label in data.task.labels]
        likelihoods, cut = answer_log_likelihoods(
            model,
            prompt.render(data.evaluation.inputs),
            answers,
            max_input_length=self.max_input_length,
            progress=progress,
        )
        uids = data.evaluation.uids
        truncated = frozenset(uids[row] for row in np.flatnonzero(cut).tolist())
        if truncated:
            warn_of_truncation(data, len(truncated), self.max_input_length, model.name)
        return Predictions(
            uids,
            [data.task.labels[best] for best in likelihoods.argmax(axis=1).tolist()],
            flagged={"truncated": truncated} if truncated else {},
        )


def _model(data: EvaluationData) -> SequenceToSequenceModel:
    from ..models import SequenceToSequenceModel

    if not isinstance(data.model, SequenceToSequenceModel):
        raise UsageError(
            "seq2seq_zero_shot needs a sequence-to-sequence model; name one with --model (Python: model=)"
        )
    return data.model
