"""Fine-tuning of causal language models for k-fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.progress import Progress, silent

from .causal import CausalModel


@dataclass(frozen=True)
class TrainingSequence:
    """Token ids of one training text; the loss covers the tokens from index `scored_from` on (at least 1)."""

    ids: tuple[int, ...]
    scored_from: int


@dataclass(frozen=True)
class FineTuneRecipe:
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


@dataclass(frozen=True)
class TrainingLog:
    steps: tuple[int, ...]
    validation_perplexities: tuple[float, ...]
    best_step: int
    training_rows: int
    validation_rows: int
    overlength_rows: int


def fine_tune(
    model: CausalModel,
    sequences: Sequence[TrainingSequence],
    recipe: FineTuneRecipe,
    seed: int,
    progress: Progress = silent,
) -> tuple[CausalModel, TrainingLog]: ...
