"""Accuracies of subsets and their tests: against scipy, by hand, and from stored results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pronoun_release import make_release, uid
from scipy.stats import binomtest, fisher_exact

from benchwright.eval import evaluate, refresh_index
from benchwright.eval.analyses.overlap import paired, twins, unpaired
from benchwright.eval.metrics.differences import fisher, mcnemar, newcombe
from benchwright.release import ReleaseFolder

COUNTS = st.integers(0, 60)


@given(COUNTS, COUNTS)
def test_mcnemar_is_a_binomial_test_of_one_half(first: int, second: int) -> None:
    expected = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-12)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_fisher_equals_scipy(right: int, wrong: int, other_right: int, other_wrong: int) -> None:
    expected = fisher_exact([[right, wrong], [other_right, other_wrong]])[1]
    found = fisher(right, right + wrong, other_right, other_right + other_wrong)
    assert found == pytest.approx(expected, rel=1e-9)


def test_tests_of_many_rows_stay_exact() -> None:
    assert mcnemar(2_900, 3_100) == pytest.approx(binomtest(2_900, 6_000).pvalue, rel=1e-9)
    assert fisher(600, 1_000, 14_000, 25_000) == pytest.approx(
        fisher_exact([[600, 400], [14_000, 11_000]])[1], rel=1e-6
    )


# Newcombe (1998), Table II, method 10: examples a, b, d, e and h.
@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombes_published_examples(
    counts: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    assert newcombe(*counts) == pytest.approx(expected, abs=5e-5)


def test_paired_and_unpaired_by_hand() -> None:
    first = np.array([True, True, True, True, False, False])
    second = np.array([True, False, False, False, True, False])
    found = paired(first, second)
    assert (found["only_first"], found["only_second"], found["n"]) == (3, 1, 6)
    assert found["difference"] == pytest.approx(2 / 6)
    # 2 * (1 + 4) / 2^4
    assert found["p"] == pytest.approx(0.625)
    assert found["low"] <= found["difference"] <= found["high"]
    other = unpaired(first, second[:4])
    assert (other["n"], other["n_against"]) == (6, 4)
    assert other["difference"] == pytest.approx(4 / 6 - 1 / 4)
    assert other["test"] != found["test"]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_a_paired_difference_changes_its_sign_with_the_order(answers: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(column) for column in zip(*answers, strict=True))
    one, two = paired(first, second), paired(second, first)
    assert one["difference"] == pytest.approx(-two["difference"])
    assert one["p"] == two["p"]
    assert 0 <= one["p"] <= 1


def test_twins_need_both_rows() -> None:
    correct = np.array([True, True, True, False, False, False, True, True, True, True])
    pairs = ["a", "a", "b", "b", "c", "c", "d", None, "", "e"]
    found = twins(correct, pairs)
    assert found is not None
    assert {name: found[name] for name in ("pairs", "both", "one", "none")} == {
        "pairs": 3,
        "both": 1,
        "one": 1,
        "none": 1,
    }
    assert found["value"] == pytest.approx(1 / 3)
    # Three rows of one id are no twins.
    assert twins(np.array([True] * 3), ["a"] * 3) is None


def _predict(path: Path, answers: str) -> Path:
    """A file of answers: one digit a row, "-" for a row without an answer."""
    lines = [
        json.dumps({"uid": uid(row), "prediction": answer})
        for row, answer in enumerate(answers)
        if answer != "-"
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """Gold is 01010101; `good` is wrong in row 3, `poor` right in rows 0, 1 and 3."""
    release = make_release(tmp_path / "r")
    for name, answers in (("good", "01000101"), ("poor", "01111010")):
        file = _predict(tmp_path / f"{name}.jsonl", answers)
        evaluate(release, configs=["toy"], predictions=file, predictions_name=name)
    return release


def _analyses(release: ReleaseFolder) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(
        (release.path / "results" / "index.json").read_text(encoding="utf-8")
    )["analyses"]
    return found


def test_a_run_is_looked_at_again_on_every_subset(release: ReleaseFolder) -> None:
    analyses = _analyses(release)
    by_run: dict[object, dict[object, tuple[object, object]]] = {}
    for line in analyses["overlap_subsets"]:
        name = line["baseline"] if line["model"] is None else line["model"]
        by_run.setdefault(name, {})[line["subset"]] = line["n"], line["value"]
    good, poor = by_run.values()
    # Overlapping: rows 0, 1, 2, 5; above 25: rows 0, 2; without: rows 3, 4, 6; row 7 was not searched.
    assert good == {
        "toy": (8, 7 / 8),
        "toy_overlap_gt0": (4, 1.0),
        "toy_overlap_gt25": (2, 1.0),
        "toy_no_overlap": (3, 2 / 3),
    }
    assert poor == {
        "toy": (8, 3 / 8),
        "toy_overlap_gt0": (4, 2 / 4),
        "toy_overlap_gt25": (2, 1 / 2),
        "toy_no_overlap": (3, 1 / 3),
    }


def test_differences_and_comparisons(release: ReleaseFolder) -> None:
    analyses = _analyses(release)
    differences = {(line["settings"], line["subset"]): line for line in analyses["overlap_differences"]}
    assert {line["against"] for line in differences.values()} == {"toy_no_overlap"}
    first = analyses["overlap_differences"][0]
    assert (first["subset"], first["n"], first["n_against"]) == ("toy_overlap_gt0", 4, 3)
    assert first["difference"] == pytest.approx(1 - 2 / 3)
    assert first["p"] == pytest.approx(fisher_exact([[4, 0], [2, 1]])[1])
    whole = [line for line in analyses["overlap_comparisons"] if line["subset"] == "toy"]
    assert len(whole) == 1
    assert (whole[0]["only_first"], whole[0]["only_second"], whole[0]["n"]) == (5, 1, 8)
    assert whole[0]["p"] == pytest.approx(binomtest(1, 6).pvalue)
    assert {line["subset"] for line in analyses["overlap_comparisons"]} == {
        "toy",
        "toy_overlap_gt0",
        "toy_overlap_gt25",
        "toy_no_overlap",
    }


def test_twins_of_whole_and_subset(release: ReleaseFolder) -> None:
    lines = _analyses(release)["overlap_twins"]
    # Pairs of the whole test set: (0, 1), (2, 3), (4, 5), (6, 7); of the overlapping rows: (0, 1) alone.
    counts = [(line["subset"], line["pairs"], line["both"], line["one"], line["none"]) for line in lines]
    assert counts == [
        ("toy", 4, 3, 1, 0),
        ("toy_overlap_gt0", 1, 1, 0, 0),
        ("toy", 4, 1, 1, 2),
        ("toy_overlap_gt0", 1, 1, 0, 0),
    ]


def test_rows_without_an_answer_are_in_no_number(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    results = evaluate(release, configs=["toy"], baselines=["random_option"])
    file = release.path / results[0].predictions_file
    assert file.is_file()
    refresh_index(release)
    before = {line["subset"]: line["n"] for line in _analyses(release)["overlap_subsets"]}
    assert before == {"toy": 8, "toy_overlap_gt0": 4, "toy_overlap_gt25": 2, "toy_no_overlap": 3}
    limited = evaluate(release, configs=["toy"], baselines=["random_option"], limit=3)
    assert limited[0].metrics["accuracy"]["n"] == 3
    # A sample of the rows is in no analysis.
    assert len(_analyses(release)["overlap_subsets"]) == 4


def test_without_rows_that_do_not_overlap_the_rest_is_compared(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    del release.manifest["configs"]["toy_no_overlap"]
    evaluate(release, configs=["toy"], baselines=["random_option"])
    lines = _analyses(release)["overlap_differences"]
    found = {line["subset"]: (line["against"], line["n"], line["n_against"]) for line in lines}
    # Row 7 was not searched: it is in neither.
    assert found == {"toy_overlap_gt0": ("rest", 4, 3), "toy_overlap_gt25": ("rest", 2, 5)}
