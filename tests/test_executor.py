"""Maps over shards: equal answers from every executor, and none lost when a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from benchwright.errors import PrerequisiteError, SourceError, SourceErrors, UsageError
from benchwright.executor import (
    Executor,
    LocalExecutor,
    RayExecutor,
    SerialExecutor,
    WorkerError,
    open_executor,
)


def _square(number: int) -> int:
    return number * number


def _place(number: int) -> tuple[int, int]:
    return number, os.getpid()


def _fails_at_three(number: int) -> int:
    if number == 3:
        raise SourceError("a bad shard", row=number)
    return number


def _fails_with_all_it_knows(number: int) -> int:
    if number == 0:
        raise SourceErrors([SourceError("a bad row", path="a.txt", row=7)], more=True)
    raise PrerequisiteError("no zstandard", "pip install zstandard")


def _dies_once(number: int, *, folder: Path, at: int) -> int:
    """Killed the first time it comes to `at`, as if by the system for want of memory."""
    mark = folder / f"died-{number}"
    if number == at and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def _dies_always(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def ray_executor() -> Executor:
    with RayExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def local_executor() -> Executor:
    with LocalExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["serial", "local", "ray"])
def executor(request: pytest.FixtureRequest) -> Executor:
    if request.param == "serial":
        return SerialExecutor()
    return request.getfixturevalue(f"{request.param}_executor")


def test_results_in_order_and_progress(executor: Executor) -> None:
    reported: list[int] = []
    assert executor.map(_square, range(20), progress=reported.append) == [n * n for n in range(20)]
    assert reported == [1] * 20
    assert executor.map(_square, []) == []


def test_errors_arrive_as_they_are(executor: Executor) -> None:
    with pytest.raises(SourceError, match=r"^row 3: a bad shard$"):
        executor.map(_fails_at_three, range(6))
    assert executor.map(_square, [5]) == [25]
    with pytest.raises(SourceErrors) as told:
        executor.map(_fails_with_all_it_knows, [0])
    assert str(told.value).startswith("a.txt, row 7: a bad row\nat least 1 bad row(s)")
    assert told.value.faults[0].row == 7
    with pytest.raises(PrerequisiteError, match="no zstandard; run: pip install zstandard"):
        executor.map(_fails_with_all_it_knows, [1])


@pytest.mark.parametrize("name", ["local", "ray"])
def test_a_killed_worker_costs_no_shard(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    executor = request.getfixturevalue(f"{name}_executor")
    work = partial(_dies_once, folder=tmp_path, at=4)
    assert executor.map(work, range(9)) == [n * n for n in range(9)]
    assert (tmp_path / "died-4").exists()


@pytest.mark.parametrize("name", ["local", "ray"])
def test_a_shard_that_kills_every_worker(name: str, request: pytest.FixtureRequest) -> None:
    executor = request.getfixturevalue(f"{name}_executor")
    with pytest.raises(WorkerError, match="the worker of shard 2 died 4 times"):
        executor.map(_dies_always, range(4))
    assert executor.map(_square, range(3)) == [0, 1, 4]


def test_work_is_done_elsewhere(local_executor: Executor, ray_executor: Executor) -> None:
    for executor in (local_executor, ray_executor):
        found = executor.map(_place, range(6))
        assert [number for number, _ in found] == list(range(6))
        assert os.getpid() not in {process for _, process in found}


def test_names_and_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_executor("serial"), SerialExecutor)
    assert isinstance(open_executor("local", workers=1), LocalExecutor)
    with pytest.raises(UsageError, match="did you mean local"):
        open_executor("locale")
    with pytest.raises(UsageError, match="at least one worker"):
        open_executor("local", workers=0)
    with pytest.raises(UsageError, match="no use with the executor 'local'"):
        open_executor("local", address="auto")


def test_missing_ray_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    absent: ModuleType | None = None
    monkeypatch.setitem(sys.modules, "ray", absent)
    with pytest.raises(PrerequisiteError, match=r"pip install benchwright\[ray\]"):
        open_executor("ray")


def test_workers_have_nothing_to_say_of_an_interrupt(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, time\n"
        "from benchwright.executor import LocalExecutor\n"
        "def who(seconds):\n"
        "    time.sleep(seconds)\n"
        "    return os.getpid()\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(3) as executor:\n"
        # All three must be up: one that has not begun yet is interrupted by Python's own rules.
        "        while len(set(executor.map(who, [0.3] * 3))) < 3:\n"
        "            pass\n"
        "        print('ready', flush=True)\n"
        "        try:\n"
        "            executor.map(who, [60, 60])\n"
        "        except KeyboardInterrupt:\n"
        "            print('interrupted')\n",
        encoding="utf-8",
    )
    run = subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    # Two workers are busy or about to be, one is idle; all are interrupted, as by a terminal.
    time.sleep(0.5)
    os.killpg(run.pid, signal.SIGINT)
    assert run.communicate(timeout=30) == ("interrupted\n", "")
    assert run.returncode == 0
