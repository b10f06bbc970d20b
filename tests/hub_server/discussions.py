"""Discussions and pull requests, kept in the metadata of their repository."""

from __future__ import annotations

import uuid
from typing import Any

import pygit2

from .hub import Hub
from .messages import HubError, Request, Response, json_response
from .repositories import Repository, timestamp


def open_pull_request(
    repository: Repository, title: str, description: str, base: str, commit: pygit2.Oid
) -> int:
    """A new pull request whose ref is `commit`; its number."""
    number = _add(repository, title, description, base)
    repository.git.references.create(f"refs/pr/{number}", commit, force=True)
    return number


def create(hub: Hub, repository: Repository, request: Request) -> Response:
    """A new discussion, or an empty pull request on main."""
    asked = request.json()
    is_pull_request = bool(asked.get("pullRequest"))
    title, description = asked["title"], asked.get("description") or ""
    with hub.lock:
        if is_pull_request:
            head = repository.resolve("main").id
            number = open_pull_request(repository, title, description, "main", head)
        else:
            number = _add(repository, title, description, None)
    return json_response({"num": number, "pullRequest": is_pull_request})


def listing(repository: Repository, request: Request) -> Response:
    """The discussions of a type and status."""
    kind, status = request.option("type", "all"), request.option("status", "all")
    found = [
        _summary(repository, one)
        for one in repository.metadata["discussions"]
        if kind in ("all", "pull_request" if one["isPullRequest"] else "discussion")
        and status in ("all", "open" if one["status"] in ("draft", "open") else "closed")
    ]
    return json_response({"discussions": found, "count": len(found), "start": 0})


def details(repository: Repository, number: str) -> Response:
    """One discussion with its events."""
    one = _find(repository, number)
    found = {**_summary(repository, one), "events": one["events"], "filesWithConflicts": []}
    if one["isPullRequest"]:
        found["changes"] = {"base": f"refs/heads/{one['base']}", "mergeCommitId": one.get("merged")}
        found["diff"] = ""
    return json_response(found)


def change(hub: Hub, repository: Repository, number: str, action: str, request: Request) -> Response:
    """Merge, comment, rename, open or close."""
    asked = request.json()
    with hub.lock:
        repository.reload()
        one = _find(repository, number)
        if action == "merge":
            _merge(repository, one)
            event = _event(repository, "status-change", {"status": "merged"})
        elif action == "status":
            one["status"] = asked["status"]
            event = _event(repository, "status-change", {"status": asked["status"]})
        elif action == "title":
            event = _event(repository, "title-change", {"from": one["title"], "to": asked["title"]})
            one["title"] = asked["title"]
        elif action == "comment":
            event = _comment(repository, asked.get("comment", ""))
        else:
            raise HubError(404, f"No such action: {action}")
        one["events"].append(event)
        repository.save()
    return json_response({"newStatus": event, "newMessage": event, "newTitle": event})


def _add(repository: Repository, title: str, description: str, base: str | None) -> int:
    """A new discussion (a pull request on branch `base` where that is given); its number."""
    repository.reload()
    found = repository.metadata["discussions"]
    found.append(
        {
            "num": len(found) + 1,
            "title": title,
            "author": {"name": repository.signature().name},
            "createdAt": timestamp(),
            "status": "open" if base is None else "draft",
            "isPullRequest": base is not None,
            "base": base,
            "events": [_comment(repository, description)],
        }
    )
    repository.save()
    return len(found)


def _find(repository: Repository, number: str) -> dict[str, Any]:
    for one in repository.metadata["discussions"]:
        if str(one["num"]) == number:
            found: dict[str, Any] = one
            return found
    raise HubError(404, f"Discussion not found: {number}")


def _merge(repository: Repository, one: dict[str, Any]) -> None:
    repository.require_write()
    if not one["isPullRequest"] or one["status"] == "merged":
        raise HubError(400, "Only an open pull request can be merged")
    git, branch = repository.git, f"refs/heads/{one['base']}"
    head = repository.resolve(branch)
    index = git.merge_commits(head, repository.resolve(f"refs/pr/{one['num']}"))
    if index.conflicts:
        raise HubError(409, "The pull request has conflicts")
    author = repository.signature()
    message = f"{one['title']} (#{one['num']})"
    oid = git.create_commit(branch, author, author, message, index.write_tree(git), [head.id])
    one["status"], one["merged"] = "merged", str(oid)


def _summary(repository: Repository, one: dict[str, Any]) -> dict[str, Any]:
    fields = ("num", "title", "author", "createdAt", "status", "isPullRequest")
    return {
        **{field: one[field] for field in fields},
        "repo": {"name": repository.name, "type": repository.kind[:-1]},
    }


def _event(repository: Repository, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    author = {"name": repository.signature().name}
    return {
        "id": uuid.uuid4().hex[:24],
        "type": kind,
        "createdAt": timestamp(),
        "author": author,
        "data": data,
    }


def _comment(repository: Repository, text: str) -> dict[str, Any]:
    return _event(repository, "comment", {"edited": False, "hidden": False, "latest": {"raw": text}})
