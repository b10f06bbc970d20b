"""API calls that change a repository or prepare a change, but for commits and discussions."""

from __future__ import annotations

import base64
import fnmatch
from typing import Any

import pygit2
from pygit2.enums import ObjectType

from .commits import REGULAR_LIMIT
from .contents import entry, text_file
from .hub import Hub
from .messages import HubError, Request, Response, json_response
from .repositories import Repository
from .trees import find

_PREUPLOAD_FILES = 256


def preupload(repository: Repository, revision: str, request: Request) -> Response:
    """How each file is to be uploaded, and whether .gitignore leaves it out."""
    commit, asked = repository.resolve(revision), request.json()
    if len(asked["files"]) > _PREUPLOAD_FILES:
        raise HubError(400, f"At most {_PREUPLOAD_FILES} files a request")
    ignore = asked.get("gitIgnore")
    ignored = _ignore_patterns((text_file(commit, ".gitignore") if ignore is None else ignore) or "")
    large = _large_patterns(text_file(commit, ".gitattributes") or "")
    files = [_upload_mode(commit, file, large, ignored) for file in asked["files"]]
    return json_response({"files": files, "commitOid": str(commit.id)})


def _upload_mode(
    commit: pygit2.Commit, file: dict[str, Any], large: list[str], ignored: list[str]
) -> dict[str, Any]:
    path = file["path"]
    sample = base64.b64decode(file.get("sample") or "")
    is_large = (
        _matches([path, path.rsplit("/", 1)[-1]], large) or file["size"] > REGULAR_LIMIT or b"\0" in sample
    )
    answer = {
        "path": path,
        "uploadMode": "lfs" if is_large else "regular",
        "shouldIgnore": _matches([path, *path.split("/")], ignored),
    }
    if item := find(commit.tree, path):
        existing = entry(path, item)
        answer["oid"] = existing.get("lfs", existing)["oid"]
    return answer


def _matches(names: list[str], patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns)


def _large_patterns(attributes: str) -> list[str]:
    return [line.split()[0] for line in attributes.splitlines() if "filter=lfs" in line]


def _ignore_patterns(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line.rstrip("/") for line in lines if line and not line.startswith("#")]


def create_branch(hub: Hub, repository: Repository, name: str, request: Request) -> Response:
    """A new branch at a revision (default: main)."""
    ref = f"refs/heads/{name}"
    if name.startswith("refs/") or not pygit2.reference_is_valid_name(ref):
        raise HubError(400, f"Invalid reference for a branch: {name}")
    with hub.lock:
        if ref in repository.git.references:
            raise HubError(409, f"Reference already exists: {name}")
        start = repository.resolve(request.json().get("startingPoint") or "main")
        repository.git.references.create(ref, start.id)
    return json_response({})


def create_tag(hub: Hub, repository: Repository, revision: str, request: Request) -> Response:
    """A new tag at a revision, with an object of its own where there is a message."""
    asked = request.json()
    tag, message = asked["tag"], asked.get("message")
    ref = f"refs/tags/{tag}"
    if not pygit2.reference_is_valid_name(ref):
        raise HubError(400, f"Invalid tag: {tag}")
    with hub.lock:
        commit = repository.resolve(revision)
        if ref in repository.git.references:
            raise HubError(409, f"Tag already exists: {tag}")
        if message:
            repository.git.create_tag(tag, commit.id, ObjectType.COMMIT, repository.signature(), message)
        else:
            repository.git.references.create(ref, commit.id)
    return json_response({})


def delete_reference(hub: Hub, repository: Repository, ref: str) -> Response:
    """Remove a branch or tag."""
    if ref == "refs/heads/main":
        raise HubError(403, "Cannot delete the main branch")
    with hub.lock:
        if ref not in repository.git.references:
            raise HubError(404, f"No such reference: {ref}", "RevisionNotFound")
        repository.git.references.delete(ref)
    return json_response({})


def squash(hub: Hub, repository: Repository, branch: str, request: Request) -> Response:
    """One commit without parents instead of a branch's history."""
    message = request.json().get("message") or "Squash"
    with hub.lock:
        head, author = repository.resolve(f"refs/heads/{branch}"), repository.signature()
        oid = repository.git.create_commit(None, author, author, message, head.tree.id, [])
        repository.git.references.create(f"refs/heads/{branch}", oid, force=True)
    return json_response({"commitId": str(oid)})


def settings(hub: Hub, repository: Repository, request: Request) -> Response:
    """Visibility and gating."""
    asked = request.json()
    with hub.lock:
        repository.reload()
        if "visibility" in asked:
            repository.metadata["private"] = asked["visibility"] == "private"
        for field in ("private", "gated"):
            if field in asked:
                repository.metadata[field] = asked[field]
        repository.save()
    return json_response({"private": repository.metadata["private"], "gated": repository.metadata["gated"]})


def xet_token(hub: Hub) -> Response:
    """Where a xet client may write."""
    if not hub.settings.xet:
        raise HubError(404, "Xet is not enabled")
    address, expires = hub.objects.xet.token()
    headers = {
        "X-Xet-Cas-Url": address,
        "X-Xet-Access-Token": "xet",
        "X-Xet-Token-Expiration": str(expires),
    }
    return json_response({"casUrl": address, "exp": expires, "accessToken": "xet"}, headers=headers)
