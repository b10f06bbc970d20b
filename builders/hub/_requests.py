"""Pull requests: one that holds what is to be proposed already is not made again."""

from __future__ import annotations

from ._next_version import Planned
from .client import HubClient
from .plan import plan_files
from .remote import DATASET, read_state

_READ = 20
"""How many of the newest pull requests are looked at."""

_WAITING = ("open", "draft")


def open_request(client: HubClient, planned: Planned) -> tuple[int, str] | None:
    """Number and commit of an open pull request with exactly the planned files; None if there is none."""
    repo, api = planned.plan.repo, client.api
    refs = client.call(repo, lambda: api.list_repo_refs(repo, repo_type=DATASET, include_pull_requests=True))
    commits = {int(ref.ref.rpartition("/")[2]): ref.target_commit for ref in refs.pull_requests or ()}
    for number in sorted(commits, reverse=True)[:_READ]:
        if _is_open(client, repo, number) and _holds(client, planned, commits[number]):
            return number, commits[number]
    return None


def _is_open(client: HubClient, repo: str, number: int) -> bool:
    details = client.call(repo, lambda: client.api.get_discussion_details(repo, number, repo_type=DATASET))
    return str(details.status) in _WAITING


def _holds(client: HubClient, planned: Planned, commit_id: str) -> bool:
    state = read_state(client, planned.plan.repo, commit_id)
    if state is None:
        return False
    left = [path for path in planned.plan.files.removed if path in state.files]
    return not plan_files(planned.files, state.files, left)
