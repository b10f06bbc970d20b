"""The manifest as it is written: which keys it has, plain values only, and nothing private in it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import ReleaseError, redact, show
from ..release import FORMAT

MANIFEST_KEYS = (
    "format",
    "benchwright",
    "dataset",
    "method",
    "choices",
    "source",
    "scores",
    "configs",
    "audit",
    "versions",
)
OPTIONAL_KEYS = ("publication",)

# Two levels at least, so that "/" and "/en" in a prompt or a licence's name are not taken for paths.
_PRIVATE_PATH = re.compile(r"(?:^|[\s'\"=(])(?:file:/|~/|/[\w.-]+/[\w.-]|[A-Za-z]:\\|\\\\[\w.-]+\\)")
_DATA_KEYS = {"features", "uids", "labels", "message"}


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """A manifest as it stands in its file."""
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finished_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """`manifest` in plain values, with its keys in their order, as it may be published.

    It has the keys of MANIFEST_KEYS (`format` may be left out) and may have OPTIONAL_KEYS. Raises
    ReleaseError for a manifest without exactly one default config or with a path or token in it, ValueError
    for missing or unknown keys.
    """
    finished: dict[str, Any] = plain({"format": FORMAT, **manifest})
    if set(finished) - set(OPTIONAL_KEYS) != set(MANIFEST_KEYS):
        raise ValueError(f"a manifest has the keys {', '.join(MANIFEST_KEYS)}, got {', '.join(finished)}")
    _check_publishable(finished)
    for counts in ("filtered", "dropped"):
        finished["source"][counts] = dict(sorted(finished["source"].get(counts, {}).items()))
    return {key: finished[key] for key in (*MANIFEST_KEYS, *OPTIONAL_KEYS) if key in finished}


def plain(value: Any) -> Any:
    """`value` as JSON gives it back: no tuples, numpy scalars or objects. Raises TypeError or ValueError."""

    def simplify(item: Any) -> Any:
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            return dataclasses.asdict(item)
        if isinstance(item, np.generic | np.ndarray):
            return item.tolist()
        if isinstance(item, Mapping):
            return dict(item)
        raise TypeError(f"a manifest cannot hold {type(item).__name__} {show(item)}")

    return json.loads(json.dumps(value, default=simplify, allow_nan=False))


def _check_publishable(manifest: dict[str, Any]) -> None:
    defaults = [name for name, entry in manifest["configs"].items() if entry["default"]]
    if len(defaults) != 1:
        raise ReleaseError(f"exactly one config must be the default, got {', '.join(defaults) or 'none'}")
    for where, text in _texts(manifest, "manifest"):
        if redact(text) != text:
            raise ReleaseError(
                f"{where} holds what looks like an access token; remove it from the build's options"
            )
        if _PRIVATE_PATH.search(text):
            raise ReleaseError(f"{where} holds a path of this machine: {show(text)}; give a name instead")


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text of the manifest with its place, except what stands in the rows themselves."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{where}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"a key of {where}", key
            if key not in _DATA_KEYS:
                yield from _texts(item, f"{where}.{key}")
