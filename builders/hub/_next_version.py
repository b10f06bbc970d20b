"""Which version a candidate becomes, and what that does to the repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...errors import PublishError
from ...publication import ChangelogEntry, Publication
from ...release import ReleaseFolder, configs_hash
from ..diff import diff
from ..versions import FIRST, YANKED, Bump, Version, check_version, required, versions_among
from ._candidate import Candidate
from ._checks import check_readers, check_texts, large_parts
from ._sides import HashedFiles, RemoteSide
from .merging import listed
from .plan import LocalFile, PublishPlan, check_limits, owned_paths, plan_files
from .remote import RemoteState, release_paths

FIRST_BUMP = "first"


@dataclass(frozen=True)
class Planned:
    """A candidate as one version: what it does to the repository, and the files for it."""

    candidate: Candidate
    release: ReleaseFolder
    plan: PublishPlan
    files: Mapping[str, LocalFile]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the publisher should know."""
        head, removed = self.candidate.head.release, self.plan.files.removed
        named = set() if head is None else {*release_paths(head, removed)}
        stray = [path for path in removed if path not in named]
        gone = [f"removed, as readers would take it for rows: {listed(stray)}"] if stray else []
        return (*self.candidate.notes, *gone, *large_parts(self.files, self.plan.files.written))


@dataclass(frozen=True)
class _Change:
    """What a version says of itself: bump, why it is needed, and lines for its changelog."""

    bump: str
    reasons: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def least(self) -> Bump:
        """The bump that versions know."""
        return "major" if self.bump == FIRST_BUMP else self.bump  # type: ignore[return-value]


def plan_version(
    candidate: Candidate, asked: Version | None, message: str | None, hashes: HashedFiles
) -> Planned:
    """The candidate as the version that stands there, if it is that; else as the next one, or as `asked`.

    Its manifest, card and exports are written. Raises PublishError for a version that is too small, and for
    what the Hub does not take.
    """
    head, published = candidate.head, candidate.publication
    if head.release is None or published.version is None:
        change = _Change(FIRST_BUMP, ("nothing is published yet",), (_first_line(candidate),))
    else:
        planned = _planned(candidate, published, _Change("none", (), ()), hashes)
        if not planned.plan.files and (asked is None or str(asked) in _versions(published)):
            return _telling_older(planned, asked)
        change = _change(head.release, planned)
    version = _version(head, asked, change)
    return _planned(candidate, _published(candidate, version, change, message), change, hashes)


def _telling_older(planned: Planned, asked: Version | None) -> Planned:
    """A note where an earlier version was asked for: that one holds something else, or may."""
    version = planned.plan.version
    if asked is None or str(asked) == version:
        return planned
    note = (
        f"{asked} is an older version: what is here stands there as {version}, and {asked} is left as it is"
    )
    candidate = replace(planned.candidate, notes=(*planned.candidate.notes, note))
    return replace(planned, candidate=candidate)


def _versions(published: Publication) -> list[str | None]:
    """Versions that stand there: this one, and those that it came from."""
    return [published.version, *(entry.version for entry in published.changelog)]


def _change(head: ReleaseFolder, planned: Planned) -> _Change:
    """What a candidate changes of the release there. Other files of equal releases are a change, too."""
    found = diff(head, planned.release)
    if found.bump != "none":
        return _Change(found.bump, tuple(found.reasons), found.changelog_lines())
    files = [*planned.plan.files.written, *planned.plan.files.removed]
    line = f"files written again: {listed(files)}" if files else "nothing but the version"
    return _Change("patch", (line,), (line,))


def _first_line(candidate: Candidate) -> str:
    return f"First version: {listed(candidate.merged.manifest['configs'])}."


def _published(candidate: Candidate, version: Version, change: _Change, message: str | None) -> Publication:
    """The publication of a new version: its changelog entry, its errata, and which former names it keeps."""
    published, head = candidate.publication, candidate.head.release
    aliases, lines = dict(published.aliases), change.lines
    if change.bump == "major" and head is not None:
        for name, target in head.publication.aliases.items():
            if aliases.get(name) == target:
                del aliases[name]
                lines = (*lines, f"The former name {name} of {target} is gone.")
    entry = ChangelogEntry(str(version), change.bump, lines, message)
    return replace(
        published,
        version=str(version),
        changelog=(entry, *published.changelog),
        aliases=aliases,
        withdrawn=tuple(replace(w, version=w.version or str(version)) for w in published.withdrawn),
        configs_hash=configs_hash(candidate.merged.manifest["configs"]),
    )


def _version(head: RemoteSide, asked: Version | None, change: _Change) -> Version:
    """The version asked for, or the least one, above every one that ever had a tag there."""
    former = None if change.bump == FIRST_BUMP or head.version is None else Version.parse(head.version)
    used = max([*versions_among(head.state.tags, yanked=True), *([former] if former else [])], default=None)
    if asked is None:
        least = FIRST if former is None else required(former, change.least)
        return least if used is None or least > used else used.bump(change.least)
    check_version(asked, former, change.least, change.reasons)
    if used is not None and asked <= used:
        raise PublishError(
            f"version {asked} is too small: {head.state.repo} has had version {used}; ask for more than that"
        )
    return asked


def _planned(candidate: Candidate, published: Publication, change: _Change, hashes: HashedFiles) -> Planned:
    release = candidate.dress(published)
    files, state = candidate.files(hashes), candidate.head.state
    own = owned_paths(state.files, candidate.head.manifest, candidate.foreign, candidate.head.made())
    plan = plan_files(files, state.files, own)
    check_limits(files, state.files, plan)
    check_readers(files, state.repo)
    check_texts({path: files[path] for path in plan.written})
    return Planned(
        candidate,
        release,
        PublishPlan(
            repo=state.repo,
            former=candidate.head.version,
            version=str(published.version),
            bump=change.bump,
            reasons=change.reasons,
            files=plan,
            renamed_tags=_renamed_tags(published, state),
        ),
        files,
    )


def _renamed_tags(published: Publication, state: RemoteState) -> dict[str, str]:
    """Tags of versions that were taken back, with the names that they get."""
    return {version: version + YANKED for version in published.yanked if version in state.tags}
