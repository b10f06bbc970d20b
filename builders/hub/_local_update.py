"""Bringing the folder that was published to what now stands on the Hub, so that a kill can be repaired."""

from __future__ import annotations

import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from ...atomic import atomic_path, write_text
from ...cards.card import README
from ...errors import ReleaseError
from ...release import MANIFEST, ReleaseFolder
from .._staging import writing
from .remote import release_paths

INTENT = ".publishing.json"
"""Names the files that an update of the folder adds and removes; it stands there only meanwhile."""


def repair(folder: Path) -> None:
    """Undo an update that was killed before the new manifest stood, or finish one that was killed after.

    Raises ReleaseError if the disk refuses.
    """
    intent = folder / INTENT
    if not intent.is_file():
        return
    with writing(folder):
        try:
            noted = json.loads(intent.read_text(encoding="utf-8"))
            parts = (noted["version"], [str(name) for name in noted["added"]], [*map(str, noted["stale"])])
        except (ValueError, TypeError, KeyError):
            raise ReleaseError(f"{intent} is none of this program's; remove it") from None
        version, added, stale = parts
        done = ReleaseFolder(folder).publication.version == version
        for name in stale if done else added:
            _remove(folder, name)
        intent.unlink()


def adopt(published: ReleaseFolder, folder: Path, former: dict[str, Any]) -> bool:
    """Make `folder` the published release: its files, then its manifest, then its card.

    `former` is the manifest that the folder had when it was read. Returns False, with the folder left as it
    is, if it has another one by now. Raises ReleaseError if the disk refuses.
    """
    if ReleaseFolder(folder).manifest != former:
        return False
    there = {path.relative_to(published.path).as_posix(): path for path in _files(published.path)}
    here = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    own = set(release_paths(ReleaseFolder(folder), here))
    last = {MANIFEST, README}
    new = [name for name, path in there.items() if name not in last and not _same(path, here.get(name))]
    stale = sorted(own - there.keys())
    with writing(folder):
        if new or stale:
            added = [name for name in new if name not in here]
            noted = {"version": published.publication.version, "added": added, "stale": stale}
            write_text(folder / INTENT, json.dumps(noted))
        for name in new:
            with atomic_path(folder / name) as part:
                shutil.copyfile(there[name], part)
        for name in (MANIFEST, README):
            write_text(folder / name, there[name].read_text(encoding="utf-8"))
        for name in stale:
            _remove(folder, name)
        (folder / INTENT).unlink(missing_ok=True)
    return True


def _files(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.is_file() and path.name != INTENT]


def _same(first: Path, second: Path | None) -> bool:
    if second is None:
        return False
    if first.resolve() == second.resolve():
        return True
    return first.stat().st_size == second.stat().st_size and first.read_bytes() == second.read_bytes()


def _remove(root: Path, name: str) -> None:
    """Remove a file below `root`, and folders that this leaves empty."""
    if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
        return
    (root / name).unlink(missing_ok=True)
    for parent in (root / name).parents:
        if parent == root or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
