"""The server fails at request k, for every k (hub PR 4331): the remote is old or new, never mixed.

A 500 after the commit happened (datasets PR 7708) is recognised: there is one commit in the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drills import Client, Drill, Scene

pytestmark = pytest.mark.slow

ALWAYS = 10**9
# What one request after the other meets: it is not carried out, or the answer is lost.
FAULTS = (
    ({"status": 500}, {"status": 429, "headers": {"Retry-After": "3"}}, {"status": 503}, {"status": None}),
    ({"status": 500, "after": True}, {"status": None, "after": True}),
)


def one_error(said: str) -> list[str]:
    """Whether a failed run ends in one line, without a traceback."""
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if len(errors) == 1 and said.splitlines()[-1] == errors[0] and "Traceback" not in said:
        return []
    return [f"not one line: {said}"]


@pytest.mark.parametrize("faults", FAULTS, ids=["refused", "carried out"])
def test_failures_do_not_keep_a_version_from_being_published(
    drilled: tuple[Client, list[Scene]], faults: tuple[dict[str, Any], ...], tmp_path: Path
) -> None:
    """From request k on, one request after the other fails in another way."""
    client, scenes = drilled
    wrong = []
    for scene in scenes:
        for request in scene.steps if faults is FAULTS[0] else scene.writes:
            with Drill(scene, tmp_path / "drill", client) as drill:
                for number, fault in enumerate(faults):
                    drill.fail(request + number, **fault)
                code, said = drill.publish()
                found = drill.unfinished() if code == 0 else [f"ends with {code}: {said}"]
            wrong += [f"{scene.name}, request {request}: {what}" for what in found]
    assert wrong == []


def test_a_server_that_fails_for_ever_leaves_old_or_new(
    drilled: tuple[Client, list[Scene]], tmp_path: Path
) -> None:
    client, scenes = drilled
    wrong = []
    for scene in scenes:
        for request in scene.steps:
            with Drill(scene, tmp_path / "drill", client) as drill:
                drill.fail(request, 500, times=ALWAYS)
                code, said = drill.publish()
                found = [] if code == 2 else [f"ends with {code}"]
                found += [*one_error(said), *drill.mixed()]
                if request <= scene.commit and drill.tree() == scene.new:
                    found.append("main is new, though the commit failed")
                if request in scene.turning:
                    drill.server.faults.clear()
                    code, said = drill.publish()
                    found += drill.unfinished() if code == 0 else [f"the next run ends with {code}: {said}"]
            wrong += [f"{scene.name}, request {request}: {what}" for what in found]
    assert wrong == []


def test_a_refusal_ends_the_run_at_once(drilled: tuple[Client, list[Scene]], tmp_path: Path) -> None:
    """401 at every second request that writes, 403 at the others."""
    client, scenes = drilled
    wrong = []
    for scene in scenes:
        for request in scene.writes:
            status = (401, 403)[request % 2]
            with Drill(scene, tmp_path / "drill", client) as drill:
                drill.fail(request, status, times=ALWAYS)
                code, said = drill.publish()
                found = [] if code == 2 else [f"ends with {code}"]
                found += [*one_error(said), *drill.mixed()]
                # Several files have the same address for "verify".
                asked = [one.path for one in drill.server.requests if one.status == status]
                asked = [path for path in asked if not path.endswith("/lfs/verify")]
                if len(asked) > len(set(asked)):
                    found.append(f"asked again: {asked}")
            wrong += [f"{scene.name}, request {request}, {status}: {what}" for what in found]
    assert wrong == []
