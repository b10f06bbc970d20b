"""The sides of a merge as they are read: the folder to publish, and the repository at one commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...cards.card import README
from ...errors import PublishError, ReleaseError
from ...release import MANIFEST, ReleaseFolder
from ..versions import YANKED
from ._safety import CARD_BYTES, check_no_script, check_size, read_yaml_header
from .client import HubClient
from .merging import Manifest, listed
from .plan import LocalFile
from .remote import DATASET, HubRelease, RemoteState, read_state, release_paths

EMPTY: Manifest = {}
"""The manifest of a repository that holds no release."""

_DATA_SUFFIXES = frozenset(
    {".parquet", ".arrow", ".csv", ".tsv", ".json", ".jsonl", ".txt", ".xml", ".zip", ".tar", ".gz", ".zst"}
)


@dataclass(frozen=True)
class RemoteSide:
    """A repository at one commit: its files, its card (empty if it has none) and its release, if any."""

    state: RemoteState
    release: HubRelease | None
    card: str

    @property
    def manifest(self) -> Manifest | None:
        """None where the repository holds no release."""
        return None if self.release is None else self.release.manifest

    @property
    def version(self) -> str | None:
        """The version that its manifest names."""
        return None if self.release is None else self.release.publication.version

    def foreign(self) -> dict[str, list[dict[str, Any]]]:
        """README entries (`configs`, `dataset_info`) of configs that benchwright did not make, as plain JSON.

        Without their `default`: a release has one of its own.
        """
        header = read_yaml_header(self.card, self.state.repo) or {}
        own: set[str] = set()
        if self.release is not None:
            own = {*self.release.configs, *self.release.publication.aliases}
        found = {}
        for key in ("configs", "dataset_info"):
            entries = header.get(key) or []
            entries = [entries] if isinstance(entries, Mapping) else entries
            kept = [
                {field: value for field, value in entry.items() if field != "default"}
                for entry in entries
                if isinstance(entry, Mapping) and entry.get("config_name", "default") not in own
            ]
            if kept:
                found[key] = [_plain({"config_name": "default", **entry}) for entry in kept]
        return found if found.get("configs") else {}

    def require_known_data(self) -> None:
        """Raise PublishError if readers find rows here that no header names: with ours they would be lost."""
        header = read_yaml_header(self.card, self.state.repo) or {}
        if self.release is not None or header.get("configs"):
            return
        data = [path for path in self.state.files if PurePosixPath(path).suffix.lower() in _DATA_SUFFIXES]
        if data:
            raise PublishError(
                f"{self.state.repo} holds data that its README.md does not name ({listed(data)}), which "
                "readers would no longer find; name them under `configs` there, or choose another --repo"
            )


def read_side(client: HubClient, repo: str, revision: str | None = None) -> RemoteSide | None:
    """A repository at a revision (None: the newest commit); None if there is no such repository.

    Raises what `read_state` and `HubRelease` raise.
    """
    state = read_state(client, repo, revision)
    if state is None:
        return None
    release = HubRelease(repo, state.head, client=client, state=state) if MANIFEST in state.files else None
    card = ""
    if README in state.files:
        path = _fetch_card(client, state) if release is None else release.fetch([README])[0]
        card = _text(path, f"{repo}: {README}")
    if release is None:
        check_no_script(state.files, repo)
    return RemoteSide(state, release, card)


def _fetch_card(client: HubClient, state: RemoteState) -> Path:
    check_size(README, state.files[README].size, CARD_BYTES, state.repo)

    def fetch() -> str:
        path: str = client.api.hf_hub_download(state.repo, README, repo_type=DATASET, revision=state.head)
        return path

    return Path(client.call(state.repo, fetch))


@dataclass(frozen=True)
class LocalSide:
    """What is to be published: a release folder, or what the last round made of it."""

    folder: Path
    manifest: Manifest
    card: str
    files: Mapping[str, LocalFile]

    @classmethod
    def of(cls, release: ReleaseFolder, hashes: HashedFiles) -> LocalSide:
        """Read the card and hash every file that belongs to the release. Raises ReleaseError."""
        root = release.path
        names = (path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file())
        own = sorted(release_paths(release, names))
        card = _text(root / README, str(root / README)) if README in own else ""
        return cls(root, release.manifest, card, {name: hashes.of(root / name) for name in own})


class HashedFiles:
    """Hashes of files, each read once as long as it does not change."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, int, int], LocalFile] = {}

    def of(self, path: Path) -> LocalFile:
        """Raises ReleaseError for a file that cannot be read."""
        try:
            source = path.resolve()
            stat = source.stat()
            key = (source, stat.st_size, stat.st_mtime_ns)
            if key not in self._known:
                self._known[key] = LocalFile.of(source)
        except OSError as error:
            raise ReleaseError(f"{path} cannot be read: {error.strerror or error}") from None
        return self._known[key]


def find_base(client: HubClient, local: ReleaseFolder, head: RemoteSide) -> RemoteSide | None:
    """The published version that a folder was made from; None if it is not known or stands elsewhere."""
    published, tags = local.publication, head.state.tags
    if published.repo != head.state.repo or published.version is None or head.release is None:
        return None
    for tag in (published.version, published.version + YANKED):
        if tag in tags:
            return head if tags[tag] == head.state.head else read_side(client, head.state.repo, tags[tag])
    # Its tag was never made, because its publication was interrupted or waits to be merged.
    return head if head.version == published.version else None


def _text(path: Path, where: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ReleaseError(f"{where} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{where} is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def _plain(value: Any) -> Any:
    """As JSON has it: YAML knows dates, JSON does not."""
    return json.loads(json.dumps(value, default=str))
