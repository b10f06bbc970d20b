"""`evaluate`: what is stored, when it is made again, and that it is the same bytes everywhere."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from eval_helpers import FARM_SCHEMA, boolean_rows, nli_rows, sql_rows, write_release

from benchwright.errors import ReleaseError, UsageError
from benchwright.eval import evaluate, load_results, refresh_index, stale_reason
from benchwright.eval.baselines.linear import LinearPartialInput
from benchwright.eval.baselines.majority import Majority
from benchwright.eval.results import Result
from benchwright.release import ReleaseFolder
from benchwright.tasks import BOOLEAN_QUESTION, TEXT_TO_SQL

TRAIN, TEST = nli_rows(0, 30), nli_rows(30, 15)


def make(path: Path, test: list[dict[str, Any]] = TEST, **options: Any) -> ReleaseFolder:
    configs = {"random": {"train": TRAIN, "test": test}, "ll_split": {"train": TRAIN[:20], "test": test[:10]}}
    return write_release(path, configs, **options)


def index(release: ReleaseFolder) -> dict[str, Any]:
    return json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))


def contents(release: ReleaseFolder) -> dict[str, bytes]:
    files = (release.path / "results").rglob("*")
    return {str(file.relative_to(release.path)): file.read_bytes() for file in files if file.is_file()}


def test_all_cheap_baselines_on_all_configs(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    results = evaluate(release)
    names = ["human", "linear_full_input", "linear_partial_input", "majority"]
    assert [(result.config, result.baseline) for result in results] == [
        (config, name) for config in ("random", "ll_split") for name in names
    ]
    assert [entry["file"] for entry in index(release)["results"]] == [result.file for result in results]
    majority = results[3]
    assert majority.to_json() == {
        "format": 1,
        "config": "random",
        "task": "nli",
        "task_hash": majority.task_hash,
        "baseline": "majority",
        "model": None,
        "settings": {"version": 1},
        "settings_hash": majority.settings_hash,
        "seed": 0,
        "limit": None,
        "splits": {
            name: release.config("random")["splits"][name]["content_hash"] for name in ("train", "test")
        },
        "evaluated_on": "test",
        "metrics": majority.metrics,
        "left_out": {},
        "predictions_hash": majority.predictions_hash,
        "versions": majority.versions,
        "environment": {},
    }
    assert list(majority.metrics) == ["accuracy", "macro_f1"]
    assert majority.metrics["accuracy"]["value"] == pytest.approx(1 / 3)
    assert majority.metrics["accuracy"]["n"] == 15
    assert majority.metrics["macro_f1"]["value"] == pytest.approx(0.5 / 3)
    assert "train" not in results[0].splits  # human learns nothing
    assert results[0].metrics.keys() == {"accuracy"}


def test_the_index_holds_what_a_card_shows(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    (result,) = evaluate(release, configs=["random"], baselines=["human"])
    (entry,) = index(release)["results"]
    assert entry == {
        "file": result.file,
        "config": "random",
        "task": "nli",
        "baseline": "human",
        "model": None,
        "settings_hash": result.settings_hash,
        "seed": 0,
        "limit": None,
        "evaluated_on": "test",
        "headline": "accuracy",
        "metrics": result.metrics,
        "left_out": {"without 5 annotator labels": 12},
        "stale": None,
    }


def test_stored_results_read_back(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    results = evaluate(release)
    assert list(load_results(release)) == results
    assert [Result.from_json(data) for data in release.results()] == sorted(results, key=lambda r: r.file)


def test_per_example_scores_stand_in_row_order(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    (result,) = evaluate(release, configs=["random"], baselines=["majority"])
    text = (release.path / result.predictions_file).read_text(encoding="utf-8")
    first = {"uid": "toy:all:30", "prediction": "entailment", "scores": {"accuracy": 1, "macro_f1": 1}}
    assert [json.loads(line)["uid"] for line in text.splitlines()] == [row["uid"] for row in TEST]
    assert json.loads(text.splitlines()[0]) == first


@pytest.mark.parametrize("again", ["elsewhere", "forced"])
def test_the_same_bytes_again(tmp_path: Path, again: str) -> None:
    release = make(tmp_path / "r")
    evaluate(release)
    before = contents(release)
    other = release if again == "forced" else make(tmp_path / "another name")
    evaluate(other, force=True)
    assert contents(other) == before
    assert len(before) == 2 * 8 + 1


@pytest.mark.slow
def test_the_same_bytes_under_every_hash_seed(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    evaluate(release)
    before = contents(release)
    script = "import sys; from benchwright.eval import evaluate; evaluate(sys.argv[1], force=True)"
    for seed in ("1", "random"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script, str(release.path)], check=True, env=environment)
        assert contents(release) == before


def test_nothing_of_this_machine_is_stored(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    evaluate(release)
    assert not [name for name, data in contents(release).items() if str(tmp_path).encode() in data]


def test_only_what_is_missing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = make(tmp_path / "r")
    runs: list[str] = []
    original = LinearPartialInput.run

    def counted(self: Any, data: Any, *rest: Any) -> Any:
        runs.append(data.config)
        return original(self, data, *rest)

    monkeypatch.setattr(LinearPartialInput, "run", counted)
    first = evaluate(release, configs=["ll_split"], baselines=["linear_partial_input"])
    both = evaluate(release, baselines=["linear_partial_input"])
    assert runs == ["ll_split", "random"]
    assert both[1] == first[0]
    evaluate(release, baselines=["linear_partial_input"], force=True)
    assert len(runs) == 4
    (release.path / first[0].predictions_file).write_text("", encoding="utf-8")
    evaluate(release, baselines=["linear_partial_input"])
    assert runs[4:] == ["ll_split"]


def test_other_settings_seed_or_limit_stand_beside(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    options: dict[str, Any] = {"configs": ["random"]}
    evaluate(release, baselines=["linear_partial_input"], **options)
    evaluate(release, baselines=[LinearPartialInput(train_limit=9)], **options)
    evaluate(release, baselines=["linear_partial_input"], seed=1, **options)
    evaluate(release, baselines=["linear_partial_input"], limit=4, **options)
    hashes = {entry["settings_hash"] for entry in index(release)["results"]}
    assert len(hashes) == 4
    limited = [entry for entry in index(release)["results"] if entry["limit"] == 4]
    assert limited[0]["metrics"]["accuracy"]["n"] == 4


def test_equal_settings_share_a_hash_across_configs(tmp_path: Path) -> None:
    random, likelihood = evaluate(make(tmp_path / "r"), baselines=["linear_full_input"])
    assert random.settings_hash == likelihood.settings_hash
    assert random.splits != likelihood.splits


def stale(release: ReleaseFolder) -> dict[tuple[str, str], str | None]:
    return {
        (result.config, result.baseline): stale_reason(result, release) for result in load_results(release)
    }


def test_changed_rows_make_what_used_them_stale(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    evaluate(release, baselines=["majority", "human"])
    changed = write_release(
        tmp_path / "r",
        {"random": {"train": TRAIN[1:], "test": TEST}, "ll_split": {"train": TRAIN[:20], "test": TEST[:10]}},
    )
    assert stale(changed) == {
        ("random", "human"): None,
        ("random", "majority"): "the rows of random/train have changed",
        ("ll_split", "human"): None,
        ("ll_split", "majority"): None,
    }
    refresh_index(changed)
    flagged = [entry["stale"] for entry in index(changed)["results"] if entry["stale"]]
    assert flagged == ["the rows of random/train have changed"]
    evaluate(changed, baselines=["majority"])
    assert not any(stale(changed).values())


def test_a_result_is_stale_without_its_config_task_metric_baseline_or_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make(tmp_path / "r")
    (result,) = evaluate(release, configs=["random"], baselines=["majority"])
    fields = result.to_json()

    def reason(**changes: Any) -> str | None:
        return stale_reason(Result.from_json({**fields, **changes}), release)

    assert reason() is None
    assert reason(config="gone") == "the release has no config 'gone'"
    assert reason(task_hash="sha256:0") == "the task of random has changed"
    accuracy = {**result.metrics["accuracy"], "version": 0}
    assert reason(metrics={"accuracy": accuracy}) == "the metric accuracy has changed"
    assert reason(settings={"version": 0}) == "the baseline majority has changed"
    path = release.path / result.predictions_file
    path.write_text(path.read_text(encoding="utf-8").replace("entailment", "neutral", 1), encoding="utf-8")
    assert reason() == f"{result.predictions_file} is not the file that was judged"
    path.unlink()
    assert reason() == f"{result.predictions_file} is missing"


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2}', '{"format": 1}'])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, text: str) -> None:
    release = make(tmp_path / "r")
    (result,) = evaluate(release, configs=["random"], baselines=["majority"])
    (release.path / result.file).write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"majority--\w+\.json is not a result .*; delete it"):
        evaluate(release)


def test_a_result_that_was_moved_is_named(tmp_path: Path) -> None:
    release = make(tmp_path / "r")
    (result,) = evaluate(release, configs=["random"], baselines=["majority"])
    path = release.path / result.file
    path.rename(path.with_name("copy.json"))
    with pytest.raises(ReleaseError, match=r"copy\.json is not a result"):
        refresh_index(release)


def test_defaults_follow_the_task(tmp_path: Path) -> None:
    sql = {"random": {"train": sql_rows(["SELECT a"]), "test": sql_rows(["SELECT  A"], 1)}}
    results = evaluate(write_release(tmp_path / "sql", sql, task=TEXT_TO_SQL))
    assert [(result.baseline, result.metrics["string_match"]["value"]) for result in results] == [
        ("majority", 1.0),
        ("nearest_question", 1.0),
    ]
    boolean = {"random": {"train": boolean_rows("yyyynn"), "test": boolean_rows("yn")}}
    names = [
        result.baseline for result in evaluate(write_release(tmp_path / "b", boolean, task=BOOLEAN_QUESTION))
    ]
    assert names == ["linear_full_input", "linear_partial_input", "majority"]


def test_validation_can_be_evaluated(tmp_path: Path) -> None:
    splits = {"train": TRAIN, "validation": TEST[:6]}
    release = write_release(tmp_path / "r", {"random": splits, "shift": {"test": TEST}})
    (result,) = evaluate(release, baselines=["majority"], split="validation")
    assert (result.evaluated_on, result.metrics["accuracy"]["n"]) == ("validation", 6)
    assert set(result.splits) == {"train", "validation"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"configs": ["randon"]}, "has no config 'randon'; it has random, ll_split"),
        ({"configs": ["random"], "split": "dev"}, "config 'random' has no split 'dev'; it has train, test"),
        ({"split": "dev"}, "has a split 'dev'"),
        ({"baselines": ["majorty"]}, "did you mean majority"),
        ({"baselines": ["lm_zero_shot"]}, "baseline lm_zero_shot needs a model"),
        ({"baselines": ["majority"], "model": "embedded"}, "no chosen baseline uses a model"),
        ({"limit": 0}, "limit is a number of rows from 1, got 0"),
        ({"databases": "."}, "databases are for text-to-SQL; no chosen config has queries that run on one"),
        ({"databases": "nowhere"}, "no folder of databases at 'nowhere'"),
    ],
)
def test_options_that_cannot_be_used(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    release = make(tmp_path / "r")
    with pytest.raises((UsageError, ReleaseError)) as caught:
        evaluate(release, **options)
    assert message in str(caught.value)
    assert not (release.path / "results").exists()


def test_a_named_baseline_that_applies_nowhere_says_why(tmp_path: Path) -> None:
    splits = {"random": {"train": sql_rows(["SELECT a"]), "test": sql_rows(["SELECT b"], 1)}}
    release = write_release(tmp_path / "r", splits, task=TEXT_TO_SQL)
    with pytest.raises(
        UsageError, match="human is not applicable to random: it is for nli, not for text-to-sql"
    ):
        evaluate(release, baselines=["human"])


def test_side_tables_are_no_configs_to_evaluate(tmp_path: Path) -> None:
    scores = {"lm_prompt": [{"uid": "toy:all:0", "log_likelihood": -1.0}]}
    release = make(tmp_path / "r", scores=scores)
    with pytest.raises(UsageError, match="config 'scores' holds no split rows; choose from random, ll_split"):
        evaluate(release, configs=["scores"])


def test_what_was_finished_before_a_failure_is_in_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make(tmp_path / "r")

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearPartialInput, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate(release, baselines=["majority", "linear_partial_input"])
    assert [entry["baseline"] for entry in index(release)["results"]] == ["majority"]


GOLD = ["SELECT name FROM cow", "SELECT age FROM cow", "SELECT nosuch FROM cow", "SELECT name FROM cow"]


def sql_release(path: Path, **options: Any) -> ReleaseFolder:
    """Train answers `SELECT name FROM cow`; of four test rows two have that query, one cannot be read."""
    splits = {"train": sql_rows(["SELECT name FROM cow"]), "test": sql_rows(GOLD, 1)}
    return write_release(path, {"random": splits}, task=TEXT_TO_SQL, **options)


def examples(release: ReleaseFolder, result: Result) -> list[dict[str, Any]]:
    text = (release.path / result.predictions_file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def make_database(folder: Path, rows: str = "(1, 'Ada', 3)") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "farm.sqlite").unlink(missing_ok=True)
    with sqlite3.connect(folder / "farm.sqlite") as connection:
        connection.executescript(
            f"CREATE TABLE cow (id INTEGER, name TEXT, age INTEGER); INSERT INTO cow VALUES {rows};"
        )
    connection.close()
    return folder


def test_exact_set_match_is_the_headline_where_the_release_has_schemas(tmp_path: Path) -> None:
    release = sql_release(tmp_path / "r", schemas=[FARM_SCHEMA])
    (result,) = evaluate(release, baselines=["majority"])
    assert list(result.metrics) == ["exact_set_match", "string_match"]
    found = result.metrics["exact_set_match"]
    assert (found["value"], found["n"], found["left_out"]) == (2 / 3, 3, {"unparsed gold query": 1})
    assert (result.metrics["string_match"]["n"], result.unavailable) == (4, {})
    assert list(result.tables) == ["schemas"]
    assert [line["scores"] for line in examples(release, result)] == [
        {"exact_set_match": 1, "string_match": 1},
        {"exact_set_match": 0, "string_match": 0},
        {"string_match": 0},
        {"exact_set_match": 1, "string_match": 1},
    ]
    assert list(load_results(release)) == [result]
    assert index(release)["results"][0]["headline"] == "exact_set_match"


def test_a_metric_that_lacks_its_table_is_named_and_the_others_stand(tmp_path: Path) -> None:
    release = sql_release(tmp_path / "r")
    (result,) = evaluate(release, baselines=["majority"])
    assert (result.headline, list(result.metrics), result.tables) == ("string_match", ["string_match"], {})
    assert result.unavailable == {"exact_set_match": "the release has no table 'schemas'"}
    assert index(release)["results"][0]["unavailable"] == result.unavailable
    assert list(load_results(release)) == [result]
    assert evaluate(release, baselines=["majority"]) == [result]


def test_why_a_prediction_counts_as_wrong_stands_with_it(tmp_path: Path) -> None:
    release = sql_release(tmp_path / "r", schemas=[FARM_SCHEMA])
    path = tmp_path / "mine.jsonl"
    answers = ["SELECT name FROM cow", "SELECT ages FROM cow", "x", "SELECT name FROM cow"]
    lines = [{"uid": f"toy:all:{row}", "prediction": text} for row, text in enumerate(answers, start=1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (result,) = evaluate(release, predictions=path)
    assert result.flagged == {"unparsed_prediction": 1}
    assert result.metrics["exact_set_match"]["flagged"] == {"unparsed_prediction": 1}
    stored = examples(release, result)[1]
    assert stored["flags"] == ["unparsed_prediction"]
    assert stored["reasons"] == {"unparsed_prediction": "no column 'ages'"}
    assert index(release)["results"][0]["flagged"] == result.flagged


def test_changed_schemas_make_exact_set_match_stale(tmp_path: Path) -> None:
    release = sql_release(tmp_path / "r", schemas=[FARM_SCHEMA])
    (result,) = evaluate(release, baselines=["majority"])
    assert stale_reason(result, release) is None
    changed = {**FARM_SCHEMA, "table_names": ["bull"]}
    release = sql_release(tmp_path / "r", schemas=[changed])
    assert stale_reason(result, release) == "the table schemas has changed"
    release = sql_release(tmp_path / "r")
    assert stale_reason(result, release) == "the table schemas has changed"


def test_execution_accuracy_is_added_to_stored_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = sql_release(tmp_path / "r", schemas=[FARM_SCHEMA])
    (before,) = evaluate(release, baselines=["majority"])
    assert before.databases is None
    runs: list[str] = []
    monkeypatch.setattr(Majority, "run", lambda *_: runs.append("again"))
    databases = make_database(tmp_path / "databases", "(1, 'Ada', 3)")
    (after,) = evaluate(release, baselines=["majority"], databases=databases)
    assert (runs, after.predictions_hash, after.file) == ([], before.predictions_hash, before.file)
    found = after.metrics["execution_accuracy"]
    assert (found["value"], found["n"], found["left_out"]) == (2 / 3, 3, {"gold query fails": 1})
    assert after.databases is not None
    assert after.metrics["exact_set_match"] == before.metrics["exact_set_match"]
    # Kept where no databases are given, made again where they are others.
    assert evaluate(release, baselines=["majority"]) == [after]
    assert evaluate(release, baselines=["majority"], databases=databases) == [after]
    make_database(databases, "(1, 'Ada', 3), (2, 'Bea', 4)")
    (other,) = evaluate(release, baselines=["majority"], databases=databases)
    assert other.databases != after.databases
    assert runs == []


def test_databases_that_are_not_there_leave_the_metric_out(tmp_path: Path) -> None:
    release = sql_release(tmp_path / "r", schemas=[FARM_SCHEMA])
    (tmp_path / "empty").mkdir()
    (result,) = evaluate(release, baselines=["majority"], databases=tmp_path / "empty")
    assert result.unavailable == {
        "execution_accuracy": "no row could be judged: 4 no database file",
    }
    assert list(result.metrics) == ["exact_set_match", "string_match"]
    # That no row could be judged with these databases is known: the result is not made again.
    stored = (release.path / result.file).stat()
    assert evaluate(release, baselines=["majority"], databases=tmp_path / "empty") == [result]
    kept = (release.path / result.file).stat()
    assert (kept.st_ino, kept.st_mtime_ns) == (stored.st_ino, stored.st_mtime_ns)
    databases = make_database(tmp_path / "empty")
    (result,) = evaluate(release, baselines=["majority"], databases=databases)
    assert list(result.metrics) == ["exact_set_match", "string_match", "execution_accuracy"]
    assert result.unavailable == {}


def test_a_release_without_one_metric_that_can_judge_it_is_refused(tmp_path: Path) -> None:
    splits = {"train": sql_rows(["SELECT 1"]), "test": sql_rows(["SELECT nosuch FROM cow"], 1)}
    task = {**TEXT_TO_SQL.to_json(), "metrics": ["exact_set_match"]}
    release = write_release(
        tmp_path / "r",
        {"random": splits},
        task=TEXT_TO_SQL,
        entries={"random": {"task": task}},
        schemas=[FARM_SCHEMA],
    )
    message = "random: exact_set_match: no row could be judged: 1 unparsed gold query"
    with pytest.raises(UsageError, match=message):
        evaluate(release)


@pytest.mark.corpora
def test_a_system_on_the_development_set_of_spider(tmp_path: Path, oracle_folder: Path) -> None:
    """The 21st system of the reference outputs: 736 of 1,034, 24 predictions are not read."""
    folder = oracle_folder / "spider_eval"
    gold, outputs = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("gold.jsonl", "pred_21.jsonl")
    )
    schemas = [
        {
            "uid": f"spider:tables:{entry['db_id']}",
            "db_id": entry["db_id"],
            "table_names": entry["table_names_original"],
            "column_names": [
                {"table_id": table, "name": name} for table, name in entry["column_names_original"]
            ],
            "foreign_keys": [
                {"column_id": first, "referenced_column_id": second}
                for first, second in entry["foreign_keys"]
            ],
        }
        for entry in json.loads((folder / "tables_dev.json").read_text(encoding="utf-8"))
    ]
    rows = [
        {"uid": f"spider:dev:{row['i']}", **{name: row[name] for name in ("db_id", "question", "query")}}
        for row in gold
    ]
    release = write_release(tmp_path / "r", {"random": {"test": rows}}, task=TEXT_TO_SQL, schemas=schemas)
    path = tmp_path / "system.jsonl"
    lines = [{"uid": f"spider:dev:{row['i']}", "prediction": row["pred"]} for row in outputs]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (result,) = evaluate(release, predictions=path)
    found = result.metrics["exact_set_match"]
    assert (found["value"], found["n"]) == (736 / 1034, 1034)
    assert result.flagged["unparsed_prediction"] == 24
    assert [line["scores"]["exact_set_match"] for line in examples(release, result)] == [
        row["exact"] for row in outputs
    ]
