"""What must hold before anything is sent: the folder is whole, sound, and may be given to others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ...cards.card import README, hand_written
from ...cards.seal import is_of_another_manifest
from ...errors import PublishError, ReleaseError
from ...release import ReleaseFolder
from ..constituents import CONSTITUENTS
from ..verify import verify
from ._safety import TOTAL_BYTES, check_path, check_portable, check_size, most_bytes, read_yaml_header
from .client import without_token
from .merging import listed
from .plan import LocalFile

# As the viewer and the writers of the Hub have it: larger parts can be loaded, but not looked at.
SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 100_000_000
_TEXTS = (".md", ".json", ".jsonl", ".yaml", ".py")


def check_local(release: ReleaseFolder) -> None:
    """Raise PublishError for a folder that is not as its manifest says, or may not be published.

    Of its card only the seal of the manifest counts: publishing writes a new card.
    """
    empty = [
        f"{name}/{split}"
        for name, entry in release.configs.items()
        for split, facts in entry["splits"].items()
        if not facts["rows"]
    ]
    if empty:
        raise PublishError(
            f"{listed(empty)} of {release.path} has no rows, and readers cannot load an empty split; build "
            "again, which leaves it out and says why"
        )
    differences = [difference for difference in verify(release) if difference.file != README]
    if differences:
        more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
        raise PublishError(
            f"{release.path} is not what its manifest says: {differences[0]}{more}; see benchwright verify"
        )
    if is_of_another_manifest(hand_written(release.path), release.manifest):
        raise PublishError(
            f"{release.path}/manifest.json was changed since its card was written; build again, or, if the "
            "change is meant, write the card again with `benchwright card`"
        )
    _check_audit(release)
    check_licence(release, str(release.path))


def _check_audit(release: ReleaseFolder) -> None:
    findings = (release.manifest.get("audit") or {}).get("findings", ())
    stopping = [finding for finding in findings if finding.get("severity") == "error"]
    if stopping:
        where = f"config {stopping[0]['config']}: " if stopping[0].get("config") else ""
        more = f" and {len(stopping) - 1} more" if len(stopping) > 1 else ""
        raise PublishError(
            f"the audit of {release.path} stops it: {where}{stopping[0]['message']}{more}; put it right, or "
            "build with --accepted FILE that lists what is agreed to"
        )


def check_licence(release: ReleaseFolder, place: str) -> None:
    """Raise PublishError for rows that may not be given to others; `place` says where they stand."""
    allowed = release.dataset.get("redistribute") or "text"
    if allowed == "text":
        return
    name = release.dataset.get("pretty_name")
    if allowed == "ids_only":
        from ..hydrate import must_lose_text

        held = must_lose_text(release)
        if not held:
            return
        in_parts = bool(release.dataset.get(CONSTITUENTS))
        raise PublishError(
            f"the licence of {f'{name} ({listed(held)})' if in_parts else name} lets ids be published and no "
            f"text, and {place} holds text; take it out with "
            f"`benchwright strip{' --where-needed' if in_parts else ''}`"
        )
    raise PublishError(
        f"the licence of {name} does not let it be published; give others the command that builds it"
    )


def check_readers(files: Mapping[str, LocalFile], repo: str) -> None:
    """Raise PublishError for a release that `HubRelease` would refuse to read."""
    try:
        for path, file in files.items():
            check_path(path, repo)
            if (most := most_bytes(path)) is not None:
                check_size(path, file.size, most, repo)
        check_portable(files, repo)
        if README in files:
            read_yaml_header(files[README].source.read_text(encoding="utf-8"), repo)
    except ReleaseError as error:
        raise PublishError(f"{error}; so nothing was published") from None
    total = sum(file.size for file in files.values())
    if total > TOTAL_BYTES:
        raise PublishError(
            f"the release has {total:,} bytes and readers fetch at most {TOTAL_BYTES:,}; publish it in parts"
        )


def check_texts(files: Mapping[str, LocalFile]) -> None:
    """Raise PublishError for a text file that holds the access token in use."""
    for path, file in files.items():
        if path.endswith(_TEXTS):
            text = file.source.read_bytes().decode("utf-8", "replace")
            if _holds_token(text):
                raise PublishError(f"{path} holds your access token; take it out, and revoke the token")


def _holds_token(text: str) -> bool:
    from huggingface_hub import get_token

    token = get_token()
    return bool(token) and str(token) in text


def one_line(message: str | None) -> str | None:
    """What the publisher says of a version, as one line. Raises PublishError for a token in it."""
    if message is None:
        return None
    line = " ".join(message.split())
    if without_token(line) != line:
        raise PublishError("--message holds what looks like an access token; leave it out")
    return line or None


def large_parts(files: Mapping[str, LocalFile], paths: Iterable[str]) -> list[str]:
    """Notes on parquet files that readers can load but the Hub's viewer cannot show."""
    notes = []
    for path in paths:
        if not path.endswith(".parquet"):
            continue
        if files[path].size > SHARD_BYTES:
            notes.append(f"{path} has {files[path].size:,} bytes; the Hub asks for at most {SHARD_BYTES:,}")
        largest = _largest_row_group(files[path].source)
        if largest > ROW_GROUP_BYTES:
            notes.append(
                f"{path} has a row group of {largest:,} bytes uncompressed; above {ROW_GROUP_BYTES:,} the "
                "Hub's viewer may not show its rows"
            )
    return notes


def _largest_row_group(path: Path) -> int:
    try:
        facts: Any = pq.read_metadata(path)
    except OSError as error:
        raise ReleaseError(f"{path} cannot be read as parquet ({error})") from None
    return max((facts.row_group(n).total_byte_size for n in range(facts.num_row_groups)), default=0)
