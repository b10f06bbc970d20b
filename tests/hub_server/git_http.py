"""The smart HTTP protocol of git, answered by git's own `http-backend`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pygit2

from .commits import lost_object
from .contents import pointer_of
from .hub import Hub
from .messages import HubError, Request, Response
from .repositories import Repository
from .trees import walk

SERVICES = ("info/refs", "git-upload-pack", "git-receive-pack")


def answer(hub: Hub, kind: str, name: str, rest: str, request: Request) -> Response:
    """Clone, fetch and push."""
    return ask_for_password(lambda: _answer(hub, kind, name, rest, request))


def ask_for_password(work: Callable[[], Response]) -> Response:
    """Do `work`; where it needs an account, git and git-lfs are told to send user name and token."""
    try:
        return work()
    except HubError as error:
        if error.status == 401:
            realm = 'Basic realm="hub"'
            error.headers |= {"WWW-Authenticate": realm, "LFS-Authenticate": realm}
        raise


def _answer(hub: Hub, kind: str, name: str, rest: str, request: Request) -> Response:
    repository = hub.repositories.open(kind, name, request.account)
    if "git-receive-pack" in (rest, request.option("service")):
        repository.require_write()
    if rest == "git-receive-pack":
        return _receive(hub, repository, request)
    return _backend(repository, rest, request)


def _receive(hub: Hub, repository: Repository, request: Request) -> Response:
    """A push, which is undone where it holds a pointer to a large file that was never uploaded."""
    git = repository.git
    with hub.lock:
        before = {ref: git.references[ref].target for ref in git.references}
        response = _backend(repository, "git-receive-pack", request)
        after = {ref: git.references[ref].target for ref in git.references}
        changed = [ref for ref in after if after[ref] != before.get(ref)]
        lost = next((path for ref in changed for path in _lost_objects(hub, repository, ref)), None)
        if lost is None:
            return response
        for ref in after.keys() - before.keys():
            git.references.delete(ref)
        for ref, target in before.items():
            git.references.create(ref, target, force=True)
    raise lost_object(lost)


def _lost_objects(hub: Hub, repository: Repository, ref: str) -> Iterator[str]:
    for path, item in walk(repository.resolve(ref).tree):
        pointer = pointer_of(item) if isinstance(item, pygit2.Blob) else None
        if pointer is not None and not hub.objects.has(pointer.oid):
            yield path


def _backend(repository: Repository, rest: str, request: Request) -> Response:
    """What git answers."""
    environment = {
        **os.environ,
        "GIT_PROJECT_ROOT": str(repository.folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{rest}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": urlsplit(request.target).query,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "REMOTE_USER": request.account.name if request.account else "",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
    }
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "http-backend"],
        input=request.body,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise HubError(500, f"git http-backend: {done.stderr.decode(errors='replace')}")
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    return Response(status, headers, content)
