"""What is said of a release whose rows come from several data sets: it follows from what is said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Redistribute = Literal["text", "ids_only", "no"]

CONSTITUENTS = "constituents"
"""Key of a manifest's `dataset` that maps names to `Constituent` fields, and of a config's names of them."""
UNKNOWN = "unknown"
MIXED = "mixed"
FOLLOWING = ("licence", "licence_link", "redistribute", "languages", "source_datasets")
"""Fields of a manifest's `dataset` that follow from its constituents."""
_STRICTEST_FIRST: tuple[Redistribute, ...] = ("no", "ids_only", "text")


@dataclass(frozen=True)
class Constituent:
    """One of the data sets that a collection takes rows from; plain data, stored in the manifest.

    `licence` is a Hub licence id or `unknown`, `citation` a BibTeX entry or empty, `source_datasets` are Hub
    ids.
    """

    title: str
    licence: str
    redistribute: Redistribute
    citation: str
    licence_link: str = ""
    languages: tuple[str, ...] = ("en",)
    source_datasets: tuple[str, ...] = ()


def common_licence(licences: Iterable[str]) -> str:
    """The licence that all have; `unknown` if one is, else `mixed` if they differ.

    >>> common_licence(["mit", "mit"]), common_licence(["mit", "cc0-1.0"]), common_licence(["mit", "unknown"])
    ('mit', 'mixed', 'unknown')
    """
    found = set(licences)
    if UNKNOWN in found:
        return UNKNOWN
    return found.pop() if len(found) == 1 else MIXED


def redistributable(licence: str) -> Literal["text", "ids_only"]:
    """What may be published under a licence: no text unless it is known."""
    return "ids_only" if licence == UNKNOWN else "text"


def strictest(allowed: Iterable[str]) -> Redistribute:
    """What may be published of rows that come from several data sets."""
    return _STRICTEST_FIRST[min(map(_STRICTEST_FIRST.index, allowed))]


def redistribution(manifest: Mapping[str, Any], config: str) -> Redistribute:
    """What of the rows of a config may be published: what all its constituents allow.

    That of the whole release where it allows all or nothing, and for configs that do not name theirs.
    """
    dataset = manifest["dataset"]
    whole: Redistribute = dataset.get("redistribute") or "text"
    known = dataset.get(CONSTITUENTS) or {}
    names = manifest["configs"].get(config, {}).get(CONSTITUENTS) or ()
    if whole != "ids_only" or not names or not known.keys() >= set(names):
        return whole
    return strictest(known[name]["redistribute"] for name in names)


def collected(dataset: Mapping[str, Any], constituents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A manifest's `dataset` for rows of these constituents, by name, each as a mapping; not for none.

    All is in the order of names, so that it does not depend on which of them came first.
    """
    found = [constituents[name] for name in sorted(constituents)]
    licence = common_licence(each["licence"] for each in found)
    links = {each["licence_link"] for each in found}
    common_link = links.pop() if len(links) == 1 else ""
    return {
        **dataset,
        "licence": licence,
        "licence_link": dataset["homepage"] if licence == MIXED else common_link,
        "redistribute": strictest(each["redistribute"] for each in found),
        "languages": sorted({language for each in found for language in each["languages"]}),
        "source_datasets": sorted({name for each in found for name in each["source_datasets"]}),
        CONSTITUENTS: {name: dict(constituents[name]) for name in sorted(constituents)},
    }
