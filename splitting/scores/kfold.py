"""Scores of models fine-tuned on the other folds (2210.06799, section 3; its k is 3, and 5 in the appendix).

The drawing of folds is `default_rng(seed).permutation(n)` cut into k runs, over rows in source order. Like
the paper's it knows nothing of duplicates: of two rows with equal input, one may be scored by a model that
was trained on the other, which makes it look likelier. `content_id` tells which rows that concerns.
"""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...atomic import replace_folder, write_text
from ...errors import BenchwrightError, UsageError
from ...progress import Stage, no_progress
from .cache import SCORE, Workspace, clear_parts, open_workspace, warn
from .rows import (
    DEFAULT_OPTIONS,
    EncodedRows,
    ScoringOptions,
    check_rows,
    describe_model,
    digest_rows,
    encode_rows,
    load_model,
    make_plan,
    make_table,
    model_key,
    run_plan,
    spread,
)
from .table import ScoreTable, score_identity
from .templates import PromptTemplate

if TYPE_CHECKING:
    from ...eval.models import CausalModel, FineTuneRecipe, TrainingSequence

_MOST_FOLDS = 127
_CHECKPOINTS, _MODEL = "checkpoints", "model"
_TRAINING = "training.json"


def draw_folds(rows: int, k: int, seed: int) -> list[np.ndarray]:
    """Row numbers (int64) of each fold, for rows in source order; a fold keeps the order of the permutation.

    Raises UsageError unless 2 <= k <= 127 (the column `fold` is int8) and every fold gets a row.
    """
    if not 2 <= k <= _MOST_FOLDS:
        raise UsageError(f"k is {k}; give a number of folds from 2 to {_MOST_FOLDS}")
    if rows < k:
        raise UsageError(f"{rows} rows cannot fill {k} folds; give fewer folds or more rows")
    permutation = np.random.default_rng(seed).permutation(rows).astype(np.int64)
    return np.array_split(permutation, k)


def score_with_folds(
    rows: pa.Table,
    template: PromptTemplate,
    training_template: PromptTemplate,
    model: str | CausalModel,
    *,
    revision: str | None = None,
    k: int = 3,
    recipe: FineTuneRecipe,
    seed: int = 42,
    cache: Path,
    options: ScoringOptions = DEFAULT_OPTIONS,
    keep_models: bool = False,
    progress: Stage = no_progress,
) -> ScoreTable:
    """Score every row with a model fine-tuned on the folds that do not hold it.

    Arguments and errors are those of `score_with_prompt`. The first tenth of a fold's training rows, in the
    order of the drawing, chooses the checkpoint (`recipe.validation_share`). A row that has nothing to train
    on or to score still takes its place in the drawing. After an interruption the finished folds stand, and
    a fold whose training was cut off is trained again. The models are removed when all scores are there,
    unless `keep_models`; their hashes and training logs are in the provenance, under `folds`. With
    `keep_models`, a BenchwrightWarning tells of models that are gone, as those of finished scores are.
    """
    check_rows(rows)
    folds = draw_folds(rows.num_rows, k, seed)
    base = load_model(model, revision, options)
    source_order = np.argsort(rows.column("source_index").to_numpy(), kind="stable")
    ordered = rows.take(source_order)
    scored, training = (encode_rows(ordered, part, base) for part in (template, training_template))
    key = {
        "scorer": "kfold",
        **model_key(base, options),
        "template": template.to_json(),
        "training_template": training_template.to_json(),
        "recipe": recipe.to_json(),
        "k": k,
        "seed": seed,
        "rows": rows.num_rows,
        "token_ids": digest_rows(scored),
        "training_token_ids": digest_rows(training),
    }
    work = _FoldWork(base, recipe, seed, options, scored, training, folds, keep_models, progress)
    with open_workspace(cache, key, base.environment()) as workspace:
        finished = workspace.finished()
        if finished is None:
            finished = work.run(workspace)
            workspace.finish(*finished)
        work.clear(workspace)
        environment = workspace.environment
    scores, facts = finished
    fold_of = np.empty(rows.num_rows, dtype=np.int8)
    for number, members in enumerate(folds):
        fold_of[members] = number
    table = make_table(ordered, scored, scores, fold_of).take(np.argsort(source_order, kind="stable"))
    provenance = {
        "key": key,
        "model": describe_model(base),
        "environment": environment,
        **facts,
    }
    return ScoreTable(table.combine_chunks(), provenance, score_identity(key))


@dataclass(frozen=True)
class _FoldWork:
    """The folds of one table: which rows each model is trained on, and which it scores."""

    base: CausalModel
    recipe: FineTuneRecipe
    seed: int
    options: ScoringOptions
    scored: EncodedRows
    training: EncodedRows
    folds: list[np.ndarray]
    keep_models: bool
    progress: Stage

    def run(self, workspace: Workspace) -> tuple[np.ndarray, dict[str, Any]]:
        """Scores (SCORE) of all encoded rows, and the facts about the models that made them."""
        scores = np.empty(len(self.scored.rows), dtype=SCORE)
        facts = []
        for fold in range(len(self.folds)):
            members = self._scored_pairs(fold)
            scores[members], training = self._score_fold(fold, members, workspace.part(f"fold-{fold}"))
            facts.append(training)
        scores["item"] = np.arange(len(scores))
        return scores, {"folds": facts}

    def clear(self, workspace: Workspace) -> None:
        """Remove what the result makes superfluous, and the models unless they are to be kept.

        Warns of models that are to be kept and are not there any more.
        """
        clear_parts(workspace, "fold-*", _MODEL, len(self.folds) if self.keep_models else None)

    def training_sequences(self, fold: int) -> list[TrainingSequence]:
        """The texts that the model of `fold` learns from, in the order of the drawing."""
        from ...eval.models import TrainingSequence

        pairs = self.training.pairs
        pair_of = np.full(sum(map(len, self.folds)), -1, dtype=np.int64)
        pair_of[self.training.rows] = np.where(
            pairs.lengths > pairs.context_lengths, np.arange(len(pairs)), -1
        )
        others = np.concatenate([rows for number, rows in enumerate(self.folds) if number != fold])
        return [TrainingSequence.of(pairs[pair]) for pair in pair_of[others].tolist() if pair >= 0]

    def _scored_pairs(self, fold: int) -> np.ndarray:
        return np.flatnonzero(np.isin(self.scored.rows, self.folds[fold]))

    def _score_fold(
        self, fold: int, members: np.ndarray, part: Workspace
    ) -> tuple[np.ndarray, dict[str, Any]]:
        plan = make_plan((self.scored.pairs[pair] for pair in members.tolist()), self.base, self.options)
        finished = part.finished()
        if finished is None:
            model, training = self._fold_model(fold, part)
            label = f"scoring fold {fold + 1} of {len(self.folds)}"
            bound = part.bound_to(weights=training["weights_sha256"])
            finished = run_plan(model, plan, bound, label, self.progress), training
            part.finish(*finished)
        if not self.keep_models:
            shutil.rmtree(part.folder / _MODEL, ignore_errors=True)
        distinct, training = finished
        return spread(plan, distinct), training

    def _fold_model(self, fold: int, part: Workspace) -> tuple[CausalModel, dict[str, Any]]:
        """The model of a fold, trained now or before an interruption, and the facts about it."""
        from ...eval.models import fine_tune

        folder = part.folder / _MODEL
        found = _trained_model(folder, self.options)
        if found is not None:
            return found
        sequences = self.training_sequences(fold)
        if not sequences:
            raise UsageError(f"fold {fold} leaves no row to train on; give fewer folds or more rows")
        label = f"training fold {fold + 1} of {len(self.folds)}"
        with self.progress(label, self.recipe.max_steps, "steps") as report:
            model, log = fine_tune(
                self.base,
                sequences,
                self.recipe,
                self.seed,
                report,
                checkpoints=part.folder / _CHECKPOINTS,
            )
        # JSON has no infinity, which an evaluation of a model on its way to diverging can give.
        perplexities = [value if math.isfinite(value) else None for value in log.validation_perplexities]
        training = {**log.to_json(), "validation_perplexities": perplexities}
        facts = {"fold": fold, "weights_sha256": model.identity()["weights_sha256"], "training": training}
        staged = folder.with_name(".model.staged")
        shutil.rmtree(staged, ignore_errors=True)
        model.save(staged)
        write_text(staged / _TRAINING, json.dumps(facts, sort_keys=True) + "\n")
        replace_folder(staged, folder)
        shutil.rmtree(part.folder / _CHECKPOINTS, ignore_errors=True)
        return model, facts


def _trained_model(folder: Path, options: ScoringOptions) -> tuple[CausalModel, dict[str, Any]] | None:
    """A fold's model that an earlier run saved; None if there is none, or (with a warning) a damaged one."""
    if not folder.is_dir():
        return None
    try:
        facts = json.loads((folder / _TRAINING).read_text(encoding="utf-8"))
        model = load_model(str(folder), None, options)
        if model.identity()["weights_sha256"] == facts["weights_sha256"]:
            return model, facts
    except (OSError, ValueError, KeyError, TypeError, BenchwrightError):
        pass
    warn(f"{folder} is damaged; its fold is trained again")
    return None
