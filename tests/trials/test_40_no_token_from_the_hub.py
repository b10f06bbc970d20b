"""Trial 40, the half of the Hub: a token in the environment, an answer, a URL, an exception, a repr or a log
(datasets #6412) is absent from what the user sees and from what is written."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hub_fixtures import RunningHub

from benchwright.builders.hub.client import HubClient
from benchwright.builders.hub.remote import HubRelease, read_state
from benchwright.cli import main
from benchwright.errors import BenchwrightError

REPO = "acme/reviews"


@pytest.fixture
def reviews(hub: RunningHub) -> RunningHub:
    """A Hub with a small table of labelled texts."""
    hub.api().create_repo(REPO, repo_type="dataset")
    rows = "".join(f"text number {n},{'ab'[n % 2]}\n" for n in range(40))
    hub.repository(REPO).plant({"data/train.csv": f"text,label\n{rows}".encode()})
    return hub


def split(hub: RunningHub, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    options = ["--text", "text", "--label", "label", "--by", "random", "--licence", "mit", "--out", str(out)]
    return subprocess.run(
        [sys.executable, "-m", "benchwright", "split", f"{REPO}@main", *options],
        env=hub.environment() | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def everything(done: subprocess.CompletedProcess[str], out: Path) -> bytes:
    """All that was printed and written, names of files included."""
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    written = [part for path in files for part in (str(path).encode(), path.read_bytes())]
    return b"\n".join([done.stdout.encode(), done.stderr.encode(), *written])


@pytest.mark.parametrize("name", ["HF_DEBUG", "HF_HUB_VERBOSITY"])
def test_a_build_that_talks_much_of_what_it_does(reviews: RunningHub, tmp_path: Path, name: str) -> None:
    value = {"HF_DEBUG": "1", "HF_HUB_VERBOSITY": "debug"}[name]
    done = split(reviews, tmp_path / "out", **{name: value})
    assert done.returncode == 0, done.stderr
    assert any(record.signed_in for record in reviews.requests)
    seen = everything(done, tmp_path / "out")
    assert b"manifest.json" in seen
    assert reviews.token.encode() not in seen


def test_an_answer_that_holds_it_in_a_url_that_holds_it(reviews: RunningHub, tmp_path: Path) -> None:
    told = f"Bearer {reviews.token} of http://user:{reviews.token}@hub.invalid is wrong"
    reviews.fail(status=400, path="/tree/", message=told, headers={"X-HF-Warning": f"topic; {told}"})
    endpoint = reviews.endpoint.replace("://", f"://user:{reviews.token}@")
    done = split(reviews, tmp_path / "out", HF_ENDPOINT=endpoint, HF_HUB_VERBOSITY="debug")
    assert done.returncode == 2
    assert "hf_***" in done.stderr
    assert "error: acme/reviews@main: the Hub answered 400" in done.stderr
    assert reviews.token.encode() not in everything(done, tmp_path)


def test_a_hub_that_is_not_there_at_a_url_that_holds_it(reviews: RunningHub, tmp_path: Path) -> None:
    """The Hub client logs the whole address."""
    endpoint = f"http://user:{reviews.token}@127.0.0.1:1"
    client = [
        "from benchwright.builders.hub.client import HubClient",
        "from benchwright.builders.hub.remote import read_state",
        "client = HubClient(wait=lambda seconds: None)",
        f"read_state(client, {REPO!r})",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(client)],
        env=reviews.environment() | {"HF_ENDPOINT": endpoint, "HF_HUB_VERBOSITY": "debug"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    # Without the command line in between, Python prints the exception and all it carries.
    assert done.returncode == 1
    assert "HubUnavailable: acme/reviews: the Hub does not answer" in done.stderr
    assert reviews.token not in done.stderr


def test_objects_do_not_show_it(reviews: RunningHub) -> None:
    reviews.repository(REPO).plant({"manifest.json": b"{}"})
    client = HubClient()
    release = HubRelease(REPO, client=client)
    for thing in (client, client.api, release, release.state, read_state(client, REPO)):
        assert reviews.token not in repr(thing)
        assert reviews.token not in str(thing)
    assert reviews.token not in repr([vars(release), vars(client)])


def test_an_internal_error_that_holds_it(
    reviews: RunningHub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: object) -> int:
        raise RuntimeError(f"Bearer {reviews.token}")

    monkeypatch.setattr("benchwright.cli.app.run", broken)
    assert main(["list"]) == 3
    printed = capfd.readouterr()
    assert "Bearer hf_***" in printed.err
    assert reviews.token not in printed.err + printed.out


def test_an_error_of_ours_that_was_given_it(reviews: RunningHub) -> None:
    error = BenchwrightError(f"cannot read http://user:{reviews.token}@hub.invalid")
    assert str(error) == "cannot read http://user:hf_***@hub.invalid"
    assert reviews.token not in f"{error} {error!s}"


def test_records_of_the_hub_client(reviews: RunningHub, caplog: pytest.LogCaptureFixture) -> None:
    lines: list[str] = []
    logger = logging.getLogger("huggingface_hub")
    handler = logging.StreamHandler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        HubClient()
        logger.warning("sent %s to %s", reviews.token, f"http://user:{reviews.token}@hub.invalid")
    finally:
        logger.removeHandler(handler)
    assert lines == ["sent hf_*** to http://user:hf_***@hub.invalid"]
