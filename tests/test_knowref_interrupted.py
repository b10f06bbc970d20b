"""Mining that ends early: a full disk, a bad dump, a killed process; what stands then, and going on."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import USER_CACHE
from knowref_helpers import FlatParser, write_dump

from benchwright import atomic
from benchwright.builders.knowref import _stages, mining
from benchwright.builders.knowref._stages import Seen, made_folder
from benchwright.cli import main

MEN = ("Kevin", "Robert", "Dustin", "Gordon")
BODIES = [
    f"{first} yelled at {second} because he was so very angry about what happened yesterday."
    for first in MEN
    for second in MEN
    if first != second
]
FULL = (
    "the disk is full (No space left on device); free some space; the same command goes on where it stopped"
)
Run = Callable[[list[str]], tuple[int, list[str]]]


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def dump(tmp_path: Path, tagger: object) -> Path:
    del tagger
    return write_dump(tmp_path / "RC_2006-01.bz2", BODIES)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command line with a parser of the tests' own; its exit code and the lines of its errors."""
    monkeypatch.setattr(mining, "loaded_parser", lambda *_: FlatParser())

    def command(words: list[str]) -> tuple[int, list[str]]:
        code = main(words)
        return code, [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]

    return command


def mine(dump: Path, out: Path) -> list[str]:
    return ["mine", "knowref", str(dump), "--out", str(out), "--cache", str(USER_CACHE)]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Disk:
    """Refuses the writes of files from the one numbered `full` on; counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes, self.full = 0, sys.maxsize
        flush = os.fsync

        def fsync(descriptor: int) -> None:
            if self.writes >= self.full:
                raise full_disk()
            self.writes += 1
            flush(descriptor)

        monkeypatch.setattr(atomic.os, "fsync", fsync)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_a_disk_that_fills_up_at_every_file_of_mining(
    dump: Path, tmp_path: Path, run: Run, disk: Disk
) -> None:
    assert run(mine(dump, tmp_path / "whole")) == (0, [])
    whole, writes = files(tmp_path / "whole"), disk.writes
    assert [name for name in whole if name != "stages.json"] == [
        "chunked.jsonl", "problems.jsonl", "sentences/RC_2006-01.bz2.jsonl", "swapped.jsonl",
    ]  # fmt: skip
    for number in range(writes):
        out = tmp_path / f"full-{number}" / "mined"
        disk.writes, disk.full = 0, number
        code, errors = run(mine(dump, out))
        assert (code, errors) == (2, [f"error: {FULL}"]), number
        if number < 2:
            # Not a folder is left of a run that has made nothing.
            assert not out.parent.exists()
        else:
            found = files(out)
            assert {name: found[name] for name in found if name != "stages.json"}.items() <= whole.items()
            assert not [path for path in out.rglob("*") if path.is_dir() and not any(path.iterdir())]
        disk.full = sys.maxsize
        assert run(mine(dump, out)) == (0, [])
        assert files(out) == whole


def test_a_disk_that_fills_up_within_a_file(
    dump: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def small(path: Path, *arguments: Any) -> Iterator[Any]:
        with atomic.atomic_open(path, *arguments) as stream:
            lines = iter(range(3))

            class Stream:
                def write(self, text: str) -> None:
                    stream.write(text)
                    if next(lines, None) is None:
                        raise full_disk()

            yield Stream()

    out = tmp_path / "mined"
    with monkeypatch.context() as patched:
        patched.setattr(_stages, "atomic_open", small)
        assert run(mine(dump, out)) == (2, [f"error: {FULL}"])
    assert not out.exists()
    out.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(_stages, "atomic_open", small)
        assert run(mine(dump, out))[0] == 2
    assert list(out.iterdir()) == [], "a folder of the user's stays, as empty as it was"
    assert run(mine(dump, out)) == (0, [])


def test_a_full_disk_of_temporary_files_is_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL

    class Table:
        def execute(self, *_: object) -> None:
            raise error

        def close(self) -> None:
            pass

    with Seen() as seen:
        seen._table.close()
        monkeypatch.setattr(seen, "_table", Table())
        with pytest.raises(OSError, match="No space left") as caught:
            seen.add("text")
        assert caught.value.errno == errno.ENOSPC
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        with pytest.raises(sqlite3.OperationalError):
            seen.add("text")


def test_a_bad_dump_leaves_nothing_and_the_folder_can_be_used(dump: Path, tmp_path: Path, run: Run) -> None:
    bad = tmp_path / "RC_2006-00.bz2"
    bad.write_bytes(dump.read_bytes()[:40])
    out = tmp_path / "mined"
    code, (error,) = run(mine(bad, out))
    assert code == 2
    assert "RC_2006-00.bz2" in error
    assert not out.exists()
    assert run(mine(dump, out)) == (0, [])


def test_a_killed_process_is_no_hindrance(dump: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "mined"
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from benchwright.builders.knowref._stages import StageFolder\n"
        "def records():\n"
        "    def lines():\n"
        "        yield {'sentence': 'half'}\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return lines(), None\n"
        "StageFolder(Path(sys.argv[1])).run('sentences/RC_2006-01.bz2.jsonl', {}, records)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(out)], check=False).returncode == -9
    assert [path for path in (out / "sentences").iterdir() if ".part-" in path.name]
    assert run(mine(dump, out)) == (0, [])
    assert not [name for name in files(out) if ".part-" in name]


def labels(mined: Path, path: Path) -> Path:
    records = [json.loads(line) for line in (mined / "swapped.jsonl").read_text().splitlines()]
    rows = [
        {"task_id": record["task_id"], "annotator": str(number), "answer": record["candidate0"]}
        for record in records
        for number in range(5)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_full_disk_leaves_no_half_of_tasks_and_labels(
    dump: Path, tmp_path: Path, run: Run, disk: Disk
) -> None:
    mined = tmp_path / "mined"
    assert run(mine(dump, mined)) == (0, [])
    answers = labels(mined, tmp_path / "labels.jsonl")
    commands = {
        "tasks": ["mine", "export-tasks", str(mined)],
        "labelled": ["mine", "import-labels", str(mined), str(answers)],
    }
    for name, command in commands.items():
        disk.writes, disk.full = 0, sys.maxsize
        assert run([*command, "--out", str(tmp_path / name)]) == (0, [])
        whole, writes = files(tmp_path / name), disk.writes
        assert writes == len(whole)
        for number in range(writes):
            out = tmp_path / f"{name}-{number}" / "made"
            disk.writes, disk.full = 0, number
            assert run([*command, "--out", str(out)]) == (2, [f"error: {FULL}"])
            assert not out.parent.exists()
            disk.full = sys.maxsize
            assert run([*command, "--out", str(out)]) == (0, [])
            assert files(out.parent) == {f"made/{file}": data for file, data in whole.items()}


def test_what_a_killed_import_left_is_not_taken_over(dump: Path, tmp_path: Path, run: Run) -> None:
    mined = tmp_path / "mined"
    assert run(mine(dump, mined)) == (0, [])
    left = tmp_path / ".labelled.part"
    left.mkdir()
    (left / "KnowRef-60K_dev.json").write_text("{}\n")
    answers = labels(mined, tmp_path / "labels.jsonl")
    out = tmp_path / "labelled"
    assert run(["mine", "import-labels", str(mined), str(answers), "--out", str(out)]) == (0, [])
    assert not left.exists()
    assert "KnowRef-60K_dev.json" not in files(out)


def test_only_folders_that_were_made_go_away(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyError), made_folder(tmp_path / "there" / "new" / "newer"):
        raise KeyError
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]
    kept = tmp_path / "there" / "new" / "kept.txt"

    def write() -> None:
        with made_folder(kept.parent):
            kept.write_text("")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert kept.is_file()
