"""Where every request goes; the calls that are not about the content of one repository."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import yaml

from . import lfs, web
from .api import paged, repository_call
from .contents import card_metadata, info
from .hub import Hub
from .messages import HubError, Request, Response, json_response
from .repositories import KINDS

_KINDS = "|".join(KINDS)
_API_LIST = re.compile(rf"/api/({_KINDS})/?")
_API_REPOSITORY = re.compile(rf"/api/({_KINDS})/([\w.-]+/[\w.-]+)(?:/(.*))?", re.ASCII)
_PAGE = re.compile(r"/(?:(datasets|spaces)/)?([\w.-]+/[\w.-]+?)(?:\.git)?/(.*)", re.ASCII)


def answer(hub: Hub, request: Request) -> Response:
    """The answer to a request. Raises HubError for errors that clients are told of."""
    path = request.path
    if path.startswith("/lfs/"):
        return lfs.transfer(hub, request)
    if path == "/api/whoami-v2":
        return _whoami(request)
    if path == "/api/validate-yaml":
        return _validate_yaml(request)
    if path.startswith("/api/repos/"):
        return _manage(hub, path.removeprefix("/api/repos/"), request)
    if found := _API_LIST.fullmatch(path):
        return _list(hub, found[1], request)
    if found := _API_REPOSITORY.fullmatch(path):
        return repository_call(hub, found[1], found[2], found[3] or "", request)
    if found := _PAGE.fullmatch(path):
        return web.repository_page(hub, found[1] or "models", found[2], found[3], request)
    raise HubError(404, "Sorry, we can't find the page you are looking for.")


def _whoami(request: Request) -> Response:
    account = request.signed_in()
    return json_response(
        {
            "type": "user",
            "id": account.name,
            "name": account.name,
            "fullname": account.name.title(),
            "email": None,
            "isPro": False,
            "orgs": [{"type": "org", "name": name, "roleInOrg": "admin"} for name in account.organisations],
            "auth": {
                "type": "access_token",
                "accessToken": {"displayName": "test", "role": "write" if account.writes else "read"},
            },
        }
    )


def _manage(hub: Hub, operation: str, request: Request) -> Response:
    """Create, move or delete a repository."""
    account, asked = request.signed_in(), request.json()
    kind = f"{asked.get('type') or 'model'}s"
    if kind not in KINDS:
        raise HubError(400, f"Invalid repo type: {kind[:-1]}")
    if (request.method, operation) == ("POST", "move"):
        hub.repositories.move(kind, asked["fromRepo"], asked["toRepo"], account)
        return json_response({})
    name = f"{asked.get('organization') or account.name}/{asked['name']}"
    if (request.method, operation) == ("DELETE", "delete"):
        hub.repositories.delete(kind, name, account)
        return json_response({})
    if (request.method, operation) != ("POST", "create"):
        raise HubError(404, f"No such call: {request.method} {operation}")
    private = asked.get("visibility") == "private" or bool(asked.get("private"))
    page = hub.page_url(kind, name)
    hub.repositories.create(kind, name, account, private=private, page=page)
    return json_response({"url": page, "name": name, "id": hashlib.md5(name.encode()).hexdigest()[:24]})


def _list(hub: Hub, kind: str, request: Request) -> Response:
    """Repositories of an author, whose name contains a text, with all of some tags."""
    author, search = request.option("author"), request.option("search").lower()
    items = []
    for repository in hub.repositories.all(kind, request.account):
        if author in ("", repository.name.split("/")[0]) and search in repository.name.lower():
            found = info(repository, repository.resolve("main"), blobs=False)
            if all(tag in found["tags"] for tag in request.query.get("filter", [])):
                del found["siblings"]
                items.append(found)
    page = hub.settings.page
    return paged(hub, items, request, min(int(request.option("limit") or page), page))


def _validate_yaml(request: Request) -> Response:
    """Errors of a card's header (status 400) and warnings."""
    try:
        metadata = card_metadata(request.json()["content"])
    except yaml.YAMLError as error:
        errors, warnings = [f"YAML error: {error}"], []
    else:
        errors = [] if metadata is None else _metadata_errors(metadata)
        warnings = ["empty or missing yaml metadata in repo card"] if metadata is None else []
    lists = {
        "errors": [{"message": message} for message in errors],
        "warnings": [{"message": message} for message in warnings],
    }
    return json_response(lists, 400 if errors else 200)


def _metadata_errors(metadata: Any) -> list[str]:
    if not isinstance(metadata, dict):
        return ["metadata must be a mapping"]
    errors = []
    configs = metadata.get("configs", [])
    if not isinstance(configs, list):
        errors.append('"configs" must be an array')
    else:
        for number, config in enumerate(configs):
            if not isinstance(config, dict) or not isinstance(config.get("config_name"), str):
                errors.append(f'"configs[{number}].config_name" is required')
    if not isinstance(metadata.get("license", ""), str | list):
        errors.append('"license" must be a string')
    return errors
