"""Classifiers that are fine-tuned on a config: what they learn, from which rows, and by which options."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_classifiers
import tiny_encoders
import tiny_seq2seq
import torch
from eval_helpers import boolean_rows, nli_rows, sql_rows, write_release

from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval import evaluate, why_not_applicable
from benchwright.eval.baselines import EvaluationData, Rows, baselines
from benchwright.eval.baselines.fine_tuned import FineTunedFullInput, FineTunedPartialInput
from benchwright.eval.baselines.presets import PRESETS, preset
from benchwright.eval.models import (
    ClassifierRecipe,
    answer_log_likelihoods,
    load_classifier,
    load_sequence_to_sequence,
    load_trainable_classifier,
)
from benchwright.eval.models._checkpoints import Clock
from benchwright.eval.models._training import _Run
from benchwright.prompts import ANSWER_PROMPTS
from benchwright.release import ReleaseFolder
from benchwright.tasks import BINARY_NLI, BOOLEAN_QUESTION, NLI, TEXT_TO_SQL

RECIPE: dict[str, Any] = {
    "epochs": 4,
    "learning_rate": 3e-3,
    "batch_size": 8,
    "max_length": 48,
    "warmup_share": 0.0,
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny random encoder whose configuration names no labels."""
    folder = tmp_path_factory.mktemp("models") / "tiny-encoder"
    return str(tiny_encoders.save_encoder(folder, tiny_encoders.ENCODERS["bert"]))


@pytest.fixture(scope="module")
def nli_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny random classifier of the three labels of natural language inference, in another order."""
    folder = tmp_path_factory.mktemp("models") / "tiny-nli"
    return str(tiny_classifiers.save(folder, NLI.labels, outputs=(2, 0, 1)))


def _release(path: Path, splits: tuple[str, ...] = ("train", "validation", "test")) -> ReleaseFolder:
    sizes = {"train": (0, 60), "validation": (60, 12), "test": (72, 18)}
    return write_release(path, {"random": {name: nli_rows(*sizes[name]) for name in splits}})


def _data(
    rows: list[tuple[str, str, str]],
    *,
    split: str = "test",
    validation: list[tuple[str, str, str]] | None = None,
) -> EvaluationData:
    def table(found: list[tuple[str, str, str]], word: str) -> Rows:
        inputs = {"premise": [row[0] for row in found], "hypothesis": [row[1] for row in found]}
        gold = np.array([row[2] for row in found], dtype=object)
        return Rows([f"toy:{word}:{number}" for number in range(len(found))], inputs, gold)

    evaluation = table(rows, "evaluation")
    return EvaluationData(
        "random",
        split,
        NLI,
        evaluation,
        frozenset(evaluation.uids),
        load_train=lambda: table(rows, "train"),
        load_validation=None if validation is None else lambda: table(validation, "validation"),
    )


def _matching_rows(first: int, count: int) -> list[dict[str, Any]]:
    """Entailed is whose animal stands in the premise: neither text gives the label away."""
    rows = nli_rows(first, count)
    for number, row in enumerate(rows, start=first):
        animal, other = (("cat", "dogs"), ("dogs", "cat"))[number % 2]
        same = number // 2 % 2 == 0
        row.update(
            premise="the warm stone " * (number % 4) + animal,
            hypothesis=animal if same else other,
            label=0 if same else 2,
            annotator_labels=None,
        )
    return rows


def test_the_whole_input_is_learnt_where_a_part_of_it_tells_nothing(encoder: str, tmp_path: Path) -> None:
    splits = {"train": (0, 72), "validation": (72, 24), "test": (96, 48)}
    rows = {name: _matching_rows(*places) for name, places in splits.items()}
    release = write_release(tmp_path / "release", {"random": rows})
    full, partial = evaluate(
        release,
        baselines=["fine_tuned_full_input", "fine_tuned_partial_input"],
        model=encoder,
        recipe={**RECIPE, "epochs": 30},
    )
    assert full.metrics["accuracy"]["value"] == 1.0
    assert partial.metrics["accuracy"]["value"] == 0.5
    assert full.settings["columns"] == ["premise", "hypothesis"]
    assert partial.settings["columns"] == ["hypothesis"]
    assert full.settings["recipe"] == ClassifierRecipe(**{**RECIPE, "epochs": 30}).to_json()
    assert set(full.splits) == {"train", "validation", "test"}
    assert (full.training["training_rows"], full.training["validation_rows"]) == (72, 24)
    assert full.model == "tiny-encoder"


def test_equal_seeds_give_equal_answers_and_another_seed_another_model(encoder: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"baselines": ["fine_tuned_full_input"], "model": encoder}
    options["recipe"] = {**RECIPE, "epochs": 1}
    first, again = (evaluate(_release(tmp_path / name), **options, repeats=2) for name in ("one", "two"))
    assert [result.seed for result in first] == [0, 1]
    assert [r.predictions_hash for r in first] == [r.predictions_hash for r in again]
    assert [r.training for r in first] == [r.training for r in again]
    assert first[0].training["validation_losses"] != first[1].training["validation_losses"]
    assert len({result.file for result in first}) == 2


def test_the_rows_that_are_judged_never_choose_the_checkpoint(encoder: str, tmp_path: Path) -> None:
    release = _release(tmp_path / "release", ("train", "validation"))
    (result,) = evaluate(release, baselines=["fine_tuned_full_input"], model=encoder, recipe=RECIPE)
    assert result.evaluated_on == "validation"
    assert result.metrics["accuracy"]["n"] == 12
    assert (result.training["training_rows"], result.training["validation_rows"]) == (54, 6)


def test_rows_per_label_are_drawn_evenly_and_smaller_draws_are_parts_of_larger_ones(encoder: str) -> None:
    rows = [(f"p{i}", f"h{i}", NLI.labels[i % 3]) for i in range(60)]  # type: ignore[index]
    drawn = {}
    for number in (2, 5):
        baseline = FineTunedFullInput(rows_per_label=number)
        train, held_out = baseline._training_rows(_data(rows), 7)
        assert {label: int((train.gold == label).sum()) for label in NLI.labels or ()} == dict.fromkeys(
            NLI.labels or (), number
        )
        assert not set(train.uids) & set(held_out.uids)
        drawn[number] = set(train.uids)
    assert drawn[2] < drawn[5]
    other, _ = FineTunedFullInput(rows_per_label=2)._training_rows(_data(rows), 8)
    assert set(other.uids) != drawn[2]


def test_the_draw_does_not_depend_on_the_order_of_rows() -> None:
    rows = [(f"p{i}", f"h{i}", NLI.labels[i % 3]) for i in range(30)]  # type: ignore[index]
    data = _data(rows)
    shuffled = _data(rows)
    order = np.random.default_rng(3).permutation(30)
    train = data.train
    shuffled.load_train = lambda: train.take(order)
    baseline = FineTunedFullInput(rows_per_label=3)
    one, two = (baseline._training_rows(found, 0)[0] for found in (data, shuffled))
    assert one.uids == two.uids


def test_a_partial_input_leaves_the_other_text_empty() -> None:
    data = _data([("premise", "hypothesis", "neutral")])
    assert FineTunedPartialInput()._texts(data.evaluation, data) == ([""], ["hypothesis"])
    assert FineTunedFullInput()._texts(data.evaluation, data) == (["premise"], ["hypothesis"])


def test_no_row_chooses_the_checkpoint_without_a_share_for_it() -> None:
    rows = [(f"p{i}", f"h{i}", NLI.labels[i % 3]) for i in range(30)]  # type: ignore[index]
    recipe = ClassifierRecipe(validation_share=0)
    for number in (None, 2):
        baseline = FineTunedFullInput(recipe=recipe, rows_per_label=number)
        train, held_out = baseline._training_rows(_data(rows, validation=rows[:3]), 0)
        assert (len(train), len(held_out)) == (30 if number is None else 6, 0)


def test_rows_of_some_labels_alone_do_not_choose_the_checkpoint() -> None:
    """All 10 neutral rows are drawn: what is left would choose the checkpoint that never says neutral."""
    labels = NLI.labels or ()
    rows = [(f"p{i}", f"h{i}", labels[i % 3] if i < 30 else labels[2 * (i % 2)]) for i in range(90)]
    train, held_out = FineTunedFullInput(rows_per_label=10)._training_rows(_data(rows), 0)
    assert (len(train), len(held_out)) == (27, 3)
    drawn = [*train.gold.tolist(), *held_out.gold.tolist()]
    assert [drawn.count(label) for label in labels] == [10, 10, 10]
    one_left, held_out = FineTunedFullInput(rows_per_label=9)._training_rows(_data(rows), 0)
    assert len(one_left) == 27
    assert set(held_out.gold.tolist()) == set(labels)


def test_rows_that_choose_are_few_drawn_by_the_seed_and_of_every_label() -> None:
    rows = [(f"p{i}", f"h{i}", NLI.labels[i // 400]) for i in range(1200)]  # type: ignore[index]
    _, held_out = FineTunedFullInput(rows_per_label=5)._training_rows(_data(rows), 0)
    assert [int((held_out.gold == label).sum()) for label in NLI.labels or ()] == [66, 66, 66]
    _, chosen = FineTunedFullInput()._training_rows(_data(rows, validation=rows), 0)
    assert len(set(chosen.gold[:100].tolist())) == 3


def test_a_limit_draws_other_rows_for_every_seed_whichever_way_it_is_asked_for(
    encoder: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"baselines": ["fine_tuned_full_input"], "model": encoder, "limit": 5}
    options["recipe"] = {**RECIPE, "max_steps": 1}
    both = evaluate(_release(tmp_path / "one"), **options, repeats=2)
    alone = evaluate(_release(tmp_path / "two"), **options, seed=1)
    assert both[1].predictions_hash == alone[0].predictions_hash
    assert both[0].predictions_hash != both[1].predictions_hash


def test_points_of_a_curve_that_a_config_has_too_few_rows_for_are_told_and_left_out(
    encoder: str, tmp_path: Path
) -> None:
    test = nli_rows(90, 9)
    release = write_release(
        tmp_path / "release",
        {"small": {"train": nli_rows(0, 9), "test": test}, "large": {"train": nli_rows(0, 30), "test": test}},
    )
    with pytest.warns(BenchwrightWarning, match="left out of small: it has 3 train rows"):
        results = evaluate(
            release,
            baselines=["fine_tuned_full_input"],
            model=encoder,
            recipe={**RECIPE, "max_steps": 1},
            rows_per_label=[2, 5],
        )
    found = [(result.config, result.settings["rows_per_label"]) for result in results]
    assert found == [("small", 2), ("large", 2), ("large", 5)]


def test_a_curve_has_a_result_for_each_number_and_seed(encoder: str, tmp_path: Path) -> None:
    results = evaluate(
        _release(tmp_path / "release"),
        baselines=["fine_tuned_full_input", "majority"],
        model=encoder,
        recipe={**RECIPE, "epochs": 1},
        rows_per_label=[2, 10],
        repeats=2,
    )
    found = [(r.baseline, r.settings.get("rows_per_label"), r.seed) for r in results]
    trained = [("fine_tuned_full_input", number, seed) for number in (2, 10) for seed in (0, 1)]
    assert found == [*trained, ("majority", None, 0)]
    assert [r.training["training_rows"] for r in results[:4]] == [6, 6, 30, 30]


def test_configs_with_the_same_train_rows_share_one_model(encoder: str, tmp_path: Path) -> None:
    train, validation = nli_rows(0, 30), nli_rows(30, 9)
    release = write_release(
        tmp_path / "release",
        {
            "one": {"train": train, "validation": validation, "test": nli_rows(39, 9)},
            "two": {"train": train, "validation": validation, "test": nli_rows(48, 9)},
        },
    )
    steps: list[int] = []
    original = torch.optim.AdamW.step

    def counting(self: Any, *arguments: Any, **options: Any) -> Any:
        steps.append(1)
        return original(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", counting)
        one, two = evaluate(
            release,
            baselines=["fine_tuned_full_input"],
            model=encoder,
            recipe={**RECIPE, "epochs": 1},
        )
    assert len(steps) == one.training["last_step"] == two.training["last_step"]


def test_a_classifier_of_the_labels_keeps_its_head_and_others_get_a_new_one(
    encoder: str, nli_model: str, tmp_path: Path
) -> None:
    model = load_trainable_classifier(nli_model)
    own = load_classifier(nli_model)
    texts = ["a man sleeps", "the dog runs"], ["someone sleeps", "a cat"]
    logits = own.classify(*texts).logits
    by_name = [own.label_names.index(name) for name in NLI.labels or ()]
    kept = model.for_labels(NLI.labels or (), seed=0).classify(*texts).logits
    assert np.array_equal(kept, logits[:, by_name])

    two_way = model.for_labels(BINARY_NLI.labels or (), seed=0).classify(*texts).logits
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    entailed = probabilities[:, own.label_names.index("entailment")]
    found = np.exp(two_way) / np.exp(two_way).sum(axis=1, keepdims=True)
    assert found[:, 0] == pytest.approx(entailed, abs=1e-6)

    with pytest.warns(BenchwrightWarning, match="it is trained with a new head"):
        fresh = model.for_labels(("red", "blue"), seed=0)
    assert model.keeps_head(BINARY_NLI.labels or ())
    assert not model.keeps_head(("red", "blue"))
    two = model.for_labels(BINARY_NLI.labels or (), seed=0)
    two.save(tmp_path / "saved")
    again = load_classifier(str(tmp_path / "saved"))
    assert again.label_names == BINARY_NLI.labels
    assert np.array_equal(again.classify(*texts).logits, two_way)
    assert fresh.label_names == ("red", "blue")
    assert model.identity()["own_labels"] == list(own.label_names)
    assert load_trainable_classifier(encoder).identity()["own_labels"] is None


def test_identity_of_an_encoder_is_that_of_its_body(encoder: str) -> None:
    one, two = (load_trainable_classifier(encoder).identity() for _ in range(2))
    assert one == two
    assert one["model"] == "tiny-encoder"
    assert "/" not in str(one)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows_per_label": [0]}, "rows_per_label is a number of rows from 1, got 0"),
        ({"rows_per_label": [21]}, "random: it has 20 train rows of label 'entailment', not 21"),
        ({"recipe": {"epoch": 1}}, "no recipe field 'epoch'; did you mean epochs"),
        ({"repeats": 0}, "repeats is a number of seeds from 1, got 0"),
        ({"preset": "roberta_base_snly"}, "no preset 'roberta_base_snly'; did you mean roberta_base_snli"),
        ({"baselines": ["majority"], "model": None, "rows_per_label": [2]}, "rows_per_label is for"),
    ],
    ids=["zero", "too-many", "recipe", "repeats", "preset", "no-training"],
)
def test_mistakes_are_told_in_one_line(
    options: dict[str, Any], message: str, encoder: str, tmp_path: Path
) -> None:
    chosen = {"baselines": ["fine_tuned_full_input"], "model": encoder, **options}
    with pytest.raises(UsageError) as caught:
        evaluate(_release(tmp_path / "release"), **chosen)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_it_says_to_what_it_does_not_apply(tmp_path: Path) -> None:
    sql = write_release(
        tmp_path / "sql", {"random": {"train": sql_rows(["a"]), "test": sql_rows(["b"], 1)}}, task=TEXT_TO_SQL
    )
    reason = why_not_applicable(sql, "random", "fine_tuned_full_input")
    assert reason == "it needs a task with labels and two input texts, which text-to-sql is not"
    same = write_release(
        tmp_path / "same",
        {"random": {"train": boolean_rows("yyy"), "test": boolean_rows("yn")}},
        task=BOOLEAN_QUESTION,
    )
    assert (
        why_not_applicable(same, "random", "fine_tuned_full_input") == "all train rows have the label 'yes'"
    )


def test_presets_name_baselines_and_recipes_that_exist() -> None:
    assert {"roberta_base_snli", "electra_large_boolq_partial_input", "curriculum_inoculation"} <= set(
        PRESETS
    )
    for found in PRESETS.values():
        baseline = baselines.get(found.baseline)
        assert baseline.needs_model
        if found.recipe:
            ClassifierRecipe().changed(found.recipe)
    assert preset("electra_base_snli").recipe["layer_decay"] == 0.8
    assert preset("electra_large_snli").recipe["layer_decay"] == 0.9
    inoculation = preset("curriculum_inoculation")
    assert (inoculation.recipe["learning_rate"], inoculation.recipe["batch_size"]) == (1e-5, 8)
    assert inoculation.rows_per_label == (10, 30, 100, 300, 1000)


def _kind(name: str) -> str:
    if preset(name).baseline == "seq2seq_zero_shot":
        return "seq2seq"
    return "electra" if name.startswith("electra") else "roberta"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_runs_with_a_small_model_of_its_kind(name: str, tmp_path: Path) -> None:
    kind = _kind(name)
    boolean = "boolq" in name
    if boolean:
        rows = {
            "train": boolean_rows("yn" * 12),
            "validation": boolean_rows("yn"),
            "test": boolean_rows("yynn"),
        }
        release = write_release(tmp_path / "release", {"random": rows}, task=BOOLEAN_QUESTION)
    else:
        release = _release(tmp_path / "release")
    folder = tmp_path / f"tiny-{kind}"
    changes: dict[str, Any] = {"model": str(folder)}
    if preset(name).recipe:
        changes["recipe"] = {"max_steps": 2, "max_length": 40}
    if preset(name).rows_per_label:
        changes["rows_per_label"] = [2]
    if kind == "seq2seq":
        tiny_seq2seq.save(folder, ["Person plays outside. True Neither False Question: Answer:"])
    elif "recipe" not in changes or "curriculum" in name:
        tiny_classifiers.save(folder, NLI.labels, family="roberta")
    else:
        tiny_encoders.save_encoder(folder, tiny_encoders.ENCODERS[kind])
    results = evaluate(release, preset=name, **changes)
    assert [result.baseline for result in results] == [preset(name).baseline]
    assert results[0].metrics["accuracy"]["n"] == (4 if boolean else 18)


def test_a_text_to_text_model_answers_with_the_likeliest_output(tmp_path: Path) -> None:
    prompt = ANSWER_PROMPTS["nli"]
    texts = ["a dog runs True", "Question: Neither False Answer:"]
    model = load_sequence_to_sequence(str(tiny_seq2seq.save(tmp_path / "tiny-t5", texts)))
    inputs = ["a dog runs", "Question: dog", "a"]
    answers = [answer.strip() for answer in prompt.answers.values()]
    found, truncated = answer_log_likelihoods(model, inputs, answers, max_input_length=64)
    assert not truncated.any()
    for row, text in enumerate(inputs):
        for column, answer in enumerate(answers):
            ids = model.tokenizer([text], return_tensors="pt")["input_ids"]
            labels = model.tokenizer(text_target=[answer], return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                loss = model.module(input_ids=ids, labels=labels).loss.item()
            assert found[row, column] == pytest.approx(-loss * labels.shape[1], abs=1e-4)
    alone, cut = answer_log_likelihoods(model, inputs[:1], answers, max_input_length=3)
    assert cut.tolist() == [True]
    assert alone.shape == (1, 3)


def test_an_interrupted_training_goes_on_and_leaves_nothing(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {
        "baselines": ["fine_tuned_full_input"],
        "model": encoder,
        "recipe": {**RECIPE, "epochs": 1},
    }
    (expected,) = evaluate(_release(tmp_path / "whole"), cache=tmp_path / "other", **asked)

    steps: list[int] = []
    train_on = _Run._train_on

    def counted(run: _Run, batch: np.ndarray) -> None:
        if len(steps) == 3:
            raise KeyboardInterrupt
        steps.append(run.step)
        train_on(run, batch)

    monkeypatch.setattr(Clock, "is_time", lambda clock: True)
    release, cache = _release(tmp_path / "interrupted"), tmp_path / "cache"
    monkeypatch.setattr(_Run, "_train_on", counted)
    with pytest.raises(KeyboardInterrupt):
        evaluate(release, cache=cache, **asked)
    assert len(list((cache / "training").iterdir())) == 1
    assert not list((release.path / "results").glob("random/*"))

    def noted(run: _Run, batch: np.ndarray) -> None:
        resumed.append(run.step)
        train_on(run, batch)

    resumed: list[int] = []
    monkeypatch.setattr(_Run, "_train_on", noted)
    (found,) = evaluate(release, cache=cache, **asked)
    assert resumed[0] == 3
    assert found == expected
    assert list((cache / "training").iterdir()) == []


def test_a_model_is_read_once_for_each_set_of_labels(encoder: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(encoder, tmp_path / "model"))
    model = load_trainable_classifier(str(folder))
    assert load_trainable_classifier(str(folder)) is model
    assert load_trainable_classifier(str(folder), device="cpu") is not model
    two = model.for_labels(("a", "b"), seed=0)
    three = model.for_labels(("a", "b", "c"), seed=0)
    assert model.for_labels(("a", "b"), seed=0) is two
    assert model.for_labels(("a", "b", "c"), seed=0) is three
    texts = ["a man sleeps"], ["someone sleeps"]
    other = model.for_labels(("a", "b"), seed=1)
    assert not np.array_equal(other.classify(*texts).logits, two.classify(*texts).logits)
    again = model.for_labels(("a", "b"), seed=0)
    assert np.array_equal(again.classify(*texts).logits, two.classify(*texts).logits)
    (folder / "README.md").write_text("Another model now.", encoding="utf-8")
    assert load_trainable_classifier(str(folder)) is not model
