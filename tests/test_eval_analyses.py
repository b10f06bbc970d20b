"""Analyses: the papers' headline numbers, hand-worked tables, and the summary that cards read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from eval_helpers import FARM_SCHEMA, nli_rows, sql_rows, write_release
from scipy.stats import pearsonr

from benchwright.eval import evaluate
from benchwright.eval.analyses import (
    Breakdown,
    Group,
    Run,
    comparable_configs,
    drops,
    forward_and_reverse,
    mean_and_deviation,
    mean_groups,
    pearson,
    projected_accuracy,
    random_spread,
    relative_error_increase,
    scorer_comparison,
    scorer_variants,
)
from benchwright.eval.analyses.breakdowns import group_means
from benchwright.eval.analyses.scorers import correlate
from benchwright.tasks import TEXT_TO_SQL

RUN = Run(
    "t5",
    None,
    "sha256:0",
    "accuracy",
    {"random": 0.75, "random_2": 0.80, "random_3": 0.85, "ll_split": 0.60, "ll_split_reverse": 0.90},
)
RANDOM = ["random", "random_2", "random_3"]


@pytest.mark.parametrize(
    ("likelihood", "random", "percent"), [(0.660, 0.786, 59), (0.826, 0.910, 93), (0.793, 0.844, 33)]
)
def test_relative_error_increase_gives_the_published_headlines(
    likelihood: float, random: float, percent: int
) -> None:
    """2210.06799, abstract: Spider, SNLI and BoolQ."""
    increase = relative_error_increase(likelihood, random)
    assert increase is not None
    assert round(100 * increase) == percent


def test_relative_error_increase_without_errors_to_compare_with() -> None:
    assert relative_error_increase(0.9, 1.0) is None
    assert relative_error_increase(0.8, 0.8) == 0.0


def test_mean_and_sample_deviation() -> None:
    mean, deviation = mean_and_deviation([0.75, 0.80, 0.85])
    assert mean == pytest.approx(0.80)
    assert deviation == pytest.approx(0.05)  # sqrt((0.05**2 + 0 + 0.05**2) / 2)


def test_spread_over_random_splits() -> None:
    spread = random_spread(RUN, RANDOM)
    assert spread is not None
    assert (spread.configs, spread.mean) == (tuple(RANDOM), pytest.approx(0.80))
    assert random_spread(RUN, ["random"]) is None


def test_drops_are_from_the_mean_of_the_random_splits() -> None:
    first, second = drops(RUN, RANDOM)
    assert (first.config, first.value, first.random_configs) == ("ll_split", 0.60, tuple(RANDOM))
    assert first.drop == pytest.approx(0.20)
    assert first.relative_error_increase == pytest.approx(1.0)  # the error doubles from 0.2 to 0.4
    assert second.config == "ll_split_reverse"
    assert second.drop == pytest.approx(-0.10)
    assert drops(RUN, ["random_9"]) == []


def test_reverse_beside_forward() -> None:
    (row,) = forward_and_reverse(RUN, {"ll_split": "ll_split_reverse", "tmcd": "tmcd_reverse"}, ["random"])
    assert (row.forward, row.reverse, row.random_mean) == (0.60, 0.90, 0.75)


def test_variants_differ_in_scores_only() -> None:
    def entry(scores: str | None, **parameters: Any) -> dict[str, Any]:
        return {"splitter": "likelihood", "parameters": parameters, "scores": scores}

    configs = {
        "ll_split": entry("lm_kfold", length=False),
        "ll_split_len": entry("lm_kfold", length=True),
        "ll_split_pt": entry("lm_prompt", length=False),
        "ll_split_pt_len": entry("lm_prompt", length=True),
        "ll_split_atoms": entry("lm_prompt", length=False, atoms=True),
        "random": entry(None),
    }
    variants = scorer_variants(configs)
    assert variants == [("ll_split", "ll_split_pt"), ("ll_split_len", "ll_split_pt_len")]
    run = Run("m", None, "h", "accuracy", {"ll_split": 0.5, "ll_split_pt": 0.6, "ll_split_len": 0.7})
    assert [row.values for row in scorer_comparison(run, variants)] == [{"ll_split": 0.5, "ll_split_pt": 0.6}]


def test_pearson_equals_scipy() -> None:
    rng = np.random.default_rng(5)
    first = rng.normal(size=200).astype(np.float32)
    second = (first + rng.normal(size=200)).astype(np.float32)
    expected = pearsonr(first.astype(float), second.astype(float)).statistic
    assert pearson(first, second) == pytest.approx(expected, abs=1e-12)
    assert pearson(first, np.ones(200)) is None
    assert pearson(first[:1], second[:1]) is None


def test_correlation_matches_rows_by_uid_and_leaves_out_rows_without_a_score() -> None:
    def table(scores: dict[str, float | None]) -> pa.Table:
        values = pa.array(scores.values(), pa.float32())
        return pa.table({"uid": pa.array(scores.keys(), pa.string()), "log_likelihood": values})

    first = table({"a": 1.0, "b": 2.0, "c": 3.0, "d": 9.0, "e": 7.0})
    second = table({"d": None, "c": -3.0, "f": 0.0, "b": -2.0, "a": -1.0})
    assert correlate("x", "y", first, second).pearson == pytest.approx(-1.0)
    assert correlate("x", "y", first, second).rows == 3


def test_summary_in_the_index(tmp_path: Path) -> None:
    rows = nli_rows(0, 60)

    def splits(held_out: slice) -> dict[str, list[dict[str, Any]]]:
        evaluation = rows[held_out]
        train = [row for row in rows if row not in evaluation]
        return {"train": train, "validation": evaluation[::2], "test": evaluation[1::2]}

    likelihood: dict[str, Any] = {"splitter": "likelihood", "parameters": {"reverse": False}}
    reverse = {"splitter": "likelihood", "parameters": {"reverse": True}, "reverse_of": "ll_split"}
    entries = {
        "ll_split": {**likelihood, "scores": "lm_kfold"},
        "ll_split_pt": {**likelihood, "scores": "lm_prompt"},
        "ll_split_reverse": {**reverse, "scores": "lm_kfold"},
    }
    configs = {
        "random": splits(slice(0, 20)),
        "random_2": splits(slice(20, 40)),
        "ll_split": splits(slice(40, 60)),
        "ll_split_pt": splits(slice(35, 55)),
        "ll_split_reverse": splits(slice(0, 20)),
    }
    scores = {
        name: [{"uid": row["uid"], "log_likelihood": sign * place} for place, row in enumerate(rows)]
        for name, sign in (("lm_kfold", -1.0), ("lm_prompt", -2.0))
    }
    release = write_release(tmp_path / "r", configs, entries=entries, scores=scores)
    evaluate(release, baselines=["majority"])
    analyses = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))["analyses"]
    accuracy = {
        name: [row for row in found if row.get("metric", "accuracy") == "accuracy"]
        for name, found in analyses.items()
    }
    assert {name: len(found) for name, found in accuracy.items()} == {
        "random_spread": 1,
        "drops": 3,
        "forward_and_reverse": 1,
        "score_correlations": 1,
        "evaluation_overlaps": 1,
        "scorer_comparison": 1,
        "breakdowns": 0,
        "projections": 0,
        "errors": 0,
        "inoculation": 0,
        "generalisation": 0,
        "partial_input": 0,
        "outcomes": 0,
        "overlap_subsets": 0,
        "overlap_differences": 0,
        "overlap_comparisons": 0,
        "overlap_twins": 0,
        "contamination": 0,
        "contamination_accuracy": 0,
    }
    assert analyses["score_correlations"] == [
        {"first": "lm_kfold", "second": "lm_prompt", "rows": 60, "pearson": pytest.approx(1.0)}
    ]
    assert analyses["evaluation_overlaps"] == [
        {
            "first": "ll_split",
            "second": "ll_split_pt",
            "first_rows": 20,
            "second_rows": 20,
            "common": 15,
            "share": 0.75,
        }
    ]
    assert [row["config"] for row in accuracy["drops"]] == ["ll_split", "ll_split_pt", "ll_split_reverse"]
    assert set(accuracy["scorer_comparison"][0]["values"]) == {"ll_split", "ll_split_pt"}


def test_stale_results_are_in_no_analysis(tmp_path: Path) -> None:
    def release(test: int) -> Any:
        configs = {
            "random": {"train": nli_rows(0, 12), "test": nli_rows(12, 6)},
            "ll_split": {"train": nli_rows(0, 12), "test": nli_rows(12, test)},
        }
        return write_release(tmp_path / "r", configs, entries={"ll_split": {"splitter": "likelihood"}})

    evaluate(release(6), baselines=["majority"])
    changed = release(5)
    evaluate(changed, configs=["random"], baselines=["majority"])
    index = json.loads((changed.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert [bool(entry["stale"]) for entry in index["results"]] == [False, True]
    assert index["analyses"]["drops"] == []


def test_group_means_keep_the_order_of_classes_and_leave_out_rows_without_one() -> None:
    classes = {"a": "hard", "b": "easy", "c": "hard", "d": "hard"}
    scores = {"a": 1.0, "b": 0.0, "c": 0.0, "e": 1.0}  # d was not judged, e has no class
    assert group_means(["easy", "medium", "hard"], classes, scores) == {
        "easy": Group(1, 0.0),
        "medium": Group(0, None),
        "hard": Group(2, 0.5),
    }


def test_projected_accuracy_by_hand() -> None:
    """Random accuracies 0.9, 0.8, 0.6, 0.5; a split that is 10 % easy, 40 % medium, 30 % hard, 20 % extra."""
    accuracies = {"easy": 0.9, "medium": 0.8, "hard": 0.6, "extra": 0.5}
    counts = {"easy": 100, "medium": 400, "hard": 300, "extra": 200}
    groups = {name: Group(n, 0.0) for name, n in counts.items()}
    projected = projected_accuracy(accuracies, groups)
    assert projected == pytest.approx(0.09 + 0.32 + 0.18 + 0.10)
    # With the composition of the random split itself it is the accuracy there.
    observed = {"none": Group(750, 0.84), "some": Group(250, 0.624)}
    means = mean_groups([observed])
    assert projected_accuracy(means, observed) == pytest.approx(0.75 * 0.84 + 0.25 * 0.624)


def test_projections_need_every_class_that_occurs() -> None:
    groups = {"easy": Group(3, 1.0), "extra": Group(1, 0.0)}
    assert projected_accuracy({"easy": 0.9}, groups) is None
    assert projected_accuracy({"easy": 0.9}, {**groups, "extra": Group(0, None)}) == pytest.approx(0.9)
    assert projected_accuracy({"easy": 0.9}, {"easy": Group(0, None)}) is None


def test_mean_of_classes_over_random_splits_that_have_them() -> None:
    first = {"easy": Group(8, 0.5), "extra": Group(0, None)}
    second = {"easy": Group(2, 1.0), "extra": Group(2, 0.25)}
    assert mean_groups([first, second]) == {"easy": 0.75, "extra": 0.25}


def classed_release(path: Path) -> Any:
    """Two random splits and a likelihood split of queries to one table; majority answers the first one."""
    right, wrong = "SELECT name FROM cow", "SELECT age FROM cow"

    def rows(spec: str, first: int) -> list[dict[str, Any]]:
        """One row per letter: e(asy) or h(ard), capital where the majority answer is right."""
        made = sql_rows([right if letter.isupper() else wrong for letter in spec], first)
        return [
            {**row, "hardness": "eh".index(letter.lower()) * 2, "num_novel_compounds": place % 3}
            for place, (row, letter) in enumerate(zip(made, spec, strict=True))
        ]

    train = [
        {**row, "hardness": None, "num_novel_compounds": None} for row in sql_rows([right, right, wrong])
    ]
    configs = {
        "random": {"train": train, "test": rows("EEeHh", 10)},  # easy 2/3, hard 1/2
        "random_2": {"train": train, "test": rows("EEEhh", 20)},  # easy 1, hard 0
        "ll_split": {"train": train, "test": rows("eHhhh", 30)},  # 1/5 easy
    }
    entries = {"ll_split": {"splitter": "likelihood"}}
    return write_release(path, configs, task=TEXT_TO_SQL, entries=entries, schemas=[FARM_SCHEMA])


def test_breakdowns_and_projections_in_the_index(tmp_path: Path) -> None:
    release = classed_release(tmp_path / "r")
    evaluate(release, baselines=["majority"])
    analyses = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))["analyses"]
    found = {
        (row["config"], row["column"]): row["groups"]
        for row in analyses["breakdowns"]
        if row["metric"] == "exact_set_match"
    }
    empty = {"n": 0, "value": None}
    assert found["random", "hardness"] == {
        "easy": {"n": 3, "value": pytest.approx(2 / 3)},
        "medium": empty,
        "hard": {"n": 2, "value": 0.5},
        "extra": empty,
    }
    # Positions 0 and 3 have none: wrong, right, wrong, wrong, wrong in ll_split.
    assert found["ll_split", "num_novel_compounds"] == {
        "none": {"n": 2, "value": 0.0},
        "some": {"n": 3, "value": pytest.approx(1 / 3)},
    }
    (projection,) = (
        row
        for row in analyses["projections"]
        if (row["column"], row["metric"]) == ("hardness", "exact_set_match")
    )
    assert (projection["config"], projection["random_configs"]) == ("ll_split", ["random", "random_2"])
    assert projection["random"] == pytest.approx(3 / 5)
    assert projection["observed"] == pytest.approx(1 / 5)
    assert projection["projected"] == pytest.approx((2 / 3 + 1) / 2 * 0.2 + (0.5 + 0) / 2 * 0.8)


def test_metrics_without_scores_of_rows_and_the_predicted_column_are_not_broken_down(tmp_path: Path) -> None:
    splits = {"train": nli_rows(0, 12), "test": nli_rows(12, 6)}
    release = write_release(tmp_path / "r", {"random": splits})
    evaluate(release, baselines=["majority"])
    index = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert index["analyses"]["breakdowns"] == []


def test_breakdown_rows_hold_what_identifies_a_run(tmp_path: Path) -> None:
    release = classed_release(tmp_path / "r")
    evaluate(release, configs=["random"], baselines=["majority"])
    index = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
    (result,) = index["results"]
    first = index["analyses"]["breakdowns"][0]
    assert set(first) == set(Breakdown.__dataclass_fields__)
    assert (first["baseline"], first["model"], first["settings_hash"]) == (
        "majority",
        None,
        result["settings_hash"],
    )
    assert index["analyses"]["projections"] == []


def test_named_published_placements_are_compared_among_themselves():
    configs = {
        "random": {"splitter": "random"},
        "tmcd": {"splitter": "tmcd", "parameters": {"seed": 1}},
        "standard": {"splitter": "published", "parameters": {}},
        "nqg_random_1": {"splitter": "published", "parameters": {"split": "random_1"}},
        "nqg_tmcd_1": {"splitter": "published", "parameters": {"split": "tmcd_1"}},
    }
    here, elsewhere = comparable_configs(configs)
    assert here == (["random", "tmcd", "standard"], ["random"])
    assert elsewhere == (["nqg_random_1", "nqg_tmcd_1"], ["nqg_random_1"])
    run = Run("b", None, "h", "m", {"random": 0.9, "tmcd": 0.5, "nqg_random_1": 0.8, "nqg_tmcd_1": 0.2})
    found = [drop for group, drawn in (here, elsewhere) for drop in drops(run.on(group), drawn)]
    assert [(drop.config, drop.random_configs, round(drop.drop, 6)) for drop in found] == [
        ("tmcd", ("random",), 0.4),
        ("nqg_tmcd_1", ("nqg_random_1",), 0.6),
    ]
