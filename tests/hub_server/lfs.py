"""Large file storage: the batch call of git-lfs and the Hub's clients, and the transfers that it leads to."""

from __future__ import annotations

import re
from typing import Any

from .hub import Hub
from .messages import FileRange, HubError, Request, Response, json_response
from .ranges import ranged
from .repositories import Repository

_OBJECT = re.compile(r"/lfs/objects/([0-9a-f]{64})(?:/(complete|part/(\d+)))?")
_MEDIA_TYPE = {"Content-Type": "application/vnd.git-lfs+json"}


def batch(hub: Hub, repository: Repository, request: Request) -> Response:
    """Where to send or fetch each object; an upload without actions is of an object that is there already."""
    asked = request.json()
    uploading = asked["operation"] == "upload"
    if uploading:
        # A pull request may be opened, and its files sent before it, without the right to write.
        if asked.get("ref"):
            repository.require_write()
        else:
            repository.require_contribution()
    multipart = uploading and hub.settings.lfs_chunk > 0 and "multipart" in asked.get("transfers", [])
    describe = _upload if uploading else _download
    objects = [describe(hub, one["oid"], one["size"], multipart) for one in asked["objects"]]
    return json_response(
        {"transfer": "multipart" if multipart else "basic", "objects": objects, "hash_algo": "sha256"},
        headers=_MEDIA_TYPE,
    )


def _download(hub: Hub, oid: str, size: int, multipart: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"oid": oid, "size": size}
    if hub.objects.has(oid):
        found["actions"] = {"download": {"href": f"{hub.object_url}/{oid}"}}
    else:
        found["error"] = {"code": 404, "message": "Object does not exist"}
    return found


def _upload(hub: Hub, oid: str, size: int, multipart: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"oid": oid, "size": size}
    if hub.objects.has(oid):
        return found
    href, chunk = f"{hub.object_url}/{oid}", hub.settings.lfs_chunk
    upload: dict[str, Any] = {"href": href}
    if multipart and size > chunk:
        parts = range(1, -(-size // chunk) + 1)
        addresses = {str(number): f"{href}/part/{number}" for number in parts}
        upload = {"href": f"{href}/complete", "header": {"chunk_size": str(chunk), **addresses}}
    found["actions"] = {"upload": upload, "verify": {"href": f"{hub.url}/lfs/verify"}}
    return found


def transfer(hub: Hub, request: Request) -> Response:
    """Upload, download or verify an object. The address is the permission, as with signed ones."""
    if (request.method, request.path) == ("POST", "/lfs/verify"):
        return _verify(hub, request.json())
    found = _OBJECT.fullmatch(request.path)
    if found is None:
        raise HubError(404, "No such object")
    oid, action, number = found[1], found[2], found[3]
    if request.method in ("GET", "HEAD") and action is None:
        return download(hub, oid, request, {})
    if request.method == "PUT" and number:
        return Response(200, {"ETag": f'"{hub.objects.put_part(oid, int(number), request.body)}"'})
    if request.method == "PUT" and action is None:
        hub.objects.put(oid, request.body)
        return Response()
    if request.method == "POST" and action == "complete":
        hub.objects.complete(oid, [int(part["partNumber"]) for part in request.json()["parts"]])
        return json_response({})
    raise HubError(405, f"{request.method} is not allowed here")


def download(hub: Hub, oid: str, request: Request, headers: dict[str, str]) -> Response:
    """The object's bytes, or the range that is asked for."""
    path = hub.objects.path(oid)
    content = FileRange(path, 0, path.stat().st_size)
    return ranged(content, request, {"ETag": f'"{oid}"', **headers})


def _verify(hub: Hub, asked: dict[str, Any]) -> Response:
    if not hub.objects.has(asked["oid"]) or hub.objects.size(asked["oid"]) != asked["size"]:
        raise HubError(404, "Object not found, or of another size")
    return json_response({}, headers=_MEDIA_TYPE)
