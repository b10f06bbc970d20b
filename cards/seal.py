"""The seal of a card: one line that says which text and which manifest belong together.

It is the card's last line, an HTML comment that readers do not see. Anyone can compute it, so it proves no
author; it tells a card or a manifest that was changed alone, by hand or on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from ..errors import ReleaseError
from ..hashing import canonical_json, sha256_text
from ..release import FORMAT
from .user_sections import SEAL_START, OwnedLine, lines_by_owner

_HASH = "(sha256:[0-9a-f]{64})"
_SEAL = re.compile(f"{re.escape(SEAL_START)}text={_HASH} manifest={_HASH} -->")
_AGAIN = "write it again with `benchwright card`"


def seal(text: str, manifest: Mapping[str, Any]) -> str:
    """`text` with its seal as the last line, in place of one that stands there.

    What people write in their sections is not sealed, nor are line ends and the number of blank lines in a
    row. `manifest` is the whole one. Raises ReleaseError for sections whose markers do not match,
    ValueError for a manifest with NaN in it.
    """
    lines = _without_seals(lines_by_owner(text))
    hashes = f"text={_text_hash(lines)} manifest={_manifest_hash(manifest)}"
    kept = "\n".join(line for _, line in lines).rstrip("\n")
    return f"{kept}\n\n{SEAL_START}{hashes} -->\n"


def seal_differences(text: str, manifest: Mapping[str, Any]) -> list[str]:
    """Where card and manifest do not agree with the seal of `text`: a line for each, none if both are whole.

    A card without a seal is a difference, too: cards of older versions have none.
    """
    try:
        lines = lines_by_owner(text)
    except ReleaseError as error:
        return [str(error)]
    seals = [match for owner, line in lines if owner is None and (match := _SEAL.fullmatch(line))]
    if len(seals) != 1:
        number = f"{len(seals)} seals" if seals else "no seal"
        return [f"it has {number}, so that changes of it cannot be told; {_AGAIN}"]
    stated_text, stated_manifest = seals[0].groups()
    found = []
    if _text_hash(_without_seals(lines)) != stated_text:
        found.append(f"its text is not the one that was sealed; {_AGAIN}")
    try:
        same = _manifest_hash(manifest) == stated_manifest
    except (RecursionError, TypeError, ValueError):
        same = False
    if not same:
        found.append(f"it was written for another manifest; {_AGAIN} if the manifest is right")
    return found


def is_of_another_manifest(text: str, manifest: Mapping[str, Any]) -> bool:
    """Whether a card says that it was written for another manifest; false for a card without a seal."""
    lines = lines_by_owner(text)
    seals = [match for owner, line in lines if owner is None and (match := _SEAL.fullmatch(line))]
    return bool(seals) and all(found[2] != _manifest_hash(manifest) for found in seals)


def _without_seals(lines: Iterable[OwnedLine]) -> list[OwnedLine]:
    return [(owner, line) for owner, line in lines if owner is not None or not _SEAL.fullmatch(line)]


def _text_hash(lines: Iterable[OwnedLine]) -> str:
    """Of the lines outside of sections; blank lines in a row, also around a section, count as one."""
    outside = (line for owner, line in lines if owner is None)
    runs = groupby(outside, key=bool)
    joined = "\n".join(line for filled, run in runs for line in (run if filled else ("",)))
    return sha256_text(joined.strip("\n"))


def _manifest_hash(manifest: Mapping[str, Any]) -> str:
    """The order of keys does not matter. Raises TypeError or ValueError for what no manifest holds."""
    # A release that is being made has no format yet; ReleaseFolder refuses finished ones without it.
    return sha256_text(canonical_json({"format": FORMAT, **manifest}))
