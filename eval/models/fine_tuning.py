"""Fine-tuning of causal language models, for k-fold scores (Likelihood splits, section 3 and Table 7)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.errors import UsageError, show
from benchwright.progress import Progress, silent

from ._pairs import TokenPair
from ._recipes import is_number, require_counts, require_learning
from .causal import CausalModel, apply_head

if TYPE_CHECKING:
    import torch

    from ._training import LoopSettings

_IGNORED = -100


@dataclass(frozen=True)
class TrainingSequence:
    """Token ids of one training text; the loss covers the tokens from index `scored_from` on.

    For a pair, `scored_from` is the length of its context; for a single text it is 1: the first token has no
    predecessor. Raises ValueError for a smaller one, or where no token is left.
    """

    ids: tuple[int, ...]
    scored_from: int

    def __post_init__(self) -> None:
        if not 1 <= self.scored_from < len(self.ids):
            raise ValueError(f"scored_from must be between 1 and {len(self.ids) - 1}, got {self.scored_from}")

    @classmethod
    def of(cls, pair: TokenPair) -> TrainingSequence:
        """A pair with the loss on its continuation."""
        return cls((*pair.context, *pair.continuation), len(pair.context))


@dataclass(frozen=True)
class FineTuneRecipe:
    """How a fold model is trained. The defaults are the published ones (AdamW at a constant rate).

    max_steps: optimiser steps at most; published 2,000 (Spider), 15,000 (SNLI), 3,000 (BoolQ).
    batch_size: sequences a step.
    eval_every, patience: steps between evaluations; evaluations without improvement before stopping.
    validation_share: the first rows of the (shuffled) sequences that are kept for validation.
    max_gradient_norm: gradients are scaled down to this norm.

    For small machines, each a departure from the published recipe that stands in the score's provenance:

    micro_batch_size: sequences in memory at once (gradients are accumulated; None: `batch_size`).
    trainable_layers: only the last n layers and the final norm learn (None: everything).
    max_length: longer sequences are left out of training and counted (None: the model's positions).
    max_validation_rows: at most so many of the validation rows are evaluated.
    threads: of the CPU while training; the last bits of the weights depend on them, so that they belong to
        the recipe and not to the machine.
    """

    max_steps: int
    learning_rate: float = 2e-5
    batch_size: int = 32
    eval_every: int = 64
    patience: int = 10
    validation_share: float = 0.1
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    micro_batch_size: int | None = None
    trainable_layers: int | None = None
    max_length: int | None = None
    max_validation_rows: int | None = None
    threads: int = 2

    def __post_init__(self) -> None:
        optional = ("micro_batch_size", "trainable_layers", "max_length", "max_validation_rows")
        given = [name for name in optional if getattr(self, name) is not None]
        require_counts(self, "max_steps", "batch_size", "eval_every", "patience", "threads", *given)
        require_learning(self)
        share = self.validation_share
        if not is_number(share) or not 0 < share < 1:
            raise UsageError(f"validation_share must be between 0 and 1, got {show(share)}")

    def to_json(self) -> dict[str, Any]:
        """All settings, for the provenance of a score."""
        return asdict(self)

    def loop_settings(self) -> LoopSettings:
        """What the training loop reads."""
        from ._training import LoopSettings

        return LoopSettings(
            max_steps=self.max_steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            max_gradient_norm=self.max_gradient_norm,
            batch_size=self.batch_size,
            micro_batch_size=self.micro_batch_size or self.batch_size,
            eval_every=self.eval_every,
            patience=self.patience,
            threads=self.threads,
        )


@dataclass(frozen=True)
class TrainingLog:
    """What happened: perplexity on the validation rows at each evaluated step, and which step was kept."""

    steps: tuple[int, ...]
    validation_perplexities: tuple[float, ...]
    best_step: int
    last_step: int
    training_rows: int
    validation_rows: int
    overlength_rows: int

    def to_json(self) -> dict[str, Any]:
        """JSON-able form, for the provenance of a score."""
        return asdict(self)


def fine_tune(
    model: CausalModel,
    sequences: Sequence[TrainingSequence],
    recipe: FineTuneRecipe,
    seed: int,
    progress: Progress = silent,
    *,
    validation: Sequence[TrainingSequence] | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> tuple[CausalModel, TrainingLog]:
    """Fine-tune a copy of `model`; the model itself stays as it is.

    `sequences` come in the order of the (shuffled) fold file: the first `validation_share` of them (at least
    one) are for validation, the rest for training; where `validation` is given, all of them are for
    training. The copy has the weights of the lowest validation perplexity. `progress` counts steps.

    With the folder `checkpoints`, the whole state is saved there at most every `checkpoint_seconds` and at
    the end; the same call on the same model takes it up, and gives the same bits as a run that was never
    interrupted. Whoever keeps the model removes the folder.

    Raises UsageError where too few sequences fit the model.
    """
    from ._checkpoints import checkpoints_in
    from ._layers import freeze_all_but_last
    from ._training import TrainingRows, train

    limit = min(recipe.max_length or model.max_positions, model.max_positions)
    training, held = _divided(sequences, validation, recipe.validation_share, limit)
    overlength = len(sequences) + len(validation or ()) - len(held) - len(training)
    held = held[: recipe.max_validation_rows]
    tuned = _copy(model)
    freeze_all_but_last(tuned.module, recipe.trainable_layers)
    perplexity = _perplexity_of(tuned, held)
    log = train(
        tuned.module,
        TrainingRows(
            lambda rows: _loss_sum(tuned, [training[row] for row in rows.tolist()]),
            np.array([len(sequence.ids) - sequence.scored_from for sequence in training]),
        ),
        lambda: (perplexity(),),
        recipe.loop_settings(),
        seed,
        progress,
        checkpoints=None
        if checkpoints is None
        else checkpoints_in(
            checkpoints,
            checkpoint_seconds,
            model=model.identity(),
            environment=model.environment(),
            recipe=recipe.to_json(),
            seed=seed,
            rows=[[[sequence.scored_from, *sequence.ids] for sequence in part] for part in (training, held)],
        ),
    )
    tuned.module.requires_grad_(False)
    return tuned, TrainingLog(
        steps=log.steps,
        validation_perplexities=log.values,
        best_step=log.best_step,
        last_step=log.last_step,
        training_rows=len(training),
        validation_rows=len(held),
        overlength_rows=overlength,
    )


def _divided(
    sequences: Sequence[TrainingSequence],
    validation: Sequence[TrainingSequence] | None,
    share: float,
    limit: int,
) -> tuple[list[TrainingSequence], list[TrainingSequence]]:
    """The sequences of at most `limit` tokens that train, and those held out. Raises UsageError for none."""
    fitting = [sequence for sequence in sequences if len(sequence.ids) <= limit]
    if validation is None:
        held_out = max(1, int(len(fitting) * share))
        held, training = fitting[:held_out], fitting[held_out:]
    else:
        held, training = [sequence for sequence in validation if len(sequence.ids) <= limit], fitting
    if not training or not held:
        raise UsageError(
            f"fine-tuning needs at least 2 sequences of at most {limit} tokens, "
            f"got {len(held) + len(training)} of {len(sequences) + len(validation or ())}"
        )
    return training, held


def _copy(model: CausalModel) -> CausalModel:
    return CausalModel(
        copy.deepcopy(model.module),
        model.tokenizer,
        name=model.name,
        revision=model.revision,
        start_token=model.start_token,
        end_token=model.end_token,
        max_positions=model.max_positions,
        supports_shared_prefixes=model.supports_shared_prefixes,
    )


def _perplexity_of(model: CausalModel, sequences: list[TrainingSequence]) -> Callable[[], float]:
    """A function that scores `sequences` with the weights of the moment: exp of their tokens' mean loss."""
    plan = model.plan(
        TokenPair(sequence.ids[: sequence.scored_from], sequence.ids[sequence.scored_from :])
        for sequence in sequences
    )

    def perplexity() -> float:
        total = sum(float(scores.log_likelihood.sum()) for scores in model.score(plan))
        return float(np.exp(-total / plan.scored_tokens))

    return perplexity


def _loss_sum(model: CausalModel, sequences: list[TrainingSequence]) -> torch.Tensor:
    """Summed cross-entropy over the scored tokens of right-padded sequences.

    Only hidden states before a scored token go through the output head.
    """
    import torch

    width = max(len(sequence.ids) for sequence in sequences) - 1
    ids = torch.full((len(sequences), width), model.end_token.id)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    labels = torch.full((len(sequences), width), _IGNORED)
    for row, sequence in enumerate(sequences):
        values = torch.tensor(sequence.ids)
        ids[row, : len(values) - 1] = values[:-1]
        mask[row, : len(values) - 1] = 1
        labels[row, sequence.scored_from - 1 : len(values) - 1] = values[sequence.scored_from :]
    ids, mask, labels = ids.to(model.device), mask.to(model.device), labels.to(model.device)
    hidden = model.module.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    scored = labels != _IGNORED
    logits = apply_head(model.module, hidden[scored]).float()
    return torch.nn.functional.cross_entropy(logits, labels[scored], reduction="sum")
