"""Bringing the folder that was published to what now stands on the Hub, so that a kill can be repaired.

New files are copied aside, then a note names them, then they are moved to their places. Before the note the
folder is as it was; from then on the next run finishes the moves.
"""

from __future__ import annotations

import filecmp
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from filelock import FileLock

from ...atomic import atomic_path, write_text
from ...cards.card import README
from ...errors import ReleaseError
from ...release import MANIFEST, ReleaseFolder
from .._staging import writing
from ._sides import LocalSide

LOCK = ".publishing.lock"
ASIDE = ".publishing"
"""Folder that holds the new files of an update, and its note; it stands there only meanwhile."""
NOTE = "update.json"
_COPIES = "files"


def repair(folder: Path) -> bool:
    """Finish an update that was killed, or undo one that had changed nothing yet; whether it was finished.

    Raises ReleaseError if the disk refuses.
    """
    if not (folder / ASIDE).exists() and not (folder / LOCK).exists():
        return False
    with writing(folder), _alone(folder):
        return _settle(folder)


def adopt(published: ReleaseFolder, former: LocalSide) -> bool:
    """Make the folder of `former`, which it was when it was read, the published release.

    Its files come first, then its manifest, then its card. Returns False, with the folder left as it is, if
    its manifest or card is another one by now. Raises ReleaseError if the disk refuses.
    """
    folder = former.folder
    with writing(folder), _alone(folder):
        _settle(folder)
        there = (_text(published.path), published.manifest)
        here = (_text(folder), ReleaseFolder(folder).manifest)
        if here not in ((former.card, former.manifest), there):
            return False
        if _put_aside(published, former):
            _finish(folder)
        _remove_aside(folder)
    return True


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One update of a folder at a time."""
    lock = FileLock(folder / LOCK)
    with lock:
        try:
            yield
        finally:
            # Removed while it is held; whoever waits for the removed file tries again on a new one.
            with suppress(OSError):
                (folder / LOCK).unlink()


def _settle(folder: Path) -> bool:
    """Finish or undo what a killed run left; whether it was finished."""
    noted = (folder / ASIDE / NOTE).is_file()
    if noted:
        _finish(folder)
    _remove_aside(folder)
    return noted


def _put_aside(published: ReleaseFolder, former: LocalSide) -> bool:
    """Copy what is new, then note what is to be moved and removed; False if there is nothing to do."""
    folder = former.folder
    there = {path.relative_to(published.path).as_posix(): path for path in _files(published.path)}
    here = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    new = [name for name, path in there.items() if name not in here or not _same(path, here[name])]
    # Not what came meanwhile, such as a result.
    stale = sorted(former.files.keys() - there.keys())
    if not new and not stale:
        return False
    for name in new:
        with atomic_path(folder / ASIDE / _COPIES / name) as part:
            shutil.copyfile(there[name], part)
    new.sort(key=lambda name: (name == README, name == MANIFEST))
    write_text(folder / ASIDE / NOTE, json.dumps({"new": new, "stale": stale}))
    return True


def _finish(folder: Path) -> None:
    """Move what was put aside to its place, and remove what the published release does not have."""
    note = folder / ASIDE / NOTE
    try:
        noted = json.loads(note.read_text(encoding="utf-8"))
        new, stale = ([str(name) for name in noted[key]] for key in ("new", "stale"))
    except (ValueError, TypeError, KeyError):
        raise ReleaseError(f"{note} is none of this program's; remove {note.parent}") from None
    for name in new:
        copy = folder / ASIDE / _COPIES / name
        # What is gone from there stands in its place.
        if _is_inside(name) and copy.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy.replace(folder / name)
    for name in stale:
        if _is_inside(name):
            _remove(folder, name)


def _remove_aside(folder: Path) -> None:
    """The note goes last: copies without it would be an update that has not begun."""
    shutil.rmtree(folder / ASIDE / _COPIES, ignore_errors=True)
    shutil.rmtree(folder / ASIDE, ignore_errors=True)


def _text(root: Path) -> str:
    """Its card with the line ends that it has, as `LocalSide` reads it."""
    return (root / README).read_bytes().decode("utf-8", "replace") if (root / README).is_file() else ""


def _files(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.is_file()]


def _same(first: Path, second: Path) -> bool:
    return first.resolve() == second.resolve() or filecmp.cmp(first, second, shallow=False)


def _is_inside(name: str) -> bool:
    return ".." not in PurePosixPath(name).parts and not PurePosixPath(name).is_absolute()


def _remove(root: Path, name: str) -> None:
    """Remove a file below `root`, and folders that this leaves empty."""
    (root / name).unlink(missing_ok=True)
    for parent in (root / name).parents:
        if parent == root or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
