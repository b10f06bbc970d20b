"""The score cache: scores kept chunk by chunk, so that an interrupted run goes on where it stopped.

One folder per identity:

    <cache>/scores/<hex>.lock       held while a process works in the folder
    <cache>/scores/<hex>/
        plan.json                   what is scored, and the environment that scores it
        chunk-000000.scores         one chunk of the plan (whole batches)
        fold-0/                     k-fold only: the model of one fold, its chunks, its result
        result.scores               all scores; the chunks go when it is there

Files are written atomically. A score file begins with a digest over its seal (identity, environment, place)
and its bytes: a file that was cut, altered or made by other library versions fails it and is made again.
The lock belongs to the operating system and ends with its process, however that ends; a second process
waits for the first and then finds the result.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...atomic import atomic_open, write_text
from ...errors import BenchwrightWarning, UsageError
from ...hashing import canonical_json
from .table import score_identity

SCORE = np.dtype([("item", "<i8"), ("log_likelihood", "<f8"), ("num_tokens", "<i4")])
"""One score: the number of what was scored, log-likelihood in nats, scored tokens."""

_PLAN = "plan.json"
_RESULT = "result.scores"
_FORMAT = 1


@dataclass(frozen=True)
class Seal:
    """What a score file must have been made from to count."""

    facts: dict[str, Any]

    def at(self, **place: Any) -> Seal:
        """The seal of a part: a fold, a chunk, a result."""
        return Seal({**self.facts, **place})

    def digest(self, payload: bytes) -> str:
        sealed = hashlib.sha256(canonical_json(self.facts).encode())
        sealed.update(payload)
        return sealed.hexdigest()


@dataclass(frozen=True)
class Workspace:
    """A locked folder of the cache; `environment` is the one that all scores in it come from."""

    folder: Path
    seal: Seal
    environment: dict[str, Any]

    def finished(self) -> tuple[np.ndarray, dict[str, Any]] | None:
        """All scores and the facts stored with them, if the work was finished before."""
        return read_scores(self.folder / _RESULT, self.seal.at(part="result"))

    def finish(self, scores: np.ndarray, facts: dict[str, Any]) -> None:
        """Store all scores (dtype SCORE) and JSON-able facts about them, then remove the chunks."""
        write_scores(self.folder / _RESULT, self.seal.at(part="result"), scores, facts)
        for chunk in self.folder.glob("chunk-*.scores"):
            chunk.unlink()

    def part(self, name: str) -> Workspace:
        """A workspace inside this one, under the same lock."""
        return Workspace(self.folder / name, self.seal.at(folder=name), self.environment)

    def bound_to(self, **facts: Any) -> Workspace:
        """The same folder for work that depends on more than the key says."""
        return Workspace(self.folder, self.seal.at(**facts), self.environment)


def clear_parts(workspace: Workspace, parts: str, model: str, kept: int | None) -> None:
    """Remove what a finished table makes superfluous of its parts, whose folders match `parts`.

    `kept` is how many models, folders of the name `model`, are to stay; None for none. Warns of those that
    are not there any more.
    """
    for folder in workspace.folder.glob(parts):
        if kept is None:
            shutil.rmtree(folder)
        for path in folder.glob("*.scores"):
            path.unlink()
    if kept is not None:
        _warn_of_gone_models(workspace, len(list(workspace.folder.glob(f"{parts}/{model}"))), kept)


def _warn_of_gone_models(workspace: Workspace, kept: int, models: int) -> None:
    """Say, where models are to be kept, that those of scores which were finished before are gone."""
    if kept < models:
        warn(
            f"--keep-models: {models - kept} of {models} models are gone, since their scores were finished "
            f"before; to have all, remove {workspace.folder} and score again"
        )


@contextmanager
def open_workspace(cache: Path, key: dict[str, Any], environment: dict[str, Any]) -> Iterator[Workspace]:
    """Lock the folder of the scores that `key` describes, and begin or go on with it.

    One table never mixes environments: unfinished scores of another one are removed, with a
    BenchwrightWarning. Finished scores of another one are used as they are, with a warning. Raises
    UsageError if the folder cannot be made.
    """
    environment = json.loads(canonical_json(environment))
    identity = score_identity(key)
    folder = cache / "scores" / identity.removeprefix("sha256:")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"scores cannot be cached in {cache} ({error.strerror}); choose another folder"
        ) from None
    with _locked(folder):
        for left in folder.rglob(".*.part-*"):
            left.unlink()
        found = _recorded_environment(folder / _PLAN, identity)
        if found is not None and found != environment:
            changes = _differences(found, environment)
            workspace = Workspace(folder, _seal(identity, found), found)
            if workspace.finished() is not None:
                warn(
                    f"the cached scores come from another environment ({changes}); they are used as they "
                    f"are, and new ones could differ in the last digits; to make them anew, remove {folder}"
                )
                yield workspace
                return
            warn(f"unfinished scores come from another environment ({changes}); scoring starts again")
        elif found is None and any(folder.iterdir()):
            warn(f"{folder / _PLAN} cannot be read; scoring starts again")
        if found != environment:
            _remove_contents(folder)
            plan = {"format": _FORMAT, "identity": identity, "key": key, "environment": environment}
            write_text(folder / _PLAN, json.dumps(plan, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
        yield Workspace(folder, _seal(identity, environment), environment)


def write_scores(path: Path, seal: Seal, scores: np.ndarray, facts: dict[str, Any] | None = None) -> None:
    """Write scores (dtype SCORE) and JSON-able facts as one sealed file, atomically."""
    payload = io.BytesIO()
    payload.write(canonical_json(facts or {}).encode() + b"\n")
    np.save(payload, scores, allow_pickle=False)
    with atomic_open(path, "wb") as handle:
        handle.write(seal.digest(payload.getvalue()).encode() + b"\n" + payload.getvalue())


def read_scores(path: Path, seal: Seal) -> tuple[np.ndarray, dict[str, Any]] | None:
    """The scores and facts of a file; None if there is none, or (with a warning) if its seal is broken."""
    try:
        digest, _, payload = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if digest.decode("ascii", "replace") != seal.digest(payload):
        warn(f"{path} is damaged or belongs to another plan; its scores are made again")
        return None
    facts, _, array = payload.partition(b"\n")
    return np.load(io.BytesIO(array), allow_pickle=False), json.loads(facts)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = FileLock(folder.with_name(folder.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        warn(f"another process is making the same scores ({folder.name[:12]}); waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _seal(identity: str, environment: dict[str, Any]) -> Seal:
    return Seal({"identity": identity, "environment": environment})


def _recorded_environment(path: Path, identity: str) -> dict[str, Any] | None:
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if plan["format"] == _FORMAT and plan["identity"] == identity:
            return dict(plan["environment"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    return None


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    before, now = ({**facts, **facts.get("versions", {})} for facts in (before, now))
    names = sorted({*before, *now} - {"versions"})
    changed = [name for name in names if before.get(name) != now.get(name)]
    return ", ".join(f"{name} {before.get(name)} then, {now.get(name)} now" for name in changed)


def _remove_contents(folder: Path) -> None:
    # The plan goes last: should this be cut off, the next run finds the old environment and removes the rest.
    for path in sorted(folder.iterdir(), key=lambda path: path.name == _PLAN):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def warn(message: str) -> None:
    """A BenchwrightWarning about the cache."""
    warnings.warn(message, BenchwrightWarning, stacklevel=3)
