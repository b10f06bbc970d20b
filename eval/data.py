"""Reading the rows of a config as baselines and metrics see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from datasets import ClassLabel

from ..errors import ReleaseError
from ..release import ReleaseFolder
from ..tasks import Task
from .baselines import EvaluationData, Rows
from .metrics import metrics

if TYPE_CHECKING:
    from .models import LoadedModel


def load_data(
    release: ReleaseFolder,
    config: str,
    split: str,
    extra: Sequence[str] = (),
    *,
    limit: int | None = None,
    seed: int = 0,
    model: LoadedModel | None = None,
) -> EvaluationData:
    """Read what baselines need of one config. Columns of `extra` that the config lacks are left out."""
    task = release.task(config)
    judged = [column for name in task.metrics for column in metrics.get(name).needs_columns]
    rows = _rows(
        release, config, split, task, [*extra, *(name for name in judged if name not in task.inputs)]
    )
    return EvaluationData(
        config=config,
        split=split,
        task=task,
        evaluation=rows.sample(limit, seed),
        split_uids=frozenset(rows.uids),
        load_train=_loader(release, config, "train", task),
        load_validation=_loader(release, config, "validation", task),
        side_table=lambda name: side_table(release, name),
        model=model,
    )


def side_table(release: ReleaseFolder, name: str) -> pa.Table | None:
    """All rows of a side table of the release; None if it has none of that name."""
    if release.configs.get(name, {}).get("kind") != "table":
        return None
    return pa.concat_tables(release.table(name, split) for split in release.splits(name))


def _loader(release: ReleaseFolder, config: str, split: str, task: Task) -> Callable[[], Rows] | None:
    return (lambda: _rows(release, config, split, task)) if split in release.splits(config) else None


def _rows(release: ReleaseFolder, config: str, split: str, task: Task, extra: Sequence[str] = ()) -> Rows:
    features = release.features(config)
    missing = [name for name in ("uid", *task.inputs, task.target) if name not in features]
    if missing:
        raise ReleaseError(f"config {config!r} has no column {missing[0]!r} that its task needs")
    present = [name for name in extra if name in features]
    target = features[task.target]
    return Rows.from_table(
        release.table(config, split, list(dict.fromkeys(["uid", *task.inputs, task.target, *present]))),
        task,
        class_names=list(target.names) if isinstance(target, ClassLabel) else None,
        extra=present,
        place=f"{config}/{split}",
    )
