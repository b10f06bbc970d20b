"""Samples of wrong answers: which rows are drawn, what a person fills in, what is counted."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from eval_helpers import FARM_SCHEMA, nli_rows, sql_rows, write_release

from benchwright.cli import main
from benchwright.errors import SourceError, UsageError
from benchwright.eval import evaluate, refresh_index
from benchwright.eval.analyses import count_errors, export_errors, sample_errors, store_typed_errors
from benchwright.eval.analyses.errors import find_result
from benchwright.eval.baselines.linear import LinearPartialInput
from benchwright.release import ReleaseFolder
from benchwright.tasks import TEXT_TO_SQL

GOLD = [
    "SELECT name FROM cow",
    "SELECT age FROM cow",
    "SELECT name FROM cow WHERE age > 3",
    "SELECT id FROM cow",
]


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """The majority answer is right for the first of four test rows."""
    splits = {"train": sql_rows([GOLD[0]]), "test": sql_rows(GOLD, 1)}
    made = write_release(tmp_path / "r", {"random": splits}, task=TEXT_TO_SQL, schemas=[FARM_SCHEMA])
    evaluate(made)
    return made


def typed(path: Path, rows: list[dict[str, str]], *types: str) -> Path:
    filled = [{**row, "error_type": kind} for row, kind in zip(rows, types, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in filled), encoding="utf-8")
    return path


def test_a_row_holds_what_a_person_needs_to_type_it(release: ReleaseFolder) -> None:
    rows = sample_errors(release, "random", "majority")
    assert rows[0] == {
        "uid": "toy:all:2",
        "db_id": "farm",
        "question": "question 2",
        "gold": "SELECT age FROM cow",
        "prediction": "SELECT name FROM cow",
        "failing": "select;select(no AGG)",
        "error_type": "",
    }
    assert [row["failing"] for row in rows[1:]] == ["where;where(no OP);keywords", "select;select(no AGG)"]


def test_a_larger_sample_holds_the_smaller_one(release: ReleaseFolder) -> None:
    two, three = (
        [row["uid"] for row in sample_errors(release, "random", "majority", limit=n, seed=5)] for n in (2, 3)
    )
    assert three == ["toy:all:2", "toy:all:3", "toy:all:4"]
    assert two == [uid for uid in three if uid in two]
    assert len(two) == 2


def test_other_tasks_have_no_components(tmp_path: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"train": nli_rows(0, 12), "test": nli_rows(12, 6)}})
    evaluate(release, baselines=["majority"])
    rows = sample_errors(release, "random", "majority")
    assert [row["gold"] for row in rows] == ["neutral", "contradiction"] * 2
    assert {row["failing"] for row in rows} == {""}


@pytest.mark.parametrize("name", ["errors.jsonl", "errors.csv"])
def test_export_type_and_count(release: ReleaseFolder, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert export_errors(release, "random", "majority", path) == 3
    assert count_errors(path) == {}
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        for row, kind in zip(rows, ["wrong column", "", " wrong  column; no condition;"], strict=True):
            row["error_type"] = kind
        with path.open("w", encoding="utf-8-sig", newline="") as handle:
            writer = csv.DictWriter(handle, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        typed(path, rows, "wrong column", "", " wrong  column; no condition;")
    assert count_errors(path) == {"wrong column": 2, "no condition": 1}
    stored = store_typed_errors(release, "random", "majority", path)
    assert (stored.sampled, stored.typed, stored.counts) == (3, 2, {"wrong column": 2, "no condition": 1})
    refresh_index(release)
    index = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
    (found,) = index["analyses"]["errors"]
    assert found == {
        "baseline": "majority",
        "model": None,
        "settings_hash": index["results"][0]["settings_hash"],
        "metric": "exact_set_match",
        "config": "random",
        "sampled": 3,
        "typed": 2,
        "counts": {"wrong column": 2, "no condition": 1},
    }
    assert list(found["counts"]) == ["wrong column", "no condition"]


def test_types_of_answers_that_have_changed_are_not_counted(release: ReleaseFolder, tmp_path: Path) -> None:
    rows = sample_errors(release, "random", "majority")
    store_typed_errors(release, "random", "majority", typed(tmp_path / "t.jsonl", rows, "a", "b", "c"))
    (sample,) = (release.path / "results" / "random").glob("*.errors.jsonl")
    sample.write_text(sample.read_text(encoding="utf-8").replace("toy:all:2", "toy:all:1"), encoding="utf-8")
    refresh_index(release)
    index = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert index["analyses"]["errors"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"uid": "toy:all:1"}, "row 1, field 'uid': no wrong answer of majority on random, got 'toy:all:1'"),
        ({"prediction": "SELECT 1"}, "no wrong answer of majority on random"),
        ({"error_type": 3}, "row 1, field 'error_type': the field is missing"),
    ],
)
def test_a_typed_file_of_something_else_is_refused(
    release: ReleaseFolder, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    rows: list[dict[str, Any]] = list(sample_errors(release, "random", "majority"))
    rows[1] = {**rows[1], "error_type": "x", **change}
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        store_typed_errors(release, "random", "majority", path)
    assert message in str(caught.value)


def test_files_that_cannot_be_used(release: ReleaseFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.jsonl or \.csv files"):
        export_errors(release, "random", "majority", tmp_path / "errors.xlsx")
    with pytest.raises(UsageError, match="no file of errors"):
        count_errors(tmp_path / "none.jsonl")
    (tmp_path / "cut.jsonl").write_text('{"uid": "a"', encoding="utf-8")
    with pytest.raises(SourceError, match="cannot be read"):
        count_errors(tmp_path / "cut.jsonl")
    empty = tmp_path / "empty.jsonl"
    export_errors(release, "random", "majority", empty)
    with pytest.raises(SourceError, match="no row has a type"):
        store_typed_errors(release, "random", "majority", empty)


def test_a_file_that_may_be_filled_in_is_not_replaced_unasked(release: ReleaseFolder, tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    export_errors(release, "random", "majority", path)
    exported = path.read_text(encoding="utf-8")
    path.write_text("filled in", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        export_errors(release, "random", "majority", path)
    assert str(caught.value) == (f"{path} exists already; choose another file or replace it with --overwrite")
    assert path.read_text(encoding="utf-8") == "filled in"
    assert export_errors(release, "random", "majority", path, overwrite=True) == 3
    assert path.read_text(encoding="utf-8") == exported


def test_the_command_replaces_a_file_where_asked_to(
    release: ReleaseFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "errors.jsonl"
    command = ["errors", "export", str(release.path), "--config", "random", "--baseline", "majority"]
    path.write_text("filled in", encoding="utf-8")
    assert main([*command, "--out", str(path)]) == 2
    assert "replace it with --overwrite" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "filled in"
    assert main([*command, "--out", str(path), "--overwrite"]) == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_a_row_that_stands_twice_is_refused(release: ReleaseFolder, tmp_path: Path) -> None:
    rows = sample_errors(release, "random", "majority")
    path = typed(tmp_path / "t.jsonl", [*rows, rows[1]], "a", "b", "c", "b")
    with pytest.raises(SourceError) as caught:
        store_typed_errors(release, "random", "majority", path)
    assert str(caught.value) == (
        f"{path}, row 3, field 'uid': the uid is repeated, got 'toy:all:3'; "
        "keep this row or row 1, several types separated by ';'"
    )
    assert list((release.path / "results" / "random").glob("*.errors.jsonl")) == []


def test_which_result_is_meant(release: ReleaseFolder) -> None:
    with pytest.raises(UsageError, match="no current result of 'human' on random; run `benchwright eval`"):
        sample_errors(release, "random", "human")
    with pytest.raises(UsageError, match="limit is a number of rows from 1, got 0"):
        sample_errors(release, "random", "majority", limit=0)


def test_several_results_are_told_apart_by_settings(tmp_path: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"train": nli_rows(0, 30), "test": nli_rows(30, 15)}})
    evaluate(release, baselines=["majority"])
    (other,) = evaluate(release, baselines=["majority"], seed=1)
    evaluate(release, baselines=["majority"], limit=5)
    with pytest.raises(
        UsageError, match="'majority' has 3 results on random; choose by settings: "
    ) as caught:
        sample_errors(release, "random", "majority")
    settings = other.settings_hash.removeprefix("sha256:")[:12]
    assert f"{settings} (test, no limit, seed 1)" in str(caught.value)
    assert "(test, no limit, seed 0)" in str(caught.value)
    assert "(test, limit 5, seed 0)" in str(caught.value)
    assert len(sample_errors(release, "random", "majority", settings=settings)) == 10


def test_the_only_result_on_the_whole_test_split_is_meant(tmp_path: Path) -> None:
    rows = {"train": nli_rows(0, 30), "validation": nli_rows(45, 6), "test": nli_rows(30, 15)}
    release = write_release(tmp_path / "r", {"random": rows})
    (limited,) = evaluate(release, baselines=["majority"], limit=5)
    (validation,) = evaluate(release, baselines=["majority"], split="validation")
    with pytest.raises(UsageError) as caught:
        find_result(release, "random", "majority")
    assert "(validation, no limit, seed 0)" in str(caught.value)
    (whole,) = evaluate(release, baselines=["majority"])
    assert find_result(release, "random", "majority") == whole
    for other in (limited, validation):
        settings = other.settings_hash.removeprefix("sha256:")[:12]
        assert find_result(release, "random", "majority", settings) == other


def test_a_result_without_errors_has_no_sample(tmp_path: Path) -> None:
    rows = {"train": nli_rows(0, 30), "test": nli_rows(30, 15)}
    release = write_release(tmp_path / "r", {"random": rows})
    (result,) = evaluate(release, baselines=[LinearPartialInput()])
    assert result.metrics["accuracy"]["value"] == 1.0
    with pytest.raises(UsageError, match="has no wrong answer to look at"):
        sample_errors(release, "random", "linear_partial_input")
