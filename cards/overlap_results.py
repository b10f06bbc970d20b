"""What models score on overlapping and other rows (2011.04767, Tables 5 and 6), from `results/index.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..release import ReleaseFolder
from . import checks
from .markdown import Markdown, code, compose, folded, join, table
from .numbers import MISSING, count, decimal, percent
from .properties import PropertySection
from .results import analysis_entries

_RUN = {
    "baseline": checks.text,
    "model": checks.optional(checks.text),
    "settings": checks.text,
    "seed": checks.count,
}
_PLACE = {"config": checks.text, "part": checks.optional(checks.text), "subset": checks.text}
_INTERVAL = {"low": checks.number, "high": checks.number, "interval": checks.text}
_SUBSET = checks.record(**_PLACE, **_RUN, **_INTERVAL, n=checks.count, value=checks.number)
_TEST = {**_INTERVAL, "difference": checks.number, "p": checks.number, "test": checks.text}
_DIFFERENCE = checks.record(
    **_PLACE, **_RUN, **_TEST, against=checks.text, n=checks.count, n_against=checks.count
)
_COMPARISON = checks.record(
    **_PLACE,
    **_TEST,
    first=checks.record(**_RUN),
    second=checks.record(**_RUN),
    n=checks.count,
    only_first=checks.count,
    only_second=checks.count,
)
_TWINS = checks.record(
    **_PLACE,
    **_RUN,
    **_INTERVAL,
    **dict.fromkeys(("pairs", "both", "one", "none"), checks.count),
    value=checks.number,
)

_REST = "rest"
_SMALLEST_P = 0.0001

Entry = Mapping[str, Any]
Run = tuple[str, str | None, str, int]


def overlap_result_sections(release: ReleaseFolder, index: Mapping[str, Any]) -> list[PropertySection]:
    """Accuracy by subset, differences with their tests, and twins; empty where nothing was evaluated.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    subsets = _entries(release, index, "overlap_subsets", _SUBSET)
    if not subsets:
        return []
    differences = _entries(release, index, "overlap_differences", _DIFFERENCE)
    comparisons = _entries(release, index, "overlap_comparisons", _COMPARISON)
    twins = _entries(release, index, "overlap_twins", _TWINS)
    runs = _names(subsets)
    tables = [_subset_table(config, found, runs) for config, found in _by_config(subsets).items()]
    tables += [_difference_table(differences, runs)] if differences else []
    tables += [_comparison_table(found, config, runs) for config, found in _by_config(comparisons).items()]
    tables += [_twin_table(twins, runs)] if twins else []
    return [
        PropertySection(
            title=Markdown("Accuracy and overlap"),
            sentences=tuple(_sentences(differences, comparisons, twins)),
            figures=(),
            tables=tuple(tables),
        )
    ]


def _entries(release: ReleaseFolder, index: Mapping[str, Any], kind: str, check: checks.Check) -> list[Entry]:
    """An analysis' entries about configs that are still there."""
    entries = analysis_entries(release, index, kind, check)
    there = release.placed_configs
    return [entry for entry in entries if entry["config"] in there and entry["subset"] in there]


def _sentences(
    differences: Sequence[Entry], comparisons: Sequence[Entry], twins: Sequence[Entry]
) -> Iterator[Markdown]:
    yield Markdown(
        "Accuracy in percent, with 95 % intervals, of runs on whole test sets, looked at again on the rows "
        "of each subset. Overlapping rows are no random sample of a test set: they may be easier or harder "
        "for other reasons than that they stand in a corpus."
    )
    if differences:
        yield compose(
            "*Difference* is the accuracy on an overlapping subset minus that on other rows, in points. One "
            "run answered both, but they are different rows: the test is unpaired ({test}; interval: "
            "{interval}).",
            test=differences[0]["test"],
            interval=differences[0]["interval"],
        )
    if comparisons:
        yield compose(
            "Two runs on the same rows are compared by a paired test ({test}; interval: {interval}).",
            test=comparisons[0]["test"],
            interval=comparisons[0]["interval"],
        )
    if differences or comparisons:
        yield Markdown("No *p* is corrected for the number of tests.")
    if twins:
        yield Markdown(
            "Twins are two rows that differ in a few words and in the answer: a run that has **both** right "
            "has used those words. Guessing has a quarter of the pairs right."
        )


def _by_config(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry["config"], []).append(entry)
    return groups


def _key(entry: Entry) -> Run:
    return entry["baseline"], entry["model"], entry["settings"], entry["seed"]


def _names(entries: Sequence[Entry]) -> dict[Run, Markdown]:
    """How each run is called; seed and settings are told only where others differ in nothing else."""
    runs = list(dict.fromkeys(_key(entry) for entry in entries))
    names = {}
    for run in runs:
        baseline, model, settings, seed = run
        alike = [other for other in runs if other[:2] == run[:2]]
        parts = [code(baseline)]
        parts += [compose("with {model:code}", model=model)] if model is not None else []
        if len({other[3] for other in alike}) > 1:
            parts.append(compose("seed {seed}", seed=seed))
        if len({other[2] for other in alike}) > 1:
            parts.append(compose("settings {hash:code}", hash=settings.removeprefix("sha256:")[:8]))
        names[run] = join(parts, " ")
    return names


def _name(runs: Mapping[Run, Markdown], entry: Entry) -> Markdown:
    return runs.get(_key(entry)) or code(entry["baseline"])


def _subset_table(config: str, entries: Sequence[Entry], runs: Mapping[Run, Markdown]) -> Markdown:
    """Runs by subsets, the whole test set first."""
    subsets = list(dict.fromkeys(entry["subset"] for entry in entries))
    sizes = {name: max(e["n"] for e in entries if e["subset"] == name) for name in subsets}
    values = {(_key(entry), entry["subset"]): entry for entry in entries}
    header = ["run", *(compose("{name:code} ({n})", name=s, n=count(sizes[s])) for s in subsets)]
    lines = [
        (runs[run], *(_cell(values.get((run, subset)), sizes[subset]) for subset in subsets))
        for run in dict.fromkeys(_key(entry) for entry in entries)
    ]
    caption = compose("{config:code}, rows of each subset in brackets", config=config)
    return Markdown(f"{caption}:\n\n{table(header, lines)}")


def _cell(entry: Entry | None, size: int) -> str:
    if entry is None:
        return MISSING
    judged = "" if entry["n"] == size else f", {count(entry['n'])} rows"
    return f"{percent(entry['value'])} ({percent(entry['low'])} to {percent(entry['high'])}{judged})"


def _difference_table(entries: Sequence[Entry], runs: Mapping[Run, Markdown]) -> Markdown:
    lines = [
        (
            _name(runs, entry),
            code(entry["subset"]),
            Markdown("all other searched rows") if entry["against"] == _REST else code(entry["against"]),
            f"{count(entry['n'])} and {count(entry['n_against'])}",
            _points(entry),
            _p(entry["p"]),
        )
        for entry in entries
    ]
    header = ("run", "subset", "against", "rows", "difference (points)", Markdown("*p*"))
    return table(header, lines, left=3)


def _comparison_table(entries: Sequence[Entry], config: str, runs: Mapping[Run, Markdown]) -> Markdown:
    lines = [
        (
            code(entry["subset"]),
            _name(runs, entry["first"]),
            _name(runs, entry["second"]),
            count(entry["n"]),
            f"{count(entry['only_first'])} and {count(entry['only_second'])}",
            _points(entry),
            _p(entry["p"]),
        )
        for entry in entries
    ]
    header = (
        "rows of",
        "first run",
        "second run",
        "rows",
        "right in one alone",
        "first minus second (points)",
        Markdown("*p*"),
    )
    return folded(
        compose("Runs compared on the rows of {config:code}", config=config), table(header, lines, 3)
    )


def _twin_table(entries: Sequence[Entry], runs: Mapping[Run, Markdown]) -> Markdown:
    lines = [
        (
            _name(runs, entry),
            code(entry["subset"]),
            count(entry["pairs"]),
            f"{percent(entry['value'])} ({percent(entry['low'])} to {percent(entry['high'])})",
            count(entry["one"]),
            count(entry["none"]),
        )
        for entry in entries
    ]
    header = ("run", "rows of", "pairs of twins", "both right (%)", "one right", "none right")
    return table(header, lines, left=2)


def _points(entry: Entry) -> str:
    difference = decimal(_hundredfold(entry["difference"]), signed=True)
    if entry["low"] is None or entry["high"] is None:
        return difference
    low, high = (decimal(_hundredfold(entry[end]), signed=True) for end in ("low", "high"))
    return f"{difference} ({low} to {high})"


def _hundredfold(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _p(value: float | None) -> str:
    return f"< {_SMALLEST_P}" if value is not None and value < _SMALLEST_P else decimal(value, 4)
