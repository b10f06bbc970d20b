"""The addresses of a repository outside `/api`: its files, and what git and git-lfs ask for."""

from __future__ import annotations

from urllib.parse import quote, unquote

import pygit2

from . import git_http, lfs
from .contents import pointer_of
from .hub import Hub
from .messages import HubError, Request, Response
from .ranges import ranged
from .repositories import Repository
from .trees import find


def repository_page(hub: Hub, kind: str, name: str, rest: str, request: Request) -> Response:
    """Answer `/KIND/NAME/REST`."""
    if rest in git_http.SERVICES:
        return git_http.answer(hub, kind, name, rest, request)
    if rest == "info/lfs/objects/batch":
        return git_http.ask_for_password(
            lambda: lfs.batch(hub, hub.repositories.open(kind, name, request.account), request)
        )
    repository = hub.repositories.open(kind, name, request.account)
    if rest.startswith("info/lfs/locks"):
        raise HubError(501, "Locks are not supported")
    view, _, where = rest.partition("/")
    if request.method not in ("GET", "HEAD") or view not in ("resolve", "raw") or not where:
        raise HubError(404, "Sorry, we can't find the page you are looking for.")
    if repository.name != name:
        return Response(307, {"Location": request.target.replace(name, repository.name, 1)})
    return _file(hub, repository, where, request, follow=view == "resolve")


def _file(hub: Hub, repository: Repository, where: str, request: Request, *, follow: bool) -> Response:
    """A file at a revision; with `follow` the large file behind a pointer."""
    revision, path = _split(where)
    commit = repository.resolve(revision)
    if repository.metadata["gated"] and not repository.is_member:
        status = 401 if request.account is None else 403
        raise HubError(status, "Access to this repository is restricted.", "GatedRepo")
    item = find(commit.tree, path)
    if not isinstance(item, pygit2.Blob):
        raise HubError(404, "Entry not found", "EntryNotFound", {"X-Repo-Commit": str(commit.id)})
    headers = {
        "X-Repo-Commit": str(commit.id),
        "Content-Disposition": f"inline; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1], safe='')}",
    }
    pointer = pointer_of(item) if follow else None
    if pointer is None:
        return ranged(item.data, request, {**headers, "ETag": f'"{item.id}"'})
    headers = {
        **headers,
        "ETag": f'"{pointer.oid}"',
        "X-Linked-Etag": f'"{pointer.oid}"',
        "X-Linked-Size": str(pointer.size),
    }
    if hub.settings.cdn:
        return Response(302, {**headers, "Location": f"{hub.object_url}/{pointer.oid}"})
    return lfs.download(hub, pointer.oid, request, headers)


def _split(where: str) -> tuple[str, str]:
    """Revision and path; the slashes of refs/pr/1 may be quoted or not."""
    revision, _, path = where.partition("/")
    if revision == "refs":
        kind, _, path = path.partition("/")
        name, _, path = path.partition("/")
        revision = f"refs/{kind}/{name}"
    return unquote(revision), unquote(path)
