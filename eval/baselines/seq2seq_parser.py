"""A sequence-to-sequence model fine-tuned as a parser (the T5 recipe of likelihood splits)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ...errors import UsageError
from ...progress import Progress
from ..models import SequenceToSequenceModel, fine_tune_sequence_to_sequence
from ..models.fine_tuning import TrainingLog
from ..models.generation import Answers
from .base import EvaluationData
from .parser import Pairs, Parser

PREFIX = "semanticparse: "
ADDED_TOKEN = "<"
_SPLIT_OPERATOR = re.compile(r"\s*< =")


@dataclass(frozen=True)
class SequenceToSequenceParser(Parser):
    """An encoder-decoder model such as T5, fine-tuned and asked with the prefix `semanticparse: `.

    T5's vocabulary lacks `<`, which becomes a token of its own; since added tokens are decoded with blanks
    around them, `< =` in an answer is `<=` (the published code of 2210.06799).
    """

    name = "seq2seq_parser"
    needs_model = "seq2seq"

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "prefix": PREFIX, "added_token": ADDED_TOKEN}

    def model(self, data: EvaluationData) -> SequenceToSequenceModel:
        if not isinstance(data.model, SequenceToSequenceModel):
            raise UsageError(
                f"{self.name} needs a sequence-to-sequence model; name one with --model (Python: model=)"
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
        parser, log = fine_tune_sequence_to_sequence(
            self.model(data),
            (_prefixed(training.sources), training.targets),
            (_prefixed(validation.sources), validation.targets),
            self.recipe,
            seed,
            added_token=ADDED_TOKEN,
            checkpoints=data.checkpoints,
        )
        answers = parser.answer(_prefixed(asked), self.recipe, progress=progress)
        return replace(answers, texts=[_SPLIT_OPERATOR.sub(" <=", text) for text in answers.texts]), log


def _prefixed(sources: list[str]) -> list[str]:
    return [PREFIX + source for source in sources]
