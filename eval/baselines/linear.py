"""Linear classifiers over words: what can be solved by lexical cues, with and without the whole input."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import BenchwrightWarning, PrerequisiteError
from ...progress import Progress
from .base import Baseline, EvaluationData, Predictions, Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PARTIAL_INPUT = {"nli": "hypothesis", "binary-nli": "hypothesis", "boolean-question": "question"}
"""The input column that partial-input baselines see, by task."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class _Linear(Baseline):
    """Logistic regression (L2, L-BFGS) over the presence of hashed features.

    Features are words and pairs of neighbouring words in lower case, hashed to `2**hash_bits` columns.
    `inverse_regularisation` is scikit-learn's C. `train_limit` draws that many train rows by seed; None
    uses all of them.
    """

    tasks = tuple(PARTIAL_INPUT)
    needs_train = True
    whole_input: ClassVar[bool]

    hash_bits: int = 18
    inverse_regularisation: float = 0.1
    max_iterations: int = 300
    train_limit: int | None = None

    def _not_applicable(self, data: EvaluationData) -> str | None:
        labels = set(data.train.gold.tolist())
        return f"all train rows have the label {labels.pop()!r}" if len(labels) == 1 else None

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        columns = list(data.task.inputs) if self.whole_input else [PARTIAL_INPUT[data.task.name]]
        return {**super().settings(data), "columns": columns, "word_ngrams": [1, 2]}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises PrerequisiteError without scikit-learn; warns if the optimiser did not converge."""
        try:
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise PrerequisiteError(
                f"{self.name} needs scikit-learn", "pip install 'benchwright[eval]'"
            ) from None
        train = data.train.sample(self.train_limit, seed)
        # Sums of floats depend on their order: rows in uid order give the same model for any file order.
        train = train.take(np.argsort(np.array(train.uids), kind="stable"))
        model = LogisticRegression(C=self.inverse_regularisation, max_iter=self.max_iterations)
        matrix = self._features(train, data.task.name)
        # A feature that no train row has would keep the weight 0: leaving it out gives the same model.
        seen = np.unique(matrix.indices)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(matrix[:, seen], train.gold.astype(str))
        if model.n_iter_.max() >= self.max_iterations:
            message = f"{self.name} on {data.config}: not converged after {self.max_iterations} iterations"
            warnings.warn(message, BenchwrightWarning, stacklevel=2)
        answers = model.predict(self._features(data.evaluation, data.task.name)[:, seen])
        progress(len(data.evaluation))
        return Predictions(data.evaluation.uids, [str(answer) for answer in answers])

    def _features(self, rows: Rows, task: str) -> csr_matrix:
        from sklearn.feature_extraction import FeatureHasher

        hasher = FeatureHasher(2**self.hash_bits, input_type="string", alternate_sign=False)
        focus = PARTIAL_INPUT[task]
        others = [rows.inputs[name] for name in rows.inputs if name != focus] if self.whole_input else []
        matrix = hasher.transform(
            list(row_features(text, [column[row] for column in others]))
            for row, text in enumerate(rows.inputs[focus])
        )
        matrix.data[:] = 1.0
        return matrix


def row_features(focus: str, others: list[str]) -> Iterator[str]:
    """Names of the features of one row.

    Words and pairs of words of every text, marked by the text's place; and, where there are other texts,
    which words of `focus` occur in them and which do not, and the share that does in fifths: what a
    linear model needs to see an overlap of premise and hypothesis.

    >>> sorted(row_features("A cat", ["a dog"]))
    ['0:a', '0:a cat', '0:cat', '1:a', '1:a dog', '1:dog', 'absent:cat', 'present:a', 'share:2']
    """
    words = _WORD.findall(focus.lower())
    yield from _ngrams("0", words)
    seen: set[str] = set()
    for place, text in enumerate(others, start=1):
        other = _WORD.findall(text.lower())
        yield from _ngrams(str(place), other)
        seen.update(other)
    if others:
        for word in words:
            yield f"{'present' if word in seen else 'absent'}:{word}"
        yield f"share:{5 * sum(word in seen for word in words) // max(1, len(words))}"


def _ngrams(place: str, words: list[str]) -> Iterator[str]:
    for word in words:
        yield f"{place}:{word}"
    for first, second in pairwise(words):
        yield f"{place}:{first} {second}"


@dataclass(frozen=True)
class LinearPartialInput(_Linear):
    """Sees only the hypothesis (NLI) or the question (boolean questions).

    Above the majority baseline it shows labels that the partial input gives away (Poliak et al. 2018).
    """

    name = "linear_partial_input"
    whole_input = False


@dataclass(frozen=True)
class LinearFullInput(_Linear):
    """Sees the whole input, with marks for the words that the texts share."""

    name = "linear_full_input"
    whole_input = True
