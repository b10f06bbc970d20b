"""Inoculation curves, matrices, partial inputs and outcomes: hand-worked from a few results."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import binom

from benchwright.eval.analyses import generalisation, inoculation, outcomes, partial_input
from benchwright.eval.analyses.experiments import pooled
from benchwright.eval.results import Result

FULL, PARTIAL = "fine_tuned_full_input", "fine_tuned_partial_input"


def _result(
    config: str, baseline: str, accuracy: float, *, mcc: float = 0.0, seed: int = 0, **settings: Any
) -> Result:
    def metric(value: float) -> dict[str, Any]:
        low, high = value - 0.1, value + 0.1
        return {"value": value, "n": 50, "low": low, "high": high, "interval": "Wilson 95%", "version": 1}

    return Result(
        config=config,
        task="binary-nli",
        task_hash="",
        baseline=baseline,
        model=None if baseline == "majority" else "minilm",
        settings={"version": 1, **settings},
        seed=seed,
        limit=None,
        evaluated_on="validation",
        splits={},
        metrics={"accuracy": metric(accuracy), "matthews_correlation": metric(mcc)},
        predictions_hash="",
    )


def _published(part: str) -> dict[str, Any]:
    return {"splitter": "published", "part": part, "parameters": {}, "scores": None}


def _cell(part: str, train: str, evaluation: str) -> dict[str, Any]:
    return {
        "splitter": "pvi",
        "part": part,
        "parameters": {"train": train, "evaluation": evaluation},
        "scores": f"pvi_{part}",
    }


def test_seeds_are_pooled_with_students_t() -> None:
    runs = [_result("a", FULL, value, seed=seed) for seed, value in enumerate((0.5, 0.6, 0.7))]
    found = pooled(runs, "accuracy")
    half = 4.302652729911275 * 0.1 / math.sqrt(3)
    assert (found.value, found.seeds) == (pytest.approx(0.6), 3)
    assert (found.low, found.high) == (pytest.approx(0.6 - half), pytest.approx(0.6 + half))
    alone = pooled(runs[:1], "accuracy")
    assert (alone.low, alone.high, alone.interval) == (0.4, 0.6, "Wilson 95%")


def test_no_interval_over_seeds_goes_beyond_the_metric() -> None:
    """With two seeds Student's t is 12.7: 0.9 give or take 0.64 would be an accuracy of up to 154 %."""
    runs = [
        _result("a", FULL, value, mcc=mcc, seed=seed)
        for seed, value, mcc in ((0, 0.85, -0.9), (1, 0.95, 0.7))
    ]
    found = {name: pooled(runs, name) for name in ("accuracy", "matthews_correlation")}
    assert found["accuracy"].low == pytest.approx(0.9 - 12.706204736432095 * 0.05)
    assert found["accuracy"].high == 1.0
    correlation = found["matthews_correlation"]
    assert (correlation.low, correlation.value, correlation.high) == (-1.0, pytest.approx(-0.1), 1.0)


def test_a_curve_goes_from_the_model_as_it_came_to_the_most_rows() -> None:
    results = [
        _result("a", FULL, 0.9, rows_per_label=100),
        _result("a", FULL, 0.7, rows_per_label=10, seed=1),
        _result("a", FULL, 0.6, rows_per_label=10),
        _result("a", "classifier", 0.5),
        _result("b", "classifier", 0.1),
        _result("a", FULL, 0.95, rows_per_label=None),
    ]
    points = [point for point in inoculation(results) if point.metric == "accuracy"]
    assert [(point.rows_per_label, point.seeds) for point in points] == [(0, 1), (10, 2), (100, 1)]
    assert [point.value for point in points] == pytest.approx([0.5, 0.65, 0.9])
    assert len({(point.config, point.baseline, point.settings) for point in points}) == 1


@pytest.mark.parametrize(
    ("baseline", "settings"),
    [
        (PARTIAL, {"columns": ["hypothesis"], "model": {"weights_sha256": "a"}}),
        (FULL, {"columns": ["premise", "hypothesis"], "model": {"weights_sha256": "b"}}),
    ],
    ids=["other texts", "other weights under one name"],
)
def test_a_curve_begins_with_the_same_weights_on_the_same_texts(
    baseline: str, settings: dict[str, Any]
) -> None:
    both = {"columns": ["premise", "hypothesis"], "model": {"weights_sha256": "a"}}
    results = [
        _result("a", "classifier", 0.9, **both),
        _result("a", FULL, 0.7, rows_per_label=10, **both),
        _result("a", baseline, 0.6, rows_per_label=10, **settings),
    ]
    points = [point for point in inoculation(results) if point.metric == "accuracy"]
    assert [(p.baseline, p.rows_per_label, p.value) for p in points] == [
        (FULL, 0, 0.9),
        (FULL, 10, 0.7),
        (baseline, 10, 0.6),
    ]


def test_other_settings_are_another_curve() -> None:
    results = [
        _result("a", FULL, 0.9, rows_per_label=10, recipe={"epochs": 1}),
        _result("a", FULL, 0.8, rows_per_label=100, recipe={"epochs": 2}),
    ]
    assert len({point.settings for point in inoculation(results)}) == 2


def test_cells_are_read_from_the_configs_that_a_pvi_split_made() -> None:
    configs = {
        "x": _published("x"),
        "x_simple": _cell("x", "simple", "simple"),
        "x_pvi_hard_test": _cell("x", "simple", "hard"),
    }
    results = [
        _result("x", FULL, 0.8),
        _result("x_simple", FULL, 0.9),
        _result("x_pvi_hard_test", FULL, 0.2),
        _result("x_pvi_hard_test", FULL, 0.4, seed=1),
        _result("x_pvi_hard_test", "majority", 0.5),
    ]
    cells = generalisation(configs, results)
    assert [(cell.train, cell.evaluation, cell.seeds) for cell in cells] == [
        ("simple", "simple", 1),
        ("simple", "hard", 2),
    ]
    assert [cell.value for cell in cells] == pytest.approx([0.9, 0.3])
    assert {(cell.part, cell.scores) for cell in cells} == {("x", "pvi_x")}


def test_a_cell_stands_beside_the_majority_label_on_its_own_split() -> None:
    tested = _result("x_simple", FULL, 0.9)
    results = [
        replace(tested, evaluated_on="test"),
        tested,
        replace(_result("x_simple", "majority", 0.5), evaluated_on="test"),
        _result("x_simple", "majority", 0.7),
    ]
    cells = generalisation({"x_simple": _cell("x", "simple", "simple")}, results)
    assert [(cell.evaluated_on, cell.majority) for cell in cells] == [("test", 0.5), ("validation", 0.7)]


def test_a_partial_input_stands_beside_the_same_run_with_both_texts() -> None:
    results = [
        _result("a", FULL, 0.9, columns=["premise", "hypothesis"], recipe={"epochs": 1}),
        _result("a", PARTIAL, 0.7, columns=["hypothesis"], recipe={"epochs": 1}),
        _result("a", PARTIAL, 0.6, columns=["hypothesis"], recipe={"epochs": 2}),
        _result("a", "majority", 0.5),
    ]
    (row,) = partial_input(results)
    assert (row.full, row.partial, row.majority) == (0.9, 0.7, 0.5)
    assert (row.full_low, row.full_high) == pytest.approx((0.8, 1.0))
    assert (row.partial_low, row.partial_high) == pytest.approx((0.6, 0.8))
    assert row.difference == pytest.approx(0.2)
    assert (row.difference_low, row.difference_high) == (None, None), "no answers to rows are at hand"


def test_the_interval_of_a_partial_input_pairs_both_answers_to_each_row() -> None:
    """The answers agree on half of the rows, so that the interval is narrower than that of two samples."""
    rows = 200
    right = {
        FULL: {f"u{n}": float(n % 10 != 0) for n in range(rows)},
        PARTIAL: {f"u{n}": float(n % 10 > 2) for n in range(rows)},
    }
    results = [
        _result("a", FULL, 0.9, columns=["premise", "hypothesis"]),
        _result("a", PARTIAL, 0.7, columns=["hypothesis"]),
    ]
    (row,) = partial_input(results, lambda result, metric: right[result.baseline])
    low, high = row.difference_low, row.difference_high
    assert low is not None
    assert high is not None
    # The differences are 1 for 20 % of the rows, else 0: a share of which the exact interval is known.
    exact = binom.ppf([0.025, 0.975], rows, 0.2) / rows
    assert (low, high) == pytest.approx(tuple(exact), abs=0.011)
    swapped = partial_input(results, lambda result, metric: dict(reversed(right[result.baseline].items())))
    assert swapped == [row], "the order of the answers does not matter"


def test_only_rows_that_all_runs_answered_are_paired_and_seeds_are_averaged() -> None:
    answers = {
        (FULL, 0): {"x": 1.0, "y": 1.0, "z": 0.0},
        (FULL, 1): {"x": 1.0, "y": 1.0},
        (PARTIAL, 0): {"x": 1.0, "y": 1.0, "z": 1.0},
        (PARTIAL, 1): {"x": 1.0, "y": 1.0, "z": 1.0},
    }
    results = [_result("a", baseline, 0.5, seed=seed) for baseline, seed in answers]
    (row,) = partial_input(results, lambda result, metric: answers[result.baseline, result.seed])
    assert (row.seeds, row.difference_low, row.difference_high) == (2, 0.0, 0.0), "z counts for nobody"


def test_outcomes_follow_their_thresholds() -> None:
    configs = {
        **{name: _published(name) for name in ("known", "learned", "never", "silent")},
        "learned_pvi_hard_test": _cell("learned", "simple", "hard"),
    }
    columns = {"columns": ["hypothesis"]}
    results = [
        _result("known", "lm_zero_shot", 0.8, mcc=0.5),
        _result("learned", "lm_zero_shot", 0.6, mcc=0.2),
        _result("learned", FULL, 0.9, mcc=0.8),
        _result("learned", PARTIAL, 0.6, **columns),
        _result("learned", "majority", 0.5),
        _result("learned_pvi_hard_test", FULL, 0.3),
        _result("learned_pvi_hard_test", "majority", 0.4),
        replace(_result("learned", FULL, 1.0, mcc=1.0), limit=20),
        replace(_result("never", "lm_zero_shot", 1.0, mcc=1.0), limit=20),
        _result("never", "lm_zero_shot", 0.5, mcc=0.1),
        _result("never", FULL, 0.6, mcc=0.49),
        _result("never", PARTIAL, 0.59, **columns),
        _result("never", "majority", 0.5),
    ]
    found = {outcome.part: outcome for outcome in outcomes(configs, results)}
    assert list(found) == ["known", "learned", "never"]
    assert [found[name].outcome for name in found] == ["known", "learned", "not_learned"]
    assert [found[name].given_away for name in found] == [None, True, False]
    assert (found["learned"].simple_to_hard, found["learned"].generalises) == (0.3, False)
    assert found["learned"].fine_tuned == 0.8
    assert found["known"].generalises is None


@pytest.mark.parametrize("fine_tuned", [0.2, 0.8])
def test_what_was_not_asked_zero_shot_is_neither_learned_nor_not_learned(fine_tuned: float) -> None:
    """It may be known; a result on some of the rows does not tell either."""
    results = [
        _result("x", FULL, 0.9, mcc=fine_tuned),
        replace(_result("x", "lm_zero_shot", 0.1, mcc=0.0), limit=20),
    ]
    (outcome,) = outcomes({"x": _published("x")}, results)
    assert (outcome.zero_shot, outcome.fine_tuned, outcome.outcome) == (None, fine_tuned, None)


def test_a_matrix_is_judged_by_the_majority_of_its_own_rows() -> None:
    configs = {"x": _published("x"), "x_pvi_hard_test": _cell("x", "simple", "hard")}
    results = [
        _result("x", "majority", 0.9),
        _result("x_pvi_hard_test", FULL, 0.5),
        _result("x_pvi_hard_test", "majority", 0.2),
    ]
    (outcome,) = outcomes(configs, results)
    assert outcome.generalises is True
