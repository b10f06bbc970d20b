"""Proving that a release is what its manifest says, and that its sources give its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import ReleaseError, show
from ..progress import Stage, no_progress
from ..release import MANIFEST, ReleaseFolder
from ..wording import plural
from ._verify_card import card_differences
from ._verify_rows import config_differences, part_rows
from .comparison import Difference, compare
from .hub._foreign import foreign_patterns
from .hub.location import HubLocation, parse_location
from .hub.remote import HubRelease, release_paths
from .versions import versions_among

__all__ = ["Difference", "compare", "verify"]


def verify(
    release: str | Path | ReleaseFolder,
    *,
    source: str | Path | None = None,
    progress: Stage = no_progress,
) -> list[Difference]:
    """Every disagreement between a release's files, manifest and card; an empty list if there is none.

    `release` is a folder, or ORG/NAME[@REVISION] on the Hub, whose files are all fetched. Checked: the
    manifest's counts; files that are missing, changed or not named; types, rows, content and score hashes
    of every split; that every assignment covers every row once and names the rows that stand in the files;
    that withdrawn rows are gone; the card's configs, sizes and hashes, and its seal, which also tells any
    change of the manifest; that a tag of the Hub holds the version of its name.

    With `source`, every config of a release without any disagreement is built again from there with the
    release's own scores, and what differs is told. Raises ReleaseError for a place that is no release, a
    manifest that cannot be used or files that no release can have, UsageError for a name that is neither a
    folder nor a Hub id.
    """
    folder, revision = _whole(release, progress)
    with _reading_fields(folder):
        found = [*_version_differences(folder, revision), *_count_differences(folder.manifest)]
        found += _stray_files(folder)
    with progress("verify", len(folder.configs), "configs") as report:
        for name in folder.configs:
            # Types that no table can have are told before any file is read by them.
            with _reading_fields(folder):
                _ = folder.features(name).arrow_schema
            found += config_differences(folder, name)
            report(1)
    with _reading_fields(folder):
        found += card_differences(folder)
    if source is None or found:
        # A release that was tampered with says itself what to build: that proves nothing.
        return found
    # Building needs much that checking does not.
    from .rebuild import rebuild

    return rebuild(folder, source=source, progress=progress)


def _whole(place: str | Path | ReleaseFolder, progress: Stage) -> tuple[ReleaseFolder, str | None]:
    """A release with all its files in reach, and the revision that was asked for on the Hub."""
    release, revision = place, None
    if not isinstance(release, ReleaseFolder):
        location = parse_location(release)
        if not isinstance(location, HubLocation):
            return ReleaseFolder(location), None
        release, revision = HubRelease(location.repo, location.revision), location.revision
    return (release.download_all(progress=progress) if isinstance(release, HubRelease) else release), revision


@contextmanager
def _reading_fields(release: ReleaseFolder) -> Iterator[None]:
    """A manifest may be anyone's: a field that is missing or of another type is one line, not a traceback."""
    try:
        yield
    except (LookupError, AttributeError, RecursionError, TypeError, ValueError, pa.ArrowException) as error:
        raise ReleaseError(
            f"{release.path / MANIFEST} lacks or misuses a field ({error}); build the release again"
        ) from None


def _version_differences(release: ReleaseFolder, revision: str | None) -> Iterator[Difference]:
    """A tag that is a version, also one taken back, must stand at the release of that version."""
    stated = release.publication.version
    for version in versions_among([revision] if revision else [], yanked=True):
        if stated is not None and stated != str(version):
            message = f"the tag {revision} holds version {show(stated)}"
            yield Difference("version", message, MANIFEST)


def _count_differences(manifest: dict[str, Any]) -> Iterator[Difference]:
    source = manifest["source"]
    rows, out = source["rows"], sum(source["filtered"].values()) + sum(source["dropped"].values())
    parts = source.get("parts", {})
    if parts and sum(parts.values()) != rows:
        message = f"source: {plural(rows, 'row')}, but its parts have {sum(parts.values())}"
        yield Difference("counts", message, MANIFEST)
    if source["read"] != rows + out:
        message = (
            f"source: {plural(source['read'], 'row')} read, but {rows} kept and {out} filtered or dropped"
        )
        yield Difference("counts", message, MANIFEST)
    defaults = [name for name, entry in manifest["configs"].items() if entry.get("default")]
    if len(defaults) != 1:
        yield Difference("default", f"exactly one config must be the default, got {defaults}", MANIFEST)
    for name, entry in manifest["configs"].items():
        if entry["kind"] != "split":
            continue
        placed, expected = sum(facts["rows"] for facts in entry["splits"].values()), part_rows(source, entry)
        if placed + entry["unused"] != expected:
            message = (
                f"{plural(placed, 'row')} placed and {entry['unused']} unused, but the source has {expected}"
            )
            yield Difference("counts", message, MANIFEST, name)
        for split, facts in entry["splits"].items():
            counted = sum(entry["placed_by"].get(split, {}).values())
            if counted != facts["rows"]:
                message = f"placed_by counts {plural(counted, 'row')} of {facts['rows']:,}"
                yield Difference("counts", message, MANIFEST, name, split)
        for left_out in entry["left_out"]:
            if left_out["split"] in entry["splits"]:
                yield Difference("counts", "both left out and present", MANIFEST, name, left_out["split"])
        if entry["scores"] is not None and entry["scores"] not in manifest["scores"]:
            message = f"made with score table {show(entry['scores'])}, which the manifest does not describe"
            yield Difference("scores", message, MANIFEST, name)


def _stray_files(release: ReleaseFolder) -> Iterator[Difference]:
    """Files where readers look for rows that the manifest does not name: left by hand or by another build.

    Outside the release's own folders, a data set on the Hub may hold what others put there.
    """
    _refuse_names_outside(release)
    names = _file_names(release)
    named = set(release_paths(release, names))
    folders = {*release.configs, "assignments"}
    foreign = foreign_patterns(release.publication.foreign)
    shared = isinstance(release, HubRelease)
    for name in names:
        folder, slash, _ = name.partition("/")
        if name in named or any(fnmatchcase(name, pattern) for pattern in foreign):
            continue
        if (slash and folder in folders) or (name.endswith(".parquet") and not shared):
            yield Difference("extra_file", "the manifest does not name it; remove it", name)
        elif not slash and name.endswith(".py") and not shared:
            yield Difference("extra_file", "a script here keeps readers from loading the data", name)


def _refuse_names_outside(release: ReleaseFolder) -> None:
    for config, entry in release.configs.items():
        for split in entry["splits"]:
            release.files(config, split)
    for config in release.placed_configs:
        release.assignment_file(config)


def _file_names(release: ReleaseFolder) -> list[str]:
    if isinstance(release, HubRelease):
        return sorted(release.state.files)
    paths = (path for path in release.path.rglob("*") if not path.is_dir())
    return sorted(path.relative_to(release.path).as_posix() for path in paths)
