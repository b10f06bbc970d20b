"""A classifier that is fine-tuned on the train rows of a config, with the whole input or a part of it.

With `rows_per_label` it is an inoculation (Liu et al. 2019; Curriculum, 2204.06283, section 5): a model that
already knows natural language inference sees a few rows of the new phenomenon, and one looks at how soon it
learns them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import UsageError
from ...hashing import canonical_json, sha256_text
from ...progress import Progress
from ..models import ClassifierRecipe
from .base import Baseline, EvaluationData, Predictions, Rows
from .classifier import warn_of_truncation
from .linear import PARTIAL_INPUT

if TYPE_CHECKING:
    from ..models import ClassifierLog, SequenceClassifier, TrainableClassifier


MOST_HELD_OUT = 200
"""Most train rows that choose the checkpoint of an inoculation, where the recipe does not say."""


@dataclass(frozen=True)
class FineTuned(Baseline):
    """Answers with the label of the largest logit of a model that was fine-tuned on the train rows.

    The model may be any encoder or causal language model, which gets a new head drawn from the seed, or a
    classifier whose outputs are the task's labels by name, which keeps its own. The best checkpoint is chosen
    on the validation split, or, where that is the split to answer or there is none, on rows of the train
    split that are held out, drawn by the seed: never on the rows that are judged.

    `rows_per_label` trains on that many rows of every label, drawn by the seed so that a smaller number is a
    part of a larger one; None on all of them. Of the rows that are left, MOST_HELD_OUT (or the recipe's
    `max_validation_rows`) choose the checkpoint, as many of every label; where some label has none left, the
    recipe's `validation_share` of the drawn rows does. A recipe with `validation_share` 0 keeps the last
    weights.
    """

    version = 2
    needs_train = True
    reads_validation = True
    needs_model = "trainable_classifier"
    default = False
    whole_input: ClassVar[bool]

    recipe: ClassifierRecipe = field(default_factory=ClassifierRecipe)
    rows_per_label: int | None = None

    def with_recipe(self, changes: Mapping[str, Any]) -> FineTuned:
        """The same with other values for some fields of its recipe. Raises UsageError for unknown ones."""
        return replace(self, recipe=self.recipe.changed(changes))

    def _not_applicable(self, data: EvaluationData) -> str | None:
        if data.task.labels is None or len(data.task.inputs) != 2:
            return f"it needs a task with labels and two input texts, which {data.task.name} is not"
        if not self.whole_input and data.task.name not in PARTIAL_INPUT:
            return f"no partial input is known for {data.task.name}"
        counts = Counter(data.train.gold.tolist())
        if len(counts) == 1:
            return f"all train rows have the label {next(iter(counts))!r}"
        for label in _labels(data):
            if self.rows_per_label is not None and counts[label] < self.rows_per_label:
                return f"it has {counts[label]} train rows of label {label!r}, not {self.rows_per_label}"
        return None

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        columns = list(data.task.inputs) if self.whole_input else [PARTIAL_INPUT[data.task.name]]
        recipe = self.recipe.to_json()
        return {
            **super().settings(data),
            "recipe": recipe,
            "columns": columns,
            "model": _model(data).identity(),
            "head": "own" if _model(data).keeps_head(self._classes(data)) else "new",
        }

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Warns of rows that were truncated. Raises UsageError where nothing can be trained."""
        labels = _labels(data)
        model, log = self._trained(data, seed)
        first, second = self._texts(data.evaluation, data)
        answers = model.classify(first, second, max_length=self.recipe.max_length, progress=progress)
        uids = data.evaluation.uids
        truncated = [uid for uid, cut in zip(uids, answers.truncated, strict=True) if cut]
        if truncated:
            longest = min(self.recipe.max_length, model.max_positions)
            warn_of_truncation(data, len(truncated), longest, model.name)
        return Predictions(
            uids,
            [labels[label] for label in answers.logits.argmax(axis=1).tolist()],
            flagged={"truncated": frozenset(truncated)} if truncated else {},
            training={**log.to_json(), "rows_per_label": self.rows_per_label},
        )

    def _trained(self, data: EvaluationData, seed: int) -> tuple[SequenceClassifier, ClassifierLog]:
        """The fine-tuned model; the one at hand if the same rows were trained on just now."""
        train, held_out = self._training_rows(data, seed)
        key = sha256_text(
            canonical_json([self.settings(data), seed, train.uids, held_out.uids, data.task.name])
        )
        trained = data.trained.get(key)
        if trained is None:
            from ..models import fine_tune_classifier

            model = _model(data).for_labels(self._classes(data), seed)
            codes = self._codes(held_out, data)
            validation = (*self._texts(held_out, data), codes) if len(held_out) else None
            trained = fine_tune_classifier(
                model,
                *self._texts(train, data),
                self._codes(train, data),
                self.recipe,
                seed,
                validation=validation,
                checkpoints=data.checkpoints,
            )
            data.trained.keep(key, trained)
        return trained

    def _training_rows(self, data: EvaluationData, seed: int) -> tuple[Rows, Rows]:
        """Rows to train on and rows that choose the checkpoint, both in an order that the seed decides.

        The second are none where the recipe has no share for them.
        """
        order = data.train.shuffled(seed)
        chosen = order if self.rows_per_label is None else self._per_label(data, order, self.rows_per_label)
        train = data.train.take(chosen)
        if not self.recipe.validation_share:
            return train, train.take(chosen[:0])
        if data.split != "validation" and data.load_validation is not None:
            validation = data.load_validation()
            return train, validation.take(validation.shuffled(seed))
        others = order[~np.isin(order, chosen)]
        most = self.recipe.max_validation_rows or MOST_HELD_OUT
        held = data.train.take(self._per_label(data, others, max(1, most // len(_labels(data)))))
        # Rows of some labels alone would choose the checkpoint that answers with these.
        if set(held.gold.tolist()) == set(train.gold.tolist()):
            return train, held
        count = max(1, int(len(train) * self.recipe.validation_share))
        positions = np.arange(len(train))
        return train.take(positions[count:]), train.take(positions[:count])

    def _per_label(self, data: EvaluationData, order: np.ndarray, most: int) -> np.ndarray:
        """The first `most` rows of each label in `order`, or all of a label that has fewer."""
        gold = data.train.gold[order]
        chosen = [np.flatnonzero(gold == label)[:most] for label in _labels(data)]
        return order[np.sort(np.concatenate(chosen))]

    def _classes(self, data: EvaluationData) -> tuple[str, ...]:
        """What the classifier tells apart."""
        return _labels(data)

    def _codes(self, rows: Rows, data: EvaluationData) -> np.ndarray:
        """Index of every row's class (int64)."""
        number = {label: index for index, label in enumerate(self._classes(data))}
        return np.array([number[label] for label in rows.gold], dtype=np.int64)

    def _texts(self, rows: Rows, data: EvaluationData) -> tuple[list[str], list[str]]:
        """Both texts of every row, in the order of the task's inputs; an unseen one is empty."""
        first, second = data.task.inputs
        if self.whole_input:
            return rows.inputs[first], rows.inputs[second]
        seen, empty = PARTIAL_INPUT[data.task.name], [""] * len(rows)
        return (rows.inputs[first], empty) if seen == first else (empty, rows.inputs[second])


@dataclass(frozen=True)
class FineTunedFullInput(FineTuned):
    """Reads both texts. With `rows_per_label` it is the inoculation of Curriculum."""

    name = "fine_tuned_full_input"
    whole_input = True


@dataclass(frozen=True)
class FineTunedPartialInput(FineTuned):
    """Reads only the hypothesis (NLI) or the question (boolean questions); the other text is empty.

    What it scores above the majority baseline is given away by the partial input (Poliak et al. 2018).
    """

    name = "fine_tuned_partial_input"
    whole_input = False


def _labels(data: EvaluationData) -> tuple[str, ...]:
    assert data.task.labels is not None
    return data.task.labels


def _model(data: EvaluationData) -> TrainableClassifier:
    from ..models import TrainableClassifier

    if not isinstance(data.model, TrainableClassifier):
        raise UsageError("fine-tuning needs a model to start from; name one with --model (Python: model=)")
    return data.model
