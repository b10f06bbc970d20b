"""Judging predictions: metrics with what they need of the release and of databases."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from ..tasks import Task
from .baselines import EvaluationData, Predictions
from .metrics import Context, MetricValue, metrics
from .metrics.spider.execution import database_file

WITH_DATABASES = "execution_accuracy"
"""The metric that is added where databases are given and the config says which one a row belongs to."""


@dataclass(frozen=True)
class Judgement:
    """Values by metric in the order asked for, and why the others could not be computed."""

    values: dict[str, MetricValue]
    unavailable: dict[str, str] = field(default_factory=dict)


class Resources:
    """What metrics of one release may read besides rows: its side tables, and a folder of databases.

    Raises UsageError for a folder of databases that does not exist.
    """

    def __init__(self, release: ReleaseFolder | None = None, databases: Path | None = None) -> None:
        if databases is not None and not databases.is_dir():
            raise UsageError(f"no folder of databases at {str(databases)!r}")
        self._release, self.databases = release, databases
        self._tables: dict[str, pa.Table] = {}
        self._file_hashes: dict[str, str | None] = {}

    def metric_names(self, names: Sequence[str], task: Task) -> list[str]:
        """The metrics to compute: those named, and the one on databases if there are any for the task."""
        added = [WITH_DATABASES] if self.databases is not None and uses_databases(task) else []
        return list(dict.fromkeys([*names, *added]))

    def context(
        self, data: EvaluationData, names: Sequence[str], uids: Sequence[str] | None = None
    ) -> Context:
        """What there is for the named metrics: of all evaluated rows, or of those with `uids`, in order."""
        columns = {**data.evaluation.inputs, **data.evaluation.extra}
        if uids is not None:
            place = {uid: row for row, uid in enumerate(data.evaluation.uids)}
            columns = {name: [values[place[uid]] for uid in uids] for name, values in columns.items()}
        tables = {name: self._table(name) for name in tables_of(names) if self._has_table(name)}
        return Context(columns, tables, self.databases)

    def table_hashes(self, names: Sequence[str]) -> dict[str, str | None]:
        """Content hashes of the side tables that the named metrics read."""
        release = self._release
        return {table: table_hash(release, table) for table in tables_of(names)} if release else {}

    def databases_hash(self, data: EvaluationData, names: Sequence[str]) -> str | None:
        """`sha256:<hex>` over the databases of the evaluated rows; None if no named metric reads them."""
        if self.databases is None or WITH_DATABASES not in names:
            return None
        identifiers = sorted(set(data.evaluation.inputs["db_id"]))
        return sha256_text(canonical_json([[name, self._file_hash(name)] for name in identifiers]))

    def _has_table(self, name: str) -> bool:
        return self._release is not None and self._release.configs.get(name, {}).get("kind") == "table"

    def _table(self, name: str) -> pa.Table:
        if name not in self._tables:
            assert self._release is not None
            splits = self._release.splits(name)
            self._tables[name] = pa.concat_tables(self._release.table(name, split) for split in splits)
        return self._tables[name]

    def _file_hash(self, db_id: str) -> str | None:
        if db_id not in self._file_hashes:
            assert self.databases is not None
            file = database_file(self.databases, db_id)
            self._file_hashes[db_id] = _sha256(file) if file is not None else None
        return self._file_hashes[db_id]


NO_RESOURCES = Resources()


def uses_databases(task: Task) -> bool:
    """Whether rows of a task name the database that their query runs on."""
    return all(name in task.inputs for name in metrics.get(WITH_DATABASES).needs_columns)


def tables_of(names: Sequence[str]) -> list[str]:
    """Side tables that the named metrics need."""
    return list(dict.fromkeys(table for name in names for table in metrics.get(name).needs_tables))


def table_hash(release: ReleaseFolder, table: str) -> str | None:
    """Content hash of a side table; None if the release has none of that name."""
    splits = release.configs.get(table, {}).get("splits", {})
    hashes = [release.rows_hash(table, split) for split in splits]
    return sha256_text(canonical_json(hashes)) if hashes else None


def judge(
    data: EvaluationData,
    predictions: Predictions,
    names: Sequence[str],
    resources: Resources = NO_RESOURCES,
) -> Judgement:
    """Values of the named metrics, rows in the order of the predictions.

    A metric that lacks what it needs, or that can judge none of the rows, is left out with the reason.
    Raises ValueError for a prediction of a row that was not evaluated, SourceError for a file that is no
    database, UsageError if no metric is left.
    """
    gold_of = dict(zip(data.evaluation.uids, data.evaluation.gold, strict=True))
    unknown = [uid for uid in predictions.uids if uid not in gold_of]
    if unknown or len(set(predictions.uids)) != len(predictions.uids):
        raise ValueError(f"predictions need evaluated rows, each once; unknown: {unknown[:3]}")
    gold = np.array([gold_of[uid] for uid in predictions.uids], dtype=object)
    answers, context = predictions.array(), resources.context(data, names, predictions.uids)
    values: dict[str, MetricValue] = {}
    unavailable: dict[str, str] = {}
    for name in names:
        metric = metrics.get(name)
        reason = metric.not_applicable(context)
        if reason is None:
            value = metric(gold, answers, context)
            if value.n:
                values[name] = value
                continue
            reason = "no row could be judged: " + ", ".join(f"{n} {why}" for why, n in value.left_out.items())
        unavailable[name] = reason
    if not values:
        raise UsageError(f"{data.config}: " + "; ".join(f"{n}: {why}" for n, why in unavailable.items()))
    return Judgement(values, unavailable)


def _sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return f"sha256:{hashlib.file_digest(handle, 'sha256').hexdigest()}"
