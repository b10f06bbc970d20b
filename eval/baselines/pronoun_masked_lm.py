"""Zero-shot pronoun resolution by a masked language model (Kocijan et al. 2019, 1905.06290)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...progress import Progress
from ._pronouns import TASK, Filled, best_candidates, by_row, filled_rows, one_candidate
from .base import Baseline, EvaluationData, Predictions

if TYPE_CHECKING:
    from ..models import MaskedLanguageModel, MaskedSpan


@dataclass(frozen=True)
class PronounMaskedLanguageModel(Baseline):
    """Answers with the candidate that a masked language model finds the most likely in the pronoun's place.

    The pronoun is replaced by as many mask tokens as the candidate has pieces, and the candidate's score is
    the mean log-probability (nats) of its pieces there, each predicted on its own. A possessive ending is not
    masked. How a candidate is written: see `_pronouns.fill`. Of equally likely candidates the first is the
    answer, and the row is flagged as tied. Rows that do not fit the model are left out and counted.
    """

    name = "pronoun_masked_lm"
    tasks = (TASK,)
    needs_model = "masked_lm"
    default = False

    def _not_applicable(self, data: EvaluationData) -> str | None:
        return one_candidate(data)

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "model": _model(data).identity()}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises UsageError if no row fits the model, SourceError for rows that cannot be read."""
        filled = list(filled_rows(data, data.evaluation))
        candidates = [len(options) for options in filled]
        spans = [_span(option) for options in filled for option in options]
        scores = _model(data).span_scores(spans, progress=by_row(progress, candidates))
        return best_candidates(data, data.evaluation, candidates, scores, {})


def _span(option: Filled) -> MaskedSpan:
    from ..models import MaskedSpan

    start = len(option.before)
    return MaskedSpan(option.text, start, start + len(option.candidate))


def _model(data: EvaluationData) -> MaskedLanguageModel:
    from ..models import MaskedLanguageModel

    if not isinstance(data.model, MaskedLanguageModel):
        raise UsageError(
            "pronoun_masked_lm needs a masked language model; name one with --model (Python: model=)"
        )
    return data.model
