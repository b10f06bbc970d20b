"""Results in others' forms: the Hub's `.eval_results`, and Every Eval Ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiny_models
import yaml
from hub_fixtures import RunningHub
from huggingface_hub import parse_eval_result_entries
from publish_helpers import made

from benchwright.builders.errata import rename
from benchwright.builders.exports import Exported, export
from benchwright.builders.hub.publish import publish
from benchwright.cli import main
from benchwright.errors import UsageError
from benchwright.eval import Result, evaluate
from benchwright.eval.models import CausalModel, load_causal
from benchwright.release import ReleaseFolder

REPO = "acme/made"
NUMBER = (int, float)
# The fields of `eval.schema.json` 0.3.0 that must be there, and those that are used here besides. A name with
# a question mark may be missing; a type in a list is that of every item; "*" stands for any name.
RECORD: dict[str, Any] = {
    "schema_version": str,
    "evaluation_id": str,
    "retrieved_timestamp": str,
    "source_metadata": {
        "source_name?": str,
        "source_type": ("documentation", "evaluation_run"),
        "source_organization_name": str,
        "evaluator_relationship": ("first_party", "third_party", "collaborative", "other"),
    },
    "eval_library": {"name": str, "version": str, "additional_details?": {"*": str}},
    "model_info": {
        "name": str,
        "id": str,
        "developer?": str,
        "inference_engine?": {"name": str, "version": str},
        "additional_details?": {"*": str},
    },
    "evaluation_results": [
        {
            "evaluation_result_id?": str,
            "evaluation_name": str,
            "source_data": {
                "dataset_name": str,
                "source_type": ("hf_dataset", "other"),
                "hf_repo?": str,
                "hf_split?": str,
                "samples_number?": int,
                "additional_details?": {"*": str},
            },
            "metric_config": {
                "evaluation_description?": str,
                "metric_id?": str,
                "metric_name?": str,
                "metric_unit?": str,
                "lower_is_better": bool,
                "score_type?": ("continuous",),
                "min_score?": NUMBER,
                "max_score?": NUMBER,
                "additional_details?": {"*": str},
            },
            "score_details": {
                "score": NUMBER,
                "details?": {"*": str},
                "uncertainty?": {
                    "num_samples": int,
                    "confidence_interval?": {
                        "lower": NUMBER,
                        "upper": NUMBER,
                        "confidence_level": NUMBER,
                        "method": str,
                    },
                },
            },
            "generation_config?": {
                "generation_args?": {"prompt_template": str},
                "additional_details?": {"*": str},
            },
        }
    ],
}


def check(value: Any, shape: Any, where: str = "record") -> None:
    """Fail unless a value has a shape."""
    if isinstance(shape, list):
        assert isinstance(value, list), where
        assert value, where
        for number, item in enumerate(value):
            check(item, shape[0], f"{where}[{number}]")
    elif isinstance(shape, tuple) and isinstance(shape[0], str):
        assert value in shape, (where, value)
    elif isinstance(shape, dict):
        assert isinstance(value, dict), where
        known = {name.rstrip("?"): kind for name, kind in shape.items()}
        missing = {name for name in shape if not name.endswith("?") and name != "*"} - value.keys()
        assert not missing, (where, missing)
        for name, item in value.items():
            assert name in known or "*" in known, (where, name)
            check(item, known.get(name, known.get("*")), f"{where}.{name}")
    else:
        assert isinstance(value, shape), (where, value)
        assert isinstance(value, bool) == (shape is bool), (where, value)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    found = load_causal(
        str(tiny_models.save("gpt2", tmp_path_factory.mktemp("models") / "tiny")), device="cpu"
    )
    found.name = "acme/tiny"
    return found


@pytest.fixture
def release(tmp_path: Path, model: CausalModel) -> ReleaseFolder:
    """Two configs with results of a model on both, of a baseline without one, and of some rows."""
    folder = made(tmp_path / "made")
    evaluate(folder, model=model)
    evaluate(folder, baselines=["majority"], configs=["random"])
    evaluate(folder, model=model, configs=["random"], limit=3)
    return folder


def results(release: ReleaseFolder) -> list[Result]:
    files = sorted((release.path / "results").glob("*/lm_zero_shot*.json"))
    found = [Result.from_json(json.loads(file.read_text(encoding="utf-8"))) for file in files]
    return [result for result in found if result.limit is None]


def texts(exported: Exported, folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in exported.files}


def test_entries_for_the_models_repository(release: ReleaseFolder, hub: RunningHub, tmp_path: Path) -> None:
    publish(release, repo=REPO, create=True, load=False)
    exported = export(release.path, out=tmp_path / "out", timestamp=0)
    ((path, text),) = [
        item for item in texts(exported, tmp_path / "out").items() if "eval_results/" in item[0]
    ]
    assert path.startswith("eval_results/acme--tiny/.eval_results/made--lm_zero_shot-")
    entries = parse_eval_result_entries(yaml.safe_load(text))
    expected = {result.config: result.metrics["accuracy"]["value"] for result in results(release)}
    assert {entry.task_id: entry.value for entry in entries} == expected
    assert expected.keys() == {"ll_split", "random"}
    benchmark = yaml.safe_load(hub.repository(REPO).files("1.0.0")["eval.yaml"])
    assert {entry.task_id for entry in entries} <= {task["id"] for task in benchmark["tasks"]}
    for entry in entries:
        assert (entry.dataset_id, entry.dataset_revision) == (REPO, "1.0.0")
        place = f"/datasets/{REPO}/blob/1.0.0/"
        assert entry.source_url is not None
        assert entry.source_url.split(place)[1] in hub.repository(REPO).files("1.0.0")
        assert "accuracy (0 to 1) of 12 rows of test" in (entry.notes or "")


def test_a_release_on_the_hub_is_named_by_its_commit(
    release: ReleaseFolder, hub: RunningHub, tmp_path: Path
) -> None:
    publish(release, repo=REPO, create=True, load=False)
    hub.requests.clear()
    exported = export(f"{REPO}@1.0.0", out=tmp_path / "out", timestamp=0)
    (text,) = [text for path, text in texts(exported, tmp_path / "out").items() if "eval_results/" in path]
    revisions = {entry.dataset_revision for entry in parse_eval_result_entries(yaml.safe_load(text))}
    assert revisions == {hub.repository(REPO).head()}
    # Rows are not needed for it.
    assert not [request.path for request in hub.requests if request.path.endswith(".parquet")]


def test_records_have_the_fields_of_every_eval_ever(
    release: ReleaseFolder, hub: RunningHub, tmp_path: Path
) -> None:
    publish(release, repo=REPO, create=True, load=False)
    exported = export(release.path, out=tmp_path / "out", timestamp=1_790_000_000, organization="Acme Labs")
    ((path, text),) = [item for item in texts(exported, tmp_path / "out").items() if "every_eval" in item[0]]
    record = json.loads(text)
    check(record, RECORD)
    assert path.startswith("every_eval_ever/made/acme--tiny/lm_zero_shot-")
    assert record["schema_version"] == "0.3.0"
    assert record["retrieved_timestamp"] == "1790000000"
    assert record["evaluation_id"].endswith("/acme/tiny/1790000000")
    assert record["source_metadata"]["source_organization_name"] == "Acme Labs"
    assert record["model_info"]["developer"] == "acme"
    found = {
        (entry["evaluation_name"], entry["metric_config"]["metric_id"]): entry["score_details"]["score"]
        for entry in record["evaluation_results"]
    }
    assert found == {
        (result.config, name): metric["value"]
        for result in results(release)
        for name, metric in result.metrics.items()
    }
    for entry in record["evaluation_results"]:
        assert entry["source_data"]["hf_repo"] == REPO
        assert entry["source_data"]["samples_number"] == 12
        assert entry["source_data"]["additional_details"]["revision"] == "1.0.0"
        assert entry["score_details"]["uncertainty"]["num_samples"] == 12
        assert entry["generation_config"]["generation_args"]["prompt_template"].endswith("\nAnswer:")


def test_an_unpublished_release_has_no_entries_for_the_hub(release: ReleaseFolder, tmp_path: Path) -> None:
    exported = export(release, out=tmp_path / "out", timestamp=0)
    (text,) = texts(exported, tmp_path / "out").values()
    record = json.loads(text)
    check(record, RECORD)
    assert {entry["source_data"]["source_type"] for entry in record["evaluation_results"]} == {"other"}
    assert record["source_metadata"]["source_organization_name"] == "unknown"


def test_what_says_nothing_of_a_model_on_these_rows_is_left_out_and_counted(
    release: ReleaseFolder, tmp_path: Path
) -> None:
    assert export(release, out=tmp_path / "first").left_out == {"without a model": 1, "of some rows only": 1}
    answers = next((release.path / "results" / "ll_split").glob("*.predictions.jsonl"))
    answers.write_text("", encoding="utf-8")
    exported = export(release, out=tmp_path / "second")
    assert exported.left_out == {"stale": 1, "without a model": 1, "of some rows only": 1}
    (text,) = texts(exported, tmp_path / "second").values()
    assert {entry["evaluation_name"] for entry in json.loads(text)["evaluation_results"]} == {"random"}
    assert "left out: 1 stale" in str(exported)


def test_results_of_configs_that_are_not_published_are_left_out(
    release: ReleaseFolder, hub: RunningHub, tmp_path: Path
) -> None:
    publish(release, repo=REPO, create=True, load=False)
    changed = rename(release.path, config="random", to="drawn")
    exported = export(changed, out=tmp_path / "out", timestamp=0)
    assert exported.files == ()
    assert exported.left_out["not published"] == 2
    publish(changed, repo=REPO, load=False)
    exported = export(release.path, out=tmp_path / "later", timestamp=0)
    assert "not published" not in exported.left_out
    (text,) = [text for path, text in texts(exported, tmp_path / "later").items() if "eval_results/" in path]
    revisions = {entry.dataset_revision for entry in parse_eval_result_entries(yaml.safe_load(text))}
    assert revisions == {"1.1.0"}


def test_results_on_another_split_are_no_entries_of_the_benchmark(
    release: ReleaseFolder, model: CausalModel, hub: RunningHub, tmp_path: Path
) -> None:
    evaluate(release, model=model, configs=["random"], split="validation")
    publish(release, repo=REPO, create=True, load=False)
    exported = export(release.path, out=tmp_path / "out", timestamp=0)
    entries = [text for path, text in texts(exported, tmp_path / "out").items() if "eval_results/" in path]
    assert len(entries) == 1
    assert "validation" not in entries[0]


def test_the_same_time_gives_the_same_bytes(
    release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "17")
    by_environment = texts(export(release, out=tmp_path / "a"), tmp_path / "a")
    by_option = texts(export(release, out=tmp_path / "b", timestamp=17), tmp_path / "b")
    assert by_environment == by_option
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH"):
        export(release, out=tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_models_name_cannot_leave_the_folder(
    release: ReleaseFolder, tmp_path: Path, model: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "name", "../../..\\evil\n")
    evaluate(release, model=model, configs=["random"])
    exported = export(release, out=tmp_path / "out")
    assert len(exported.files) == 2
    for file in exported.files:
        assert file.resolve().is_relative_to((tmp_path / "out").resolve())
        assert ".." not in file.parts


def test_mistakes_are_named_before_anything_is_written(release: ReleaseFolder, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        export(release, out=tmp_path / "full")
    with pytest.raises(UsageError, match="relationship is one of first_party"):
        export(release, out=tmp_path / "out", relationship="friend")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_the_command_prints_what_it_wrote(
    release: ReleaseFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["export", str(release.path), "--out", str(out), "--relationship", "first_party", "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["left_out"] == {"without a model": 1, "of some rows only": 1}
    (file,) = printed["files"]
    record = json.loads(Path(file).read_text(encoding="utf-8"))
    assert record["source_metadata"]["evaluator_relationship"] == "first_party"
    assert main(arguments) == 2
