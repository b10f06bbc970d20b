"""What stands on the Hub: the files of one commit, and the release in them, read without trusting it.

A repository may be anyone's. Names and sizes are checked before anything is fetched, contents against the
hashes in the list of files before anything is read; nothing that comes from there is run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import tqdm

from ...atomic import replace_folder
from ...errors import ReleaseError, show
from ...hashing import sha256_file
from ...progress import Stage, no_progress
from ...release import MANIFEST, ReleaseFolder
from .._staging import check_target, writing
from ._safety import (
    FILES,
    TOTAL_BYTES,
    check_no_script,
    check_parquet,
    check_path,
    check_portable,
    check_size,
    most_bytes,
)
from .client import HubClient, NotOnHub, no_repository

README = "README.md"
DATASET = "dataset"
_MAIN = "main"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMPILED = re.compile(r"/__pycache__/|\.pyc$")
_SINGLE_FILES = (MANIFEST, README, "eval.yaml")
_FOLDERS = ("results/", "analyses/", "figures/", "harness/")
_DOWNLOADS_AT_ONCE = 8
# A call gives up after some failures: many files have more of them.
_FILES_A_CALL = 64
_SHORT = 12
_TAGS_SHOWN = 8


@dataclass(frozen=True)
class RemoteFile:
    """One file of a commit. `blob_id` is git's sha1; `sha256` that of a file in large-file storage."""

    path: str
    size: int
    blob_id: str
    sha256: str | None = None


@dataclass(frozen=True)
class RemoteState:
    """A repository at one commit (`head`), and the commits of its tags."""

    repo: str
    head: str
    tags: Mapping[str, str]
    files: Mapping[str, RemoteFile]


def read_state(client: HubClient, repo: str, revision: str | None = None) -> RemoteState | None:
    """The data set `repo` at a tag, branch or commit (None: the newest commit); None if it does not exist.

    The revision is resolved first, and only that commit is listed. Raises NotOnHub for a revision that does
    not exist, ReleaseError for a list of files that cannot be used, and what `HubClient.call` raises.
    """
    place = repo if revision is None else f"{repo}@{revision}"
    try:
        refs = client.call(place, lambda: client.api.list_repo_refs(repo, repo_type=DATASET))
        tags = {tag.name: tag.target_commit for tag in refs.tags}
        branches = {branch.name: branch.target_commit for branch in refs.branches}
        head = _resolve(client, repo, revision, tags, branches)
        return RemoteState(repo, head, tags, _list_files(client, repo, head, place))
    except NotOnHub as error:
        if error.kind == "repository":
            return None
        raise
    except (AttributeError, KeyError, TypeError) as error:
        raise ReleaseError(f"{place}: the Hub's answer cannot be read ({error!r}); try again") from None


def _resolve(
    client: HubClient, repo: str, revision: str | None, tags: dict[str, str], branches: dict[str, str]
) -> str:
    name = _MAIN if revision is None else revision
    found = {commits[name] for commits in (tags, branches) if name in commits}
    if not found and _COMMIT.fullmatch(name):
        found = {name}
    if len(found) != 1:
        found = {_commit_of(client, repo, name, tags)}
    commit = found.pop()
    if not _COMMIT.fullmatch(commit):
        raise ReleaseError(f"{repo}@{name}: the Hub names no commit for it, got {show(commit)}")
    return commit


def _commit_of(client: HubClient, repo: str, name: str, tags: Mapping[str, str]) -> str:
    place = f"{repo}@{name}"
    try:
        info = client.call(place, lambda: client.api.dataset_info(repo, revision=name, expand=["sha"]))
    except NotOnHub as error:
        if error.kind != "revision":
            raise
        last = sorted(tags)[-_TAGS_SHOWN:]
        known = f"among its tags are {', '.join(last)}" if tags else "it has no tags"
        raise NotOnHub("revision", f"{place}: no such revision on the Hub; {known}") from None
    return info.sha or ""


def _list_files(client: HubClient, repo: str, commit: str, place: str) -> dict[str, RemoteFile]:
    def listed() -> dict[str, RemoteFile]:
        entries = client.api.list_repo_tree(repo, recursive=True, revision=commit, repo_type=DATASET)
        files: dict[str, RemoteFile] = {}
        for entry in entries:
            if isinstance(entry, RepoFile):
                file = _remote_file(entry, place)
                files[file.path] = file
            if len(files) > FILES:
                raise ReleaseError(f"{place}: it has more than {FILES:,} files, which is more than is read")
        return files

    return client.call(place, listed)


def _remote_file(entry: RepoFile, place: str) -> RemoteFile:
    path = check_path(entry.path, place)
    size, sha256 = (entry.size, None) if entry.lfs is None else (entry.lfs.size, entry.lfs.sha256)
    known = _COMMIT.fullmatch(entry.blob_id) and (sha256 is None or _SHA256.fullmatch(sha256))
    if not known or isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ReleaseError(f"{place}: the Hub's list of files has no hash or size of {show(path)}")
    return RemoteFile(path, size, entry.blob_id, sha256)


class CommitFiles:
    """Files of one commit, fetched through the Hub client's cache and checked against the commit's list."""

    def __init__(self, client: HubClient, state: RemoteState, place: str, cache: Path | None = None) -> None:
        self.client, self.state, self.place, self._cache = client, state, place, cache

    def cached(self, files: Sequence[RemoteFile], progress: Stage = no_progress) -> dict[str, Path]:
        """Path of each file -> its cached copy, below one folder with the paths of the repository.

        Several are fetched at once; waits happen here and not in the threads, so that an interrupt ends them.
        Raises ReleaseError for bytes that are not those of the list, and what `HubClient.call` raises.
        """
        done: dict[str, Path] = {}
        with progress(f"fetching {self.place}", len(files), "files") as report:

            def some(wanted: Sequence[RemoteFile]) -> None:
                with _several_at_once() as pool:
                    tasks = {pool.submit(self._fetch, file): file for file in wanted if file.path not in done}
                    for task in as_completed(tasks):
                        done[tasks[task].path] = task.result()
                        report(1)

            for first in range(0, len(files), _FILES_A_CALL):
                part = files[first : first + _FILES_A_CALL]
                self.client.call(self.place, partial(some, part))
        return done

    def _fetch(self, file: RemoteFile) -> Path:
        for force in (False, True):
            path = Path(
                hf_hub_download(
                    self.state.repo,
                    file.path,
                    repo_type=DATASET,
                    revision=self.state.head,
                    cache_dir=self._cache,
                    force_download=force,
                    tqdm_class=_NoBar,
                )
            )
            if _is(path, file):
                return path
        raise ReleaseError(
            f"{self.place}: {file.path} does not have the size and hash that the Hub lists; try again, and "
            "report it to the owner if it stays so"
        )


def release_paths(release: ReleaseFolder, names: Iterable[str]) -> list[str]:
    """Those of `names` (paths from the root) that belong to a release: what its manifest names, its card,
    results, analyses, figures and exports. Everything else in a repository is someone else's, and what
    Python leaves where a harness was run is nobody's.
    """
    named = {*_SINGLE_FILES}
    for entry in release.configs.values():
        named.update(file for split in entry["splits"].values() for file in split["files"])
        if entry["kind"] == "split":
            named.add(entry["assignment"]["file"])
    return [
        name for name in names if name in named or (name.startswith(_FOLDERS) and not _COMPILED.search(name))
    ]


class HubRelease(ReleaseFolder):
    """A release on the Hub at one commit; files are fetched into a temporary folder as they are asked for.

    The folder is removed when the process ends. Only what the accessors of `ReleaseFolder` give is fetched
    by itself: call `fetch` or `download_all` before reading files below `path`. `state` spares listing a
    commit again; `cache` is the Hub client's cache folder (None: the usual one); `max_bytes` bounds what is
    fetched in all.

    Raises NotOnHub; ReleaseError for a repository that holds no release, or one with names, sizes or a
    script that no release has; and what `HubClient.call` raises.
    """

    def __init__(
        self,
        repo: str,
        revision: str | None = None,
        *,
        client: HubClient | None = None,
        state: RemoteState | None = None,
        cache: Path | None = None,
        max_bytes: int = TOTAL_BYTES,
    ) -> None:
        self.client = client or HubClient()
        found = state or read_state(self.client, repo, revision)
        if found is None:
            raise no_repository(repo)
        self.repo, self.state, self.commit = repo, found, found.head
        self.place = f"{repo}@{revision or found.head[:_SHORT]}"
        self._commit_files = CommitFiles(self.client, found, self.place, cache)
        self._max_bytes = max_bytes
        self._fetched: set[str] = set()
        if MANIFEST not in found.files:
            raise ReleaseError(f"{self.place} is not a release: it has no {MANIFEST}")
        check_no_script(found.files, repo, self.place)
        check_portable(found.files, self.place)
        folder = tempfile.mkdtemp(prefix="benchwright-")
        # Not before: paths that were given out may outlive the release.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # Errors name this folder: its end says what it holds.
        self.path = Path(folder, f"{repo}@{(revision or found.head[:_SHORT]).replace('/', '-')}")
        self.fetch([MANIFEST])
        super().__init__(self.path)

    def __repr__(self) -> str:
        return f"HubRelease({self.place!r}, commit={self.commit!r})"

    def fetch(self, paths: Iterable[str], progress: Stage = no_progress) -> list[Path]:
        """The local copies of files of the commit, fetched and checked unless they were before.

        Raises ReleaseError for a file that the commit does not have, that is too large, or whose bytes are
        not those that the Hub lists.
        """
        names = list(dict.fromkeys(paths))
        missing = [self._file(name) for name in names if name not in self._fetched]
        if missing:
            self._fetch_missing(missing, progress)
        return [self.path / name for name in names]

    def _fetch_missing(self, missing: list[RemoteFile], progress: Stage) -> None:
        self._check_sizes(missing)
        for name, cached in self._commit_files.cached(missing, progress).items():
            if name.endswith(".parquet"):
                check_parquet(cached, name, self.place)
            _link(cached, self.path / name)
            self._fetched.add(name)

    def download_all(self, into: str | Path | None = None, progress: Stage = no_progress) -> ReleaseFolder:
        """The whole release: this one with every file that belongs to it, or a copy in the folder `into`.

        Raises ReleaseError also for a folder that is in the way.
        """
        names = release_paths(self, self.state.files)
        if into is None:
            self.fetch(names, progress)
            return self
        target = Path(into)
        check_target(target, overwrite=False)
        self.fetch(names, progress)
        staged = target.with_name(f".{target.name}.part-{os.getpid()}")
        with writing(target):
            try:
                for name in names:
                    (staged / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(self.path / name, staged / name)
                replace_folder(staged, target)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
        return ReleaseFolder(target)

    def results(self) -> Iterator[dict[str, Any]]:
        """Every stored result, ordered by path."""
        self.fetch(name for name in self.state.files if name.startswith("results/"))
        try:
            yield from super().results()
        except (ValueError, RecursionError) as error:
            raise ReleaseError(f"{self.place}: a file of results is not JSON ({error})") from None

    def files(self, config: str, split: str) -> list[Path]:
        """Parquet files of one split, in order."""
        named = self.config(config)["splits"][split]["files"]
        self.fetch(name for name in named if name in self.state.files)
        return super().files(config, split)

    def _inside(self, name: str) -> Path:
        path = super()._inside(name)
        if name in self.state.files:
            self.fetch([name])
        return path

    def _file(self, name: str) -> RemoteFile:
        if name not in self.state.files:
            raise ReleaseError(f"{self.place}: it has no file {show(name)}")
        return self.state.files[name]

    def _check_sizes(self, files: list[RemoteFile]) -> None:
        for file in files:
            if (most := most_bytes(file.path)) is not None:
                check_size(file.path, file.size, most, self.place)
        known = [self.state.files[name] for name in self._fetched]
        total = sum(file.size for file in [*known, *files])
        if total > self._max_bytes:
            raise ReleaseError(
                f"{self.place}: its files have {total:,} bytes, more than the {self._max_bytes:,} that are "
                "fetched; nothing was fetched"
            )


@contextmanager
def _several_at_once() -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(_DOWNLOADS_AT_ONCE)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _NoBar(tqdm):
    """One bar for each file would say less than one for all."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "disable": True})


def _is(path: Path, file: RemoteFile) -> bool:
    if path.stat().st_size != file.size:
        return False
    if file.sha256 is not None:
        return sha256_file(path) == f"sha256:{file.sha256}"
    return git_blob_id(path) == file.blob_id


def git_blob_id(path: Path) -> str:
    """The id that git gives a file's content: a sha1, in hexadecimal digits."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _link(cached: Path, path: Path) -> None:
    """Where a system has no links, the file is copied."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    try:
        path.symlink_to(cached.resolve())
    except OSError:
        shutil.copyfile(cached, path)
