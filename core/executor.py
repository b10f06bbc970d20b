"""Work over shards: in this process, in processes of this machine, or on a Ray cluster, with one answer.

    with open_executor("local", workers=4) as executor:
        results = executor.map(function, shards)

`function` and the shards travel to other processes: a function of a module (or a `functools.partial` of one)
and picklable values. It must give the same result when it runs again, because a shard whose worker died is
run again, at most `attempts` times in all; an exception that it raises ends the map.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeVar

from .errors import BenchwrightError, PrerequisiteError, UsageError
from .progress import Progress, silent
from .registry import closest

Item = TypeVar("Item")
Result = TypeVar("Result")

EXECUTORS = ("serial", "local", "ray")
ATTEMPTS = 4
"""How often one shard is tried before the map gives up."""


class WorkerError(BenchwrightError):
    """Workers died again and again over the same shard."""


class Executor(ABC):
    """Maps functions over shards; a context manager that lets its workers go at the end."""

    @abstractmethod
    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, progress: Progress = silent
    ) -> list[Result]:
        """`[function(item) for item in items]`, in that order whichever ends first; `progress` counts items.

        The first exception of `function` is raised, and what has not begun is left. Raises WorkerError for
        an item whose workers always die.
        """

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many items are worked on at a time."""

    @abstractmethod
    def close(self) -> None:
        """Let the workers go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SerialExecutor(Executor):
    """No other process: one item after another."""

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, progress: Progress = silent
    ) -> list[Result]:
        results: list[Result] = []
        for item in items:
            results.append(function(item))
            progress(1)
        return results

    @property
    def workers(self) -> int:
        return 1

    def close(self) -> None:
        """There is nothing to let go."""


class LocalExecutor(Executor):
    """Processes of this machine, started afresh (spawn), so that no thread or lock is copied into them.

    `workers`: default one for each core that this process may use.
    """

    def __init__(self, workers: int | None = None, *, attempts: int = ATTEMPTS) -> None:
        self._workers = _checked(workers) or _cores()
        self._attempts = attempts
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, progress: Progress = silent
    ) -> list[Result]:
        results: dict[int, Result] = {}
        deaths = [0] * len(items)
        left = list(range(len(items)))
        while left:
            # A death ends all that run beside it. Who has been there often gets its last try alone.
            suspects = [i for i in left if deaths[i] == self._attempts - 1]
            for i in self._run(function, items, suspects[:1] or left, results, progress):
                deaths[i] += 1
                if deaths[i] == self._attempts:
                    raise _dies_always(i, self._attempts)
            left = [i for i in left if i not in results]
        return [results[i] for i in range(len(items))]

    def _run(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        wanted: Sequence[int],
        results: dict[int, Result],
        progress: Progress,
    ) -> list[int]:
        """Work on the `wanted` items, one a worker at a time; returns those that ran when one died."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._workers, mp_context=context, initializer=_end_when_interrupted
            )
        running: dict[Future[Result], int] = {}
        following = iter(wanted)
        try:
            while True:
                for i in islice(following, self._workers - len(running)):
                    running[self._pool.submit(function, items[i])] = i
                if not running:
                    return []
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    results[running[future]] = future.result()
                    del running[future]
                    progress(1)
        except BrokenProcessPool:
            self.close()
            return list(running.values())
        finally:
            for future in running:
                future.cancel()

    @property
    def workers(self) -> int:
        return self._workers

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


class RayExecutor(Executor):
    """Tasks on a Ray cluster: that at `address`, else the one of this process or of RAY_ADDRESS, else one
    started on this machine with `workers` cores and stopped at the end.

    Every node needs the same Python with benchwright, and the paths that shards name. Raises
    PrerequisiteError without Ray, UsageError where the cluster cannot be reached.
    """

    def __init__(
        self, workers: int | None = None, *, address: str | None = None, attempts: int = ATTEMPTS
    ) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise PrerequisiteError("Ray is not installed", "pip install benchwright[ray]") from None
        self._ray: Any = ray
        self._attempts = attempts
        self._started = not ray.is_initialized()
        if self._started:
            joins = address or os.environ.get("RAY_ADDRESS")
            own = {} if joins else {"num_cpus": _checked(workers) or _cores(), "include_dashboard": False}
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
            except Exception as error:
                # Ray raises bare exceptions where processes of its own do not come up.
                raise UsageError(f"no Ray cluster at {joins or 'this machine'}: {error}") from None

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, progress: Progress = silent
    ) -> list[Result]:
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=self._attempts - 1)(_call)
        # As multiprocessing does: what can be imported here can be imported there.
        paths = ray.put(sys.path)
        places = {task.remote(paths, pickle.dumps((function, item))): i for i, item in enumerate(items)}
        results: dict[int, Result] = {}
        waiting = list(places)
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                for reference in done:
                    results[places[reference]] = ray.get(reference)
                    progress(1)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError:
            raise _dies_always(places[reference], self._attempts) from None
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)
        return [results[i] for i in range(len(items))]

    @property
    def workers(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        if self._started:
            self._ray.shutdown()


def open_executor(name: str = "local", *, workers: int | None = None, address: str | None = None) -> Executor:
    """An executor by name: `serial`, `local` or `ray`. `address`: of a Ray cluster.

    Raises UsageError for an unknown name, fewer than one worker, or an address that is not Ray's.
    """
    if address is not None and name != "ray":
        raise UsageError(f"an address of a Ray cluster has no use with the executor {name!r}")
    if name == "serial":
        return SerialExecutor()
    if name == "local":
        return LocalExecutor(workers)
    if name == "ray":
        return RayExecutor(workers, address=address)
    raise UsageError(f"unknown executor {name!r}; {closest(name, EXECUTORS)}")


def _call(paths: list[str], work: bytes) -> Any:
    """One item's work, in a worker of Ray."""
    sys.path.extend(path for path in paths if path not in sys.path)
    function, item = pickle.loads(work)
    return function(item)


def _end_when_interrupted() -> None:
    # A terminal interrupts all processes at once, and only the first of them has something to say of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(workers: int | None) -> int | None:
    if workers is not None and workers < 1:
        raise UsageError(f"at least one worker is needed, got {workers}")
    return workers


def _dies_always(item: int, attempts: int) -> WorkerError:
    return WorkerError(
        f"the worker of shard {item} died {attempts} times; it may need more memory than there is"
    )
