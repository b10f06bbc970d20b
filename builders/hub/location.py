"""What a user calls a release: a folder, or a data set on the Hub at a revision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError, show

if TYPE_CHECKING:
    from ...release import ReleaseFolder

# As the Hub has it: 1 to 96 letters, digits and _ . - a part, none of . and - at its ends.
_PART = r"\w(?:[\w.-]{0,94}\w)?"
_HUB_ID = re.compile(rf"(?P<repo>{_PART}/{_PART})(?:@(?P<revision>\w[\w./+-]*))?", re.ASCII)
_FORM = "ORG/NAME or ORG/NAME@REVISION"


@dataclass(frozen=True)
class HubLocation:
    """A data set on the Hub. `revision` is a tag, a branch or a commit; None for the newest commit."""

    repo: str
    revision: str | None = None

    @classmethod
    def of(cls, text: str) -> HubLocation | None:
        """The location that a text names, or None if it is no Hub id.

        >>> HubLocation.of("acme/toy@1.1.0")
        HubLocation(repo='acme/toy', revision='1.1.0')
        >>> [HubLocation.of(text) for text in ("toy", "./toy/rows", "acme/..", "acme/a--b", "acme/toy@../x")]
        [None, None, None, None, None]
        """
        match = _HUB_ID.fullmatch(text)
        if match is None or ".." in text or "--" in match["repo"] or match["repo"].endswith(".git"):
            return None
        return cls(match["repo"], match["revision"])

    def __str__(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"


def parse_location(text: str | Path) -> HubLocation | Path:
    """A folder that exists, else a Hub id. A `Path`, and text that begins with `.`, `/` or `~`, is a path.

    Raises UsageError for text that is neither.
    """
    if isinstance(text, Path):
        return text
    if text.startswith((".", "/", "~")) or Path(text).is_absolute() or (text and Path(text).exists()):
        return Path(text).expanduser()
    location = HubLocation.of(text)
    if location is None:
        raise UsageError(f"{show(text)}: no such folder, and not a Hub id; give a folder, or {_FORM}")
    return location


def hub_repo(text: str) -> str:
    """A Hub id without a revision, as `--repo` takes it. Raises UsageError for anything else."""
    location = HubLocation.of(text)
    if location is None or location.revision is not None:
        raise UsageError(f"{show(text)} is no Hub id; write it as ORG/NAME")
    return location.repo


def open_release(place: str | Path | ReleaseFolder) -> ReleaseFolder:
    """The release at a folder, or on the Hub (its files are fetched as they are read).

    Raises UsageError for text that names neither, ReleaseError for a folder or data set that is no release
    or does not exist, PrerequisiteError where a login is missing.
    """
    from ...release import ReleaseFolder

    if isinstance(place, ReleaseFolder):
        return place
    location = parse_location(place)
    if isinstance(location, Path):
        return ReleaseFolder(location)
    from .client import NotOnHub
    from .remote import HubRelease

    try:
        return HubRelease(location.repo, location.revision)
    except NotOnHub as error:
        if error.kind != "repository":
            raise
        raise NotOnHub(error.kind, f"{error}; there is no folder of this name either") from None
