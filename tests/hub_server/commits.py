"""Commits through the API: lines of JSON become one commit, or nothing happens."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pygit2

from .discussions import open_pull_request
from .hub import Hub
from .messages import HubError
from .objects import Pointer, parse_pointer
from .repositories import Repository
from .trees import TreeFile, find, read_tree

_FILE_MODE = 0o100644
#: Larger files must be uploaded as large files first.
REGULAR_LIMIT = 10 << 20


@dataclass
class Changes:
    """What the lines of a commit ask for."""

    header: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    gone_files: list[str] = field(default_factory=list)
    gone_folders: list[str] = field(default_factory=list)


def commit(hub: Hub, repository: Repository, revision: str, body: bytes, create_pr: bool) -> dict[str, Any]:
    """Make the commit that `body` describes on a branch, or as a new pull request.

    Raises HubError where the parent is no longer the head (412), an object was never uploaded, a path is bad
    or a deleted one does not exist; then nothing has changed.
    """
    changes = _parse(hub, body)
    with hub.lock:
        parent = _parent(repository, revision, changes.header.get("parentCommit"), create_pr)
        files = _apply(hub, repository, parent, changes)
        description = changes.header.get("description") or ""
        message = "\n\n".join(part for part in (changes.header["summary"], description) if part)
        oid = repository.commit_files(None, files, message, [parent.id])
        page = hub.page_url(repository.kind, repository.name)
        answer = {
            "success": True,
            "commitOid": str(oid),
            "commitUrl": f"{page}/commit/{oid}",
            "hookOutput": "",
        }
        if create_pr:
            number = open_pull_request(repository, changes.header["summary"], description, revision, oid)
            answer["pullRequestUrl"] = f"{page}/discussions/{number}"
        else:
            repository.git.references.create(_branch(revision), oid, force=True)
    return answer


def lost_object(path: str) -> HubError:
    """The error for a pointer to a large file that was never uploaded."""
    return HubError(400, f"LFS pointer pointed to a file that does not exist: {path}")


def _branch(revision: str) -> str:
    return revision if revision.startswith("refs/") else f"refs/heads/{revision}"


def _parent(repository: Repository, revision: str, expected: str | None, create_pr: bool) -> pygit2.Commit:
    """The commit to build on: the head of the branch, or the one that a pull request is based on."""
    head = repository.resolve(revision)
    if create_pr:
        return repository.resolve(expected) if expected else head
    if _branch(revision) not in repository.git.references:
        raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    if expected and not str(head.id).startswith(expected):
        raise HubError(412, "A commit has happened since. Please refresh and try again.")
    return head


def _apply(hub: Hub, repository: Repository, parent: pygit2.Commit, changes: Changes) -> dict[str, TreeFile]:
    """All files of the new commit by path."""
    files = read_tree(parent.tree)
    for path in (*changes.gone_files, *changes.gone_folders):
        item = find(parent.tree, path)
        if not isinstance(item, pygit2.Tree if path in changes.gone_folders else pygit2.Blob):
            raise HubError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
    inside = tuple(f"{path}/" for path in changes.gone_folders)
    files = {
        path: file
        for path, file in files.items()
        if path not in changes.gone_files and not path.startswith(inside)
    }
    for path, content in changes.files.items():
        pointer = parse_pointer(content)
        if pointer is not None and not hub.objects.has(pointer.oid):
            raise lost_object(path)
        files[path] = TreeFile(_FILE_MODE, repository.git.create_blob(content))
    return files


def _parse(hub: Hub, body: bytes) -> Changes:
    changes = Changes()
    readers: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
        "header": changes.header.update,
        "file": lambda value: _add_file(changes, value),
        "lfsFile": lambda value: _add_large_file(hub, changes, value),
        "deletedFile": lambda value: changes.gone_files.append(_checked(value["path"])),
        "deletedFolder": lambda value: changes.gone_folders.append(_checked(value["path"].rstrip("/"))),
    }
    try:
        for line in body.splitlines():
            if line.strip():
                item = json.loads(line)
                readers[item["key"]](item["value"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HubError(400, f"Not a commit: {error!r}") from None
    if not changes.header.get("summary"):
        raise HubError(400, "Missing commit summary")
    return changes


def _add_file(changes: Changes, value: Mapping[str, Any]) -> None:
    path = _checked(value["path"])
    if value.get("encoding") == "base64":
        try:
            content = base64.b64decode(value["content"], validate=True)
        except binascii.Error:
            raise HubError(400, f"The content is not base64: {path}") from None
    else:
        content = value["content"].encode()
    if len(content) > REGULAR_LIMIT:
        raise HubError(400, f"Files larger than {REGULAR_LIMIT} bytes must be stored as large files: {path}")
    changes.files[path] = content


def _add_large_file(hub: Hub, changes: Changes, value: Mapping[str, Any]) -> None:
    path, oid = _checked(value["path"]), value["oid"]
    if not hub.objects.has(oid):
        raise lost_object(path)
    changes.files[path] = Pointer(oid, hub.objects.size(oid)).text()


def _checked(path: str) -> str:
    """The path. Raises HubError for one that could leave its folder or break a terminal."""
    parts = path.split("/")
    if any(part in ("", ".", "..", ".git") for part in parts) or not path.isprintable() or "\\" in path:
        raise HubError(400, f"Invalid path: {path!r}")
    return path
