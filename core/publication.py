"""What became of a release on the Hub: its version, its history and its errata.

Kept under `publication` in the manifest. A release that was never published has none. Nothing here names a
time or a person: commits and tags carry those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .errors import show


@dataclass(frozen=True)
class ChangelogEntry:
    """One published version: what changed against the one before, in lines for people.

    `bump` is major, minor, patch or first; `message` is what the publisher said, if anything.
    """

    version: str
    bump: str
    changes: tuple[str, ...]
    message: str | None = None


@dataclass(frozen=True)
class Withdrawal:
    """Rows (`uids`) of every config, or a whole config, taken back for a reason.

    `version` is the first one without them; None until it is published.
    """

    reason: str
    uids: tuple[str, ...] = ()
    config: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Publication:
    """The Hub side of a release.

    `repo` is the Hub dataset id, `version` the version that this folder holds or was made from.
    `changelog` is newest first. `aliases` maps former names of configs to present ones; they are kept until
    the next major version. `yanked` maps versions to reasons. `foreign` holds the README entries (lists
    `configs` and `dataset_info`) of configs in the repo that benchwright did not make, as they stood.
    `configs_hash` is that of the configs of `version`; None where none was noted.
    """

    repo: str | None = None
    version: str | None = None
    changelog: tuple[ChangelogEntry, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    withdrawn: tuple[Withdrawal, ...] = ()
    yanked: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    configs_hash: str | None = None

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Publication:
        """That of a manifest; an empty one if it has none. Raises ValueError for one of another shape."""
        data = manifest.get("publication") or {}
        try:
            return cls(
                repo=_text(data.get("repo")),
                version=_text(data.get("version")),
                changelog=tuple(
                    ChangelogEntry(**{**entry, "changes": tuple(map(str, entry["changes"]))})
                    for entry in data.get("changelog", ())
                ),
                aliases={str(old): str(new) for old, new in data.get("aliases", {}).items()},
                withdrawn=tuple(
                    Withdrawal(**{**entry, "uids": tuple(map(str, entry.get("uids", ())))})
                    for entry in data.get("withdrawn", ())
                ),
                yanked={str(version): str(reason) for version, reason in data.get("yanked", {}).items()},
                foreign={
                    key: [dict(entry) for entry in data.get("foreign", {}).get(key, ())]
                    for key in ("configs", "dataset_info")
                    if data.get("foreign", {}).get(key)
                },
                configs_hash=_text(data.get("configs_hash")),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"publication cannot be read ({error}), got {show(data)}") from None

    def to_json(self) -> dict[str, Any]:
        """Plain data without empty parts."""
        data = {**asdict(self), "aliases": dict(self.aliases), "yanked": dict(self.yanked)}
        data["foreign"] = {key: list(entries) for key, entries in self.foreign.items()}
        for part in ("changelog", "withdrawn"):
            data[part] = [
                {key: list(value) if isinstance(value, tuple) else value for key, value in entry.items()}
                for entry in data[part]
            ]
        return {key: value for key, value in data.items() if value not in (None, [], {}, ())}

    def put_into(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """`manifest` with this publication as its last key; without the key if there is nothing to say."""
        rest = {key: value for key, value in manifest.items() if key != "publication"}
        return {**rest, "publication": self.to_json()} if self.to_json() else rest


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"not a text: {show(value)}")
    return value
