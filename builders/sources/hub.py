"""Source files from a Hub data set at one commit.

The files go to the Hub client's own cache; readers then treat its folder like any other. Only data files
are downloaded: a loading script is never run, and no message carries a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from ...errors import PrerequisiteError, SourceError
from ...hashing import sha256_file
from ..base import Origin, SourcePin
from .files import DATA_SUFFIXES

_COMMIT = re.compile(r"[0-9a-f]{40}")
_PLAIN_SUFFIXES = (*DATA_SUFFIXES, ".xml", "geobase")
_STORED_SUFFIXES = (*_PLAIN_SUFFIXES, *(f"{suffix}.gz" for suffix in _PLAIN_SUFFIXES), ".zip")
_LOG_IN = "hf auth login"
# The base error of the HTTP library behind the Hub client depends on the client's version.
_CONNECTION_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    *(kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError"),
)


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
    suffixes: Sequence[str] = _STORED_SUFFIXES,
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
    with _one_line_errors(place):
        info = HfApi().dataset_info(repo, revision=revision)
    commit = info.sha or ""
    if not _COMMIT.fullmatch(commit):
        raise SourceError("the Hub names no commit", path=place, fix="give a commit id as revision")
    names = [sibling.rfilename for sibling in info.siblings or ()]
    _require_data(place, names, suffixes)
    with _one_line_errors(place):
        folder = snapshot_download(
            repo, repo_type="dataset", revision=commit, allow_patterns=[f"*{suffix}" for suffix in suffixes]
        )
    root = Path(folder)
    if pin is not None and pin.revision == commit:
        _verify(root, pin)
    return HubFolder(root, Origin("hub", repo, commit))


def _require_data(place: str, names: Sequence[str], suffixes: Sequence[str]) -> None:
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
def _one_line_errors(place: str) -> Iterator[None]:
    """Errors of the Hub client, which carry URLs and request ids, as one line of ours."""
    try:
        yield
    except GatedRepoError:
        raise PrerequisiteError(
            f"{place} is gated: ask for access on its page, then log in", _LOG_IN
        ) from None
    except RevisionNotFoundError:
        raise SourceError(
            "no such revision on the Hub", path=place, fix="give a commit, tag or branch"
        ) from None
    except RepositoryNotFoundError:
        raise SourceError(
            "no such data set on the Hub, or it is private",
            path=place,
            fix=f"check the name, or run: {_LOG_IN}",
        ) from None
    except HFValidationError:
        raise SourceError("not a Hub id", path=place, fix="write it as ORGANISATION/NAME") from None
    except OfflineModeIsEnabled:
        raise SourceError(
            "the Hub is switched off by HF_HUB_OFFLINE", path=place, fix="unset it, or give a local folder"
        ) from None
    except HfHubHTTPError as error:
        raise _refusal(place, getattr(error.response, "status_code", None)) from None
    except _CONNECTION_ERRORS as error:
        raise SourceError(
            f"the Hub does not answer ({type(error).__name__})",
            path=place,
            fix="check the network and try again",
        ) from None


def _refusal(place: str, status: int | None) -> Exception:
    if status in (401, 403):
        return PrerequisiteError(f"the Hub refuses access to {place} ({status})", _LOG_IN)
    return SourceError(f"the Hub answered {status}", path=place, fix="wait a little and try again")
