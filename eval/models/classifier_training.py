"""Fine-tuning of sequence classifiers: a fresh head on any encoder or causal language model, one recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.errors import UsageError, show
from benchwright.progress import Progress, silent

from ._encoding import EncodedPairs
from ._recipes import changed, is_number, require_choice, require_counts, require_learning
from .classifier import SequenceClassifier

if TYPE_CHECKING:
    import torch

    from ._training import LoopSettings, Measures, WeightGroup

SCHEDULES = ("linear", "constant")
CHOOSE_BY = ("loss", "accuracy")
PRECISIONS = ("float32", "mixed")

Pairs = tuple[Sequence[str], Sequence[str], np.ndarray]
"""First texts, second texts, and the index of each pair's label among the model's `label_names`."""


EncodedRows = tuple[EncodedPairs, np.ndarray]
"""Encoded pairs and their labels."""


@dataclass(frozen=True)
class ClassifierRecipe:
    """How a classifier is fine-tuned (AdamW, betas .9 and .999).

    epochs: passes over the training rows; need not be whole.
    max_steps: optimiser steps, in place of `epochs`.
    batch_size: pairs a step.
    warmup_share: of the steps, in which the rate rises linearly from 0.
    schedule: `linear`, falling to 0 at the last step, or `constant`.
    layer_decay: the rate of each layer is that of the next one times this, the head's is `learning_rate`
        (`layer_rates`; ELECTRA's settings in 2210.06799). None: one rate.
    weight_decay: of matrices; biases and the weights of normalisation have none.
    max_gradient_norm: gradients are scaled down to this norm.
    max_length: longer pairs lose tokens from the end of the longer text (`longest_first`), and are counted.
    eval_every: steps between evaluations on the validation rows; None: once an epoch.
    patience: evaluations without improvement before stopping.
    choose_by: the step that is kept is the first of the lowest validation `loss` or the highest `accuracy`.
    validation_share: of the rows, drawn by the seed, that are held out where no validation rows are given.
        0: none are, all steps are run and the last weights are kept.
    max_validation_rows: at most so many of the validation rows (the first) are evaluated.
    length_bucketing: batches hold pairs of like length, which spares padding; their order is drawn.
    precision: `float32`, or `mixed`: bfloat16 (float16 on GPUs without it) where autocast allows it.
        Slower than float32 on CPUs without instructions for bfloat16.

    For small machines:

    micro_batch_size: pairs in memory at once (gradients are accumulated; None: `batch_size`).
    trainable_layers: only the last n layers, what follows them and the head learn (None: everything).
    threads: of the CPU while training; the last bits of the weights depend on them.

    Raises UsageError for values out of range.
    """

    epochs: float = 3.0
    max_steps: int | None = None
    learning_rate: float = 2e-5
    batch_size: int = 32
    micro_batch_size: int | None = None
    warmup_share: float = 0.1
    schedule: str = "linear"
    layer_decay: float | None = None
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    max_length: int = 128
    eval_every: int | None = None
    patience: int = 10
    choose_by: str = "loss"
    validation_share: float = 0.1
    max_validation_rows: int | None = None
    length_bucketing: bool = True
    precision: str = "float32"
    trainable_layers: int | None = None
    threads: int = 2

    def __post_init__(self) -> None:
        optional = ("max_steps", "micro_batch_size", "eval_every", "max_validation_rows", "trainable_layers")
        given = [name for name in optional if getattr(self, name) is not None]
        require_counts(self, "batch_size", "max_length", "patience", "threads", *given)
        require_learning(self)
        if not is_number(self.epochs) or not self.epochs:
            raise UsageError(f"epochs must be a number above 0, got {show(self.epochs)}")
        for name in ("warmup_share", "validation_share"):
            share = getattr(self, name)
            if not is_number(share) or share >= 1:
                raise UsageError(f"{name} must be a number from 0 and below 1, got {show(share)}")
        decay = self.layer_decay
        if decay is not None and not (is_number(decay) and 0 < decay <= 1):
            raise UsageError(f"layer_decay must be a number above 0 and at most 1, got {show(decay)}")
        require_choice(self, "schedule", SCHEDULES)
        require_choice(self, "choose_by", CHOOSE_BY)
        require_choice(self, "precision", PRECISIONS)
        if not isinstance(self.length_bucketing, bool):
            raise UsageError(f"length_bucketing must be true or false, got {show(self.length_bucketing)}")

    def changed(self, changes: Mapping[str, Any]) -> ClassifierRecipe:
        """The recipe with other values for some fields. Raises UsageError for one that is unknown or bad."""
        return changed(self, changes)

    def to_json(self) -> dict[str, Any]:
        """All settings, for the provenance of a score or a result."""
        return asdict(self)

    def steps(self, rows: int) -> int:
        """The optimiser steps of `rows` training rows, if nothing stops the run before."""
        return self.max_steps or math.ceil(self.epochs * self._epoch_steps(rows))

    def loop_settings(self, rows: int) -> LoopSettings:
        """What the training loop reads, for so many training rows."""
        from ._training import LoopSettings

        steps = self.steps(rows)
        return LoopSettings(
            max_steps=steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            max_gradient_norm=self.max_gradient_norm,
            batch_size=self.batch_size,
            micro_batch_size=self.micro_batch_size or self.batch_size,
            eval_every=self.eval_every or self._epoch_steps(rows),
            patience=self.patience,
            threads=self.threads,
            schedule=self.schedule,
            warmup_steps=math.ceil(self.warmup_share * steps),
            precision=self.precision,
            fused=True,
        )

    def _epoch_steps(self, rows: int) -> int:
        return math.ceil(rows / self.batch_size)


@dataclass(frozen=True)
class ClassifierLog:
    """What happened: validation loss (nats a pair) and accuracy at each evaluated step, which step was kept.

    Without validation rows nothing was evaluated and the last step was kept.
    """

    steps: tuple[int, ...]
    validation_losses: tuple[float, ...]
    validation_accuracies: tuple[float, ...]
    chosen_by: str
    best_step: int
    last_step: int
    training_rows: int
    validation_rows: int
    truncated_rows: int

    def to_json(self) -> dict[str, Any]:
        """JSON-able form, for the provenance of a score or a result; a loss that is not finite is None."""
        losses = [loss if math.isfinite(loss) else None for loss in self.validation_losses]
        return {**asdict(self), "validation_losses": losses}


def load_untrained_classifier(
    model: str,
    labels: Sequence[str],
    *,
    revision: str | None = None,
    device: str = "auto",
    seed: int = 0,
) -> SequenceClassifier:
    """A classifier to be fine-tuned: the body of any encoder or causal language model, and a fresh head.

    `model` is a Hub id (at `revision`), a local folder, or the name of a model that comes in packages
    (`minilm-l6`, `minilm-l3`, `embedded`). `labels` name the outputs in their order. A head that the model
    has is dropped; the new one is drawn from `seed`: matrices normal with the configuration's
    `initializer_range`, biases 0. It takes in the pooler of BERT where the model has none, as sentence
    encoders do. Pairs are encoded by the model's tokenizer; where that puts nothing between two texts, as
    with causal models, a start token goes before the first text and an end token between the two.

    Raises PrerequisiteError where torch or the model in packages is missing, UsageError where there is no
    such model or none that can have such a head, and for fewer than two labels or equal ones.
    """
    from ._fresh_head import load_with_fresh_head

    names = tuple(labels)
    if len(set(names)) != len(names) or len(names) < 2:
        raise UsageError(f"a classifier needs two or more different labels, got {show(list(names))}")
    return load_with_fresh_head(model, names, revision, device, seed)


def fine_tune_classifier(
    model: SequenceClassifier,
    first: Sequence[str],
    second: Sequence[str],
    labels: np.ndarray,
    recipe: ClassifierRecipe,
    seed: int,
    *,
    validation: Pairs | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
    progress: Progress = silent,
) -> tuple[SequenceClassifier, ClassifierLog]:
    """Fine-tune a copy of `model` on pairs of texts; the model itself stays as it is.

    `labels` (int, shape (pairs,)) index the model's `label_names`; texts may be empty. The copy has the
    weights of the best step on the `validation` pairs (`recipe.choose_by`), which else are held out from the
    pairs (`recipe.validation_share`). `seed` fixes order and dropout.

    With the folder `checkpoints`, the whole state is saved there at most every `checkpoint_seconds` and at
    the end; the same call on the same model takes it up, and gives the same bits as a run that was never
    interrupted. Whoever keeps the model removes the folder. `progress` counts steps, `recipe.steps` of the
    training rows at most.

    Raises UsageError where rows or labels cannot be trained on and where training diverges.
    """
    from ._checkpoints import checkpoints_in
    from ._training import TrainingRows, train

    given = first, second, _checked(labels, len(first), model, "labels")
    training, held = (
        _encode(model, part, recipe) for part in _divided(given, validation, recipe, seed, model)
    )
    assert training is not None
    pairs, answers = training
    tuned = model.copy()
    groups = _weight_groups(tuned.module, recipe)
    encoded = [training] if held is None else [training, held]
    log = train(
        tuned.module,
        TrainingRows(
            _loss_sum(tuned, pairs, answers),
            np.ones(len(pairs), dtype=np.int64),
            pairs.lengths if recipe.length_bucketing else None,
        ),
        None if held is None else _evaluation(tuned, *held, recipe),
        recipe.loop_settings(len(pairs)),
        seed,
        progress,
        groups=groups,
        checkpoints=None
        if checkpoints is None
        else checkpoints_in(
            checkpoints,
            checkpoint_seconds,
            model=model.identity(),
            environment=model.environment(),
            recipe=recipe.to_json(),
            seed=seed,
            rows=[[rows.digest(), classes.tolist()] for rows, classes in encoded],
        ),
    )
    tuned.module.requires_grad_(False)
    return tuned, ClassifierLog(
        steps=log.steps,
        validation_losses=tuple(found[1] for found in log.measures),
        validation_accuracies=tuple(found[2] for found in log.measures),
        chosen_by=recipe.choose_by,
        best_step=log.best_step,
        last_step=log.last_step,
        training_rows=len(pairs),
        validation_rows=0 if held is None else len(held[0]),
        truncated_rows=sum(int(rows.truncated.sum()) for rows, _ in encoded),
    )


def _checked(labels: np.ndarray, pairs: int, model: SequenceClassifier, what: str) -> np.ndarray:
    """The labels as int64. Raises UsageError for what does not index the model's labels."""
    values = np.asarray(labels)
    if values.shape != (pairs,) or (pairs and values.dtype.kind not in "iu"):
        raise UsageError(
            f"{what} must be {pairs} whole numbers, one a pair, got {values.dtype} of shape {values.shape}"
        )
    outside = np.flatnonzero((values < 0) | (values >= len(model.label_names)))
    if len(outside):
        row = int(outside[0])
        raise UsageError(
            f"{what}, row {row}: expected an index of {', '.join(model.label_names)}, got {values[row]}"
        )
    return values.astype(np.int64)


def _divided(
    given: Pairs, validation: Pairs | None, recipe: ClassifierRecipe, seed: int, model: SequenceClassifier
) -> tuple[Pairs, Pairs | None]:
    """The training and the validation pairs. Raises UsageError where either would be empty."""
    training, held = given, validation
    if held is not None:
        held = held[0], held[1], _checked(held[2], len(held[0]), model, "validation labels")
    elif recipe.validation_share:
        order = np.random.default_rng(seed).permutation(len(given[0]))
        count = max(1, int(len(order) * recipe.validation_share))
        held, training = _take(given, np.sort(order[:count])), _take(given, np.sort(order[count:]))
    if held is not None:
        held = _take(held, np.arange(len(held[0]))[: recipe.max_validation_rows])
    if not len(training[0]) or (held is not None and not len(held[0])):
        kept = "no" if held is None else len(held[0])
        raise UsageError(
            f"fine-tuning needs a pair to train on and one to choose the best step by, got "
            f"{len(training[0])} and {kept}; give more pairs, or validation_share=0 for no choice"
        )
    return training, held


def _encode(model: SequenceClassifier, pairs: Pairs | None, recipe: ClassifierRecipe) -> EncodedRows | None:
    if pairs is None:
        return None
    first, second, labels = pairs
    return model.encode(first, second, max_length=recipe.max_length), labels


def _take(pairs: Pairs, rows: np.ndarray) -> Pairs:
    first, second, labels = pairs
    return [first[row] for row in rows], [second[row] for row in rows], labels[rows]


def _weight_groups(module: Any, recipe: ClassifierRecipe) -> list[WeightGroup]:
    """Trainable weights of one rate and one decay each; what does not learn is frozen here."""
    from ._layers import freeze_all_but_last, layer_rates
    from ._training import WeightGroup

    freeze_all_but_last(module, recipe.trainable_layers)
    body = {id(weights) for weights in module.base_model.parameters()}
    rates = {} if recipe.layer_decay is None else layer_rates(module, recipe.layer_decay)
    groups: dict[tuple[float, float], WeightGroup] = {}
    for name, weights in module.named_parameters():
        if id(weights) not in body:
            weights.requires_grad_(True)
        if weights.requires_grad:
            key = rates.get(name, 1.0), recipe.weight_decay if weights.ndim > 1 else 0.0
            groups.setdefault(key, WeightGroup([], *key)).weights.append(weights)
    return list(groups.values())


def _loss_sum(
    model: SequenceClassifier, pairs: EncodedPairs, labels: np.ndarray
) -> Callable[[np.ndarray], torch.Tensor]:
    """Summed cross-entropy of the pairs at some rows."""
    import torch

    answers = torch.from_numpy(labels).to(model.device)

    def loss_sum(rows: np.ndarray) -> torch.Tensor:
        logits = model.forward(pairs, rows).float()
        return torch.nn.functional.cross_entropy(logits, answers[rows], reduction="sum")

    return loss_sum


def _evaluation(
    model: SequenceClassifier, pairs: EncodedPairs, labels: np.ndarray, recipe: ClassifierRecipe
) -> Callable[[], Measures]:
    """A function that finds, with the weights of the moment: what chooses, mean loss (nats), accuracy."""

    def measures() -> Measures:
        logits = model.logits(pairs).astype(np.float64)
        highest = logits.max(axis=1, keepdims=True)
        totals = highest[:, 0] + np.log(np.exp(logits - highest).sum(axis=1))
        loss = float((totals - logits[np.arange(len(labels)), labels]).mean())
        accuracy = float((logits.argmax(axis=1) == labels).mean())
        chooses = 1 - accuracy if recipe.choose_by == "accuracy" and math.isfinite(loss) else loss
        return chooses, loss, accuracy

    return measures
