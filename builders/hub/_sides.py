"""The sides of a merge as they are read: the folder to publish, and the repository at one commit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...cards.card import README
from ...cards.harness import export_texts
from ...errors import PublishError, ReleaseError, show
from ...release import MANIFEST, ReleaseFolder
from ..analyse import PROPERTIES
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
_KEPT_FIELDS = frozenset({"configs", "dataset_info", "license"})


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
        own: set[str] = set()
        if self.release is not None:
            own = {*self.release.configs, *self.release.publication.aliases}
        found = {}
        for key in ("configs", "dataset_info"):
            kept = [
                {field: value for field, value in entry.items() if field != "default"}
                for entry in self._entries(key)
                if entry["config_name"] not in own
            ]
            if kept:
                found[key] = _plain(kept, f"{self.state.repo}: {key} of its {README}")
        return found if found.get("configs") else {}

    def made(self) -> set[str]:
        """Paths of the analyses, figures and exports of its release; others may have put more beside them."""
        if self.release is None:
            return set()
        shown = {path for path in self.state.files if path.startswith("figures/") and path in self.card}
        with reading_fields(self.state.repo):
            exports = export_texts(self.release, repo=self.state.repo, revision=self.version)
        return {PROPERTIES, *shown, *exports}

    def _entries(self, key: str) -> list[dict[str, Any]]:
        """Mappings with a `config_name` under a key of the README's header. Raises ReleaseError."""
        header = read_yaml_header(self.card, self.state.repo) or {}
        entries = header.get(key) or []
        entries = [entries] if isinstance(entries, Mapping) else entries
        if isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries):
            # As readers have it: an entry without a name is that of `default`.
            named = [{"config_name": "default", **entry} for entry in entries]
            if all(isinstance(entry["config_name"], str) for entry in named):
                return named
        raise ReleaseError(
            f"{self.state.repo}: {key} of its {README} must list configs with their names, got "
            f"{show(header[key])}; write it again"
        )

    def require_same_licence(self, licence: str) -> None:
        """Raise PublishError for data of others under another licence, which the card would then not name."""
        header = read_yaml_header(self.card, self.state.repo) or {}
        stated = header.get("license")
        if self.release is None and self._entries("configs") and stated not in (None, licence):
            raise PublishError(
                f"{self.state.repo} holds configs that benchwright did not make, under the licence "
                f"{show(stated)}, and its card would say {show(licence)} of all; choose another --repo"
            )

    def replaced_fields(self) -> list[str]:
        """Fields of a header that others wrote, which a card of ours does not keep."""
        header = read_yaml_header(self.card, self.state.repo) or {}
        return [] if self.release is not None else sorted(map(str, header.keys() - _KEPT_FIELDS))

    def require_known_data(self) -> None:
        """Raise PublishError if readers find rows here that no header names: with ours they would be lost."""
        if self.release is not None or self._entries("configs"):
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
        check_no_script(state.files, repo, repo)
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
    """The published version that a folder was made from; None if it is not known or stands elsewhere.

    Raises PublishError if that version is gone, so that nobody can tell what changed since.
    """
    published, tags = local.publication, head.state.tags
    if published.repo != head.state.repo or published.version is None or head.release is None:
        return None
    for tag in (published.version, published.version + YANKED):
        if tag in tags:
            return head if tags[tag] == head.state.head else read_side(client, head.state.repo, tags[tag])
    # Its tag was never made, because its publication was interrupted or waits to be merged.
    if head.version == published.version:
        return head
    raise PublishError(
        f"{local.path} was made from {head.state.repo}@{published.version}, whose tag is gone, so what "
        f"changed since cannot be told; run `benchwright download {head.state.repo}` and put your changes "
        "in there"
    )


@contextmanager
def reading_fields(repo: str) -> Iterator[None]:
    """A manifest may be anyone's: a field that is missing or of another type is one line, not a traceback."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReleaseError(
            f"the release, or the one in {repo}, lacks or misuses a field of manifest.json ({error!r}); "
            "build it again"
        ) from None


def _text(path: Path, where: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ReleaseError(f"{where} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{where} is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def _plain(value: Any, where: str) -> Any:
    """As JSON has it: YAML knows dates, JSON does not. Raises ReleaseError for what JSON cannot say."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ReleaseError(f"{where} cannot be kept ({error}); write it again") from None
