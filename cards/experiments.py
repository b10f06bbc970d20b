"""The experiments of Curriculum (2204.06283, section 5) that were made on a release.

Values come from `results/index.json` (`analyses`), where the evaluation wrote them; nothing is computed here
but counts of phenomena.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..release import ReleaseFolder
from . import checks
from .experiment_figures import CurveFigure, CurvePanel, Matrix, MatrixFigure, Point
from .markdown import Markdown, code, compose, folded, join, table
from .numbers import MISSING, count, decimal, percent
from .parts import Part, parts
from .properties import PropertySection
from .results import RunTable, analysis_entries, metric_words

MATRIX_FIGURE, CURVES_FIGURE = "figures/simple_and_hard.png", "figures/inoculation.png"

_WORDS = ("simple", "hard")
_KINDS = ("evaluated", "majority label")
_FULL = "fine_tuned_full_input"
_CORRELATION = "matthews_correlation"
# Longer tables are folded.
_OPEN_LINES = 40

_VALUE = {
    "config": checks.text,
    "model": checks.optional(checks.text),
    "settings": checks.text,
    "metric": checks.text,
}
_POOLED = {
    **_VALUE,
    "baseline": checks.text,
    "value": checks.number,
    "low": checks.number,
    "high": checks.number,
    "interval": checks.text,
    "seeds": checks.count,
}
_CELL = checks.record(
    **_POOLED,
    part=checks.optional(checks.text),
    scores=checks.text,
    train=checks.text,
    evaluation=checks.text,
    evaluated_on=checks.optional(checks.text),
    majority=checks.number,
)
_POINT = checks.record(**_POOLED, rows_per_label=checks.count)
_PARTIAL_NUMBERS = (
    *("full", "full_low", "full_high"),
    *("partial", "partial_low", "partial_high"),
    *("majority", "difference", "difference_low", "difference_high"),
)
_PARTIAL = checks.record(**_VALUE, **dict.fromkeys(_PARTIAL_NUMBERS, checks.number))
_OUTCOME_NUMBERS = ("zero_shot", "fine_tuned", "partial", "majority", "simple_to_hard")
_OUTCOME = checks.record(
    config=checks.text,
    part=checks.text,
    outcome=checks.optional(checks.text),
    given_away=checks.optional(checks.truth),
    generalises=checks.optional(checks.truth),
    known_from=checks.number,
    given_away_from=checks.number,
    **dict.fromkeys(_OUTCOME_NUMBERS, checks.number),
)

Entry = Mapping[str, Any]
Group = tuple[str, str | None, str, str]


def experiment_sections(
    release: ReleaseFolder, index: Mapping[str, Any], runs: Sequence[RunTable]
) -> list[PropertySection]:
    """The experiments that the index tells of, each with tables and pictures.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    stale = {
        (line.config, run.baseline, run.model)
        for run in runs
        for line in run.lines
        if line.stale and line.analysed
    }
    return [
        *_simple_and_hard(_entries(release, index, "generalisation", _CELL), stale),
        *_inoculation(_entries(release, index, "inoculation", _POINT), stale),
        *_partial_input(_entries(release, index, "partial_input", _PARTIAL)),
        *_outcomes(_entries(release, index, "outcomes", _OUTCOME), parts(release)),
    ]


def _entries(release: ReleaseFolder, index: Mapping[str, Any], kind: str, check: checks.Check) -> list[Entry]:
    """An analysis' entries about configs that are still there."""
    entries = analysis_entries(release, index, kind, check)
    return [entry for entry in entries if entry["config"] in release.placed_configs]


Stale = set[tuple[str, str, str | None]]


def _simple_and_hard(cells: Sequence[Entry], stale: Stale) -> Iterator[PropertySection]:
    if not cells:
        return
    groups = _grouped(cells)
    tables = [_matrix_table(group, found, groups, stale) for group, found in groups.items()]
    full = {group: found for group, found in groups.items() if group[0] == _FULL} or groups
    group, shown = max(full.items(), key=lambda item: len(item[1]))
    matrices = _matrices(shown)
    figure = MatrixFigure(
        file=MATRIX_FIGURE,
        title=f"{_plain(group)} in percent, trained and evaluated on simple and on hard rows",
        matrices=tuple(
            Matrix(
                name,
                {place: cell["value"] for place, cell in found.items() if cell["value"] is not None},
            )
            for name, found in matrices.items()
        ),
    )
    yield PropertySection(
        title=Markdown("Simple and hard rows"),
        sentences=(
            Markdown(
                "In percent: models that were trained on simple or on hard rows, evaluated on simple and on "
                "hard rows, with 95 % intervals. Which rows are simple is what the model of the score table "
                "finds simple (see Difficulty)."
            ),
            Markdown(
                "Labels have different shares in the cells (see How rows were chosen), so that values should "
                "be compared with those of the training rows' majority label, where it was evaluated."
            ),
            _seeds(cells),
        ),
        figures=(figure,) if len(matrices) > 1 else (),
        tables=tuple(tables),
    )


def _matrices(cells: Iterable[Entry]) -> dict[str, dict[tuple[str, str], Entry]]:
    """Name of the rows (the part, with the score table where a part has several) -> the cells."""
    cells = list(cells)
    tables: dict[str | None, set[str]] = {}
    for cell in cells:
        tables.setdefault(cell["part"], set()).add(cell["scores"])
    found: dict[str, dict[tuple[str, str], Entry]] = {}
    for cell in cells:
        single = cell["part"] is not None and len(tables[cell["part"]]) == 1
        name = cell["part"] if single else cell["scores"]
        found.setdefault(name, {})[cell["train"], cell["evaluation"]] = cell
    return found


def _matrix_table(
    group: Group, cells: list[Entry], groups: Mapping[Group, list[Entry]], stale: Stale
) -> Markdown:
    lines = [
        (
            code(name) if train == "simple" else "",
            train,
            *(_cell(found.get((train, evaluation)), stale) for evaluation in _WORDS),
            *(_majority(found.get((train, evaluation))) for evaluation in _WORDS),
        )
        for name, found in _matrices(cells).items()
        for train in _WORDS
    ]
    header = ("phenomenon", "trained on", *(f"{kind} on {word}" for kind in _KINDS for word in _WORDS))
    caption = _caption(group, groups)
    if len({cell.get("evaluated_on") for found in groups.values() for cell in found}) > 1:
        caption = compose("{caption} on {split:code}", caption=caption, split=cells[0].get("evaluated_on"))
    return _captioned(caption, table(header, lines, left=2), len(lines))


def _majority(entry: Entry | None) -> str:
    """What the majority label of the same training rows scores on the same evaluation rows."""
    return MISSING if entry is None else percent(entry.get("majority"))


def _cell(entry: Entry | None, stale: Stale) -> str:
    if entry is None:
        return MISSING
    mark = " †" if (entry["config"], entry["baseline"], entry["model"]) in stale else ""
    return _with_interval(entry) + mark


def _inoculation(points: Sequence[Entry], stale: Stale) -> Iterator[PropertySection]:
    groups = {
        group: curves
        for group, found in _grouped(points).items()
        if (curves := {name: c for name, c in _curves(found).items() if len(c) > 1})
    }
    if not groups:
        return
    metric = _CORRELATION if any(group[3] == _CORRELATION for group in groups) else next(iter(groups))[3]
    ordered = sorted(groups, key=lambda group: group[3] != metric)
    tables = [
        (_folded if group[3] != metric else _captioned)(
            _caption(group, groups), _curve_table(groups[group], stale), len(groups[group])
        )
        for group in ordered
    ]
    yield PropertySection(
        title=Markdown("Inoculation"),
        sentences=(
            Markdown(
                "In percent, correlations too: what a model scores after it was trained on so many rows of "
                "every label (0: as it came). A curve that rises early shows knowledge that the model had or "
                "learns easily; one that stays flat, what these rows do not teach it. The model as it came "
                "answers with its single best output, a trained one adds up the outputs that stand for one "
                "label."
            ),
            _seeds(points),
        ),
        figures=(_curve_figure(groups, metric),),
        tables=tuple(tables),
    )


def _curves(points: Iterable[Entry]) -> dict[str, dict[int, Entry]]:
    """Config -> number of rows -> point, few rows first."""
    found: dict[str, dict[int, Entry]] = {}
    for point in sorted(points, key=lambda point: point["rows_per_label"]):
        found.setdefault(point["config"], {})[point["rows_per_label"]] = point
    return dict(sorted(found.items()))


def _curve_table(curves: Mapping[str, Mapping[int, Entry]], stale: Stale) -> Markdown:
    numbers = sorted({number for curve in curves.values() for number in curve})
    lines = [
        (code(config), *(_cell(curve.get(number), stale) for number in numbers))
        for config, curve in curves.items()
    ]
    return table(("config", *map(count, numbers)), lines)


def _curve_figure(groups: Mapping[Group, Mapping[str, Mapping[int, Entry]]], metric: str) -> CurveFigure:
    shown = {group: curves for group, curves in groups.items() if group[3] == metric}
    panels: dict[str, dict[str, tuple[Point, ...]]] = {}
    for group, curves in shown.items():
        name = _plain(group, metric=False, settings=_ambiguous(group, shown))
        for config, curve in curves.items():
            panels.setdefault(config, {})[name] = tuple(
                Point(number, point["value"], point["low"], point["high"])
                for number, point in curve.items()
                if point["value"] is not None
            )
    return CurveFigure(
        file=CURVES_FIGURE,
        title=f"{metric_words(metric)} after training on more and more rows",
        axis=f"{metric_words(metric)} (%)",
        panels=tuple(CurvePanel(config, curves) for config, curves in sorted(panels.items())),
    )


def _partial_input(entries: Sequence[Entry]) -> Iterator[PropertySection]:
    if not entries:
        return
    groups = _grouped(entries)
    tables = []
    for group, found in groups.items():
        lines = [
            (
                code(entry["config"]),
                *(_ranged(percent, entry[name], entry, name) for name in ("full", "partial")),
                percent(entry["majority"]),
                _points(_less(entry["partial"], entry["majority"])),
                _ranged(_points, _less(entry["full"], entry["partial"]), entry, "difference"),
            )
            for entry in found
        ]
        header = ("config", "full input", "partial input", "majority label", "given away", "due to the rest")
        tables.append(_captioned(_caption(group, groups), table(header, lines), len(lines)))
    yield PropertySection(
        title=Markdown("Partial input"),
        sentences=(
            Markdown(
                "In percent: the same model trained on both texts and on the second alone (the hypothesis or "
                "the question). *Given away* is what the partial input scores above the majority label, in "
                "points: what it can tell from artefacts. *Due to the rest* is what the full input adds; its "
                "95 % interval is a bootstrap over rows, each with the answers of both."
            ),
        ),
        figures=(),
        tables=tuple(tables),
    )


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _points(value: float | None) -> str:
    return MISSING if value is None else decimal(100 * value, signed=True)


def _ranged(write: Callable[[float | None], str], value: float | None, entry: Entry, name: str) -> str:
    """A value with the interval that the entry has for it under `NAME_low` and `NAME_high`, if any."""
    low, high = (entry.get(f"{name}_{end}") for end in ("low", "high"))
    return write(value) if low is None or high is None else f"{write(value)} ({write(low)} to {write(high)})"


def _outcomes(entries: Sequence[Entry], known: Mapping[str, Part]) -> Iterator[PropertySection]:
    told = [
        entry
        for entry in entries
        if any(entry[name] is not None for name in ("outcome", "given_away", "generalises"))
    ]
    if not told:
        return
    first = told[0]
    yield PropertySection(
        title=Markdown("Phenomena by outcome"),
        sentences=(
            compose(
                "A phenomenon is *known* if a model that was trained on none of its rows has a Matthews "
                "correlation of at least {known}, else *learned* if one that was fine-tuned on it has, else "
                "*not learned*; without a result of each kind the last two are left open. It is *given away* "
                "if the partial input has an accuracy of at least {away} above the majority label. It "
                "*generalises* if a model that was trained on simple rows is right on hard rows more often "
                "than the majority label of the simple rows is.",
                known=_threshold(first.get("known_from"), "a threshold that was not recorded", 2),
                away=_threshold(first.get("given_away_from"), "a margin that was not recorded", None),
            ),
            Markdown(
                "Of several models of a kind the best counts: the question is what can be had. Only results "
                "on all rows of the evaluated split count."
            ),
        ),
        figures=(),
        tables=(_outcome_summary(told), _outcome_table(told, known)),
    )


def _threshold(value: float | None, unknown: str, digits: int | None) -> str:
    if value is None:
        return unknown
    return f"{decimal(100 * value, 0)} points" if digits is None else decimal(value, digits)


def _outcome_summary(entries: Sequence[Entry]) -> Markdown:
    def line(words: str, member: list[Entry], of: list[Entry]) -> tuple[object, ...]:
        share = percent(len(member) / len(of), 0) if of else MISSING
        names = join(code(entry["part"]) for entry in member) or MISSING
        return words, names, f"{count(len(member))} of {count(len(of))}", share

    decided = [entry for entry in entries if entry["outcome"] is not None]
    outcomes = ("known", "learned", "not_learned")
    lines = [
        line(word.replace("_", " "), [entry for entry in decided if entry["outcome"] == word], decided)
        for word in outcomes
    ]
    for column, words in (
        ("given_away", "given away by the partial input"),
        ("generalises", "generalises from simple to hard"),
    ):
        judged = [entry for entry in entries if entry[column] is not None]
        lines.append(line(words, [entry for entry in judged if entry[column]], judged))
    return table(("outcome", "phenomena", "number", "share (%)"), lines, left=2)


def _outcome_table(entries: Sequence[Entry], known: Mapping[str, Part]) -> Markdown:
    lines = [
        (
            (known[entry["part"]].category if entry["part"] in known else None) or MISSING,
            code(entry["part"]),
            MISSING if entry["outcome"] is None else entry["outcome"].replace("_", " "),
            decimal(entry["zero_shot"], 2),
            decimal(entry["fine_tuned"], 2),
            percent(entry["partial"]),
            percent(entry["majority"]),
            _yes(entry["given_away"]),
            percent(entry["simple_to_hard"]),
            _yes(entry["generalises"]),
        )
        for entry in entries
    ]
    header = (
        "category",
        "phenomenon",
        "outcome",
        "zero-shot correlation",
        "fine-tuned correlation",
        "partial input (%)",
        "majority label (%)",
        "given away",
        "simple to hard (%)",
        "generalises",
    )
    return table(header, lines, left=3)


def _yes(value: bool | None) -> str:
    return MISSING if value is None else "yes" if value else "no"


def _grouped(entries: Iterable[Entry]) -> dict[Group, list[Entry]]:
    """Entries by baseline, model, settings and metric, in order of first appearance."""
    groups: dict[Group, list[Entry]] = {}
    for entry in entries:
        key = entry.get("baseline", ""), entry["model"], entry["settings"], entry["metric"]
        groups.setdefault(key, []).append(entry)
    return groups


def _ambiguous(group: Group, groups: Iterable[Group]) -> bool:
    """Whether other groups differ from this one in their settings alone."""
    return any((other[:2], other[3]) == (group[:2], group[3]) and other != group for other in groups)


def _caption(group: Group, groups: Iterable[Group]) -> Markdown:
    baseline, model, settings, metric = group
    parts_ = [compose("{baseline:code}", baseline=baseline)] if baseline else []
    if model is not None:
        parts_.append(compose("with {model:code}" if baseline else "{model:code}", model=model))
    named = Markdown(" ".join(parts_))
    which = compose(" (settings {hash:code})", hash=_short(settings)) if _ambiguous(group, groups) else ""
    return compose(
        "{named}{which}, {metric}", named=named, which=Markdown(which), metric=metric_words(metric)
    )


def _plain(group: Group, *, metric: bool = True, settings: bool = False) -> str:
    baseline, model, hash_, name = group
    who = baseline if model is None else f"{baseline} with {model}"
    which = f" ({_short(hash_)})" if settings else ""
    return f"{who}{which}, {metric_words(name)}" if metric else f"{who}{which}"


def _short(settings: str) -> str:
    return settings.removeprefix("sha256:")[:8]


def _captioned(caption: Markdown, written: Markdown, lines: int) -> Markdown:
    if lines > _OPEN_LINES:
        return _folded(caption, written, lines)
    return Markdown(f"{caption}:\n\n{written}")


def _folded(caption: Markdown, written: Markdown, lines: int) -> Markdown:
    return folded(caption, written)


def _with_interval(entry: Entry) -> str:
    low, high = entry["low"], entry["high"]
    value = percent(entry["value"])
    return value if low is None or high is None else f"{value} ({percent(low)} to {percent(high)})"


def _seeds(entries: Sequence[Entry]) -> Markdown:
    """What the intervals are over."""
    kinds = {entry["interval"]: 0 for entry in entries}
    for entry in entries:
        kinds[entry["interval"]] = max(kinds[entry["interval"]], entry["seeds"])
    if set(kinds.values()) <= {1}:
        return compose(
            "One seed: intervals are over the evaluated rows ({kinds}) and do not tell what another training "
            "run would give.",
            kinds=", ".join(kinds),
        )
    return compose("Intervals: {kinds}, with up to {n} seeds.", kinds=", ".join(kinds), n=max(kinds.values()))
