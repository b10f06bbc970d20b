"""Comparisons of one run over several configs: the tables of 2210.06799 that hold accuracies.

A *run* is one baseline with one set of settings; only equal settings are ever compared. All values are
fractions in [0, 1].
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..results import Result


@dataclass(frozen=True)
class Run:
    """One baseline with equal settings: the value of one metric by config."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    values: Mapping[str, float]

    def on(self, configs: Sequence[str]) -> Run:
        """The run on these configs alone."""
        return replace(self, values={name: self.values[name] for name in self.values if name in configs})


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over random splits (Table 3)."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    configs: tuple[str, ...]
    mean: float
    standard_deviation: float


@dataclass(frozen=True)
class Drop:
    """A config against the mean of the random splits; None where the random splits have no errors."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    config: str
    value: float
    random_configs: tuple[str, ...]
    random_mean: float
    drop: float
    relative_error_increase: float | None


@dataclass(frozen=True)
class ForwardAndReverse:
    """A likelihood split, the same scores with the most likely rows held out, and random (Table 4)."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    forward_config: str
    forward: float
    reverse_config: str
    reverse: float
    random_mean: float | None


@dataclass(frozen=True)
class ScorerComparison:
    """Splits that differ in the scoring model or in k only, side by side (Tables 11 and 12)."""

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    values: dict[str, float]


def comparable_configs(configs: Mapping[str, Mapping[str, Any]]) -> list[tuple[list[str], list[str]]]:
    """Configs that divide the same rows, and the random splits among them.

    `configs` are entries of the manifest. Placements that were published by name (`parameters.split`) divide
    rows of their own: they are compared with the random one among them, and with none where there is none.
    """
    named = {name: (entry.get("parameters") or {}).get("split") for name, entry in configs.items()}
    here = [name for name, split in named.items() if split is None]
    elsewhere = {name: split for name, split in named.items() if split is not None}
    return [
        (here, [name for name in here if configs[name].get("splitter") == "random"]),
        (list(elsewhere), [name for name, split in elsewhere.items() if split.startswith("random")]),
    ]


def group_runs(results: Iterable[Result]) -> list[Run]:
    """Runs of equal settings over configs, one for every metric, in the order of first appearance."""
    values: dict[tuple[str, str | None, str, str], dict[str, float]] = {}
    for result in results:
        for metric, summary in result.metrics.items():
            key = (result.baseline, result.model, result.settings_hash, metric)
            values.setdefault(key, {})[result.config] = summary["value"]
    return [Run(*key, values=by_config) for key, by_config in values.items()]


def relative_error_increase(accuracy: float, reference: float) -> float | None:
    """How much larger the error is than on the reference split: (1 - accuracy) / (1 - reference) - 1.

    None where the reference has no errors.

    >>> round(relative_error_increase(0.660, 0.786), 2)
    0.59
    """
    return None if reference == 1 else (1 - accuracy) / (1 - reference) - 1


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (divisor n - 1) of at least two values."""
    return statistics.fmean(values), statistics.stdev(values)


def random_spread(run: Run, random_configs: Sequence[str]) -> Spread | None:
    """The spread of a run over random splits; None if it has fewer than two of them."""
    names = tuple(name for name in random_configs if name in run.values)
    if len(names) < 2:
        return None
    mean, deviation = mean_and_deviation([run.values[name] for name in names])
    return Spread(run.baseline, run.model, run.settings_hash, run.metric, names, mean, deviation)


def drops(run: Run, random_configs: Sequence[str]) -> list[Drop]:
    """Every other config of a run against its random splits; empty if it has none."""
    names = tuple(name for name in random_configs if name in run.values)
    if not names:
        return []
    mean = statistics.fmean(run.values[name] for name in names)
    return [
        Drop(
            run.baseline,
            run.model,
            run.settings_hash,
            run.metric,
            config,
            value,
            names,
            mean,
            mean - value,
            relative_error_increase(value, mean),
        )
        for config, value in run.values.items()
        if config not in random_configs
    ]


def forward_and_reverse(
    run: Run, reverses: Mapping[str, str], random_configs: Sequence[str]
) -> list[ForwardAndReverse]:
    """Pairs of a config and its reverse that the run has both; `reverses` maps forward to reverse names."""
    random = [run.values[name] for name in random_configs if name in run.values]
    return [
        ForwardAndReverse(
            run.baseline,
            run.model,
            run.settings_hash,
            run.metric,
            forward,
            run.values[forward],
            reverse,
            run.values[reverse],
            statistics.fmean(random) if random else None,
        )
        for forward, reverse in reverses.items()
        if forward in run.values and reverse in run.values
    ]


def scorer_comparison(run: Run, variants: Iterable[Sequence[str]]) -> list[ScorerComparison]:
    """The run's values on each group of configs that differ in their scores only."""
    rows = []
    for names in variants:
        values = {name: run.values[name] for name in names if name in run.values}
        if len(values) > 1:
            rows.append(ScorerComparison(run.baseline, run.model, run.settings_hash, run.metric, values))
    return rows
