"""Whether what a release was made from has moved on since: its corpus, and the models that scored it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import UsageError
from ...release import ReleaseFolder
from ..base import builders
from ..sources.files import SourceFolder
from ..sources.hub import STORED_SUFFIXES
from .client import HubClient, NotOnHub
from .location import open_release
from .remote import RemoteFile, RemoteState, read_state

Status = Literal["current", "outdated", "unknown"]
_SHORT = 12
_GONE = "it is not on the Hub any more, or is private"


@dataclass(frozen=True)
class Origin:
    """Something that a release was made from.

    `what` is source or model, `name` where it comes from. `recorded` and `newest` are commits, None where
    there are none. The lists name files; a `note` says what the status rests on.
    """

    what: Literal["source", "model"]
    name: str
    status: Status
    recorded: str | None = None
    newest: str | None = None
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        at = f"@{self.recorded[:_SHORT]}" if self.recorded else ""
        lines = [f"{self.what} {self.name}{at}: {self.status}{f', {self.note}' if self.note else ''}"]
        for how in ("changed", "added", "removed"):
            lines += [f"  {how}: {file}" for file in getattr(self, how)]
        return "\n".join(lines)


@dataclass(frozen=True)
class OutdatedReport:
    """Every source and model of a release."""

    origins: tuple[Origin, ...]

    @property
    def outdated(self) -> bool:
        """Whether anything has moved on, as far as can be known."""
        return any(origin.status == "outdated" for origin in self.origins)


def outdated(place: str | Path | ReleaseFolder, *, source: str | Path | None = None) -> OutdatedReport:
    """Compare what a release (a folder, or `ORG/NAME@REVISION`) was made from with the newest there is.

    A Hub data set is compared file by file at its newest commit; a sample with that of this version; a
    corpus that was read from a folder with the one at `source`, and is unknown without it. Models count as
    outdated if their Hub repository has a newer commit than the one that scored.

    Raises ReleaseError for a place that holds no release, UsageError for a `source` that is not there, and
    what the Hub client raises.
    """
    release = open_release(place)
    if source is not None and not Path(source).exists():
        raise UsageError(f"{source}: no such file or folder; give the newest copy of the corpus")
    recorded, client = release.manifest["source"], HubClient()
    if source is not None:
        found = _of_folder(recorded, Path(source), f"compared with {source}")
    elif recorded["kind"] == "hub":
        found = _of_hub(client, recorded)
    elif recorded["kind"] == "sample":
        found = _of_sample(release)
    else:
        note = "it was read from a folder; give the newest copy with --source"
        found = Origin("source", release.dataset["pretty_name"], "unknown", note=note)
    return OutdatedReport((found, *_models(client, release.manifest["scores"])))


def _of_hub(client: HubClient, recorded: Mapping[str, Any]) -> Origin:
    repo, revision = recorded["location"], recorded["revision"]
    newest = read_state(client, repo)
    if newest is None:
        return Origin("source", repo, "unknown", revision, note=_GONE)
    if newest.head == revision:
        return Origin("source", repo, "current", revision, revision)
    then = _state_then(client, repo, revision)
    names = [file["name"] for file in recorded["files"]]
    if then is None:
        return _without_history(recorded, newest)
    used = {stored for name in names if (stored := _stored_name(name, then.files)) is not None}
    removed = sorted(used - set(newest.files))
    changed = sorted(
        name for name in used - set(removed) if _content(then.files[name]) != _content(newest.files[name])
    )
    added = sorted(
        name for name in set(newest.files) - set(then.files) if name.lower().endswith(STORED_SUFFIXES)
    )
    status: Status = "outdated" if removed or changed or added else "current"
    note = "" if status == "outdated" else "a newer commit has the same files"
    files = tuple(changed), tuple(added), tuple(removed)
    return Origin("source", repo, status, revision, newest.head, *files, note=note)


def _state_then(client: HubClient, repo: str, revision: str) -> RemoteState | None:
    try:
        return read_state(client, repo, revision)
    except NotOnHub:
        return None


def _without_history(recorded: Mapping[str, Any], newest: RemoteState) -> Origin:
    """Where the recorded commit is gone: hashes of large files tell, those of small ones do not."""
    changed, removed, unknown = [], [], []
    for file in recorded["files"]:
        stored = _stored_name(file["name"], newest.files)
        if stored is None:
            removed.append(file["name"])
        elif stored != file["name"] or newest.files[stored].sha256 is None:
            unknown.append(file["name"])
        elif f"sha256:{newest.files[stored].sha256}" != file["sha256"]:
            changed.append(file["name"])
    status: Status = "outdated" if changed or removed else "unknown" if unknown else "current"
    note = "the recorded commit is not on the Hub any more"
    if unknown:
        note += f"; whether {', '.join(unknown)} changed cannot be known"
    files = tuple(changed), (), tuple(removed)
    return Origin("source", newest.repo, status, recorded["revision"], newest.head, *files, note=note)


def _of_sample(release: ReleaseFolder) -> Origin:
    name = release.dataset["builder"]
    if name not in builders:
        return Origin("source", "sample", "unknown", note=f"builder {name} is not installed")
    folder = builders.get(name).sample_folder()
    return _of_folder(release.manifest["source"], folder, "compared with the sample of this version")


def _of_folder(recorded: Mapping[str, Any], folder: Path, note: str) -> Origin:
    """The recorded files against those of a folder or file. Raises SourceError for one that is unusable."""
    found = {file.name: file.describe(0).sha256 for file in SourceFolder(folder).files}
    known = set(found.values())
    gone = [file for file in recorded["files"] if file["sha256"] not in known]
    changed = tuple(file["name"] for file in gone if file["name"] in found)
    removed = tuple(file["name"] for file in gone if file["name"] not in found)
    status: Status = "outdated" if gone else "current"
    name = recorded["location"] or "folder"
    return Origin("source", name, status, recorded["revision"], changed=changed, removed=removed, note=note)


def _models(client: HubClient, scores: Mapping[str, Mapping[str, Any]]) -> Iterable[Origin]:
    """The models that made the score tables, each once; those without a commit are not from the Hub."""
    seen = set()
    for table in scores.values():
        model = (table.get("provenance") or {}).get("model") or {}
        name, revision = model.get("model"), model.get("revision")
        if not name or not revision or (name, revision) in seen:
            continue
        seen.add((name, revision))
        yield _of_model(client, str(name), str(revision))


def _of_model(client: HubClient, name: str, revision: str) -> Origin:
    try:
        info = client.call(name, lambda: client.api.model_info(name, expand=["sha"]))
    except NotOnHub:
        return Origin("model", name, "unknown", revision, note=_GONE)
    status: Status = "current" if info.sha == revision else "outdated"
    return Origin("model", name, status, revision, info.sha)


def _stored_name(name: str, files: Mapping[str, RemoteFile]) -> str | None:
    """The file of a repository that holds a source file: itself, or the archive that it stands in."""
    if name in files:
        return name
    return next((file for file in files if name.startswith(f"{file}/")), None)


def _content(file: RemoteFile) -> str:
    return file.sha256 or file.blob_id
