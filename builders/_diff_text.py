"""How a comparison of releases is told: changes with the version they need, lines, a page for a terminal.

Names and values come from releases that may be anyone's: they are printed without control characters, cut,
and lists stop with a count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ..cards.numbers import count
from ..errors import printable, redact, show
from ..splitting.scores.check import SCORE_TOLERANCE
from ..wording import plural
from ._diff_types import (
    Boundary,
    Change,
    ConfigDiff,
    FactChange,
    FeatureChange,
    Move,
    ResultChange,
    RowsDiff,
    Sample,
    ScoreChange,
)
from .versions import BUMPS, Bump

if TYPE_CHECKING:
    from .diff import ReleaseDiff

_TOLD_FIELDS = ("dataset.licence", "dataset.redistribute", "method")
_COUNTED = ("scores.", "source.rows", "source.read")
"""Fields that count rows and hash scores."""
_YANKED = "publication.yanked."
_NAMES_SHOWN = 3
_LINES_SHOWN = 12
_ITEMS_SHOWN = 10
_CONFIGS_SHOWN = 20
_NAME_LIMIT = 80
_SHIFT_SHOWN = 0.005
"""Changes of a label's share below half a percentage point are not worth a line."""


def changes_of(found: ReleaseDiff) -> tuple[Change, ...]:
    """Every change, those that need the most first, else in the order of the releases."""
    changes = [*_name_changes(found)]
    for config in found.configs:
        changes += config_changes(config)
    changes += _other_changes(found)
    return tuple(sorted(changes, key=lambda change: -BUMPS.index(change.bump)))


def reasons_of(found: ReleaseDiff) -> tuple[str, ...]:
    """The changes that need the version that all of them together need."""
    return tuple(_grouped(change for change in found.changes if change.bump == found.bump))


def changelog_lines(found: ReleaseDiff) -> tuple[str, ...]:
    """Changes that a user should know of; what only follows from them is left out."""
    told = [change for change in found.changes if not change.follows] or list(found.changes)
    return tuple(_cut(_grouped(told), _LINES_SHOWN, "change"))


def config_changes(found: ConfigDiff) -> Iterator[Change]:
    """What became of one config."""
    for change in (
        *_feature_changes(found.features),
        *_row_changes(found.rows, found.kind == "split"),
        *map(_score_change, found.scores),
        *_fact_changes(found),
    ):
        yield replace(change, config=found.name)


def _name_changes(found: ReleaseDiff) -> Iterator[Change]:
    """Names that readers load rows by."""
    withdrawn = {entry.config: entry.reason for entry in found.withdrawals if entry.config is not None}
    noted = [name for name in found.removed if name in found.same_rows or name in withdrawn]
    for name in noted:
        more = f", withdrawn: {_name(withdrawn[name])}" if name in withdrawn else ""
        if name in found.same_rows:
            more += f"; {_name(found.same_rows[name])} has its rows, and an alias would keep the name"
        yield Change("major", f"{_counted('config', [name])} went{more}")
    gone = [name for name in found.removed if name not in noted]
    if gone:
        yield Change("major", f"{_counted('config', gone)} went")
    if found.lost:
        names = _list(list(map(_name, found.lost)), _ITEMS_SHOWN)
        yield Change("major", f"names that load no config now, or another one: {names}")
    if found.default is not None:
        old, new = (name or "none" for name in found.default)
        yield Change("major", f"the default config is {_name(new)} instead of {_name(old)}")
    for old, new in found.renamed.items():
        yield Change("minor", f"config {_name(old)} is called {_name(new)}; the former name still loads")
    if found.added:
        yield Change(
            "minor", f"{_counted('config', found.added)} {'is' if len(found.added) == 1 else 'are'} new"
        )
    if found.gained:
        yield Change("minor", f"new names: {_list(list(map(_name, found.gained)), _ITEMS_SHOWN)}")


def _other_changes(found: ReleaseDiff) -> Iterator[Change]:
    for entry in found.withdrawals:
        what = plural(len(entry.uids), "row") if entry.config is None else f"config {_name(entry.config)}"
        if entry.config not in found.removed:
            yield Change("patch", f"{what} listed as withdrawn: {_name(entry.reason)}")
    yield from _manifest_changes(found)
    new = sum(finding.kind == "new" for finding in found.findings)
    if found.findings:
        gone = len(found.findings) - new
        yield Change("patch", f"audit: {plural(new, 'new finding')}, {count(gone)} gone", follows=True)
    for kind in ("added", "removed", "changed", "rewritten"):
        of_kind = [result for result in found.results if result.kind == kind]
        if of_kind:
            yield Change("patch", f"{plural(len(of_kind), 'result')} {kind}")
    newly = sum(stale.newly for stale in found.stale)
    if newly:
        yield Change("patch", f"{plural(newly, 'result')} became stale")
    if found.card.user_sections:
        sections = [f"{_name(name)} {kind}" for name, kind in found.card.user_sections.items()]
        yield Change("patch", f"hand-written sections of the card: {_list(sections)}")
    if found.card.header or found.card.sections:
        parts = [*(["YAML header"] if found.card.header else []), *map(_name, found.card.sections)]
        yield Change("patch", f"text of the card changed ({_list(parts)})", follows=True)
    yield from _file_changes(found)


def _manifest_changes(found: ReleaseDiff) -> Iterator[Change]:
    told: tuple[str, ...] = ("publication.withdrawn",) if found.withdrawals else ()
    told += ("publication.aliases",) if found.renamed or found.lost or found.gained else ()
    others = []
    for fact in found.facts:
        if fact.field in _TOLD_FIELDS:
            field = fact.field.removeprefix("dataset.")
            yield Change("patch", f"{field} is {fact.new} instead of {fact.old}")
        elif fact.field.startswith(_YANKED) and fact.old is None:
            yield Change("patch", f"version {_name(fact.field.removeprefix(_YANKED))} was yanked: {fact.new}")
        elif not fact.field.startswith(told):
            others.append(fact)
    counted = [fact for fact in others if found.configs and fact.field.startswith(_COUNTED)]
    others = [fact for fact in others if fact not in counted]
    if others:
        yield Change("patch", f"metadata changed ({_fields(others)})")
    if counted:
        yield Change("patch", f"records of scores and rows changed ({_fields(counted)})", follows=True)


def _file_changes(found: ReleaseDiff) -> Iterator[Change]:
    folders: dict[str, list[str]] = {}
    for file in found.files:
        folder = file.file.split("/", 1)[0]
        if folder != "results" or not found.results:
            folders.setdefault(folder, []).append(file.kind)
    for folder, kinds in folders.items():
        counts = [f"{kinds.count(kind)} {kind}" for kind in ("added", "removed", "changed") if kind in kinds]
        yield Change("patch", f"files of {_name(folder)}: {', '.join(counts)}", follows=True)


def _feature_changes(changes: Sequence[FeatureChange]) -> Iterator[Change]:
    removed, added = (
        [_name(change.column or "") for change in changes if change.kind == kind]
        for kind in ("removed", "added")
    )
    if removed:
        yield Change("major", f"{_counted('column', removed)} went")
    if added:
        yield Change("minor", f"{_counted('column', added)} {'is' if len(added) == 1 else 'are'} new")
    for change in changes:
        if change.kind in ("labels", "type"):
            what = f"column {_name(change.column or '')} has the {change.kind}"
            yield Change("major", f"{what} {change.new} instead of {change.old}")
        elif change.kind == "order":
            yield Change("patch", "columns stand in another order")


def _row_changes(rows: RowsDiff, placed: bool) -> Iterator[Change]:
    """Changes of rows; `placed` if they are divided into train and evaluation."""
    columns = [_name(change.column) for change in rows.columns]
    yield from _rows("major", rows.changed, "changed", placed, f" ({_list(columns)})" if columns else "")
    if rows.moved:
        yield Change("major", _moved(rows.moved), short="rows moved between splits")
    yield from _rows("major", rows.withdrawn, "withdrawn", placed)
    removed = {
        split: Sample(sample.rows - rows.withdrawn.get(split, Sample()).rows)
        for split, sample in rows.removed.items()
    }
    yield from _rows("major", removed, "removed", placed)
    # Rows that train or are looked up may be more without harm to those who evaluate.
    harmless = {split for split in rows.added if split == "train" or not placed}
    added = [
        {s: sample for s, sample in rows.added.items() if (s in harmless) is side} for side in (False, True)
    ]
    yield from _rows("major", added[0], "added", placed)
    yield from _rows("minor", added[1], "added", placed)
    yield from _rows("major", rows.reordered, "in another order", placed)
    yield from _rows("major", {"": rows.renumbered}, "with another uid or place in the source", False)
    yield from _rows("patch", {"": rows.positions}, "at another position of the written order", False)


def _rows(
    bump: Bump, samples: Mapping[str, Sample], what: str, placed: bool, more: str = ""
) -> Iterator[Change]:
    """One change for rows of all splits; none if there are no rows."""
    counts = {split: sample.rows for split, sample in samples.items() if sample.rows}
    if not counts:
        return
    total = plural(sum(counts.values()), "row")
    short = f"{total} {what}{more}"
    if not placed:
        yield Change(bump, short)
    elif len(counts) == 1:
        yield Change(bump, f"{total} of {_name(next(iter(counts)))} {what}{more}", short=short)
    else:
        splits = _list([f"{count(rows)} of {_name(split)}" for split, rows in counts.items()])
        yield Change(bump, f"{total} {what} ({splits}){more}", short=short)


def _moved(moves: Sequence[Move]) -> str:
    total = plural(sum(move.rows.rows for move in moves), "row")
    where = [f"from {_name(move.origin)} to {_name(move.target)}" for move in moves]
    if len(moves) == 1:
        return f"{total} moved {where[0]}"
    ordered = sorted(zip(moves, where, strict=True), key=lambda pair: -pair[0].rows.rows)
    return f"{total} moved ({_list([f'{count(move.rows.rows)} {text}' for move, text in ordered])})"


def _score_change(change: ScoreChange) -> Change:
    units = {"log_likelihood": " nats", **dict.fromkeys(("entropy_null", "entropy_input", "pvi"), " bits")}
    unit = units.get(change.column, "")
    parts = [
        f"{plural(change.rows, 'row')} with another {change.column}, by at most {change.largest:.3g}{unit}"
    ]
    if change.only_one:
        parts.append(f"{count(change.only_one)} of them scored in one release only")
    parts.append(f"{count(change.beyond)} beyond {SCORE_TOLERANCE:g}")
    parts.append(f"{plural(change.changed_ranks, 'rank')} changed")
    short = (
        f"{change.column} {'beyond' if change.beyond else 'within'} {SCORE_TOLERANCE:g}{unit} of what it was"
    )
    return Change("major" if change.beyond else "patch", ", ".join(parts), short=short)


def _fact_changes(found: ConfigDiff) -> Iterator[Change]:
    kinds = [fact for fact in found.facts if fact.field == "kind"]
    for fact in kinds:
        yield Change("major", f"kind {fact.new} instead of {fact.old}")
    facts = [fact for fact in found.facts if fact not in kinds]
    if facts:
        follows = found.differs or bool(kinds or found.former)
        phrase = f"description changed ({_fields(facts)})"
        yield Change("patch", phrase, short="description changed", follows=follows)


def text_of(found: ReleaseDiff) -> str:
    """The page for a terminal."""
    if not found:
        return "no difference"
    lines = [*_verdict(found)]
    place = found.first_difference
    if place is not None:
        parts = [f"config {_name(place.config)}"]
        parts += [f"split {_name(place.split)}"] if place.split else []
        parts += [f"uid {show(place.uid)}"] if place.uid else []
        lines.append(f"first difference: {', '.join(parts)}")
    if found.by_content and found.configs:
        lines.append(
            "the sources differ, so that uids do not hold across the releases: rows are matched by content_id"
        )
    for config in found.configs[:_CONFIGS_SHOWN]:
        lines += ["", *_config_lines(config)]
    if len(found.configs) > _CONFIGS_SHOWN:
        lines += ["", f"and {count(len(found.configs) - _CONFIGS_SHOWN)} more configs"]
    lines += _around(found)
    return redact("\n".join(lines))


def _verdict(found: ReleaseDiff) -> Iterator[str]:
    renamed = sum(config.former is not None and not config.differs for config in found.configs)
    described = sum(config.former is None and not config.differs for config in found.configs)
    counts = [
        f"{plural(number, 'config')} {what}"
        for number, what in (
            (len(found.configs) - described - renamed, "changed"),
            (described, "in description only"),
            (len(found.added), "new"),
            (len(found.removed), "gone"),
            (len(found.renamed), "renamed"),
        )
        if number
    ]
    needs = f"a {found.bump} version" if found.required is None else f"{found.required}"
    reasons = _cut(found.reasons, _NAMES_SHOWN, "reason")
    yield f"{', '.join(counts) or 'no config changed'}: needs {needs} because {'; '.join(reasons)}"


def _config_lines(found: ConfigDiff) -> Iterator[str]:
    yield f"{found.name}{f' (was {found.former})' if found.former else ''}"
    for change in config_changes(found):
        yield f"  {change.bump}: {change.phrase}"
    rows = found.rows
    samples = [
        *(("withdrawn from", split, sample) for split, sample in rows.withdrawn.items()),
        *(
            ("removed from", split, sample)
            for split, sample in rows.removed.items()
            if sample != rows.withdrawn.get(split)
        ),
        *(("added to", split, sample) for split, sample in rows.added.items()),
        *(("changed in", split, sample) for split, sample in rows.changed.items()),
        *(("reordered in", split, sample) for split, sample in rows.reordered.items()),
        *(("moved from", f"{move.origin} to {move.target}", move.rows) for move in rows.moved),
    ]
    for what, split, sample in samples[:_ITEMS_SHOWN]:
        yield f"  {what} {split}: {_uids(sample)}"
    for column in rows.columns[:_ITEMS_SHOWN]:
        example = f"{show(column.uid)} in {column.split}: {column.old} -> {column.new}"
        yield f"  {_name(column.column)} differs in {plural(column.rows, 'row')}; {example}"
    if len(rows.columns) > _ITEMS_SHOWN:
        yield f"  and {len(rows.columns) - _ITEMS_SHOWN} more columns"
    shift = found.shift
    if shift is not None and abs(shift.after - shift.before) >= _SHIFT_SHOWN:
        label = f"{_name(shift.column)} {show(shift.label)} in {shift.split}"
        yield f"  effect: largest shift of label shares: {label}: {shift.before:.1%} -> {shift.after:.1%}"
    if found.boundaries is not None:
        before, after = map(_boundary, found.boundaries)
        yield f"  effect: score boundary moved: {before} -> {after}"


def _boundary(found: Boundary) -> str:
    """The scores of both sides that are nearest to each other."""
    if found.train is None or found.evaluation is None:
        return "none"
    upwards = sum(found.train) >= sum(found.evaluation)
    train, evaluation = (
        (f"lowest train {found.train[0]:.6g}", f"highest evaluation {found.evaluation[1]:.6g}")
        if upwards
        else (f"highest train {found.train[1]:.6g}", f"lowest evaluation {found.evaluation[0]:.6g}")
    )
    return f"{evaluation}, {train}"


def _around(found: ReleaseDiff) -> Iterator[str]:
    changes = [change for change in found.changes if change.config is None]
    if changes:
        yield ""
        yield from (f"{change.bump}: {change.phrase}" for change in changes[:_CONFIGS_SHOWN])
        if len(changes) > _CONFIGS_SHOWN:
            yield f"and {count(len(changes) - _CONFIGS_SHOWN)} more"
    facts = [f"  {_name(fact.field)}: {fact.old} -> {fact.new}" for fact in found.facts]
    yield from _cut(facts, _ITEMS_SHOWN, "field")
    findings = [
        f"  {finding.kind} finding: {finding.severity} {finding.code}, "
        f"{finding.config or 'all configs'}: {finding.message}"
        for finding in found.findings
    ]
    yield from map(printable, _cut(findings, _ITEMS_SHOWN, "finding"))
    results = [line for result in found.results for line in _result_lines(result)]
    yield from map(printable, _cut(results, _ITEMS_SHOWN, "line"))
    stale = [
        f"  stale{' now' if result.newly else ''}: {result.config}, {result.baseline}: {result.reason}"
        for result in found.stale
    ]
    yield from map(printable, _cut(stale, _ITEMS_SHOWN, "stale result"))


def _result_lines(result: ResultChange) -> Iterator[str]:
    name = f"  result {result.kind}: {result.config}, {result.baseline}"
    if not result.values:
        yield name
    for value in result.values:
        old, new = ("-" if number is None else f"{number:.4f}" for number in (value.old, value.new))
        overlap = {None: "", True: ", intervals overlap", False: ", intervals do not overlap"}[value.overlap]
        yield f"{name}, {value.metric}: {old} -> {new}{overlap}"


def json_of(found: ReleaseDiff) -> dict[str, Any]:
    """Plain data; numbers that JSON does not have become text."""
    place = found.first_difference
    return _plain(
        {
            "equal": not found,
            "bump": found.bump,
            "required": None if found.required is None else str(found.required),
            "reasons": found.reasons,
            "changelog": found.changelog_lines(),
            "first_difference": None if place is None else asdict(place),
            **asdict(found),
            "previous": None if found.previous is None else str(found.previous),
            "changes": [asdict(change) for change in found.changes],
        }
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {redact(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return redact(value) if isinstance(value, str) else value


def _grouped(changes: Iterable[Change]) -> list[str]:
    """One line for all configs of which the same can be said."""
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.bump, change.short or change.phrase), []).append(change)
    lines = []
    for (_, short), members in groups.items():
        phrases = {change.phrase for change in members}
        names = [_name(change.config) for change in members if change.config is not None]
        phrase = phrases.pop() if len(phrases) == 1 else short
        lines.append(f"{_list(names)}: {phrase}" if names else phrase)
    return lines


def _fields(facts: Sequence[FactChange]) -> str:
    return _list([_name(fact.field) for fact in facts])


def _counted(noun: str, names: Sequence[str]) -> str:
    """`config a`, `configs a and b`; score tables are called `scores/TABLE`."""
    return f"{noun}{'' if len(names) == 1 else 's'} {_list(list(map(_name, names)), _ITEMS_SHOWN)}"


def _uids(sample: Sample) -> str:
    more = sample.rows - len(sample.uids)
    shown = ", ".join(show(uid) for uid in sample.uids)
    return f"{shown} and {count(more)} more" if more > 0 else shown


def _list(names: Sequence[str], limit: int = _NAMES_SHOWN) -> str:
    """`a`, `a and b`, `a, b, c and 4 more`."""
    shown, more = list(names[:limit]), len(names) - limit
    if more > 0:
        return f"{', '.join(shown)} and {count(more)} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _cut(lines: Sequence[str], limit: int, noun: str) -> list[str]:
    more = len(lines) - limit
    return [*lines[:limit], *([f"and {plural(more, f'more {noun}')}"] if more > 0 else [])]


def _name(text: str) -> str:
    """A name as it is printed: one line, without control characters, at most 80 characters."""
    clean = printable(redact(text))
    return clean if len(clean) <= _NAME_LIMIT else f"{clean[: _NAME_LIMIT - 3]}..."
