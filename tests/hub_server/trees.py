"""Git trees as plain mappings from path to file, and back.

Trees are written as raw objects, not through libgit2's builder, so that tests can plant names that no client
would send; what comes in through the API is checked in `commits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

import pygit2
from pygit2.enums import FileMode, ObjectType

from .messages import HubError

#: The Hub's limit of files and folders in one folder.
MAX_ENTRIES = 10_000


Entry = pygit2.Tree | pygit2.Blob


class TreeFile(NamedTuple):
    """A file of a tree: its mode and the id of its content."""

    mode: int
    blob: pygit2.Oid


def walk(tree: pygit2.Tree, prefix: str = "", recursive: bool = True) -> Iterator[tuple[str, Entry]]:
    """Path and entry of everything in a tree, folders included."""
    for entry in cast("Iterable[Entry]", tree):
        path = f"{prefix}{entry.name}"
        yield path, entry
        if recursive and isinstance(entry, pygit2.Tree):
            yield from walk(entry, f"{path}/")


def find(tree: pygit2.Tree, path: str) -> Entry | None:
    """The entry at `path`, or None."""
    try:
        return cast(Entry, tree[path])
    except KeyError:
        return None


def read_tree(tree: pygit2.Tree) -> dict[str, TreeFile]:
    """All files of a tree by path."""
    return {
        path: TreeFile(int(entry.filemode), entry.id)
        for path, entry in walk(tree)
        if isinstance(entry, pygit2.Blob)
    }


def write_tree(git: pygit2.Repository, files: Mapping[str, TreeFile]) -> pygit2.Oid:
    """The id of the tree with `files`; empty folders do not exist in git.

    Raises HubError for a path that is both file and folder, and for a folder with too many entries.
    """
    here: dict[str, TreeFile] = {}
    below: dict[str, dict[str, TreeFile]] = {}
    for path, file in files.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = file
        else:
            here[name] = file
    if both := sorted(here.keys() & below.keys()):
        raise HubError(400, f"{both[0]} is both a file and a folder")
    if len(here) + len(below) > MAX_ENTRIES:
        raise HubError(400, f"A folder may have at most {MAX_ENTRIES} entries")
    for name, inside in below.items():
        here[name] = TreeFile(int(FileMode.TREE), write_tree(git, inside))
    return git.odb.write(ObjectType.TREE, b"".join(map(_raw_entry, sorted(here.items(), key=_git_order))))


def _git_order(entry: tuple[str, TreeFile]) -> bytes:
    """Git sorts folders as if their names ended in a slash."""
    name, file = entry
    return name.encode() + (b"/" if file.mode == FileMode.TREE else b"")


def _raw_entry(entry: tuple[str, TreeFile]) -> bytes:
    name, file = entry
    return f"{file.mode:o} {name}".encode() + b"\0" + file.blob.raw
