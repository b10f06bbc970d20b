"""The program of the most similar training question, carried over to the evaluated row's database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import PrerequisiteError
from ...progress import Progress
from ._schema_linking import (
    DATABASE,
    WEIGHTS,
    DatabaseNames,
    carry_over,
    database_names,
    masked,
    questions,
)
from .base import Baseline, EvaluationData, Predictions, Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NOTHING_SIMILAR = "no_similar_question"
_CHARACTERS = (2, 4)
_CELLS = 20_000_000
"""Similarities in memory at once."""


@dataclass(frozen=True)
class NearestQuestion(Baseline):
    """Answers with the program of the most similar training question: what retrieval alone can do.

    Similarity is the cosine of TF-IDF vectors with logarithmic term frequencies. Where the training rows
    have questions about the row's own database, the nearest of those is taken, compared by the two to four
    neighbouring characters of words, and its query is the answer as it stands. Else, where the release has
    the schemas, questions of other databases are compared by words and pairs of words, with the names of
    tables and columns, numbers and values masked, and the names of the nearest one's query are replaced by
    those of the row's database that fit its question (see `_schema_linking.carry_over`); values stay as
    they are. Tasks without databases or schemas get the nearest program unchanged, compared by characters.
    Equal similarities go to the first row in the order of the train files. Rows that share no feature with
    any training question are answered by that same rule and flagged as `no_similar_question`.

    Features and weights were chosen on Spider: the former on the validation split of `random`, the latter
    on databases of the published train split that were held out from the others.
    """

    name = "nearest_question"
    needs_train = True
    reads_tables = ("schemas",)

    def _not_applicable(self, data: EvaluationData) -> str | None:
        if data.task.labels is not None:
            return f"it needs a task with free text as its target, which {data.task.name} is not"
        return None if len(data.train) else "the train split is empty"

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {
            **super().settings(data),
            "similarity": "cosine of TF-IDF, sublinear term frequency",
            "same_database": {"first": True, "features": "characters of words", "ngrams": list(_CHARACTERS)},
            "other_databases": {"features": "words, names masked", "ngrams": [1, 2]},
            "linking_weights": dict(WEIGHTS),
        }

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises PrerequisiteError without scikit-learn."""
        schemas = data.side_table("schemas")
        names = database_names(schemas) if schemas is not None else {}
        rows, train = data.evaluation, data.train
        places = _places(train)
        answers: dict[int, str] = {}
        alike: dict[int, float] = {}
        own = _Index(questions(train))
        for database, members in _places(rows).items():
            if database in places or database not in names:
                asked = [questions(rows)[row] for row in members]
                found, similarities = own.nearest(asked, places.get(database))
                answers |= {row: str(train.gold[i]) for row, i in zip(members, found, strict=True)}
                alike |= dict(zip(members, similarities, strict=True))
                progress(len(members))
        far = [row for row in range(len(rows)) if row not in answers]
        if far:
            carried, similarities = _from_other_databases(rows.take(np.array(far)), train, names)
            answers |= dict(zip(far, carried, strict=True))
            alike |= dict(zip(far, similarities, strict=True))
            progress(len(far))
        strange = frozenset(rows.uids[row] for row, similarity in alike.items() if not similarity)
        return Predictions(
            rows.uids,
            [answers[row] for row in range(len(rows))],
            flagged={NOTHING_SIMILAR: strange} if strange else {},
        )


class _Index:
    """Texts by their TF-IDF vectors; `features` gives the features of a text, else they are characters."""

    def __init__(self, texts: Sequence[str], features: Callable[[str], list[str]] | None = None) -> None:
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
        except ImportError:
            raise PrerequisiteError(
                "nearest_question needs scikit-learn", "pip install 'benchwright[eval]'"
            ) from None
        options = {"analyzer": features} if features else {"analyzer": "char_wb", "ngram_range": _CHARACTERS}
        self._vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
        self._vectors: csr_matrix | None = None
        self._size = len(texts)
        features_of = self._vectorizer.build_analyzer()
        if any(features_of(text) for text in texts):
            self._vectors = self._vectorizer.fit_transform(texts)

    def nearest(self, texts: Sequence[str], among: np.ndarray | None) -> tuple[list[int], list[float]]:
        """The index of the most similar text, and how similar it is, for every one of `texts`.

        `among` are the indices that may be chosen, in ascending order; None for all.
        """
        candidates = np.arange(self._size) if among is None else among
        if self._vectors is None:
            return [int(candidates[0])] * len(texts), [0.0] * len(texts)
        columns = self._vectors[candidates].T.tocsr()
        asked = self._vectorizer.transform(texts)
        step = max(1, _CELLS // len(candidates))
        found: list[int] = []
        similarities: list[float] = []
        for begin in range(0, len(texts), step):
            block = (asked[begin : begin + step] @ columns).toarray()
            best = block.argmax(axis=1)
            found += candidates[best].tolist()
            similarities += block[np.arange(len(block)), best].tolist()
        return found, similarities


def _from_other_databases(
    rows: Rows, train: Rows, names: Mapping[str, DatabaseNames]
) -> tuple[list[str], list[float]]:
    """Queries of the nearest questions about other databases, with the names replaced, and similarities."""
    usable = np.array([i for i, name in enumerate(train.inputs[DATABASE]) if name in names], dtype=np.int64)
    if not len(usable):
        found, similarities = _Index(questions(train)).nearest(questions(rows), None)
        return [str(train.gold[i]) for i in found], similarities
    train = train.take(usable)
    index = _Index(_masked_questions(train, names), _words_and_pairs)
    found, similarities = index.nearest(_masked_questions(rows, names), None)
    answers = [
        carry_over(str(train.gold[i]), names[train.inputs[DATABASE][i]], names[database], question)
        for i, database, question in zip(found, rows.inputs[DATABASE], questions(rows), strict=True)
    ]
    return answers, similarities


def _places(rows: Rows) -> dict[str, np.ndarray]:
    """Rows by database, in their order; all of them under one name where the task has no databases."""
    found: dict[str, list[int]] = {}
    for row, name in enumerate(rows.inputs.get(DATABASE, [""] * len(rows))):
        found.setdefault(name, []).append(row)
    return {name: np.array(members) for name, members in found.items()}


def _masked_questions(rows: Rows, names: Mapping[str, DatabaseNames]) -> list[str]:
    pairs = zip(questions(rows), rows.inputs[DATABASE], strict=True)
    return [masked(question, names[database]) for question, database in pairs]


def _words_and_pairs(text: str) -> list[str]:
    single = text.split()
    return [*single, *(" ".join(pair) for pair in pairwise(single))]
