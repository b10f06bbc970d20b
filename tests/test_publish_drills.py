"""Publishing is killed at any request or moment: the Hub has the old version or the new; a rerun finishes."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import pytest
from drills import Client, Drill, Scene

pytestmark = pytest.mark.slow

MOMENTS = 5


def finished(drill: Drill, all_sent: bool = False) -> list[str]:
    """What is wrong after a run was disturbed, and after the next one.

    `all_sent` says that the contents of all large files had been sent before.
    """
    drill.settle()
    wrong = drill.mixed()
    before = len(drill.server.requests)
    code, said = drill.publish()
    if code:
        return [*wrong, f"the next run ends with {code}: {said}"]
    if all_sent and any("xet-write-token" in one.path for one in drill.server.requests[before:]):
        wrong.append("large files were sent again")
    return [*wrong, *drill.unfinished()]


def test_killed_at_any_request(drilled: tuple[Client, list[Scene]], tmp_path: Path) -> None:
    """Before the server does what was asked, and after it did: the answer finds nobody."""
    client, scenes = drilled
    wrong = []
    for scene in scenes:
        for request in scene.steps:
            # Of the many requests for single files, every second one is carried out.
            only = request not in scene.writes or request % 2 == 0
            for lost in (True, False) if request in scene.turning else (only,):
                with Drill(scene, tmp_path / "drill", client) as drill:
                    drill.before(request, client.kill)
                    if lost:
                        drill.fail(request, None)
                    code, _ = drill.publish()
                    found = [] if code == -signal.SIGKILL else [f"not killed, but {code}"]
                    found += finished(drill, all_sent=request > scene.sent)
                place = f"{scene.name}, request {request}, {'lost' if lost else 'carried out'}"
                wrong += [f"{place}: {what}" for what in found]
    assert wrong == []


def test_killed_at_any_moment(drilled: tuple[Client, list[Scene]], tmp_path: Path) -> None:
    client, scenes = drilled
    generator = random.Random(20)
    wrong = []
    for scene in scenes:
        start = time.monotonic()
        with Drill(scene, tmp_path / "drill", client) as drill:
            drill.publish()
        whole = time.monotonic() - start
        for _ in range(MOMENTS):
            moment = generator.random() * whole
            with Drill(scene, tmp_path / "drill", client) as drill:
                timer = threading.Timer(moment, client.kill)
                timer.start()
                drill.publish()
                timer.cancel()
                timer.join()
                wrong += [f"{scene.name}, after {moment:.2f} s: {what}" for what in finished(drill)]
    assert wrong == []


def test_killed_again_and_again(drilled: tuple[Client, list[Scene]], tmp_path: Path) -> None:
    """Each run is killed a few requests later than the one before; the last one ends well."""
    client, scenes = drilled
    for scene in scenes:
        with Drill(scene, tmp_path / "drill", client) as drill:
            for request in range(2, len(scene.requests), 3):
                drill.server.faults.clear()
                drill.before(request, client.kill)
                code, _ = drill.publish()
                drill.settle()
                assert drill.mixed() == []
                if code == 0:
                    break
                assert code == -signal.SIGKILL
            drill.server.faults.clear()
            assert finished(drill) == []
