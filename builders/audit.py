"""Checks on a release: what is found in its rows and in where they are placed.

Of rows: repeated rows, equal inputs with different targets, empty components, inputs longer than models
read, labels in runs. Of placements: leaks (an equal *input* on two sides, never an equal output), leaks but
for case and punctuation, near-duplicates of train rows, inputs that stand twice on one side, contexts that
stand on both sides, labels that one side lacks.

Published benchmarks keep their published placement, so their leaks and duplicates are `known`: listed, and
publishable. In a user's own data a leak is an error. A file of accepted findings makes only new ones stop a
release. A cleaned config (`<config>_clean`) leaves out conflicts, duplicates and leaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from ..atomic import write_text
from ..errors import ReleaseError, SourceError, UsageError
from ..release import SPLITS, ReleaseFolder
from ..tasks import Task
from ._audit_config import audit_config
from ._audit_corpus import audit_corpus
from ._audit_findings import SEVERITIES, Finding, Severity, accept, sort_findings, summarise
from ._audit_rows import AuditRows
from .repair import SUFFIX

__all__ = [
    "SEVERITIES",
    "AuditReport",
    "AuditRows",
    "Finding",
    "Severity",
    "accept",
    "audit",
    "audit_config",
    "audit_corpus",
    "audit_part",
    "audit_release",
    "read_accepted",
    "report",
    "sort_findings",
    "summarise",
    "unscored_findings",
    "write_accepted_file",
]

NEAR_DUPLICATE_ROWS = 500_000
"""Most rows, once for each config, among which a build looks for near-duplicates; `audit` has no limit."""
_REPAIRED = ("leak_exact", "duplicate_input")
"""Findings on a config that its cleaned config does not have; a conflict is one of them too."""


@dataclass(frozen=True)
class AuditReport:
    """Everything found, worst first, the findings that stop a release, and the release that was repaired.

    `repaired` is None where no repair was asked for or nothing had to be; `cleaned` names its new configs.
    """

    findings: list[Finding]
    stopping: list[Finding]
    repaired: ReleaseFolder | None = None
    cleaned: tuple[str, ...] = ()


def audit_part(
    rows: AuditRows,
    sides: Mapping[str, np.ndarray],
    published: bool,
    *,
    part: str | None = None,
    near: bool | None = None,
) -> list[Finding]:
    """Findings on the rows of one data set, and on their placements by config.

    `sides`: for each config int8[n], index into SPLITS or -1 for unused; rows that no config uses are left
    out. `near` says whether to look for near-duplicates (None: if the rows are not too many).
    """
    used = np.flatnonzero(np.any([side >= 0 for side in sides.values()], axis=0))
    if len(used) < len(rows):
        rows, sides = rows.take(used), {name: side[used] for name, side in sides.items()}
    findings = audit_corpus(rows, published, part)
    wanted = len(rows) * len(sides) <= NEAR_DUPLICATE_ROWS if near is None else near
    if near is None and not wanted:
        message = "row(s) are too many to look for near-duplicates in a build; `benchwright audit` does it"
        named = rows.uids.to_pylist()
        findings.append(Finding.of("near_duplicates_not_sought", "info", named, message, part=part))
    for name, side in sides.items():
        findings += audit_config(name, rows, side, published, near=wanted)
    return findings


def audit_release(
    release: ReleaseFolder, accepted: set[str] | None = None, *, near: bool | None = None
) -> list[Finding]:
    """Audit the parquet files of a release, ordered by severity.

    `accepted` holds ids of findings that are known and agreed to; they come back with severity `known`.
    `near` as for `audit_part`.
    """
    published = release.manifest["dataset"].get("published", True)
    parts: dict[tuple[str | None, Task], list[str]] = {}
    for name, entry in release.placed_configs.items():
        parts.setdefault((entry.get("part"), release.task(name)), []).append(name)
    findings: list[Finding] = []
    for (part, task), names in parts.items():
        rows, sides = _placed_rows(release, names, task)
        findings += audit_part(rows, sides, published, part=part, near=near)
    findings += unscored_findings(
        (
            table_name,
            release.manifest["scores"][table_name]["scorer"],
            release.table("scores", table_name, ["uid", "status"]),
        )
        for table_name in (release.splits("scores") if "scores" in release.configs else [])
    )
    return sort_findings(accept(findings, accepted or set()))


def _placed_rows(
    release: ReleaseFolder, names: Sequence[str], task: Task
) -> tuple[AuditRows, dict[str, np.ndarray]]:
    """The rows of these configs, each once and in source order, and where every config has them."""
    wanted = dict.fromkeys(["uid", *task.inputs, task.target, "source_index", "source_split"])
    # A task without labels has no target, and not every family keeps the split of the source.
    columns = [column for column in wanted if column in release.features(names[0])]
    tables: list[pa.Table] = []
    known = pa.array([], pa.string())
    placed = {}
    for name in names:
        uids, sides = [], []
        for split in release.splits(name):
            ids = release.table(name, split, ["uid"]).column("uid").combine_chunks().cast(pa.string())
            uids.append(ids)
            sides.append(np.full(len(ids), SPLITS.index(split), np.int8))
            new = pc.invert(pc.is_in(ids, value_set=known))
            if pc.any(new).as_py():
                # Texts are read only where a config has rows that those before it lack.
                tables.append(release.table(name, split, columns).filter(new))
                known = pa.concat_arrays([known, ids.filter(new)])
        placed[name] = pa.concat_arrays(uids), np.concatenate(sides)
    table = pa.concat_tables(tables)
    table = table.take(pa.array(np.argsort(table.column("source_index").to_numpy(), kind="stable")))
    order = table.column("uid").combine_chunks().cast(pa.string())
    made = {}
    for name, (ids, values) in placed.items():
        side = np.full(len(order), -1, dtype=np.int8)
        side[pc.index_in(ids, value_set=order).to_numpy()] = values
        made[name] = side
    return AuditRows.from_table(table, task), made


def audit(
    release: str | Path | ReleaseFolder,
    *,
    accepted: str | Path | None = None,
    write_accepted: str | Path | None = None,
    repair: bool = False,
    source: str | Path | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
) -> AuditReport:
    """Audit a release: a folder, or `ORG/NAME@REVISION` on the Hub.

    Without `accepted`, findings of severity `error` fail it. With that file, so does every finding but
    `info` that is not in it. `write_accepted` writes today's findings as such a file.

    With `repair`, a new release at `out` has all that this one has, and a config `<config>_clean` beside each
    config with leaks, duplicates or conflicts: the same placement of the rows of `source` (as for `build`)
    without these. It is made only where something is to be repaired.

    Raises SourceError for an accepted-findings file that cannot be read, ReleaseError for a place without
    a release or a release without text, UsageError for options that do not go together, and with `repair`
    whatever `build` raises.
    """
    from .hub.living import open_whole
    from .hub.location import open_release

    _check_repair(repair, source, out, overwrite)
    folder = open_whole(release) if repair else open_release(release)
    if folder.is_stripped:
        raise ReleaseError(f"{folder.path} has no text to audit; run `benchwright hydrate` on it first")
    agreed = read_accepted(Path(accepted)) if accepted is not None else None
    findings = audit_release(folder, agreed, near=True)
    if write_accepted is not None:
        write_accepted_file(Path(write_accepted), findings)
    stopping = [finding for finding in findings if _stops(finding, agreed)]
    if source is None or out is None:
        return AuditReport(findings, stopping)
    repaired, cleaned = _repaired(folder, findings, source, out, agreed or set(), overwrite)
    return AuditReport(findings, stopping, repaired, cleaned)


def _check_repair(repair: bool, source: str | Path | None, out: str | Path | None, overwrite: bool) -> None:
    from .release import check_target

    if repair and (source is None or out is None):
        raise UsageError("--repair makes a new release; say where with --out, and from what with --source")
    if not repair and (source is not None or out is not None or overwrite):
        raise UsageError("--source, --out and --overwrite belong to --repair; add it, or leave them out")
    if out is not None:
        check_target(Path(out), overwrite)


def _repaired(
    release: ReleaseFolder,
    findings: Sequence[Finding],
    source: str | Path,
    out: str | Path,
    agreed: set[str],
    overwrite: bool,
) -> tuple[ReleaseFolder | None, tuple[str, ...]]:
    """`release` with the cleaned configs that it lacks, and their names; None where it lacks none."""
    from ._errata import MADE_AS, Errata
    from .base import DEFAULT_OPTIONS
    from .into import extend
    from .recorded import builder_of
    from .scoring import TableMaker

    marked = {finding.config for finding in findings if finding.code in _REPAIRED}
    errata = Errata.of(release.manifest)
    taken = {*release.configs, *errata.publication.aliases}
    wanted = [
        made
        for name, entry in release.placed_configs.items()
        if name in marked and (made := entry.get(MADE_AS, name) + SUFFIX) not in errata.reasons
    ]
    wanted = [name for name in wanted if errata.name(name) not in taken]
    if not wanted:
        return None, ()
    made = extend(
        builder_of(release.manifest),
        release,
        source=source,
        out=out,
        configs=wanted,
        options=DEFAULT_OPTIONS,
        maker=TableMaker(),
        accepted=agreed,
        overwrite=overwrite,
        optional=wanted,
    )
    return made, tuple(name for name in map(errata.name, wanted) if name in made.configs)


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


_UNSCORED_ROWS = {
    "pvi": "they are used by no config that reads it",
    "bm25": "they are in no subset by overlap",
}
"""Where rows without a score stand, by the scorer; others are placed in train."""


def unscored_findings(tables: Iterable[tuple[str, str | None, pa.Table]]) -> list[Finding]:
    """Rows that a scorer left without a score, by score table and status; for information.

    `tables` are the name, the scorer and the columns uid and status of each.
    """
    findings = []
    for name, scorer, table in tables:
        placed = _UNSCORED_ROWS.get(scorer or "", "they are placed in train")
        status = table.column("status")
        for value in sorted(set(pc.unique(status).to_pylist()) - {"ok"}):
            uids = table.filter(pc.equal(status, value)).column("uid").to_pylist()
            message = f"row(s) have no score in {name}: {value}; {placed}"
            findings.append(Finding.of("unscored", "info", uids, message, splits=(name,)))
    return findings


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
