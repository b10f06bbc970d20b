"""What became of a release on the Hub: its version, what changed between versions, and its errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..publication import ChangelogEntry, Publication, Withdrawal
from ..wording import plural
from .markdown import Markdown, codes, compose, folded, join, one_line, sentence, shorten, table
from .numbers import count

SHOWN_VERSIONS = 10
SHOWN_CHANGES = 50
SHOWN_UIDS = 20
TEXT_LIMIT = 1_000

BUMPS = ("major", "minor", "patch")
"""Kinds of versions that say something to readers; the first one is none of them."""


def version_line(published: Publication, as_published: bool = True) -> Markdown | None:
    """Which version of which Hub dataset this is or, if it is not as published, was made from.

    It says where its history stands. None if no version was published.
    """
    if published.repo is None or published.version is None:
        return None
    history = [
        Markdown(f"[{title}](#{title})")
        for title, there in (("changelog", published.changelog), ("errata", has_errata(published)))
        if there
    ]
    more = compose(" ({history})", history=join(history)) if history else Markdown("")
    version, repo = published.version, published.repo
    text = "**Version {version}** of {repo:code}{more}."
    if not as_published:
        text = "Made from **version {version}** of {repo:code}{more}, with changes that are not published."
    line = compose(text, version=version, repo=repo, more=more)
    if version in published.yanked:
        reason = _stopped(published.yanked[version])
        line = compose("{line} **This version was withdrawn**: {reason}", line=line, reason=reason)
    return line


def changelog(published: Publication) -> list[Markdown]:
    """A block per version, newest first; those after the first SHOWN_VERSIONS are folded into one."""
    shown, earlier = published.changelog[:SHOWN_VERSIONS], published.changelog[SHOWN_VERSIONS:]
    blocks = [_version(entry) for entry in shown]
    if earlier:
        summary = plural(len(earlier), "earlier version")
        blocks.append(folded(summary, join(map(_version, earlier), "\n\n")))
    return blocks


def has_errata(published: Publication) -> bool:
    """Whether anything was taken back."""
    return bool(published.withdrawn or published.yanked)


def errata(published: Publication) -> list[Markdown]:
    """What was taken back and why: rows and configs, then versions."""
    blocks = []
    if published.withdrawn:
        header = ("withdrawn", "reason", "left out since", "rows")
        blocks.append(table(header, map(_withdrawal, published.withdrawn), left=3))
    if published.yanked:
        lines = [
            compose(
                "- Version {version:code} should not be used: {reason} Its tag is now {tag:code}.",
                version=version,
                reason=_stopped(reason),
                tag=f"{version}-yanked",
            )
            for version, reason in published.yanked.items()
        ]
        blocks.append(join(lines, "\n"))
    return blocks


def withdrawn_rows(entry: Mapping[str, Any]) -> int:
    """How many rows of a config, by its entry in the manifest, were taken back."""
    return len((entry.get("withdrawn") or {}).get("uids", ()))


def _version(entry: ChangelogEntry) -> Markdown:
    title = compose("**{version}**", version=entry.version)
    if entry.bump in BUMPS:
        title = compose("{title} ({bump})", title=title, bump=Markdown(entry.bump))
    if entry.message:
        title = compose("{title}: {message}", title=title, message=_said(entry.message))
    changes = [compose("- {change}", change=_said(change)) for change in entry.changes[:SHOWN_CHANGES]]
    if len(entry.changes) > SHOWN_CHANGES:
        more = count(len(entry.changes) - SHOWN_CHANGES)
        changes.append(compose("- and {more} more, see {manifest:code}", more=more, manifest="manifest.json"))
    return join([title, join(changes, "\n")], "\n\n") if changes else title


def _withdrawal(entry: Withdrawal) -> Sequence[object]:
    rows = count(len(entry.uids)) if entry.config is None else "all"
    return (_withdrawn(entry), _said(entry.reason), entry.version or "the next version", rows)


def _withdrawn(entry: Withdrawal) -> Markdown:
    if entry.config is not None:
        return compose("config {config:code}", config=entry.config)
    return _cut(entry.uids)


def _cut(uids: Sequence[str]) -> Markdown:
    more = len(uids) - SHOWN_UIDS
    shown = codes(uids[:SHOWN_UIDS])
    return compose("{shown} and {more} more", shown=shown, more=count(more)) if more > 0 else shown


def _stopped(reason: str) -> Markdown:
    stop = "" if reason.rstrip().endswith((".", "!", "?")) else "."
    return _said(f"{reason.rstrip()}{stop}")


def _said(text: str) -> Markdown:
    """What somebody wrote, which the manifest keeps whole."""
    return sentence(shorten(one_line(text), TEXT_LIMIT))
