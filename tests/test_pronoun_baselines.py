"""Baselines of pronoun resolution: what is scored, ties, what does not apply, and that runs are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_encoders
import tiny_masked
import tiny_models
import torch
from pronoun_release import TEXTS, make_release, source_rows

from benchwright.errors import UsageError
from benchwright.eval import evaluate, why_not_applicable
from benchwright.eval.baselines import EvaluationData, Rows, baselines
from benchwright.eval.baselines._pronouns import fill
from benchwright.eval.baselines.pronoun_fine_tuned import FineTunedPronoun
from benchwright.eval.baselines.pronoun_lm import PronounLanguageModel, PronounLanguageModelPartial
from benchwright.eval.models import CausalModel, MaskedSpan, load_causal, load_masked
from benchwright.eval.results import read_examples
from benchwright.progress import silent
from benchwright.tasks import PRONOUN_RESOLUTION, Task

RECIPE = {"epochs": 30, "learning_rate": 3e-3, "batch_size": 8, "max_length": 48, "validation_share": 0.0}
INPUTS = PRONOUN_RESOLUTION.inputs


@pytest.fixture(scope="module")
def lm_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.save("gpt2", tmp_path_factory.mktemp("models") / "tiny-lm"))


@pytest.fixture(scope="module")
def lm(lm_folder: str) -> CausalModel:
    return load_causal(lm_folder)


def _data(
    rows: list[dict[str, Any]], model: Any = None, *, labels: tuple[str, ...] = ("0", "1")
) -> EvaluationData:
    task = Task(PRONOUN_RESOLUTION.name, INPUTS, "label", ("accuracy",), labels)
    uids = [row["uid"] for row in rows]
    gold = np.array([labels[row["label"]] for row in rows], dtype=object)
    table = Rows(uids, {name: [row[name] for row in rows] for name in INPUTS}, gold)
    return EvaluationData("toy", "test", task, table, frozenset(uids), model=model)


def _row(text: str, options: list[str], *, uid: str = "toy:0", pronoun: str = "she") -> dict[str, Any]:
    place = text.index(f" {pronoun}") + 1
    return {
        "uid": uid,
        "text": text,
        "pronoun": pronoun,
        "pronoun_loc": place,
        "options": options,
        "label": 0,
    }


def _log_likelihood(lm: CausalModel, context: str, continuation: str) -> float:
    """By the module itself, token by token, without any plan."""
    before = [lm.start_token.id, *lm.tokenizer(context, add_special_tokens=False)["input_ids"]]
    after = lm.tokenizer(continuation, add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        logits = lm.module(input_ids=torch.tensor([before + after])).logits[0].double()
    logs = torch.log_softmax(logits, dim=-1)
    return float(sum(logs[len(before) + i - 1, token] for i, token in enumerate(after)))


@pytest.mark.parametrize("scoring", ["full", "partial"])
def test_the_likeliest_candidate_is_the_answer(lm: CausalModel, scoring: str) -> None:
    rows = source_rows()
    baseline = PronounLanguageModel() if scoring == "full" else PronounLanguageModelPartial()
    found = baseline.run(_data(rows, lm), 0, silent)
    expected = []
    for text, pronoun, options, _ in TEXTS:
        filled = [fill(text, pronoun, text.index(f"{pronoun} "), option) for option in options]
        scores = [
            _log_likelihood(lm, "", one.text)
            if scoring == "full"
            else _log_likelihood(lm, one.prefix, one.after)
            for one in filled
        ]
        expected.append(str(int(np.argmax(scores))))
    assert found.values == expected
    assert found.uids == [row["uid"] for row in rows]
    assert (found.left_out, found.flagged) == ({}, {})
    assert baseline.settings(_data(rows, lm))["scoring"] == scoring


def test_full_scoring_reads_the_common_beginning_once(lm: CausalModel) -> None:
    text = "A cat sleeps on the warm stone near the river while she dreams."
    filled = [tuple(fill(text, "she", text.index("she"), option) for option in ("Ann", "Eve"))]
    pairs = PronounLanguageModel()._pairs(lm, filled)
    first, second = (pair.context + pair.continuation for pair in pairs)
    assert pairs[0].context == pairs[1].context
    assert pairs[0].continuation[0] != pairs[1].continuation[0]
    assert first[0] == second[0] == lm.start_token.id
    whole = [_log_likelihood(lm, "", one.text) for one in filled[0]]
    scored = lm.log_likelihoods(pairs)
    assert scored[0] - scored[1] == pytest.approx(whole[0] - whole[1], abs=1e-4)


@pytest.mark.parametrize("name", ["pronoun_lm", "pronoun_lm_partial"])
def test_equal_candidates_tie_and_the_first_is_the_answer(lm: CausalModel, name: str) -> None:
    rows = [
        _row("Ann ran while she sang.", ["Eve", "Eve"], uid="toy:tie"),
        _row("Ann ran while she sang.", ["Eve", "a stone"], uid="toy:other"),
    ]
    found = baselines.get(name)().run(_data(rows, lm), 0, silent)
    assert found.values[0] == "0"
    assert found.flagged == {"tied": frozenset({"toy:tie"})}


def test_rows_that_cannot_be_scored_are_left_out_and_counted(lm: CausalModel) -> None:
    rows = [
        _row("Ann ran while she sang.", ["Ann", "Eve"], uid="toy:fits"),
        _row("Ann ran. Then came she", ["Ann", "Eve"], uid="toy:ends"),
        _row("Ann ran " + "and ran " * 60 + "while she sang.", ["Ann", "Eve"], uid="toy:long"),
    ]
    data = _data(rows, lm)
    seen: list[int] = []
    found = PronounLanguageModelPartial().run(data, 0, seen.append)
    assert found.uids == ["toy:fits"]
    assert found.left_out == {"nothing after the pronoun": 1, "overlength": 1}
    assert sum(seen) == 3
    whole = PronounLanguageModel().run(data, 0, silent)
    assert whole.uids == ["toy:fits", "toy:ends"]
    assert whole.left_out == {"overlength": 1}
    with pytest.raises(UsageError, match="nothing follows the pronoun in any row"):
        PronounLanguageModelPartial().run(_data(rows[1:2], lm), 0, silent)
    with pytest.raises(UsageError, match="no row of toy/test fits the model"):
        PronounLanguageModel().run(_data(rows[2:], lm), 0, silent)


def test_rows_may_have_different_numbers_of_candidates(lm: CausalModel) -> None:
    labels = ("0", "1", "2")
    three = _row("Ann ran while she sang.", ["Eve", "a stone", "Eve"], uid="toy:three")
    two = _row("Ann ran while she sang.", ["a stone", "Eve"], uid="toy:two")
    found = PronounLanguageModel().run(_data([three, two], lm, labels=labels), 0, silent)
    assert found.values in (["0", "1"], ["1", "0"])
    assert found.flagged in ({}, {"tied": frozenset({"toy:three"})})


def test_single_candidates_are_not_applicable(tmp_path: Path) -> None:
    rows = source_rows()
    for row in rows:
        row["options"] = row["options"][:1]
    release = make_release(tmp_path / "r", rows=rows)
    for name in ("pronoun_lm", "pronoun_lm_partial", "pronoun_masked_lm"):
        reason = why_not_applicable(release, "toy", name)
        assert reason is not None
        assert "rows have one candidate" in reason
    (found, *_) = evaluate(release, configs=["toy"], baselines=["random_option"])
    assert found.metrics["accuracy"]["n"] == 8


def test_other_tasks_and_models_are_refused(tmp_path: Path, lm: CausalModel) -> None:
    data = _data(source_rows(), lm)
    data.task = Task("nli", INPUTS, "label", ("accuracy",), ("0", "1"))
    assert PronounLanguageModel().not_applicable(data) == "it is for pronoun-resolution, not for nli"
    masked = baselines.get("pronoun_masked_lm")()
    with pytest.raises(UsageError, match="needs a masked language model"):
        masked.run(_data(source_rows(), lm), 0, silent)
    with pytest.raises(UsageError, match="needs a causal language model"):
        PronounLanguageModel().run(_data(source_rows()), 0, silent)


def test_random_options_depend_on_uid_and_seed_alone() -> None:
    rows = [_row("Ann ran while she sang.", ["Ann", "Eve"], uid=f"toy:{i}") for i in range(400)]
    baseline = baselines.get("random_option")()
    found = baseline.run(_data(rows), 0, silent)
    other = baseline.run(_data(rows[::-1]), 0, silent)
    assert dict(zip(found.uids, found.values, strict=True)) == dict(
        zip(other.uids, other.values, strict=True)
    )
    assert baseline.run(_data(rows), 1, silent).values != found.values
    # 400 fair draws: 150 to 250 of each with a probability of more than 1 - 1e-6.
    assert 150 < found.values.count("0") < 250


def test_a_masked_model_answers_with_the_candidate_it_predicts(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    folder = tiny_masked.save(tmp_path / "masked")
    (result,) = evaluate(release, configs=["toy"], baselines=["pronoun_masked_lm"], model=str(folder))
    model = load_masked(str(folder))
    expected = []
    for text, pronoun, options, _ in TEXTS:
        spans = []
        for option in options:
            filled = fill(text, pronoun, text.index(f"{pronoun} "), option)
            start = len(filled.before)
            spans.append(MaskedSpan(filled.text, start, start + len(option)))
        expected.append(str(int(np.argmax(model.span_scores(spans)))))
    assert [line["prediction"] for line in read_examples(release, result)] == expected
    assert result.model == "masked"


def test_a_model_alone_runs_both_scorings(tmp_path: Path, lm_folder: str) -> None:
    release = make_release(tmp_path / "r")
    results = evaluate(release, configs=["toy"], model=lm_folder)
    assert [result.baseline for result in results] == ["pronoun_lm", "pronoun_lm_partial"]
    assert len({result.settings_hash for result in results}) == 2


def test_configs_without_labels_are_passed_over(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    entry = release.config("toy_overlap_gt0")
    entry["task"] |= {"target": "", "metrics": []}
    found = evaluate(release, baselines=["random_option"])
    assert [result.config for result in found] == ["toy", "toy_overlap_gt25", "toy_no_overlap"]
    with pytest.raises(UsageError, match="'toy_overlap_gt0' has no target column"):
        evaluate(release, configs=["toy", "toy_overlap_gt0"], baselines=["random_option"])


def test_an_encoder_learns_which_candidate_is_right(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r", train=True)
    folder = tiny_encoders.save_encoder(tmp_path / "encoder", tiny_encoders.ENCODERS["bert"])
    (result,) = evaluate(
        release, configs=["toy"], baselines=["fine_tuned_pronoun"], model=str(folder), recipe=RECIPE
    )
    # The rows of train are those of test: more than 6 of 8 are right only if something was learnt.
    assert result.metrics["accuracy"]["value"] > 0.75
    assert result.training["training_rows"] == 16
    assert result.settings["columns"] == ["text with candidate", "rest of text"]
    assert result.settings["head"] == "new"


def test_pairs_of_a_row_stay_on_one_side_of_the_hold_out() -> None:
    rows = source_rows()
    data = _data(rows)
    train = data.evaluation
    data = EvaluationData("toy", "test", data.task, train, frozenset(train.uids), load_train=lambda: train)
    baseline = FineTunedPronoun().with_recipe({"validation_share": 0.25})
    kept, held_out = baseline._training_rows(data, 0)
    assert (len(kept), len(held_out)) == (12, 4)
    kept_rows, held_rows = ({uid.rpartition("#")[0] for uid in side.uids} for side in (kept, held_out))
    assert not kept_rows & held_rows
    assert sorted(kept.gold.tolist()) == ["right"] * 6 + ["wrong"] * 6
    place = kept.uids.index(f"{rows[0]['uid']}#0") if f"{rows[0]['uid']}#0" in kept.uids else None
    side = kept if place is not None else held_out
    first = side.uids.index(f"{rows[0]['uid']}#0")
    assert side.inputs["before"][first] == "The baker thanked the diver because the baker"
    assert side.inputs["after"][first] == " had bread to sell."
    assert side.gold[first] == "right"


def test_rows_per_label_count_whole_rows(tmp_path: Path) -> None:
    data = _data(source_rows())
    train = data.evaluation
    data = EvaluationData("toy", "test", data.task, train, frozenset(train.uids), load_train=lambda: train)
    baseline = FineTunedPronoun(rows_per_label=2).with_recipe({"validation_share": 0.0})
    kept, _ = baseline._training_rows(data, 0)
    assert len(kept) == 8
    reason = FineTunedPronoun(rows_per_label=9).not_applicable(data)
    assert reason == "it has 4 train rows of label '0', not 9"
