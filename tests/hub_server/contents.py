"""What a repository holds at a commit, in the words of the Hub's API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import pygit2
import yaml

from .objects import POINTER_LIMIT, Pointer, parse_pointer
from .repositories import Repository, timestamp
from .trees import Entry, find, walk

_HEADER = re.compile(r"\s*---\r?\n(.*?)\r?\n---", re.DOTALL)
_TAG_FIELDS = ("license", "language", "task_categories", "size_categories")
_REF_KINDS = {
    "refs/heads/": "branches",
    "refs/tags/": "tags",
    "refs/convert/": "converts",
    "refs/pr/": "pullRequests",
}


def pointer_of(blob: pygit2.Blob) -> Pointer | None:
    """The pointer in a file of the tree, or None for an ordinary file."""
    # `size` comes from the object's header: the content of a large blob is not read.
    return parse_pointer(blob.data) if blob.size <= POINTER_LIMIT else None


def entry(path: str, item: Entry, last_commit: dict[str, str] | None = None) -> dict[str, Any]:
    """A file or folder as `tree` and `paths-info` list it."""
    if isinstance(item, pygit2.Tree):
        found: dict[str, Any] = {"type": "directory", "oid": str(item.id), "size": 0, "path": path}
    else:
        found = {"type": "file", "oid": str(item.id), "size": item.size, "path": path}
        if pointer := pointer_of(item):
            found["size"] = pointer.size
            found["lfs"] = {"oid": pointer.oid, "size": pointer.size, "pointerSize": item.size}
    if last_commit is not None:
        found["lastCommit"] = last_commit
    return found


def last_commit(repository: Repository, commit: pygit2.Commit, path: str) -> dict[str, str]:
    """The newest commit that changed `path`."""

    def content(of: pygit2.Commit) -> pygit2.Oid | None:
        item = find(of.tree, path)
        return item.id if item else None

    changed = next(
        one
        for one in repository.history(commit)
        if not one.parents or content(one.parents[0]) != content(one)
    )
    return {"id": str(changed.id), "title": title(changed), "date": timestamp(changed.commit_time)}


def title(commit: pygit2.Commit) -> str:
    """The first line of a commit's message."""
    return str(commit.message).split("\n", 1)[0]


def card_metadata(text: str) -> Any:
    """The YAML header of a card; None where there is none. Raises yaml.YAMLError for broken YAML."""
    header = _HEADER.match(text)
    return None if header is None else yaml.safe_load(header[1])


def info(repository: Repository, commit: pygit2.Commit, blobs: bool) -> dict[str, Any]:
    """Everything about a repository at a commit; `blobs` adds sizes and ids to its files."""
    card = _card(commit)
    return {
        "_id": hashlib.md5(repository.name.encode()).hexdigest()[:24],
        "id": repository.name,
        "author": repository.name.split("/")[0],
        "sha": str(commit.id),
        "lastModified": timestamp(commit.commit_time),
        "createdAt": repository.metadata["createdAt"],
        "private": repository.metadata["private"],
        "gated": repository.metadata["gated"],
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "usedStorage": 0,
        "tags": list(_tags(card)),
        "cardData": card,
        "siblings": [
            _sibling(path, item, blobs) for path, item in walk(commit.tree) if isinstance(item, pygit2.Blob)
        ],
    }


def refs(repository: Repository, pull_requests: bool) -> dict[str, list[dict[str, str]]]:
    """Branches, tags, converted branches and, if asked for, pull requests."""
    found: dict[str, list[dict[str, str]]] = {kind: [] for kind in _REF_KINDS.values()}
    if not pull_requests:
        del found["pullRequests"]
    for ref in sorted(repository.git.references):
        for prefix, kind in _REF_KINDS.items():
            if ref.startswith(prefix) and kind in found:
                commit = repository.git.references[ref].peel(pygit2.Commit)
                found[kind].append(
                    {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": str(commit.id)}
                )
    return found


def commits(repository: Repository, commit: pygit2.Commit) -> list[dict[str, Any]]:
    """The history of a commit, newest first."""
    return [
        {
            "id": str(one.id),
            "title": title(one),
            "message": one.message.partition("\n\n")[2],
            "authors": [{"user": one.author.name, "avatar": ""}],
            "date": timestamp(one.commit_time),
        }
        for one in repository.history(commit)
    ]


def text_file(commit: pygit2.Commit, path: str) -> str | None:
    """A small file as text, or None where there is none."""
    item = find(commit.tree, path)
    return item.data.decode("utf-8", "replace") if isinstance(item, pygit2.Blob) else None


def _card(commit: pygit2.Commit) -> dict[str, Any]:
    try:
        metadata = card_metadata(text_file(commit, "README.md") or "")
    except yaml.YAMLError:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _tags(card: dict[str, Any]) -> Iterator[str]:
    for field in _TAG_FIELDS:
        values = card.get(field) or []
        for value in values if isinstance(values, list) else [values]:
            yield f"{field}:{value}"
    yield from card.get("tags") or []


def _sibling(path: str, item: pygit2.Blob, blobs: bool) -> dict[str, Any]:
    if not blobs:
        return {"rfilename": path}
    details = entry(path, item)
    sibling = {"rfilename": path, "size": details["size"], "blobId": details["oid"]}
    if lfs := details.get("lfs"):
        sibling["lfs"] = {"sha256": lfs["oid"], "size": lfs["size"], "pointerSize": lfs["pointerSize"]}
    return sibling
