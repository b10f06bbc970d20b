"""Fine-tuning: the published recipe, deterministic, on a copy."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch

from benchwright.errors import UsageError
from benchwright.eval.models import (
    CausalModel,
    FineTuneRecipe,
    TokenPair,
    TrainingSequence,
    fine_tune,
    load_causal,
)
from benchwright.eval.models.fine_tuning import _loss_sum

RECIPE = FineTuneRecipe(max_steps=12, learning_rate=3e-3, batch_size=4, eval_every=4)


@pytest.fixture(scope="module", params=tiny_models.FAMILIES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    folder = tiny_models.save(request.param, tmp_path_factory.mktemp("models") / request.param)
    return load_causal(str(folder), device="cpu")


@pytest.fixture
def sequences(model: CausalModel) -> list[TrainingSequence]:
    texts = [
        f"how many {kind} have {number} sails"
        for kind in ("boats", "dogs", "captains")
        for number in range(8)
    ]
    return [TrainingSequence(model.encode_text(text, start=True, end=True), 1) for text in texts]


def weights_of(model: CausalModel) -> str:
    return str(model.identity()["weights_sha256"])


def test_published_settings() -> None:
    recipe = FineTuneRecipe(max_steps=2_000)
    assert (recipe.learning_rate, recipe.batch_size, recipe.eval_every, recipe.patience) == (2e-5, 32, 64, 10)
    assert (recipe.validation_share, recipe.weight_decay, recipe.trainable_layers) == (0.1, 0.0, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_steps", 0), ("max_steps", True), ("max_steps", "abc"), ("batch_size", 2.5), ("eval_every", 1.5),
        ("learning_rate", "abc"), ("learning_rate", -1), ("learning_rate", 2), ("weight_decay", -1),
        ("max_gradient_norm", 0), ("validation_share", 1), ("validation_share", "x"), ("threads", 0),
    ],
)  # fmt: skip
def test_settings_out_of_range_are_refused_before_anything_runs(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=field):
        FineTuneRecipe(**{"max_steps": 5, field: value})


def test_the_number_of_threads_of_the_machine_does_not_matter(
    model: CausalModel, sequences: list[TrainingSequence]
) -> None:
    before = torch.get_num_threads()
    found = set()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.add(weights_of(fine_tune(model, sequences, RECIPE, seed=42)[0]))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_training_lowers_perplexity_and_leaves_the_model_as_it_was(
    model: CausalModel, sequences: list[TrainingSequence]
) -> None:
    before = weights_of(model)
    tuned, log = fine_tune(model, sequences, RECIPE, seed=42)
    assert weights_of(model) == before != weights_of(tuned)
    assert log.steps == (4, 8, 12)
    assert (log.training_rows, log.validation_rows, log.overlength_rows) == (22, 2, 0)
    pairs = [TokenPair(sequence.ids[:1], sequence.ids[1:]) for sequence in sequences]
    assert tuned.log_likelihoods(pairs).sum() > model.log_likelihoods(pairs).sum()
    validation = tuned.log_likelihoods(pairs[:2])
    tokens = sum(len(pair.continuation) for pair in pairs[:2])
    best = min(log.validation_perplexities)
    assert log.best_step == log.steps[log.validation_perplexities.index(best)]
    assert np.exp(-validation.sum() / tokens) == pytest.approx(best, rel=1e-6)


def test_one_seed_gives_one_model_and_the_global_generator_stays(
    model: CausalModel, sequences: list[TrainingSequence]
) -> None:
    state = torch.random.get_rng_state()
    first, first_log = fine_tune(model, sequences, RECIPE, seed=42)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(5)
    again, again_log = fine_tune(model, sequences, RECIPE, seed=42)
    torch.random.set_rng_state(state)
    other, _ = fine_tune(model, sequences, RECIPE, seed=43)
    assert (weights_of(first), first_log) == (weights_of(again), again_log)
    assert weights_of(first) != weights_of(other)


def test_the_loss_is_that_of_the_scored_tokens(model: CausalModel) -> None:
    pair = model.encode_pair("Premise: a cat sleeps.", " nobody plays", start="always", end=True)
    longer = model.encode_pair("Premise: two dogs run after a red ball.", " a cat", start="always", end=False)
    with torch.inference_mode():
        loss = _loss_sum(model, [TrainingSequence.of(pair), TrainingSequence.of(longer)]).item()
    assert loss == pytest.approx(-model.log_likelihoods([pair, longer]).sum(), abs=1e-3)


def test_micro_batches_give_the_same_steps(model: CausalModel, sequences: list[TrainingSequence]) -> None:
    for part in model.module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0  # drawn per micro-batch
    _, whole = fine_tune(model, sequences, RECIPE, seed=42)
    _, cut = fine_tune(model, sequences, dataclasses.replace(RECIPE, micro_batch_size=1), seed=42)
    np.testing.assert_allclose(cut.validation_perplexities, whole.validation_perplexities, rtol=1e-3)


def test_only_the_last_layers_learn(model: CausalModel, sequences: list[TrainingSequence]) -> None:
    tuned, _ = fine_tune(model, sequences, dataclasses.replace(RECIPE, trainable_layers=1), seed=42)
    before = dict(model.module.named_parameters())
    changed = {name for name, now in tuned.module.named_parameters() if not torch.equal(now, before[name])}
    blocks = {name for name in changed if ".1." in name}
    assert blocks
    assert {name.rpartition(".")[0].rpartition(".")[2] for name in changed - blocks} <= {"norm", "ln_f"}
    with pytest.raises(UsageError, match="between 1 and the model's 2 layers, got 3"):
        fine_tune(model, sequences, dataclasses.replace(RECIPE, trainable_layers=3), seed=42)


def test_training_stops_after_evaluations_without_improvement(
    model: CausalModel, sequences: list[TrainingSequence]
) -> None:
    recipe = dataclasses.replace(RECIPE, learning_rate=0.0, max_steps=100, eval_every=1, patience=3)
    tuned, log = fine_tune(model, sequences, recipe, seed=42)
    assert (log.steps, log.best_step, log.last_step) == ((1, 2, 3, 4), 1, 4)
    assert weights_of(tuned) == weights_of(model)


def test_long_sequences_are_left_out_and_counted(
    model: CausalModel, sequences: list[TrainingSequence]
) -> None:
    long = TrainingSequence((0,) + (5,) * model.max_positions, 1)
    recipe = dataclasses.replace(RECIPE, max_steps=1)
    _, log = fine_tune(model, [long, *sequences], recipe, seed=42)
    assert (log.overlength_rows, log.training_rows + log.validation_rows) == (1, len(sequences))
    with pytest.raises(UsageError, match="at least 2 sequences of at most 3 tokens, got 0 of 24"):
        fine_tune(model, sequences, dataclasses.replace(recipe, max_length=3), seed=42)


@pytest.mark.parametrize(("field", "value"), [("max_steps", 0), ("batch_size", 0), ("validation_share", 1.0)])
def test_settings_that_cannot_be(field: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{field} must be .*got {value}"):
        dataclasses.replace(RECIPE, **{field: value})  # type: ignore[arg-type]


def test_a_diverged_run_says_so(
    model: CausalModel, sequences: list[TrainingSequence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.eval.models.fine_tuning._perplexity_of", lambda *_: lambda: float("nan"))
    with pytest.raises(
        UsageError, match="training diverged: no finite value in 3 steps; lower learning_rate"
    ):
        fine_tune(model, sequences, dataclasses.replace(RECIPE, max_steps=3, eval_every=1), seed=42)


def test_an_interrupted_run_gives_the_same_bits(
    model: CausalModel, sequences: list[TrainingSequence], tmp_path: Path
) -> None:
    expected, expected_log = fine_tune(model, sequences, RECIPE, seed=42)

    def interrupt(steps: int) -> None:
        done.append(steps)
        if sum(done) == 5:
            raise KeyboardInterrupt

    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        fine_tune(model, sequences, RECIPE, 42, interrupt, checkpoints=tmp_path, checkpoint_seconds=0.0)
    counted: list[int] = []
    found, log = fine_tune(
        model, sequences, RECIPE, 42, counted.append, checkpoints=tmp_path, checkpoint_seconds=0.0
    )
    assert (weights_of(found), log) == (weights_of(expected), expected_log)
    assert counted == [5] + [1] * (RECIPE.max_steps - 5)


def test_a_checkpoint_of_other_sequences_is_not_taken_up(
    model: CausalModel, sequences: list[TrainingSequence], tmp_path: Path
) -> None:
    recipe = dataclasses.replace(RECIPE, max_steps=2)
    fine_tune(model, sequences, recipe, seed=42, checkpoints=tmp_path)
    others = [*sequences[:-1], sequences[0]]
    expected, _ = fine_tune(model, others, recipe, seed=42)
    with pytest.warns(UserWarning, match="belongs to other rows, settings or versions; training starts anew"):
        found, _ = fine_tune(model, others, recipe, seed=42, checkpoints=tmp_path)
    assert weights_of(found) == weights_of(expected)
