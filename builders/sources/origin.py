"""Turning what a user calls a source into a folder to read, and a name for it that may be published."""

from __future__ import annotations

from pathlib import Path

from ...errors import SourceError, UsageError
from ..base import Builder, Origin
from ..hub.location import HubLocation
from .files import DATA_SUFFIXES
from .hub import download

_HUB = "hub"


def is_hub_id(text: str) -> bool:
    """Whether a name that is no file can be a Hub data set: ORG/NAME, and not the path of a table.

    >>> [is_hub_id(text) for text in ("stanfordnlp/snli@main", "data/reviews.csv", "./data/reviews")]
    [True, False, False]
    """
    return HubLocation.of(text) is not None and not text.endswith((*DATA_SUFFIXES, ".gz"))


def open_source(builder: Builder, source: str | Path) -> tuple[Path, Origin]:
    """The folder (or, for a user's own data, file) to read, and what the manifest says of it.

    `source` is a path, `sample`, `hub` (the data set that a builder pins) or `hub:ORG/NAME@REVISION`. A
    folder of one of these names is read as `./sample`. The location of a
    local folder is never recorded: it is known by its fingerprint. Raises UsageError or SourceError.
    """
    text = str(source)
    if text == "sample":
        folder = builder.sample_folder()
        if not folder.is_dir():
            raise UsageError(f"{builder.name} has no built-in sample; give a folder or hub:ORG/NAME@REVISION")
        return folder, Origin("sample", "sample")
    if text == _HUB or text.startswith(f"{_HUB}:"):
        return _open_hub(builder, text.removeprefix(_HUB).removeprefix(":"))
    path = Path(source)
    if not path.exists():
        raise SourceError(
            "no such file or folder", path=path, fix="check it, or use `sample` or `hub:ORG/NAME`"
        )
    return path, Origin("folder")


def _open_hub(builder: Builder, place: str) -> tuple[Path, Origin]:
    if not place:
        if builder.pin is None:
            raise UsageError(
                f"{builder.name} has no pinned Hub data set yet; name one with --source hub:ORG/NAME@REVISION"
            )
        place = builder.pin.repo
    repo, _, revision = place.partition("@")
    found = download(
        repo, revision or None, pin=builder.pin if builder.pin and builder.pin.repo == repo else None
    )
    return found.root, found.origin
