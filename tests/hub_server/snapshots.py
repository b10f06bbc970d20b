"""A data set seen and changed behind the server's back: what tests assert and set up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pygit2

from .accounts import Account
from .contents import refs, title
from .hub import Hub
from .objects import parse_pointer
from .repositories import Repository
from .trees import TreeFile, read_tree


@dataclass(frozen=True)
class CommitSummary:
    """A commit: its id, the first line and the rest of its message, its author and its parents' ids."""

    id: str
    title: str
    description: str
    author: str
    parents: tuple[str, ...]


class RepositoryView:
    """The data set `name`, without requests, rights or checks."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._name = name
        # Sees private repositories; no client can sign in as it.
        self._owner = Account("owner", (name.split("/")[0],))

    def exists(self) -> bool:
        """Whether the data set exists."""
        return self._name in [one.name for one in self._hub.repositories.all("datasets", self._owner)]

    def head(self, revision: str = "main") -> str:
        """The commit id of a branch, tag or ref."""
        return str(self._open().resolve(revision).id)

    def tags(self) -> dict[str, str]:
        """The commit id of every tag, by name."""
        return self._refs("tags")

    def branches(self) -> dict[str, str]:
        """The commit id of every branch, by name."""
        return self._refs("branches")

    def pull_requests(self) -> dict[str, str]:
        """The commit id of every pull request, by number."""
        return self._refs("pullRequests")

    def commits(self, revision: str = "main") -> list[CommitSummary]:
        """The history of a revision, newest first."""
        repository = self._open()
        return [
            CommitSummary(
                str(one.id),
                title(one),
                one.message.partition("\n\n")[2],
                one.author.name,
                tuple(str(parent) for parent in one.parent_ids),
            )
            for one in repository.history(repository.resolve(revision))
        ]

    def files(self, revision: str = "main") -> dict[str, bytes]:
        """The content of every file by path, large files included."""
        repository = self._open()
        found = {}
        for path, file in read_tree(repository.resolve(revision).tree).items():
            content = _content(repository, file)
            pointer = parse_pointer(content)
            found[path] = self._hub.objects.path(pointer.oid).read_bytes() if pointer else content
        return found

    def pointers(self, revision: str = "main") -> dict[str, str]:
        """The sha256 of every file that is stored as a large file, by path."""
        repository = self._open()
        files = read_tree(repository.resolve(revision).tree)
        pointers = {path: parse_pointer(_content(repository, file)) for path, file in files.items()}
        return {path: pointer.oid for path, pointer in pointers.items() if pointer}

    def plant(self, files: Mapping[str, bytes], message: str = "planted", remove: Iterable[str] = ()) -> str:
        """Commit to main, as ordinary git files, whatever the names and contents; the commit's id.

        The parts of a name between slashes may be `..` or anything but empty: as a hostile repository has it.
        """
        repository = self._open()
        with self._hub.lock:
            head = repository.resolve("main")
            tree = read_tree(head.tree)
            for path in remove:
                del tree[path]
            blobs = {content: repository.git.create_blob(content) for content in set(files.values())}
            tree.update({path: TreeFile(0o100644, blobs[content]) for path, content in files.items()})
            return str(repository.commit_files("refs/heads/main", tree, message, [head.id]))

    def tag(self, name: str, revision: str = "main") -> None:
        """Set a tag, moving it where it exists."""
        repository = self._open()
        commit = repository.resolve(revision)
        repository.git.references.create(f"refs/tags/{name}", commit.id, force=True)

    def _open(self) -> Repository:
        return self._hub.repositories.open("datasets", self._name, self._owner)

    def _refs(self, kind: str) -> dict[str, str]:
        return {one["name"]: one["targetCommit"] for one in refs(self._open(), pull_requests=True)[kind]}


def _content(repository: Repository, file: TreeFile) -> bytes:
    return repository.git[file.blob].peel(pygit2.Blob).data
