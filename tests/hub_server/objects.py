"""Large files by their sha256: one file each in a folder, or chunks that a xet client has written."""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from .messages import HubError
from .xet import XetStore

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (\d+)\n", re.ASCII
)
_OID = re.compile(r"[0-9a-f]{64}")
#: Longer files, in bytes, are no pointers.
POINTER_LIMIT = 200


@dataclass(frozen=True)
class Pointer:
    """What git stores instead of a large file: its sha256 (hexadecimal) and size in bytes."""

    oid: str
    size: int

    def text(self) -> bytes:
        """The pointer file."""
        return (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {self.size}\n".encode()
        )


def parse_pointer(data: bytes) -> Pointer | None:
    """The pointer that `data` is, or None where it is an ordinary file."""
    if len(data) > POINTER_LIMIT or (found := _POINTER.fullmatch(data)) is None:
        return None
    return Pointer(found[1].decode(), int(found[2]))


class ObjectStore:
    """All large files of the server; the same content is stored once, whatever repositories hold it."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "lfs"
        self._folder.mkdir(parents=True, exist_ok=True)
        self.xet = XetStore(root / "xet")

    def has(self, oid: str) -> bool:
        """Whether the content has been uploaded, in either way."""
        return self._path(oid).exists() or bool(self.xet.find(oid))

    def size(self, oid: str) -> int:
        """Bytes of an object that `has` knows."""
        path = self._path(oid)
        if path.exists():
            return path.stat().st_size
        found = self.xet.find(oid)
        if not found:
            raise HubError(404, f"Object does not exist: {oid}")
        return found[0].size

    def path(self, oid: str) -> Path:
        """A file with the object's content; chunks are put together the first time."""
        path = self._path(oid)
        if not path.exists():
            found = self.xet.find(oid)
            if not found:
                raise HubError(404, f"Object does not exist: {oid}")
            whole = self._temporary()
            self.xet.download(found, whole)
            self._take(oid, whole)
        return path

    def put(self, oid: str, data: bytes) -> None:
        """Store an upload. Raises HubError where the content is not that of `oid`."""
        whole = self._temporary()
        whole.write_bytes(data)
        self._take(oid, whole)

    def put_part(self, oid: str, number: int, data: bytes) -> str:
        """Store one part of a multipart upload; its ETag."""
        self._part(oid, number).write_bytes(data)
        return hashlib.md5(data).hexdigest()

    def complete(self, oid: str, numbers: list[int]) -> None:
        """Put the parts of a multipart upload together."""
        parts = [self._part(oid, number) for number in numbers]
        if not parts or not all(part.exists() for part in parts):
            raise HubError(400, "A part of the upload is missing")
        self.put(oid, b"".join(part.read_bytes() for part in parts))
        for part in parts:
            part.unlink()

    def _path(self, oid: str) -> Path:
        if _OID.fullmatch(oid) is None:
            raise HubError(400, f"Not a sha256: {oid!r}")
        return self._folder / oid[:2] / oid

    def _part(self, oid: str, number: int) -> Path:
        return self._folder / f"{oid}.{number}.part"

    def _temporary(self) -> Path:
        return self._folder / f"{uuid.uuid4().hex}.tmp"

    def _take(self, oid: str, whole: Path) -> None:
        with whole.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != oid:
            whole.unlink()
            raise HubError(400, "Content does not match oid")
        path = self._path(oid)
        path.parent.mkdir(exist_ok=True)
        whole.replace(path)
