"""Semantic versions of releases: how they are written, and the least one that a change allows.

What a change needs is found by `diff`; DESIGN.md, Versions, has the rule. Tags are bare, such as `1.1.0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import PublishError, UsageError, show

Bump = Literal["none", "patch", "minor", "major"]
BUMPS: tuple[Bump, ...] = ("none", "patch", "minor", "major")
"""What versions rise by, least first."""

YANKED = "-yanked"
"""Ends the tag of a version that was taken back."""

_FORM = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
_REASONS_SHOWN = 3


@dataclass(frozen=True, order=True)
class Version:
    """MAJOR.MINOR.PATCH. Versions are ordered by their numbers: 1.10.0 is above 1.9.0."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `1.2.0`. Raises UsageError for anything else: `v1.2.0`, `1.2`, `01.2.0`, `1.2.0-beta`."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(
                f"a version is MAJOR.MINOR.PATCH in plain numbers, such as 1.2.0, got {show(text)}"
            )
        return cls(*map(int, match.groups()))

    def bump(self, bump: Bump) -> Version:
        """The next version of that kind; this one for `none`. Major version 0 follows the same rule."""
        return {
            "none": self,
            "patch": Version(self.major, self.minor, self.patch + 1),
            "minor": Version(self.major, self.minor + 1, 0),
            "major": Version(self.major + 1, 0, 0),
        }[bump]

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


FIRST = Version(1, 0, 0)
"""Version of a first publication, unless another is asked for."""

LEAST = Version(0, 1, 0)


def versions_among(tags: Iterable[str], *, yanked: bool = False) -> list[Version]:
    """Versions in ascending order; with `yanked` those taken back, too. Tags that are none are ignored."""
    found = set()
    for tag in tags:
        name = tag.removesuffix(YANKED) if yanked else tag
        if _FORM.fullmatch(name):
            found.add(Version.parse(name))
    return sorted(found)


def required(previous: Version | None, bump: Bump) -> Version:
    """The least version that may follow `previous`; 1.0.0 where nothing was published."""
    return FIRST if previous is None else previous.bump(bump)


def check_version(
    asked: Version | str, previous: Version | None, bump: Bump, reasons: Sequence[str]
) -> Version:
    """`asked`, if it may follow `previous` after a change of that kind; more than needed is allowed.

    A first version may be anything from 0.1.0. Raises UsageError for a text that is no version and
    PublishError for one that is too small, with the least allowed one and the `reasons`.
    """
    version = Version.parse(asked) if isinstance(asked, str) else asked
    if previous is None:
        if version < LEAST:
            raise PublishError(f"version {version} is too small: a first version is at least {LEAST}")
        return version
    least = required(previous, bump)
    if version >= least:
        return version
    if bump == "none":
        raise PublishError(f"version {version} is too small: {previous} is published; ask for that or more")
    cause = "; ".join(reasons[:_REASONS_SHOWN])
    if len(reasons) > _REASONS_SHOWN:
        cause += f"; {len(reasons) - _REASONS_SHOWN} more"
    because = f" because {cause}" if cause else ""
    raise PublishError(f"version {version} is too small: {least} is the least after {previous}{because}")
