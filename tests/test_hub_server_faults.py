"""The Hub's test server: faults, hooks and latency on demand."""

from __future__ import annotations

import subprocess
import sys
import time

import httpx2
import pytest
from hub_fixtures import RunningHub
from hub_helpers import NAME, add, create, publish, refused
from hub_server import Fault, FaultPlan

COMMITS = "/commit/"


@pytest.mark.parametrize("status", [401, 403, 412, 429, 500, 503])
def test_the_kth_request_fails(hub: RunningHub, status: int) -> None:
    head = publish(hub, 5)
    hub.requests.clear()
    hub.fail(2, status, headers={"Retry-After": "7"}, method="POST", path=COMMITS)
    second = add(hub, {"a.txt": b"a"})
    assert second != head
    error = refused(status, lambda: add(hub, {"b.txt": b"b"}))
    assert error.response.headers["Retry-After"] == "7"
    assert hub.repository(NAME).head() == second
    add(hub, {"b.txt": b"b"})
    statuses = [record.status for record in hub.requests if COMMITS in record.path]
    assert statuses == [200, status, 200]


def test_a_fault_lasts_as_long_as_it_is_asked_to_or_until_it_is_healed(hub: RunningHub) -> None:
    create(hub)
    info = hub.api().dataset_info
    hub.fail(1, 500, times=2)
    for _ in range(2):
        refused(500, lambda: info(NAME))
    assert info(NAME).id == NAME
    hub.fail(1, 500, times=100)
    refused(500, lambda: info(NAME))
    hub.heal()
    assert info(NAME).id == NAME


def test_the_answer_is_lost_after_the_work_was_done(hub: RunningHub) -> None:
    head = publish(hub, 5)
    hub.fail(1, 500, after=True, path=COMMITS)
    refused(500, lambda: add(hub, {"a.txt": b"a"}))
    assert hub.repository(NAME).files()["a.txt"] == b"a"
    assert hub.repository(NAME).commits()[0].parents == (head,)


@pytest.mark.parametrize("after", [False, True])
def test_the_connection_is_dropped(hub: RunningHub, after: bool) -> None:
    publish(hub, 5)
    hub.drop(1, after=after, path=COMMITS)
    with pytest.raises(httpx2.TransportError):
        add(hub, {"a.txt": b"a"})
    assert ("a.txt" in hub.repository(NAME).files()) == after
    assert [record.status for record in hub.requests if COMMITS in record.path][-1] == 0


def test_a_hook_runs_before_the_request_is_handled(hub: RunningHub) -> None:
    head = publish(hub, 5)
    hub.hook(1, lambda: add(hub, {"theirs.txt": b"x"}), path=COMMITS)
    refused(412, lambda: add(hub, {"ours.txt": b"x"}, parent_commit=head))
    assert "theirs.txt" in hub.repository(NAME).files()


def test_a_hook_can_kill_a_client_and_nothing_is_half_done(hub: RunningHub) -> None:
    head = publish(hub, 5)
    program = (
        "from huggingface_hub import HfApi\n"
        f"HfApi().upload_file(path_or_fileobj=b'x', path_in_repo='a.txt', repo_id={NAME!r},"
        " repo_type='dataset')\n"
    )
    client: list[subprocess.Popen[bytes]] = []
    hub.hook(1, lambda: client[0].kill(), path="/preupload/")
    client.append(subprocess.Popen([sys.executable, "-c", program], env=hub.environment()))
    assert client[0].wait(60) == -9
    assert hub.repository(NAME).head() == head


def test_latency_is_waited_for(hub: RunningHub) -> None:
    hub.latency(0.3)
    start = time.monotonic()
    hub.api().whoami()
    assert time.monotonic() - start >= 0.3


def test_several_rules_count_the_same_requests() -> None:
    plan = FaultPlan()
    plan.add(Fault(request=2, status=500))
    plan.add(Fault(request=2, times=2, status=503))
    plan.add(Fault(request=1, method="POST", status=429))
    found = [plan.strike(method, "/x")[0] for method in ("GET", "GET", "GET", "POST", "POST")]
    assert [fault.status if fault else None for fault in found] == [None, 500, 503, 429, None]
