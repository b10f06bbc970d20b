"""The one atomic writer: a reader finds the old file or the new one, never a part.

Not guaranteed: order between several files (the staged folder below is for that), survival of a power
cut on file systems that ignore fsync, and atomic replacement of a *non-empty* folder (the old one is
moved aside first; a kill between the two moves leaves it under its `.old` name, which `recover` puts back).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary sibling to write; renamed to `path` on success, removed on any exception."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_open(path: Path, mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Like `open(path, mode)`, atomically; text is UTF-8 with `\\n` line ends."""
    if "b" not in mode:
        options = {"encoding": "utf-8", "newline": "\n", **options}
    with atomic_path(path) as part, part.open(mode, **options) as handle:
        yield handle


def write_text(path: Path, text: str) -> None:
    """Write a whole text file atomically."""
    with atomic_open(path) as handle:
        handle.write(text)


@contextmanager
def all_or_nothing(paths: Sequence[Path]) -> Iterator[None]:
    """Around code that writes all of `paths`: on an exception those that stood there come back.

    Folders that were made for them go with them. Nothing is copied, so that a full disk is no hindrance.
    """
    folders = [path.parent for path in paths]
    made = [folder for one in folders for folder in (one, *one.parents) if not folder.exists()]
    for path in paths:
        recover(path)
    kept = {path: path.with_name(f".{path.name}.old") for path in paths if path.exists()}
    for path, old in kept.items():
        path.rename(old)
    try:
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        for path, old in kept.items():
            old.rename(path)
        for folder in sorted(set(made), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        raise
    for old in kept.values():
        old.unlink()


def replace_folder(staged: Path, target: Path) -> None:
    """Move a finished folder to its place; a folder that stands there is removed after the move.

    On an exception the old folder is put back.
    """
    old = target.with_name(f".{target.name}.old")
    recover(target)
    if target.exists():
        target.rename(old)
    try:
        staged.rename(target)
    except BaseException:
        recover(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def goes_up_from_nothing(path: Path) -> bool:
    """Whether a path has a `..` behind a folder that does not exist, as in `missing/../folder`.

    What stands at such a path cannot be looked at before that folder is made, and then is another thing.

    >>> goes_up_from_nothing(Path("missing/../folder")), goes_up_from_nothing(Path("../missing/folder"))
    (True, False)
    """
    ups = [place for place, part in enumerate(path.parts) if part == ".."]
    return bool(ups) and not Path(*path.parts[: ups[-1] + 1]).exists()


def recover(target: Path) -> None:
    """Undo a kill inside `replace_folder`: put the old folder back, or remove what was replaced."""
    old = target.with_name(f".{target.name}.old")
    if old.exists():
        if target.exists():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        else:
            old.rename(target)
