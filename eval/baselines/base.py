"""What a baseline is given, what it returns and how it says that it does not apply."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from ...errors import SourceError
from ...hashing import canonical_json, sha256_text
from ...progress import Progress
from ...registry import Registry
from ...tasks import Task
from ._trained import TrainedModels

if TYPE_CHECKING:
    from ..models import LoadedModel

ModelKind = Literal["causal_lm", "masked_lm", "classifier", "seq2seq", "trainable_classifier"]
"""What a baseline's model is: `load_causal`, `load_masked`, `load_classifier`, `load_sequence_to_sequence`
or `load_trainable_classifier` makes it."""

baselines: Registry[type[Baseline]] = Registry("baseline")
baselines.declare("majority", "benchwright.eval.baselines.majority:Majority")
baselines.declare("linear_partial_input", "benchwright.eval.baselines.linear:LinearPartialInput")
baselines.declare("linear_full_input", "benchwright.eval.baselines.linear:LinearFullInput")
baselines.declare("human", "benchwright.eval.baselines.human:Human")
baselines.declare("lm_zero_shot", "benchwright.eval.baselines.lm_zero_shot:ZeroShotLanguageModel")
baselines.declare("classifier", "benchwright.eval.baselines.classifier:Classifier")
baselines.declare("seq2seq_parser", "benchwright.eval.baselines.seq2seq_parser:SequenceToSequenceParser")
baselines.declare("causal_parser", "benchwright.eval.baselines.causal_parser:CausalParser")
baselines.declare("fine_tuned_full_input", "benchwright.eval.baselines.fine_tuned:FineTunedFullInput")
baselines.declare("fine_tuned_partial_input", "benchwright.eval.baselines.fine_tuned:FineTunedPartialInput")
baselines.declare(
    "seq2seq_zero_shot", "benchwright.eval.baselines.seq2seq_zero_shot:ZeroShotSequenceToSequence"
)
baselines.declare("random_option", "benchwright.eval.baselines.random_option:RandomOption")
baselines.declare("pronoun_lm", "benchwright.eval.baselines.pronoun_lm:PronounLanguageModel")
baselines.declare("pronoun_lm_partial", "benchwright.eval.baselines.pronoun_lm:PronounLanguageModelPartial")
baselines.declare(
    "pronoun_masked_lm", "benchwright.eval.baselines.pronoun_masked_lm:PronounMaskedLanguageModel"
)
baselines.declare("fine_tuned_pronoun", "benchwright.eval.baselines.pronoun_fine_tuned:FineTunedPronoun")
baselines.declare("nearest_question", "benchwright.eval.baselines.nearest_question:NearestQuestion")


@dataclass(frozen=True)
class Rows:
    """The rows of one split, column-wise and in file order.

    `inputs` maps the task's input columns to their values, which are texts but for pronoun resolution.
    `gold` has shape (n,), object: label names, or text where the task has no labels. `extra` holds further
    columns that a baseline asked for.
    """

    uids: list[str]
    inputs: dict[str, list[Any]]
    gold: np.ndarray
    extra: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.uids)

    @classmethod
    def from_table(
        cls, table: pa.Table, task: Task, *, class_names: list[str] | None, extra: list[str], place: str
    ) -> Rows:
        """Rows of a table with uid, the task's columns and `extra`.

        `class_names` are the label names of an integer target column; None for boolean and text targets.
        Raises SourceError, with `place` and row, for a null and for a target that is no label of the task.
        """
        for name in ("uid", *task.inputs):
            if table.column(name).null_count:
                row = table.column(name).is_null().to_pylist().index(True)
                raise SourceError("no text", path=place, row=row, field=name, fix="rebuild the release")
        return cls(
            uids=table.column("uid").to_pylist(),
            inputs={name: table.column(name).to_pylist() for name in task.inputs},
            gold=_gold(table, task, class_names, place),
            extra={name: table.column(name).to_pylist() for name in extra},
        )

    def take(self, positions: np.ndarray) -> Rows:
        """The rows at `positions`, in that order."""
        chosen = positions.tolist()
        return Rows(
            uids=[self.uids[i] for i in chosen],
            inputs={name: [column[i] for i in chosen] for name, column in self.inputs.items()},
            gold=self.gold[positions],
            extra={name: [column[i] for i in chosen] for name, column in self.extra.items()},
        )

    def sample(self, limit: int | None, seed: int) -> Rows:
        """At most `limit` rows, in file order, drawn by a hash of seed and uid: any row order, same rows."""
        if limit is None or limit >= len(self):
            return self
        return self.take(np.sort(self.shuffled(seed)[:limit]))

    def shuffled(self, seed: int) -> np.ndarray:
        """Row numbers (int64) in an order that seed and uids alone decide, whatever the order of rows."""
        keys = [hashlib.blake2b(f"{seed}:{uid}".encode(), digest_size=16).digest() for uid in self.uids]
        return np.array(sorted(range(len(self)), key=keys.__getitem__), dtype=np.int64)


def _gold(table: pa.Table, task: Task, class_names: list[str] | None, place: str) -> np.ndarray:
    values = table.column(task.target).to_pylist()
    if class_names is not None:
        names: dict[Any, str] = dict(enumerate(class_names))
    elif task.labels is not None and pa.types.is_boolean(table.column(task.target).type):
        names = dict(zip((False, True), task.labels, strict=True))
    elif task.labels is not None:
        names = {label: label for label in task.labels}
    else:
        names = {}
    gold = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        name = names.get(value) if task.labels is not None else value
        if name is None or (task.labels is not None and name not in task.labels):
            reason = "no label of the task" if task.labels is not None else "no text to compare with"
            raise SourceError(
                reason, path=place, row=row, field=task.target, value=value, fix="rebuild the release"
            )
        gold[row] = name
    return gold


def no_side_table(name: str) -> pa.Table | None:
    """What a release without side tables has under `name`."""
    return None


@dataclass
class EvaluationData:
    """One config as baselines see it. Train, validation and side tables are read only if they are asked for.

    `evaluation` holds the rows to answer, `split_uids` the uids of the whole split that they are from.
    `side_table` gives the rows of a table of the release, such as `schemas`; None if it has none. `trained`
    keeps models that baselines train, for other configs with the same train rows; in the folder `checkpoints`
    a training that is interrupted leaves what it goes on from.
    """

    config: str
    split: str
    task: Task
    evaluation: Rows
    split_uids: frozenset[str]
    load_train: Callable[[], Rows] | None = None
    model: LoadedModel | None = None
    load_validation: Callable[[], Rows] | None = None
    side_table: Callable[[str], pa.Table | None] = no_side_table
    trained: TrainedModels = field(default_factory=TrainedModels)
    checkpoints: Path | None = None

    @cached_property
    def train(self) -> Rows:
        if self.load_train is None:
            raise ValueError(f"config {self.config!r} has no train split")
        return self.load_train()


@dataclass(frozen=True)
class Predictions:
    """Answers by uid: one label name or text per row, or the same number of answers for every row.

    `left_out` counts, by reason, rows of the evaluated split that got no answer and are in no denominator.
    `flagged` names, by reason, rows that were answered and count, but not as they stand (`truncated`).
    `training` says how the training went, for baselines that train a model; JSON-able.
    """

    uids: list[str]
    values: list[str] | list[tuple[str, ...]]
    left_out: dict[str, int] = field(default_factory=dict)
    flagged: dict[str, frozenset[str]] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """`sha256:<hex>` over uids and answers, whatever the order of rows."""
        lines = sorted(
            canonical_json([uid, value]) for uid, value in zip(self.uids, self.values, strict=True)
        )
        return sha256_text("".join(f"{line}\n" for line in lines))

    def array(self) -> np.ndarray:
        """Object array of shape (n,), or (n, k) for k answers per row."""
        return np.array(self.values, dtype=object)


class Baseline(ABC):
    """A way to answer the rows of a config.

    Subclasses are frozen dataclasses: their fields are settings, which stand in every result. `version`
    is raised when the same settings would give other predictions. A baseline whose answers cannot be
    judged by all of the task's metrics names those that can in `metrics`.
    """

    name: str
    version: ClassVar[int] = 1
    tasks: ClassVar[tuple[str, ...]] = ()
    """Names of tasks; empty for every task."""
    needs_train: ClassVar[bool] = False
    reads_validation: ClassVar[bool] = False
    """It chooses a checkpoint on the validation split, where there is one."""
    reads_tables: ClassVar[tuple[str, ...]] = ()
    """Side tables that its answers depend on, where the release has them."""
    needs_model: ClassVar[ModelKind | None] = None
    """The kind of model that it runs, if any; `--model` names it."""
    needs_columns: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[tuple[str, ...] | None] = None
    default: ClassVar[bool] = True
    """Run when no baseline is named: cheap, and needs nothing but the release."""

    def not_applicable(self, data: EvaluationData) -> str | None:
        """Why this baseline cannot run on the config, or None if it can (given a model, if it needs one)."""
        if self.tasks and data.task.name not in self.tasks:
            *others, last = self.tasks
            known = f"{', '.join(others)} and {last}" if others else last
            return f"it is for {known}, not for {data.task.name}"
        missing = [name for name in self.needs_columns if name not in data.evaluation.extra]
        if missing:
            return f"the config has no column {missing[0]!r}"
        if self.needs_train and data.load_train is None:
            return "the config has no train split"
        return self._not_applicable(data)

    def _not_applicable(self, data: EvaluationData) -> str | None:
        return None

    def settings(self, data: EvaluationData) -> dict[str, Any]:
        """Everything that the predictions depend on, besides rows and seed; JSON-able."""
        fields: dict[str, Any] = asdict(self) if is_dataclass(self) else {}
        return {"version": self.version, **fields}

    @abstractmethod
    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Answer the evaluated rows. `progress` counts them."""
