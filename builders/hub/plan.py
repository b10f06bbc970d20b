"""What publishing would do to a repository: which files come, change and go, and what must be sent.

Files are compared by their hashes alone; nothing here reads the Hub or writes anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ...errors import PublishError
from ..versions import Bump
from ._foreign import foreign_patterns
from .merging import Manifest
from .remote import RemoteFile

# What the Hub documents: it refuses more files, and a folder with more entries cannot be listed.
MOST_FILES = 100_000
MOST_ENTRIES = 10_000
# What its client documents of one commit; files of more than LARGE_BYTES are stored apart.
MOST_IN_COMMIT = 25_000
MOST_SMALL_BYTES = 1_000_000_000
LARGE_BYTES = 10_000_000
_BLOCK = 1 << 20
_SHOWN = 20
_OWN_FILES = frozenset({"manifest.json", "README.md", "eval.yaml"})
_OWN_RESULTS = re.compile(
    r"results/(index\.json|[^/]+/(overlap\.parquet|[^/]+\.(json|predictions\.jsonl|errors\.jsonl)))"
)


@dataclass(frozen=True)
class LocalFile:
    """A file to publish. `blob_id` is git's sha1 of its content; both hashes are bare hexadecimal digits."""

    source: Path
    size: int
    sha256: str
    blob_id: str

    @classmethod
    def of(cls, source: Path) -> LocalFile:
        """Hash the content of a file, once. Raises OSError."""
        size = source.stat().st_size
        sha256 = hashlib.sha256()
        blob = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
        with source.open("rb") as handle:
            while block := handle.read(_BLOCK):
                sha256.update(block)
                blob.update(block)
        return cls(source, size, sha256.hexdigest(), blob.hexdigest())

    def is_same(self, remote: RemoteFile) -> bool:
        """Whether the Hub has this content."""
        if remote.sha256 is not None:
            return remote.sha256 == self.sha256
        return remote.blob_id == self.blob_id


@dataclass(frozen=True)
class FilePlan:
    """Paths that one commit adds, changes and removes, sorted; `to_send` counts bytes the Hub lacks."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    to_send: int = 0

    @property
    def written(self) -> tuple[str, ...]:
        """What is added or changed."""
        return (*self.added, *self.changed)

    def __bool__(self) -> bool:
        return bool(self.written or self.removed)


@dataclass(frozen=True)
class PublishPlan:
    """What `publish` does, or would do: the version and why, the files, and what becomes of tags.

    `former` is the version on the Hub before; `bump` is `none` where nothing changes, `first` for a first
    version. `renamed_tags` maps tags of versions that were taken back to their new names.
    """

    repo: str
    former: str | None
    version: str
    bump: Bump | str
    reasons: tuple[str, ...]
    files: FilePlan
    creates: bool = False
    renamed_tags: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        after = f" after {self.former}" if self.former and self.former != self.version else ""
        lines = [f"{self.repo} {self.version}{after} ({self.bump})"]
        lines += [f"  because {reason}" for reason in self.reasons]
        parts = (("+", self.files.added), ("~", self.files.changed), ("-", self.files.removed))
        for sign, paths in parts:
            lines += [f"  {sign} {path}" for path in paths[:_SHOWN]]
            if len(paths) > _SHOWN:
                lines.append(f"  {sign} and {len(paths) - _SHOWN} more")
        lines += [f"  tag {old} becomes {new}" for old, new in self.renamed_tags.items()]
        counts = ", ".join(
            f"{len(paths)} {name}"
            for name, paths in (
                ("added", self.files.added),
                ("changed", self.files.changed),
                ("removed", self.files.removed),
                ("unchanged", self.files.unchanged),
            )
        )
        return "\n".join([*lines, f"{counts}; {self.files.to_send:,} bytes to send"])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "repo": self.repo,
            "former": self.former,
            "version": self.version,
            "bump": self.bump,
            "reasons": list(self.reasons),
            "creates": self.creates,
            "added": list(self.files.added),
            "changed": list(self.files.changed),
            "removed": list(self.files.removed),
            "unchanged": list(self.files.unchanged),
            "bytes": self.files.to_send,
            "renamed_tags": dict(self.renamed_tags),
        }


def plan_files(
    local: Mapping[str, LocalFile], remote: Mapping[str, RemoteFile], owned: Iterable[str]
) -> FilePlan:
    """Compare the files of a release with those of a commit. `owned` are the remote paths that may go."""
    added = sorted(local.keys() - remote.keys())
    changed = sorted(path for path in local.keys() & remote.keys() if not local[path].is_same(remote[path]))
    stored = {file.sha256 for file in remote.values()}
    lacking = {local[path].sha256: local[path].size for path in (*added, *changed)}
    return FilePlan(
        added=tuple(added),
        changed=tuple(changed),
        removed=tuple(sorted(set(owned) - local.keys())),
        unchanged=tuple(sorted(local.keys() & remote.keys() - set(changed))),
        to_send=sum(size for sha256, size in lacking.items() if sha256 not in stored),
    )


def owned_paths(
    remote: Iterable[str], head: Manifest | None, foreign: Mapping[str, Any], made: Collection[str] = ()
) -> list[str]:
    """Those of the remote paths that belong to the release there, and to no `foreign` config.

    `made` are its analyses, figures and exports; others beside them stay. In folders of its configs and of
    their assignments nothing else can stay: readers would take it for rows. Without a release there (`head`
    is None) nothing is its own: what stands in folders of the same names was put there by others.
    """
    if head is None:
        return []
    folders = {"assignments", *head["configs"]}
    kept = foreign_patterns(foreign)
    return [
        path
        for path in remote
        if (
            path in _OWN_FILES
            or path in made
            or _OWN_RESULTS.fullmatch(path)
            or ("/" in path and path.partition("/")[0] in folders)
        )
        and not any(fnmatchcase(path, pattern) for pattern in kept)
    ]


def check_limits(files: Mapping[str, LocalFile], remote: Iterable[str], plan: FilePlan) -> None:
    """Raise PublishError if the commit, the repository or a folder would be more than the Hub takes."""
    paths = {*files, *remote} - {*plan.removed}
    if len(paths) >= MOST_FILES:
        raise PublishError(
            f"the repository would hold {len(paths):,} files and the Hub takes fewer than {MOST_FILES:,}; "
            "publish fewer configs, or give them repositories of their own"
        )
    entries: dict[str, set[str]] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(len(parts)):
            entries.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    for folder, names in entries.items():
        if len(names) > MOST_ENTRIES:
            raise PublishError(
                f"folder {folder or '/'} would hold {len(names):,} entries and the Hub takes "
                f"{MOST_ENTRIES:,}; remove stale results, or publish fewer configs"
            )
    if len(plan.written) > MOST_IN_COMMIT:
        raise PublishError(
            f"{len(plan.written):,} files would be written and one commit takes {MOST_IN_COMMIT:,}; publish "
            "fewer configs first, and the others after them"
        )
    small = sum(files[path].size for path in plan.written if files[path].size <= LARGE_BYTES)
    if small > MOST_SMALL_BYTES:
        raise PublishError(
            f"files that stand in the commit itself have up to {small:,} bytes and one commit takes "
            f"{MOST_SMALL_BYTES:,}; remove stale results, or publish fewer configs first"
        )
