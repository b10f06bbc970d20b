"""Every error that a user can cause: one line, with the place, the value received and the fix.

Exit codes of the command line: 0 fine; 1 a check failed; 2 user error; 3 internal; 130 interrupted.
"""

from __future__ import annotations

import re
from pathlib import Path

_TOKEN = re.compile(r"hf_(?:(?:oauth|jwt)_[\w.-]+|[A-Za-z0-9]{6,})")
_VALUE_LIMIT = 80


def redact(text: str) -> str:
    """Replace anything that looks like a Hub token, so that no message, log or manifest can carry one."""
    return _TOKEN.sub("hf_***", text)


def show(value: object) -> str:
    """A value as errors quote it: `repr` on one line, at most 80 characters, tokens removed."""
    text = redact(repr(value))
    return text if len(text) <= _VALUE_LIMIT else text[: _VALUE_LIMIT - 3] + "..."


def printable(text: str) -> str:
    """`text` without characters that a terminal would obey; names may come from files of anyone."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class BenchwrightWarning(UserWarning):
    """Something that the user should know and that does not stop the work."""


class BenchwrightError(Exception):
    """Base of all errors that the command line prints without a traceback."""

    exit_code = 2

    def __str__(self) -> str:
        return redact(" ".join(super().__str__().split()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class UsageError(BenchwrightError):
    """An option or argument that cannot be used as given."""


class SourceError(BenchwrightError):
    """A fault in an input file.

    `row` is 0-based, `line` 1-based; both are left out where they have no meaning. `reason` is a short
    stable phrase by which faults are counted; `fix` says what the user can do.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str | Path | None = None,
        row: int | None = None,
        line: int | None = None,
        field: str | None = None,
        value: object = None,
        fix: str = "",
    ) -> None:
        self.reason, self.path, self.row, self.line = reason, path, row, line
        self.field, self.value, self.fix = field, value, fix
        place = [str(path)] if path is not None else []
        if row is not None:
            place.append(f"row {row}")
        if line is not None:
            place.append(f"line {line}")
        if field is not None:
            place.append(f"field {field!r}")
        message = f"{', '.join(place)}: {reason}" if place else reason
        if value is not None:
            message += f", got {show(value)}"
        if fix:
            message += f"; {fix}"
        super().__init__(message)


class SourceErrors(SourceError):
    """Several row-level faults of one read, shown together."""

    def __init__(self, faults: list[SourceError], more: bool) -> None:
        self.faults = faults
        super().__init__(faults[0].reason, path=faults[0].path)
        self._more = more

    def __reduce__(self) -> tuple[type[SourceErrors], tuple[list[SourceError], bool]]:
        # Else an exception is made again of its message alone, and a worker's would not arrive.
        return type(self), (self.faults, self._more)

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults]
        known = f"at least {len(lines)}" if self._more else str(len(lines))
        lines.append(f"{known} bad row(s); --on-bad-row drop leaves them out and counts them in the manifest")
        return "\n".join(lines)


class PrerequisiteError(BenchwrightError):
    """A missing extra, model or token; the message prints the line that installs it."""

    def __init__(self, what: str, install: str) -> None:
        self.what, self.install = what, install
        super().__init__(f"{what}; run: {install}")

    def __reduce__(self) -> tuple[type[PrerequisiteError], tuple[str, str]]:
        return type(self), (self.what, self.install)


class SplitError(BenchwrightError):
    """The rows cannot be divided as asked."""


class ReleaseError(BenchwrightError):
    """A release folder is missing, half-made or in the way."""


class PublishError(BenchwrightError):
    """A release cannot be published as asked, or the Hub refuses; what stands there is unchanged."""
