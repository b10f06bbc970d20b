"""The bytes and lines of a corpus' files: plain, .gz, .bz2, .zst or .xz, and inside zip archives.

Nothing is read into memory but a block and a line. A line is cut at `\\n` and nowhere else. All faults are
SourceErrors of one line.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

from ...errors import PrerequisiteError, SourceError
from ..sources.files import InputFile

COMPRESSIONS = (".gz", ".bz2", ".zst", ".xz")
LONGEST = 1 << 26
"""Most bytes of a line, and of a document that is a whole file: 64 MiB."""

_BLOCK = 1 << 18
# Dumps of Reddit are compressed with a window of 2 GB.
_WINDOW = 1 << 31
# A block of zstandard can be 30,000 times as large as its compressed form: little is given to it at once.
_SMALLEST_STEP, _LARGEST_STEP = 1 << 6, 1 << 12
_AGAIN = "copy or download the file again"


class ByteStream(Protocol):
    """What the readers need of a stream of bytes."""

    def read(self, size: int = ..., /) -> bytes: ...
    def readline(self, size: int | None = ..., /) -> bytes: ...


class Line(NamedTuple):
    """A line without its end: `number` from 1; `start` and `end` (its end included) in plain bytes."""

    number: int
    start: int
    end: int
    raw: bytes


def compression(file: InputFile) -> str | None:
    """The suffix of COMPRESSIONS that a file's name has, else None."""
    suffix = PurePosixPath(file.name).suffix.lower()
    return suffix if suffix in COMPRESSIONS else None


def plain_name(file: InputFile) -> str:
    """A file's name without the suffix of its compression."""
    suffix = compression(file)
    return file.name if suffix is None else file.name[: -len(suffix)]


def plain_suffix(file: InputFile) -> str:
    """The lower-case suffix below the compression, without the dot."""
    return PurePosixPath(plain_name(file)).suffix.lower().removeprefix(".")


@contextmanager
def open_plain(file: InputFile) -> Iterator[ByteStream]:
    """The decompressed bytes of a file. Raises SourceError for one that is missing, damaged or cut short.

    Raises PrerequisiteError where the package for .zst is missing.
    """
    suffix = compression(file)
    with file.open() as stored:
        if suffix in (None, ".gz"):
            yield stored
            return
        if not stored.peek(1):
            raise SourceError("the file is empty", path=file.shown, fix=_AGAIN)
        try:
            yield io.BufferedReader(_Decompressed(stored, *_PARTS[suffix]), _BLOCK)
        except EOFError:
            raise SourceError("the compressed data end too early", path=file.shown, fix=_AGAIN) from None
        except _DamagedError as error:
            raise SourceError(str(error), path=file.shown, fix=_AGAIN) from None


class _DamagedError(Exception):
    """Compressed data that cannot be read; the message is the reason."""


class _Decompressor(Protocol):
    """As in the modules bz2 and lzma."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


class _Decompressed(io.RawIOBase):
    """A stream of one or several compressed parts, read to its end in steps."""

    def __init__(self, stored: io.BufferedReader, start: Callable[[], _Decompressor], name: str) -> None:
        self._stored, self._start, self._name = stored, start, name
        self._part = start()
        self._step = _SMALLEST_STEP
        # Whether a part has begun that has not ended; whether any bytes have come out.
        self._inside, self._met = False, False
        self._waiting = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            data = b""
            if self._part.needs_input:
                data, self._waiting = self._waiting or self._stored.read(self._step), b""
                if not data and self._inside:
                    raise EOFError
                if not data:
                    return 0
            self._feed(data)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _feed(self, data: bytes) -> None:
        try:
            found = self._part.decompress(data, _BLOCK)
        except (OSError, ValueError, lzma.LZMAError, _ZstandardError):
            reason = "the compressed data are damaged" if self._met else f"not a {self._name} file"
            raise _DamagedError(reason) from None
        self._ready = memoryview(found)
        # What comes out at once stays small, however little went in.
        self._step = max(_SMALLEST_STEP, self._step // 4) if len(found) > _BLOCK else self._step * 2
        self._step = min(self._step, _LARGEST_STEP)
        self._met = self._met or bool(found)
        self._inside = not self._part.eof
        if self._part.eof:
            self._waiting = self._part.unused_data
            self._part = self._start()


class _ZstandardError(Exception):
    pass


class _ZstandardPart:
    """zstandard's decompressor as those of the standard library are; it gives all that a step holds."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._fault = zstandard.ZstdError
        self._part = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()

    @property
    def eof(self) -> bool:
        return bool(self._part.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._part.unused_data)

    def decompress(self, data: bytes, _max_length: int = -1, /) -> bytes:
        try:
            return bytes(self._part.decompress(data))
        except self._fault as error:
            raise _ZstandardError(str(error)) from None


def _zstandard_part() -> _Decompressor:
    try:
        return _ZstandardPart()
    except ModuleNotFoundError:
        raise PrerequisiteError(
            "reading .zst needs the package zstandard", "pip install 'benchwright[overlap]'"
        ) from None


_PARTS: dict[str | None, tuple[Callable[[], _Decompressor], str]] = {
    ".bz2": (bz2.BZ2Decompressor, "bzip2"),
    ".xz": (lzma.LZMADecompressor, "xz"),
    ".zst": (_zstandard_part, "zstandard"),
}


def lines(file: InputFile, start: int = 0, end: int | None = None, number: int = 1) -> Iterator[Line]:
    """The lines that begin at the bytes `start` to `end` (exclusive) of the plain file, byte order mark off.

    `number` is that of the first of them. A plain file is not read before `start`; a compressed one is
    decompressed and not looked at. Raises SourceError for a line beyond LONGEST, and as `open_plain` does.
    """
    with open_plain(file) as stream:
        _skip(file, stream, start)
        place = start
        while end is None or place < end:
            raw = stream.readline(LONGEST)
            if not raw:
                return
            after = place + len(raw)
            if len(raw) == LONGEST and not raw.endswith(b"\n"):
                fix = f"a line has at most {LONGEST:,} bytes; cut it, or take the file out"
                raise SourceError("a line is too long", path=file.shown, line=number, fix=fix)
            if place == 0:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            yield Line(number, place, after, raw.removesuffix(b"\n").removesuffix(b"\r"))
            place, number = after, number + 1


def decoded(file: InputFile, line: Line) -> str:
    """The text of a line. Raises SourceError where it is not UTF-8."""
    try:
        return line.raw.decode()
    except UnicodeDecodeError:
        raise SourceError(
            "not UTF-8", path=file.shown, line=line.number, fix="save the file as UTF-8"
        ) from None


def _skip(file: InputFile, stream: ByteStream, start: int) -> None:
    if start and file.member is None and compression(file) is None:
        # A plain file on disk: nothing before the place is read.
        stream.seek(start)  # type: ignore[attr-defined]
        return
    while start > 0:
        block = stream.read(min(start, _BLOCK))
        if not block:
            return
        start -= len(block)


class Cut(NamedTuple):
    """A place in a plain file where a line begins: its byte and the number of that line."""

    start: int
    number: int


def cut_lines(file: InputFile, wanted: list[int]) -> tuple[list[Cut], int]:
    """For each of the ascending byte offsets `wanted`, where the next line begins; and the plain file's size.

    The file is read once. Offsets at or beyond its last line give the end of the file.
    """
    cuts: list[Cut] = []
    waiting = list(wanted)
    place, number = 0, 1
    with open_plain(file) as stream:
        while block := stream.read(_BLOCK):
            while waiting and (found := _line_after(block, waiting[0] - place)) is not None:
                cuts.append(Cut(place + found, number + block.count(b"\n", 0, found)))
                waiting.pop(0)
            number += block.count(b"\n")
            place += len(block)
    cuts += [Cut(place, number)] * len(waiting)
    return cuts, place


def _line_after(block: bytes, offset: int) -> int | None:
    """Where in a block the first line begins at or after `offset` (which may lie before the block)."""
    if offset >= len(block) + 1:
        return None
    found = block.find(b"\n", max(offset - 1, 0))
    return None if found < 0 else found + 1


def whole_text(file: InputFile) -> str:
    """A file's text, byte order mark off. Raises SourceError for one beyond LONGEST or not UTF-8."""
    with open_plain(file) as stream:
        raw = stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise SourceError(
            "the file is too long for one document",
            path=file.shown,
            fix=f"a document has at most {LONGEST:,} bytes; read it as form 'lines'",
        )
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError("not UTF-8", path=file.shown, line=line, fix="save the file as UTF-8") from None


__all__ = [
    "COMPRESSIONS",
    "LONGEST",
    "Cut",
    "Line",
    "compression",
    "cut_lines",
    "decoded",
    "lines",
    "open_plain",
    "plain_name",
    "plain_suffix",
    "whole_text",
]
