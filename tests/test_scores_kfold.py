"""k-fold scores: the drawing, what each model learns from, interruptions, and the models that stay."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scores_helpers import QUESTIONS, ByteModel, question_rows

from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval.models import FineTuneRecipe, TrainingLog, TrainingSequence
from benchwright.hashing import sha256_text
from benchwright.splitting.scores import (
    SPIDER_FINE_TUNED,
    SPIDER_TRAINING,
    ScoreTable,
    draw_folds,
    score_with_folds,
)
from benchwright.splitting.scores import kfold as kfold_module

RECIPE = FineTuneRecipe(max_steps=5)
ROWS = question_rows(QUESTIONS)


class Trainer:
    """Stands for fine-tuning: a model's scores shift with the texts it saw; `trained` lists those."""

    def __init__(self) -> None:
        self.trained: list[list[TrainingSequence]] = []
        self.seeds: list[int] = []
        self.fail_at: int | None = None
        self.perplexities = (9.5, 8.25)

    def __call__(
        self,
        model: Any,
        sequences: Sequence[TrainingSequence],
        recipe: FineTuneRecipe,
        seed: int,
        progress: Any,
        *,
        checkpoints: Path,
    ) -> tuple[TrainedModel, TrainingLog]:
        checkpoints.mkdir(exist_ok=True, parents=True)
        if len(self.trained) == self.fail_at:
            raise KeyboardInterrupt
        self.trained.append(list(sequences))
        self.seeds.append(seed)
        progress(recipe.max_steps)
        log = TrainingLog((2, 4), self.perplexities, 4, 5, len(sequences) - 1, 1, 0)
        return TrainedModel(sha256_text(repr([list(sequences), recipe, seed]))), log


class TrainedModel(ByteModel):
    def __init__(self, weights: str) -> None:
        super().__init__(weights_sha256=weights)
        self.weights = weights

    def score(self, plan: Any, chunks: Any) -> Iterator[Any]:
        for chunk in super().score(plan, chunks):
            shift = int(self.weights[-6:], 16) / 2**24
            yield replace(chunk, log_likelihood=chunk.log_likelihood - shift)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "weights").write_text(self.weights)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Trainer:
    def load(model: Any, revision: Any, options: Any) -> Any:
        return TrainedModel((Path(model) / "weights").read_text()) if isinstance(model, str) else model

    trainer = Trainer()
    monkeypatch.setattr("benchwright.eval.models.fine_tune", trainer)
    monkeypatch.setattr(kfold_module, "load_model", load)
    return trainer


def score(cache: Path, rows: pa.Table = ROWS, **arguments: Any) -> ScoreTable:
    model: Any = arguments.pop("model", None) or ByteModel()
    return score_with_folds(
        rows,
        SPIDER_FINE_TUNED,
        SPIDER_TRAINING,
        model,
        recipe=arguments.pop("recipe", RECIPE),
        cache=cache,
        **arguments,
    )


def test_folds_are_runs_of_one_permutation() -> None:
    folds = draw_folds(10, 3, 42)
    assert [len(fold) for fold in folds] == [4, 3, 3]
    assert np.concatenate(folds).tolist() == np.random.default_rng(42).permutation(10).tolist()
    assert np.concatenate(draw_folds(10, 3, 7)).tolist() != np.concatenate(folds).tolist()


@pytest.mark.parametrize(
    ("rows", "k", "message"), [(9, 1, "k is 1"), (999, 128, "k is 128"), (2, 3, "2 rows cannot")]
)
def test_folds_that_cannot_be_drawn(rows: int, k: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw_folds(rows, k, 42)


def text(sequence: TrainingSequence) -> str:
    assert (sequence.ids[0], sequence.ids[-1], sequence.scored_from) == (0, 0, 1)
    return bytes(token - 1 for token in sequence.ids[1:-1]).decode()


def test_each_model_learns_from_the_other_folds_in_the_order_of_the_drawing(
    tmp_path: Path, trainer: Trainer
) -> None:
    scores = score(tmp_path)
    folds = draw_folds(len(QUESTIONS), 3, 42)
    for fold, sequences in enumerate(trainer.trained):
        others = np.concatenate([rows for number, rows in enumerate(folds) if number != fold])
        assert [text(sequence) for sequence in sequences] == [QUESTIONS[row].lower() for row in others]
    expected = np.empty(len(QUESTIONS), int)
    for fold, rows in enumerate(folds):
        expected[rows] = fold
    assert scores.table.column("fold").to_pylist() == expected.tolist()
    assert trainer.seeds == [42, 42, 42]


def test_every_row_is_scored_by_the_model_of_its_own_fold(tmp_path: Path, trainer: Trainer) -> None:
    scores = score(tmp_path)
    facts = scores.provenance["folds"]
    assert [fact["fold"] for fact in facts] == [0, 1, 2]
    for row in range(len(QUESTIONS)):
        fold = scores.table.column("fold")[row].as_py()
        model = TrainedModel(facts[fold]["weights_sha256"])
        pairs = model.encode_pairs([""], [QUESTIONS[row].lower()], start="always", end=False)
        from benchwright.eval.models import plan_scoring

        (chunk,) = model.score(plan_scoring(pairs, max_positions=99), [0])
        assert scores.table.column("log_likelihood")[row].as_py() == np.float32(chunk.log_likelihood[0])


def test_provenance_says_how_each_model_was_trained(tmp_path: Path, trainer: Trainer) -> None:
    scores = score(tmp_path)
    assert scores.scorer == "kfold"
    key = scores.provenance["key"]
    assert (key["k"], key["seed"], key["recipe"]["max_steps"]) == (3, 42, 5)
    assert scores.provenance["folds"][1]["training"] == {
        "steps": [2, 4],
        "validation_perplexities": [9.5, 8.25],
        "best_step": 4,
        "last_step": 5,
        "training_rows": 7,
        "validation_rows": 1,
        "overlength_rows": 0,
    }
    assert str(tmp_path) not in json.dumps(scores.entry())
    scores.save(tmp_path / "saved")
    assert ScoreTable.load(tmp_path / "saved").provenance == scores.provenance


def test_an_infinite_perplexity_is_recorded_as_null(tmp_path: Path, trainer: Trainer) -> None:
    trainer.perplexities = (9.5, np.inf)
    scores = score(tmp_path)
    assert scores.provenance["folds"][0]["training"]["validation_perplexities"] == [9.5, None]
    scores.save(tmp_path / "saved")


def test_row_order_changes_nothing(tmp_path: Path, trainer: Trainer) -> None:
    scores = score(tmp_path / "a")
    order = np.random.default_rng(1).permutation(len(QUESTIONS))
    permuted = score(tmp_path / "b", ROWS.take(order))
    assert permuted.identity == scores.identity
    assert permuted.table.equals(scores.table.take(order).combine_chunks())


def test_rows_without_text_take_their_place_in_the_drawing(tmp_path: Path, trainer: Trainer) -> None:
    questions = [None if i in (2, 5) else question for i, question in enumerate(QUESTIONS)]
    rows = ROWS.set_column(4, "question", pa.array(questions))
    scores = score(tmp_path, rows)
    assert scores.table.column("fold").to_pylist() == score(tmp_path).table.column("fold").to_pylist()
    assert [i for i, status in enumerate(scores.table.column("status").to_pylist()) if status == "empty"] == [
        2,
        5,
    ]
    assert scores.table.column("log_likelihood")[2].as_py() is None
    assert sorted(len(sequences) for sequences in trainer.trained[:3]) == sorted(
        len(QUESTIONS) - len(fold) - len({2, 5} - set(fold.tolist()))
        for fold in draw_folds(len(QUESTIONS), 3, 42)
    )


@pytest.mark.parametrize("fold", [0, 1, 2])
def test_an_interruption_while_a_fold_trains(tmp_path: Path, trainer: Trainer, fold: int) -> None:
    expected = score(tmp_path / "whole")
    trainer.trained.clear()
    trainer.fail_at = fold
    with pytest.raises(KeyboardInterrupt):
        score(tmp_path / "cache")
    assert len(trainer.trained) == fold
    trainer.fail_at = None
    resumed = score(tmp_path / "cache")
    assert len(trainer.trained) == 3
    assert resumed.table.equals(expected.table)
    assert resumed.provenance == expected.provenance


@pytest.mark.parametrize("fold", [0, 2])
def test_an_interruption_while_a_fold_is_scored(
    tmp_path: Path, trainer: Trainer, fold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = score(tmp_path / "whole")
    trainer.trained.clear()
    run_plan, calls = kfold_module.run_plan, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == fold + 1:
            raise KeyboardInterrupt
        return run_plan(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(kfold_module, "run_plan", interrupted)
        with pytest.raises(KeyboardInterrupt):
            score(tmp_path / "cache")
    assert len(trainer.trained) == fold + 1
    assert score(tmp_path / "cache").table.equals(expected.table)
    assert len(trainer.trained) == 3


def test_a_damaged_model_is_trained_again(
    tmp_path: Path, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = score(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(kfold_module, "run_plan", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score(tmp_path / "cache")
    (weights,) = (tmp_path / "cache").rglob("weights")
    weights.write_text("sha256:ffffff")
    with pytest.warns(BenchwrightWarning, match=r"model is damaged; its fold is trained again"):
        assert score(tmp_path / "cache").table.equals(expected.table)


def test_models_are_removed_unless_they_are_to_be_kept(tmp_path: Path, trainer: Trainer) -> None:
    score(tmp_path / "a")
    assert not list((tmp_path / "a").rglob("weights"))
    scores = score(tmp_path / "b", keep_models=True)
    kept = sorted((tmp_path / "b").rglob("weights"))
    assert [path.read_text() for path in kept] == [
        fact["weights_sha256"] for fact in scores.provenance["folds"]
    ]
    assert not list((tmp_path / "b").rglob("chunk-*"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(tmp_path / "b", keep_models=True)
    again = score(tmp_path / "b")
    assert again.table.equals(scores.table)
    with pytest.warns(BenchwrightWarning, match=r"3 of 3 models are gone.*remove .* and score again"):
        score(tmp_path / "a", keep_models=True)
    assert len(trainer.trained) == 6
    assert not list((tmp_path / "b").rglob("weights"))


def test_models_of_another_environment_are_trained_again(tmp_path: Path, trainer: Trainer) -> None:
    elsewhere = ByteModel()
    elsewhere.environment_facts = {"threads": 2}
    trainer.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        score(tmp_path, model=elsewhere)
    trainer.fail_at = None
    with pytest.warns(BenchwrightWarning, match="scoring starts again"):
        scores = score(tmp_path)
    assert len(trainer.trained) == 5
    assert scores.provenance["environment"] == ByteModel().environment_facts


@pytest.mark.parametrize(
    "change",
    [{"k": 4}, {"seed": 43}, {"recipe": replace(RECIPE, learning_rate=1e-4)}, {"model": ByteModel(x=1)}],
)
def test_identity_follows_folds_seed_recipe_and_model(tmp_path: Path, trainer: Trainer, change: Any) -> None:
    assert score(tmp_path, **change).identity != score(tmp_path).identity


def test_identity_follows_what_rows_lie_where(tmp_path: Path, trainer: Trainer) -> None:
    swapped = ROWS.set_column(3, "source_index", pa.array([1, 0, *range(2, len(QUESTIONS))], pa.int32()))
    assert score(tmp_path, swapped).identity != score(tmp_path).identity


def test_progress_tells_folds_apart(tmp_path: Path, trainer: Trainer) -> None:
    stages: list[tuple[str, int, str]] = []

    @contextmanager
    def stage(label: str, total: int, unit: str) -> Iterator[Any]:
        stages.append((label, total, unit))
        yield lambda done: None

    score(tmp_path, k=2, progress=stage)
    assert [stages[i] for i in (0, 2)] == [
        ("training fold 1 of 2", 5, "steps"),
        ("training fold 2 of 2", 5, "steps"),
    ]
    assert [(stages[i][0], stages[i][2]) for i in (1, 3)] == [
        ("scoring fold 1 of 2", "tokens"),
        ("scoring fold 2 of 2", "tokens"),
    ]
    assert sum(stages[i][1] for i in (1, 3)) == sum(map(len, QUESTIONS)) - _repeated_within_a_fold()


def _repeated_within_a_fold() -> int:
    folds = [[QUESTIONS[row].lower() for row in fold] for fold in draw_folds(len(QUESTIONS), 2, 42)]
    return sum(sum(map(len, texts)) - sum(map(len, set(texts))) for texts in folds)
