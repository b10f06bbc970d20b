"""Zero-shot pronoun resolution by the likelihood of a text with each candidate in place of the pronoun.

Trinh and Le (1806.02847): *full* scoring takes the likelihood of the whole text, *partial* scoring that of
the words after the pronoun alone, given all that stands before them, so that no candidate is preferred for
being a frequent word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...errors import UsageError
from ...progress import Progress
from ._pronouns import NOTHING_AFTER, TASK, Filled, best_candidates, by_row, filled_rows, one_candidate
from .base import Baseline, EvaluationData, Predictions

if TYPE_CHECKING:
    from ..models import CausalModel, TokenPairs

Scoring = Literal["full", "partial"]


@dataclass(frozen=True)
class PronounLanguageModel(Baseline):
    """Answers with the candidate that makes the whole text the most likely.

    Log-likelihoods (nats) are summed over tokens, after a start token, without normalisation by length. The
    tokens that the texts of all candidates begin with say nothing about which is likelier: they are read
    once and not scored. How a candidate is written in place of the pronoun: see `_pronouns.fill`. Of equally
    likely candidates the first is the answer, and the row is flagged as tied. Rows that do not fit the
    model's positions are left out and counted.
    """

    name = "pronoun_lm"
    tasks = (TASK,)
    needs_model = "causal_lm"
    default = False
    scoring: ClassVar[Scoring] = "full"

    def _not_applicable(self, data: EvaluationData) -> str | None:
        return one_candidate(data)

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "scoring": self.scoring, "model": _model(data).identity()}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises UsageError if no row fits the model, SourceError for rows that cannot be read."""
        rows = data.evaluation
        filled = list(filled_rows(data, rows))
        kept = [row for row, options in enumerate(filled) if self._can_be_scored(options)]
        if not kept:
            raise UsageError(f"{self.name}: nothing follows the pronoun in any row of {data.config}")
        skipped = len(rows) - len(kept)
        candidates = [len(filled[row]) for row in kept]
        model = _model(data)
        pairs = self._pairs(model, [filled[row] for row in kept])
        progress(skipped)
        scores = model.log_likelihoods(pairs, progress=by_row(progress, candidates))
        left_out = {NOTHING_AFTER: skipped} if skipped else {}
        return best_candidates(data, rows.take(np.array(kept)), candidates, scores, left_out)

    def _can_be_scored(self, options: Sequence[Filled]) -> bool:
        return True

    def _pairs(self, model: CausalModel, filled: Sequence[Sequence[Filled]]) -> TokenPairs:
        """What is scored: one pair for each candidate, row after row."""
        from ..models import TokenPairs

        texts = [option.text for options in filled for option in options]
        pairs = model.encode_pairs([""] * len(texts), texts, start="always", end=False)
        borders = np.empty(len(pairs), dtype=np.int32)
        first = 0
        for options in filled:
            members = range(first, first + len(options))
            borders[first : first + len(options)] = _common([pairs.sequence(member) for member in members])
            first += len(options)
        return TokenPairs(pairs.ids, pairs.offsets, borders)


@dataclass(frozen=True)
class PronounLanguageModelPartial(PronounLanguageModel):
    """Answers with the candidate after which the words that follow the pronoun are the most likely.

    A row in which nothing follows the pronoun is left out and counted; where only a full stop does, it is
    what is scored. All else as with `pronoun_lm`.
    """

    name = "pronoun_lm_partial"
    scoring = "partial"

    def _can_be_scored(self, options: Sequence[Filled]) -> bool:
        return bool(options[0].after.strip())

    def _pairs(self, model: CausalModel, filled: Sequence[Sequence[Filled]]) -> TokenPairs:
        flat = [option for options in filled for option in options]
        return model.encode_pairs(
            [option.prefix for option in flat], [option.after for option in flat], start="always", end=False
        )


def _common(sequences: Sequence[np.ndarray]) -> int:
    """How many tokens all sequences begin with; one less than the shortest has, at most, so that each keeps
    a token to score."""
    shortest = min(map(len, sequences)) - 1
    stacked = np.stack([sequence[:shortest] for sequence in sequences])
    different = np.flatnonzero((stacked != stacked[0]).any(axis=0))
    return max(1, int(different[0]) if len(different) else shortest)


def _model(data: EvaluationData) -> CausalModel:
    from ..models import MaskedLanguageModel, SequenceClassifier, SequenceToSequenceModel, TrainableClassifier

    others = SequenceClassifier | SequenceToSequenceModel | TrainableClassifier | MaskedLanguageModel
    if data.model is None or isinstance(data.model, others):
        raise UsageError("pronoun_lm needs a causal language model; name one with --model (Python: model=)")
    return data.model
