"""A classifier of text pairs that was fine-tuned elsewhere, its labels matched by name."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import BenchwrightWarning, UsageError
from ...progress import Progress
from ..models import align_labels
from .base import Baseline, EvaluationData, Predictions

if TYPE_CHECKING:
    from ..models import SequenceClassifier


@dataclass(frozen=True)
class Classifier(Baseline):
    """Answers with the label of the largest logit; of equal ones, with the label first in the task's order.

    The two texts go in as a pair, in the order of the task's inputs. Pairs that are longer than the model
    takes are truncated as in its training (see `SequenceClassifier.classify`), answered, and flagged as
    `truncated`: they stay in the denominator, as in the published accuracies of such models.
    """

    name = "classifier"
    needs_model = "classifier"
    default = False

    def _not_applicable(self, data: EvaluationData) -> str | None:
        if data.task.labels is None or len(data.task.inputs) != 2:
            return f"it needs a task with labels and two input texts, which {data.task.name} is not"
        return None

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        """Raises UsageError where the labels of model and task cannot be matched by name."""
        model = _model(data)
        labels = dict(zip(model.label_names, _aligned(data), strict=True))
        return {
            **super().settings(data),
            "columns": list(data.task.inputs),
            "labels": labels,
            "model": model.identity(),
        }

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Warns if pairs were truncated. Raises UsageError where labels cannot be matched by name."""
        task_labels = data.task.labels
        assert task_labels is not None
        model, labels, rows = _model(data), _aligned(data), data.evaluation
        first, second = (rows.inputs[name] for name in data.task.inputs)
        answers = model.classify(first, second, progress=progress)
        # In the task's order, so that a model with permuted outputs answers alike where logits are equal.
        order = sorted(range(len(labels)), key=lambda output: task_labels.index(labels[output]))
        best = answers.logits[:, order].argmax(axis=1)
        truncated = [uid for uid, cut in zip(rows.uids, answers.truncated, strict=True) if cut]
        if truncated:
            warn_of_truncation(data, len(truncated), model.max_positions, model.name)
        return Predictions(
            rows.uids,
            [labels[order[position]] for position in best],
            flagged={"truncated": frozenset(truncated)} if truncated else {},
        )


def warn_of_truncation(data: EvaluationData, truncated: int, longest: int, model: str) -> None:
    """Say how many rows were longer than the `longest` tokens that `model` read."""
    message = (
        f"{truncated} of the {len(data.evaluation)} rows of {data.config}/{data.split} are longer than the "
        f"{longest} tokens of {model} and were truncated"
    )
    warnings.warn(message, BenchwrightWarning, stacklevel=3)


def _aligned(data: EvaluationData) -> tuple[str, ...]:
    assert data.task.labels is not None
    return align_labels(_model(data).label_names, data.task.labels)


def _model(data: EvaluationData) -> SequenceClassifier:
    from ..models import SequenceClassifier

    if not isinstance(data.model, SequenceClassifier):
        raise UsageError("classifier needs a sequence classifier; name one with --model (Python: model=)")
    return data.model
