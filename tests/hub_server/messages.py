"""What goes in and out of every handler: requests, answers and errors, without a socket in sight."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .accounts import Account


class HubError(Exception):
    """An answer that is an error: status, message, the Hub's error code, further headers and fields."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})
        self.body = dict(body or {})

    def response(self) -> Response:
        """The answer as clients read it: X-Error-Code tells them which exception to raise."""
        # What a header may carry: the body has the message as it is.
        plain = "".join(one if " " <= one <= "~" else "?" for one in self.message)
        headers = {"X-Error-Message": plain, **self.headers}
        if self.code is not None:
            headers["X-Error-Code"] = self.code
        return json_response({"error": self.message, **self.body}, self.status, headers)


@dataclass(frozen=True)
class FileRange:
    """`length` bytes of a file from byte `start` on, read only while they are sent."""

    path: Path
    start: int
    length: int


@dataclass(frozen=True)
class Response:
    """An answer; the length of `content` becomes Content-Length, also where HEAD leaves the content out."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | FileRange = b""

    @property
    def length(self) -> int:
        """Bytes of the content."""
        return self.content.length if isinstance(self.content, FileRange) else len(self.content)


@dataclass(frozen=True)
class Request:
    """A request whose body has been read and whose sender is known (None: anonymous)."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    account: Account | None

    @cached_property
    def path(self) -> str:
        """The path as sent, still quoted."""
        return urlsplit(self.target).path

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """Each parameter with all its values."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)

    def option(self, name: str, default: str = "") -> str:
        """The last value of a parameter."""
        return self.query.get(name, [default])[-1]

    def flag(self, name: str) -> bool:
        """Whether a parameter is set to true."""
        return self.option(name).lower() in ("1", "true")

    def json(self) -> Any:
        """The body as JSON ({} where it is empty)."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            raise HubError(400, "The body is not JSON") from None

    def signed_in(self) -> Account:
        """The sender, who must have given a token."""
        if self.account is None:
            raise HubError(401, "Invalid username or password.")
        return self.account


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer whose content is `value` as JSON."""
    content = json.dumps(value).encode()
    return Response(status, {"Content-Type": "application/json", **(headers or {})}, content)


def segments(path: str) -> list[str]:
    """The unquoted parts of a path between slashes ([] for the empty path)."""
    return [unquote(part) for part in path.split("/")] if path else []
