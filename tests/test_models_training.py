"""The training loop: same bits as a plain loop, schedules, rates of layers, batches, resuming."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
    get_constant_schedule_with_warmup,
    get_linear_schedule_with_warmup,
)

from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval.models._checkpoints import Checkpoints
from benchwright.eval.models._layers import freeze_all_but_last, layer_rates
from benchwright.eval.models._training import (
    LoopLog,
    LoopSettings,
    Measures,
    TrainingRows,
    WeightGroup,
    _batches,
    train,
)
from benchwright.progress import silent

SETTINGS = LoopSettings(
    max_steps=12,
    learning_rate=0.05,
    weight_decay=0.01,
    max_gradient_norm=1.0,
    batch_size=4,
    micro_batch_size=4,
    eval_every=3,
    patience=10,
    threads=1,
)
SEED = 5


class Problem:
    """Thirty points on a curve, and a small network with dropout that is to learn it."""

    def __init__(self, *, dropout: float = 0.2) -> None:
        generator = torch.Generator().manual_seed(0)
        self.inputs = torch.randn(30, 3, generator=generator)
        self.answers = torch.sin(self.inputs.sum(1))
        self.module = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.Linear(8, 1)
        )
        with torch.no_grad():
            for weights in self.module.parameters():
                weights.copy_(torch.randn(weights.shape, generator=generator) / 2)

    def loss_sum(self, rows: np.ndarray) -> torch.Tensor:
        found: torch.Tensor = self.module(self.inputs[rows])[:, 0]
        return ((found - self.answers[rows]) ** 2).sum()

    def evaluate(self) -> Measures:
        with torch.no_grad():
            return float(self.loss_sum(np.arange(10))) / 10, 7.0

    def train(
        self,
        settings: LoopSettings = SETTINGS,
        *,
        progress: Callable[[int], None] = silent,
        checkpoints: Checkpoints | None = None,
        judged: bool = True,
        groups: list[WeightGroup] | None = None,
    ) -> LoopLog:
        rows = TrainingRows(self.loss_sum, np.ones(30, dtype=np.int64))
        evaluate = self.evaluate if judged else None
        return train(
            self.module, rows, evaluate, settings, SEED, progress, groups=groups, checkpoints=checkpoints
        )

    def bits(self) -> bytes:
        return b"".join(weights.detach().numpy().tobytes() for weights in self.module.parameters())


def test_the_bits_are_those_of_the_plain_loop() -> None:
    """What gave the published fold models their weights, written out: a change here renames every model."""
    expected = Problem()
    before = torch.get_rng_state()
    optimizer = torch.optim.AdamW(expected.module.parameters(), lr=0.05, weight_decay=0.01)
    rng, order = np.random.default_rng(SEED), np.empty(0, dtype=np.int64)
    best, values = b"", []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    for step in range(1, 13):
        if not len(order):
            order = rng.permutation(30)
        batch, order = order[:4], order[4:]
        expected.module.train()
        optimizer.zero_grad()
        (expected.loss_sum(batch) / len(batch)).backward()
        torch.nn.utils.clip_grad_norm_(expected.module.parameters(), 1.0)
        optimizer.step()
        if step % 3 == 0:
            expected.module.eval()
            values.append(expected.evaluate()[0])
            best = expected.bits() if values[-1] == min(values) else best
    torch.set_num_threads(threads)
    torch.set_rng_state(before)

    problem = Problem()
    state = torch.get_rng_state()
    log = problem.train()
    assert torch.equal(torch.get_rng_state(), state)
    assert problem.bits() == best
    assert (log.steps, log.values, log.last_step) == ((3, 6, 9, 12), tuple(values), 12)
    assert log.best_step == log.steps[int(np.argmin(values))]
    assert log.measures[0] == (values[0], 7.0)
    assert not problem.module.training


@pytest.mark.parametrize("schedule", ["linear", "constant"])
@pytest.mark.parametrize("warmup", [0, 1, 4])
def test_schedules_are_those_of_transformers(schedule: str, warmup: int) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = (
        get_linear_schedule_with_warmup(optimizer, warmup, 10)
        if schedule == "linear"
        else get_constant_schedule_with_warmup(optimizer, warmup)
    )
    expected = []
    for _ in range(10):
        expected.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    settings = replace(SETTINGS, max_steps=10, schedule=schedule, warmup_steps=warmup)
    assert [settings.rate_factor(step) for step in range(10)] == expected


def test_schedules_by_hand() -> None:
    linear = replace(SETTINGS, max_steps=6, schedule="linear", warmup_steps=2)
    assert [linear.rate_factor(step) for step in range(7)] == [0, 0.5, 1, 0.75, 0.5, 0.25, 0]
    constant = replace(linear, schedule="constant")
    assert [constant.rate_factor(step) for step in range(7)] == [0, 0.5, 1, 1, 1, 1, 1]


def test_a_group_moves_at_its_own_rate() -> None:
    """The first step of Adam moves a weight by its rate, whatever the gradient."""
    problem = Problem(dropout=0)
    first, last = problem.module[0], problem.module[3]
    groups = [
        WeightGroup(list(first.parameters()), 0.1, 0.0),
        WeightGroup(list(last.parameters()), 1.0, 0.0),
    ]
    before = [weights.detach().clone() for weights in problem.module.parameters()]
    problem.train(replace(SETTINGS, max_steps=1), groups=groups)
    moved = [(a - b).abs() for a, b in zip(problem.module.parameters(), before, strict=True)]
    for found, rate in zip(moved, [0.005, 0.005, 0.05, 0.05], strict=True):
        assert torch.allclose(found, torch.full_like(found, rate), rtol=1e-3)


def test_micro_batches_give_the_same_steps() -> None:
    whole, cut = Problem(dropout=0), Problem(dropout=0)
    whole.train()
    cut.train(replace(SETTINGS, micro_batch_size=1))
    for a, b in zip(whole.module.parameters(), cut.module.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_without_evaluation_every_step_is_run_and_the_last_weights_stay() -> None:
    problem = Problem()
    log = problem.train(replace(SETTINGS, max_steps=7, patience=1), judged=False)
    assert log == LoopLog((), (), 7, 7)
    shorter = Problem()
    shorter.train(replace(SETTINGS, max_steps=6), judged=False)
    assert problem.bits() != shorter.bits()


class InterruptedHere(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("judged", [True, False], ids=["best", "last"])
@pytest.mark.parametrize("schedule", ["linear", "constant"])
def test_a_run_that_was_interrupted_at_any_step_gives_the_same_bits(
    tmp_path: Path, schedule: str, judged: bool
) -> None:
    # a rate at which the best step is neither the first nor the last
    settings = replace(SETTINGS, schedule=schedule, warmup_steps=3, learning_rate=0.3)
    whole = Problem()
    expected = whole.train(settings, judged=judged)
    for stop in range(1, settings.max_steps):
        kept = Checkpoints(tmp_path / str(stop), "key", 0.0)
        done: list[int] = []

        def interrupt(steps: int, *, stop: int = stop, done: list[int] = done) -> None:
            done.append(steps)
            if sum(done) == stop:
                raise InterruptedHere

        with pytest.raises(InterruptedHere):
            Problem().train(settings, judged=judged, progress=interrupt, checkpoints=kept)
        resumed, counted = Problem(), []
        state = torch.get_rng_state()
        assert resumed.train(settings, judged=judged, progress=counted.append, checkpoints=kept) == expected
        assert resumed.bits() == whole.bits(), stop
        assert torch.equal(torch.get_rng_state(), state)
        assert counted == [stop] + [1] * (expected.last_step - stop)
        # what is finished is not trained again
        again = Problem()
        assert again.train(settings, judged=judged, checkpoints=kept) == expected
        assert again.bits() == whole.bits()


def test_steps_behind_the_last_checkpoint_are_done_again(tmp_path: Path) -> None:
    whole = Problem()
    expected = whole.train()
    folder = tmp_path / "kept"

    def interrupt_at(stop: int, seconds: float) -> None:
        done: list[int] = []

        def progress(steps: int) -> None:
            done.append(steps)
            if sum(done) == stop:
                raise InterruptedHere

        with pytest.raises(InterruptedHere):
            Problem().train(progress=progress, checkpoints=Checkpoints(folder, "key", seconds))

    interrupt_at(4, 0.0)
    before = (folder / "checkpoint.safetensors").read_bytes()
    interrupt_at(11, 3600.0)
    assert (folder / "checkpoint.safetensors").read_bytes() == before
    resumed = Problem()
    assert resumed.train(checkpoints=Checkpoints(folder, "key", 3600.0)) == expected
    assert resumed.bits() == whole.bits()
    assert [path.name for path in folder.iterdir()] == ["checkpoint.safetensors"]


@pytest.mark.parametrize("damage", ["other key", "cut off", "no checkpoint"])
def test_a_checkpoint_of_another_run_or_a_damaged_one_is_not_taken_up(tmp_path: Path, damage: str) -> None:
    whole = Problem()
    expected = whole.train()
    Problem().train(replace(SETTINGS, learning_rate=0.01), checkpoints=Checkpoints(tmp_path, "other", 0.0))
    path = tmp_path / "checkpoint.safetensors"
    key = "key" if damage == "other key" else "other"
    if damage == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "no checkpoint":
        path.write_bytes(b"{}")
    problem = Problem()
    with pytest.warns(BenchwrightWarning, match=r"checkpoint\.safetensors .*; training starts anew"):
        assert problem.train(checkpoints=Checkpoints(tmp_path, key, 0.0)) == expected
    assert problem.bits() == whole.bits()


def test_infinite_values_survive_a_checkpoint(tmp_path: Path) -> None:
    def run(folder: Path, progress: Callable[[int], None]) -> LoopLog:
        problem, values = Problem(), iter([float("nan"), 2.0, 1.0, 3.0])
        rows = TrainingRows(problem.loss_sum, np.ones(30, dtype=np.int64))
        kept = Checkpoints(folder, "key", 0.0)
        return train(
            problem.module, rows, lambda: (next(values),), SETTINGS, SEED, progress, checkpoints=kept
        )

    log = run(tmp_path / "a", silent)
    assert log.values == (float("inf"), 2.0, 1.0, 3.0)
    assert log.best_step == 9
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert run(tmp_path / "b", silent) == log


def test_diverging_and_nothing_to_train() -> None:
    problem = Problem()
    with pytest.raises(UsageError, match=r"^training diverged in 3 steps; lower learning_rate$"):
        problem.train(replace(SETTINGS, max_steps=3, learning_rate=float("inf")), judged=False)
    with pytest.raises(
        UsageError, match=r"^training diverged: no finite value in 3 steps; lower learning_rate$"
    ):
        Problem().train(replace(SETTINGS, max_steps=3, learning_rate=float("inf"), eval_every=1))
    problem.module.requires_grad_(False)
    with pytest.raises(UsageError, match=r"^nothing to train: 30 rows, 0 trainable weights$"):
        problem.train()


def test_mixed_precision_computes_in_bfloat16_and_keeps_float32_weights() -> None:
    problem, types = Problem(), set()
    problem.module[0].register_forward_hook(lambda module, given, found: types.add(found.dtype))
    log = problem.train(replace(SETTINGS, precision="mixed"), judged=False)
    assert types == {torch.bfloat16}
    assert {weights.dtype for weights in problem.module.parameters()} == {torch.float32}
    exact = Problem()
    exact.train(judged=False)
    for a, b in zip(problem.module.parameters(), exact.module.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0.1, atol=0.05)
    assert log.last_step == 12


def _epoch(rows: TrainingRows, size: int, seed: int, epoch: int = 0) -> list[list[int]]:
    batches = _batches(rows, size, np.random.default_rng(seed))
    count = -(-len(rows) // size)
    found = [next(batches).tolist() for _ in range(count * (epoch + 1))]
    return found[count * epoch :]


def test_batches_of_like_length_hold_every_row_once() -> None:
    lengths = np.random.default_rng(1).integers(5, 120, 1_003)
    targets = np.ones(len(lengths), dtype=np.int64)
    plain, bucketed = (TrainingRows(Problem().loss_sum, targets, given) for given in (None, lengths))
    for epoch in range(2):
        batches = _epoch(bucketed, 8, SEED, epoch)
        assert sorted(row for batch in batches for row in batch) == list(range(1_003))
        assert sorted(map(len, batches))[0] == 3
        assert set(map(len, batches)) == {3, 8}
    assert _epoch(bucketed, 8, SEED) == _epoch(bucketed, 8, SEED)
    assert _epoch(bucketed, 8, SEED) != _epoch(bucketed, 8, SEED + 1)
    assert _epoch(bucketed, 8, SEED, 0) != _epoch(bucketed, 8, SEED, 1)

    def padded(rows: TrainingRows) -> int:
        return sum(int(lengths[batch].max()) * len(batch) for batch in _epoch(rows, 8, SEED))

    assert padded(bucketed) < 1.2 * lengths.sum() < 1.5 * lengths.sum() < padded(plain)
    # the order of the batches does not follow their lengths
    means = [lengths[batch].mean() for batch in _epoch(bucketed, 8, SEED)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


SHAPE = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}


def test_rates_of_layers_by_hand() -> None:
    bert = BertForSequenceClassification(BertConfig(**SHAPE, vocab_size=20))
    rates = layer_rates(bert, 0.8)
    assert rates["bert.embeddings.word_embeddings.weight"] == pytest.approx(0.64)
    assert rates["bert.embeddings.LayerNorm.bias"] == pytest.approx(0.64)
    assert rates["bert.encoder.layer.0.output.dense.weight"] == pytest.approx(0.64)
    assert rates["bert.encoder.layer.1.output.dense.weight"] == pytest.approx(0.8)
    assert rates["bert.encoder.layer.2.output.dense.weight"] == 1
    assert rates["bert.pooler.dense.weight"] == rates["classifier.weight"] == 1
    assert sorted(rates) == sorted(name for name, _ in bert.named_parameters())
    gpt2 = GPT2ForSequenceClassification(GPT2Config(n_embd=16, n_layer=3, n_head=2, vocab_size=20))
    rates = layer_rates(gpt2, 0.5)
    assert (rates["transformer.wte.weight"], rates["transformer.h.0.ln_1.weight"]) == (0.25, 0.25)
    assert (rates["transformer.h.1.ln_1.weight"], rates["transformer.ln_f.bias"], rates["score.weight"]) == (
        0.5,
        1,
        1,
    )
    deberta = DebertaV2ForSequenceClassification(
        DebertaV2Config(**SHAPE, vocab_size=20, relative_attention=True, position_buckets=4)
    )
    rates = layer_rates(deberta, 0.5)
    assert rates["deberta.encoder.rel_embeddings.weight"] == 0.25
    assert rates["pooler.dense.weight"] == rates["classifier.bias"] == 1


def test_layers_that_a_model_does_not_have() -> None:
    t5 = T5ForConditionalGeneration(
        T5Config(vocab_size=20, d_model=8, d_kv=4, d_ff=8, num_layers=2, num_heads=2)
    )
    with pytest.raises(
        UsageError, match=r"^layer_decay is for models with one stack of layers; leave it out$"
    ):
        layer_rates(t5, 0.9)
    bert = BertForSequenceClassification(BertConfig(**SHAPE, vocab_size=20))
    with pytest.raises(
        UsageError, match="trainable_layers must be between 1 and the model's 3 layers, got 4"
    ):
        freeze_all_but_last(bert, 4)
    freeze_all_but_last(bert, 1)
    learning = {name.rpartition(".")[0] for name, weights in bert.named_parameters() if weights.requires_grad}
    assert all(name.startswith(("bert.encoder.layer.2.", "bert.pooler.")) for name in learning)
