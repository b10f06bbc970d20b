"""One way of asking the Hub anything: waits where it asks for patience, and errors of one line.

Who the user is and where the Hub stands come from huggingface_hub's own settings; nothing here reads a
token except to keep it out of messages.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Literal, TypeVar

from huggingface_hub import HfApi, constants, get_session, hf_raise_for_status
from huggingface_hub.errors import (
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from ...errors import BenchwrightError, PrerequisiteError, PublishError, ReleaseError, redact

T = TypeVar("T")

LONGEST_WAIT = 600.0
_TRIES_AFTER_FAILURE = 5
_LONGEST_BACKOFF = 60.0
_MESSAGE_LIMIT = 200
_TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_LOG_IN = "hf auth login"
_RATE_LIMIT = re.compile(r"\br\s*=\s*0\s*;\s*t\s*=\s*(\d+)")

_BROKEN = (ConnectionError, TimeoutError, LocalEntryNotFoundError, JSONDecodeError)
# They report a transfer that broke, and connections that another thread has closed, as RuntimeError.
_TRANSFER_PACKAGES = ("huggingface_hub", "httpx2", "httpx")
# The base error of the HTTP library behind the Hub client depends on the client's version.
_HTTP_ERRORS = tuple(kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError")


class HeadMoved(PublishError):
    """Another commit came before ours; nothing of ours was written."""


class AlreadyOnHub(PublishError):
    """What was to be made (a repository, branch or tag) exists."""


class NotOnHub(ReleaseError):
    """What was asked for does not exist, or may not be seen. `kind` says what."""

    def __init__(self, kind: Literal["repository", "revision", "file"], message: str) -> None:
        self.kind = kind
        super().__init__(message)


def no_repository(place: str) -> NotOnHub:
    """The error for a data set that does not exist or may not be seen: the Hub does not tell which."""
    line = f"{place}: no such data set on the Hub, or it is private"
    return NotOnHub("repository", f"{line}; check the name, or run: {_LOG_IN}")


class HubUnavailable(BenchwrightError):
    """The Hub does not answer, or fails: whether it did what it was asked is not known."""


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class HubClient:
    """The Hub, through huggingface_hub. `wait` pauses for a number of seconds; `report` gets a line before.

    `longest_wait` bounds the seconds that one call may wait in all because the Hub limits requests.
    """

    def __init__(
        self,
        *,
        wait: Callable[[float], None] = time.sleep,
        report: Callable[[str], None] = _to_stderr,
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self.api = HfApi()
        self._wait, self._report, self._longest_wait = wait, report, longest_wait
        _keep_tokens_out_of_logs()

    def wait(self, seconds: float) -> None:
        """Pause before something is tried again."""
        self._wait(seconds)

    def call(self, what: str, function: Callable[[], T], *, retry_server_errors: bool = True) -> T:
        """The result of `function`, which asks the Hub something; `what` names it in messages.

        Where the Hub limits requests (429, or 503 with a time), the call waits as long as it is told and
        tries again. After a failure of the server or the connection it tries again up to 5 times, unless
        `retry_server_errors` is off: then a request that may have been carried out is not repeated.

        Raises PrerequisiteError for a refusal (401, 403, gated), NotOnHub, HeadMoved (412), AlreadyOnHub
        (409), HubUnavailable, and PublishError for any other answer.
        """
        waited, busy, failed = 0.0, 0, 0
        while True:
            outcome = _attempt(function)
            if not isinstance(outcome, _Fault):
                return outcome[0]
            fault = outcome
            if fault.busy:
                busy += 1
                pause = max(fault.pause or 0.0, _backoff(busy))
                if waited + pause > self._longest_wait:
                    raise _still_busy(what, fault, waited, pause) from None
                waited += pause
                self._report(f"{what}: {fault.says}; waiting {pause:,.0f} s, as the Hub limits requests")
            elif fault.kind == "unavailable" and retry_server_errors and failed < _TRIES_AFTER_FAILURE:
                failed += 1
                pause = _backoff(failed)
                again = f"trying again in {pause:,.0f} s ({failed} of {_TRIES_AFTER_FAILURE})"
                self._report(f"{what}: {fault.says}; {again}")
            else:
                raise _error(what, fault, failed) from None
            self._wait(pause)


_Kind = Literal[
    "repository", "revision", "file", "gated", "refused", "offline", "no id", "no hub", "unavailable", "other"
]


@dataclass(frozen=True)
class _Fault:
    """How a call failed: all that is kept of the exception, which holds requests, and these the token."""

    kind: _Kind
    says: str
    status: int | None = None
    pause: float | None = None

    @property
    def busy(self) -> bool:
        """Whether the Hub refused to begin and may be asked again later."""
        return self.status == 429 or (self.status == 503 and self.pause is not None)


def _attempt(function: Callable[[], T]) -> tuple[T] | _Fault:
    with _waits_are_ours():
        try:
            return (function(),)
        except Exception as error:
            fault = _fault_of(error)
            if fault is None:
                raise
            return fault


def _fault_of(error: BaseException) -> _Fault | None:
    """None for an exception that has nothing to do with the Hub."""
    if isinstance(error, BenchwrightError):
        return None
    if error.__cause__ is not None and not isinstance(error, HfHubHTTPError):
        # What a download or `datasets` says of a failure names the answer as its cause.
        return _fault_of(error.__cause__) or _fault_without_cause(error)
    return _fault_without_cause(error)


def _fault_without_cause(error: BaseException) -> _Fault | None:
    if isinstance(error, HfHubHTTPError):
        return _fault_of_answer(error)
    if isinstance(error, HFValidationError):
        return _Fault("no id", "not a Hub id")
    if isinstance(error, OfflineModeIsEnabled):
        return _Fault("offline", "the Hub is switched off by HF_HUB_OFFLINE")
    if isinstance(error, LocalTokenNotFoundError):
        return _Fault("refused", "the Hub wants to know who asks")
    if isinstance(error, FileMetadataError):
        return _Fault("no hub", "what answers is no Hub")
    if isinstance(error, (*_HTTP_ERRORS, *_BROKEN)):
        return _no_answer(error)
    if type(error).__module__ == "hf_xet":
        refused = isinstance(error, PermissionError)
        return _Fault("refused", "the Hub's storage refuses access") if refused else _no_answer(error)
    if isinstance(error, RuntimeError) and _raised_in(error) in _TRANSFER_PACKAGES:
        return _no_answer(error)
    # Without a number it is not the disk that failed: a transfer ended early.
    return _no_answer(error) if type(error) is OSError and error.errno is None else None


def _raised_in(error: BaseException) -> str:
    """The package whose code raised an exception, or called the library that did."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__", "")).partition(".")[0] if frames else ""


def _no_answer(error: BaseException) -> _Fault:
    return _Fault("unavailable", f"the Hub does not answer ({type(error).__name__})")


def _fault_of_answer(error: HfHubHTTPError) -> _Fault:
    status = getattr(error.response, "status_code", 0)
    sent = error.response.request.headers.get("Authorization", "").removeprefix("Bearer ")
    told = _told(error.server_message, sent)
    if isinstance(error, GatedRepoError):
        return _Fault("gated", "access to it must be asked for", status)
    if isinstance(error, RevisionNotFoundError):
        return _Fault("revision", "no such revision on the Hub", status)
    if isinstance(error, RemoteEntryNotFoundError):
        return _Fault("file", "no such file on the Hub", status)
    if isinstance(error, RepositoryNotFoundError):
        return _Fault("repository", "no such data set on the Hub", status)
    says = f"the Hub answered {status}{told}"
    if status in (401, 403):
        return _Fault("refused", f"the Hub refuses access ({status}{told})", status)
    if status == 408 or status >= 500:
        return _Fault("unavailable", says, status, _pause(error.response.headers))
    return _Fault("other", says, status, _pause(error.response.headers))


def _told(message: str | None, sent: str) -> str:
    text = " ".join(without_token(message or "", sent).split())
    text = text if len(text) <= _MESSAGE_LIMIT else f"{text[: _MESSAGE_LIMIT - 3]}..."
    return f": {text}" if text else ""


def _pause(headers: Any) -> float | None:
    """Seconds that an answer asks to wait (`Retry-After`, a number or a date, or `RateLimit`), or None."""
    after = (headers.get("Retry-After") or "").strip()
    try:
        if after:
            return max(0.0, float(after))
    except ValueError:
        try:
            return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
        except (TypeError, ValueError):
            pass
    match = _RATE_LIMIT.search(headers.get("RateLimit") or "")
    return float(match[1]) if match else None


def _backoff(times: int) -> float:
    return min(2.0 ** (times - 1), _LONGEST_BACKOFF)


def _still_busy(what: str, fault: _Fault, waited: float, pause: float) -> HubUnavailable:
    return HubUnavailable(
        f"{what}: {fault.says}; waited {waited:,.0f} s, and the Hub asks for {pause:,.0f} s more; "
        "run the same command again after that time"
    )


def _error(what: str, fault: _Fault, failed: int) -> BenchwrightError:
    line = f"{what}: {fault.says}"
    match fault.kind:
        case "repository":
            return no_repository(what)
        case "revision":
            return NotOnHub("revision", f"{line}; give a commit, tag or branch")
        case "file":
            return NotOnHub("file", line)
        case "gated":
            return PrerequisiteError(f"{what} is gated: ask for access on its page, then log in", _LOG_IN)
        case "refused":
            return _refused(line)
        case "offline":
            return HubUnavailable(f"{line}; unset it, or give a local folder")
        case "no id":
            return ReleaseError(f"{line}; write it as ORGANISATION/NAME")
        case "no hub":
            return HubUnavailable(f"{line}; check HF_ENDPOINT and the proxy settings")
        case "unavailable":
            fix = "wait a little and try again" if fault.status else "check the network and try again"
            tried = f" {failed + 1} times" if failed else ""
            return HubUnavailable(f"{line}{tried}; {fix}")
        case _:
            return _refusal(what, line, fault.status)


def _refused(line: str) -> PrerequisiteError:
    if os.environ.get("HF_TOKEN"):
        # Whoever logs in anew would still be the one that the variable names.
        return PrerequisiteError(
            f"{line}; HF_TOKEN is set and goes before a login", f"unset HF_TOKEN; {_LOG_IN}"
        )
    return PrerequisiteError(f"{line}; log in with a token that may do this", _LOG_IN)


def _refusal(what: str, line: str, status: int | None) -> PublishError:
    if status == 412:
        return HeadMoved(f"{what}: another commit came first; run the same command again")
    if status == 409:
        return AlreadyOnHub(line)
    return PublishError(line)


def without_token(text: str, *secrets: str) -> str:
    """`text` without `secrets`, the user's token, and anything else that looks like one.

    The token is looked up where the user put it: the Hub client's own look-up may ask the Hub for a new one.
    """
    for secret in (*secrets, *_stored_tokens()):
        text = text.replace(secret, "hf_***") if secret else text
    return redact(text)


def _stored_tokens() -> Iterator[str]:
    yield from (os.environ.get(name, "").strip() for name in _TOKEN_VARIABLES)
    with suppress(OSError, ValueError):
        yield Path(constants.HF_TOKEN_PATH).read_text(encoding="utf-8").strip()


@contextmanager
def _waits_are_ours() -> Iterator[None]:
    """Within, answers after which one may try again are raised: the Hub client would wait by itself, for as
    long as it is told. Uploads are left to it, as it repeats only the part that failed.

    Once the Hub limits requests, none is sent until the call has ended: a download that fails in one thread
    goes on in the others, and the Hub client asks for a file a second time whatever the answer was.
    """
    limited: list[Any] = []

    def answered(response: Any) -> None:
        status = response.status_code
        busy = status == 429 or (status == 503 and "Retry-After" in response.headers)
        if busy or (status >= 500 and response.request.method in ("GET", "HEAD")):
            response.read()
            if busy:
                limited.append(response)
            hf_raise_for_status(response)

    def asking(request: Any) -> None:
        if limited:
            hf_raise_for_status(limited[0])

    hooks = get_session().event_hooks
    hooks["response"].append(answered)
    hooks["request"].append(asking)
    try:
        yield
    finally:
        hooks["request"].remove(asking)
        hooks["response"].remove(answered)


class _WithoutTokens(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_token(record.getMessage()), ()
        return True


def _keep_tokens_out_of_logs() -> None:
    """What the Hub client logs holds addresses and answers, and these may hold a token."""
    for handler in logging.getLogger("huggingface_hub").handlers:
        if not any(isinstance(known, _WithoutTokens) for known in handler.filters):
            handler.addFilter(_WithoutTokens())
