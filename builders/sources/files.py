"""Finding and opening the files of a source: plain, gzip-compressed, or inside a zip archive.

Nothing is ever extracted to disk: archive members are read in place, so that no name inside an archive
can become a path. All faults are SourceErrors of one line.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ...errors import SourceError
from ...hashing import sha256_file
from ..base import SourceFile

DATA_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet")
_CONTAINER_SUFFIXES = (".gz", ".zip")
_JUNK_NAMES = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})
# Deep enough for an unpacked archive or a Hub snapshot; a mistyped `/` does not walk the whole disk.
_LEVELS = 4
_BLOCK = 1 << 20


@dataclass(frozen=True)
class InputFile:
    """One file of a source.

    `path` is the file on disk, or the archive that holds it as `member`. `name` is relative to the source
    folder, with `/`: what manifests show. `shown` is what error messages show.
    """

    path: Path
    name: str
    member: str | None = None

    @property
    def shown(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}!{self.member}"

    @property
    def plain_name(self) -> str:
        """`name` without `.gz`."""
        return self.name[:-3] if self.name.lower().endswith(".gz") else self.name

    @property
    def format(self) -> str:
        """The lower-case suffix below `.gz`, without the dot: jsonl, json, tsv, txt, parquet, ..."""
        return PurePosixPath(self.plain_name).suffix.lower().removeprefix(".")

    @property
    def size(self) -> int:
        """Bytes of the file as it is stored; for an archive member, of the member."""
        if self.member is None:
            return self.path.stat().st_size
        return _opened_archive(self.path).getinfo(self.member).file_size

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The decompressed bytes. Raises SourceError for a file that is missing, damaged or a folder."""
        try:
            with ExitStack() as stack:
                raw = self._open_stored(stack)
                if self.name.lower().endswith(".gz"):
                    raw = cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=raw)))
                yield io.BufferedReader(cast(io.RawIOBase, raw), _BLOCK)
        except IsADirectoryError:
            raise _folder_fault(self.path) from None
        except gzip.BadGzipFile:
            raise SourceError(
                "not a gzip file", path=self.shown, fix="take the .gz off its name, or compress it with gzip"
            ) from None
        except EOFError:
            raise SourceError(
                "the compressed data end too early", path=self.shown, fix="copy or download the file again"
            ) from None
        except (zlib.error, zipfile.BadZipFile):
            raise SourceError(
                "the compressed data are damaged", path=self.shown, fix="copy or download the file again"
            ) from None
        except (RuntimeError, NotImplementedError):
            # What zipfile raises for encrypted members and for compression methods that it does not know.
            raise SourceError(
                "the archive member is encrypted or compressed in an unknown way",
                path=self.shown,
                fix="unpack the archive and give the folder",
            ) from None
        except OSError as error:
            raise _unreadable(self.shown, error) from None

    def _open_stored(self, stack: ExitStack) -> IO[bytes]:
        if self.member is None:
            return stack.enter_context(self.path.open("rb"))
        return stack.enter_context(_opened_archive(self.path).open(self.member))

    def describe(self, rows: int) -> SourceFile:
        """Name, sha256 and size for the manifest.

        They cover the file as it is stored (`.gz` compressed); for an archive member, the member.
        """
        if self.member is None:
            return SourceFile(self.name, sha256_file(self.path), self.path.stat().st_size, rows)
        digest, size = hashlib.sha256(), 0
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as handle:
            while block := handle.read(_BLOCK):
                digest.update(block)
                size += len(block)
        return SourceFile(self.name, f"sha256:{digest.hexdigest()}", size, rows)


@dataclass(frozen=True)
class SourceFolder:
    """All files that a reader may look at, sorted by depth and name.

    `root` is a folder, one data file or one zip archive. Junk of operating systems is left out, hidden
    files too; folders are searched `levels` deep, links to folders not at all; archives in the folder count
    as folders. Raises SourceError for a root that does not exist, a folder named like a data file, and an
    unsafe archive.
    """

    root: Path
    levels: int = _LEVELS

    @cached_property
    def files(self) -> tuple[InputFile, ...]:
        try:
            found = list(_walk(self.root, self.levels))
        except OSError as error:
            raise _unreadable(str(self.root), error) from None
        return tuple(sorted(found, key=lambda file: (file.name.count("/"), file.name)))

    @cached_property
    def unsearched(self) -> tuple[Path, ...]:
        """Folders that hold something and are not searched: links, and those that lie too deep."""
        try:
            return tuple(_unsearched(self.root, self.levels)) if self.root.is_dir() else ()
        except OSError as error:
            raise _unreadable(str(self.root), error) from None

    def find(self, name: str) -> InputFile | None:
        """The file called `name` or `name.gz` that lies least deep; None if there is none.

        Raises SourceError if there are two at that depth: nobody can know which one is meant.
        """
        matches = [file for file in self.files if PurePosixPath(file.plain_name).name == name]
        nearest = [file for file in matches if file.name.count("/") == matches[0].name.count("/")]
        if len(nearest) > 1:
            names = ", ".join(file.name for file in nearest)
            raise SourceError(f"more than one {name}: {names}", path=self.root, fix="keep one of them")
        return nearest[0] if nearest else None


def _walk(root: Path, levels: int) -> Iterator[InputFile]:
    if not root.exists():
        raise SourceError("no such file or folder", path=root, fix="check the path of the source")
    if root.is_dir():
        yield from _walk_folder(root, root, levels)
    elif root.suffix.lower() == ".zip":
        yield from _archive_members(root, "")
    else:
        yield InputFile(root, root.name)


def _walk_folder(folder: Path, root: Path, levels: int) -> Iterator[InputFile]:
    for path in _entries(folder):
        name = path.relative_to(root).as_posix()
        if path.is_dir():
            if path.suffix.lower() in (*DATA_SUFFIXES, *_CONTAINER_SUFFIXES):
                raise _folder_fault(path)
            if _is_searched(path, levels):
                yield from _walk_folder(path, root, levels - 1)
        elif path.suffix.lower() == ".zip":
            yield from _archive_members(path, f"{name}/")
        else:
            yield InputFile(path, name)


def _unsearched(folder: Path, levels: int) -> Iterator[Path]:
    for path in _entries(folder):
        if not path.is_dir():
            continue
        if _is_searched(path, levels):
            yield from _unsearched(path, levels - 1)
        elif any(_entries(path)):
            yield path


def _entries(folder: Path) -> list[Path]:
    """What a folder holds but junk and hidden files, sorted."""
    found = sorted(folder.iterdir())
    return [path for path in found if path.name not in _JUNK_NAMES and not path.name.startswith(".")]


def _is_searched(folder: Path, levels: int) -> bool:
    """Whether a folder is gone into from one with so many levels left, itself included."""
    # A link to a folder may lead in a circle; links to files are how the Hub's cache is made.
    return levels > 1 and not folder.is_symlink()


def _archive_members(path: Path, prefix: str) -> Iterator[InputFile]:
    """Members of a zip archive without junk. Raises SourceError if any other member is unsafe."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except zipfile.BadZipFile:
        raise SourceError(
            "not a zip archive, or cut short", path=path, fix="copy or download it again"
        ) from None
    wanted = [entry for entry in entries if not _is_junk(entry.orig_filename)]
    for entry in wanted:
        _refuse_unsafe(path, entry)
    _refuse_repeated(path, [entry.filename for entry in wanted])
    for entry in wanted:
        if not entry.is_dir():
            yield InputFile(path, prefix + entry.filename, entry.filename)


def _opened_archive(path: Path) -> zipfile.ZipFile:
    """The archive, opened once for all members that are read in a row: its directory may be long.

    A process that was forked off opens it anew, as both would move one place in the file.
    """
    state = path.stat()
    return _archive(path, state.st_mtime_ns, state.st_size, os.getpid())


@lru_cache(4)
def _archive(path: Path, _modified: int, _size: int, _process: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _is_junk(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    # A `._x` file holds macOS attributes of `x`. Junk with `..` in its path is no junk but an attack.
    return ".." not in parts and any(part in _JUNK_NAMES or part.startswith("._") for part in parts)


def _refuse_unsafe(path: Path, entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    if stat.S_ISLNK(entry.external_attr >> 16):
        reason = "the archive holds a symbolic link"
    elif name.startswith(("/", "\\")) or name[1:2] == ":":
        reason = "the archive holds an absolute path"
    elif ".." in name.replace("\\", "/").split("/"):
        reason = "the archive holds a path that leads out of it"
    elif "\\" in name or "\0" in name:
        reason = "the archive holds a path with a backslash or a NUL"
    else:
        return
    raise SourceError(
        reason, path=path, value=name, fix="do not trust this archive; get it from its publisher"
    )


def _refuse_repeated(path: Path, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SourceError("the archive holds a name twice", path=path, value=name, fix="pack it again")
        seen.add(name)


def _folder_fault(path: Path) -> SourceError:
    return SourceError("a folder stands where a file is expected", path=path, fix="replace it by the file")


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(
        f"cannot be read ({error.strerror or type(error).__name__})",
        path=path,
        fix="check the path and its permissions",
    )
