"""The folder in which a release is made: beside its target, locked, and resumable after a kill.

A journal beside the staging folder names every finished file with what it was made from and its sha256.
The same build started again keeps the files that still agree and writes the others. The target changes
once, by a rename, when everything is written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..atomic import goes_up_from_nothing, recover, replace_folder
from ..errors import ReleaseError, show
from ..hashing import canonical_json, sha256_file
from ..release import MANIFEST, leads_outside
from ..wording import plural

_KEY_DIGITS = 12
_PLAN_KEY = re.compile(r"(sha256:)?([0-9a-f]{12,})")


def check_target(target: Path, overwrite: bool) -> None:
    """Raise ReleaseError if no release can be made at `target`; call it before any long work.

    With `overwrite` a release may be replaced, but nothing else: a file, or a folder that is neither empty
    nor a release, is never removed.
    """
    if target.name in ("", ".."):
        raise ReleaseError(f"{target} cannot become a release; name a folder to make")
    if goes_up_from_nothing(target):
        raise ReleaseError(f"{target} goes up from a folder that does not exist; give a plain path")
    with writing(target):
        if not target.exists() and not target.is_symlink():
            return
        if not target.is_dir():
            raise ReleaseError(f"{target} is in the way and no folder; choose another folder")
        if not any(target.iterdir()):
            return
    if not _is_release(target):
        raise ReleaseError(
            f"{target} is neither empty nor a release, so it is left alone; choose another folder"
        )
    if not overwrite:
        raise ReleaseError(f"{target} exists already; choose another folder or replace it with --overwrite")


def _is_release(folder: Path) -> bool:
    """Many programs name a file manifest.json: only a folder with one of ours may be replaced."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and {"format", "benchwright", "configs"} <= manifest.keys()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure of the disk into one line that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReleaseError(
            f"cannot write {path}: {reason}; put that right and run the same command again (it resumes)"
        ) from error


class Journal:
    """Finished files of one plan, one JSON object a line, each on disk before it counts. Raises OSError."""

    def __init__(self, path: Path, plan_key: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        plan = {"plan": plan_key}
        lines = self._whole_lines()
        if lines[:1] != [plan]:
            path.write_bytes(b"")
            self._append(plan)
            lines = [plan]
        self.records = {line["file"]: line for line in lines[1:]}

    def add(self, record: dict[str, Any]) -> None:
        """Note a finished file."""
        with self._lock:
            self._append(record)
            self.records[record["file"]] = record

    def _append(self, record: dict[str, Any]) -> None:
        with self.path.open("ab") as handle:
            handle.write(canonical_json(record).encode() + b"\n")
            handle.flush()
            os.fsync(handle.fileno())

    def _whole_lines(self) -> list[dict[str, Any]]:
        """What an earlier run noted; a line that a kill cut short is removed with all that follows it."""
        if not self.path.exists():
            return []
        lines, length = [], 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            try:
                content = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            lines.append(content)
            length += len(line)
        os.truncate(self.path, length)
        return lines


class Staging:
    """One build of `target`. Use it as a context manager; `publish` moves the result to its place.

    `plan_key` is a hexadecimal hash (at least 12 digits) of everything that the build depends on. `notes`
    says what an earlier run left and what became of it. Raises ReleaseError if the target may not be
    replaced, another build is at work, or the disk refuses.
    """

    def __init__(self, target: Path, plan_key: str, overwrite: bool) -> None:
        match = _PLAN_KEY.fullmatch(plan_key)
        if match is None:
            raise ValueError(f"a plan key is a hexadecimal hash, got {plan_key!r}")
        self._shown = target
        self.target = target.resolve()
        self._plan_key, self._overwrite = match[2], overwrite
        self.folder = self.target.with_name(f".{self.target.name}.staging-{match[2][:_KEY_DIGITS]}")
        self.notes: list[str] = []
        self._claimed: set[str] = set()
        self._lock = FileLock(self.target.with_name(f".{self.target.name}.lock"), timeout=0)
        check_target(target, overwrite)

    def __enter__(self) -> Staging:
        with writing(self._shown):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._acquire()
        try:
            with writing(self._shown):
                recover(self.target)
            check_target(self._shown, self._overwrite)
            with writing(self._shown):
                self._discard_other_plans()
                self._resume()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._journal.records:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._journal.path.unlink(missing_ok=True)
        self._release()

    def path(self, name: str) -> Path:
        """Where the file `name` is made. Raises ReleaseError for a name that leads out of the folder."""
        if leads_outside(name):
            raise ReleaseError(f"{show(name)} is no file inside of {self._shown}; it is not written")
        return self.folder / name

    def file(self, name: str, made_from: str, write: Callable[[Path], None]) -> dict[str, Any]:
        """`bytes` and `sha256` of one file: the finished one if it was made from the same, else a new one.

        `made_from` is a hash of the file's content and form. Raises ReleaseError if the disk refuses, and as
        `path` does. May be called from several threads.
        """
        path = self.path(name)
        self._claimed.add(name)
        record = self._journal.records.get(name)
        if record is None or record["made_from"] != made_from or not _agrees(path, record):
            with writing(self._shown / name):
                write(path)
                size, digest = path.stat().st_size, sha256_file(path)
                record = {"file": name, "made_from": made_from, "bytes": size, "sha256": digest}
                self._journal.add(record)
        return {"bytes": record["bytes"], "sha256": record["sha256"]}

    def publish(self) -> None:
        """Move the finished folder to its target. Raises ReleaseError if the disk refuses."""
        with writing(self._shown):
            for name in self._journal.records.keys() - self._claimed:
                (self.folder / name).unlink(missing_ok=True)
            replace_folder(self.folder, self.target)
        with suppress(OSError):  # The release stands; a journal that stays is removed by the next build.
            self._journal.path.unlink()

    def _acquire(self) -> None:
        try:
            self._lock.acquire()
        except Timeout:
            raise ReleaseError(
                f"another build is writing {self._shown}; wait for it, or choose another folder"
            ) from None

    def _release(self) -> None:
        # Removed while it is held; whoever waits for the removed file tries again on a new one.
        with suppress(OSError):
            Path(self._lock.lock_file).unlink()
        self._lock.release()

    def _discard_other_plans(self) -> None:
        ours = re.compile(
            re.escape(f".{self.target.name}.staging-") + rf"[0-9a-f]{{{_KEY_DIGITS}}}(\.jsonl)?"
        )
        for path in sorted(self.target.parent.iterdir()):
            if ours.fullmatch(path.name) is None or path.name.removesuffix(".jsonl") == self.folder.name:
                continue
            if path.is_dir():
                shutil.rmtree(path)
                self.notes.append(f"removed {path.name}, which an unfinished build of another plan left")
            else:
                path.unlink()

    def _resume(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self._journal = Journal(self.folder.with_name(f"{self.folder.name}.jsonl"), self._plan_key)
        kept = {self.folder / name for name in self._journal.records}
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir():
                with suppress(OSError):  # Not empty: it holds files that are kept.
                    path.rmdir()
            elif path not in kept:
                path.unlink()
        if kept:
            self.notes.append(
                f"continuing an interrupted build: {plural(len(kept), 'file was', 'files were')} finished"
            )


def _agrees(path: Path, record: dict[str, Any]) -> bool:
    return path.is_file() and path.stat().st_size == record["bytes"] and sha256_file(path) == record["sha256"]
