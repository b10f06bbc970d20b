"""Tags of versions: set once, never moved, renamed where a version is taken back."""

from __future__ import annotations

from contextlib import suppress

from ...cards import seal_differences
from ...errors import PublishError
from ..versions import YANKED
from ._sides import RemoteSide
from .client import AlreadyOnHub, HubClient, NotOnHub
from .remote import DATASET, RemoteState, read_state


def has_tag(state: RemoteState, version: str) -> bool:
    """Whether a version has its tag, or the one of a version that was taken back."""
    return version in state.tags or version + YANKED in state.tags


def set_tag(client: HubClient, repo: str, tag: str, commit_id: str) -> None:
    """Tag a commit; nothing happens if the tag stands there. Raises PublishError if it stands elsewhere."""
    try:
        client.call(
            f"{repo}: tag {tag}",
            lambda: client.api.create_tag(repo, tag=tag, revision=commit_id, repo_type=DATASET),
        )
    except AlreadyOnHub:
        state = read_state(client, repo, commit_id)
        if state is None or state.tags.get(tag) != commit_id:
            raise PublishError(
                f"{repo} has the new commit {commit_id[:12]}, but its tag {tag} was set elsewhere meanwhile; "
                "publish again with a greater --version"
            ) from None


def rename_tag(client: HubClient, repo: str, old: str, new: str, commit_id: str) -> None:
    """Set the new tag first: there is no moment at which none stands at the commit."""
    set_tag(client, repo, new, commit_id)
    # It may have been removed by a request whose answer was lost.
    with suppress(NotOnHub):
        client.call(f"{repo}: tag {old}", lambda: client.api.delete_tag(repo, tag=old, repo_type=DATASET))


def tag_unfinished(client: HubClient, head: RemoteSide) -> None:
    """Tag the version of the head, if its publication ended before that and nobody changed it since."""
    version = head.version
    if head.release is None or version is None or has_tag(head.state, version):
        return
    if not seal_differences(head.card, head.release.manifest):
        set_tag(client, head.state.repo, version, head.state.head)
