"""One policy for bad rows: stop with up to twenty faults, or drop and count them."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from .errors import SourceError, SourceErrors

Policy = Literal["fail", "drop"]


class FaultLog:
    """Collects the row-level faults and the filtered rows of one read.

    A *fault* is a row that cannot be used; a *filter* is a rule of the paper that leaves rows out on
    purpose. Both are counted by reason, for the manifest. With policy `fail` the read stops at the
    `limit`-th fault, or in `finish()`, with all faults found so far.
    """

    limit = 20

    def __init__(self, policy: Policy = "fail") -> None:
        self.policy = policy
        self.dropped: Counter[str] = Counter()
        self.filtered: Counter[str] = Counter()
        self._faults: list[SourceError] = []

    def bad(self, fault: SourceError) -> None:
        """Record one bad row. Raises SourceErrors at the limit when the policy is `fail`."""
        self.dropped[fault.reason] += 1
        if self.policy == "fail":
            self._faults.append(fault)
            if len(self._faults) >= self.limit:
                raise SourceErrors(self._faults, more=True)

    def filter(self, reason: str, rows: int = 1) -> None:
        """Count rows that a documented filter leaves out."""
        self.filtered[reason] += rows

    def finish(self) -> None:
        """Raise SourceErrors if the policy is `fail` and there was any fault."""
        if self.policy == "fail" and self._faults:
            raise SourceErrors(self._faults, more=False)
