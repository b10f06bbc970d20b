"""The one training loop: AdamW, schedules, early stopping, best checkpoint, resumable to the bit.

Our own rather than transformers' Trainer: the Trainer seeds the global generators, writes checkpoints and
logs to disk, and shuffles by a sampler whose order has changed between versions; what a fold model's identity
needs is that one seed gives the same batches, the same steps and the same weights, interrupted or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch

from benchwright.errors import UsageError
from benchwright.progress import Progress
from benchwright.wording import plural

from ._checkpoints import Checkpoints, Clock, State

_POOL = 50
"""Batches of like length are cut from so many batches' rows at a time."""
_JITTER = 0.1
"""Lengths are blurred by this share when rows are sorted, so that an epoch repeats no batch of another."""


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop; the meanings are those of `FineTuneRecipe` and `ClassifierRecipe`.

    `warmup_steps` is in steps. `fused` takes torch's fused AdamW, which is several times faster and gives
    other last bits.
    """

    max_steps: int
    learning_rate: float
    weight_decay: float
    max_gradient_norm: float
    batch_size: int
    micro_batch_size: int
    eval_every: int
    patience: int
    threads: int
    schedule: str = "constant"
    warmup_steps: int = 0
    precision: str = "float32"
    fused: bool = False

    def rate_factor(self, step: int) -> float:
        """What the learning rate of a step (from 0) is multiplied with.

        It rises linearly from 0 over `warmup_steps`, then stays (`constant`) or falls linearly to 0 at
        `max_steps` (`linear`): the schedules of transformers.
        """
        if step < self.warmup_steps:
            return step / self.warmup_steps
        if self.schedule == "constant":
            return 1.0
        return max(0, self.max_steps - step) / max(1, self.max_steps - self.warmup_steps)


@dataclass(frozen=True)
class WeightGroup:
    """Weights with a learning rate and a decay of their own; `rate` is a factor of the recipe's rate."""

    weights: list[torch.nn.Parameter]
    rate: float
    weight_decay: float


@dataclass(frozen=True)
class TrainingRows:
    """What is trained on.

    `loss_sum` gives the sum of the losses of a micro-batch, of which it gets the row numbers. `targets` is
    the number of loss targets of each row (int, shape (rows,)): the loss of a batch is the mean over its
    targets, whatever the size of the micro-batches. With `lengths` (int, shape (rows,)) batches hold rows of
    like length.
    """

    loss_sum: Callable[[np.ndarray], torch.Tensor]
    targets: np.ndarray
    lengths: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.targets)


Measures = tuple[float, ...]
"""What an evaluation finds: the value that chooses the best step (lower is better), and any others."""


@dataclass(frozen=True)
class LoopLog:
    """Steps at which the model was evaluated, what was found, the step that is kept, and the last one."""

    steps: tuple[int, ...]
    measures: tuple[Measures, ...]
    best_step: int
    last_step: int

    @property
    def values(self) -> tuple[float, ...]:
        """The values that chose the best step."""
        return tuple(found[0] for found in self.measures)


def train(
    module: torch.nn.Module,
    rows: TrainingRows,
    evaluate: Callable[[], Measures] | None,
    settings: LoopSettings,
    seed: int,
    progress: Progress,
    *,
    groups: Sequence[WeightGroup] | None = None,
    checkpoints: Checkpoints | None = None,
) -> LoopLog:
    """Train the parameters that require gradients; on return they are those of the best evaluation.

    Evaluates every `eval_every` steps and at the end, stops after `patience` evaluations without
    improvement; without `evaluate` all steps are run and the last weights stay. `groups` are all trainable
    weights (None: one group at the rates of the settings). `seed` fixes order and dropout; torch's global
    generator and number of threads are left as found. On one kind of CPU the same seed and settings give the
    same weights. With `checkpoints` a run that was interrupted goes on from the last one and gives the same
    bits as one that was not; `progress` counts the steps that were found there as well.

    Raises UsageError where nothing can be trained, where no evaluation gives a finite value, and where the
    last weights, when they are to stay, are not finite.
    """
    trainable = [weights for weights in module.parameters() if weights.requires_grad]
    if not trainable or not len(rows):
        raise UsageError(
            f"nothing to train: {plural(len(rows), 'row')}, {plural(len(trainable), 'trainable weight')}"
        )
    groups = groups or [WeightGroup(trainable, 1.0, settings.weight_decay)]
    devices = [trainable[0].device] if trainable[0].device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), _threads(settings.threads):
        torch.manual_seed(seed)
        run = _Run(module, trainable, rows, evaluate, settings, groups)
        if checkpoints is not None and (found := checkpoints.read()) is not None:
            run.restore(found)
            progress(run.step)
        run.finish(seed, progress, checkpoints)
    module.eval()
    return LoopLog(tuple(run.steps), tuple(run.measures), run.best_step, run.step)


@dataclass
class _Run:
    """The state of a training run; everything that decides how it goes on is in `state()`."""

    module: torch.nn.Module
    trainable: list[torch.nn.Parameter]
    rows: TrainingRows
    evaluate: Callable[[], Measures] | None
    settings: LoopSettings
    groups: Sequence[WeightGroup]
    step: int = 0
    best_step: int = 0
    stale: int = 0
    steps: list[int] = field(default_factory=list)
    measures: list[Measures] = field(default_factory=list)
    best: list[torch.Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings, device = self.settings, self.trainable[0].device
        parts = [{"params": group.weights, "weight_decay": group.weight_decay} for group in self.groups]
        # None and not False: torch's own choice gave earlier models their bits
        fused = True if settings.fused else None
        self.optimizer = torch.optim.AdamW(parts, lr=settings.learning_rate, fused=fused)
        dtype = _autocast_dtype(settings.precision, device)
        self.scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
        self.autocast: Callable[[], AbstractContextManager[Any]] = (
            nullcontext if dtype is None else lambda: torch.autocast(device.type, dtype=dtype)
        )

    def finish(self, seed: int, progress: Progress, checkpoints: Checkpoints | None) -> None:
        """Go on from the state at hand to the end, and put the best weights in place."""
        settings = self.settings
        batches = _batches(self.rows, settings.batch_size, np.random.default_rng(seed))
        clock, written = Clock(checkpoints), self.step
        for batch in islice(batches, self.step, settings.max_steps):
            if self.evaluate is not None and self.stale >= settings.patience:
                break
            self._train_on(batch)
            self.step += 1
            if self.evaluate and (self.step % settings.eval_every == 0 or self.step == settings.max_steps):
                self._judge(self.evaluate)
            if checkpoints is not None and clock.is_time():
                checkpoints.write(self.state())
                written = self.step
            progress(1)
        if checkpoints is not None and written != self.step:
            checkpoints.write(self.state())
        self._keep_best()

    def _train_on(self, batch: np.ndarray) -> None:
        rows, settings = self.rows, self.settings
        self.module.train()
        self.optimizer.zero_grad(set_to_none=True)
        factor = settings.rate_factor(self.step)
        for group, part in zip(self.groups, self.optimizer.param_groups, strict=True):
            part["lr"] = settings.learning_rate * group.rate * factor
        total = int(rows.targets[batch].sum())
        for start in range(0, len(batch), settings.micro_batch_size):
            with self.autocast():
                loss = rows.loss_sum(batch[start : start + settings.micro_batch_size])
            self.scaler.scale(loss / total).backward()
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.trainable, settings.max_gradient_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def _judge(self, evaluate: Callable[[], Measures]) -> None:
        self.module.eval()
        value, *others = evaluate()
        value = value if np.isfinite(value) else np.inf
        if value < min((found[0] for found in self.measures), default=np.inf):
            self.best = [weights.detach().clone() for weights in self.trainable]
            self.best_step, self.stale = self.step, 0
        else:
            self.stale += 1
        self.steps.append(self.step)
        self.measures.append((value, *others))

    def _keep_best(self) -> None:
        if self.evaluate is None:
            self.best_step = self.step
            if not all(bool(torch.isfinite(weights).all()) for weights in self.trainable):
                raise UsageError(f"training diverged in {self.step} steps; lower learning_rate")
            return
        if not self.best:
            raise UsageError(f"training diverged: no finite value in {self.step} steps; lower learning_rate")
        with torch.no_grad():
            for weights, kept in zip(self.trainable, self.best, strict=True):
                weights.copy_(kept)

    def state(self) -> State:
        """All that a run needs to go on; the order of the rows follows from the seed and `step`."""
        tensors = {f"weights.{i}": weights.detach() for i, weights in enumerate(self.trainable)}
        if self.best_step != self.step:
            tensors |= {f"best.{i}": kept for i, kept in enumerate(self.best)}
        for i, entries in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": values for name, values in entries.items()}
        tensors["random.cpu"] = torch.random.get_rng_state()
        if self.trainable[0].device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.trainable[0].device)
        counts = {name: getattr(self, name) for name in ("step", "best_step", "stale", "steps", "measures")}
        return State(tensors, {**counts, "scaler": self.scaler.state_dict()})

    def restore(self, state: State) -> None:
        """The opposite of `state`."""
        tensors, counts = state.tensors, state.counts
        self.step, self.best_step, self.stale = counts["step"], counts["best_step"], counts["stale"]
        self.steps, self.measures = counts["steps"], [tuple(found) for found in counts["measures"]]
        with torch.no_grad():
            for i, weights in enumerate(self.trainable):
                weights.copy_(tensors[f"weights.{i}"])
        if self.best_step:
            kind = "weights" if self.best_step == self.step else "best"
            self.best = [
                tensors[f"{kind}.{i}"].to(weights.device, copy=True)
                for i, weights in enumerate(self.trainable)
            ]
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, values in tensors.items():
            if name.startswith("optimizer."):
                _, number, entry = name.split(".")
                moments.setdefault(int(number), {})[entry] = values
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.scaler.load_state_dict(counts["scaler"])
        torch.random.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self.trainable[0].device)


def _autocast_dtype(precision: str, device: torch.device) -> torch.dtype | None:
    """The type of mixed precision: bfloat16, or float16 (with scaled losses) on GPUs without it."""
    if precision == "float32":
        return None
    if device.type == "cuda" and not torch.cuda.is_bf16_supported():
        return torch.float16
    return torch.bfloat16


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Gradients are summed thread by thread, so that their number decides the last bits of the weights."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _batches(rows: TrainingRows, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Every row once an epoch, in a fresh order; one batch of an epoch may be smaller."""
    while True:
        order = rng.permutation(len(rows))
        if rows.lengths is None:
            yield from _cut(order, size)
            continue
        batches: list[np.ndarray] = []
        for pool in _cut(order, size * _POOL):
            blurred = rows.lengths[pool] * rng.uniform(1 - _JITTER, 1 + _JITTER, len(pool))
            batches.extend(_cut(pool[np.argsort(blurred, kind="stable")], size))
        for position in rng.permutation(len(batches)).tolist():
            yield batches[position]


def _cut(order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (order[start : start + size] for start in range(0, len(order), size))
