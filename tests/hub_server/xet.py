"""Uploads of xet clients without a xet server: hf-xet itself stores chunks in a folder behind `local://`.

Such a folder holds `shards`, which say what files the client has written: a header of 48 bytes, then for
each file one record of 48 bytes with its xet hash, flags and number of segments, as many records of segments
(bytes 36 to 40 are the segment's size), as many records of verification if flag 31 is set, and one record
whose first 32 bytes are the sha256 if flag 30 is set. A record whose hash is all ones ends the list.
"""

from __future__ import annotations

import struct
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_RECORD = 48
_MAGIC = b"HFRepoMetaData\0"
_VERIFICATION = 1 << 31
_METADATA = 1 << 30
_TOKEN_SECONDS = 3600


@dataclass(frozen=True)
class XetFile:
    """A file that a client has written: in which folder, under which xet hash, how many bytes."""

    folder: Path
    hash: str
    size: int


class XetStore:
    """One folder per write token, as hf-xet locks the folder that it writes to."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._root.mkdir(parents=True, exist_ok=True)
        self._read: set[Path] = set()
        self._files: dict[str, list[XetFile]] = {}
        self._lock = threading.Lock()

    def token(self) -> tuple[str, int]:
        """The address of a new folder to write to, and when the permission ends (seconds since 1970)."""
        return f"local://{self._root / uuid.uuid4().hex}", int(time.time()) + _TOKEN_SECONDS

    def find(self, sha256: str) -> list[XetFile]:
        """Every writing of the file of this sha256."""
        with self._lock:
            for folder in self._root.iterdir():
                for shard in folder.glob("xet/xorbs/shards/*.mdb"):
                    if shard not in self._read:
                        self._read.add(shard)
                        for name, file in _files_of(shard.read_bytes(), folder):
                            self._files.setdefault(name, []).append(file)
            return list(self._files.get(sha256, ()))

    def download(self, files: list[XetFile], target: Path) -> None:
        """Put the chunks of the first whole one of `files` together at `target`.

        A client that was killed may have named a file without its chunks, which a real storage refuses.
        """
        import hf_xet

        for number, file in enumerate(files, start=1):
            session = hf_xet.XetSession()
            try:
                with session.new_file_download_group(endpoint=f"local://{file.folder}") as group:
                    group.start_download_file(hf_xet.XetFileInfo(file.hash, file.size), str(target))
                return
            except RuntimeError:
                if number == len(files):
                    raise


def _files_of(shard: bytes, folder: Path) -> Iterator[tuple[str, XetFile]]:
    """Each file of a shard that names its sha256."""
    if not shard.startswith(_MAGIC):
        raise ValueError(f"{folder}: not a shard of hf-xet")
    position = _RECORD
    while (name := shard[position : position + 32]) != b"\xff" * 32:
        flags, count = struct.unpack("<II", shard[position + 32 : position + 40])
        position += _RECORD
        sizes = [
            struct.unpack_from("<I", shard, position + _RECORD * number + 36)[0] for number in range(count)
        ]
        position += _RECORD * count * (2 if flags & _VERIFICATION else 1)
        if flags & _METADATA:
            yield (
                _hexadecimal(shard[position : position + 32]),
                XetFile(folder, _hexadecimal(name), sum(sizes)),
            )
            position += _RECORD


def _hexadecimal(hash_bytes: bytes) -> str:
    """Four little-endian 64-bit numbers, as xet writes its hashes."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", hash_bytes))
