"""inspect-ai runs the tasks of a release and of its `eval.yaml`, and scores as benchwright does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness_releases import (
    CONFIG,
    build_releases,
    known_answers,
    our_scores,
    publish_copy,
    rows_to_answer,
    task_name,
)
from hub_fixtures import RunningHub
from tool_environments import run_tool, tool_python

from benchwright.eval.models import get_embedded
from benchwright.release import ReleaseFolder

pytestmark = pytest.mark.interop

REQUIREMENT = "inspect-ai==0.3.285"
# A model that answers with the texts of a file, by what stands in the question; then, field by field, what
# reads a benchmark on its way from the Hub.
KNOWN = """
import json, yaml
from inspect_ai import eval
from inspect_ai._eval.task.hf import HFTask
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def answering(known):
    def answer(messages, tools, tool_choice, config):
        asked = messages[-1].text
        # Examples stand before the question.
        text = max((min(asked.rfind(part) for part in parts), text) for parts, text in known)[1]
        output = ModelOutput.from_content("known", text)
        # Else tokens would be counted, with a vocabulary that is downloaded.
        output.usage = ModelUsage()
        return output
    return get_model("mockllm/known", custom_outputs=answer, memoize=False)

jobs, found = json.load(open("jobs.json")), {}
for task, known in jobs["tasks"]:
    (log,) = eval(task, model=answering(known), log_dir="logs", display="none")
    assert log.status == "success", log.error
    scores = {score.name: score.metrics["accuracy"].value for score in log.results.scores}
    found[task] = {"scores": scores, "uids": [sample.id for sample in log.samples]}
for file in jobs["benchmarks"]:
    for task in yaml.safe_load(open(file, encoding="utf-8"))["tasks"]:
        HFTask.model_validate(task)
json.dump(found, open("found.json", "w"))
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return tool_python(REQUIREMENT)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReleaseFolder]:
    return build_releases(tmp_path_factory.mktemp("releases"))


def _known(release: ReleaseFolder, texts: dict[str, str]) -> list[Any]:
    """Texts by uid, as texts by what a question holds of its row."""
    columns = [name for name in release.task(CONFIG).inputs if name != "db_id"]
    return [
        ([row["source"]] if "source" in row else [row[name] for name in columns], texts[row["uid"]])
        for row in rows_to_answer(release)
    ]


def _run(
    python: Path,
    tasks: dict[str, list[Any]],
    folder: Path,
    *,
    benchmarks: Sequence[Path] = (),
    environment: dict[str, str] | None = None,
) -> Any:
    """What inspect-ai finds for known answers, by task."""
    folder.mkdir(exist_ok=True)
    jobs = {"tasks": list(tasks.items()), "benchmarks": [str(file) for file in benchmarks]}
    (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    run_tool(python, ["-c", KNOWN], folder, environment)
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


def _assert_equal_scores(found: dict[str, float], expected: dict[str, float], names: dict[str, str]) -> None:
    shared = {name: value for name, value in expected.items() if name in names}
    assert {name: found[names[name]] for name in shared} == pytest.approx(shared)
    assert 0 < shared[next(iter(shared))] < 1


def test_equal_answers_get_equal_scores_and_benchmarks_are_read(
    python: Path, releases: dict[str, ReleaseFolder], tmp_path: Path
) -> None:
    tasks, place = {}, {}
    for name, release in releases.items():
        answers, labels = known_answers(release), release.task(CONFIG).labels
        if labels is None:
            texts = {uid: f"Here it is:\n```sql\n{answer};\n```" for uid, answer in answers.items()}
        else:
            texts = {uid: f"ANSWER: {'ABC'[labels.index(answer)]}" for uid, answer in answers.items()}
        place[name] = f"{release.path}/harness/inspect_ai/tasks.py@{task_name(name)}"
        tasks[place[name]] = _known(release, texts)
    benchmarks = [release.path / "eval.yaml" for release in releases.values()]
    found = _run(python, tasks, tmp_path / "run", benchmarks=benchmarks)
    names = {"accuracy": "choice", "string_match": "string_match", "exact_set_match": "exact_set_match"}
    for name, release in releases.items():
        answers = known_answers(release)
        assert set(found[place[name]]["uids"]) == answers.keys()
        _assert_equal_scores(found[place[name]]["scores"], our_scores(release, answers, tmp_path), names)


def test_a_real_model_answers_the_tasks_of_a_folder(
    python: Path, releases: dict[str, ReleaseFolder], embedded_cache: Path, tmp_path: Path
) -> None:
    model = get_embedded(embedded_cache, fetch=False)
    place = "harness/inspect_ai/tasks.py"
    tasks = [f"{releases[name].path}/{place}@{task_name(name)}" for name in ("snli", "spider")]
    command = [str(python.parent / "inspect"), "eval", *tasks, "--model", "hf/embedded"]
    command += ["-M", f"model_path={model}", "-M", "device=cpu", "-M", "do_sample=false"]
    command += ["--limit", "2", "--max-tokens", "6", "--display", "none"]
    command += ["--log-dir", "logs", "--log-format", "json"]
    run_tool(python, command, tmp_path)
    logs = [json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.glob("logs/*.json")]
    assert {log["eval"]["task"] for log in logs} == {task_name("snli"), task_name("spider")}
    for log in logs:
        assert log["status"] == "success", log.get("error")
        answers = [sample["output"]["choices"][0]["message"]["content"] for sample in log["samples"]]
        assert len(answers) == 2
        assert all(answers)
        for sample in log["samples"]:
            assert all(score["value"] in ("C", "I") for score in sample["scores"].values())


def _benchmark_answer(release: ReleaseFolder, answer: str) -> str:
    """An answer in the form that `eval.yaml` asks for."""
    labels = release.task(CONFIG).labels
    if labels is None:
        return answer
    return {"yes": "True", "no": "False"}.get(answer) or f"It is {labels.index(answer)}."


def test_published_tasks_and_benchmarks_read_the_rows_of_their_version(
    python: Path, releases: dict[str, ReleaseFolder], tmp_path: Path, hub: RunningHub
) -> None:
    published, tasks = {}, {}
    for name in ("snli", "boolq", "spider"):
        repo = f"acme/my-{name}"
        release = publish_copy(releases[name], tmp_path / name, repo)
        hub.api().delete_folder(CONFIG, repo_id=repo, repo_type="dataset")
        answers = known_answers(release)
        texts = {uid: _benchmark_answer(release, answer) for uid, answer in answers.items()}
        published[f"hf/{repo}@1.0.0"] = release
        tasks[f"hf/{repo}@1.0.0"] = _known(release, texts)
    queries = published["hf/acme/my-spider@1.0.0"]
    of_folder = f"{queries.path}/harness/inspect_ai/tasks.py@my_spider_random"
    tasks[of_folder] = _known(queries, known_answers(queries))
    found = _run(python, tasks, tmp_path / "run", environment=hub.environment("reader"))
    for task, release in published.items():
        names = {"accuracy": "pattern", "string_match": "match"}
        expected = our_scores(release, known_answers(release), tmp_path)
        _assert_equal_scores(found[task]["scores"], expected, names)
    names = {"string_match": "string_match", "exact_set_match": "exact_set_match"}
    expected = our_scores(queries, known_answers(queries), tmp_path)
    _assert_equal_scores(found[of_folder]["scores"], expected, names)


def test_the_file_names_no_key_that_the_hub_does_not_know(releases: dict[str, ReleaseFolder]) -> None:
    for release in releases.values():
        benchmark = yaml.safe_load((release.path / "eval.yaml").read_text(encoding="utf-8"))
        assert benchmark.keys() == {"name", "description", "evaluation_framework", "tasks"}
        assert benchmark["evaluation_framework"] == "inspect-ai"
        for task in benchmark["tasks"]:
            assert task.keys() == {"id", "config", "split", "field_spec", "solvers", "scorers"}
            assert all(part.keys() <= {"name", "args"} for part in task["solvers"] + task["scorers"])
            features = release.features(task["config"])
            spec = task["field_spec"]
            assert {spec["input"], spec["target"], *spec.get("metadata", ())} <= set(features)
