"""Bringing planned files to the Hub: their contents first, in batches that resume, then exactly one commit.

The Hub client leaves a file's content out of a commit if it was sent before in the same process. What an
interrupted run sent is known in two ways: the large-file endpoint says what it has, and where the client
sends by xet, which never asks there, a journal in the user's cache keeps the hashes of finished batches.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete
from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from ...cache import cache_folder
from ...errors import PrerequisiteError, PublishError, ReleaseError
from ...hashing import sha256_text
from ...progress import Stage, no_progress
from .client import HeadMoved, HubClient, HubUnavailable, NotOnHub, without_token
from .plan import FilePlan, LocalFile
from .remote import DATASET

# The Hub advises 50 to 100 files a commit made by hand, and its requests end after 60 seconds: a batch is
# what may have to be sent again after an interruption. The commit itself then only names the contents.
BATCH_FILES = 100
BATCH_BYTES = 1 << 30
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Message:
    """What a commit says: a title of one line, and the changes."""

    title: str
    text: str = ""


class UnclearCommit(HubUnavailable):
    """Whether the commit was made is not known: read the head to find out."""


class SentFiles:
    """The sha256 of large files whose contents a repository has, though no commit may name them yet."""

    def __init__(self, endpoint: str, repo: str) -> None:
        name = sha256_text(f"{endpoint}\n{repo}").removeprefix("sha256:")[:16]
        self._path = cache_folder() / "publish" / f"{name}.txt"
        try:
            text = self._path.read_bytes().decode("ascii", "replace")
        except OSError:
            text = ""
        # A kill may have cut the last line short.
        self.known = {line for line in text.splitlines() if _SHA256.fullmatch(line)}

    def add(self, hashes: Collection[str]) -> None:
        """Note contents that the Hub has taken. A disk that refuses only costs sending them again."""
        new = sorted(set(hashes) - self.known)
        self.known.update(new)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8", newline="\n") as handle:
                handle.writelines(f"{line}\n" for line in ["", *new])
                handle.flush()
                os.fsync(handle.fileno())
        except OSError:
            pass

    def forget(self) -> None:
        """For a commit that is made, or one that was refused, perhaps because contents are gone.

        A journal that cannot be removed only costs a refused commit, should the contents go.
        """
        self.known.clear()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def commit(
    client: HubClient,
    repo: str,
    plan: FilePlan,
    files: Mapping[str, LocalFile],
    *,
    parent: str,
    message: Message,
    stored: Collection[str] = (),
    pr: bool = False,
    progress: Stage = no_progress,
) -> CommitInfo:
    """Make the one commit of a plan on top of `parent`; with `pr` in a pull request of its own.

    `stored` are the sha256 of large files that the repository has already.

    Raises HeadMoved if another commit came first, UnclearCommit, and what `HubClient.call` raises where no
    commit was made.
    """
    sent = SentFiles(client.api.endpoint, repo)
    additions = [_addition(path, files[path]) for path in plan.written]
    known = {*stored, *(sent.known if _sends_by_xet() else ())}
    for addition in additions:
        if addition.upload_info.sha256.hex() in known:
            # As the client itself marks what it has sent: these two are what it looks at.
            addition._upload_mode = "lfs"
            addition._is_uploaded = True
    with _no_bars(), progress(f"sending to {repo}", len(additions), "files") as report:
        for batch in _batches(additions):
            client.call(f"{repo}: sending files", partial(_send, client, repo, batch, pr))
            sent.add([a.upload_info.sha256.hex() for a in batch if a._upload_mode == "lfs"])
            report(len(batch))
    deletions = [CommitOperationDelete(path, is_folder=False) for path in plan.removed]

    def make() -> CommitInfo:
        with _answers_that_are_known():
            return client.api.create_commit(
                repo,
                [*additions, *deletions],
                commit_message=message.title,
                commit_description=message.text,
                repo_type=DATASET,
                parent_commit=parent,
                create_pr=pr,
            )

    try:
        made = client.call(f"{repo}: commit", make, retry_server_errors=False)
    except HubUnavailable as error:
        raise UnclearCommit(str(error)) from None
    except HeadMoved:
        raise
    except (PublishError, NotOnHub):
        sent.forget()
        raise
    sent.forget()
    return made


def _addition(path: str, file: LocalFile) -> CommitOperationAdd:
    try:
        addition = CommitOperationAdd(path, file.source)
    except (OSError, ValueError):
        raise ReleaseError(f"{file.source} cannot be read any more; publish again") from None
    # Known from the plan, so that large files are not read once more.
    addition.upload_info.sha256 = bytes.fromhex(file.sha256)
    return addition


def _batches(additions: Sequence[CommitOperationAdd]) -> Iterator[list[CommitOperationAdd]]:
    """Runs of files whose contents may have to be sent, each of at most BATCH_FILES and about BATCH_BYTES."""
    batch: list[CommitOperationAdd] = []
    size = 0
    for addition in additions:
        if batch and (len(batch) == BATCH_FILES or size + addition.upload_info.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(addition)
        size += addition.upload_info.size
    if batch:
        yield batch


def _send(client: HubClient, repo: str, batch: Sequence[CommitOperationAdd], pr: bool) -> None:
    with _answers_that_are_known():
        client.api.preupload_lfs_files(repo, batch, repo_type=DATASET, create_pr=pr, free_memory=False)


@contextmanager
def _answers_that_are_known() -> Iterator[None]:
    """Turn what the client and its parts raise besides answers of the Hub into what `HubClient` knows."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise ConnectionError("an answer that is cut short") from error
    except RuntimeError as error:
        if isinstance(error.__cause__, Exception):
            raise error.__cause__ from None
        raise ConnectionError(str(error)) from error
    except PermissionError as error:
        raise PrerequisiteError(
            f"large files are refused ({without_token(str(error))}); log in with a token that may write",
            "hf auth login",
        ) from None
    except ValueError as error:
        raise PublishError(without_token(str(error))) from None


@contextmanager
def _no_bars() -> Iterator[None]:
    """One bar for all says more than the client's, one for each file."""
    shown = not are_progress_bars_disabled()
    if shown:
        disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            enable_progress_bars()


def _sends_by_xet() -> bool:
    from huggingface_hub.utils._runtime import is_xet_available

    return bool(is_xet_available())
