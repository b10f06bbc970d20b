"""Baselines on small releases: what they answer, when they do not apply, and what cannot change them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
from eval_helpers import boolean_rows, nli_rows, sql_rows, write_release

from benchwright.errors import BenchwrightWarning, SourceError, UsageError
from benchwright.eval import evaluate
from benchwright.eval.baselines import EvaluationData, Predictions, baselines
from benchwright.eval.baselines.human import Human
from benchwright.eval.baselines.linear import LinearFullInput, LinearPartialInput, row_features
from benchwright.eval.baselines.lm_zero_shot import ZeroShotLanguageModel
from benchwright.eval.baselines.majority import Majority
from benchwright.eval.run import judge, load_data, why_not_applicable
from benchwright.progress import Progress, silent
from benchwright.prompts import ANSWER_PROMPTS
from benchwright.release import ReleaseFolder
from benchwright.tasks import BOOLEAN_QUESTION, NLI, TEXT_TO_SQL


@pytest.fixture
def nli(tmp_path: Path) -> ReleaseFolder:
    return write_release(tmp_path / "nli", {"random": {"train": nli_rows(0, 60), "test": nli_rows(60, 30)}})


@pytest.fixture
def questions(tmp_path: Path) -> ReleaseFolder:
    splits = {"train": boolean_rows("yynynyynyy"), "test": boolean_rows("ynn")}
    return write_release(tmp_path / "questions", {"random": splits}, task=BOOLEAN_QUESTION)


@pytest.fixture
def sql(tmp_path: Path) -> ReleaseFolder:
    splits = {
        "train": sql_rows(["SELECT b", "SELECT a", "SELECT c"]),
        "test": sql_rows(["select a", "SELECT x"], 3),
    }
    return write_release(tmp_path / "sql", {"random": splits}, task=TEXT_TO_SQL)


def data(release: ReleaseFolder, *extra: str, **options: Any) -> EvaluationData:
    return load_data(release, "random", "test", extra, **options)


def accuracy(data: EvaluationData, predictions: Predictions) -> float:
    return judge(data, predictions, ["accuracy"]).values["accuracy"].value


def test_majority_answers_the_most_frequent_train_label_by_name(questions: ReleaseFolder) -> None:
    answers = Majority().run(data(questions), 0, silent)
    assert answers.values == ["yes"] * 3
    assert accuracy(data(questions), answers) == pytest.approx(1 / 3)


def test_majority_ties_go_to_the_first_label_of_the_task(nli: ReleaseFolder) -> None:
    assert set(Majority().run(data(nli), 0, silent).values) == {"entailment"}


def test_majority_of_queries_breaks_ties_by_text(sql: ReleaseFolder) -> None:
    answers = Majority().run(data(sql), 0, silent)
    assert answers.values == ["SELECT a", "SELECT a"]
    assert judge(data(sql), answers, TEXT_TO_SQL.metrics).values["string_match"].per_example.tolist() == [
        1,
        0,
    ]


def test_human_is_judged_on_rows_with_five_labels_only(nli: ReleaseFolder) -> None:
    rows = data(nli, "annotator_labels")
    answers = Human().run(rows, 0, silent)
    assert answers.uids == [f"toy:all:{number}" for number in range(60, 90, 5)]
    assert answers.left_out == {"without 5 annotator labels": 24}
    assert accuracy(rows, answers) == pytest.approx(0.8)


def test_a_hypothesis_that_gives_the_label_away_is_found_by_the_partial_input(nli: ReleaseFolder) -> None:
    assert accuracy(data(nli), LinearPartialInput().run(data(nli), 0, silent)) == 1.0


def test_only_the_full_input_sees_whether_words_are_shared(tmp_path: Path) -> None:
    colours = ("red", "blue", "green", "black")

    def rows(first: int, count: int) -> list[dict[str, Any]]:
        made = nli_rows(first, count)
        for number, row in enumerate(made, start=first):
            said, seen = colours[number // 8 % 4], colours[number // 2 % 4]
            row |= {
                "premise": f"The car is {seen}",
                "hypothesis": f"It is {said}",
                "label": 0 if said == seen else 2,
            }
        return made

    release = write_release(tmp_path / "r", {"random": {"train": rows(0, 320), "test": rows(320, 64)}})
    partial = accuracy(data(release), LinearPartialInput().run(data(release), 0, silent))
    assert partial == 0.75  # the share of contradictions
    assert accuracy(data(release), LinearFullInput().run(data(release), 0, silent)) == 1.0


@pytest.mark.parametrize("baseline", [LinearPartialInput(train_limit=40), LinearFullInput()])
def test_order_and_number_of_rows_change_no_answer(nli: ReleaseFolder, tmp_path: Path, baseline: Any) -> None:
    splits = {"train": nli_rows(0, 60)[::-1], "test": nli_rows(60, 30)[::-1]}
    reversed_release = write_release(tmp_path / "reversed", {"random": splits})
    answers = baseline.run(data(nli), 3, silent)
    assert baseline.run(data(reversed_release), 3, silent).hash == answers.hash
    few = baseline.run(data(nli, limit=7, seed=3), 3, silent)
    assert len(few.uids) == 7
    assert (
        dict(zip(few.uids, few.values, strict=True)).items()
        <= dict(zip(answers.uids, answers.values, strict=True)).items()
    )


def test_limit_draws_the_same_rows_from_any_order(nli: ReleaseFolder, tmp_path: Path) -> None:
    splits = {"test": nli_rows(60, 30)[::-1]}
    other = write_release(tmp_path / "other", {"random": splits})
    chosen = data(nli, limit=10, seed=1).evaluation.uids
    assert data(other, limit=10, seed=1).evaluation.uids == chosen[::-1]
    assert set(data(nli, limit=10, seed=2).evaluation.uids) != set(chosen)


def test_features_mark_shared_words_and_place() -> None:
    assert set(row_features("Dogs run", [])) == {"0:dogs", "0:run", "0:dogs run"}
    assert {"present:run", "absent:dogs", "share:2", "1:cats"} <= set(
        row_features("Dogs run", ["Cats run fast"])
    )


@pytest.mark.parametrize(
    ("baseline", "reason"),
    [
        ("human", "it is for nli, not for text-to-sql"),
        ("linear_full_input", "it is for nli, binary-nli and boolean-question, not for text-to-sql"),
        ("lm_zero_shot", "it is for nli, binary-nli and boolean-question, not for text-to-sql"),
        ("majority", None),
    ],
)
def test_a_baseline_says_why_it_does_not_apply(sql: ReleaseFolder, baseline: str, reason: str | None) -> None:
    assert why_not_applicable(sql, "random", baseline) == reason


def test_a_config_without_train_rows_five_labels_or_two_labels(tmp_path: Path) -> None:
    one = [row for row in nli_rows(1, 12) if row["label"] == 1 and len(row["annotator_labels"]) == 1]
    release = write_release(tmp_path / "r", {"shift": {"test": one}, "same": {"train": one, "test": one}})
    assert why_not_applicable(release, "shift", "majority") == "the config has no train split"
    assert why_not_applicable(release, "shift", "human") == "no row of test has 5 annotator labels"
    reason = "all train rows have the label 'neutral'"
    assert why_not_applicable(release, "same", "linear_full_input") == reason


def test_a_label_that_is_none_stops_the_evaluation(tmp_path: Path) -> None:
    rows = nli_rows(0, 3)
    rows[1]["label"] = -1
    release = write_release(tmp_path / "r", {"random": {"test": rows}})
    with pytest.raises(SourceError, match=r"random/test, row 1, field 'label': no label of the task"):
        data(release)


def test_an_input_that_is_null_stops_the_evaluation(tmp_path: Path) -> None:
    rows = nli_rows(0, 3)
    rows[2]["hypothesis"] = None
    release = write_release(tmp_path / "r", {"random": {"test": rows}})
    with pytest.raises(SourceError, match=r"random/test, row 2, field 'hypothesis': no text; rebuild"):
        data(release)


def test_a_linear_model_that_did_not_converge_says_so(nli: ReleaseFolder) -> None:
    with pytest.warns(
        BenchwrightWarning, match="linear_full_input on random: not converged after 1 iterations"
    ):
        LinearFullInput(max_iterations=1).run(data(nli), 0, silent)


class WordOverlapModel:
    """Stands for a causal model: an answer is likely if the context holds its word; 30 words fit."""

    def identity(self) -> dict[str, Any]:
        return {"model": "toy/overlap", "weights_sha256": "0" * 64}

    def environment(self) -> dict[str, Any]:
        return {"device": "cpu"}

    def choice_log_likelihoods(
        self, contexts: Sequence[str], choices: Sequence[str], *, start: str, progress: Progress
    ) -> np.ndarray:
        assert start == "always"
        scores = np.full((len(contexts), len(choices)), np.nan)
        for row, context in enumerate(contexts):
            if len(context.split()) <= 30:
                passage = context.split("\n")[0]
                scores[row] = [-1.0 if choice.strip().lower() in passage else -2.0 for choice in choices]
            for _ in choices:
                progress(1)
        return scores


def test_zero_shot_takes_the_likeliest_answer_and_leaves_out_what_does_not_fit(tmp_path: Path) -> None:
    rows = boolean_rows("ynyn")
    for row, passage in zip(rows, ["yes it is", "no never", "nothing, sadly", "yes " * 40], strict=True):
        row["passage"] = passage
    release = write_release(tmp_path / "r", {"random": {"test": rows}}, task=BOOLEAN_QUESTION)
    model: Any = WordOverlapModel()
    rows_read = data(release, model=model)
    counted: list[int] = []
    answers = ZeroShotLanguageModel().run(rows_read, 0, counted.append)
    # "nothing" holds "no"; the fourth passage has more words than the model has positions.
    assert dict(zip(answers.uids, answers.values, strict=True)) == {
        "toy:all:0": "yes",
        "toy:all:1": "no",
        "toy:all:2": "no",
    }
    assert answers.left_out == {"overlength": 1}
    assert sum(counted) == 4
    settings = ZeroShotLanguageModel().settings(rows_read)
    assert settings["model"] == model.identity()
    assert settings["prompt"] == ANSWER_PROMPTS["boolean-question"].prompt


def test_zero_shot_with_a_real_model_answers_as_row_by_row_scoring_does(tmp_path: Path) -> None:
    from benchwright.eval.models import load_causal

    model = load_causal(str(tiny_models.save("gpt2", tmp_path / "tiny")))
    rows = nli_rows(0, 9)
    rows[4]["premise"] = "Person plays " * 50
    release = write_release(tmp_path / "r", {"random": {"test": rows}})
    (result,) = evaluate(release, model=model)
    assert (result.model, result.left_out) == ("tiny", {"overlength": 1})
    assert result.settings["model"] == model.identity()
    stored = (release.path / result.predictions_file).read_text(encoding="utf-8").splitlines()
    answers = {line["uid"]: line["prediction"] for line in map(json.loads, stored)}
    prompt = ANSWER_PROMPTS["nli"]
    expected = {}
    for row in rows[:4] + rows[5:]:
        context = prompt.prompt.format(premise=row["premise"], hypothesis=row["hypothesis"])
        pairs = [
            model.encode_pair(context, prompt.answers[label], start="always", end=False)
            for label in NLI.labels or ()
        ]
        expected[row["uid"]] = (NLI.labels or ())[
            int(np.argmax([model.log_likelihoods([pair])[0] for pair in pairs]))
        ]
    assert answers == expected


def test_zero_shot_equal_likelihoods_go_to_the_first_label(tmp_path: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"test": nli_rows(0, 3)}})
    model: Any = WordOverlapModel()
    assert set(ZeroShotLanguageModel().run(data(release, model=model), 0, silent).values) == {"entailment"}


def test_zero_shot_where_nothing_fits(tmp_path: Path) -> None:
    rows = boolean_rows("y")
    rows[0]["passage"] = "long " * 99
    release = write_release(tmp_path / "r", {"random": {"test": rows}}, task=BOOLEAN_QUESTION)
    model: Any = WordOverlapModel()
    with pytest.raises(UsageError, match="no row of random/test fits the model"):
        ZeroShotLanguageModel().run(data(release, model=model), 0, silent)


def test_prompts_are_rendered_exactly(nli: ReleaseFolder, questions: ReleaseFolder) -> None:
    """A changed prompt is another baseline: raise its version."""
    assert ANSWER_PROMPTS["nli"].render(data(nli).evaluation.inputs)[0] == (
        "Person 60 plays outside.\nQuestion: Someone plays outside. True, False, or Neither?\nAnswer:"
    )
    assert ANSWER_PROMPTS["boolean-question"].render(data(questions).evaluation.inputs)[0] == (
        "Thing 0 is blue.\nQuestion: is thing 0 blue?\nAnswer:"
    )
    for task in (NLI, BOOLEAN_QUESTION):
        assert set(ANSWER_PROMPTS[task.name].answers) == set(task.labels or ())


def test_texts_with_braces_are_no_placeholders(tmp_path: Path) -> None:
    rows = boolean_rows("y")
    rows[0]["passage"] = "A set {question} of {0}"
    release = write_release(tmp_path / "r", {"random": {"test": rows}}, task=BOOLEAN_QUESTION)
    assert (
        ANSWER_PROMPTS["boolean-question"]
        .render(data(release).evaluation.inputs)[0]
        .startswith("A set {question} of {0}\n")
    )


def test_registry_holds_every_baseline_under_its_own_name() -> None:
    assert list(baselines) == [
        "causal_parser",
        "classifier",
        "fine_tuned_full_input",
        "fine_tuned_partial_input",
        "fine_tuned_pronoun",
        "human",
        "linear_full_input",
        "linear_partial_input",
        "lm_zero_shot",
        "majority",
        "nearest_question",
        "pronoun_lm",
        "pronoun_lm_partial",
        "pronoun_masked_lm",
        "random_option",
        "seq2seq_parser",
        "seq2seq_zero_shot",
    ]
    assert all(baselines.get(name).name == name for name in baselines)
    with pytest.raises(UsageError, match="did you mean majority"):
        baselines.get("majorty")
