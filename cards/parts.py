"""The data sets that a release of several is made of: which it divides, their categories and licences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from ..release import ReleaseFolder

# How the notes of a source tell the licence of a part.
_LICENCE_NOTE = re.compile(r"licence of (?P<part>\S+): (?P<licence>.+) \((?P<corpora>.+)\)")


@dataclass(frozen=True)
class Part:
    """One data set; `category`, `licence` and `corpora` are None where the release does not tell."""

    name: str
    configs: tuple[str, ...]
    rows: int | None
    category: str | None
    licence: str | None
    corpora: str | None


def parts(release: ReleaseFolder) -> dict[str, Part]:
    """The parts that placed configs divide, in the order of the configs; empty where there are none."""
    configs: dict[str, list[str]] = {}
    for name, entry in release.placed_configs.items():
        if entry.get("part") is not None:
            configs.setdefault(entry["part"], []).append(name)
    source = release.manifest["source"]
    rows = source.get("parts") or {}
    licences = _licences(source)
    return {
        part: Part(
            name=part,
            configs=tuple(names),
            rows=rows.get(part),
            category=_category(release, names[0]),
            licence=licences.get(part, (None, None))[0],
            corpora=licences.get(part, (None, None))[1],
        )
        for part, names in configs.items()
    }


def part_words(release: ReleaseFolder) -> tuple[str, str]:
    """What one part is called, and several."""
    if any(entry["splitter"] == "overlap" for entry in release.placed_configs.values()):
        return "test set", "test sets"
    return "phenomenon", "phenomena"


def by_category(found: Mapping[str, Part]) -> dict[str | None, list[Part]]:
    """Category -> its parts, both in order of first appearance."""
    groups: dict[str | None, list[Part]] = {}
    for part in found.values():
        groups.setdefault(part.category, []).append(part)
    return groups


def part_of(release: ReleaseFolder, config: str | None) -> str | None:
    """The part that a config divides; None for a config of no part and for one that is gone."""
    return (release.configs.get(config or "") or {}).get("part")


def other_notes(release: ReleaseFolder) -> list[str]:
    """What the source's notes say beside licences."""
    notes: Iterable[Any] = release.manifest["source"].get("notes") or ()
    return [str(note) for note in notes if not _LICENCE_NOTE.fullmatch(str(note))]


def _licences(source: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    matches = (_LICENCE_NOTE.fullmatch(str(note)) for note in source.get("notes") or ())
    return {match["part"]: (match["licence"], match["corpora"]) for match in matches if match}


def _category(release: ReleaseFolder, config: str) -> str | None:
    """The column `category` of a config's first row."""
    if "category" not in release.config(config)["features"]:
        return None
    for split in release.splits(config):
        for file in release.files(config, split):
            with pq.ParquetFile(file) as parquet:
                for batch in parquet.iter_batches(batch_size=1, columns=["category"]):
                    category: str | None = batch.column(0)[0].as_py()
                    return category
    return None
