"""Results by classes of rows, and what the classes alone would make of a split.

2210.06799, Figures 2 and 5 (composition by hardness) and Tables 5 and 14 (projected accuracy). All values
are fractions in [0, 1].
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from datasets import ClassLabel

from ...release import ReleaseFolder
from ..results import Result, read_examples

NOVEL_COMPOUNDS = "num_novel_compounds"
"""Evaluated rows fall into those without a novel compound and those with some."""
NONE, SOME = "none", "some"
_MEAN_TOLERANCE = 1e-9

_RunKey = tuple[str, str | None, str, str]


@dataclass(frozen=True)
class Group:
    """Rows of one class: how many were judged, and the mean of their scores, None without any."""

    n: int
    value: float | None


@dataclass(frozen=True)
class Breakdown:
    """One metric of one result by the classes of a column. Rows without a class are in no group."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    config: str
    column: str
    groups: dict[str, Group]


@dataclass(frozen=True)
class Projection:
    """What a config's classes alone would make of the result on random splits (Tables 5 and 14).

    `projected` is what the config would score if every class were as hard as it is on random splits; the
    part of the drop from `random` to `observed` that it does not reach has other causes.
    """

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    config: str
    column: str
    random_configs: tuple[str, ...]
    random: float
    projected: float
    observed: float


def breakdowns(release: ReleaseFolder, results: Iterable[Result]) -> list[Breakdown]:
    """Every result by every class column of its config, for the metrics that are means over rows.

    Class columns are those with named classes that the task does not predict, and the number of novel
    compounds. Results without their answers are left out. Raises ReleaseError for a per-example file that
    cannot be read.
    """
    classes: dict[tuple[str, str], dict[str, _Classes]] = {}
    found = []
    for result in results:
        place = result.config, result.evaluated_on
        if place not in classes:
            classes[place] = _classes(release, *place)
        if result.withheld or not classes[place]:
            continue
        scores = _mean_scores(release, result)
        found += [
            Breakdown(
                result.baseline,
                result.model,
                result.settings_hash,
                metric,
                result.config,
                column,
                group_means(of_rows.names, of_rows.of_uid, by_uid),
            )
            for column, of_rows in classes[place].items()
            for metric, by_uid in scores.items()
        ]
    return found


def group_means(
    names: Sequence[str], class_of: Mapping[str, str], scores: Mapping[str, float]
) -> dict[str, Group]:
    """Mean score of every class, in the order of `names`; `class_of` and `scores` are by uid."""
    values: dict[str, list[float]] = {name: [] for name in names}
    for uid, score in scores.items():
        if uid in class_of:
            values[class_of[uid]].append(score)
    return {
        name: Group(len(found), statistics.fmean(found) if found else None) for name, found in values.items()
    }


def projections(
    found: Iterable[Breakdown], results: Iterable[Result], random_configs: Sequence[str]
) -> list[Projection]:
    """The projection of every other config, from the breakdowns of the same run on its random splits.

    A config with a class that no random split has is left out.
    """
    values = {
        (_run_of(result, metric), result.config): summary["value"]
        for result in results
        for metric, summary in result.metrics.items()
    }
    runs: dict[tuple[_RunKey, str], dict[str, Breakdown]] = {}
    for row in found:
        runs.setdefault((_run_of(row, row.metric), row.column), {})[row.config] = row
    rows = []
    for (run, column), by_config in runs.items():
        random = tuple(name for name in random_configs if name in by_config)
        accuracies = mean_groups([by_config[name].groups for name in random])
        for config, row in by_config.items():
            projected = projected_accuracy(accuracies, row.groups)
            if config in random_configs or projected is None:
                continue
            of_random = statistics.fmean(values[run, name] for name in random)
            observed = values[run, config]
            rows.append(Projection(*run, config, column, random, of_random, projected, observed))
    return rows


def mean_groups(splits: Sequence[Mapping[str, Group]]) -> dict[str, float]:
    """Mean value of every class over the splits that have rows of it."""
    names = dict.fromkeys(name for groups in splits for name in groups)
    values = {
        name: [value for groups in splits if name in groups and (value := groups[name].value) is not None]
        for name in names
    }
    return {name: statistics.fmean(found) for name, found in values.items() if found}


def projected_accuracy(accuracies: Mapping[str, float], groups: Mapping[str, Group]) -> float | None:
    """Sum over classes of accuracy elsewhere times the share of the class here.

    None if `groups` has no rows, or rows of a class without an accuracy.

    >>> projected_accuracy({"easy": 0.9, "hard": 0.5}, {"easy": Group(30, 0.8), "hard": Group(10, 0.4)})
    0.8
    """
    counts = {name: group.n for name, group in groups.items() if group.n}
    if not counts or any(name not in accuracies for name in counts):
        return None
    return sum(accuracies[name] * n for name, n in counts.items()) / sum(counts.values())


def _run_of(row: Result | Breakdown, metric: str) -> _RunKey:
    return row.baseline, row.model, row.settings_hash, metric


@dataclass(frozen=True)
class _Classes:
    """Names of the classes of one column in order, and the class of each row that has one."""

    names: tuple[str, ...]
    of_uid: dict[str, str]


def _classes(release: ReleaseFolder, config: str, split: str) -> dict[str, _Classes]:
    """Columns of one split that divide its rows into classes; without those that have no values at all."""
    features = release.features(config)
    target = release.task(config).target
    labels = [
        name for name, feature in features.items() if isinstance(feature, ClassLabel) and name != target
    ]
    columns = [*labels, *([NOVEL_COMPOUNDS] if NOVEL_COMPOUNDS in features else [])]
    if not columns:
        return {}
    table = release.table(config, split, ["uid", *columns])
    found = {}
    for column in columns:
        names = (NONE, SOME) if column == NOVEL_COMPOUNDS else tuple(features[column].names)
        of_uid = _class_of_uid(table, column, names)
        if of_uid:
            found[column] = _Classes(names, of_uid)
    return found


def _class_of_uid(table: pa.Table, column: str, names: tuple[str, ...]) -> dict[str, str]:
    values = zip(table.column("uid").to_pylist(), table.column(column).to_pylist(), strict=True)
    number = (lambda value: min(value, 1)) if column == NOVEL_COMPOUNDS else (lambda value: value)
    return {uid: names[number(value)] for uid, value in values if value is not None and value >= 0}


def _mean_scores(release: ReleaseFolder, result: Result) -> dict[str, dict[str, float]]:
    """Scores by metric and uid, of the metrics that are their means (macro-F1 has no scores of rows)."""
    scores: dict[str, dict[str, float]] = {name: {} for name in result.metrics}
    for line in read_examples(release, result):
        for name, score in line["scores"].items():
            scores[name][line["uid"]] = score
    return {
        name: by_uid
        for name, by_uid in scores.items()
        if abs(float(np.mean(list(by_uid.values()))) - result.metrics[name]["value"]) < _MEAN_TOLERANCE
    }
