"""A training loop for models on any kind of rows: AdamW, constant rate, early stopping, best checkpoint.

Our own rather than transformers' Trainer: the Trainer seeds the global generators, writes checkpoints and
logs to disk, and shuffles by a sampler whose order has changed between versions; what a fold model's identity
needs is that one seed gives the same batches, the same steps and the same weights, which takes forty lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchwright.errors import UsageError
from benchwright.progress import Progress


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop; the meanings are those of `FineTuneRecipe`."""

    max_steps: int
    learning_rate: float
    weight_decay: float
    max_gradient_norm: float
    batch_size: int
    micro_batch_size: int
    eval_every: int
    patience: int
    threads: int


@dataclass(frozen=True)
class LoopLog:
    """Steps at which the model was evaluated, the values found (lower is better), and the best step."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    best_step: int
    last_step: int


LossSum = Callable[[np.ndarray], torch.Tensor]
"""Row indices of a micro-batch -> sum of the losses of its targets."""


def train(
    module: torch.nn.Module,
    rows: int,
    loss_sum: LossSum,
    targets: np.ndarray,
    evaluate: Callable[[], float],
    settings: LoopSettings,
    seed: int,
    progress: Progress,
) -> LoopLog:
    """Train the parameters that require gradients; on return they are those of the best evaluation.

    `targets` holds the number of loss targets of each row (int, shape (rows,)): the loss of a batch is the
    mean over its targets, whatever the size of the micro-batches. Evaluates every `eval_every` steps and
    at the end, stops after `patience` evaluations without improvement. `seed` fixes order and dropout;
    torch's global generator and number of threads are left as found. On one kind of CPU the same seed and
    settings give the same weights.
    Raises UsageError where nothing can be trained or no evaluation gives a finite value.
    """
    trainable = [weights for weights in module.parameters() if weights.requires_grad]
    if not trainable or not rows:
        raise UsageError(f"nothing to train: {rows} rows, {len(trainable)} trainable weights")
    optimizer = torch.optim.AdamW(trainable, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    batches = _batches(rows, settings.batch_size, np.random.default_rng(seed))
    best: list[torch.Tensor] = []
    steps: list[int] = []
    values: list[float] = []
    step = best_step = stale = 0
    devices = [trainable[0].device] if trainable[0].device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), _threads(settings.threads):
        torch.manual_seed(seed)
        while step < settings.max_steps and stale < settings.patience:
            _step(module, trainable, optimizer, next(batches), loss_sum, targets, settings)
            step += 1
            progress(1)
            if step % settings.eval_every and step < settings.max_steps:
                continue
            module.eval()
            value = evaluate()
            value = value if np.isfinite(value) else np.inf
            if value < min(values, default=np.inf):
                best, best_step, stale = [weights.detach().clone() for weights in trainable], step, 0
            else:
                stale += 1
            steps.append(step)
            values.append(value)
    if not best:
        raise UsageError(f"training diverged: no finite value in {step} steps; lower learning_rate")
    with torch.no_grad():
        for weights, kept in zip(trainable, best, strict=True):
            weights.copy_(kept)
    module.eval()
    return LoopLog(tuple(steps), tuple(values), best_step, step)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Gradients are summed thread by thread, so that their number decides the last bits of the weights."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def freeze_all_but_last(module: Any, layers: int | None) -> None:
    """Let the last `layers` blocks and what follows them learn (None: everything).

    Embeddings and output head stay as they are. Raises UsageError for a number of layers
    that the model does not have.
    """
    if layers is None:
        module.requires_grad_(True)
        return
    body = module.base_model
    lists = {name: part for name, part in body.named_modules() if isinstance(part, torch.nn.ModuleList)}
    # a block of T5 is a list too, which may be longer than the list of blocks
    outermost = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
    name = max(outermost, key=lambda name: len(lists[name]), default="")
    blocks = lists.get(name, ())
    if not 0 < layers <= len(blocks):
        raise UsageError(
            f"trainable_layers must be between 1 and the model's {len(blocks)} layers, got {layers}"
        )
    module.requires_grad_(False)
    for block in list(blocks)[-layers:]:
        block.requires_grad_(True)
    owner = body.get_submodule(name.rpartition(".")[0])
    after = list(owner.children())
    for part in after[[part is blocks for part in after].index(True) + 1 :]:
        part.requires_grad_(True)


def _batches(rows: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Every row once an epoch, in a fresh order; the last batch of an epoch may be smaller."""
    while True:
        order = rng.permutation(rows)
        for start in range(0, rows, size):
            yield order[start : start + size]


def _step(
    module: torch.nn.Module,
    trainable: list[torch.nn.Parameter],
    optimizer: torch.optim.Optimizer,
    batch: np.ndarray,
    loss_sum: LossSum,
    targets: np.ndarray,
    settings: LoopSettings,
) -> None:
    module.train()
    optimizer.zero_grad(set_to_none=True)
    total = int(targets[batch].sum())
    for start in range(0, len(batch), settings.micro_batch_size):
        loss = loss_sum(batch[start : start + settings.micro_batch_size])
        (loss / total).backward()
    torch.nn.utils.clip_grad_norm_(trainable, settings.max_gradient_norm)
    optimizer.step()
