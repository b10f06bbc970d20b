"""The classifier baseline: labels by name, what is flagged, what is stored and when it does not apply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_classifiers
import tiny_models
from eval_helpers import boolean_rows, nli_rows, sql_rows, write_release

from benchwright.cli import main
from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval import evaluate, load_results, refresh_index, why_not_applicable
from benchwright.eval.baselines import EvaluationData, Rows
from benchwright.eval.baselines.classifier import Classifier
from benchwright.eval.models import PairLogits, SequenceClassifier, align_labels, load_classifier
from benchwright.progress import Progress, silent
from benchwright.release import ReleaseFolder
from benchwright.tasks import BOOLEAN_QUESTION, NLI, TEXT_TO_SQL, Task

NAMES = NLI.labels or ()
TWO_WAY = ("entailed", "not-entailed")


class GivenLogits(SequenceClassifier):
    """A classifier whose logits are given: no weights are needed to see what becomes of them."""

    def __init__(self, names: tuple[str, ...], logits: list[list[float]]) -> None:
        super().__init__(None, None, name="given", revision=None, label_names=names, max_positions=9)
        self.logits = np.array(logits, dtype=np.float32)

    def classify(
        self, first: Any, second: Any, *, batch_size: int = 1, progress: Progress = silent
    ) -> PairLogits:
        progress(len(first))
        return PairLogits(self.logits, np.zeros(len(first), dtype=bool))

    def identity(self) -> dict[str, Any]:
        return {"model": self.name}


def _data(names: tuple[str, ...], logits: list[list[float]], labels: tuple[str, ...]) -> EvaluationData:
    uids = [f"toy:all:{row}" for row in range(len(logits))]
    inputs = {"premise": ["p"] * len(uids), "hypothesis": ["h"] * len(uids)}
    rows = Rows(uids, inputs, np.array([labels[0]] * len(uids), dtype=object))
    task = Task("nli", ("premise", "hypothesis"), "label", ("accuracy",), labels)
    model = GivenLogits(names, logits)
    return EvaluationData("random", "test", task, rows, frozenset(uids), model=model)


def _answers(names: tuple[str, ...], logits: list[list[float]], labels: tuple[str, ...]) -> list[Any]:
    return Classifier().run(_data(names, logits, labels), 0, silent).values


@pytest.mark.parametrize(
    ("model", "task", "expected"),
    [
        (("contradiction", "neutral", "entailment"), NAMES, ("contradiction", "neutral", "entailment")),
        ((" Entailed", "NEUTRAL", "contradicts"), NAMES, ("entailment", "neutral", "contradiction")),
        (("NOT_ENTAILMENT", "entailment"), TWO_WAY, ("not-entailed", "entailed")),
        (("non-entailment", "entails"), TWO_WAY, ("not-entailed", "entailed")),
        (("contradiction", "neutral", "entailment"), TWO_WAY, ("not-entailed", "not-entailed", "entailed")),
        (("True", "False"), ("no", "yes"), ("yes", "no")),
        (("NO", "Yes"), ("no", "yes"), ("no", "yes")),
        (("Very_Good", "bad"), ("bad", "very good"), ("very good", "bad")),
    ],
)
def test_labels_go_by_name(model: tuple[str, ...], task: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert align_labels(model, task) == expected


@pytest.mark.parametrize(
    ("model", "task", "message"),
    [
        (("entailment", "unrelated", "neutral"), NAMES, "label 'unrelated' is none of entailment, neutral,"),
        (("not_entailment", "entailment"), NAMES, "label 'not_entailment' is none of entailment, neutral,"),
        (("entailment", "neutral"), NAMES, "has no output for 'contradiction', only entailment, neutral"),
        (("entailment", "entailed", "neutral"), NAMES, "has two outputs for entailment"),
        (NAMES, ("no", "yes"), "label 'entailment' is none of no, yes"),
        (("0", "1", "2"), NAMES, "label '0' is none of entailment"),
    ],
)
def test_labels_that_cannot_be_matched(model: tuple[str, ...], task: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        align_labels(model, task)
    assert message in str(caught.value)


def test_three_outputs_on_two_labels_are_entailment_against_the_rest() -> None:
    logits = [[2.0, 1.9, 1.9], [1.0, 1.5, 0.0], [1.0, 0.0, 1.5]]
    # The largest of three decides; neutral and contradiction of the first row are not added up.
    assert _answers(NAMES, logits, TWO_WAY) == ["entailed", "not-entailed", "not-entailed"]


def test_equal_logits_go_to_the_label_that_the_task_has_first() -> None:
    logits = [[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    backwards = NAMES[::-1]
    assert _answers(NAMES, logits, NAMES) == ["entailment", "neutral", "entailment"]
    assert _answers(backwards, [row[::-1] for row in logits], NAMES) == [
        "entailment",
        "neutral",
        "entailment",
    ]


def test_settings_say_which_output_stands_for_which_label() -> None:
    data = _data(("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), [[0.0, 0.0, 1.0]], TWO_WAY)
    assert Classifier().settings(data) == {
        "version": 1,
        "columns": ["premise", "hypothesis"],
        "labels": {"CONTRADICTION": "not-entailed", "NEUTRAL": "not-entailed", "ENTAILMENT": "entailed"},
        "model": {"model": "given"},
    }


@pytest.fixture
def nli(tmp_path: Path) -> ReleaseFolder:
    rows = nli_rows(0, 12)
    rows[4]["premise"] = "a cat sleeps " * 50
    return write_release(tmp_path / "nli", {"random": {"train": nli_rows(12, 6), "test": rows}})


@pytest.fixture
def classifier(tmp_path: Path) -> Path:
    return tiny_classifiers.save(tmp_path / "tiny", NAMES)


def test_what_was_truncated_is_answered_flagged_warned_of_and_counted(
    nli: ReleaseFolder, classifier: Path
) -> None:
    with pytest.warns(
        BenchwrightWarning, match=r"1 of the 12 rows of random/test are longer than the 48 tokens of tiny"
    ):
        (result,) = evaluate(nli, baselines=["classifier"], model=str(classifier))
    assert (result.model, result.flagged, result.left_out) == ("tiny", {"truncated": 1}, {})
    assert result.metrics["accuracy"]["n"] == 12
    lines = (nli.path / result.predictions_file).read_text(encoding="utf-8").splitlines()
    assert [row for row, line in enumerate(lines) if json.loads(line).get("flags") == ["truncated"]] == [4]
    assert result.settings["model"]["truncation"] == "longest_first"
    assert list(load_results(nli)) == [result]
    index = json.loads((nli.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert index["results"][0]["flagged"] == {"truncated": 1}
    refresh_index(nli)
    # Stored and fresh: no model runs, nothing is warned of.
    assert evaluate(nli, baselines=["classifier"], model=str(classifier)) == [result]


def test_a_loaded_model_answers_as_its_folder_does(tmp_path: Path, classifier: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"test": nli_rows(0, 12)}})
    (by_name,) = evaluate(release, baselines=["classifier"], model=str(classifier))
    loaded = load_classifier(str(classifier))
    assert evaluate(release, baselines=[Classifier()], model=loaded, force=True) == [by_name]
    assert "flagged" not in by_name.to_json()


def test_boolean_questions_read_question_and_passage(tmp_path: Path) -> None:
    rows = boolean_rows("ynynyn")
    release = write_release(tmp_path / "r", {"random": {"test": rows}}, task=BOOLEAN_QUESTION)
    folder = tiny_classifiers.save(tmp_path / "tiny", ("True", "False"), outputs=(0, 1))
    (result,) = evaluate(release, baselines=["classifier"], model=str(folder))
    logits = (
        load_classifier(str(folder))
        .classify([row["question"] for row in rows], [row["passage"] for row in rows])
        .logits
    )
    lines = (release.path / result.predictions_file).read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line)["prediction"] for line in lines]
    assert answers == [("yes", "no")[output] for output in logits.argmax(axis=1)]
    assert result.settings["labels"] == {"True": "yes", "False": "no"}


def test_where_it_does_not_apply(tmp_path: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"test": sql_rows(["SELECT a"])}}, task=TEXT_TO_SQL)
    reason = "it needs a task with labels and two input texts, which text-to-sql is not"
    assert why_not_applicable(release, "random", "classifier") == reason


def test_models_and_options_that_do_not_fit(tmp_path: Path, nli: ReleaseFolder, classifier: Path) -> None:
    language_model = str(tiny_models.save("gpt2", tmp_path / "gpt2"))
    both: Any = ["lm_zero_shot", "classifier"]
    for options, message in [
        ({"baselines": ["classifier"]}, "baseline classifier needs a model"),
        (
            {"baselines": ["classifier"], "model": language_model},
            "is no sequence classifier but a GPT2LMHead",
        ),
        ({"model": str(classifier)}, "is no causal language model but a BertForSequenceClassification"),
        ({"baselines": both, "model": language_model}, "need models of different kinds; run them one by one"),
        ({"model": language_model, "label_names": NAMES}, "label_names are for baseline classifier"),
        ({"label_names": NAMES}, "label_names are for baseline classifier"),
        ({"model": load_classifier(str(classifier))}, "lm_zero_shot needs a causal language model"),
    ]:
        with pytest.raises(UsageError) as caught:
            evaluate(nli, **options)
        assert message in str(caught.value)


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A toy release has nothing to make a card of.
    monkeypatch.setattr("benchwright.cards.write_card", lambda release: None)
    release = write_release(tmp_path / "r", {"random": {"test": nli_rows(0, 12)}})
    folder = tiny_classifiers.save(tmp_path / "tiny", None)
    command = ["eval", str(release.path), "--baseline", "classifier", "--model", str(folder)]
    assert main(command) == 2
    assert "name them in this order with --label-names" in capsys.readouterr().err
    assert main([*command, "--label-names", "contradiction, neutral, entailment", "--json"]) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    (result,) = load_results(release)
    assert printed == result.to_json()
    assert result.settings["model"]["label_names"] == list(NAMES[::-1])
