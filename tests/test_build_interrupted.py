"""Builds that score several data sets and end too early: nothing half written, nothing finished lost."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import parts_builder
import pytest
from parts_builder import write_source
from pvi_helpers import SMALL, tiny_encoder
from release_helpers import disturbed, fingerprint

from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.scoring import TableMaker
from benchwright.cli import main
from benchwright.errors import ReleaseError, UsageError
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores._pvi_models import PviModels

CONFIGS = ["colour_simple", "size_hard"]
QUICK = {**SMALL, "epochs": 2}
pytestmark = pytest.mark.filterwarnings(
    "ignore:no usable information",
    "ignore:.*is made with other versions",
    "ignore:continuing an interrupted build",
)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> Iterator[None]:
    with parts_builder.installed():
        yield


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def whole(source: Path, model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release that nothing disturbed, and the cache that it left."""
    folder = tmp_path_factory.mktemp("whole")
    puzzles(source, model, folder / "out", folder / "cache")
    return folder


def puzzles(source: Path, model: str, out: Path, cache: Path, k: int = 2) -> ReleaseFolder:
    return build(
        "puzzles", source=source, out=out, configs=CONFIGS, pvi_model=model, pvi_recipe=QUICK, k=[k],
        cache=cache,
    )  # fmt: skip


def test_rows_that_cannot_be_scored_are_named_before_any_is(source: Path, model: str, tmp_path: Path) -> None:
    """The first table could be made with so many folds, the second cannot."""
    never = patch.object(TableMaker, "make", side_effect=AssertionError("scored"))
    with never, pytest.raises(UsageError) as caught:
        puzzles(source, model, tmp_path / "out", tmp_path / "cache", k=45)
    assert str(caught.value) == (
        "score table pvi_size: 42 rows that train are 42 groups, which cannot fill 45 folds; give fewer "
        "folds or more rows; --configs may leave out those of a part; nothing was scored"
    )
    assert not (tmp_path / "out").exists()


def test_a_part_that_fails_while_it_is_scored_leaves_the_others_in_the_cache(
    source: Path, model: str, whole: Path, tmp_path: Path
) -> None:
    real = PviModels.run
    scored: list[tuple[str, ...]] = []

    def run(models: PviModels, *arguments: object) -> object:
        scored.append(models.pairs.label_names)
        if len(models.pairs.label_names) == 3 and len(scored) == 2:
            raise UsageError("the model of fold 0 gave 3 of 22 inputs no finite logits; lower learning_rate")
        return real(models, *arguments)  # type: ignore[arg-type]

    with patch.object(PviModels, "run", run):
        with pytest.raises(UsageError) as caught:
            puzzles(source, model, tmp_path / "out", tmp_path / "cache")
        message = str(caught.value)
        assert message.startswith("score table pvi_size: the model of fold 0 gave")
        assert message.endswith("; finished tables are kept, and the same command goes on after them")
        assert not (tmp_path / "out").exists()
        puzzles(source, model, tmp_path / "out", tmp_path / "cache")
    assert [len(labels) for labels in scored] == [2, 3, 3], "the first part is not scored again"
    assert fingerprint(tmp_path / "out") == fingerprint(whole / "out")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_disk_that_fills_up_while_a_release_is_written(
    source: Path, model: str, whole: Path, tmp_path: Path, share: float
) -> None:
    cache = Path(shutil.copytree(whole / "cache", tmp_path / "cache"))
    with disturbed(lambda number: None) as count:
        puzzles(source, model, tmp_path / "counted", cache)
    full = 1 + int(share * count[0])

    def write(number: int) -> None:
        if number >= full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with disturbed(write), pytest.raises(ReleaseError, match=r"cannot write .*: No space left on device"):
        puzzles(source, model, tmp_path / "out", cache)
    assert not (tmp_path / "out").exists()
    puzzles(source, model, tmp_path / "out", cache)
    assert fingerprint(tmp_path / "out") == fingerprint(whole / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "counted", "out"]


def test_a_disk_that_fills_up_while_rows_are_scored(
    source: Path, model: str, whole: Path, tmp_path: Path
) -> None:
    def write(number: int) -> None:
        if number >= 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with disturbed(write), pytest.raises(OSError, match="No space left"):
        puzzles(source, model, tmp_path / "out", tmp_path / "cache")
    assert not (tmp_path / "out").exists()
    puzzles(source, model, tmp_path / "out", tmp_path / "cache")
    assert fingerprint(tmp_path / "out") == fingerprint(whole / "out")


def test_a_disk_that_fills_up_in_the_cache_is_told_in_one_line(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["build", "curriculum_difficulty", "--source", "sample", "--configs", "quantifier_simple"]
    command += ["--pvi-model", model, "--k", "2", "--out", str(tmp_path / "out")]
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with patch.object(PviModels, "run", side_effect=full):
        code = main([*command, "--cache", str(tmp_path / "cache")])
    assert code == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "error: the disk is full (No space left on device); free some space; the same command goes on where "
        "it stopped"
    )
    assert not (tmp_path / "out").exists()


def test_ctrl_c_between_two_parts(model: str, tmp_path: Path) -> None:
    """A real signal to a real process, as soon as the first of two tables is in the cache."""
    sample = builders.get("curriculum").sample_folder()
    for part in ("sentiment", "quantifier"):
        shutil.copytree(sample / part, tmp_path / "source" / part)
    recipe = " ".join(f"{name}={value}" for name, value in {**SMALL, "epochs": 4}.items())
    command = [
        sys.executable, "-m", "benchwright", "build", "curriculum_difficulty",
        "--source", str(tmp_path / "source"), "--out", str(tmp_path / "out"), "--k", "2",
        "--configs", "sentiment_simple,quantifier_simple", "--pvi-model", model,
        "--pvi-recipe", recipe, "--cache", str(tmp_path / "cache"),
    ]  # fmt: skip
    # Where the tests run in the background, shells let children ignore the signal.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, heard)
    with running as process:
        while not (first := finished(tmp_path / "cache")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert (process.returncode, said.splitlines()[-1:]) == (
        130,
        ["interrupted; the same command goes on where it stopped"],
    ), said
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "source"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert set(ReleaseFolder(tmp_path / "out").placed_configs) == {"sentiment_simple", "quantifier_simple"}
    after = finished(tmp_path / "cache")
    assert len(after) == 2
    assert first.items() <= after.items(), "the finished table was not made again"


def finished(cache: Path) -> dict[Path, int]:
    """The finished score tables of a cache, with the times at which they were written."""
    return {path: path.stat().st_mtime_ns for path in cache.glob("scores/*/result.scores")}
