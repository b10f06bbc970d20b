"""What commands print: short lines for people, one JSON document with --json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import typer

from ..wording import plural

if TYPE_CHECKING:
    from ..builders.audit import AuditReport, Finding
    from ..builders.base import ConfigSpec
    from ..builders.diff import ReleaseDiff
    from ..builders.hub.outdated import OutdatedReport
    from ..builders.hydrate import Hydration
    from ..builders.rescore import RescoredTable
    from ..builders.verify import Difference
    from ..eval import Result
    from ..release import ReleaseFolder


_UIDS_SHOWN = 20


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_plain, allow_nan=False))


def table(rows: Iterable[Sequence[object]], heads: Sequence[str]) -> str:
    """Columns padded to their widest value; numbers to the right."""
    cells = [[str(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(heads), *cells]) for column in range(len(heads))]
    right = [bool(cells) and all(_is_number(row[column]) for row in cells) for column in range(len(heads))]
    lines = []
    for row in [list(heads), *cells]:
        parts = [
            value.rjust(width) if numeric else value.ljust(width)
            for value, width, numeric in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def print_build(release: ReleaseFolder, as_json: bool) -> int:
    """What was made; exit code 1 if the audit has errors."""
    manifest = release.manifest
    errors = manifest["audit"]["counts"]["error"]
    if as_json:
        print_json(
            {"release": str(release.path), "configs": _sizes(release), "audit": manifest["audit"]["counts"]}
        )
        return 1 if errors else 0
    source = manifest["source"]
    left = {**source["filtered"], **source["dropped"]}
    detail = "; ".join(f"{count} {reason}" for reason, count in left.items())
    made = f"{plural(source['rows'], 'row')} from {plural(source['read'], 'record')}"
    typer.echo(made + (f" ({detail})" if detail else ""))
    for note in source["notes"]:
        typer.echo(f"note: {note}")
    rows = [
        [
            name + (" *" if entry["default"] else ""),
            *(entry["splits"].get(s, {}).get("rows", 0) for s in _SPLITS),
        ]
        for name, entry in release.placed_configs.items()
    ]
    typer.echo(table(rows, ["config (* default)", *_SPLITS]))
    counts = ", ".join(
        f"{count} {severity}" for severity, count in manifest["audit"]["counts"].items() if count
    )
    typer.echo(f"audit: {counts or 'nothing found'} (benchwright audit {release.path})")
    default = next(name for name, entry in release.configs.items() if entry["default"])
    typer.echo(f'written: {release.path}; load_dataset("{release.path}", "{default}")')
    return 1 if errors else 0


def print_differences(differences: Sequence[Difference], fine: str, as_json: bool) -> int:
    """Exit code 1 if there is any."""
    if as_json:
        print_json({"differences": [asdict(difference) for difference in differences]})
    elif not differences:
        typer.echo(fine)
    for difference in [] if as_json else differences:
        typer.echo(str(difference))
    return 1 if differences else 0


def print_diff(found: ReleaseDiff, as_json: bool) -> int:
    """Exit code 1 if anything differs."""
    # uids and names may be anyone's: as JSON they are kept whole, but in ASCII, which no terminal obeys.
    typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False) if as_json else str(found))
    return 1 if found else 0


def print_hydration(answer: Hydration, as_json: bool) -> int:
    """Exit code 1 if rows stand in the way, which are named."""
    path = None if answer.release is None else str(answer.release.path)
    if as_json:
        print_json({**vars(answer), "release": path})
    elif path is not None:
        typer.echo(f"written: {path}; each of {plural(answer.rows, 'row')} is the published one")
    for what in () if as_json else ("missing", "different"):
        uids = getattr(answer, what)
        if uids:
            are = "is" if len(uids) == 1 else "are"
            typer.echo(f"{len(uids):,} of {plural(answer.rows, 'row')} {are} {what} in the source:")
        for uid in uids[:_UIDS_SHOWN]:
            typer.echo(f"  {uid}")
    for name in () if as_json else answer.tables:
        typer.echo(f"table {name} is different in the source")
    return 0 if path is not None else 1


def print_outdated(report: OutdatedReport, as_json: bool) -> int:
    """Exit code 1 if a source or model has moved on."""
    if as_json:
        print_json({"outdated": report.outdated, "origins": [asdict(origin) for origin in report.origins]})
    for origin in () if as_json else report.origins:
        typer.echo(str(origin))
    return 1 if report.outdated else 0


def print_rescored(reports: Sequence[RescoredTable], as_json: bool) -> int:
    """Exit code 1 if scores differ by more than the tolerance or a row would change sides."""
    if as_json:
        print_json([asdict(report) for report in reports])
    for report in [] if as_json else reports:
        same = "" if report.same_identity else "; model, prompt or algorithm differ from the published ones"
        largest = f"largest difference {report.largest_difference:.2g} {report.unit} ({report.largest_at})"
        ranks = f"{plural(report.changed_ranks, 'rank')} changed"
        compared = f"{plural(report.compared, 'score')} compared"
        typer.echo(f"{report.table}: {compared}, {largest}, {ranks}{same}")
        for effect in report.configs:
            margin = "no margin in nats" if effect.margin is None else f"margin {effect.margin:.2g} nats"
            typer.echo(f"  {effect.config}: {plural(effect.flipped, 'row')} would change sides, {margin}")
            for uid in effect.uids:
                typer.echo(f"    {uid}")
    return 0 if all(report.within() for report in reports) else 1


def print_audit(report: AuditReport, as_json: bool, repair: bool) -> int:
    """What was found, with `repair` what was made; exit code 1 if a finding stops the release."""
    if as_json:
        print_json(
            {
                "findings": [finding.to_json(uids=None) for finding in report.findings],
                "stops": bool(report.stopping),
                "repaired": None if report.repaired is None else str(report.repaired.path),
                "cleaned": list(report.cleaned),
            }
        )
        return 1 if report.stopping else 0
    if not report.findings:
        typer.echo("nothing found")
    for finding in report.findings:
        typer.echo(_finding_line(finding))
    if report.repaired is not None:
        typer.echo(f"made {report.repaired.path} with {', '.join(report.cleaned)}")
    elif repair:
        typer.echo("nothing to repair: no config has leaks, duplicates or conflicts without a cleaned one")
    if report.stopping:
        typer.echo(f"{len(report.stopping)} finding(s) stop this release", err=True)
    return 1 if report.stopping else 0


def print_results(results: Sequence[Result], as_json: bool) -> None:
    """One line a metric."""
    if as_json:
        print_json([result.to_json() for result in results])
        return
    rows = [
        [
            result.config,
            result.baseline,
            result.model or "-",
            metric,
            f"{value['value']:.4f}",
            _interval(value),
            value["n"],
        ]
        for result in results
        for metric, value in result.metrics.items()
    ]
    typer.echo(table(rows, ["config", "baseline", "model", "metric", "value", "95% interval", "n"]))
    for result in results:
        for line in _remarks(result):
            typer.echo(f"note: {result.config}, {result.baseline}: {line}")


def _remarks(result: Result) -> Iterable[str]:
    """What the values alone do not say: rows left out or flagged, metrics that could not be computed."""
    for reason, count in result.left_out.items():
        yield f"{plural(count, 'row')} left out: {reason}"
    for reason, count in result.flagged.items():
        yield f"{plural(count, 'answer')} flagged: {reason}"
    for name, value in result.metrics.items():
        for reason, count in value.get("left_out", {}).items():
            yield f"{plural(count, 'row')} left out of {name}: {reason}"
        for reason, count in value.get("flagged", {}).items():
            if reason not in result.flagged:
                yield f"{plural(count, 'answer')} flagged by {name}: {reason}"
    for name, reason in result.unavailable.items():
        yield f"no {name}: {reason}"


def print_overlap(found: dict[str, list[dict[str, Any]]], as_json: bool) -> None:
    """One line for each config and run: rows that overlap, accuracy on clean and on overlapping rows."""
    if as_json:
        print_json(found)
        return
    by_config: dict[str, list[dict[str, Any]]] = {}
    for entry in found["contamination_accuracy"]:
        if entry["rule"] == "ngrams":
            by_config.setdefault(entry["config"], []).append(entry)
    nothing = {"baseline": "-", "model": None, "clean": None, "overlapping": None}
    rows = [
        [
            line["config"],
            line["rows"],
            f"{line['matched']} ({_share(line['matched_share'])}) of {line['ngram']} words",
            f"{line['above']} ({_share(line['above_share'])}) {_above(line)}",
            " ".join(filter(None, (entry["baseline"], entry["model"]))),
            *(_share((entry[side] or {}).get("value")) for side in ("clean", "overlapping")),
        ]
        for line in found["contamination"]
        for entry in by_config.get(line["config"], [nothing])
    ]
    heads = ["config", "rows", "n-gram matches", "BM25", "run", "clean accuracy", "overlapping accuracy"]
    typer.echo(table(rows, heads))
    typer.echo("clean and overlapping rows are told apart by n-grams; the card has both rules")


def _above(line: dict[str, Any]) -> str:
    return f"above {line['cutoff']:g}" + (" of the terms" if line["cutoff_of"] == "share" else "")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def print_demo(releases: Sequence[ReleaseFolder]) -> None:
    """The tree that was written and how to load it."""
    for release in releases:
        typer.echo(f"\n{release.path}/  ({release.dataset['pretty_name']})")
        rows = [
            [f"  {name}", *(entry["splits"].get(split, {}).get("rows", "-") for split in _SPLITS)]
            for name, entry in release.placed_configs.items()
        ]
        typer.echo(table(rows, ["  config", *_SPLITS]))
        typer.echo(f"  card: {release.path / 'README.md'}")
    first = releases[0]
    typer.echo(f'\nfrom datasets import load_dataset\nload_dataset("{first.path}", "ll_split_len")')


def print_list(as_json: bool) -> None:
    """Everything that can be named on the command line."""
    from ..builders.base import BuildOptions, builders
    from ..builders.curriculum.recast import recasts
    from ..builders.scoring import TableMaker, names_by_scorer
    from ..eval.analyses.parsers import parsers
    from ..eval.baselines import baselines
    from ..splitting import splitters
    from ..text.programs import structures, template_rules

    others: dict[str, Iterable[str]] = {
        "splitters": splitters,
        "structures": structures,
        "template_rules": template_rules,
        "baselines": baselines,
        "parsers": parsers,
        "recasts": recasts,
    }
    made = {name: builders.get(name)() for name in builders}
    listed = {
        name: builder.configs(BuildOptions(), names_by_scorer(TableMaker().plan(builder)))
        for name, builder in made.items()
    }
    if as_json:
        print_json(
            {
                "builders": {name: [spec.name for spec in specs] for name, specs in listed.items()},
                **{kind: list(found) for kind, found in others.items()},
            }
        )
        return
    tasks: dict[str, str] = {}
    for name, specs in listed.items():
        typer.echo(f"{name}: {builders.get(name).info.pretty_name}")
        typer.echo(table(_config_rows(name, specs, tasks), ["  config", ""]))
    for place, number in Counter(tasks.values()).items():
        typer.echo(f"TASK stands for each of the {number} tasks that are listed under {place}")
    for kind, found in others.items():
        typer.echo(f"{kind.replace('_', ' ')}: {', '.join(found)}")
    typer.echo("sqlglot-DIALECT and canonical-DIALECT read other dialects of SQL, such as sqlglot-postgres")


def _config_rows(builder: str, specs: Sequence[ConfigSpec], tasks: dict[str, str]) -> list[list[str]]:
    """The lines about the configs of a builder.

    Of a source of many tasks these stand once, and what is made of each in one line with TASK for its name.
    `tasks` says where each was listed; new ones are added.
    """
    own = {spec.name: spec.summary.rstrip(".") for spec in specs if spec.name == spec.part}
    rows: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for spec in specs:
        name, summary, task = spec.name, spec.summary, spec.part
        by_name = " (by name)" if spec.extra else ""
        if task is not None and name == task:
            tasks.setdefault(task, builder)
        if task is None or (name == task and tasks[task] == builder):
            rows[f"  {name}{by_name}"] = summary
            continue
        said = summary.removeprefix(own.get(task, ""))
        summary = summary.replace(task, "TASK") if said == summary else f"The split of TASK{said}"
        kinds.setdefault(f"  {name.replace(task, 'TASK', 1)}{by_name}", summary)
    return [list(row) for row in (*rows.items(), *kinds.items())]


_SPLITS = ("train", "validation", "test")


def _sizes(release: ReleaseFolder) -> dict[str, dict[str, int]]:
    return {
        name: {split: facts["rows"] for split, facts in entry["splits"].items()}
        for name, entry in release.configs.items()
    }


def _finding_line(finding: Finding) -> str:
    where = finding.config or finding.part or "all configs"
    shown = ", ".join(finding.uids[:3]) + (", ..." if finding.count > 3 else "")
    return f"{finding.severity:8}{finding.code:18}{where}: {finding.message} [{finding.id}] {shown}"


def _interval(value: dict[str, Any]) -> str:
    if value.get("low") is None:
        return "-"
    return f"{value['low']:.4f}-{value['high']:.4f}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
