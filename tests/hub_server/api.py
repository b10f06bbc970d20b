"""The `/api` calls about one repository: which function answers, and what right it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pygit2

from . import changes, contents, discussions
from .commits import commit
from .hub import Hub
from .messages import HubError, Request, Response, json_response, segments
from .repositories import Repository
from .trees import find, walk

#: Entries a page where each needs a walk through the history, and of the history itself.
_EXPANDED_PAGE = 50


@dataclass(frozen=True)
class Call:
    """One API call: `arguments` are the parts of the path behind the operation."""

    hub: Hub
    repository: Repository
    arguments: Sequence[str]
    request: Request

    @property
    def revision(self) -> str:
        """The first argument (default: main)."""
        return self.arguments[0] if self.arguments else "main"

    @property
    def name(self) -> str:
        """All arguments: a branch or a tag may contain slashes."""
        return "/".join(self.arguments)


def repository_call(hub: Hub, kind: str, name: str, rest: str, request: Request) -> Response:
    """Answer `/api/KIND/NAME/REST`."""
    operation, *arguments = segments(rest) or [""]
    method = "GET" if request.method == "HEAD" else request.method
    repository = hub.repositories.open(kind, name, request.account)
    if repository.name != name and method == "GET":
        return Response(307, {"Location": request.target.replace(name, repository.name, 1)})
    call = Call(hub, repository, arguments, request)
    if (method, operation) in _READING:
        return _READING[method, operation](call)
    if (method, operation) not in _CHANGING:
        raise HubError(404, f"No such call: {method} {rest}")
    right, function = _CHANGING[method, operation]
    if right == "contribute" or (right == "commit" and request.flag("create_pr")):
        repository.require_contribution()
    else:
        repository.require_write()
    return function(call)


def paged(hub: Hub, items: list[Any], request: Request, page: int) -> Response:
    """One page of `items`; a Link header leads to the next."""
    start = int(request.option("cursor", "0"))
    end = start + page
    if end >= len(items):
        return json_response(items[start:end])
    address = urlsplit(request.target)
    query = {**parse_qs(address.query, keep_blank_values=True), "cursor": [str(end)]}
    link = f"{hub.url}{address.path}?{urlencode(query, doseq=True)}"
    return json_response(items[start:end], headers={"Link": f'<{link}>; rel="next"'})


def _info(call: Call) -> Response:
    found = contents.info(call.repository, call.repository.resolve(call.revision), call.request.flag("blobs"))
    if expand := call.request.query.get("expand"):
        found = {field: value for field, value in found.items() if field in ("id", "_id", *expand)}
    return json_response(found)


def _tree(call: Call) -> Response:
    commit, folder = call.repository.resolve(call.revision), "/".join(call.arguments[1:])
    tree, expand = commit.tree, call.request.flag("expand")
    if folder:
        item = find(commit.tree, folder)
        if not isinstance(item, pygit2.Tree):
            raise HubError(404, "Entry not found", "EntryNotFound", {"X-Repo-Commit": str(commit.id)})
        tree = item
    items = [
        contents.entry(path, item, contents.last_commit(call.repository, commit, path) if expand else None)
        for path, item in walk(tree, f"{folder}/" if folder else "", call.request.flag("recursive"))
    ]
    largest = _EXPANDED_PAGE if expand else call.hub.settings.page
    page = min(int(call.request.option("limit") or largest), largest)
    return paged(call.hub, items, call.request, page)


def _paths_info(call: Call) -> Response:
    commit = call.repository.resolve(call.revision)
    if "json" in call.request.headers.get("Content-Type", ""):
        asked = call.request.json()
        paths, expand = asked["paths"], bool(asked.get("expand"))
    else:
        form = parse_qs(call.request.body.decode())
        paths, expand = form.get("paths", []), form.get("expand", [""])[-1].lower() in ("1", "true")
    found = []
    for path in (one.strip("/") for one in paths):
        if item := find(commit.tree, path):
            last = contents.last_commit(call.repository, commit, path) if expand else None
            found.append(contents.entry(path, item, last))
    return json_response(found)


def _commits(call: Call) -> Response:
    items = contents.commits(call.repository, call.repository.resolve(call.revision))
    return paged(call.hub, items, call.request, int(call.request.option("limit") or _EXPANDED_PAGE))


def _auth_check(call: Call) -> Response:
    call.request.signed_in()
    if list(call.arguments) == ["write"]:
        call.repository.require_write()
    return json_response({})


def _discussions(call: Call) -> Response:
    if call.arguments:
        return discussions.details(call.repository, call.arguments[0])
    return discussions.listing(call.repository, call.request)


def _change_discussion(call: Call) -> Response:
    if not call.arguments:
        return discussions.create(call.hub, call.repository, call.request)
    number, action = call.arguments
    return discussions.change(call.hub, call.repository, number, action, call.request)


def _croissant(call: Call) -> Response:
    commit = call.repository.resolve("main")
    return json_response(
        {
            "@context": {"@vocab": "https://schema.org/"},
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.1",
            "name": call.repository.name,
            "url": call.hub.page_url(call.repository.kind, call.repository.name),
            "version": str(commit.id),
        }
    )


def _commit(call: Call) -> Response:
    create_pr = call.request.flag("create_pr")
    return json_response(commit(call.hub, call.repository, call.revision, call.request.body, create_pr))


_Handler = Callable[[Call], Response]

_READING: dict[tuple[str, str], _Handler] = {
    ("GET", ""): _info,
    ("GET", "revision"): _info,
    ("GET", "tree"): _tree,
    ("POST", "paths-info"): _paths_info,
    ("GET", "refs"): lambda call: json_response(
        contents.refs(call.repository, call.request.flag("include_prs"))
    ),
    ("GET", "commits"): _commits,
    ("GET", "auth-check"): _auth_check,
    ("GET", "discussions"): _discussions,
    ("GET", "croissant"): _croissant,
    ("GET", "leaderboard"): lambda call: json_response([]),
    ("GET", "xet-read-token"): lambda call: changes.xet_token(call.hub),
}

#: The right is `write`, `contribute` (open a pull request, comment), or `commit`: either, by `create_pr`.
_CHANGING: dict[tuple[str, str], tuple[str, _Handler]] = {
    ("POST", "preupload"): (
        "commit",
        lambda call: changes.preupload(call.repository, call.revision, call.request),
    ),
    ("POST", "commit"): ("commit", _commit),
    ("GET", "xet-write-token"): ("commit", lambda call: changes.xet_token(call.hub)),
    ("POST", "discussions"): ("contribute", _change_discussion),
    ("POST", "branch"): (
        "write",
        lambda call: changes.create_branch(call.hub, call.repository, call.name, call.request),
    ),
    ("DELETE", "branch"): (
        "write",
        lambda call: changes.delete_reference(call.hub, call.repository, f"refs/heads/{call.name}"),
    ),
    ("POST", "tag"): (
        "write",
        lambda call: changes.create_tag(call.hub, call.repository, call.name, call.request),
    ),
    ("DELETE", "tag"): (
        "write",
        lambda call: changes.delete_reference(call.hub, call.repository, f"refs/tags/{call.name}"),
    ),
    ("POST", "super-squash"): (
        "write",
        lambda call: changes.squash(call.hub, call.repository, call.name, call.request),
    ),
    ("PUT", "settings"): ("write", lambda call: changes.settings(call.hub, call.repository, call.request)),
}
