"""The text of harness files: what is asked, under which names, and that data cannot become code or paths."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwright.builders.build import build, split
from benchwright.cards.harness import benchmark_tasks, export_texts
from benchwright.errors import ReleaseError
from benchwright.prompts import ANSWER_PROMPTS
from benchwright.release import ReleaseFolder
from benchwright.tasks import BOOLEAN_QUESTION, NLI, TEXT_TO_FUNQL, TEXT_TO_SQL, Task

TEXT = {"dtype": "string", "_type": "Value"}
LABELS = {"names": ["entailment", "neutral", "contradiction"], "_type": "ClassLabel"}
FEATURES: dict[str, dict[str, Any]] = {
    "nli": {"uid": TEXT, "premise": TEXT, "hypothesis": TEXT, "label": LABELS},
    "boolean-question": {
        "uid": TEXT,
        "question": TEXT,
        "passage": TEXT,
        "answer": {"dtype": "bool", "_type": "Value"},
    },
    "text-to-sql": {"uid": TEXT, "db_id": TEXT, "question": TEXT, "query": TEXT, "source": TEXT},
    "funql": {"uid": TEXT, "source": TEXT, "target": TEXT},
}


def entry(
    task: Task, features: Mapping[str, Any] | None = None, splits: tuple[str, ...] = ("train", "test")
) -> dict[str, Any]:
    return {
        "kind": "split",
        "task": task.to_json(),
        "features": features or FEATURES[task.name],
        "splits": {name: {"files": [f"{name}.parquet"], "rows": 1} for name in splits},
        "assignment": {"file": "a.parquet"},
    }


def release(configs: dict[str, dict[str, Any]], **facts: Any) -> ReleaseFolder:
    dataset = {"builder": "toy", "pretty_name": "Toy rows", "summary": "Rows of a toy."}
    return ReleaseFolder("toy", {"format": 1, "dataset": dataset, "configs": configs, **facts})


def lm_eval_task(text: str) -> dict[str, Any]:
    """A task file as YAML, functions by their names."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    found: dict[str, Any] = yaml.load(text, Loader)
    return found


def functions(text: str) -> list[str]:
    """Names of the functions of a Python file, in order."""
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def test_a_release_has_tasks_of_every_config_for_both_harnesses() -> None:
    texts = export_texts(release({"ll_split": entry(NLI), "random": entry(NLI)}))
    assert set(texts) == {
        "eval.yaml",
        "harness/README.md",
        "harness/lm_eval/ll_split.yaml",
        "harness/lm_eval/random.yaml",
        "harness/lm_eval/_all.yaml",
        "harness/lm_eval/utils.py",
        "harness/inspect_ai/tasks.py",
    }
    assert yaml.safe_load(texts["harness/lm_eval/_all.yaml"]) == {
        "group": "toy_splits",
        "task": ["toy_splits_ll_split", "toy_splits_random"],
    }
    assert functions(texts["harness/inspect_ai/tasks.py"])[-2:] == [
        "toy_splits_ll_split",
        "toy_splits_random",
    ]
    assert all(name in texts["harness/README.md"] for name in ("toy_splits_ll_split", "toy_splits_random"))


@pytest.mark.parametrize("task", [NLI, BOOLEAN_QUESTION])
def test_the_prompt_of_lm_eval_is_that_of_the_zero_shot_baseline(task: Task) -> None:
    found = lm_eval_task(export_texts(release({"random": entry(task)}))["harness/lm_eval/random.yaml"])
    prompt = ANSWER_PROMPTS[task.name]
    rendered = found["doc_to_text"]
    for column in task.inputs:
        rendered = rendered.replace(f"{{{{ {column} }}}}", f"{{{column}}}")
    assert rendered == prompt.prompt
    assert found["doc_to_choice"] == [prompt.answers[label] for label in task.labels or ()]
    assert (found["target_delimiter"], found["num_fewshot"]) == ("", 0)
    assert (found["test_split"], found["fewshot_split"]) == ("test", "train")


def test_answers_stand_in_the_order_of_the_class_numbers() -> None:
    # The order of the task is another one: a number would name another label.
    names = ["contradiction", "entailment", "neutral"]
    features = {**FEATURES["nli"], "label": {"names": names, "_type": "ClassLabel"}}
    texts = export_texts(release({"random": entry(NLI, features)}))
    assert lm_eval_task(texts["harness/lm_eval/random.yaml"])["doc_to_choice"] == [
        " False",
        " True",
        " Neither",
    ]
    assert f"labels={json.dumps(names)}" in texts["harness/inspect_ai/tasks.py"]
    (task,) = yaml.safe_load(texts["eval.yaml"])["tasks"]
    assert "0 for contradiction, 1 for entailment, 2 for neutral" in task["solvers"][0]["args"]["template"]


def test_local_tasks_hold_no_place_and_published_ones_the_version() -> None:
    made = release({"random": entry(TEXT_TO_SQL)})
    local, published = export_texts(made), export_texts(made, repo="acme/Toy-rows", revision="1.2.0")
    task = lm_eval_task(local["harness/lm_eval/random.yaml"])
    assert (task["custom_dataset"], task["dataset_kwargs"]) == ("utils.rows", {"config": "random"})
    task = lm_eval_task(published["harness/lm_eval/random.yaml"])
    assert task["task"] == "toy_rows_random"
    assert (task["dataset_path"], task["dataset_name"]) == ("acme/Toy-rows", "random")
    assert (task["dataset_kwargs"], task["metadata"]) == ({"revision": "1.2.0"}, {"version": "1.2.0"})
    for name in ("harness/lm_eval/utils.py", "harness/inspect_ai/tasks.py"):
        assert "REPO = None\nREVISION = None\n" in local[name]
        assert 'REPO = "acme/Toy-rows"\nREVISION = "1.2.0"\n' in published[name]


def test_the_same_release_gives_the_same_text() -> None:
    made = release({"random": entry(NLI)})
    assert export_texts(made) == export_texts(made)
    assert list(export_texts(made)) == list(export_texts(made))


def test_programs_are_judged_by_what_the_release_has() -> None:
    schemas = {"kind": "table", "features": {"db_id": TEXT}, "splits": {}}
    with_schemas = export_texts(release({"random": entry(TEXT_TO_SQL), "schemas": schemas}))
    task = lm_eval_task(with_schemas["harness/lm_eval/random.yaml"])
    assert [metric["metric"] for metric in task["metric_list"]] == ["exact_set_match", "string_match"]
    without = export_texts(release({"random": entry(TEXT_TO_SQL)}))
    task = lm_eval_task(without["harness/lm_eval/random.yaml"])
    assert [metric["metric"] for metric in task["metric_list"]] == ["utils.string_match"]
    assert "benchwright.eval" not in without["harness/inspect_ai/tasks.py"]


def test_models_that_do_not_know_the_language_see_examples() -> None:
    texts = export_texts(
        release({"random": entry(TEXT_TO_FUNQL), "only_test": entry(TEXT_TO_FUNQL, splits=("test",))})
    )
    shots = {
        name: lm_eval_task(texts[f"harness/lm_eval/{name}.yaml"])["num_fewshot"]
        for name in ("random", "only_test")
    }
    assert shots == {"random": 5, "only_test": 0}


def test_the_validation_split_is_asked_where_there_is_no_test_split() -> None:
    made = release(
        {"random": entry(NLI, splits=("train", "validation")), "train_only": entry(NLI, splits=("train",))}
    )
    assert benchmark_tasks(made) == {"random": "validation"}
    task = lm_eval_task(export_texts(made)["harness/lm_eval/random.yaml"])
    assert task["validation_split"] == "validation"
    assert "test_split" not in task


def test_a_former_name_of_a_config_keeps_its_tasks() -> None:
    made = release({"random": entry(NLI)}, publication={"aliases": {"shuffled": "random", "gone": "nowhere"}})
    texts = export_texts(made, repo="acme/toy", revision="1.1.0")
    assert benchmark_tasks(made) == {"random": "test", "shuffled": "test"}
    assert lm_eval_task(texts["harness/lm_eval/shuffled.yaml"])["dataset_name"] == "shuffled"


def test_what_cannot_be_asked_is_left_out() -> None:
    ids_only = {name: kind for name, kind in FEATURES["nli"].items() if name not in ("premise", "hypothesis")}
    unlabelled = Task("text", ("premise",), target="", metrics=())
    configs = {"hidden": entry(NLI, ids_only), "texts": entry(unlabelled, FEATURES["nli"])}
    assert export_texts(release(configs)) == {}


def test_names_that_are_no_identifiers_become_different_ones() -> None:
    texts = export_texts(release({"a-b": entry(NLI), "a.b": entry(NLI), "A_B": entry(NLI)}))
    found = functions(texts["harness/inspect_ai/tasks.py"])[-3:]
    assert found == ["toy_splits_a_b", "toy_splits_a_b_2", "toy_splits_a_b_3"]
    assert {f"harness/lm_eval/{name}.yaml" for name in ("a-b", "a.b", "A_B")} <= texts.keys()


def test_a_config_with_the_name_of_another_file_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"_all\.yaml"):
        export_texts(release({"_all": entry(NLI)}))


@pytest.mark.parametrize("name", ["../../README", "/etc/passwd", "a\\b", "", ".hidden", "a b"])
def test_a_former_name_cannot_leave_the_folder(name: str) -> None:
    made = release({"random": entry(NLI)}, publication={"aliases": {name: "random"}})
    with pytest.raises(ReleaseError, match="cannot name a file"):
        export_texts(made)


HOSTILE = 'yes"""\n!function os.system {{ 7 * 7 }} {prompt} \u2028: - #\'; import os'


def test_text_from_data_is_text_in_every_file() -> None:
    task = Task("classification", ("text",), "label", ("accuracy",), labels=(HOSTILE, "no"))
    features = {"uid": TEXT, "text": TEXT, "label": {"names": [HOSTILE, "no"], "_type": "ClassLabel"}}
    made = release({"random": entry(task, features)})
    made.dataset.update(pretty_name=f'"""{HOSTILE}', summary=f"{HOSTILE}\n...\n---")
    for texts in (export_texts(made), export_texts(made, repo="acme/toy", revision=HOSTILE)):
        assert lm_eval_task(texts["harness/lm_eval/random.yaml"])["doc_to_choice"] == [f" {HOSTILE}", " no"]
        assert yaml.safe_load(texts["eval.yaml"])["tasks"][0]["id"] == "random"
        template = yaml.safe_load(texts["eval.yaml"])["tasks"][0]["solvers"][0]["args"]["template"]
        assert HOSTILE in template.format(prompt="a text")
        tree = ast.parse(texts["harness/inspect_ai/tasks.py"])
        strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert HOSTILE in strings
        ast.parse(texts["harness/lm_eval/utils.py"])
        assert not any(isinstance(node, ast.Name) and node.id == "os" for node in ast.walk(tree))


@pytest.mark.parametrize("column", ["my text", "class", "self", "none", "é", "a}}{{b"])
def test_columns_that_no_template_can_name_are_not_asked(column: str) -> None:
    task = Task("classification", (column,), "label", ("accuracy",), labels=("no", "yes"))
    features = {"uid": TEXT, column: TEXT, "label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    assert export_texts(release({"random": entry(task, features)})) == {}


def test_a_users_own_data_is_asked_by_column(tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    rows = [f"film number {n} is {'bad' if n % 2 else 'good'},{'neg' if n % 2 else 'pos'}" for n in range(40)]
    file.write_text("\n".join(["text,mood", *rows]), encoding="utf-8")
    made = split(file, text="text", label="mood", by=["random"], out=tmp_path / "out")
    task = lm_eval_task((made.path / "harness/lm_eval/random.yaml").read_text(encoding="utf-8"))
    assert task["task"] == "reviews_random"
    assert task["doc_to_text"] == "text: {{ text }}\nmood:"
    assert task["doc_to_choice"] == [" neg", " pos"]


def test_a_build_writes_the_files_and_none_at_the_root_is_python(tmp_path: Path) -> None:
    made = build("boolq", source="sample", out=tmp_path / "boolq-splits", configs=["random"])
    for path, text in export_texts(made).items():
        assert (made.path / path).read_text(encoding="utf-8") == text
    assert not list(made.path.glob("*.py"))
