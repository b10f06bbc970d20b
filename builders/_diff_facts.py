"""What surrounds the rows: fields of the manifest, audit findings, results, the card and other files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..cards.user_sections import SEAL_START, lines_by_owner
from ..errors import ReleaseError, printable, show
from ..eval.results import Result, load_results, stale_reason
from ..hashing import sha256_file
from ..release import MANIFEST, ReleaseFolder
from ._diff_types import (
    CardDiff,
    FactChange,
    FileChange,
    FindingChange,
    ResultChange,
    StaleResult,
    ValueChange,
    cut,
)
from .hub.remote import HubRelease, git_blob_id, release_paths

README = "README.md"
_RESULTS = "results/"
_EXPORTS = ("eval.yaml", "harness/")
_FIELDS_SHOWN = 200
# Where a release stands in its own history is no change of what it holds.
_BOOKKEEPING = ("repo", "version", "changelog", "configs_hash")
_OWN_SECTIONS = ("## Changelog", "## Errata")
_VERSION_LINES = ("**Version ", "Made from **version ")
_PLACES = (
    (re.compile(r'load_dataset\(\s*"[^"]*"'), "load_dataset(PLACE"),
    (re.compile(r',\s*revision="[^"]*"'), ""),
    (re.compile(r"\b(benchwright [a-z]+) \S+"), r"\1 PLACE"),
)


class _Missing:
    """Stands for a field that one side lacks."""


_MISSING = _Missing()


def fact_changes(old: Any, new: Any) -> Iterator[FactChange]:
    """Every field whose value differs, by its path; at most 200 of them. Lists count as values."""
    stack, found = [("", old, new)], 0
    while stack and found < _FIELDS_SHOWN:
        path, left, right = stack.pop()
        if left == right:
            continue
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            stack += [
                (cut(f"{path}.{key}" if path else key), left.get(key, _MISSING), right.get(key, _MISSING))
                for key in reversed(list(dict.fromkeys([*left, *right])))
            ]
        else:
            found += 1
            yield FactChange(path, *(None if side is _MISSING else show(side) for side in (left, right)))


def release_facts(release: ReleaseFolder) -> dict[str, Any]:
    """The manifest without configs, audit findings and what follows from the act of publishing."""
    manifest = release.manifest
    facts = {key: value for key, value in manifest.items() if key not in ("configs", "audit", "publication")}
    source = manifest.get("source")
    if isinstance(source, dict) and isinstance(source.get("files"), list):
        files = {str(f.get("name")): f for f in source["files"] if isinstance(f, dict)}
        facts["source"] = {**source, "files": files}
    audit = manifest.get("audit")
    if isinstance(audit, dict):
        facts["audit"] = {key: value for key, value in audit.items() if key not in ("findings", "counts")}
    published = release.publication.to_json()
    known: dict[str, Any] = {"aliases": {}, "yanked": {}, "foreign": {}}
    known.update({key: value for key, value in published.items() if key not in _BOOKKEEPING})
    # The version that leaves rows out is known once it is published.
    known["withdrawn"] = [{**entry, "version": None} for entry in known.get("withdrawn", [])]
    return {**facts, "publication": known}


def finding_changes(first: ReleaseFolder, second: ReleaseFolder) -> tuple[FindingChange, ...]:
    """Audit findings that only one release has."""
    old, new = _findings(first), _findings(second)
    gone = [FindingChange.of("gone", finding) for key, finding in old.items() if key not in new]
    return (*(FindingChange.of("new", finding) for key, finding in new.items() if key not in old), *gone)


def _findings(release: ReleaseFolder) -> dict[str, dict[str, Any]]:
    audit = release.manifest.get("audit")
    findings = audit.get("findings") if isinstance(audit, dict) else None
    listed = findings if isinstance(findings, list) else []
    return {str(entry.get("id")): entry for entry in listed if isinstance(entry, dict)}


def card_diff(first: ReleaseFolder, second: ReleaseFolder) -> CardDiff:
    """Where the cards differ, user sections apart.

    Seals are left aside; where the releases stand at other places or in other versions of their history, so
    is what a card says of that.
    """
    texts = [_card(release) for release in (first, second)]
    if texts[0] == texts[1]:
        return CardDiff()
    placed = _same_place(first, second)
    (head, sections, own), (other_head, other_sections, other_own) = (
        _card_parts(text, placed) for text in texts
    )
    names = dict.fromkeys([*sections, *other_sections])
    return CardDiff(
        header=head != other_head,
        sections=tuple(cut(name) for name in names if sections.get(name) != other_sections.get(name)),
        user_sections={
            name: "added" if name not in own else "removed" if name not in other_own else "changed"
            for name in dict.fromkeys([*own, *other_own])
            if own.get(name) != other_own.get(name)
        },
    )


def _card(release: ReleaseFolder) -> str:
    if isinstance(release, HubRelease) and README in release.state.files:
        release.fetch([README])
    path = release.path / README
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""


def _card_parts(text: str, placed: bool) -> tuple[str, dict[str, str], dict[str, str]]:
    """YAML header; heading -> text without user sections; name -> text of each user section."""
    try:
        lines = lines_by_owner(text)
    except ReleaseError:
        lines = [(None, line) for line in text.splitlines()]
    own: dict[str, list[str]] = {}
    rest: list[str] = []
    for owner, line in lines:
        if owner is not None:
            own.setdefault(owner, []).append(line)
        elif line and not line.startswith(SEAL_START):
            rest.append(line)
    end = rest.index("---", 1) + 1 if rest[:1] == ["---"] and "---" in rest[1:] else 0
    sections: dict[str, list[str]] = {}
    heading, fenced = "", False
    for line in rest[end:]:
        fenced ^= line.lstrip().startswith("```")
        if not fenced and line.startswith(("# ", "## ")):
            heading = line
        if not placed and (heading in _OWN_SECTIONS or line.startswith(_VERSION_LINES)):
            continue
        sections.setdefault(heading, []).append(line if placed else _without_place(line))
    joined = {heading.lstrip("# ") or "beginning": "\n".join(found) for heading, found in sections.items()}
    return "\n".join(rest[:end]), joined, {name: "\n".join(found[1:-1]) for name, found in own.items()}


def _without_place(line: str) -> str:
    for pattern, instead in _PLACES:
        line = pattern.sub(instead, line)
    return line


def _same_place(first: ReleaseFolder, second: ReleaseFolder) -> bool:
    """Whether both are called the same, and stand at the same point of the same history."""
    histories = [[getattr(release.publication, name) for name in _BOOKKEEPING] for release in (first, second)]
    return histories[0] == histories[1] and first.path.name == second.path.name


def result_changes(
    first: ReleaseFolder, second: ReleaseFolder, renamed: Mapping[str, str]
) -> tuple[tuple[ResultChange, ...], tuple[StaleResult, ...]]:
    """Stored results that differ, and those of the second release that do not speak of it any more.

    `renamed` gives the present names of configs. Raises ReleaseError for results that cannot be read.
    """
    old, new = (_results(release) for release in (first, second))
    former = {_renamed(file, renamed): result for file, result in old.items()}
    changes = []
    for file in dict.fromkeys([*former, *new]):
        before, after = former.get(file), new.get(file)
        if before is None or after is None:
            result, kind = (after, "added") if before is None else (before, "removed")
            assert result is not None
            values = _values(before, after)
            changes.append(ResultChange(kind, cut(result.config), cut(result.baseline), cut(file), values))
        elif before != after:
            values = _values(before, after)
            kind = "changed" if values else "rewritten"
            changes.append(ResultChange(kind, cut(after.config), cut(after.baseline), cut(file), values))
    stale = []
    for file, result in new.items():
        reason = stale_reason(result, second)
        if reason is not None:
            source = former.get(file)
            newly = source is not None and stale_reason(source, first) is None
            stale.append(
                StaleResult(cut(file), cut(result.config), cut(result.baseline), printable(reason), newly)
            )
    return tuple(changes), tuple(stale)


def _results(release: ReleaseFolder) -> dict[str, Result]:
    if isinstance(release, HubRelease):
        release.fetch(name for name in release.state.files if name.startswith(_RESULTS))
    return {result.file: result for result in load_results(release)}


def _renamed(file: str, renamed: Mapping[str, str]) -> str:
    folder, config, name = file.split("/", 2)
    return f"{folder}/{renamed.get(config, config)}/{name}"


def _values(before: Result | None, after: Result | None) -> tuple[ValueChange, ...]:
    """Metrics whose value differs; all of them for a result that only one release has."""
    old, new = ({} if result is None else result.metrics for result in (before, after))
    found = []
    for metric in dict.fromkeys([*old, *new]):
        left, right = old.get(metric, {}), new.get(metric, {})
        values = _number(left, "value"), _number(right, "value")
        if values[0] == values[1]:
            continue
        bounds = [_number(side, end) for side in (left, right) for end in ("low", "high")]
        overlap = None
        if None not in bounds:
            low, high, other_low, other_high = (float(bound or 0) for bound in bounds)
            overlap = low <= other_high and other_low <= high
        found.append(ValueChange(cut(metric), *values, overlap))
    return tuple(found)


def _number(metric: Any, key: str) -> float | None:
    value = metric.get(key) if isinstance(metric, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def file_changes(first: ReleaseFolder, second: ReleaseFolder) -> tuple[FileChange, ...]:
    """Files of the releases that hold neither rows nor manifest nor card, where their bytes differ.

    Exports follow from the manifest and from the release's place, with which they change.
    """
    old, new = _Files(first), _Files(second)
    left_out = () if _same_place(first, second) else _EXPORTS
    found = []
    for name in sorted({*old.names, *new.names}):
        if name.startswith(left_out):
            continue
        if name not in old.names:
            found.append(FileChange("added", cut(name)))
        elif name not in new.names:
            found.append(FileChange("removed", cut(name)))
        elif not old.same(new, name):
            found.append(FileChange("changed", cut(name)))
    return tuple(found)


class _Files:
    """Files beside the rows, told apart by the hashes that are at hand: nothing is fetched for them."""

    def __init__(self, release: ReleaseFolder) -> None:
        self._release = release
        self._remote = release.state.files if isinstance(release, HubRelease) else None
        names: Iterable[str] = (
            (path.relative_to(release.path).as_posix() for path in release.path.rglob("*") if path.is_file())
            if self._remote is None
            else self._remote
        )
        listed = release_paths(release, names)
        self.names = {name for name in listed if not name.endswith(".parquet")} - {MANIFEST, README}

    def same(self, other: _Files, name: str) -> bool:
        kinds = ("sha256", "blob_id")
        return any(
            mine is not None and mine == theirs
            for mine, theirs in ((self._hash(name, kind), other._hash(name, kind)) for kind in kinds)
        )

    def _hash(self, name: str, kind: str) -> str | None:
        if self._remote is not None:
            file = self._remote[name]
            # The blob of a file in large-file storage is a pointer to it.
            return file.sha256 if kind == "sha256" else None if file.sha256 else file.blob_id
        path = self._release.path / name
        return sha256_file(path).removeprefix("sha256:") if kind == "sha256" else git_blob_id(path)
