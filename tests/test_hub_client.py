"""How the Hub is asked: waits, retries, and errors of one line, against a real server."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import hf_xet
import pytest
from datasets.exceptions import DatasetGenerationError
from hub_fixtures import RunningHub
from huggingface_hub import (
    CommitOperationAdd,
    HfApi,
    close_session,
    constants,
    get_session,
    hf_hub_download,
)

from benchwright.builders.hub.client import (
    AlreadyOnHub,
    HeadMoved,
    HubClient,
    HubUnavailable,
    NotOnHub,
    without_token,
)
from benchwright.errors import BenchwrightError, PrerequisiteError, PublishError

REPO = "acme/toy"
REFS = f"/api/datasets/{REPO}/refs"


class Recorded:
    """A client that does not wait but notes what it would have waited and said, in order."""

    def __init__(self, longest_wait: float = 600.0) -> None:
        self.events: list[float | str] = []
        self.client = HubClient(wait=self.events.append, report=self.events.append, longest_wait=longest_wait)

    @property
    def waits(self) -> list[float]:
        return [event for event in self.events if isinstance(event, float)]

    @property
    def lines(self) -> list[str]:
        return [event for event in self.events if isinstance(event, str)]

    def refs(self, **options: Any) -> Any:
        api = self.client.api
        return self.client.call(REPO, lambda: api.list_repo_refs(REPO, repo_type="dataset"), **options)


@pytest.fixture
def toy(hub: RunningHub) -> RunningHub:
    """A Hub with one data set."""
    hub.api().create_repo(REPO, repo_type="dataset")
    hub.requests.clear()
    return hub


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7.0),
        (429, {"RateLimit": '"api";r=0;t=55'}, 55.0),
        (429, {"RateLimit": '"api";r=0;t=55', "RateLimit-Policy": '"fixed window";"api";q=1000;w=300'}, 55.0),
        (503, {"Retry-After": "3"}, 3.0),
        # Nothing is said: a second, then twice as long each time.
        (429, {}, 1.0),
        # There are requests left, so that they are not the reason.
        (429, {"RateLimit": '"api";r=12;t=55'}, 1.0),
        (429, {"Retry-After": "soon", "RateLimit": '"api";r=0;t=4'}, 4.0),
    ],
)
def test_limits_are_waited_for_as_long_as_the_hub_says(
    toy: RunningHub, status: int, headers: dict[str, str], seconds: float
) -> None:
    toy.fail(status=status, headers=headers, path=REFS)
    recorded = Recorded()
    assert [branch.name for branch in recorded.refs().branches] == ["main"]
    assert recorded.events == [
        f"{REPO}: the Hub answered {status}: A fault made by the test; waiting {seconds:.0f} s, as the Hub "
        "limits requests",
        seconds,
    ]
    assert [record.status for record in toy.requests] == [status, 200]


def test_a_date_to_wait_for(toy: RunningHub) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    toy.fail(status=429, headers={"Retry-After": until}, path=REFS)
    recorded = Recorded()
    recorded.refs()
    assert len(recorded.waits) == 1
    assert 60 < recorded.waits[0] <= 90


def test_waits_grow_when_the_hub_goes_on_refusing(toy: RunningHub) -> None:
    toy.fail(status=429, times=5, headers={"Retry-After": "2"}, path=REFS)
    recorded = Recorded()
    recorded.refs()
    assert recorded.waits == [2.0, 2.0, 4.0, 8.0, 16.0]


def test_waits_are_bounded_in_all(toy: RunningHub) -> None:
    toy.fail(status=429, times=9, headers={"RateLimit": '"api";r=0;t=250'}, path=REFS)
    recorded = Recorded()
    with pytest.raises(HubUnavailable) as caught:
        recorded.refs()
    assert recorded.waits == [250.0, 250.0]
    assert str(caught.value) == (
        "acme/toy: the Hub answered 429: A fault made by the test; waited 500 s, and the Hub asks for 250 s "
        "more; run the same command again after that time"
    )


def test_a_wait_beyond_the_bound_is_not_begun(toy: RunningHub) -> None:
    toy.fail(status=429, headers={"Retry-After": "86400"}, path=REFS)
    recorded = Recorded()
    with pytest.raises(HubUnavailable, match="waited 0 s, and the Hub asks for 86,400 s more"):
        recorded.refs()
    assert recorded.events == []


# The Hub client repeats a HEAD that failed at once, unless it was told to wait.
@pytest.mark.parametrize(
    ("status", "method", "times", "seconds"),
    [
        (429, "HEAD", 1, 500.0),
        (429, "GET", 1, 500.0),
        (503, "HEAD", 1, 500.0),
        (503, "GET", 1, 500.0),
        (500, "HEAD", 2, 1.0),
        (500, "GET", 1, 1.0),
    ],
)
def test_the_hub_client_itself_does_not_wait(
    toy: RunningHub, status: int, method: str, times: int, seconds: float
) -> None:
    """It would sleep for as long as it is told if it saw the answer."""
    headers = {"Retry-After": "500"} if status != 500 else {}
    toy.fail(status=status, headers=headers, method=method, path="/resolve/", times=times)
    recorded = Recorded()
    path = recorded.client.call(REPO, lambda: hf_hub_download(REPO, ".gitattributes", repo_type="dataset"))
    assert path.endswith(".gitattributes")
    assert recorded.waits == [seconds]


def test_failures_are_tried_again_five_times(toy: RunningHub) -> None:
    toy.fail(status=502, times=9, path=REFS)
    recorded = Recorded()
    with pytest.raises(HubUnavailable) as caught:
        recorded.refs()
    assert recorded.waits == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert recorded.lines[1] == (
        "acme/toy: the Hub answered 502: A fault made by the test; trying again in 2 s (2 of 5)"
    )
    assert str(caught.value) == (
        "acme/toy: the Hub answered 502: A fault made by the test 6 times; wait a little and try again"
    )
    assert len(toy.requests) == 6


def test_a_connection_that_breaks_is_tried_again(toy: RunningHub) -> None:
    toy.drop(path=REFS)
    recorded = Recorded()
    assert recorded.refs().tags == []
    assert recorded.waits == [1.0]
    assert recorded.lines[0].startswith("acme/toy: the Hub does not answer (RemoteProtocolError); trying")


@pytest.mark.parametrize("status", [500, 504, None])
def test_what_may_have_been_done_is_not_repeated(toy: RunningHub, status: int | None) -> None:
    if status is None:
        toy.drop(path=REFS, after=True)
    else:
        toy.fail(status=status, path=REFS, after=True)
    recorded = Recorded()
    with pytest.raises(HubUnavailable):
        recorded.refs(retry_server_errors=False)
    assert recorded.events == []
    assert len(toy.requests) == 1


def test_limits_are_waited_for_also_where_nothing_is_repeated(toy: RunningHub) -> None:
    toy.fail(status=429, headers={"Retry-After": "5"}, path=REFS)
    recorded = Recorded()
    recorded.refs(retry_server_errors=False)
    assert recorded.waits == [5.0]


@pytest.mark.parametrize(
    "fault",
    [
        lambda: json.loads("<html>"),
        lambda: _raise(hf_xet.XetObjectNotFoundError("gone")),
        lambda: _raise(DatasetGenerationError("failed"), ConnectionError("reset")),
        lambda: HfApi().run_as_future(_raise, OSError("Consistency check failed")).result(),
    ],
    ids=["cut", "xet", "datasets", "size"],
)
def test_transfers_that_break_are_tried_again(fault: Callable[[], object]) -> None:
    recorded, answers = Recorded(), iter([fault, lambda: 7])
    assert recorded.client.call(REPO, lambda: next(answers)()) == 7
    assert recorded.waits == [1.0]


def test_connections_that_another_thread_has_closed_are_made_again(toy: RunningHub) -> None:
    recorded = Recorded()

    def ask() -> int:
        session = get_session()
        if recorded.events:
            close_session()
        else:
            session.close()
        return (get_session() if recorded.events else session).get(f"{toy.endpoint}{REFS}").status_code

    assert recorded.client.call(REPO, ask) == 200
    assert recorded.lines[0].startswith("acme/toy: the Hub does not answer (RuntimeError); trying again")


def test_storage_that_refuses() -> None:
    with pytest.raises(PrerequisiteError, match="the Hub's storage refuses access"):
        Recorded().client.call(REPO, lambda: _raise(hf_xet.XetAuthenticationError("no")))


def _raise(error: Exception, cause: Exception | None = None) -> None:
    raise error from cause


def test_no_server_at_all() -> None:
    recorded = Recorded()
    with pytest.raises(HubUnavailable) as caught:
        recorded.refs()
    assert str(caught.value) == (
        "acme/toy: the Hub does not answer (ConnectError) 6 times; check the network and try again"
    )


def test_an_interrupt_ends_the_wait_and_leaves_the_hub_client_as_it_was(toy: RunningHub) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    toy.fail(status=429, headers={"Retry-After": "5"}, path=REFS)
    client = HubClient(wait=interrupted, report=lambda line: None)
    with pytest.raises(KeyboardInterrupt):
        client.call(REPO, lambda: client.api.list_repo_refs(REPO, repo_type="dataset"))
    assert get_session().event_hooks["response"] == []


def _commit(api: Any, parent: str | None = None, path: str = "a.txt") -> Any:
    operations = [CommitOperationAdd(path, b"x")]
    return api.create_commit(REPO, operations, commit_message="x", repo_type="dataset", parent_commit=parent)


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (
            lambda api: api.list_repo_refs("acme/none", repo_type="dataset"),
            NotOnHub,
            "acme/toy: no such data set on the Hub, or it is private; check the name, or run: hf auth login",
        ),
        (
            lambda api: api.dataset_info(REPO, revision="9.9.9"),
            NotOnHub,
            "acme/toy: no such revision on the Hub; give a commit, tag or branch",
        ),
        (
            lambda api: hf_hub_download(REPO, "none.txt", repo_type="dataset"),
            NotOnHub,
            "acme/toy: no such file on the Hub",
        ),
        (
            lambda api: _commit(api, parent="0" * 40),
            HeadMoved,
            "acme/toy: another commit came first; run the same command again",
        ),
        (
            lambda api: api.create_repo(REPO, repo_type="dataset"),
            AlreadyOnHub,
            "acme/toy: the Hub answered 409",
        ),
        (
            lambda api: api.dataset_info("not an id"),
            BenchwrightError,
            "acme/toy: not a Hub id; write it as ORGANISATION/NAME",
        ),
    ],
    ids=["repository", "revision", "file", "head", "exists", "id"],
)
def test_answers_are_errors_of_one_line(
    toy: RunningHub, ask: Callable[[Any], object], kind: type[BenchwrightError], message: str
) -> None:
    recorded = Recorded()
    with pytest.raises(kind) as caught:
        recorded.client.call(REPO, lambda: ask(recorded.client.api))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert recorded.events == []
    assert caught.value.exit_code == 2


def test_kinds_of_what_is_missing(toy: RunningHub) -> None:
    client = Recorded().client
    kinds = []
    for ask in (
        lambda: client.api.dataset_info("acme/none"),
        lambda: client.api.dataset_info(REPO, revision="9.9.9"),
        lambda: hf_hub_download(REPO, "none.txt", repo_type="dataset"),
    ):
        with pytest.raises(NotOnHub) as caught:
            client.call(REPO, ask)
        kinds.append(caught.value.kind)
    assert kinds == ["repository", "revision", "file"]


def test_a_refusal_names_its_reason_and_is_not_repeated(
    toy: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", toy.environment("reader")["HF_TOKEN"])
    recorded = Recorded()
    with pytest.raises(PrerequisiteError) as caught:
        recorded.client.call(REPO, lambda: _commit(recorded.client.api))
    assert str(caught.value).startswith("acme/toy: the Hub refuses access (403: ")
    assert str(caught.value).endswith(
        "HF_TOKEN is set and goes before a login; run: unset HF_TOKEN; hf auth login"
    )
    assert [record.status for record in toy.requests].count(403) == 1
    assert recorded.events == []


def test_gated(toy: RunningHub) -> None:
    toy.fail(status=403, headers={"X-Error-Code": "GatedRepo"}, path=REFS)
    with pytest.raises(PrerequisiteError, match="acme/toy is gated: ask for access on its page"):
        Recorded().refs()


def test_other_answers_say_what_the_hub_said(toy: RunningHub) -> None:
    toy.fail(status=400, path=REFS, message="too\nlong " + "x" * 500)
    with pytest.raises(PublishError) as caught:
        Recorded().refs()
    assert str(caught.value).startswith("acme/toy: the Hub answered 400: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_switched_off(toy: RunningHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnavailable, match="switched off by HF_HUB_OFFLINE; unset it"):
        Recorded().refs()


@pytest.mark.parametrize("fault", [ValueError("ours"), PermissionError(13, "no", "file"), KeyError("k")])
def test_errors_that_are_not_the_hubs_pass_as_they_are(toy: RunningHub, fault: Exception) -> None:
    def fails() -> None:
        raise fault

    with pytest.raises(type(fault)) as caught:
        Recorded().client.call(REPO, fails)
    assert caught.value is fault


def _ours(trace: TracebackType | None) -> list[str]:
    """Local variables of the product's frames, as a debugger or a crash report shows them."""
    return [
        repr(value)
        for frame, _ in traceback.walk_tb(trace)
        if "benchwright" in frame.f_globals["__name__"]
        for value in frame.f_locals.values()
    ]


@pytest.mark.parametrize("status", [400, 401, 403, 409, 429, 500])
def test_a_token_that_the_server_echoes_stays_out_of_everything(toy: RunningHub, status: int) -> None:
    toy.fail(status=status, path=REFS, times=99, message=f"who is {toy.token}? Bearer {toy.token}")
    recorded = Recorded(longest_wait=3)
    with pytest.raises(BenchwrightError) as caught:
        recorded.refs()
    error = caught.value
    everything = [str(error), repr(error), *map(str, recorded.events), *_ours(error.__traceback__)]
    everything += traceback.format_exception(error)
    assert "hf_***" in str(error)
    assert not any(toy.token in text for text in everything)
    # The exception of the Hub client holds the request, and that the token.
    assert error.__context__ is None
    assert error.__cause__ is None


def test_a_token_of_any_form_stays_out(
    toy: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-of-another-form")
    path = tmp_path / "token"
    path.write_text("hf_oauth_in-a-file\n", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(path))
    text = "Bearer secret-of-another-form, hf_abcdefgh, hf_oauth_in-a-file"
    assert without_token(text) == "Bearer hf_***, hf_***, hf_***"
    # As it is sent, wherever it comes from.
    toy.fail(status=400, path=REFS, message="who is only-for-this-call?")
    client = Recorded().client
    with pytest.raises(PublishError, match=r"answered 400: who is hf_\*\*\*\?"):
        client.call(
            REPO, lambda: client.api.list_repo_refs(REPO, repo_type="dataset", token="only-for-this-call")
        )


def test_what_the_hub_client_logs_has_no_token(toy: RunningHub) -> None:
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logger, handler = logging.getLogger("huggingface_hub"), Lines()
    logger.addHandler(handler)
    try:
        HubClient()
        toy.fail(headers={"X-HF-Warning": f"topic; you sent {toy.token}"}, path=REFS, times=9)
        with pytest.raises(HubUnavailable):
            Recorded().refs()
        logger.error("sent %s", toy.token)
    finally:
        logger.removeHandler(handler)
    assert "sent hf_***" in lines
    assert toy.token not in "\n".join(lines)
