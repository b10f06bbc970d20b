"""Fine-tuning classifiers: any body, a fresh head, one recipe, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_classifiers
import tiny_models
import tiny_seq2seq
import torch
from tiny_encoders import ENCODERS, save_encoder
from transformers import MPNetConfig, MPNetForMaskedLM

from benchwright.errors import UsageError
from benchwright.eval.models import (
    ClassifierRecipe,
    SequenceClassifier,
    fine_tune_classifier,
    load_classifier,
    load_untrained_classifier,
)
from benchwright.progress import silent

LABELS = ("entailed", "not-entailed")
CAUSAL = ("gpt2", "llama", "gemma3")
KINDS = (*ENCODERS, *CAUSAL)
RECIPE = ClassifierRecipe(
    epochs=16,
    learning_rate=3e-3,
    batch_size=8,
    validation_share=0.25,
    max_length=40,
    eval_every=15,
    threads=1,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("bodies")
    return {
        **{kind: save_encoder(root / kind, build) for kind, build in ENCODERS.items()},
        **{kind: tiny_models.save(kind, root / kind) for kind in CAUSAL},
    }


@pytest.fixture
def bert(folders: dict[str, Path]) -> SequenceClassifier:
    return load_untrained_classifier(str(folders["bert"]), LABELS, device="cpu", seed=3)


def toy(pairs: int = 96, seed: int = 0) -> tuple[list[str], list[str], np.ndarray]:
    """The second text is entailed if its animal stands in the first; first texts of many lengths."""
    rng = np.random.default_rng(seed)
    first, second, labels = [], [], rng.integers(0, 2, pairs)
    for label in labels.tolist():
        animal = ("cat", "dogs")[int(rng.integers(2))]
        other = {"cat": "dogs", "dogs": "cat"}[animal]
        first.append("the warm stone " * int(rng.integers(0, 4)) + animal)
        second.append((animal, other)[label])
    return first, second, labels


def weights_of(model: SequenceClassifier) -> str:
    return str(model.identity()["weights_sha256"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_learns_a_rule_over_both_texts(folders: dict[str, Path], kind: str) -> None:
    model = load_untrained_classifier(str(folders[kind]), LABELS, device="cpu", seed=3)
    before = weights_of(model)
    first, second, labels = toy()
    tuned, log = fine_tune_classifier(model, first, second, labels, replace(RECIPE, epochs=30), seed=1)
    unseen = toy(60, seed=9)
    answers = tuned.classify(unseen[0], unseen[1], max_length=RECIPE.max_length)
    assert (answers.logits.argmax(axis=1) == unseen[2]).all()
    assert weights_of(model) == before != weights_of(tuned)
    assert tuned.label_names == LABELS
    assert (log.training_rows, log.validation_rows, log.truncated_rows) == (72, 24, 0)
    assert max(log.validation_accuracies) == 1
    assert log.validation_losses[log.steps.index(log.best_step)] == min(log.validation_losses)
    json.dumps(log.to_json(), allow_nan=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_model_is_saved_and_read_back(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    model = load_untrained_classifier(str(folders[kind]), LABELS, device="cpu")
    first, second, labels = toy(16)
    tuned, _ = fine_tune_classifier(model, first, second, labels, replace(RECIPE, max_steps=2), seed=1)
    tuned.save(tmp_path / "saved")
    again = load_classifier(str(tmp_path / "saved"), device="cpu")
    assert again.identity() == {**tuned.identity(), "model": "saved"}
    np.testing.assert_array_equal(again.classify(first, second).logits, tuned.classify(first, second).logits)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_texts_are_answered(folders: dict[str, Path], kind: str) -> None:
    """A hypothesis alone, a premise alone, and nothing at all: alone and beside longer pairs."""
    model = load_untrained_classifier(str(folders[kind]), LABELS, device="cpu")
    first, second = ["", "a cat sleeps", "", "the warm stone near the river"], ["a cat", "", "", "two dogs"]
    together = model.classify(first, second).logits
    assert np.isfinite(together).all()
    for row, pair in enumerate(zip(first, second, strict=True)):
        np.testing.assert_allclose(model.classify([pair[0]], [pair[1]]).logits[0], together[row], atol=1e-4)
    assert not np.allclose(together[0], together[2], atol=1e-4)
    nothing = [""] * 12
    tuned, log = fine_tune_classifier(
        model, nothing, nothing, np.arange(12) % 4 // 3, replace(RECIPE, max_steps=40, eval_every=40), seed=1
    )
    # three quarters have label 0, which is all that can be known
    logits = tuned.classify([""], [""]).logits[0].astype(float)
    assert np.exp(logits[0]) / np.exp(logits).sum() == pytest.approx(0.75, abs=0.15)
    assert log.best_step == 40


def test_texts_of_causal_models_stand_apart(folders: dict[str, Path]) -> None:
    """Their tokenizers put nothing between two texts."""
    for kind in CAUSAL:
        model = load_untrained_classifier(str(folders[kind]), LABELS, device="cpu")
        one, other = model.classify(["a cat", "a c"], ["s sleep", "ats sleep"]).logits
        assert not np.allclose(one, other, atol=1e-4)
        pairs = model.encode([""], [""])
        assert pairs.lengths.tolist() == [2]


def test_the_head_is_drawn_from_the_seed_and_nothing_else_is(folders: dict[str, Path]) -> None:
    def load(kind: str, seed: int) -> SequenceClassifier:
        return load_untrained_classifier(str(folders[kind]), LABELS, device="cpu", seed=seed)

    state = torch.get_rng_state()
    first = load("bert", 1)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    again, other = load("bert", 1), load("bert", 2)
    torch.set_rng_state(state)
    assert weights_of(first) == weights_of(again) != weights_of(other)
    changed = {
        name
        for (name, a), (_, b) in zip(
            first.module.named_parameters(), other.module.named_parameters(), strict=True
        )
        if not torch.equal(a, b)
    }
    # the checkpoint has no pooler
    assert changed == {"bert.pooler.dense.weight", "classifier.weight"}
    head = dict(first.module.named_parameters())
    assert head["classifier.weight"].std() == pytest.approx(0.02, rel=0.5)
    assert not head["classifier.bias"].any()


def test_a_head_that_a_model_has_is_dropped(tmp_path: Path) -> None:
    folder = tiny_classifiers.save(tmp_path / "tiny", ("a", "b", "c"))
    same = load_untrained_classifier(str(folder), ("x", "y", "z"), device="cpu")
    fewer = load_untrained_classifier(str(folder), LABELS, device="cpu")
    trained = load_classifier(str(folder), device="cpu")
    assert (same.label_names, fewer.label_names) == (("x", "y", "z"), LABELS)
    assert fewer.module.classifier.weight.shape == (2, 32)
    for model in (same, fewer):
        assert torch.equal(model.module.bert.pooler.dense.weight, trained.module.bert.pooler.dense.weight)
    assert same.module.classifier.weight.std() < 0.05 < trained.module.classifier.weight.std()


def test_a_classifier_can_be_trained_further(tmp_path: Path) -> None:
    model = load_classifier(str(tiny_classifiers.save(tmp_path / "tiny", ("a", "b", "c"))), device="cpu")
    first, second, labels = toy(32)
    tuned, _ = fine_tune_classifier(model, first, second, labels, replace(RECIPE, max_steps=3), seed=1)
    assert tuned.label_names == ("a", "b", "c")
    assert weights_of(tuned) != weights_of(model)


def test_another_position_table_and_relative_positions(tmp_path: Path) -> None:
    config = {**tiny_classifiers.SHAPE, "max_position_embeddings": 50}
    folder = save_encoder(
        tmp_path / "mpnet", lambda size: MPNetForMaskedLM(MPNetConfig(**config, vocab_size=size))
    )
    tokens = tiny_classifiers.tokenizer()
    tokens.model_input_names = ["input_ids", "attention_mask"]
    tokens.save_pretrained(folder)
    model = load_untrained_classifier(str(folder), LABELS, device="cpu")
    assert model.max_positions == 48
    assert np.isfinite(model.classify(["a cat " * 60], ["dogs"]).logits).all()


@pytest.mark.parametrize("bucketing", [True, False])
def test_one_seed_gives_one_model(bert: SequenceClassifier, bucketing: bool) -> None:
    first, second, labels = toy(40)
    recipe = replace(RECIPE, max_steps=6, eval_every=2, length_bucketing=bucketing)
    state = torch.get_rng_state()
    threads = torch.get_num_threads()
    a, a_log = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)
    torch.manual_seed(7)
    b, b_log = fine_tune_classifier(bert, first, second, labels.astype(np.int8), recipe, seed=1)
    torch.set_rng_state(state)
    c, _ = fine_tune_classifier(bert, first, second, labels, recipe, seed=2)
    assert (weights_of(a), a_log) == (weights_of(b), b_log)
    assert weights_of(a) != weights_of(c)
    assert torch.get_num_threads() == threads


def test_bucketing_changes_the_batches_and_micro_batches_do_not_change_the_steps(
    bert: SequenceClassifier,
) -> None:
    for part in bert.module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0  # drawn per micro-batch
    first, second, labels = toy(40)
    recipe = replace(RECIPE, max_steps=6, eval_every=2)
    whole, log = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)
    cut, cut_log = fine_tune_classifier(
        bert, first, second, labels, replace(recipe, micro_batch_size=3), seed=1
    )
    np.testing.assert_allclose(cut_log.validation_losses, log.validation_losses, rtol=1e-3)
    np.testing.assert_allclose(
        cut.classify(first, second).logits, whole.classify(first, second).logits, atol=2e-3
    )
    _, other = fine_tune_classifier(
        bert, first, second, labels, replace(recipe, length_bucketing=False), seed=1
    )
    assert other.validation_losses != log.validation_losses


def test_the_loss_and_the_accuracy_are_those_of_the_logits(bert: SequenceClassifier) -> None:
    first, second, labels = toy(24)
    held = toy(10, seed=4)
    recipe = replace(RECIPE, max_steps=4, eval_every=2)
    tuned, log = fine_tune_classifier(bert, first, second, labels, recipe, seed=1, validation=held)
    logits = torch.from_numpy(tuned.classify(held[0], held[1]).logits)
    at = log.steps.index(log.best_step)
    expected = torch.nn.functional.cross_entropy(logits, torch.from_numpy(held[2]))
    assert log.validation_losses[at] == pytest.approx(expected.item(), rel=1e-5)
    assert log.validation_accuracies[at] == (logits.argmax(1).numpy() == held[2]).mean()
    assert (log.training_rows, log.validation_rows) == (24, 10)
    _, fewer = fine_tune_classifier(
        bert, first, second, labels, replace(recipe, max_validation_rows=3), seed=1, validation=held
    )
    assert fewer.validation_rows == 3


def test_the_best_step_is_chosen_by_loss_or_by_accuracy(bert: SequenceClassifier) -> None:
    first, second, labels = toy(64)
    recipe = replace(RECIPE, max_steps=40, eval_every=1, schedule="constant")
    for choice in ("loss", "accuracy"):
        _, log = fine_tune_classifier(
            bert, first, second, labels, replace(recipe, choose_by=choice, patience=40), seed=1
        )
        accuracies, losses = log.validation_accuracies, log.validation_losses
        found = accuracies.index(max(accuracies)) if choice == "accuracy" else losses.index(min(losses))
        assert (log.chosen_by, log.best_step) == (choice, log.steps[found])
    _, stopped = fine_tune_classifier(
        bert, first, second, labels, replace(recipe, choose_by="accuracy", patience=2), seed=1
    )
    assert stopped.last_step < 40
    assert stopped.last_step - stopped.best_step == 2


def test_without_validation_all_rows_are_trained_on_and_the_last_weights_stay(
    bert: SequenceClassifier,
) -> None:
    first, second, labels = toy(20)
    recipe = replace(RECIPE, epochs=1.5, validation_share=0.0)
    _, log = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)
    # three batches an epoch
    assert (log.steps, log.best_step, log.last_step) == ((), 5, 5)
    assert (log.training_rows, log.validation_rows) == (20, 0)
    assert recipe.steps(20) == 5


def test_steps_of_a_recipe() -> None:
    recipe = ClassifierRecipe(epochs=3, batch_size=32, warmup_share=0.1)
    assert recipe.steps(400) == 39
    settings = recipe.loop_settings(400)
    assert (settings.max_steps, settings.warmup_steps, settings.eval_every) == (39, 4, 13)
    assert replace(recipe, max_steps=7).steps(400) == 7
    assert replace(recipe, epochs=0.01).steps(400) == 1


def test_pairs_that_are_too_long_are_cut_and_counted(bert: SequenceClassifier) -> None:
    first, second, labels = toy(20)
    first[3] = "the warm stone " * 20
    recipe = replace(RECIPE, max_steps=1, max_length=12, validation_share=0.0)
    tuned, log = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)
    short = bert.encode(first, second, max_length=12)
    assert log.truncated_rows == int((bert.encode(first, second).lengths > 12).sum()) > 1
    assert short.lengths.max() == 12
    assert tuned.classify(first, second, max_length=12).truncated.sum() == log.truncated_rows
    assert bert.encode(first, second, max_length=10_000).lengths.max() == 48


def test_pairs_are_not_cut_to_less_than_a_token_of_each_text(bert: SequenceClassifier) -> None:
    """The tokenizer has three tokens of its own; asked for fewer it would cut nothing, without a word."""
    assert bert.encode(["a cat sleeps"], ["a dog"], max_length=5).lengths.tolist() == [5]
    for longest in (1, 2, 3, 4):
        with pytest.raises(UsageError, match=rf"^max_length {longest} leaves no room .*; give at least 5$"):
            bert.encode(["a cat sleeps"], ["a dog"], max_length=longest)


def test_only_the_last_layers_and_the_head_learn(bert: SequenceClassifier) -> None:
    first, second, labels = toy(20)
    recipe = replace(RECIPE, max_steps=2, trainable_layers=1, validation_share=0.0)
    tuned, _ = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)
    before = dict(bert.module.named_parameters())
    changed = {name for name, now in tuned.module.named_parameters() if not torch.equal(now, before[name])}
    assert {name.split(".layer.")[-1][0] for name in changed if ".layer." in name} == {"1"}
    assert {"classifier.weight", "bert.pooler.dense.weight"} <= changed
    assert not any("embeddings" in name for name in changed)
    with pytest.raises(UsageError, match="between 1 and the model's 2 layers, got 3"):
        fine_tune_classifier(bert, first, second, labels, replace(recipe, trainable_layers=3), seed=1)


def test_layers_and_decay_have_their_own_rates(bert: SequenceClassifier) -> None:
    """The first step of Adam moves every weight that has a gradient by its rate."""
    first, second, labels = toy(20)
    recipe = replace(
        RECIPE, max_steps=1, learning_rate=1e-3, layer_decay=0.5, warmup_share=0, validation_share=0
    )
    tuned, _ = fine_tune_classifier(bert, first, second, labels, recipe, seed=1)

    def moved(model: SequenceClassifier) -> dict[str, float]:
        before = dict(bert.module.named_parameters())
        return {
            name: float((now - before[name]).abs().median()) for name, now in model.module.named_parameters()
        }

    found = moved(tuned)
    assert found["classifier.weight"] == pytest.approx(1e-3, rel=1e-2)
    assert found["bert.encoder.layer.1.output.dense.weight"] == pytest.approx(1e-3, rel=1e-2)
    assert found["bert.encoder.layer.0.output.dense.weight"] == pytest.approx(5e-4, rel=1e-2)
    assert found["bert.embeddings.LayerNorm.weight"] == pytest.approx(5e-4, rel=1e-2)
    # decay shrinks matrices and leaves biases: words that do not occur have no gradient
    decayed, _ = fine_tune_classifier(bert, first, second, labels, replace(recipe, weight_decay=1.0), seed=1)
    words = "bert.embeddings.word_embeddings.weight"
    before, now, plain = (
        dict(model.module.named_parameters())[words][-1] for model in (bert, decayed, tuned)
    )
    assert torch.equal(plain, before)
    torch.testing.assert_close(now, before * (1 - 5e-4))
    biases = [name for name, weights in bert.module.named_parameters() if weights.ndim == 1]
    for name in biases:
        assert torch.equal(
            dict(decayed.module.named_parameters())[name], dict(tuned.module.named_parameters())[name]
        )


class InterruptedHere(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("kind", ["bert", "llama"])
def test_an_interrupted_run_gives_the_same_bits(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    model = load_untrained_classifier(str(folders[kind]), LABELS, device="cpu")
    first, second, labels = toy(30)
    recipe = replace(
        RECIPE, max_steps=7, eval_every=2, layer_decay=0.9, weight_decay=0.01, micro_batch_size=3
    )

    def run(folder: Path | None, progress: Callable[[int], None] = silent) -> tuple[str, Any]:
        tuned, log = fine_tune_classifier(
            model, first, second, labels, recipe, 1,
            checkpoints=folder, checkpoint_seconds=0.0, progress=progress,
        )  # fmt: skip
        return weights_of(tuned), log

    expected = run(None)
    for stop in (1, 2, 5):
        done: list[int] = []

        def interrupt(steps: int, *, stop: int = stop, done: list[int] = done) -> None:
            done.append(steps)
            if sum(done) == stop:
                raise InterruptedHere

        folder = tmp_path / str(stop)
        with pytest.raises(InterruptedHere):
            run(folder, interrupt)
        counted: list[int] = []
        assert run(folder, counted.append) == expected
        assert counted == [stop] + [1] * (7 - stop)


@pytest.mark.parametrize("change", ["row", "label", "seed", "recipe", "model"])
def test_a_checkpoint_of_other_work_is_not_taken_up(
    bert: SequenceClassifier, folders: dict[str, Path], tmp_path: Path, change: str
) -> None:
    first, second, labels = toy(20)
    recipe = replace(RECIPE, max_steps=2)
    fine_tune_classifier(bert, first, second, labels, recipe, 1, checkpoints=tmp_path)
    model, seed = bert, 1
    if change == "row":
        first[0] += " cat"
    elif change == "label":
        labels = 1 - labels
    elif change == "seed":
        seed = 2
    elif change == "recipe":
        recipe = replace(recipe, learning_rate=1e-3)
    else:
        model = load_untrained_classifier(str(folders["bert"]), LABELS, device="cpu", seed=4)
    expected, _ = fine_tune_classifier(model, first, second, labels, recipe, seed)
    with pytest.warns(UserWarning, match="belongs to other rows, settings or versions; training starts anew"):
        found, _ = fine_tune_classifier(model, first, second, labels, recipe, seed, checkpoints=tmp_path)
    assert weights_of(found) == weights_of(expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": 2}, "no recipe field 'epoch'; did you mean epochs"),
        ({"epochs": 0}, "epochs must be a number above 0, got 0"),
        ({"epochs": "two"}, "epochs must be a number above 0, got 'two'"),
        ({"max_steps": 0}, "max_steps must be a whole number from 1, got 0"),
        ({"batch_size": 2.5}, "batch_size must be a whole number from 1, got 2.5"),
        ({"threads": True}, "threads must be a whole number from 1, got True"),
        ({"learning_rate": -1}, "learning_rate must be a number from 0, got -1"),
        ({"learning_rate": 3}, "learning_rate must be at most 1, got 3"),
        ({"max_gradient_norm": 0}, "max_gradient_norm is 0, which trains nothing"),
        ({"warmup_share": 1}, "warmup_share must be a number from 0 and below 1, got 1"),
        ({"validation_share": -0.1}, "validation_share must be a number from 0 and below 1, got -0.1"),
        ({"layer_decay": 1.5}, "layer_decay must be a number above 0 and at most 1, got 1.5"),
        ({"schedule": "cosine"}, "schedule must be linear or constant, got 'cosine'"),
        ({"choose_by": "f1"}, "choose_by must be loss or accuracy, got 'f1'"),
        ({"precision": "bf16"}, "precision must be float32 or mixed, got 'bf16'"),
        ({"length_bucketing": 1}, "length_bucketing must be true or false, got 1"),
    ],
)
def test_recipes_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ClassifierRecipe().changed(changes)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_recipe_with_changes() -> None:
    recipe = ClassifierRecipe().changed({"epochs": 1, "layer_decay": 0.8, "precision": "mixed"})
    assert (recipe.epochs, recipe.layer_decay, recipe.to_json()["precision"]) == (1, 0.8, "mixed")


def test_rows_that_cannot_be_trained_on(bert: SequenceClassifier) -> None:
    first, second, labels = toy(10)

    def mistake(rows: int, given: np.ndarray, **options: Any) -> str:
        with pytest.raises(UsageError) as caught:
            fine_tune_classifier(bert, first[:rows], second[:rows], given, RECIPE, 1, **options)
        return str(caught.value)

    assert mistake(10, labels[:9]) == ("labels must be 10 whole numbers, one a pair, got int64 of shape (9,)")
    assert "got float64 of shape (10,)" in mistake(10, labels.astype(float))
    assert mistake(10, np.where(np.arange(10) == 4, 2, 0)) == (
        "labels, row 4: expected an index of entailed, not-entailed, got 2"
    )
    assert "needs a pair to train on and one to choose the best step by, got 0 and 1" in mistake(
        1, labels[:1]
    )
    assert "got 0 and 0" in mistake(0, labels[:0])
    assert "got 10 and 0" in mistake(10, labels, validation=([], [], labels[:0]))
    assert mistake(10, labels, validation=(first, second, labels - 1)).startswith("validation labels, row ")


def test_a_run_that_diverges_says_so(bert: SequenceClassifier) -> None:
    first, second, labels = toy(20)
    with torch.no_grad():
        bert.module.classifier.weight.fill_(float("nan"))
    for recipe in (RECIPE, replace(RECIPE, choose_by="accuracy"), replace(RECIPE, validation_share=0.0)):
        with pytest.raises(UsageError, match=r"training diverged.* 3 steps; lower learning_rate"):
            fine_tune_classifier(bert, first, second, labels, replace(recipe, max_steps=3), 1)


def test_models_that_cannot_be_trained(tmp_path: Path, folders: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="needs two or more different labels, got \\['a'\\]"):
        load_untrained_classifier(str(folders["bert"]), ["a"])
    with pytest.raises(UsageError, match="needs two or more different labels, got \\['a', 'a'\\]"):
        load_untrained_classifier(str(folders["bert"]), ["a", "a"])
    with pytest.raises(UsageError, match="holds no model that can be read"):
        load_untrained_classifier(str(tmp_path), LABELS)
    from safetensors.torch import load_file, save_file

    folder = save_encoder(tmp_path / "part", ENCODERS["bert"])
    weights = load_file(folder / "model.safetensors")
    missing = "encoder.layer.1.output.dense.weight"
    save_file(
        {name: values for name, values in weights.items() if name != missing},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(UsageError, match=rf"it has no weights for bert\.{missing}"):
        load_untrained_classifier(str(folder), LABELS)
    t5 = tiny_seq2seq.save(tmp_path / "t5", ["a b c"])
    model = load_untrained_classifier(str(folders["gpt2"]), LABELS, device="cpu")
    assert model.tokenizer.pad_token == "<|endoftext|>"
    with pytest.raises(UsageError):
        fine_tune_classifier(
            load_untrained_classifier(str(t5), LABELS, device="cpu"),
            *toy(20),
            replace(RECIPE, layer_decay=0.9),
            1,
        )
