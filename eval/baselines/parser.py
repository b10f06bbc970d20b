"""What parsers share: the texts that they learn from, the recipe, and a word on rows that do not fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import BenchwrightWarning
from ...progress import Progress
from ...text.sql import normalised
from ...wording import plural
from ..models import LoadedModel, ParserRecipe
from ..models.fine_tuning import TrainingLog
from ..models.generation import Answers
from ._schema_linking import DATABASE, DatabaseNames, database_names, questions
from .base import Baseline, EvaluationData, Predictions, Rows


@dataclass(frozen=True)
class Pairs:
    """Inputs and the answers to them, in order."""

    sources: list[str]
    targets: list[str]


@dataclass(frozen=True)
class Parser(Baseline):
    """A language model fine-tuned on the train split, which then generates the answers.

    The input of a row with a database is `database: question` and, where the release has the schemas, every
    table with its columns, all in lower case; the answer is the query in lower case with single blanks
    (2210.06799, Section 4.1; what Spider's columns `source` and `target` hold). Other tasks are taken as
    they stand. The checkpoint is chosen on the validation split, or, in a config without one, on rows of
    the train split drawn by the seed. Longer inputs are truncated, answered and flagged as `truncated`;
    answers that did not end are flagged as `unfinished`.
    """

    needs_train = True
    reads_validation = True
    reads_tables = ("schemas",)
    default = False

    recipe: ParserRecipe = field(default_factory=ParserRecipe)

    def with_recipe(self, changes: Mapping[str, Any]) -> Parser:
        """The same with other values for some fields of its recipe. Raises UsageError for unknown ones."""
        return replace(self, recipe=self.recipe.changed(changes))

    @abstractmethod
    def fit_and_answer(
        self,
        data: EvaluationData,
        training: Pairs,
        validation: Pairs,
        asked: list[str],
        seed: int,
        progress: Progress,
    ) -> tuple[Answers, TrainingLog]:
        """Train on the pairs, then answer the inputs. `progress` counts answers."""

    @abstractmethod
    def model(self, data: EvaluationData) -> LoadedModel:
        """The model to train. Raises UsageError where there is none of the right kind."""

    def _not_applicable(self, data: EvaluationData) -> str | None:
        if data.task.labels is not None:
            return f"it needs a task with free text as its target, which {data.task.name} is not"
        return None

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        return {**super().settings(data), "model": self.model(data).identity()}

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Warns of rows that do not fit. Raises UsageError where nothing can be trained."""
        schemas = data.side_table("schemas")
        names = database_names(schemas) if schemas is not None else {}
        train, validation = _training_rows(data, self.recipe.validation_share, seed)
        asked = sources(data.evaluation, names)
        answers, log = self.fit_and_answer(
            data, _pairs(train, names), _pairs(validation, names), asked, seed, progress
        )
        uids = data.evaluation.uids
        flagged = {
            reason: frozenset(uids[row] for row in np.flatnonzero(rows).tolist())
            for reason, rows in (("truncated", answers.truncated), ("unfinished", answers.unfinished))
            if rows.any()
        }
        _warn(self.name, data, log, flagged)
        training = {
            key: list(value) if isinstance(value, tuple) else value for key, value in log.to_json().items()
        }
        return Predictions(uids, answers.texts, flagged=flagged, training=training)


def sources(rows: Rows, names: Mapping[str, DatabaseNames]) -> list[str]:
    """What a parser reads of every row."""
    if DATABASE not in rows.inputs:
        return questions(rows)
    pairs = zip(rows.inputs[DATABASE], questions(rows), strict=True)
    return [
        f"{database}: {question}".lower() + (names[database].serialised if database in names else "")
        for database, question in pairs
    ]


def _pairs(rows: Rows, names: Mapping[str, DatabaseNames]) -> Pairs:
    answers = [str(answer) for answer in rows.gold]
    is_sql = DATABASE in rows.inputs
    return Pairs(sources(rows, names), [normalised(answer) for answer in answers] if is_sql else answers)


def _training_rows(data: EvaluationData, share: float, seed: int) -> tuple[Rows, Rows]:
    """Train and validation rows, both in uid order: the file order decides nothing."""
    train = _by_uid(data.train)
    if data.load_validation is not None and len(validation := data.load_validation()):
        return train, _by_uid(validation)
    order = np.random.default_rng(seed).permutation(len(train))
    held = max(1, int(len(train) * share))
    return train.take(np.sort(order[held:])), train.take(np.sort(order[:held]))


def _by_uid(rows: Rows) -> Rows:
    return rows.take(np.argsort(np.array(rows.uids), kind="stable"))


def _warn(name: str, data: EvaluationData, log: TrainingLog, flagged: Mapping[str, frozenset[str]]) -> None:
    said = [f"{len(uids)} of {len(data.evaluation)} rows {reason}" for reason, uids in flagged.items()]
    if log.overlength_rows:
        said.append(f"{plural(log.overlength_rows, 'training row')} too long and left out")
    if said:
        warnings.warn(f"{name} on {data.config}: {', '.join(said)}", BenchwrightWarning, stacklevel=3)
