"""Working on a published release: a local copy of it, which a later publication takes as its base."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from ...atomic import write_text
from ...cards import WrittenCard, write_card
from ...errors import ReleaseError
from ...eval import evaluate as evaluate_folder
from ...hashing import canonical_json, sha256_text
from ...progress import Stage, no_progress
from ...release import MANIFEST, ReleaseFolder
from .._staging import Staging, writing
from ..analyse import analyse as analyse_folder
from ..overlap import overlap as overlap_folder
from ..release import manifest_text
from ..versions import versions_among
from .client import HubClient
from .location import HubLocation, parse_location
from .remote import HubRelease, read_state

T = TypeVar("T")


def download(place: str, *, out: str | Path | None = None, progress: Stage = no_progress) -> ReleaseFolder:
    """A release of the Hub as a local folder: what a later `publish` compares with and adds to.

    `place` is `ORG/NAME@REVISION`; without a revision, the newest version, or the newest commit where
    nothing was tagged. `out` is the folder to make (None: NAME, here). A folder that holds this release
    already, with results added to it or not, is left as it is.

    The folder is there as a whole or not at all. Raises UsageError for text that is no Hub id, ReleaseError
    for a data set that is no release or a folder with something else in it, and what the Hub client raises.
    """
    location = parse_location(place)
    if isinstance(location, Path):
        raise ReleaseError(f"{place} is a folder already; give a Hub id: ORG/NAME@REVISION")
    return local_copy(place, out, progress=progress)


def local_copy(
    place: str | Path | ReleaseFolder, out: str | Path | None = None, *, progress: Stage = no_progress
) -> ReleaseFolder:
    """The release at `place` as a folder that may be worked on; a local folder is that itself.

    A Hub release is downloaded to `out` as `download` says; a folder is copied there, if `out` is given.
    Raises as `download` does.
    """
    target = copy_folder(place, out)
    if target is None:
        return place if isinstance(place, ReleaseFolder) else ReleaseFolder(Path(place))
    found = open_whole(place, progress)
    if (target / MANIFEST).is_file() and ReleaseFolder(target).manifest == found.manifest:
        return ReleaseFolder(target)
    if (target / MANIFEST).is_file():
        raise ReleaseError(f"{target} holds another release; choose another folder with --out")
    _copy(found, target)
    return ReleaseFolder(target)


def copy_folder(place: str | Path | ReleaseFolder, out: str | Path | None) -> Path | None:
    """Where `local_copy` puts the copy; None where it works on the folder itself. Raises UsageError."""
    if isinstance(place, ReleaseFolder):
        return None if out is None else Path(out)
    location = parse_location(place)
    if isinstance(location, Path):
        same = out is None or Path(out).resolve() == location.resolve()
        return None if same else Path(str(out))
    return Path(out) if out is not None else Path(location.repo.rpartition("/")[2])


def open_whole(place: str | Path | ReleaseFolder, progress: Stage = no_progress) -> ReleaseFolder:
    """The release at `place` with all its files; one of the Hub knows from which version it comes.

    Raises as `download` does.
    """
    if isinstance(place, ReleaseFolder):
        return place
    location = parse_location(place)
    if isinstance(location, Path):
        return ReleaseFolder(location)
    release, version = _open_newest(location)
    release.download_all(progress=progress)
    base = replace(release.publication, repo=location.repo, version=version)
    release.__dict__["manifest"] = base.put_into(release.manifest)
    return release


def _open_newest(location: HubLocation) -> tuple[HubRelease, str | None]:
    """A Hub release, and the version that it is or was made from."""
    client, revision, state = HubClient(), location.revision, None
    if revision is None:
        state = read_state(client, location.repo)
        versions = versions_among(state.tags) if state is not None else []
        if versions:
            revision, state = str(versions[-1]), None
    release = HubRelease(location.repo, revision, client=client, state=state)
    tagged = versions_among(tag for tag, commit in release.state.tags.items() if commit == release.commit)
    if revision is not None and versions_among([revision]):
        return release, revision
    return release, str(tagged[-1]) if tagged else release.publication.version


def _copy(release: ReleaseFolder, target: Path) -> None:
    """Copy a release whose files are all there; a manifest that names another base has its own card."""
    key = sha256_text(canonical_json([str(release.path.resolve().name), release.manifest]))
    with Staging(target, key, overwrite=False) as staging, writing(target):
        shutil.copytree(release.path, staging.folder, dirs_exist_ok=True)
        if ReleaseFolder(staging.folder).manifest != release.manifest:
            write_text(staging.folder / MANIFEST, manifest_text(release.manifest))
            write_card(staging.folder, name=target.resolve().name)
        staging.publish()


def _on_a_copy(function: Callable[..., T]) -> Callable[..., T]:
    """`function`, whose first parameter is a release folder, with the option `out` of `local_copy`."""

    @wraps(function)
    def working(
        release: str | Path | ReleaseFolder, *arguments: Any, out: str | Path | None = None, **options: Any
    ) -> T:
        progress = {name: options[name] for name in ("progress",) if name in options}
        copy = local_copy(release, out, **progress)
        if copy.is_stripped:
            raise ReleaseError(
                f"{copy.path} has no text; put that of your copy in: benchwright hydrate {copy.path} "
                "--source PATH --out DIR"
            )
        return function(copy, *arguments, **options)

    signature = inspect.signature(function)
    option = inspect.Parameter(
        "out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | Path | None"
    )
    first, *rest = signature.parameters.values()
    positional = [p for p in rest if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = [p for p in rest if p.kind is inspect.Parameter.KEYWORD_ONLY]
    parameters = [first, *positional, option, *named]
    vars(working).update(__signature__=signature.replace(parameters=parameters))
    working.__doc__ = (
        f"{inspect.getdoc(function)}\n\nA release of the Hub (`ORG/NAME@REVISION`) is downloaded to `out` "
        "first, and the copy is worked on; a folder is copied only if `out` is given.\n"
    )
    return working


evaluate = _on_a_copy(evaluate_folder)
analyse = _on_a_copy(analyse_folder)
overlap = _on_a_copy(overlap_folder)


def card(release: str | Path | ReleaseFolder, *, out: str | Path | None = None) -> WrittenCard:
    """Write the card of a release again; one of the Hub is downloaded to `out` first, as by `evaluate`."""
    return write_card(local_copy(release, out))
