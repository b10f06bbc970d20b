"""Source files from a Hub data set at one commit.

The files go to the Hub client's own cache; readers then treat its folder like any other. Only data files
are downloaded: a loading script is never run, and no message carries a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...errors import PublishError, ReleaseError, SourceError
from ...hashing import sha256_file
from ..base import Origin, SourcePin
from ..hub.client import HubClient, HubUnavailable, no_repository
from ..hub.location import HubLocation
from ..hub.remote import CommitFiles, read_state
from .files import DATA_SUFFIXES

_PLAIN_SUFFIXES = (*DATA_SUFFIXES, ".xml", "geobase")
STORED_SUFFIXES = (*_PLAIN_SUFFIXES, *(f"{suffix}.gz" for suffix in _PLAIN_SUFFIXES), ".zip")


@dataclass(frozen=True)
class HubFolder:
    """A folder with the data files of one commit, and the origin to record."""

    root: Path
    origin: Origin


def download(
    repo: str,
    revision: str | None = None,
    *,
    pin: SourcePin | None = None,
    suffixes: Sequence[str] = STORED_SUFFIXES,
    client: HubClient | None = None,
) -> HubFolder:
    """The data files of data set `repo` at `revision`: a commit, a tag or a branch (None: the newest commit).

    A tag or branch is resolved to its commit first, and only that commit is read and recorded. Without a
    revision, that of `pin` counts; where the pin's commit is read, files must have the sha256 of the pin.

    Raises SourceError for a data set or revision that does not exist, one that has no data files (only a
    loading script, say), and a Hub that does not answer; PrerequisiteError where a login is missing.
    """
    if revision is None and pin is not None:
        revision = pin.revision
    place = repo if revision is None else f"{repo}@{revision}"
    if HubLocation.of(place) is None:
        raise SourceError("not a Hub id", path=place, fix="write it as ORG/NAME or ORG/NAME@REVISION")
    client = client or HubClient()
    with _faults_of_a_source():
        state = read_state(client, repo, revision)
        if state is None:
            raise no_repository(place)
        _require_data(place, state.files, suffixes)
        wanted = [file for name, file in state.files.items() if name.lower().endswith(tuple(suffixes))]
        cached = CommitFiles(client, state, place).cached(wanted)
    name, path = next(iter(cached.items()))
    root = path.parents[name.count("/")]
    if pin is not None and pin.revision == state.head:
        _verify(root, pin)
    return HubFolder(root, Origin("hub", repo, state.head))


def _require_data(place: str, names: Iterable[str], suffixes: Sequence[str]) -> None:
    if any(name.lower().endswith(tuple(suffixes)) for name in names):
        return
    if any(PurePosixPath(name).suffix == ".py" for name in names):
        raise SourceError(
            "the data set exists only as a loading script, which is never run",
            path=place,
            fix="try --revision refs/convert/parquet, or download the corpus and give its folder",
        )
    raise SourceError(
        "the data set has no data files",
        path=place,
        fix=f"readable are {', '.join(DATA_SUFFIXES)}, plain, .gz or .zip",
    )


def _verify(root: Path, pin: SourcePin) -> None:
    for name, expected in pin.files.items():
        path = root / name
        if not path.is_file():
            raise SourceError(
                "a pinned file is missing",
                path=f"{pin.repo}@{pin.revision}",
                value=name,
                fix="update the pin",
            )
        found = sha256_file(path)
        if found.removeprefix("sha256:") != expected.removeprefix("sha256:"):
            raise SourceError(
                f"sha256 differs from the pinned one of {name}",
                path=f"{pin.repo}@{pin.revision}",
                value=found,
                fix="delete the cached copy and try again",
            )


@contextmanager
def _faults_of_a_source() -> Iterator[None]:
    """What is wrong with a source is a SourceError, whatever part of the Hub it came from."""
    try:
        yield
    except (ReleaseError, PublishError, HubUnavailable) as error:
        raise SourceError(str(error)) from None
