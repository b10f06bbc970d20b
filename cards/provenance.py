"""What a release was made from: source files, language models, versions; and what its audit found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..release import ReleaseFolder
from ..wording import plural
from .markdown import Markdown, code, compose, join, one_line, prose, shorten, table
from .numbers import MISSING, count
from .parts import part_of, part_words, parts

SHOWN_UIDS = 3
PVI, BM25 = "pvi", "bm25"
"""The scorer of tables of V-information."""
SEVERITIES = ("error", "warning", "known", "info")

_MAX_DEPTH = 6
_VALUE_LIMIT = 200

_MOST_FILES = 12
_MOST_TABLES = 12

_TOLD_ELSEWHERE = ("models", "v_information")

_UNSCORED = {"overlength": "too long for the model", "empty": "with nothing to score"}


@dataclass(frozen=True)
class SourceReport:
    """Where the rows came from and what became of them."""

    origin: Markdown
    fingerprint: str
    files: tuple[Mapping[str, Any], ...]
    read: int
    rows: int
    filtered: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int], ...]
    folded: bool


@dataclass(frozen=True)
class ScoreReport:
    """One score table: who scored, how many rows, and every recorded fact as (dotted name, value)."""

    name: str
    headline: Markdown
    rows: int
    scored: int
    unscored: tuple[tuple[str, int], ...]
    identity: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class InformationTables:
    """The score tables of V-information together: lines of a table, and what they have in common."""

    number: int
    lines: Markdown
    facts: tuple[tuple[str, str], ...]

    @property
    def folded(self) -> bool:
        """Whether the table is too long to stand open."""
        return self.number > _MOST_TABLES


@dataclass(frozen=True)
class FindingGroup:
    """The findings about one part, folded; or all findings of a release without parts, not folded."""

    summary: Markdown | None
    lines: tuple[FindingLine, ...]


@dataclass(frozen=True)
class FindingLine:
    """One finding of the audit."""

    severity: str
    code: str
    config: str
    splits: tuple[str, ...]
    count: int
    message: str
    uids: tuple[str, ...]
    more: int
    accepted: bool
    part: str | None = None


def source_report(release: ReleaseFolder) -> SourceReport:
    """The manifest's `source`."""
    source = release.manifest["source"]
    return SourceReport(
        origin=_origin(source),
        fingerprint=source["fingerprint"],
        files=tuple(source["files"]),
        read=source["read"],
        rows=source["rows"],
        filtered=tuple((source.get("filtered") or {}).items()),
        dropped=tuple((source.get("dropped") or {}).items()),
        # A release of parts has as many files as there are, and more.
        folded=bool(source.get("parts")) and len(source["files"]) > _MOST_FILES,
    )


def score_reports(release: ReleaseFolder) -> list[ScoreReport]:
    """The manifest's `scores`, in its order, but for tables of V-information (see `information_tables`)."""
    reports = []
    for name, entry in (release.manifest.get("scores") or {}).items():
        if entry.get("scorer") == PVI:
            continue
        provenance = entry.get("provenance") or {}
        unscored = tuple((words, entry[status]) for status, words in _UNSCORED.items() if entry.get(status))
        reports.append(
            ScoreReport(
                name=name,
                headline=scorer_sentence(entry),
                rows=entry["rows"],
                scored=entry["scored"],
                unscored=unscored,
                identity=entry["identity"],
                facts=tuple(flatten(provenance)),
            )
        )
    return reports


def information_tables(release: ReleaseFolder) -> InformationTables | None:
    """The score tables of V-information; None without one.

    Training runs and measures are left out: the manifest has them, and the measures stand under Difficulty.
    """
    entries = {n: e for n, e in (release.manifest.get("scores") or {}).items() if e.get("scorer") == PVI}
    if not entries:
        return None
    lines, facts = [], []
    for name, entry in entries.items():
        unscored = join(f"{count(entry[s])} {words}" for s, words in _UNSCORED.items() if entry.get(s))
        scored = compose("{scored} of {rows}", scored=count(entry["scored"]), rows=count(entry["rows"]))
        part = entry.get("part")
        lines.append(
            (code(name), code(part) if part else "all rows", code(entry["identity"]), scored, unscored)
        )
        told = (entry.get("provenance") or {}).items()
        kept = {kind: value for kind, value in told if kind not in _TOLD_ELSEWHERE}
        facts.append(dict(flatten(kept)))
    common = tuple(
        (fact, value)
        for fact, value in facts[0].items()
        if all(other.get(fact) == value for other in facts[1:])
    )
    header = ("score table", "of", "identity", "rows with a score", "without")
    return InformationTables(len(lines), table(header, lines, left=3), common)


def scorer_sentence(entry: Mapping[str, Any]) -> Markdown:
    """Which model scored the rows and how, in one sentence."""
    provenance = entry.get("provenance") or {}
    if entry.get("scorer") == BM25:
        return Markdown("Every row was searched in corpora, see Overlap with corpora.")
    model = find(provenance, "model")
    revision = find(provenance, "revision")
    who = compose("{name:code}", name=model) if model else Markdown("a language model")
    at = compose(" at revision {revision:code}", revision=revision) if revision else Markdown("")
    if entry.get("scorer") == "kfold":
        folds = find(provenance, "k", "folds")
        number = f"{folds} " if isinstance(folds, int) else ""
        return compose(
            "Every row was scored by a copy of {who}{at} that was fine-tuned without it, in {number}folds.",
            who=who,
            at=at,
            number=Markdown(number),
        )
    return compose("Every row was scored by {who}{at}, prompted and not fine-tuned.", who=who, at=at)


def prompt_of(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Context and continuation of the prompt template, as format strings; None if not recorded."""
    provenance = entry.get("provenance") or {}
    context, continuation = find(provenance, "context"), find(provenance, "continuation")
    if isinstance(context, str) and isinstance(continuation, str):
        return context, continuation
    return None


def find(data: Any, *names: str) -> Any:
    """The plain value of the first of `names` in nested mappings, outer levels first; None without one."""
    level = [data]
    for _ in range(_MAX_DEPTH):
        mappings = [item for item in level if isinstance(item, Mapping)]
        for name in names:
            for mapping in mappings:
                value = mapping.get(name)
                if value is not None and not isinstance(value, (Mapping, list)):
                    return value
        level = [value for mapping in mappings for value in mapping.values()]
    return None


def findings(release: ReleaseFolder) -> list[FindingLine]:
    """The audit's findings, the severest first, else in the audit's order."""
    audit = release.manifest.get("audit") or {}
    accepted = set(audit.get("accepted") or ())
    lines = [
        FindingLine(
            severity=finding["severity"],
            code=finding["code"],
            config=finding.get("config") or "",
            splits=tuple(finding.get("splits") or ()),
            count=finding["count"],
            message=finding["message"],
            uids=tuple((finding.get("uids") or ())[:SHOWN_UIDS]),
            more=max(0, finding["count"] - len((finding.get("uids") or ())[:SHOWN_UIDS])),
            accepted=finding.get("id") in accepted,
            part=finding.get("part") or part_of(release, finding.get("config")),
        )
        for finding in audit.get("findings") or ()
    ]
    return sorted(lines, key=lambda line: _severity_rank(line.severity))


def finding_groups(release: ReleaseFolder, lines: list[FindingLine]) -> list[FindingGroup]:
    """One group for each part, in the order of the release; one of all findings where there are no parts."""
    known = parts(release)
    if not known or not lines:
        return [FindingGroup(None, tuple(lines))] if lines else []
    order = dict.fromkeys([*known, *(line.part for line in lines)])
    groups = []
    for part in order:
        members = tuple(line for line in lines if line.part == part)
        if members:
            name = Markdown("all rows") if part is None else prose(part)
            summary = compose("{name}: {found}", name=name, found=audit_summary(list(members)))
            groups.append(FindingGroup(summary, members))
    return groups


def finding_codes(release: ReleaseFolder, lines: list[FindingLine]) -> Markdown | None:
    """How often each kind of finding was made in a release of parts; None in another one."""
    if not parts(release) or not lines:
        return None
    counted = []
    for severity, kind in dict.fromkeys((line.severity, line.code) for line in lines):
        members = [line for line in lines if (line.severity, line.code) == (severity, kind)]
        worst = max(members, key=lambda line: line.count)
        where = code(worst.config or worst.part or "all rows")
        # Parts without a name are the whole release.
        number = len({line.part for line in members})
        most = compose("{n} ({where})", n=count(worst.count), where=where)
        counted.append((severity, code(kind), count(len(members)), count(number), most))
    header = ("severity", "finding", "findings", part_words(release)[1], "most rows")
    return table(header, counted, left=2)


def part_licences(release: ReleaseFolder) -> Markdown | None:
    """The licence of each part; None where none is told."""
    told = [part for part in parts(release).values() if part.licence is not None]
    if not told:
        return None
    lines = [(code(part.name), part.category or MISSING, code(part.licence), part.corpora) for part in told]
    return table((part_words(release)[0], "category", "licence", "made from"), lines, left=4)


def audit_summary(lines: list[FindingLine]) -> Markdown:
    """Numbers of findings by severity: `1 warning, 2 known`."""
    parts = []
    for severity in dict.fromkeys(line.severity for line in lines):
        number = sum(line.severity == severity for line in lines)
        parts.append(
            plural(number, severity) if severity in ("error", "warning") else f"{count(number)} {severity}"
        )
    return compose("{parts}", parts=", ".join(parts))


def _severity_rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _origin(source: Mapping[str, Any]) -> Markdown:
    if source["kind"] == "hub":
        return compose(
            "the Hub dataset {location:code} at revision {revision:code}",
            location=source.get("location"),
            revision=source.get("revision"),
        )
    if source["kind"] == "sample":
        return Markdown("the small sample corpus that comes with benchwright")
    return Markdown("a local copy of the corpus")


def flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested facts as (dotted name, value on one line); what is empty is left out."""
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from flatten(item, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield from flatten({str(number): item for number, item in enumerate(value)}, prefix)
    elif value not in (None, {}, [], ""):
        yield prefix, shorten(one_line(value), _VALUE_LIMIT)
