"""A folder of stages: each is one file of JSON lines, made whole or not at all, and not made twice."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...atomic import atomic_open, goes_up_from_nothing, write_text
from ...errors import SourceError, UsageError, show
from ...hashing import canonical_json, sha256_text

_STATE = "stages.json"
_FORMAT = 1


@dataclass(frozen=True)
class FunnelStage:
    """How many units a stage kept, and how many it dropped by reason; `unit` is their plural noun."""

    stage: str
    unit: str
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def read(self) -> int:
        return self.kept + sum(self.dropped.values())

    def to_json(self) -> dict[str, Any]:
        """As manifests hold it; reasons in order of their counts."""
        ordered = sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
        return {"stage": self.stage, "unit": self.unit, "kept": self.kept, "dropped": dict(ordered)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FunnelStage:
        return cls(data["stage"], data["unit"], data["kept"], data["dropped"])

    def __str__(self) -> str:
        lines = [f"{self.stage}: {self.kept} of {self.read} {self.unit} kept"]
        lines += [f"  {count:>9} {reason}" for reason, count in self.to_json()["dropped"].items()]
        return "\n".join(lines)


class Counting(Protocol):
    """What a stage counts while its records are written."""

    def funnel(self) -> list[FunnelStage]:
        """Asked when the records have ended."""
        ...


class StageFolder:
    """Files of stages in `root`, and in `stages.json` what each was made from and what it counted.

    `stages.json` is the first file that is written, so that a folder is known again after the process was
    killed in its first stage. Raises UsageError where `root` is a file or holds something else.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        state = root / _STATE
        check_way(root)
        if root.exists() and not root.is_dir():
            raise UsageError(f"{root} is a file; give a folder for the stages")
        if root.is_dir() and not state.is_file() and any(root.iterdir()):
            raise UsageError(f"{root} holds other files; give a new folder")
        self._state: dict[str, Any] = read_json(state) if state.is_file() else {}
        if self._state.get("format", _FORMAT) != _FORMAT:
            raise UsageError(f"{root} was made by another version; give a new folder")

    def run(
        self,
        name: str,
        key: Mapping[str, Any],
        records: Callable[[], tuple[Iterator[dict[str, Any]], Counting]],
        made_of: Sequence[str] = (),
    ) -> str:
        """Make the file `name` unless it stands there, made with the same `key`; returns its sha256.

        `records` gives the lines, to be written as they come, and what counts them. `made_of` are the files
        of the folder that they are read from, where there may be others like them.
        """
        known = self._state.get("files", {}).get(name)
        wanted = sha256_text(canonical_json(dict(key)))
        target = self.root / name
        if known is not None and known["key"] == wanted and target.is_file():
            if known.get("made_of") != list(made_of):
                known["made_of"] = list(made_of)
                self._write_state()
            return str(known["sha256"])
        with made_folder(self.root):
            self._remove_parts()
            self._write_state()
            try:
                with made_folder(target.parent):
                    digest, counts = _write_lines(target, records)
            except BaseException:
                if not self._state.get("files"):
                    (self.root / _STATE).unlink(missing_ok=True)
                raise
        entry = {
            "key": wanted,
            "sha256": f"sha256:{digest}",
            "funnel": [stage.to_json() for stage in counts.funnel()],
            "made_of": list(made_of),
        }
        self._state = {"format": _FORMAT, "files": {**self._state.get("files", {}), name: entry}}
        self._write_state()
        return str(entry["sha256"])

    def _write_state(self) -> None:
        state = {"format": _FORMAT, "files": {}, **self._state}
        write_text(self.root / _STATE, json.dumps(state, indent=2) + "\n")

    def _remove_parts(self) -> None:
        """Remove what processes that were killed had begun to write."""
        for part in (*self.root.glob(".*.part-*"), *self.root.glob("*/.*.part-*")):
            part.unlink(missing_ok=True)

    def funnel(self, names: Iterable[str]) -> list[FunnelStage]:
        """What the files `names` counted, added up stage by stage."""
        summed: dict[tuple[str, str], tuple[int, Counter[str]]] = {}
        for name in names:
            for data in self._state.get("files", {}).get(name, {}).get("funnel", ()):
                stage = FunnelStage.from_json(data)
                kept, dropped = summed.get((stage.stage, stage.unit), (0, Counter()))
                summed[stage.stage, stage.unit] = kept + stage.kept, dropped + Counter(stage.dropped)
        return [FunnelStage(*place, kept, dropped) for place, (kept, dropped) in summed.items()]

    def made_of(self, name: str) -> list[str]:
        """The files that `name` was made of by the last run; those of earlier runs may stand beside them."""
        return list(self._state.get("files", {}).get(name, {}).get("made_of", ()))

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The records of a file. Raises SourceError for a line that is no JSON object."""
        yield from read_lines(self.root / name)


def check_way(path: Path) -> None:
    """Raise UsageError for a place that cannot be looked at yet: it goes up from a folder that is missing."""
    if goes_up_from_nothing(path):
        raise UsageError(f"{path} goes up from a folder that does not exist; give a plain path")


@contextmanager
def made_folder(path: Path) -> Iterator[None]:
    """Make a folder for what is written inside the block; after an exception the empty ones of it are gone.

    Folders that were there before stay.
    """
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for folder in new:
                folder.rmdir()
        raise


def _write_lines(
    target: Path, records: Callable[[], tuple[Iterator[dict[str, Any]], Counting]]
) -> tuple[str, Counting]:
    """Write records as they come; the sha256 of the file in hexadecimal digits, and what counted them."""
    digest = hashlib.sha256()
    lines, counts = records()
    with atomic_open(target) as stream:
        for record in lines:
            line = json.dumps(record, ensure_ascii=False) + "\n"
            digest.update(line.encode())
            stream.write(line)
    return digest.hexdigest(), counts


class Seen:
    """Texts that were met before, on disk: a corpus may have more of them than memory holds.

    Raises OSError where the disk of temporary files is full.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._table = sqlite3.connect(Path(self._folder.name) / "seen.sqlite", isolation_level=None)
        self._table.execute("PRAGMA journal_mode = OFF")
        self._table.execute("PRAGMA synchronous = OFF")
        self._table.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY) WITHOUT ROWID")
        self._table.execute("BEGIN")

    def add(self, text: str) -> bool:
        """Whether `text` is new."""
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        try:
            return self._table.execute("INSERT OR IGNORE INTO seen VALUES (?)", (digest,)).rowcount == 1
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._folder.name) from None

    def close(self) -> None:
        self._table.close()
        self._folder.cleanup()

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises SourceError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise SourceError("no JSON object", path=path, fix="remove the folder and mine again")
    return value


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines. Raises SourceError for other lines."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise SourceError(
                    "no JSON object", path=path, line=number, value=show(line), fix="mine again"
                )
            yield record
