"""A decoder-only language model fine-tuned as a parser (the GPT-2 recipe of likelihood splits)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import UsageError
from ...progress import Progress
from ..models import CausalModel, ParserRecipe, TokenPair, TrainingSequence, fine_tune
from ..models.fine_tuning import TrainingLog
from ..models.generation import Answers, BeamSearch, generate
from .base import EvaluationData
from .parser import Pairs, Parser

PREFIX = "database question for table "
SUFFIX = " generate the sql parse: "


@dataclass(frozen=True)
class CausalParser(Parser):
    """A decoder-only model, fine-tuned to continue a question with its query; the loss is on the query.

    The input is the model's start token, `database question for table `, the row's text and
    ` generate the sql parse: `; the answer follows, with the model's end token behind it (2210.06799, code).
    An input that is too long for the model, or for the recipe, loses tokens from the end of the row's own
    text, so that the words around it always stand.
    """

    name = "causal_parser"
    needs_model = "causal_lm"

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "prefix": PREFIX, "suffix": SUFFIX}

    def model(self, data: EvaluationData) -> CausalModel:
        if not isinstance(data.model, CausalModel):
            raise UsageError(
                f"{self.name} needs a causal language model; name one with --model (Python: model=)"
            )
        return data.model

    def fit_and_answer(
        self,
        data: EvaluationData,
        training: Pairs,
        validation: Pairs,
        asked: list[str],
        seed: int,
        progress: Progress,
    ) -> tuple[Answers, TrainingLog]:
        model, recipe = self.model(data), self.recipe
        kept = _fitting(model, training, recipe)
        kept_for_validation = _fitting(model, validation, recipe)
        tuned, log = fine_tune(
            model, kept, recipe, seed, validation=kept_for_validation, checkpoints=data.checkpoints
        )
        left_out = len(training.targets) + len(validation.targets) - len(kept) - len(kept_for_validation)
        inputs, truncated = _inputs(tuned, asked, recipe)
        end = tuned.end_token.id
        search = BeamSearch(recipe.beams, recipe.max_target_length, padding=end, end=end)
        found = generate(tuned.module, inputs, search, progress=progress)
        texts = [tuned.tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in found]
        unfinished = np.array([ids[-1:] != [end] for ids in found], dtype=bool)
        return Answers(texts, truncated, unfinished), replace(
            log, overlength_rows=log.overlength_rows + left_out
        )


def _inputs(
    model: CausalModel, sources: list[str], recipe: ParserRecipe
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Token ids of every input, and which of them had to be truncated (bool, shape (inputs,)).

    Raises UsageError for a model whose positions leave no room for a row's own text.
    """
    limit = min(recipe.max_source_length, model.max_positions - recipe.max_target_length)
    tail = model.encode_text(SUFFIX, start=False, end=False)
    if limit <= len(model.encode_text(PREFIX, start=True, end=False)) + len(tail):
        raise UsageError(
            f"answers of {recipe.max_target_length} tokens leave {max(0, limit)} for the input, which is too "
            f"few: {model.name} takes {model.max_positions} in all; lower max_target_length"
        )
    inputs: list[tuple[int, ...]] = []
    truncated = np.zeros(len(sources), dtype=bool)
    for row, source in enumerate(sources):
        ids = model.encode_text(PREFIX + source + SUFFIX, start=True, end=False)
        if len(ids) > limit:
            ids = (*model.encode_text(PREFIX + source, start=True, end=False)[: limit - len(tail)], *tail)
            truncated[row] = True
        inputs.append(ids)
    return inputs, truncated


def _fitting(model: CausalModel, pairs: Pairs, recipe: ParserRecipe) -> list[TrainingSequence]:
    """The training sequences whose answers are not too long."""
    inputs, _ = _inputs(model, pairs.sources, recipe)
    targets = (model.encode_text(target, start=False, end=True) for target in pairs.targets)
    return [
        TrainingSequence.of(TokenPair(ids, target))
        for ids, target in zip(inputs, targets, strict=True)
        if len(target) <= recipe.max_target_length
    ]
