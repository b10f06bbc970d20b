"""lm-evaluation-harness runs the tasks that a release carries, and scores as benchwright does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import USER_CACHE
from harness_releases import (
    CONFIG,
    ROWS,
    build_releases,
    known_answers,
    our_scores,
    publish_copy,
    rows_to_answer,
    task_name,
)
from hub_fixtures import RunningHub
from tool_environments import run_tool, tool_python

from benchwright.eval import evaluate
from benchwright.eval.models import CausalModel, get_embedded, load_causal
from benchwright.eval.results import read_examples
from benchwright.prompts import ANSWER_PROMPTS
from benchwright.release import ReleaseFolder

pytestmark = pytest.mark.interop

REQUIREMENT = "lm-eval==0.4.13"
# A model that answers with the texts of a file, by the uid of the row.
KNOWN = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

class Known(LM):
    def loglikelihood(self, requests):
        return [(float(request.idx == ANSWERS[request.doc["uid"]]), False) for request in requests]
    def generate_until(self, requests):
        return [ANSWERS[request.doc["uid"]] for request in requests]
    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

folder, *names = sys.argv[1:]
ANSWERS = json.load(open("answers.json"))
manager = TaskManager(include_path=folder, include_defaults=False)
found = simple_evaluate(Known(), tasks=names, task_manager=manager, bootstrap_iters=0)
json.dump({"results": found["results"], "versions": found["versions"]}, open("found.json", "w"))
"""


@pytest.fixture(scope="module")
def python() -> Path:
    return tool_python(REQUIREMENT)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReleaseFolder]:
    return build_releases(tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module")
def model(embedded_cache: Path) -> CausalModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_CACHE", str(embedded_cache))
        return load_causal("embedded", device="cpu")


@pytest.fixture(scope="module")
def run(
    python: Path,
    releases: dict[str, ReleaseFolder],
    model: CausalModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[dict[str, Any]]]:
    """Samples by builder, from the command of harness/README.md on the folders as they lie."""
    folder = tmp_path_factory.mktemp("lm_eval")
    tokenizer = model.tokenizer
    before, tokenizer.bos_token = tokenizer.bos_token, model.start_token.text
    tokenizer.save_pretrained(folder / "tokenizer")
    tokenizer.bos_token = before
    arguments = {
        "pretrained": get_embedded(USER_CACHE, fetch=False),
        "tokenizer": folder / "tokenizer",
        "dtype": "float32",
        "add_bos_token": True,
    }
    script = python.parent / "lm_eval"
    command = [
        str(script),
        "run",
        "--model",
        "hf",
        "--device",
        "cpu",
        "--log_samples",
        "--output_path",
        "out",
    ]
    command += ["--model_args", ",".join(f"{name}={value}" for name, value in arguments.items())]
    command += ["--include_path", str(next(iter(releases.values())).path.parent)]
    command += ["--tasks", ",".join(task_name(name) for name in releases), "--limit", str(ROWS)]
    command += ["--gen_kwargs", "max_gen_toks=4"]
    run_tool(python, command, folder)
    samples = {}
    for name in releases:
        (file,) = folder.glob(f"out/*/samples_{task_name(name)}_*.jsonl")
        samples[name] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return samples


@pytest.mark.parametrize("builder", ["snli", "boolq"])
def test_predictions_and_accuracy_of_a_real_model_are_those_of_the_zero_shot_baseline(
    builder: str, run: Any, releases: dict[str, ReleaseFolder], model: CausalModel
) -> None:
    release = releases[builder]
    (ours,) = evaluate(release, configs=[CONFIG], model=model)
    predicted = {row["uid"]: row["prediction"] for row in read_examples(release, ours)}
    labels = release.task(CONFIG).labels or ()
    theirs = {}
    for sample in run[builder]:
        likelihoods = [float(response[0][0]) for response in sample["resps"]]
        theirs[sample["doc"]["uid"]] = labels[int(np.argmax(likelihoods))]
    assert theirs == predicted
    assert len(theirs) == ROWS
    assert np.mean([sample["acc"] for sample in run[builder]]) == ours.metrics["accuracy"]["value"]


@pytest.mark.parametrize("builder", ["snli", "boolq"])
def test_likelihoods_of_every_answer_are_ours(builder: str, run: Any, model: CausalModel) -> None:
    # A model that always gives one label would pass the test of predictions whatever it was asked.
    prompt = ANSWER_PROMPTS["nli" if builder == "snli" else "boolean-question"]
    columns = ("premise", "hypothesis") if builder == "snli" else ("question", "passage")
    inputs = {name: [sample["doc"][name] for sample in run[builder]] for name in columns}
    expected = model.choice_log_likelihoods(prompt.render(inputs), list(prompt.answers.values()))
    found = [[float(response[0][0]) for response in sample["resps"]] for sample in run[builder]]
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("builder", ["spider", "geoquery"])
def test_programs_are_generated_from_the_prompt_and_judged(
    builder: str, run: Any, releases: dict[str, ReleaseFolder]
) -> None:
    asked = {sample["doc"]["uid"]: sample["arguments"]["gen_args_0"]["arg_0"] for sample in run[builder]}
    assert asked.keys() == {row["uid"] for row in rows_to_answer(releases[builder])}
    for row in rows_to_answer(releases[builder]):
        end = "SQL:" if builder == "spider" else "FunQL:"
        assert asked[row["uid"]].endswith(f"{row['source']}\n{end}")
    examples = 0 if builder == "spider" else 5
    assert all(text.count("FunQL: answer") == examples for text in asked.values())
    metrics = {"string_match", "exact_set_match"} if builder == "spider" else {"string_match"}
    assert all(metrics <= sample.keys() for sample in run[builder])


def _known(
    python: Path,
    releases: dict[str, ReleaseFolder],
    folder: Path,
    environment: dict[str, str] | None = None,
) -> Any:
    """What lm-evaluation-harness finds for known answers to the tasks (by name) of folders side by side."""
    answers: dict[str, Any] = {}
    for release in releases.values():
        labels = release.task(CONFIG).labels
        known = known_answers(release)
        answers |= known if labels is None else {uid: labels.index(label) for uid, label in known.items()}
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    place = str(next(iter(releases.values())).path.parent)
    run_tool(python, ["-c", KNOWN, place, *releases], folder, environment)
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


def _assert_equal_scores(found: dict[str, Any], expected: dict[str, float]) -> None:
    named = {"accuracy": "acc"}
    shared = {name: value for name, value in expected.items() if name != "macro_f1"}
    assert {name: found[f"{named.get(name, name)},none"] for name in shared} == pytest.approx(shared)
    # Neither all right nor all wrong, or the comparison would say little.
    assert 0 < shared[next(iter(shared))] < 1


def test_equal_answers_get_equal_scores(
    python: Path, releases: dict[str, ReleaseFolder], tmp_path: Path
) -> None:
    found = _known(python, {task_name(name): release for name, release in releases.items()}, tmp_path)
    for name, release in releases.items():
        expected = our_scores(release, known_answers(release), tmp_path)
        _assert_equal_scores(found["results"][task_name(name)], expected)


def test_a_published_release_is_evaluated_at_its_version(
    python: Path, releases: dict[str, ReleaseFolder], tmp_path: Path, hub: RunningHub
) -> None:
    release = publish_copy(releases["spider"], tmp_path / "published" / "release", "acme/queries")
    hub.api().delete_folder("random", repo_id="acme/queries", repo_type="dataset")
    assert "random/test-00000-of-00001.parquet" not in hub.repository("acme/queries").files("main")
    (tmp_path / "run").mkdir()
    found = _known(python, {"queries_random": release}, tmp_path / "run", hub.environment("reader"))
    assert found["versions"]["queries_random"] == "1.0.0"
    expected = our_scores(release, known_answers(release), tmp_path)
    _assert_equal_scores(found["results"]["queries_random"], expected)
