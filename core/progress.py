"""Progress of long work: a bar with rate and estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

_LINE_EVERY = 15.0


class Progress(Protocol):
    """Called with the number of units finished since the last call."""

    def __call__(self, done: int) -> None: ...


def silent(done: int) -> None:
    """Progress that says nothing: what the Python API uses unless told otherwise."""


Stage = Callable[[str, int, str], AbstractContextManager[Progress]]
"""Opens the progress of one piece of work: label, total (0: not known), unit.

`show` and `no_progress` are such.
"""


@contextmanager
def no_progress(label: str, total: int, unit: str) -> Iterator[Progress]:
    """Progress that shows nothing."""
    yield silent


@contextmanager
def show(label: str, total: int, unit: str) -> Iterator[Progress]:
    """Report on standard error; a line every 15 seconds where it is no terminal."""
    if sys.stderr.isatty():
        with _bar(label, total, unit) as report:
            yield report
    else:
        yield _lines(label, total, unit)


def _speed(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"


@contextmanager
def _bar(label: str, total: int, unit: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{_speed(speed)} {unit}/s" if speed else f"- {unit}/s")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total or None)
        yield lambda done: bar.advance(task, done)


def _lines(label: str, total: int, unit: str) -> Progress:
    start = last = time.monotonic()
    finished = 0

    def report(done: int) -> None:
        nonlocal finished, last
        finished += done
        now = time.monotonic()
        # What is over at once needs no line.
        if now - last >= _LINE_EVERY or (finished >= total > 0 and now - start >= 1):
            last = now
            rate = finished / max(now - start, 1e-9)
            left = (total - finished) / rate if rate else 0.0
            of_all, ends = (f"/{total}", f", {left:.0f} s left") if total else ("", "")
            print(
                f"{label}: {finished}{of_all} {unit}, {_speed(rate)}/s{ends}",
                file=sys.stderr,
                flush=True,
            )

    return report
