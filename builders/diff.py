"""What differs between two releases, what that does to their users, and the version that it needs.

Hashes of the manifests are compared; files are read only where they differ. `verify` tells whether a
release is what its manifest says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import ReleaseError, UsageError
from ..hashing import sha256_file
from ..publication import Withdrawal
from ..release import MANIFEST, ReleaseFolder
from ._diff_configs import Side, config_diff, place_of
from ._diff_effects import with_effects
from ._diff_facts import (
    card_diff,
    fact_changes,
    file_changes,
    finding_changes,
    release_facts,
    result_changes,
)
from ._diff_text import changelog_lines, changes_of, json_of, reasons_of, text_of
from ._diff_types import (
    CardDiff,
    Change,
    ConfigDiff,
    FactChange,
    FileChange,
    FindingChange,
    Place,
    ResultChange,
    StaleResult,
)
from .hub.location import open_release
from .hub.remote import HubRelease
from .versions import BUMPS, Bump, Version, required

__all__ = ["ReleaseDiff", "diff"]


@dataclass(frozen=True)
class ReleaseDiff:
    """Everything that differs; false if nothing does.

    `configs` holds configs of both releases that differ, `added` and `removed` the names of the others
    (score tables as `scores/TABLE`). `renamed` maps former names to present ones that an alias keeps, `lost`
    holds former names and aliases that no longer load, `same_rows` maps removed configs to added ones with
    their rows. `by_content` says that the sources differ, so that rows were matched by content_id. Where a
    release stands in its own history (repo, version, changelog) is no difference.
    """

    first: str
    second: str
    previous: Version | None = None
    by_content: bool = False
    configs: tuple[ConfigDiff, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    same_rows: Mapping[str, str] = field(default_factory=dict)
    default: tuple[str | None, str | None] | None = None
    facts: tuple[FactChange, ...] = ()
    findings: tuple[FindingChange, ...] = ()
    results: tuple[ResultChange, ...] = ()
    stale: tuple[StaleResult, ...] = ()
    card: CardDiff = field(default_factory=CardDiff)
    files: tuple[FileChange, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """One plain phrase for every kind of change, those that need the most first."""
        return changes_of(self)

    @property
    def bump(self) -> Bump:
        """The least bump of the version: major, minor, patch, or none if nothing differs."""
        return max((change.bump for change in self.changes), key=BUMPS.index, default="none")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why `bump` is needed, a phrase each; empty if nothing differs."""
        return reasons_of(self)

    @property
    def required(self) -> Version | None:
        """The least version of the second release, if the first one has a version."""
        return None if self.previous is None else required(self.previous, self.bump)

    @property
    def first_difference(self) -> Place | None:
        """The first row that differs, in the order of the first release, or else the first config."""
        for found in self.configs:
            config = found.name.partition("/")[0]
            if found.rows.first is not None:
                return Place(config, *found.rows.first)
            if found.scores:
                return Place(config, found.scores[0].split, found.scores[0].uid)
        for name in (*(found.name for found in self.configs), *self.removed, *self.added):
            config, _, table = name.partition("/")
            return Place(config, table or None)
        return None

    def changelog_lines(self) -> tuple[str, ...]:
        """A few plain lines for a changelog, those that need the most first; empty if nothing differs."""
        return changelog_lines(self)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return json_of(self)

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        """For a terminal: the verdict first, then what users must know, long lists cut with their counts."""
        return text_of(self)


def diff(first: str | Path | ReleaseFolder, second: str | Path | ReleaseFolder) -> ReleaseDiff:
    """Compare two releases: folders, or Hub ids with or without a revision (`ORG/NAME@1.0.0`).

    Raises UsageError for a place that is neither, ReleaseError for one that holds no release or one whose
    files or manifest cannot be used.
    """
    one, other = open_release(first), open_release(second)
    with _reading(one, other):
        found = _diff(one, other)
        for release in (one, other):
            _require_own_files(release)
        return found


def _require_own_files(release: ReleaseFolder) -> None:
    """Raise ReleaseError for a file that is not that of its manifest, whose hashes are what is compared."""
    for config, entry in release.configs.items():
        named = [
            pair
            for split in entry["splits"].values()
            for pair in zip(split["files"], split.get("sha256") or (), strict=False)
        ]
        if entry["kind"] == "split":
            named.append((entry["assignment"]["file"], entry["assignment"].get("sha256")))
        for name, expected in named:
            if _sha256(release, name) not in (expected, None):
                raise ReleaseError(
                    f"{place_of(release)}: {name} of config {config!r} is not the file of the manifest, so "
                    "that nothing can be said of its rows; run `benchwright verify`"
                )


def _sha256(release: ReleaseFolder, name: str) -> str | None:
    """The hash of a file; None where it cannot be had without fetching the file, or there is none."""
    if isinstance(release, HubRelease):
        listed = release.state.files.get(name)
        return None if listed is None or listed.sha256 is None else f"sha256:{listed.sha256}"
    path = release.path / name
    return sha256_file(path) if path.is_file() else None


@contextmanager
def _reading(*releases: ReleaseFolder) -> Iterator[None]:
    """A manifest may be anyone's: a field that is missing or of another type is one line, not a traceback."""
    try:
        yield
    except (AttributeError, KeyError, IndexError, RecursionError, TypeError, ValueError) as error:
        places = " or ".join(f"{MANIFEST} of {place_of(release)}" for release in releases)
        raise ReleaseError(
            f"{places} lacks or misuses a field ({error!r}); run `benchwright verify` on both"
        ) from error


def _diff(first: ReleaseFolder, second: ReleaseFolder) -> ReleaseDiff:
    pairs, added, removed = _paired(first, second)
    sources = [release.manifest["source"].get("fingerprint") for release in (first, second)]
    by_content = sources[0] != sources[1]
    configs = []
    for name, left, right in pairs:
        found = config_diff(name, left, right, by_content)
        if found:
            configs.append(with_effects(found, left, right))
    renamed = {left.config: right.config for _, left, right in pairs if left.config != right.config}
    lost, gained = _aliases(first, second, {left.config: right.config for _, left, right in pairs}, renamed)
    results, stale = result_changes(first, second, renamed)
    return ReleaseDiff(
        first=place_of(first),
        second=place_of(second),
        previous=_version(first),
        by_content=by_content,
        configs=tuple(configs),
        added=tuple(added),
        removed=tuple(removed),
        renamed=renamed,
        lost=lost,
        gained=gained,
        same_rows=_same_rows(first, second, removed, added),
        default=_default_change(first, second, renamed),
        facts=tuple(fact_changes(release_facts(first), release_facts(second))),
        findings=finding_changes(first, second),
        results=results,
        stale=stale,
        card=card_diff(first, second),
        files=file_changes(first, second),
        withdrawals=_new_withdrawals(first, second),
    )


def _new_withdrawals(first: ReleaseFolder, second: ReleaseFolder) -> tuple[Withdrawal, ...]:
    old, new = (
        [dataclasses.replace(entry, version=None) for entry in release.publication.withdrawn]
        for release in (first, second)
    )
    return tuple(entry for entry in new if entry not in old)


def _paired(
    first: ReleaseFolder, second: ReleaseFolder
) -> tuple[list[tuple[str, Side, Side]], list[str], list[str]]:
    """Configs that both releases have, a former name with the one that its alias stands for; the others."""
    aliases = second.publication.aliases
    present = {name: name if name in second.configs else aliases.get(name, name) for name in first.configs}
    units, others = _units(first), _units(second)
    pairs, met = [], set()
    removed = []
    for name, side in units.items():
        config, _, table = name.partition("/")
        target = f"{present[config]}/{table}" if table else present[config]
        if target in others:
            pairs.append((target, side, others[target]))
            met.add(target)
        else:
            removed.append(name)
    return pairs, [name for name in others if name not in met], removed


def _units(release: ReleaseFolder) -> dict[str, Side]:
    """What is compared as one: a config, or one table of the scores."""
    units = {}
    for config, entry in release.configs.items():
        if entry["kind"] == "scores":
            units.update({f"{config}/{table}": Side(release, config, (table,)) for table in entry["splits"]})
        else:
            units[config] = Side(release, config, tuple(entry["splits"]))
    return units


def _aliases(
    first: ReleaseFolder, second: ReleaseFolder, present: Mapping[str, str], renamed: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Former names that load no rows or other rows now, and new ones; foreign configs likewise."""
    old, new = first.publication.aliases, second.publication.aliases
    lost = [
        name
        for name, target in old.items()
        if name not in second.configs and new.get(name) != present.get(target, target)
    ]
    gained = [name for name in new if name not in first.configs and name not in old]
    before, after = (_foreign(release) for release in (first, second))
    lost += [name for name in before if name not in after]
    return tuple(lost), (*gained, *(name for name in after if name not in before))


def _foreign(release: ReleaseFolder) -> list[str]:
    entries = release.publication.foreign.get("configs", [])
    return [str(entry.get("config_name")) for entry in entries]


def _same_rows(
    first: ReleaseFolder, second: ReleaseFolder, removed: list[str], added: list[str]
) -> dict[str, str]:
    """Removed configs that came back under another name without an alias."""
    hashes = {name: _hashes(second, name) for name in added if name in second.configs}
    found = {}
    for name in (name for name in removed if name in first.configs):
        same = [other for other, splits in hashes.items() if splits == _hashes(first, name)]
        if same:
            found[name] = same[0]
    return found


def _hashes(release: ReleaseFolder, config: str) -> dict[str, Any]:
    return {split: facts["content_hash"] for split, facts in release.config(config)["splits"].items()}


def _default_change(
    first: ReleaseFolder, second: ReleaseFolder, renamed: Mapping[str, str]
) -> tuple[str | None, str | None] | None:
    old, new = (
        next((name for name, entry in release.configs.items() if entry.get("default")), None)
        for release in (first, second)
    )
    return None if (old if old is None else renamed.get(old, old)) == new else (old, new)


def _version(release: ReleaseFolder) -> Version | None:
    try:
        return Version.parse(release.publication.version or "")
    except UsageError:
        return None
