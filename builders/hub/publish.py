"""Publishing: a release folder becomes a version of a Hub data set, in one commit, tagged and proven.

Each round reads the repository, merges it with the folder, and commits on top of what it read. Another
commit in between, or an answer that never came, leads to another round, which finds out what stands there:
so a run that was killed at any point is finished by running it again.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from huggingface_hub import CommitInfo

from ...cards.yaml_header import unnamed_config
from ...errors import PublishError, UsageError
from ...progress import Stage, no_progress
from ...release import ReleaseFolder
from ..versions import YANKED, Version
from ._candidate import compose
from ._checks import check_local, one_line
from ._local_update import adopt, repair
from ._next_version import Planned, plan_version
from ._requests import open_request
from ._sides import HashedFiles, LocalSide, RemoteSide, find_base, read_side
from ._tags import has_tag, rename_tag, set_tag, tag_unfinished
from .client import HeadMoved, HubClient, HubUnavailable
from .commit import Message, UnclearCommit, commit
from .location import hub_repo
from .plan import PublishPlan
from .proof import prove
from .remote import DATASET, HubRelease, RemoteState

ROUNDS = 8
"""How often a run begins anew because others committed meanwhile."""
UNCLEAR_ANSWERS = 3
"""After how many answers that leave open whether a commit was made a run gives up."""
_NO_COMMIT = "0" * 40


@dataclass(frozen=True)
class PublishReport:
    """What `publish` did, or with `dry_run` would do.

    `commit` is the commit of the version, None if none was made. `verified` says whether what stands on the
    Hub was proven to be what was sent; None where nothing was published. `differences` are what the proof
    found, a line each. `config` is the default config.
    """

    repo: str
    version: str
    commit: str | None
    url: str
    plan: PublishPlan
    notes: tuple[str, ...] = ()
    verified: bool | None = None
    differences: tuple[str, ...] = ()
    pull_request: str | None = None
    config: str | None = None

    def __str__(self) -> str:
        lines = [str(self.plan)]
        if self.plan.creates:
            lines.append(f"the repository {'would be' if self.commit is None else 'was'} created")
        lines += [f"note: {note}" for note in self.notes]
        if self.differences:
            lines += [f"not as sent: {difference}" for difference in self.differences]
            lines.append(
                f"version {self.version} stands at {self.url}, but is not what was sent: try `benchwright "
                f"verify {self.repo}@{self.version}`; if it stays so, take that version back"
            )
        elif self.pull_request:
            lines.append(
                f"proposed: {self.pull_request}; once it is merged, run the same command without --pr: it "
                f"sets the tag {self.version} and verifies"
            )
        elif self.verified is None:
            lines.append("nothing was changed (dry run)")
        else:
            done = "published and verified" if self.plan.files else f"already published as {self.version}"
            call = f'load_dataset("{self.repo}", "{self.config}", revision="{self.version}")'
            lines += [f"{done}: {self.url}", call]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "repo": self.repo,
            "version": self.version,
            "commit": self.commit,
            "url": self.url,
            "pull_request": self.pull_request,
            "plan": self.plan.to_json(),
            "notes": list(self.notes),
            "verified": self.verified,
            "differences": list(self.differences),
            "config": self.config,
        }


def publish(
    release: str | Path | ReleaseFolder,
    *,
    repo: str,
    version: str | None = None,
    create: bool = False,
    private: bool = False,
    pr: bool = False,
    message: str | None = None,
    dry_run: bool = False,
    load: bool = True,
    progress: Stage = no_progress,
) -> PublishReport:
    """Publish a release folder as a version of the Hub data set `repo`: one commit, a tag, and proof.

    What the repository holds besides is kept: configs of others, hand-written sections of its card, and
    configs and results that were added there since the version that the folder was made from. `version` may
    be any that is large enough for what changed (None: the least). `create` makes a repository that does not
    exist, `private` a private one. `pr` proposes the commit in a pull request. `message` stands in the
    changelog. `dry_run` plans without changing anything. Without `load`, the version is verified by hashes
    but not loaded with `datasets`. In the end the folder holds what stands on the Hub.

    Running it again finishes a run that was interrupted, and does nothing if all is done. Raises ReleaseError
    or PublishError for a release that is not whole or must not be published, for changes on both sides, for
    a version that is too small; UsageError for options that do not fit; PrerequisiteError without a login;
    HubUnavailable if the Hub does not answer. What the proof finds is in the report.
    """
    repo = hub_repo(repo)
    asked = None if version is None else Version.parse(version)
    if private and not create:
        raise UsageError("private says how a repository is made; use it together with create")
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    if isinstance(folder, HubRelease):
        raise UsageError(f"{folder.place} is on the Hub; publish a folder")
    if repair(folder.path):
        folder = ReleaseFolder(folder.path)
    check_local(folder)
    client = HubClient()
    run = _Run(client, folder, repo, asked, pr, one_line(message), load, progress)
    with tempfile.TemporaryDirectory(prefix="benchwright-publish-") as work:
        return run.all_rounds(Path(work), create=create, private=private, dry_run=dry_run)


@dataclass(frozen=True)
class _Run:
    """One call of `publish`."""

    client: HubClient
    folder: ReleaseFolder
    repo: str
    asked: Version | None
    pr: bool
    message: str | None
    load: bool
    progress: Stage

    @property
    def url(self) -> str:
        return f"{self.client.api.endpoint}/datasets/{self.repo}"

    def all_rounds(self, work: Path, *, create: bool, private: bool, dry_run: bool) -> PublishReport:
        """Rounds until one succeeds. Raises PublishError if others kept committing."""
        hashes = HashedFiles()
        first = local = LocalSide.of(self.folder, hashes)
        head, creates = self._head(create, private, dry_run)
        base = find_base(self.client, self.folder, head)
        failures = 0
        for number in range(ROUNDS):
            place = work / str(number) / self.repo.rpartition("/")[2]
            candidate = compose(place, self.repo, base, head, local)
            planned = plan_version(candidate, self.asked, self.message, hashes)
            planned = replace(planned, plan=replace(planned.plan, creates=creates))
            if dry_run:
                return self._report(planned)
            try:
                return self._carry_out(planned, first)
            except HeadMoved:
                pass
            except UnclearCommit:
                # It may have been made all the same: the next round sees what stands there.
                if failures == UNCLEAR_ANSWERS:
                    raise
                self.client.wait(2.0**failures)
                failures += 1
            base, local, head = head, candidate.as_local(hashes), self._read()
        raise PublishError(f"{self.repo}: others committed {ROUNDS} times meanwhile; publish again later")

    def _head(self, create: bool, private: bool, dry_run: bool) -> tuple[RemoteSide, bool]:
        """The repository as it stands, made if need be; whether it was, or would be, made."""
        head = read_side(self.client, self.repo)
        if head is not None:
            if private:
                self._require_private()
            return head, False
        if not create:
            raise PublishError(
                f"there is no data set {self.repo} on the Hub, or you may not see it; make it with --create"
            )
        if dry_run:
            return RemoteSide(RemoteState(self.repo, _NO_COMMIT, {}, {}), None, ""), True
        api = self.client.api
        self.client.call(
            f"creating {self.repo}",
            lambda: api.create_repo(self.repo, repo_type=DATASET, private=private, exist_ok=True),
        )
        if private:
            # Another may have made it meanwhile.
            self._require_private()
        return self._read(), True

    def _read(self) -> RemoteSide:
        head = read_side(self.client, self.repo)
        if head is None:
            raise PublishError(f"{self.repo} is gone from the Hub; publish it anew with --create")
        return head

    def _require_private(self) -> None:
        """Nothing that is meant to be private goes to a repository that everybody may read."""
        info = self.client.call(self.repo, lambda: self.client.api.dataset_info(self.repo))
        if not info.private:
            raise PublishError(
                f"{self.repo} exists and is public; leave out --private, or choose another --repo"
            )

    def _carry_out(self, planned: Planned, first: LocalSide) -> PublishReport:
        """Commit, tag, prove, and bring the folder up to date. Raises HeadMoved, UnclearCommit."""
        head, version = planned.candidate.head.state, planned.plan.version
        if planned.plan.files and self.pr:
            return self._propose(planned)
        commit_id = head.tags.get(version, head.head)
        if planned.plan.files:
            tag_unfinished(self.client, planned.candidate.head)
            commit_id = self._commit(planned).oid
        if planned.plan.files or not has_tag(head, version):
            set_tag(self.client, self.repo, version, commit_id)
        for old, new in planned.plan.renamed_tags.items():
            rename_tag(self.client, self.repo, old, new, head.tags[old])
        found = self._prove(planned, version + YANKED if version + YANKED in head.tags else version)
        notes: tuple[str, ...] = ()
        if not found and not adopt(planned.release, first):
            notes = (f"{self.folder.path} was changed meanwhile and left as it is; publish it again",)
        return self._report(planned, commit_id, found, notes)

    def _commit(self, planned: Planned, pr: bool = False) -> CommitInfo:
        entry = planned.release.publication.changelog[0]
        said = [entry.message, ""] if entry.message else []
        text = "\n".join([*said, *(f"- {line}" for line in entry.changes)])
        remote = planned.candidate.head.state
        return commit(
            self.client,
            self.repo,
            planned.plan.files,
            planned.files,
            parent=remote.head,
            message=Message(f"Publish {planned.plan.version}", text),
            stored={file.sha256 for file in remote.files.values() if file.sha256},
            pr=pr,
            progress=self.progress,
        )

    def _propose(self, planned: Planned) -> PublishReport:
        """The pull request that holds the plan: one that an interrupted run made, or a new one."""
        found = open_request(self.client, planned)
        if found is None:
            made = self._commit(planned, pr=True)
            commit_id, url = made.oid, str(made.pr_url)
        else:
            commit_id, url = found[1], f"{self.url}/discussions/{found[0]}"
        return self._report(planned, commit_id, self._prove(planned, commit_id), pull_request=url)

    def _prove(self, planned: Planned, revision: str) -> tuple[str, ...]:
        try:
            found = prove(
                self.client,
                self.repo,
                revision,
                planned.release,
                planned.files,
                load=self.load,
                progress=self.progress,
            )
        except HubUnavailable as error:
            raise HubUnavailable(
                f"{self.repo}@{revision} stands on the Hub, but could not be verified ({error}); run the "
                "same command again"
            ) from None
        return tuple(found)

    def _report(
        self,
        planned: Planned,
        commit_id: str | None = None,
        differences: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        pull_request: str | None = None,
    ) -> PublishReport:
        tagged = commit_id is not None and pull_request is None
        return PublishReport(
            repo=self.repo,
            version=planned.plan.version,
            commit=commit_id,
            url=f"{self.url}/tree/{planned.plan.version}" if tagged else self.url,
            plan=planned.plan,
            notes=(*planned.notes, *notes),
            verified=None if commit_id is None else not differences,
            differences=differences,
            pull_request=pull_request,
            config=unnamed_config(planned.release),
        )
