"""Full checkpoints of a training run: one safetensors file, replaced atomically, known by a key."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchwright.atomic import atomic_path
from benchwright.errors import BenchwrightWarning
from benchwright.hashing import canonical_json, sha256_text

_FILE = "checkpoint.safetensors"
_STATE = "state"


@dataclass(frozen=True)
class State:
    """Tensors by name, and counts that JSON can hold."""

    tensors: dict[str, torch.Tensor]
    counts: dict[str, Any]


@dataclass(frozen=True)
class Checkpoints:
    """Where a run keeps its last checkpoint.

    `key` stands for all that decides the result of the run; a checkpoint with another key is not read.
    `seconds` is the least time between two checkpoints; it changes no result.
    """

    folder: Path
    key: str
    seconds: float

    def write(self, state: State) -> None:
        """Replace the last checkpoint."""
        from safetensors.torch import save_file

        tensors = {name: values.contiguous() for name, values in state.tensors.items()}
        text = json.dumps({"key": self.key, **state.counts})
        with atomic_path(self.folder / _FILE) as part:
            save_file(tensors, part, metadata={_STATE: text})

    def read(self) -> State | None:
        """The last checkpoint of this run; None, with a warning, for one of another run or a damaged one."""
        from safetensors import SafetensorError, safe_open

        path = self.folder / _FILE
        if not path.is_file():
            return None
        try:
            with safe_open(path, "pt") as file:
                counts = json.loads((file.metadata() or {})[_STATE])
                if counts.pop("key") == self.key:
                    return State({name: file.get_tensor(name) for name in file.keys()}, counts)  # noqa: SIM118
        except (OSError, SafetensorError, ValueError, KeyError):
            reason = "is damaged"
        else:
            reason = "belongs to other rows, settings or versions"
        warnings.warn(f"{path} {reason}; training starts anew", BenchwrightWarning, stacklevel=2)
        return None


def checkpoints_in(
    folder: Path,
    seconds: float,
    *,
    model: dict[str, Any],
    environment: dict[str, Any],
    recipe: dict[str, Any],
    seed: int,
    rows: Any,
) -> Checkpoints:
    """The checkpoints of one training run in `folder`.

    The other arguments are JSON-able and stand for all that decides the bits of the trained model: identity
    of the model that it begins with, kind of machine, settings, seed, and the rows as they are encoded.
    """
    kind = {name: value for name, value in environment.items() if name != "threads"}
    key = {"model": model, "environment": kind, "recipe": recipe, "seed": seed, "rows": rows}
    return Checkpoints(folder, sha256_text(canonical_json(key)), seconds)


class Clock:
    """Tells when the next checkpoint is due; never where there are none."""

    def __init__(self, checkpoints: Checkpoints | None) -> None:
        self.seconds = float("inf") if checkpoints is None else checkpoints.seconds
        self.last = time.monotonic()

    def is_time(self) -> bool:
        """Whether `seconds` have passed since the last yes."""
        now = time.monotonic()
        if now - self.last < self.seconds:
            return False
        self.last = now
        return True
