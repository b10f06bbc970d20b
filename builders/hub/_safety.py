"""What a repository of anyone's may hold before it is read: names, sizes and headers that can do no harm."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

from ...errors import ReleaseError, show

MANIFEST_BYTES = 64 << 20
CARD_BYTES = 16 << 20
HEADER_CHARACTERS = 1 << 20
FILES = 100_000
TOTAL_BYTES = 50 << 30
PARQUET_BYTES = 4 << 30
"""Most bytes that one parquet file may become in memory; a shard of ours has half a gigabyte."""
_PARSED_WHOLE = (".json", ".yaml", ".yml")
_VALUE_BYTES = 8
_HEADER_DEPTH = 32
_HEADER_EVENTS = 500_000
_PATH_CHARACTERS = 1024
_NAME_BYTES = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffd]")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
# A folder of this name tells git what to run.
_GIT = (".git", "git~1")
_WINDOWS_ONLY = frozenset('<>:"|?*')


def check_path(name: object, place: str) -> str:
    """`name` if it can only mean a file inside a folder. Raises ReleaseError.

    Refused: a name that is empty, absolute or leads outside; in a folder `.git`; with a backslash, a control
    character or one that is no Unicode text; longer than a file system takes.
    """
    if not isinstance(name, str) or not name:
        raise ReleaseError(f"{place}: a file is named {show(name)}, so nothing in it is read")
    parts = name.split("/")
    if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
        reason = "leads outside or nowhere"
    elif any(part.lower() in _GIT for part in parts):
        reason = "belongs to git's own folder"
    elif "\\" in name or _CONTROL.search(name):
        reason = "has a backslash or a character that cannot be shown"
    elif len(name) > _PATH_CHARACTERS or any(len(part.encode()) > _NAME_BYTES for part in parts):
        reason = "is longer than a file system takes"
    else:
        return name
    raise ReleaseError(f"{place}: the file name {show(name)} {reason}, so nothing in it is read")


def check_portable(names: Iterable[str], place: str) -> None:
    """Raise ReleaseError for files that some file system cannot hold, or not beside each other."""
    seen: dict[str, str] = {}
    for name in names:
        for depth, part in enumerate(parts := PurePosixPath(name).parts):
            if _DEVICE.fullmatch(part) or part[-1] in ". " or _WINDOWS_ONLY & set(part):
                raise ReleaseError(f"{place}: the file name {show(name)} cannot be used on every system")
            spelled = "/".join(parts[: depth + 1])
            key = unicodedata.normalize("NFC", spelled).casefold()
            if seen.setdefault(key, spelled) != spelled:
                raise ReleaseError(
                    f"{place}: {show(seen[key])} and {show(spelled)} are one name on some systems; rename one"
                )


def check_no_script(names: Iterable[str], repo: str, place: str) -> None:
    """Raise ReleaseError for a script at the root named like the data set: readers take it for its loader."""
    script = f"{repo.rpartition('/')[2]}.py".lower()
    for name in names:
        if name.lower() == script:
            raise ReleaseError(f"{place}: it holds the script {show(name)}, which is never run; remove it")


def most_bytes(name: str) -> int | None:
    """The size up to which a file is read that is parsed as a whole; None for any other."""
    if name == "README.md":
        return CARD_BYTES
    return MANIFEST_BYTES if name.endswith(_PARSED_WHOLE) else None


def check_size(name: str, size: int, most: int, place: str) -> None:
    """Raise ReleaseError for a file of more than `most` bytes."""
    if size > most:
        raise ReleaseError(
            f"{place}: {name} has {size:,} bytes, more than the {most:,} that are read; nothing was fetched"
        )


def check_parquet(path: Path, name: str, place: str) -> None:
    """Raise ReleaseError for a parquet file that would become far more than its bytes let expect.

    Rows of a release have a uid each, so there are never more rows than bytes. A long text that a dictionary
    holds once and many rows point to is counted as often as it would stand in memory.
    """
    try:
        with pq.ParquetFile(path) as file:
            rows, columns = file.metadata.num_rows, _columns(file.metadata)
        declared = sum(max(column.bytes, column.values * _VALUE_BYTES) for column in columns)
        if rows <= path.stat().st_size and declared <= PARQUET_BYTES:
            doubtful = [c for c in columns if c.is_text and c.values * c.bytes > PARQUET_BYTES]
            declared = sum(_bytes_of_texts(path, column) for column in doubtful)
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{place}: {name} cannot be read as parquet ({error})") from None
    if rows > path.stat().st_size or declared > PARQUET_BYTES:
        raise ReleaseError(
            f"{place}: {name} has {path.stat().st_size:,} bytes, but would become {rows:,} rows of "
            f"{declared:,} bytes; it is not read"
        )


class _Column(NamedTuple):
    """A column of one row group. `bytes` are those of its pages, not compressed."""

    group: int
    path: str
    values: int
    bytes: int
    is_text: bool


def _columns(facts: pq.FileMetaData) -> list[_Column]:
    found = []
    for group in range(facts.num_row_groups):
        for number in range(facts.num_columns):
            column = facts.row_group(group).column(number)
            is_text = column.physical_type == "BYTE_ARRAY"
            size = column.total_uncompressed_size
            found.append(_Column(group, column.path_in_schema, column.num_values, size, is_text))
    return found


def _bytes_of_texts(path: Path, column: _Column) -> int:
    """Bytes of a text column in memory, found without writing repeated texts out."""
    with pq.ParquetFile(path, read_dictionary=[column.path]) as file:
        table = file.read_row_group(column.group, columns=[column.path])
    return sum(
        pc.sum(pc.take(pc.binary_length(texts.dictionary), texts.indices)).as_py() or 0
        for chunked in table.columns
        for chunk in chunked.chunks
        for texts in _dictionaries(chunk)
    )


def _dictionaries(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    if isinstance(array, pa.DictionaryArray):
        yield array
    elif isinstance(array, pa.StructArray):
        for part in array.flatten():
            yield from _dictionaries(part)
    elif isinstance(array, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        yield from _dictionaries(array.flatten())


def read_yaml_header(text: str, place: str) -> dict[str, Any] | None:
    """The YAML header of a card, read with plain types alone; None if the card has none.

    Raises ReleaseError for a header that is no mapping, too long, too deep, or has anchors or aliases, with
    which a few lines can stand for more than any memory holds.
    """
    header = _header(text)
    if header is None:
        return None
    if len(header) > HEADER_CHARACTERS:
        raise ReleaseError(f"{place}: its header has {len(header):,} characters, more than a card needs")
    try:
        _check_events(header, place)
        data = yaml.load(header, Loader=_LOADER)
        data = {} if data is None else data
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ReleaseError(f"{place}: its header cannot be read ({reason}); write it again") from None
    if not isinstance(data, dict):
        raise ReleaseError(f"{place}: its header is no mapping, got {show(data)}; write it again")
    return data


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _header(text: str) -> str | None:
    first, *lines = text.removeprefix("\ufeff").split("\n")
    if first.rstrip() != "---":
        return None
    for number, line in enumerate(lines):
        if line.rstrip() == "---":
            return "\n".join([*lines[:number], ""])
    return None


def _check_events(header: str, place: str) -> None:
    depth = 0
    for count, event in enumerate(yaml.parse(header, Loader=_LOADER)):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ReleaseError(f"{place}: its header has an anchor or alias (& or *); write the value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _HEADER_DEPTH or count > _HEADER_EVENTS:
            raise ReleaseError(f"{place}: its header is nested or repeated beyond what a card needs")
