"""What differences do: label shares, the score boundary, results that change or no longer hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from diff_helpers import EASY, LL, Made

from benchwright.builders.diff import diff
from benchwright.eval import evaluate
from benchwright.eval.results import load_results, write_index
from benchwright.release import ReleaseFolder

BASE = Made()


def config_of(found, name):
    return next(config for config in found.configs if config.name == name)


def test_label_shares_before_and_after(tmp_path: Path) -> None:
    """Labels are 0, 1, 2, 0, 1, ...: train of `easy` is rows 0, 2, 3, 5, 6, 8 and then has row 8 no more."""
    first = BASE.write(tmp_path / "a" / "made")
    second = BASE.but(sides={LL: BASE.sides[LL], EASY: "tettvtteee"}).write(tmp_path / "b" / "made")
    found = diff(first, second)
    config = config_of(found, EASY)
    assert config.shares["label"]["validation"] == {
        "contradiction": (0.5, 0.0),
        "neutral": (0.5, 1.0),
    }
    assert config.shares["label"]["test"] == {
        "neutral": (pytest.approx(2 / 3), 0.5),
        "contradiction": (0.0, 0.25),
        "entailment": (pytest.approx(1 / 3), 0.25),
    }
    assert config.shift is not None
    assert (config.shift.label, config.shift.split) in {
        ("contradiction", "validation"),
        ("neutral", "validation"),
    }
    assert abs(config.shift.after - config.shift.before) == 0.5
    assert "train" not in config.shares["label"], "its rows are the same"
    assert "effect: largest shift of label shares" in str(found)


def test_the_score_boundary_before_and_after(tmp_path: Path) -> None:
    """Scores are 0 to -9, and the six highest train; then row 5 evaluates, too."""
    first = BASE.write(tmp_path / "a" / "made")
    second = BASE.but(sides={LL: "tttttvvvee", EASY: BASE.sides[EASY]}).write(tmp_path / "b" / "made")
    found = diff(first, second)
    boundaries = config_of(found, LL).boundaries
    assert boundaries is not None
    assert [(b.train, b.evaluation) for b in boundaries] == [
        ((-5.0, 0.0), (-9.0, -6.0)),
        ((-4.0, 0.0), (-9.0, -5.0)),
    ]
    assert (
        "effect: score boundary moved: highest evaluation -6, lowest train -5 -> "
        "highest evaluation -5, lowest train -4"
    ) in str(found)


def test_the_boundary_of_a_reverse_split_is_named_from_its_side(tmp_path: Path) -> None:
    sides = {LL: "eevvtttttt", EASY: BASE.sides[EASY]}
    first = BASE.but(sides=sides).write(tmp_path / "a" / "made")
    second = BASE.but(sides={**sides, LL: "eevvvttttt"}).write(tmp_path / "b" / "made")
    assert "lowest evaluation -3, highest train -4 -> lowest evaluation -4, highest train -5" in str(
        diff(first, second)
    )


def test_only_likelihood_configs_have_a_boundary(tmp_path: Path) -> None:
    first = BASE.write(tmp_path / "a" / "made")
    second = BASE.but(sides={LL: BASE.sides[LL], EASY: "tettvtteee"}).write(tmp_path / "b" / "made")
    assert config_of(diff(first, second), EASY).boundaries is None


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = BASE.write(tmp_path_factory.mktemp("evaluated") / "made").path
    evaluate(folder, baselines=["majority"])
    return folder


@pytest.fixture
def copy(evaluated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evaluated, tmp_path / "made"))


def test_results_that_are_added_or_removed(evaluated: Path, tmp_path: Path) -> None:
    bare = BASE.write(tmp_path / "made")
    found = diff(bare, evaluated)
    assert (found.bump, found.reasons) == ("patch", ("2 results added",))
    assert found.results[0].values[0].old is None
    assert diff(evaluated, bare).reasons == ("2 results removed",)
    assert not diff(evaluated, bare).stale


@pytest.mark.parametrize(("shift", "overlap"), [(0.01, True), (0.999, False)])
def test_a_changed_value_with_and_without_overlapping_intervals(
    evaluated: Path, copy: Path, shift: float, overlap: bool
) -> None:
    file = sorted((copy / "results" / EASY).glob("*.json"))[0]
    data = json.loads(file.read_text())
    metric = data["metrics"]["accuracy"]
    old = metric["value"]
    metric["value"], metric["low"], metric["high"] = 1 - shift, 1 - shift - 0.0005, 1 - shift + 0.0005
    if overlap:
        metric["value"], metric["low"], metric["high"] = old + shift, metric["low"] - 1, metric["high"]
    file.write_text(json.dumps(data))
    found = diff(evaluated, copy)
    assert found.bump == "patch"
    (result,) = (result for result in found.results if result.kind == "changed")
    (value,) = (value for value in result.values if value.metric == "accuracy")
    assert value.old == old
    assert value.new == metric["value"]
    assert value.overlap is overlap
    assert ("intervals overlap" if overlap else "intervals do not overlap") in str(found)


def test_results_made_stale_by_a_change_of_rows_are_named(evaluated: Path, tmp_path: Path) -> None:
    second = BASE.but(sides={LL: BASE.sides[LL], EASY: "tettvtteee"}).write(tmp_path / "made").path
    shutil.copytree(evaluated / "results", second / "results")
    found = diff(evaluated, second)
    (stale,) = found.stale
    assert (stale.config, stale.baseline, stale.newly) == (EASY, "majority", True)
    assert stale.reason == "the rows of easy/test have changed"
    assert "1 result became stale" in found.changelog_lines()
    assert "stale now: easy, majority: the rows of easy/test have changed" in str(found)


def test_results_of_a_renamed_config_are_compared_with_their_former_ones(
    evaluated: Path, tmp_path: Path
) -> None:
    renamed = BASE.but(
        sides={LL: BASE.sides[LL], "simple": BASE.sides[EASY]}, publication={"aliases": {EASY: "simple"}}
    ).write(tmp_path / "made")
    evaluate(renamed, baselines=["majority"])
    found = diff(evaluated, renamed)
    assert {result.kind for result in found.results} == {"rewritten"}
    assert not found.stale


def test_an_index_alone_is_a_difference(evaluated: Path, copy: Path) -> None:
    release = ReleaseFolder(copy)
    write_index(release, [(result, "old") for result in load_results(release)], {})
    assert diff(evaluated, copy).reasons == ("files of results: 1 changed",)
