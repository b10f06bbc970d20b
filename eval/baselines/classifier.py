"""A classifier of text pairs that was fine-tuned elsewhere, its labels matched by name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import BenchwrightWarning, UsageError
from ...progress import Progress
from .base import Baseline, EvaluationData, Predictions

if TYPE_CHECKING:
    from ..models import SequenceClassifier

NOT_ENTAILED = "not entailment"

_SYNONYMS = {
    "entailment": ("entailed", "entail", "entails"),
    "neutral": (),
    "contradiction": ("contradictory", "contradicted", "contradict", "contradicts"),
    NOT_ENTAILED: ("not entailed", "non entailment", "non entailed"),
    "yes": ("true",),
    "no": ("false",),
}
_MEANING = {word: meaning for meaning, words in _SYNONYMS.items() for word in (meaning, *words)}
_SEPARATOR = re.compile(r"[\s_-]+")


def align_labels(model_labels: Sequence[str], task_labels: Sequence[str]) -> tuple[str, ...]:
    """The task's label for each output of a model, by name.

    Case, hyphens and underscores do not count, and the usual words for one meaning are known: `ENTAILED`
    is `entailment`, `True` is `yes`. Where the task has one label for everything that is not entailed,
    neutral and contradiction are that label (Curriculum's zero-shot test, 2204.06283: the arg max of three
    outputs, then entailment against the rest).

    Raises UsageError for a name that is no label of the task, for two outputs of one meaning, and for a
    label that no output stands for.

    >>> align_labels(["CONTRADICTION", "neutral", "Entailment"], ["entailed", "not-entailed"])
    ('not-entailed', 'not-entailed', 'entailed')
    """
    label_of = {_meaning(label): label for label in task_labels}
    fix = "; name the outputs in their order by the task's labels with --label-names (Python: label_names=)"
    aligned: list[str] = []
    meanings: list[str] = []
    for name in model_labels:
        meaning = _meaning(name)
        if meaning in meanings:
            raise UsageError(f"the model has two outputs for {meaning}: {', '.join(model_labels)}{fix}")
        meanings.append(meaning)
        if meaning not in label_of and meaning in ("neutral", "contradiction"):
            meaning = NOT_ENTAILED
        if meaning not in label_of:
            raise UsageError(f"the model's label {name!r} is none of {', '.join(task_labels)}{fix}")
        aligned.append(label_of[meaning])
    missing = [label for label in task_labels if label not in aligned]
    if missing:
        raise UsageError(f"the model has no output for {missing[0]!r}, only {', '.join(model_labels)}")
    return tuple(aligned)


def _meaning(name: str) -> str:
    words = _SEPARATOR.sub(" ", name).strip().casefold()
    return _MEANING.get(words, words)


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
