"""Checks on a release: leaks, duplicates, label conflicts, label sets, empty components, unscored rows.

A leak is an equal *input* on two sides, never an equal output. Published benchmarks keep their published
placement, so their leaks and duplicates are `known`: listed, and publishable. In a user's own data a leak
is an error. A file of accepted findings makes only new ones stop a release.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from ..atomic import write_text
from ..errors import ReleaseError, SourceError
from ..release import SPLITS, ReleaseFolder
from ..tasks import Task

Severity = Literal["error", "warning", "known", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "known", "info")
_UIDS_SHOWN = 20


@dataclass(frozen=True)
class Finding:
    """One thing found. `config` is None where it concerns the rows whatever their placement.

    `count` is in rows; `uids` are all of them, in source order; `id` depends on every one, so that an
    accepted finding that grows is a new one.
    """

    id: str
    code: str
    severity: Severity
    config: str | None
    splits: tuple[str, ...]
    count: int
    message: str
    uids: tuple[str, ...]

    def to_json(self, uids: int | None = _UIDS_SHOWN) -> dict[str, Any]:
        """Plain data with the first `uids` uids (None: all), as the manifest keeps it."""
        return {**self.__dict__, "splits": list(self.splits), "uids": list(self.uids[:uids])}


@dataclass(frozen=True)
class AuditReport:
    """Everything found, worst first, and the findings that stop a release."""

    findings: list[Finding]
    stopping: list[Finding]


@dataclass(frozen=True)
class AuditRows:
    """What the checks need of n rows: codes that are equal where inputs or targets are equal.

    `exact`, `normalised`, `targets`: int64 arrays of shape (n,), codes dense from 0 for the first two.
    `empty`: per input column, a boolean array of rows where it holds nothing but white space.
    """

    uids: pa.Array
    exact: np.ndarray
    normalised: np.ndarray
    targets: np.ndarray
    target_names: tuple[str, ...]
    labelled: bool
    empty: dict[str, np.ndarray]

    @classmethod
    def from_table(cls, table: pa.Table, task: Task) -> AuditRows:
        """Rows of one corpus or config; `table` has uid, the task's inputs and its target."""
        inputs = table.select(list(task.inputs))
        exact = normalised = np.zeros(table.num_rows, dtype=np.int64)
        empty = {}
        for name in task.inputs:
            # Each distinct text is looked at once: premises and passages stand in several rows.
            texts, at = _distinct(inputs.column(name))
            exact = _combine(exact, at)
            normalised = _combine(normalised, _distinct(_normalise(texts))[1][at])
            blank = pc.equal(pc.utf8_trim_whitespace(texts), "").to_numpy(zero_copy_only=False)
            empty[name] = blank[at]
        targets, names = _target_codes(table, task)
        uids = table.column("uid").combine_chunks()
        return cls(uids, exact, normalised, targets, names, task.labels is not None, empty)

    def named(self, rows: np.ndarray) -> list[str]:
        """The uids of these rows, in row order."""
        return self.uids.take(pa.array(np.sort(rows))).to_pylist()


def audit_corpus(rows: AuditRows, published: bool) -> list[Finding]:
    """Findings that hold wherever the rows are placed."""
    known: Severity = "known" if published else "warning"
    findings = []
    repeated = _later_copies(_pair(rows.exact, rows.targets))
    if len(repeated):
        findings.append(
            _finding(
                "duplicate_row",
                known,
                None,
                (),
                rows,
                repeated,
                "row(s) repeat an earlier row, target included",
            )
        )
    conflicting = _conflicts(rows.exact, rows.targets)
    if len(conflicting):
        kind = "labels" if rows.labelled else "targets"
        message = f"row(s) share their input with a row that has another target ({kind} conflict)"
        findings.append(_finding("target_conflict", known, None, (), rows, conflicting, message))
    for column, blank in rows.empty.items():
        if blank.any():
            severity: Severity = "known" if published else "error"
            message = f"row(s) have nothing in {column!r}"
            findings.append(
                _finding("empty_component", severity, None, (), rows, np.flatnonzero(blank), message)
            )
    return findings


def audit_config(name: str, rows: AuditRows, side: np.ndarray, published: bool) -> list[Finding]:
    """Findings of one placement. `side`: int8 array of shape (n,), index into SPLITS or -1 for unused."""
    findings: list[Finding] = []
    for code, keys, other, leak, what in (
        ("exact", rows.exact, None, "error", "equal input"),
        (
            "normalised",
            rows.normalised,
            rows.exact,
            "warning",
            "input equal but for case, punctuation and spaces",
        ),
    ):
        present = np.zeros((int(keys.max(initial=-1)) + 1, len(SPLITS)), dtype=bool)
        placed = np.flatnonzero(side >= 0)
        present[keys[placed], side[placed]] = True
        for first, second in itertools.combinations(range(len(SPLITS)), 2):
            shared = present[:, first] & present[:, second]
            members = placed[(side[placed] == second) & shared[keys[placed]]]
            if other is not None:
                members = _without_exact(members, rows, side, first)
            if len(members):
                severity: Severity = "known" if published else leak  # type: ignore[assignment]
                pair = (SPLITS[first], SPLITS[second])
                message = f"row(s) of {pair[1]} have an {what} in {pair[0]}"
                findings.append(_finding(f"leak_{code}", severity, name, pair, rows, members, message))
        if other is None:
            findings += _duplicates_within(name, rows, side, published)
    return findings + _label_sets(name, rows, side)


def audit_release(release: ReleaseFolder, accepted: set[str] | None = None) -> list[Finding]:
    """Audit the parquet files of a release, ordered by severity.

    `accepted` holds ids of findings that are known and agreed to; they come back with severity `known`.
    """
    published = release.manifest["dataset"].get("published", True)
    findings: list[Finding] = []
    seen: dict[tuple[str, ...], tuple[AuditRows, pa.Array]] = {}
    for name in release.placed_configs:
        task = release.task(name)
        wanted = dict.fromkeys(["uid", *task.inputs, task.target, "source_index"])
        columns = [column for column in wanted if column]  # a task without labels has no target
        parts = [(split, release.table(name, split, columns)) for split in release.splits(name)]
        table = pa.concat_tables([part for _, part in parts])
        side = np.concatenate([np.full(part.num_rows, SPLITS.index(split), np.int8) for split, part in parts])
        order = np.argsort(table.column("source_index").to_numpy(), kind="stable")
        table, side = table.take(pa.array(order)), side[order]
        known = seen.get(task.inputs)
        uids = table.column("uid").combine_chunks()
        if known is None or not known[1].equals(uids):
            rows = AuditRows.from_table(table, task)
            if known is None:
                findings += audit_corpus(rows, published)
            seen[task.inputs] = (rows, uids)
        findings += audit_config(name, seen[task.inputs][0], side, published)
    findings += unscored_findings(
        (table_name, release.table("scores", table_name, ["uid", "status"]))
        for table_name in (release.splits("scores") if "scores" in release.configs else [])
    )
    return sort_findings(accept(findings, accepted or set()))


def audit(
    release: str | Path | ReleaseFolder,
    *,
    accepted: str | Path | None = None,
    write_accepted: str | Path | None = None,
) -> AuditReport:
    """Audit a release: a folder, or `ORG/NAME@REVISION` on the Hub.

    Without `accepted`, findings of severity `error` fail it. With that file, so does every finding but
    `info` that is not in it. `write_accepted` writes today's findings as such a file.
    Raises SourceError for an accepted-findings file that cannot be read, ReleaseError for a place without
    a release or a release without text.
    """
    from .hub.location import open_release

    folder = open_release(release)
    if folder.is_stripped:
        raise ReleaseError(f"{folder.path} has no text to audit; run `benchwright hydrate` on it first")
    agreed = read_accepted(Path(accepted)) if accepted is not None else None
    findings = audit_release(folder, agreed)
    if write_accepted is not None:
        write_accepted_file(Path(write_accepted), findings)
    return AuditReport(findings, [finding for finding in findings if _stops(finding, agreed)])


def _stops(finding: Finding, agreed: set[str] | None) -> bool:
    if agreed is None:
        return finding.severity == "error"
    return finding.severity != "info" and finding.id not in agreed


def report(findings: Sequence[Finding], accepted: set[str]) -> dict[str, Any]:
    """The findings as the manifest keeps them; those with an accepted id are `known`."""
    found = sort_findings(accept(findings, accepted))
    return {
        "accepted": sorted(finding.id for finding in found if finding.id in accepted),
        "findings": [finding.to_json() for finding in found],
        "counts": summarise(found),
    }


def unscored_findings(tables: Iterable[tuple[str, pa.Table]]) -> list[Finding]:
    """Rows that a scorer left without a score, by score table and status; for information."""
    findings = []
    for name, table in tables:
        status = table.column("status")
        for value in sorted(set(pc.unique(status).to_pylist()) - {"ok"}):
            uids = table.filter(pc.equal(status, value)).column("uid").to_pylist()
            message = f"row(s) have no score in {name}: {value}; they are placed in train"
            findings.append(_make("unscored", "info", None, (name,), uids, message))
    return findings


def accept(findings: Sequence[Finding], accepted: set[str]) -> list[Finding]:
    """The same findings, those with an accepted id as `known`."""
    return [
        Finding(**{**finding.__dict__, "severity": "known"}) if finding.id in accepted else finding
        for finding in findings
    ]


def sort_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Worst first; then by config, code and splits."""
    return sorted(
        findings, key=lambda f: (SEVERITIES.index(f.severity), f.config or "", f.code, f.splits, f.id)
    )


def summarise(findings: Sequence[Finding]) -> dict[str, int]:
    """Number of findings by severity."""
    return {severity: sum(f.severity == severity for f in findings) for severity in SEVERITIES}


def read_accepted(path: Path) -> set[str]:
    """Ids of an accepted-findings file: YAML `accepted: [{id, reason}]`. Raises SourceError."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {str(entry["id"]) for entry in data["accepted"]}
    except (OSError, UnicodeError, yaml.YAMLError, TypeError, KeyError) as error:
        raise SourceError(
            f"not an accepted-findings file ({type(error).__name__})",
            path=path,
            fix="make one with `benchwright audit DIR --write-accepted FILE`",
        ) from None


def write_accepted_file(path: Path, findings: Sequence[Finding]) -> None:
    """Write every finding as accepted, with room for a reason."""
    entries = [
        {"id": f.id, "code": f.code, "config": f.config, "count": f.count, "reason": f.message}
        for f in findings
    ]
    write_text(path, yaml.safe_dump({"accepted": entries}, sort_keys=False, allow_unicode=True))


def _finding(
    code: str,
    severity: Severity,
    config: str | None,
    splits: tuple[str, ...],
    rows: AuditRows,
    members: np.ndarray,
    message: str,
) -> Finding:
    return _make(code, severity, config, splits, rows.named(members), message)


def _make(
    code: str,
    severity: Severity,
    config: str | None,
    splits: tuple[str, ...],
    uids: Sequence[str],
    message: str,
) -> Finding:
    digest = hashlib.sha256("\n".join([code, config or "*", *splits, "", *uids]).encode()).hexdigest()[:12]
    return Finding(digest, code, severity, config, splits, len(uids), f"{len(uids)} {message}", tuple(uids))


def _duplicates_within(name: str, rows: AuditRows, side: np.ndarray, published: bool) -> list[Finding]:
    findings = []
    for index, split in enumerate(SPLITS):
        members = np.flatnonzero(side == index)
        repeated = members[_later_copies(rows.exact[members])]
        if len(repeated):
            message = f"row(s) of {split} repeat the input of an earlier row of {split}"
            severity: Severity = "known" if published else "warning"
            findings.append(_finding("duplicate_input", severity, name, (split,), rows, repeated, message))
    return findings


def _label_sets(name: str, rows: AuditRows, side: np.ndarray) -> list[Finding]:
    """A label that stands in evaluation data and never in train cannot be learned: an error in any data."""
    if not rows.labelled:
        return []
    findings = []
    present = {split: set(rows.targets[side == index].tolist()) for index, split in enumerate(SPLITS)}
    for split in SPLITS[1:]:
        if not present[split] or not present["train"]:
            continue
        unseen, unused = present[split] - present["train"], present["train"] - present[split]
        for labels, severity, text in (
            (unseen, "error", f"row(s) of {split} have labels that train lacks"),
            (unused, "warning", f"row(s) of train have labels that {split} lacks"),
        ):
            if labels:
                where = split if severity == "error" else "train"
                members = np.flatnonzero(
                    (side == SPLITS.index(where)) & np.isin(rows.targets, sorted(labels))
                )
                names = ", ".join(sorted(repr(rows.target_names[label]) for label in labels))
                findings.append(
                    _finding("label_set", severity, name, ("train", split), rows, members, f"{text}: {names}")  # type: ignore[arg-type]
                )
    return findings


def _without_exact(members: np.ndarray, rows: AuditRows, side: np.ndarray, first: int) -> np.ndarray:
    """Leave out rows whose exact input is on the first side too: those are exact leaks already."""
    present = np.zeros(int(rows.exact.max(initial=-1)) + 1, dtype=bool)
    present[rows.exact[side == first]] = True
    return members[~present[rows.exact[members]]]


def _later_copies(keys: np.ndarray) -> np.ndarray:
    """Positions, ascending, whose key stands at an earlier position."""
    _, first = np.unique(keys, return_index=True)
    later = np.ones(len(keys), dtype=bool)
    later[first] = False
    return np.flatnonzero(later)


def _conflicts(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Positions of rows whose input stands with more than one target."""
    pairs = (
        np.unique(np.stack([inputs, targets], axis=1), axis=0) if len(inputs) else np.empty((0, 2), np.int64)
    )
    values, counts = np.unique(pairs[:, 0], return_counts=True)
    return np.flatnonzero(np.isin(inputs, values[counts > 1]))


def _pair(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return first * (int(second.max(initial=0)) + 1) + second


def _distinct(texts: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The distinct texts (null reads as nothing) and, for each row, which of them it holds (int64)."""
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    encoded = pc.fill_null(column.cast(pa.large_string()), "").dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _combine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Dense codes (int64) that are equal where both codes are."""
    return np.unique(_pair(first, second), return_inverse=True)[1].astype(np.int64)


def _target_codes(table: pa.Table, task: Task) -> tuple[np.ndarray, tuple[str, ...]]:
    if task.target not in table.column_names:
        return np.zeros(table.num_rows, np.int64), ()
    column = table.column(task.target).combine_chunks()
    if task.labels is not None and not (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        return pc.fill_null(column.cast(pa.int64()), -1).to_numpy(zero_copy_only=False), task.labels
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), tuple(
        map(str, encoded.dictionary.to_pylist())
    )


def _normalise(texts: pa.Array) -> pa.Array:
    """Case, compatibility forms, punctuation and spacing removed; a text of symbols alone stays itself."""
    folded = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    words = pc.utf8_trim_whitespace(pc.replace_substring_regex(folded, r"[^\p{L}\p{M}\p{N}]+", " "))
    return pc.if_else(pc.equal(words, ""), folded, words)
