"""What stands behind the values of baselines: classes of rows, types of errors, answers with a flaw.

Values come from `results/index.json` (`analyses`), where the evaluation wrote them (2210.06799, Tables 5,
14 and 15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ReleaseError
from ..release import ReleaseFolder
from . import checks
from .markdown import Markdown, code, compose, folded, table
from .numbers import MISSING, count, percent
from .results import INDEX, RunTable, metric_words

STALE = Markdown(" †")

_ENTRY = {
    "baseline": checks.text,
    "model": checks.optional(checks.text),
    "settings_hash": checks.text,
    "metric": checks.text,
    "config": checks.text,
    "column": checks.text,
}
_BREAKDOWN = checks.record(
    **_ENTRY, groups=checks.mapping_of(checks.record(n=checks.count, value=checks.number))
)
_ERRORS = checks.record(
    **{name: check for name, check in _ENTRY.items() if name != "column"},
    sampled=checks.count,
    typed=checks.count,
    counts=checks.mapping_of(checks.count),
)
_PROJECTION = checks.record(**_ENTRY, random=checks.number, projected=checks.number, observed=checks.number)


def class_tables(
    release: ReleaseFolder, index: Mapping[str, Any], runs: Sequence[RunTable]
) -> list[Markdown]:
    """The values of each baseline by the classes of each column, runs and configs in the order of `runs`.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    entries = _entries(release, index, "breakdowns", _BREAKDOWN)
    columns = dict.fromkeys(entry["column"] for entry in entries)
    return [
        _class_table(run, column, found)
        for column in columns
        for run in runs
        if (found := _of(run, entries, column))
    ]


def projection_table(
    release: ReleaseFolder, index: Mapping[str, Any], runs: Sequence[RunTable]
) -> Markdown | None:
    """What the classes alone would make of each config; None where nothing was projected.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    entries = _entries(release, index, "projections", _PROJECTION)
    lines = [
        (
            _metric_of(run),
            code(entry["column"]),
            _config(run, entry["config"]),
            *(percent(entry[name]) for name in ("random", "projected", "observed")),
        )
        for column in dict.fromkeys(entry["column"] for entry in entries)
        for run in runs
        for entry in _of(run, entries, column)
    ]
    header = ("baseline", "classes", "config", "random", "projected", "observed")
    return table(header, lines, left=3) if lines else None


def error_tables(
    release: ReleaseFolder, index: Mapping[str, Any], runs: Sequence[RunTable]
) -> list[Markdown]:
    """For each baseline, how often people found each type of error among the wrong answers that they saw.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    entries = _entries(release, index, "errors", _ERRORS)
    return [_error_table(run, found) for run in runs if (found := _of(run, entries))]


def remarks_table(runs: Sequence[RunTable]) -> Markdown | None:
    """Answers that were left out or have a flaw, folded; None if there are none."""
    lines = [
        (_name(run), code(line.config), remark.replace("_", " "), count(rows))
        for run in runs
        for line in run.lines
        for remark, rows in line.remarks
    ]
    if not lines:
        return None
    header = ("baseline", "config", "what", "rows")
    return folded("Answers that were left out or flagged", table(header, lines, left=3))


def _entries(release: ReleaseFolder, index: Mapping[str, Any], kind: str, check: checks.Check) -> list[Any]:
    entries: list[Any] = (index.get("analyses") or {}).get(kind) or []
    try:
        checks.list_of(check)(entries, f"analyses.{kind}")
    except ValueError as error:
        raise ReleaseError(f"{release.path / INDEX}: {error}; evaluate the release again") from None
    return entries


def _of(
    run: RunTable, entries: Sequence[Mapping[str, Any]], column: str | None = None
) -> list[Mapping[str, Any]]:
    """A run's entries (of one column) for its headline metric, in the order of its configs."""
    order = {line.config: place for place, line in enumerate(run.lines)}
    found = [
        entry
        for entry in entries
        if (entry["baseline"], entry.get("model"), entry["settings_hash"]) == run.key
        and column in (None, entry.get("column"))
        and entry["metric"] == run.metric
        and entry["config"] in order
    ]
    return sorted(found, key=lambda entry: order[entry["config"]])


def _class_table(run: RunTable, column: str, entries: Sequence[Mapping[str, Any]]) -> Markdown:
    classes = list(dict.fromkeys(name for entry in entries for name in entry["groups"]))
    lines = [
        (_config(run, entry["config"]), *(_group(entry["groups"].get(name)) for name in classes))
        for entry in entries
    ]
    caption = compose("{run}, by {column:code}", run=_metric_of(run), column=column)
    return _captioned(caption, table(("config", *map(code, classes)), lines))


def _error_table(run: RunTable, entries: Sequence[Mapping[str, Any]]) -> Markdown:
    totals: dict[str, int] = {}
    for entry in entries:
        for kind, rows in entry["counts"].items():
            totals[kind] = totals.get(kind, 0) + rows
    kinds = sorted(totals, key=lambda kind: (-totals[kind], kind))
    lines = [(kind, *(count(entry["counts"].get(kind, 0)) for entry in entries)) for kind in kinds]
    typed = (f"{count(entry['typed'])} of {count(entry['sampled'])}" for entry in entries)
    lines.append((Markdown("*answers with a type*"), *typed))
    return _captioned(
        _metric_of(run), table(("type", *(_config(run, entry["config"]) for entry in entries)), lines)
    )


def _captioned(caption: Markdown, written: Markdown) -> Markdown:
    return Markdown(f"{caption}:\n\n{written}")


def _group(found: Mapping[str, Any] | None) -> str:
    if not found or not found["n"] or found["value"] is None:
        return MISSING
    return f"{percent(found['value'])} ({count(found['n'])})"


def _config(run: RunTable, config: str) -> Markdown:
    stale = any(line.stale for line in run.lines if line.config == config)
    return Markdown(code(config) + (STALE if stale else ""))


def _name(run: RunTable) -> Markdown:
    if run.model is None:
        return code(run.baseline)
    return compose("{baseline:code} with {model:code}", baseline=run.baseline, model=run.model)


def _metric_of(run: RunTable) -> Markdown:
    return compose("{run}, {metric}", run=_name(run), metric=metric_words(run.metric))
