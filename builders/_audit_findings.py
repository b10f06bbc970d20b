"""What an audit finds: findings, their order, and what is agreed to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Severity = Literal["error", "warning", "known", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "known", "info")
_UIDS_SHOWN = 20


@dataclass(frozen=True)
class Finding:
    """One thing found. `config` is None where it concerns the rows whatever their placement.

    `count` is in rows; `uids` are all of them, in source order; `id` depends on every one, so that an
    accepted finding that grows is a new one. `part` is the data set that the rows are of, where a release
    has several and the finding is of no config.
    """

    id: str
    code: str
    severity: Severity
    config: str | None
    splits: tuple[str, ...]
    count: int
    message: str
    uids: tuple[str, ...]
    part: str | None = None

    @classmethod
    def of(
        cls,
        code: str,
        severity: Severity,
        uids: Sequence[str],
        message: str,
        *,
        config: str | None = None,
        splits: tuple[str, ...] = (),
        part: str | None = None,
    ) -> Finding:
        """A finding on the rows `uids`; `message` is what stands after their number."""
        place = [code, config or "*", *splits, *([] if part is None else ["part", part])]
        digest = hashlib.sha256("\n".join([*place, "", *uids]).encode()).hexdigest()[:12]
        text = f"{len(uids)} {message}"
        return cls(digest, code, severity, config, splits, len(uids), text, tuple(uids), part)

    def to_json(self, uids: int | None = _UIDS_SHOWN) -> dict[str, Any]:
        """Plain data with the first `uids` uids (None: all), as the manifest keeps it."""
        facts = {**self.__dict__, "splits": list(self.splits), "uids": list(self.uids[:uids])}
        if self.part is None:
            del facts["part"]
        return facts


def accept(findings: Sequence[Finding], accepted: set[str]) -> list[Finding]:
    """The same findings, those with an accepted id as `known`."""
    return [replace(finding, severity="known") if finding.id in accepted else finding for finding in findings]


def sort_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Worst first; then by part, config, code and splits."""
    return sorted(
        findings,
        key=lambda f: (SEVERITIES.index(f.severity), f.part or "", f.config or "", f.code, f.splits, f.id),
    )


def summarise(findings: Sequence[Finding]) -> dict[str, int]:
    """Number of findings by severity."""
    return {severity: sum(f.severity == severity for f in findings) for severity in SEVERITIES}
