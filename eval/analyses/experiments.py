"""The experiments of Curriculum (2204.06283, section 5) as far as results for them are stored.

Inoculation curves, the matrix of simple and hard rows, what the partial input gives away, and what becomes of
each phenomenon. Seeds of one setting are pooled: a value is their mean, and its interval that of the mean by
Student's t, or, with a single seed, the metric's own interval over rows. All values are those of the metrics.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...hashing import canonical_json, sha256_text
from ...release import ReleaseFolder
from ..metrics.intervals import Interval, bootstrap_mean
from ..results import Result, read_examples

FULL, PARTIAL, MAJORITY = "fine_tuned_full_input", "fine_tuned_partial_input", "majority"
ZERO_SHOT = ("classifier", "lm_zero_shot", "seq2seq_zero_shot")

KNOWN = 0.5
"""A phenomenon is known, or learned, from this Matthews correlation on."""
GIVEN_AWAY = 0.1
"""The partial input gives a phenomenon away if it scores this much accuracy above the majority label."""

ACCURACY = "accuracy"
SEEDS = "Student's t over seeds 95%"
_LEVEL = 0.95
_LOWEST = {"accuracy": 0.0, "matthews_correlation": -1.0}
"""The least values of metrics whose greatest is 1."""


@dataclass(frozen=True)
class Pooled:
    """Mean over seeds of one metric of one config, with its interval; `interval` names the kind."""

    value: float
    low: float | None
    high: float | None
    interval: str
    seeds: int

    def line(self) -> dict[str, Any]:
        """The fields as the lines below have them."""
        return dict(vars(self))


@dataclass(frozen=True)
class InoculationPoint:
    """One baseline on one config after `rows_per_label` rows of every label; 0 for the model as it came."""

    config: str
    baseline: str
    model: str | None
    settings: str
    metric: str
    rows_per_label: int
    value: float
    low: float | None
    high: float | None
    interval: str
    seeds: int


@dataclass(frozen=True)
class GeneralisationCell:
    """Accuracy after training on simple or hard rows, on simple or hard rows (C.7: a 2 x 2 matrix).

    `part` is the phenomenon, None for a release of one data set; `scores` the table that graded the rows.
    `evaluated_on` is the split, `majority` what the majority label of the training rows scores on the same
    rows (None where it was not evaluated).
    """

    part: str | None
    scores: str
    config: str
    baseline: str
    model: str | None
    settings: str
    metric: str
    train: str
    evaluation: str
    evaluated_on: str
    majority: float | None
    value: float
    low: float | None
    high: float | None
    interval: str
    seeds: int


@dataclass(frozen=True)
class PartialInput:
    """What a model that sees only the hypothesis (or question) scores, beside the same with both texts.

    Intervals of both are those of `Pooled`. `difference` is full less partial input; its interval is a
    bootstrap over rows, each with both answers to it (the means over seeds), and None where the answers to
    single rows are not at hand, or the metric is none of single rows.
    """

    config: str
    model: str | None
    settings: str
    metric: str
    full: float
    full_low: float | None
    full_high: float | None
    partial: float
    partial_low: float | None
    partial_high: float | None
    majority: float | None
    difference: float
    difference_low: float | None
    difference_high: float | None
    seeds: int


@dataclass(frozen=True)
class Outcome:
    """What becomes of one phenomenon; None where no result tells.

    `outcome`: `known` (zero-shot correlation of at least KNOWN), else `learned` (after fine-tuning), else
    `not_learned`; the last two take results of both kinds, for what was not asked may be known.
    `given_away`: the partial input is GIVEN_AWAY above the majority label. `generalises`: trained on simple
    rows, a model answers the hard ones better than the majority label of the simple ones does.
    """

    config: str
    part: str
    zero_shot: float | None
    fine_tuned: float | None
    outcome: str | None
    partial: float | None
    majority: float | None
    given_away: bool | None
    simple_to_hard: float | None
    generalises: bool | None
    known_from: float = KNOWN
    given_away_from: float = GIVEN_AWAY


def inoculation(results: Sequence[Result]) -> list[InoculationPoint]:
    """Every point of every curve, by config, baseline, model and number of rows, each with all its metrics.

    A curve begins with the same model as it came, where there is a result of baseline `classifier` on the
    same rows, texts and weights: a curve of the partial input has no such point. That one answers with the
    largest output and names its label; a model that is trained sums the outputs of one label, so that the
    first step of a curve may owe something to the rule.
    """
    trained = [r for r in results if r.settings.get("rows_per_label") is not None]
    points = []
    for (config, baseline, model, settings), runs in _grouped(trained, without=("rows_per_label",)).items():
        by_number: dict[int, list[Result]] = {}
        for run in runs:
            by_number.setdefault(run.settings["rows_per_label"], []).append(run)
        start = [r for r in results if r.baseline == "classifier" and _begins(r, runs[0])]
        for number, group in ([(0, start[:1])] if start else []) + sorted(by_number.items()):
            for metric in group[0].metrics:
                points.append(
                    InoculationPoint(
                        config=config,
                        baseline=baseline,
                        model=model,
                        settings=settings,
                        metric=metric,
                        rows_per_label=number,
                        **pooled(group, metric).line(),
                    )
                )
    return points


def _begins(untrained: Result, trained: Result) -> bool:
    """Whether both read the same texts of the same rows with one model, which only the second trained.

    One name may stand for several models: for revisions of it, or folders of one name.
    """
    first, second = (
        (r.model, (r.settings.get("model") or {}).get("weights_sha256"), r.settings.get("columns"))
        for r in (untrained, trained)
    )
    return first == second and _rows(untrained) == _rows(trained)


def generalisation(
    configs: Mapping[str, Mapping[str, Any]], results: Sequence[Result]
) -> list[GeneralisationCell]:
    """The cells of every matrix that can be filled; `configs` are entries of the manifest."""
    cells = []
    majorities = _majorities(results)
    placed = {name: entry for name, entry in configs.items() if entry.get("splitter") == "pvi"}
    of_cells = [r for r in results if r.config in placed and r.baseline in (FULL, PARTIAL)]
    for (config, baseline, model, settings), runs in _grouped(of_cells).items():
        entry, metric = placed[config], runs[0].headline
        cells.append(
            GeneralisationCell(
                part=entry.get("part"),
                scores=str(entry["scores"]),
                config=config,
                baseline=baseline,
                model=model,
                settings=settings,
                metric=metric,
                train=entry["parameters"]["train"],
                evaluation=entry["parameters"]["evaluation"],
                evaluated_on=runs[0].evaluated_on,
                majority=_share(majorities.get(_rows(runs[0])), metric),
                **pooled(runs, metric).line(),
            )
        )
    return cells


Answers = Callable[[Result, str], Mapping[str, float]]
"""The scores of a result by one metric, row by row: uid to score, without rows that could not be judged."""


def stored_answers(release: ReleaseFolder) -> Answers:
    """The answers that stand beside the results of `release`; none of results whose answers are withheld."""

    def scores(result: Result, metric: str) -> dict[str, float]:
        if result.withheld:
            return {}
        found = {line["uid"]: line["scores"].get(metric) for line in read_examples(release, result)}
        return {uid: float(score) for uid, score in found.items() if score is not None}

    return scores


def partial_input(
    results: Sequence[Result], answers: Answers = lambda result, metric: {}
) -> list[PartialInput]:
    """Full beside partial input, for runs that differ in nothing else; `answers` are those to their rows."""
    majorities = _majorities(results)
    full = _grouped((r for r in results if r.baseline == FULL), without=("columns",))
    rows = []
    chosen = (r for r in results if r.baseline == PARTIAL)
    for (config, _, model, settings), runs in _grouped(chosen, without=("columns",)).items():
        whole = full.get((config, FULL, model, settings))
        if whole is None:
            continue
        metric = runs[0].headline
        share = _share(majorities.get(_rows(runs[0])), metric)
        both, second = pooled(whole, metric), pooled(runs, metric)
        low, high = _paired_interval(whole, runs, metric, answers)
        rows.append(
            PartialInput(
                config=config,
                model=model,
                settings=settings,
                metric=metric,
                full=both.value,
                full_low=both.low,
                full_high=both.high,
                partial=second.value,
                partial_low=second.low,
                partial_high=second.high,
                majority=share,
                difference=both.value - second.value,
                difference_low=low,
                difference_high=high,
                seeds=min(both.seeds, second.seeds),
            )
        )
    return rows


def _paired_interval(
    first: Sequence[Result], second: Sequence[Result], metric: str, answers: Answers
) -> Interval:
    """Of the mean over rows that all runs answered, first less second; (None, None) without such rows."""
    if metric != ACCURACY:
        return None, None
    given = [[answers(run, metric) for run in runs] for runs in (first, second)]
    shared = set.intersection(*(set(found) for runs in given for found in runs))
    if not shared:
        return None, None
    uids = sorted(shared)
    one, other = (np.mean([[found[uid] for uid in uids] for found in runs], axis=0) for runs in given)
    # Rounded, so that equal differences of means are one kind, whatever their last bits say.
    return bootstrap_mean(np.round(one - other, 12))


def outcomes(configs: Mapping[str, Mapping[str, Any]], results: Sequence[Result]) -> list[Outcome]:
    """What becomes of every phenomenon whose published placement was evaluated.

    Where several models were, the best of each kind counts: the question is what can be had. Only results on
    all rows of the evaluated split count.
    """
    found = []
    whole = _whole(results)
    cells = generalisation(configs, whole)
    for name, entry in configs.items():
        part = entry.get("part")
        if part is None or entry.get("splitter") != "published":
            continue
        here = [r for r in whole if r.config == name]
        zero_shot = _best(here, ZERO_SHOT, "matthews_correlation")
        tuned = _best(here, (FULL,), "matthews_correlation")
        majority = _majority(here, name)
        partial = _best(here, (PARTIAL,), "accuracy")
        crossed = [
            cell
            for cell in cells
            if (cell.part, cell.baseline, cell.train, cell.evaluation) == (part, FULL, "simple", "hard")
        ]
        best = max(crossed, key=lambda cell: cell.value, default=None)
        simple_to_hard = None if best is None else best.value
        hard = None if best is None else _majority(whole, best.config)
        if zero_shot is None and tuned is None and partial is None and simple_to_hard is None:
            continue
        found.append(
            Outcome(
                config=name,
                part=part,
                zero_shot=zero_shot,
                fine_tuned=tuned,
                outcome=_outcome(zero_shot, tuned),
                partial=partial,
                majority=majority,
                given_away=_given_away(partial, majority),
                simple_to_hard=simple_to_hard,
                generalises=None if simple_to_hard is None or hard is None else simple_to_hard > hard,
            )
        )
    return found


def pooled(runs: Sequence[Result], metric: str) -> Pooled:
    """Mean and interval of one metric over runs that differ in their seed alone.

    The interval ends where the values of the metric do: those of two or three seeds may be very long.
    """
    summaries = [run.metrics[metric] for run in runs]
    values = [summary["value"] for summary in summaries]
    if len(values) == 1:
        one = summaries[0]
        return Pooled(one["value"], one["low"], one["high"], one["interval"], 1)
    mean = statistics.fmean(values)
    half = _student_t(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    low, high = mean - half, mean + half
    if metric in _LOWEST:
        low, high = max(low, _LOWEST[metric]), min(high, 1.0)
    return Pooled(mean, low, high, SEEDS, len(values))


def _student_t(degrees: int) -> float:
    """The quantile that leaves half of 1 - LEVEL above it."""
    from scipy.stats import t

    return float(t.ppf((1 + _LEVEL) / 2, degrees))


def _grouped(
    results: Iterable[Result], without: tuple[str, ...] = ()
) -> dict[tuple[str, str, str | None, str], list[Result]]:
    """Results by config, baseline, model and a hash of the settings, seeds and the fields `without` apart."""
    groups: dict[tuple[str, str, str | None, str], list[Result]] = {}
    for result in results:
        kept = {name: value for name, value in result.settings.items() if name not in without}
        rest = sha256_text(canonical_json([kept, result.limit, result.evaluated_on]))
        groups.setdefault((result.config, result.baseline, result.model, rest), []).append(result)
    return groups


def _best(results: Sequence[Result], baselines: Sequence[str], metric: str) -> float | None:
    chosen = [r for r in results if r.baseline in baselines and metric in r.metrics]
    return max((pooled(runs, metric).value for runs in _grouped(chosen).values()), default=None)


def _rows(result: Result) -> tuple[Any, ...]:
    """The rows that a result speaks of."""
    return result.config, result.evaluated_on, result.limit


def _majorities(results: Sequence[Result]) -> dict[tuple[Any, ...], Result]:
    """Results of the majority label by the rows that they speak of."""
    return {_rows(r): r for r in results if r.baseline == MAJORITY}


def _share(result: Result | None, metric: str) -> float | None:
    return None if result is None or metric not in result.metrics else result.metrics[metric]["value"]


def _whole(results: Sequence[Result]) -> list[Result]:
    """Results on all rows of the split that their config is evaluated on: test, or else validation."""
    whole = [result for result in results if result.limit is None]
    tested = {result.config for result in whole if result.evaluated_on == "test"}
    return [r for r in whole if r.evaluated_on == ("test" if r.config in tested else "validation")]


def _majority(results: Sequence[Result], config: str) -> float | None:
    """Accuracy of the majority label of the train rows of `config`."""
    return _best([r for r in results if r.config == config], (MAJORITY,), "accuracy")


def _given_away(partial: float | None, majority: float | None) -> bool | None:
    if partial is None or majority is None:
        return None
    # 0.6 is 0.1 above 0.5, whatever the last bits say.
    return round(partial - majority, 9) >= GIVEN_AWAY


def _outcome(zero_shot: float | None, fine_tuned: float | None) -> str | None:
    if zero_shot is not None and zero_shot >= KNOWN:
        return "known"
    if zero_shot is None or fine_tuned is None:
        return None
    return "learned" if fine_tuned >= KNOWN else "not_learned"
