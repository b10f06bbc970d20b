"""Faults on demand: the k-th matching request fails, is lost, waits, or calls back into the test."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .messages import HubError, Response


@dataclass
class Rule:
    """Applies to matching requests number `request` to `request + times - 1`, counted from when it was made.

    `path` is a regular expression, searched for in the path as sent, without the query.
    """

    request: int = 1
    times: int = 1
    method: str = "*"
    path: str = ".*"
    seen: int = field(default=0, init=False)

    def strikes(self, method: str, path: str) -> bool:
        """Count this request if it matches; whether it is one of those the rule is for."""
        if self.method not in ("*", method) or re.search(self.path, path) is None:
            return False
        self.seen += 1
        return self.request <= self.seen < self.request + self.times


@dataclass
class Fault(Rule):
    """An answer instead of the real one (status None: the connection is closed without an answer).

    With `after` the work of the request is done first, so that only the answer is lost.
    """

    status: int | None = 500
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "A fault made by the test"

    def response(self) -> Response | None:
        """The answer, or None where the connection is to be dropped."""
        if self.status is None:
            return None
        return HubError(self.status, self.message, headers=self.headers).response()


@dataclass
class Hook(Rule):
    """A callback of the test that runs before the request is handled."""

    callback: Callable[[], object] = field(kw_only=True)


class FaultPlan:
    """The rules that apply to requests from now on; of several faults of one request the oldest wins."""

    def __init__(self) -> None:
        self.latency = 0.0
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, rule: Rule) -> None:
        """Make `rule` count requests from now on."""
        with self._lock:
            self._rules.append(rule)

    def clear(self) -> None:
        """Forget all rules and the latency."""
        with self._lock:
            self._rules.clear()
        self.latency = 0.0

    def strike(self, method: str, path: str) -> tuple[Fault | None, list[Hook]]:
        """The fault and the hooks for a request that has just come in."""
        with self._lock:
            # Every rule must see every request, or its count would be wrong.
            struck = [rule for rule in list(self._rules) if rule.strikes(method, path)]
        faults = [rule for rule in struck if isinstance(rule, Fault)]
        return (faults[0] if faults else None), [rule for rule in struck if isinstance(rule, Hook)]
