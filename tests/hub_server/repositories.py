"""Repositories: bare git folders with a small file of metadata, and who may see and change them."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import SortMode

from .accounts import Account
from .messages import HubError
from .trees import TreeFile, write_tree

KINDS = ("models", "datasets", "spaces")
_LFS_SUFFIXES = (
    *("7z", "arrow", "avro", "bin", "bz2", "gz", "h5", "npy", "npz", "parquet", "pickle", "safetensors"),
    *("tar", "tgz", "xz", "zip", "zst", "wav", "mp3", "flac", "png", "jpg", "jpeg", "webp", "mp4"),
)
_ATTRIBUTES = "".join(f"*.{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in _LFS_SUFFIXES)
_NAME = re.compile(r"(?!.*(--|\.\.))[\w.-]{1,96}", re.ASCII)
_METADATA = "hub.json"


def timestamp(seconds: float | None = None) -> str:
    """A moment (seconds since 1970; None: now) as the Hub writes it."""
    moment = datetime.datetime.fromtimestamp(time.time() if seconds is None else seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Repository:
    """One repository as one account sees it; `metadata` is the content of its metadata file."""

    def __init__(self, kind: str, name: str, folder: Path, account: Account | None) -> None:
        self.kind = kind
        self.name = name
        self.folder = folder
        self.account = account
        self.git = pygit2.Repository(str(folder))
        self.metadata: dict[str, Any] = {}
        self.reload()

    def reload(self) -> None:
        """Read the metadata again: needed under the lock before they are changed."""
        self.metadata = json.loads((self.folder / _METADATA).read_text())

    def save(self) -> None:
        """Write the metadata back."""
        (self.folder / _METADATA).write_text(json.dumps(self.metadata))

    @property
    def is_member(self) -> bool:
        """Whether the repository belongs to the account or to one of its organisations."""
        return self.account is not None and self.account.belongs_to(self.name.split("/")[0])

    def require_write(self) -> None:
        """Raise HubError unless the account may change this repository."""
        if self.account is None:
            raise HubError(401, "Invalid username or password.")
        if not self.is_member or not self.account.writes:
            raise HubError(403, f"Forbidden: you don't have the rights to write to {self.kind}/{self.name}")

    def require_contribution(self) -> None:
        """Raise HubError unless the account may open a pull request here."""
        if self.account is None:
            raise HubError(401, "Invalid username or password.")
        if not self.account.writes:
            raise HubError(403, "Forbidden: this token may only read")

    def signature(self) -> pygit2.Signature:
        """The account as author, now."""
        name = self.account.name if self.account else "hub"
        return pygit2.Signature(name, f"{name}@users.noreply.invalid", int(time.time()), 0)

    def resolve(self, revision: str) -> pygit2.Commit:
        """The commit of a branch, tag, ref or (shortened) commit id."""
        names = (
            [revision]
            if revision.startswith("refs/")
            else [f"refs/heads/{revision}", f"refs/tags/{revision}"]
        )
        if revision == "HEAD":
            names = ["refs/heads/main"]
        for name in names:
            if pygit2.reference_is_valid_name(name) and name in self.git.references:
                return self.git.references[name].peel(pygit2.Commit)
        if re.fullmatch(r"[0-9a-f]{4,40}", revision):
            try:
                return self.git.revparse_single(revision).peel(pygit2.Commit)
            except (KeyError, ValueError, pygit2.InvalidSpecError):
                pass
        raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def history(self, commit: pygit2.Commit) -> Iterator[pygit2.Commit]:
        """The commit and those before it, newest first."""
        return iter(self.git.walk(commit.id, SortMode.TOPOLOGICAL | SortMode.TIME))

    def commit_files(
        self, ref: str | None, files: Mapping[str, TreeFile], message: str, parents: list[pygit2.Oid]
    ) -> pygit2.Oid:
        """A new commit with exactly `files`; `ref` (None: none) is set to it."""
        tree = write_tree(self.git, files)
        oid = self.git.create_commit(None, self.signature(), self.signature(), message, tree, parents)
        if ref is not None:
            self.git.references.create(ref, oid, force=True)
        return oid


class RepositoryStore:
    """All repositories under one folder."""

    def __init__(self, root: Path, lock: threading.RLock) -> None:
        self._root = root / "repositories"
        self._lock = lock
        self._moved: dict[tuple[str, str], str] = {}

    def open(self, kind: str, name: str, account: Account | None) -> Repository:
        """The repository (by its new name where it has moved).

        Raises HubError where it does not exist or is private: clients must not be able to tell these apart.
        """
        name = self._moved.get((kind, name), name)
        folder = self._folder(kind, name)
        if folder.is_dir():
            repository = Repository(kind, name, folder, account)
            if not repository.metadata["private"] or repository.is_member:
                return repository
        if account is None:
            raise HubError(401, "Invalid username or password.", "RepoNotFound")
        raise HubError(404, "Repository not found", "RepoNotFound")

    def create(self, kind: str, name: str, account: Account, *, private: bool, page: str) -> None:
        """Make an empty repository. Raises HubError for a bad or taken name and a foreign namespace."""
        _require_name(name, account)
        with self._lock:
            folder = self._folder(kind, name)
            if folder.is_dir():
                raise HubError(409, f"You already created this {kind[:-1]} repo: {name}", body={"url": page})
            git = pygit2.init_repository(str(folder), bare=True, initial_head="main")
            git.config["http.receivepack"] = True
            git.config["uploadpack.allowAnySHA1InWant"] = True
            metadata = {"private": private, "createdAt": timestamp(), "gated": False, "discussions": []}
            (folder / _METADATA).write_text(json.dumps(metadata))
            attributes = TreeFile(0o100644, git.create_blob(_ATTRIBUTES.encode()))
            repository = Repository(kind, name, folder, account)
            repository.commit_files("refs/heads/main", {".gitattributes": attributes}, "initial commit", [])
            self._moved.pop((kind, name), None)

    def move(self, kind: str, old: str, new: str, account: Account) -> None:
        """Rename a repository; its old name leads to the new one."""
        with self._lock:
            repository = self.open(kind, old, account)
            repository.require_write()
            _require_name(new, account)
            target = self._folder(kind, new)
            if target.is_dir():
                raise HubError(409, f"{new} exists already")
            target.parent.mkdir(parents=True, exist_ok=True)
            repository.folder.rename(target)
            self._moved[(kind, old)] = new

    def delete(self, kind: str, name: str, account: Account) -> None:
        """Remove a repository with everything in it."""
        with self._lock:
            repository = self.open(kind, name, account)
            repository.require_write()
            shutil.rmtree(repository.folder)

    def all(self, kind: str, account: Account | None) -> list[Repository]:
        """Every repository that the account may see, sorted by name."""
        found = []
        for folder in sorted((self._root / kind).glob("*/*.git")):
            repository = Repository(kind, f"{folder.parent.name}/{folder.stem}", folder, account)
            if not repository.metadata["private"] or repository.is_member:
                found.append(repository)
        return found

    def _folder(self, kind: str, name: str) -> Path:
        return self._root / kind / f"{name}.git"


def _require_name(name: str, account: Account) -> None:
    """Raise HubError unless the account may have a repository of this name."""
    namespace, _, short = name.partition("/")
    if _NAME.fullmatch(short) is None:
        raise HubError(400, f"Invalid repo name: {name}")
    if not account.belongs_to(namespace) or not account.writes:
        raise HubError(403, f"You don't have the rights to create a repo under the namespace {namespace}")
