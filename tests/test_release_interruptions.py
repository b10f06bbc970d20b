"""A build that fails, is killed or is run twice: the target is old or absent; a second run completes it."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import release_helpers as helpers

from benchwright.builders import release as writing
from benchwright.builders.release import ReleaseWriter, check_target
from benchwright.errors import ReleaseError

OTHER_PLAN = "f" * 64


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """Bytes of an uninterrupted release that replaces an older one, and the disk operations it takes."""
    target = tmp_path_factory.mktemp("clean") / "made"
    write_older(target)
    with helpers.disturbed(lambda number: None) as count:
        helpers.write_release(target, overwrite=True)
    return helpers.fingerprint(target), count[0]


def write_older(target: Path) -> str:
    """An older release with other rows; the hash of its bytes."""
    return helpers.fingerprint(helpers.write_release(target, specs=[helpers.SPECS[0]], plan=OTHER_PLAN).path)


def failing(at: int, error: Callable[[], BaseException]) -> Callable[[int], None]:
    def act(number: int) -> None:
        if number == at:
            raise error()

    return act


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def counting_writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the parquet files that are written from now on."""
    written: list[str] = []
    original = writing.write_parquet

    def write(table: object, path: Path) -> None:
        written.append(f"{path.parent.name}/{path.name}")
        original(table, path)

    monkeypatch.setattr(writing, "write_parquet", write)
    return written


@pytest.mark.slow
def test_any_failing_disk_operation_leaves_the_old_release_and_a_second_run_completes(
    tmp_path: Path, clean: tuple[str, int]
) -> None:
    expected, operations = clean
    assert operations > 40
    for at in range(1, operations + 1):
        folder = tmp_path / str(at)
        target = folder / "made"
        old = write_older(target)
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with (
            helpers.disturbed(failing(at, lambda full=full: full)),
            pytest.raises((ReleaseError, OSError), match="No space left") as caught,
        ):
            helpers.write_release(target, overwrite=True)
        assert isinstance(caught.value, ReleaseError), f"operation {at} gave a bare {caught.value!r}"
        assert "\n" not in str(caught.value)
        assert helpers.fingerprint(target) == old, f"operation {at}"
        helpers.write_release(target, overwrite=True)
        assert helpers.fingerprint(target) == expected, f"operation {at}"
        assert names(folder) == ["made"], f"operation {at}"


def test_a_failed_first_build_leaves_nothing_at_the_target(tmp_path: Path, clean: tuple[str, int]) -> None:
    for at in (1, 5, 17, 30, clean[1] - 2):
        target = tmp_path / str(at) / "made"
        with (
            helpers.disturbed(failing(at, lambda: OSError(errno.EIO, "input/output error"))),
            pytest.raises(ReleaseError, match=r"made.*input/output error.*run the same command again"),
        ):
            helpers.write_release(target)
        assert not target.exists()
        assert helpers.fingerprint(helpers.write_release(target).path) == clean[0]


@pytest.mark.slow
def test_a_killed_build_run_again_gives_the_same_bytes(tmp_path: Path, clean: tuple[str, int]) -> None:
    expected, operations = clean
    for at in (2, 11, 23, 37, operations - 2, operations - 1, operations):
        target = tmp_path / str(at) / "made"
        old = write_older(target)
        killed = subprocess.run(
            [sys.executable, helpers.__file__, str(target), str(at)], capture_output=True, check=False
        )
        assert killed.returncode == -9, killed.stderr
        # Between the two moves of a replacement the old folder has another name; the next build restores it.
        assert not target.exists() or helpers.fingerprint(target) == old
        helpers.write_release(target, overwrite=True)
        assert helpers.fingerprint(target) == expected
        assert names(target.parent) == ["made"]


def test_interrupt_keeps_finished_files_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: tuple[str, int]
) -> None:
    target = tmp_path / "made"
    old = write_older(target)

    def interrupt(writer: ReleaseWriter) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        helpers.write_release(target, overwrite=True, before_finish=interrupt)
    assert helpers.fingerprint(target) == old
    assert len(names(tmp_path)) == 3
    written = counting_writes(monkeypatch)
    notes: list[str] = []
    helpers.write_release(target, overwrite=True, before_finish=lambda writer: notes.extend(writer.notes))
    assert written == []
    assert notes == ["continuing an interrupted build: 10 files were finished"]
    assert helpers.fingerprint(target) == clean[0]
    assert names(tmp_path) == ["made"]


@pytest.mark.parametrize("damage", ["changed", "truncated", "removed"])
def test_finished_files_that_do_not_verify_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: tuple[str, int], damage: str
) -> None:
    def stop(writer: ReleaseWriter) -> None:
        path = writer.folder / "random" / "test-00000-of-00001.parquet"
        content = path.read_bytes()
        if damage == "removed":
            path.unlink()
        else:
            path.write_bytes(content[:-1] + (b"?" if damage == "changed" else b""))
        (writer.folder / "left_by_hand.txt").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        helpers.write_release(tmp_path / "made", before_finish=stop)
    written = counting_writes(monkeypatch)
    helpers.write_release(tmp_path / "made")
    assert written == ["random/test-00000-of-00001.parquet"]
    assert helpers.fingerprint(tmp_path / "made") == clean[0]


def test_a_journal_line_cut_by_a_kill_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: tuple[str, int]
) -> None:
    def stop(writer: ReleaseWriter) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        helpers.write_release(tmp_path / "made", before_finish=stop)
    (journal,) = tmp_path.glob(".*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:-9])
    written = counting_writes(monkeypatch)
    helpers.write_release(tmp_path / "made")
    assert written == [json.loads(lines[-1])["file"]]
    assert helpers.fingerprint(tmp_path / "made") == clean[0]


def test_what_another_plan_left_is_removed_with_a_note(tmp_path: Path) -> None:
    def stop(writer: ReleaseWriter) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        helpers.write_release(tmp_path / "made", plan=OTHER_PLAN, before_finish=stop)
    (tmp_path / ".made.staging-notes").mkdir()
    with ReleaseWriter(tmp_path / "made", helpers.PLAN) as writer:
        (note,) = writer.notes
        assert "another plan" in note
    assert names(tmp_path) == [".made.staging-notes"]


def test_two_builds_of_one_target_at_a_time_are_refused(tmp_path: Path) -> None:
    with ReleaseWriter(tmp_path / "made", helpers.PLAN):
        with pytest.raises(ReleaseError, match="another build is writing"):
            ReleaseWriter(tmp_path / "made", OTHER_PLAN).__enter__()
        run = subprocess.run(
            [sys.executable, helpers.__file__, str(tmp_path / "made")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "another build is writing" in run.stderr
    helpers.write_release(tmp_path / "made")


def test_existing_release_needs_overwrite(tmp_path: Path) -> None:
    old = write_older(tmp_path / "made")
    with pytest.raises(ReleaseError, match="--overwrite"):
        check_target(tmp_path / "made", overwrite=False)
    with pytest.raises(ReleaseError, match="--overwrite"):
        ReleaseWriter(tmp_path / "made", helpers.PLAN)
    assert helpers.fingerprint(tmp_path / "made") == old
    assert names(tmp_path) == ["made"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("content", [None, "{", "[]", '{"name": "a web extension"}', '{"format": 1}'])
def test_folders_that_are_no_release_are_never_removed(
    tmp_path: Path, overwrite: bool, content: str | None
) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter.tex").write_text("years of work")
    if content is not None:
        (target / "manifest.json").write_text(content)
    with pytest.raises(ReleaseError, match="left alone"):
        ReleaseWriter(target, helpers.PLAN, overwrite)
    assert (target / "chapter.tex").read_text() == "years of work"


def test_files_and_links_in_the_way_are_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "file/below"):
        with pytest.raises(ReleaseError), ReleaseWriter(tmp_path / name, helpers.PLAN, True):
            pass
    assert (tmp_path / "file").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", ["/", ".."])
def test_targets_without_a_name_are_refused(name: str) -> None:
    with pytest.raises(ReleaseError, match="name a folder"):
        check_target(Path(name), overwrite=True)


def test_a_folder_behind_a_missing_one_is_kept(tmp_path: Path) -> None:
    chapter = tmp_path / "thesis" / "chapter.tex"
    chapter.parent.mkdir()
    chapter.write_text("years of work")
    with pytest.raises(ReleaseError, match="goes up from a folder that does not exist"):
        helpers.write_release(tmp_path / "missing" / ".." / "thesis")
    assert chapter.read_text() == "years of work"
    assert not (tmp_path / "missing").exists()
    helpers.write_release(tmp_path / "thesis" / ".." / "new" / "release")
    assert (tmp_path / "new" / "release" / "manifest.json").is_file()


def test_empty_folders_and_links_to_folders_are_filled(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    helpers.write_release(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "manifest.json").is_file()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    """With the operating system's own error: no file may grow beyond 2,000 bytes."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"sys.path.insert(0, {str(Path(helpers.__file__).parent)!r})\n"
        "import release_helpers\n"
        "from benchwright.errors import ReleaseError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n"
        "    release_helpers.write_release(release_helpers.Path(sys.argv[1]))\n"
        "except ReleaseError as error:\n"
        "    print(error)\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "made")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("\n") == 1
    assert "cannot write" in run.stdout
    assert "File too large" in run.stdout
    assert not (tmp_path / "made").exists()
