"""Trial 37: 429 with Retry-After waits; 401 and 403 stop at once (hub #3186). The command line, for real."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hub_fixtures import RunningHub

REPO = "acme/reviews"


@pytest.fixture
def reviews(hub: RunningHub) -> RunningHub:
    """A Hub with a small table of labelled texts."""
    hub.api().create_repo(REPO, repo_type="dataset")
    rows = "".join(f"text number {n},{'ab'[n % 2]}\n" for n in range(40))
    hub.repository(REPO).plant({"data/train.csv": f"text,label\n{rows}".encode()})
    hub.requests.clear()
    return hub


def command(out: Path) -> list[str]:
    options = ["--text", "text", "--label", "label", "--by", "random", "--licence", "mit"]
    return [sys.executable, "-m", "benchwright", "split", f"{REPO}@main", *options, "--out", str(out)]


def run(hub: RunningHub, out: Path, user: str | None = "alice") -> subprocess.CompletedProcess[str]:
    environment = hub.environment(user)
    return subprocess.run(command(out), env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("path", ["/refs", "/tree/", "/resolve/"])
def test_a_limit_is_waited_for_and_the_user_told(reviews: RunningHub, tmp_path: Path, path: str) -> None:
    reviews.fail(status=429, headers={"Retry-After": "2"}, path=path, times=1 + (path == "/resolve/"))
    begin = time.monotonic()
    done = run(reviews, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begin >= 2
    assert f"{REPO}@main: the Hub answered 429: A fault made by the test; waiting 2 s" in done.stderr
    assert (tmp_path / "out" / "manifest.json").is_file()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_stops_at_once(reviews: RunningHub, tmp_path: Path, status: int) -> None:
    reviews.fail(status=status, headers={"Retry-After": "60"}, path="/refs", times=10)
    done = run(reviews, tmp_path / "out")
    assert done.returncode == 2
    place, told = f"{REPO}@main", f"({status}: A fault made by the test)"
    assert done.stderr == (
        f"error: {place}: the Hub refuses access {told}; HF_TOKEN is set and goes before a login; "
        "run: unset HF_TOKEN; hf auth login\n"
    )
    assert [record.status for record in reviews.requests] == [status]
    assert not (tmp_path / "out").exists()


def test_a_token_that_is_not_known(reviews: RunningHub, tmp_path: Path) -> None:
    environment = reviews.environment() | {"HF_TOKEN": "hf_" + "NobodyKnowsThisToken"}
    done = subprocess.run(
        command(tmp_path / "out"), env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "refuses access (401" in done.stderr
    assert "NobodyKnows" not in done.stderr
    assert len(reviews.requests) == 1


def test_ctrl_c_ends_a_wait(reviews: RunningHub, tmp_path: Path) -> None:
    reviews.fail(status=429, headers={"Retry-After": "500"}, path="/refs")
    # Where the tests run in the background, shells let children ignore the signal.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        waiting = subprocess.Popen(
            command(tmp_path / "out"), env=reviews.environment(), stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, heard)
    with waiting as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert "waiting 500 s" in next(line for line in lines if "waiting" in line)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=30) == 130
    assert time.monotonic() - begin < 30
    assert rest == "interrupted; the same command goes on where it stopped\n"
