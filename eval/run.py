"""Running baselines on the configs of a release and storing what they score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from datasets import ClassLabel

from ..errors import ReleaseError, UsageError
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from ..tasks import Task
from .analyses import summary
from .baselines import Baseline, EvaluationData, Predictions, Rows, baselines
from .baselines.external import ExternalPredictions
from .metrics import MetricValue, metrics
from .results import (
    Result,
    library_versions,
    load_results,
    metric_json,
    read_result,
    result_file,
    settings_hash,
    stale_reason,
    task_hash,
    write_index,
    write_result,
)

if TYPE_CHECKING:
    from .models import CausalModel, SequenceClassifier

ZERO_SHOT = "lm_zero_shot"
CLASSIFIER = "classifier"


def evaluate(
    release: ReleaseFolder | str | Path,
    *,
    configs: Sequence[str] | None = None,
    baselines: Sequence[str | Baseline] | None = None,
    model: str | CausalModel | SequenceClassifier | None = None,
    model_revision: str | None = None,
    label_names: Sequence[str] | None = None,
    predictions: str | Path | None = None,
    predictions_name: str | None = None,
    split: str = "test",
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Stage = no_progress,
) -> list[Result]:
    """Run baselines on configs, store a result for each and bring `results/index.json` up to date.

    Without `configs`, every placed config that has `split`. Without `baselines`: those that need nothing
    but the release; or, where `model` is given, `lm_zero_shot` with it; or, where `predictions` is given,
    that file alone, which belongs to one config. `model` is a causal language model or, for the baseline
    `classifier`, a sequence classifier; `label_names` name the classifier's outputs where its configuration
    does not. `limit` evaluates that many rows, drawn by `seed`.
    A stored result that is not stale is not made again unless `force`.

    Returns the results in the order of configs and baselines; combinations that do not apply are left
    out (`why_not_applicable` says why). Raises UsageError for unknown names and for named baselines that
    apply to none of the configs, SourceError for predictions that cannot be used.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    if limit is not None and limit < 1:
        raise UsageError(f"limit is a number of rows from 1, got {limit}")
    names = _choose_configs(folder, configs, split)
    chosen = _choose_baselines(baselines, model is not None, predictions, predictions_name)
    if predictions is not None and len(names) != 1:
        raise UsageError(f"predictions belong to one config; choose one of {', '.join(names)}")
    loaded = _load_model(chosen, model, model_revision, label_names)
    results: list[Result] = []
    reasons: dict[str, list[str]] = {baseline.name: [] for baseline in chosen}
    try:
        for config in names:
            data = load_data(
                folder, config, split, _extra_columns(chosen), limit=limit, seed=seed, model=loaded
            )
            for baseline in chosen:
                reason = baseline.not_applicable(data)
                if reason is not None:
                    reasons[baseline.name].append(f"{config}: {reason}")
                    continue
                results.append(_result(folder, data, baseline, seed, limit, force, progress))
    finally:
        if (folder.path / "results").is_dir():
            refresh_index(folder)
    for name, why in reasons.items():
        if baselines is not None and len(why) == len(names):
            raise UsageError(f"baseline {name} is not applicable to {'; '.join(why)}")
    return results


def why_not_applicable(
    release: ReleaseFolder | str | Path, config: str, baseline: str | Baseline, *, split: str = "test"
) -> str | None:
    """Why a baseline cannot run on a config, or None if it can (with a model, where it needs one)."""
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    instance = _instance(baseline)
    return instance.not_applicable(load_data(folder, config, split, _extra_columns([instance])))


def refresh_index(release: ReleaseFolder) -> None:
    """Write `results/index.json`: every stored result, why it is stale if it is, and the analyses."""
    results = [(result, stale_reason(result, release)) for result in load_results(release)]
    write_index(release, results, summary(release, [result for result, stale in results if stale is None]))


def load_data(
    release: ReleaseFolder,
    config: str,
    split: str,
    extra: Sequence[str] = (),
    *,
    limit: int | None = None,
    seed: int = 0,
    model: CausalModel | SequenceClassifier | None = None,
) -> EvaluationData:
    """Read what baselines need of one config. Columns of `extra` that the config lacks are left out."""
    task = release.task(config)
    rows = _rows(release, config, split, task, extra)
    return EvaluationData(
        config=config,
        split=split,
        task=task,
        evaluation=rows.sample(limit, seed),
        split_uids=frozenset(rows.uids),
        load_train=(lambda: _rows(release, config, "train", task))
        if "train" in release.splits(config)
        else None,
        model=model,
    )


def judge(data: EvaluationData, predictions: Predictions, names: Sequence[str]) -> dict[str, MetricValue]:
    """Values of the named metrics, rows in the order of the predictions. Pure.

    Raises ValueError for a prediction of a row that was not evaluated.
    """
    gold_of = dict(zip(data.evaluation.uids, data.evaluation.gold, strict=True))
    unknown = [uid for uid in predictions.uids if uid not in gold_of]
    if unknown or len(set(predictions.uids)) != len(predictions.uids):
        raise ValueError(f"predictions need evaluated rows, each once; unknown: {unknown[:3]}")
    gold = np.array([gold_of[uid] for uid in predictions.uids], dtype=object)
    return {name: metrics.get(name)(gold, predictions.array()) for name in names}


def _result(
    release: ReleaseFolder,
    data: EvaluationData,
    baseline: Baseline,
    seed: int,
    limit: int | None,
    force: bool,
    progress: Stage,
) -> Result:
    settings = baseline.settings(data)
    model = data.model.identity()["model"] if baseline.needs_model and data.model is not None else None
    hashed = settings_hash(baseline.name, settings, seed, limit, data.split)
    stored = read_result(release, result_file(data.config, baseline.name, model, hashed))
    again = force or isinstance(baseline, ExternalPredictions)
    if stored is not None and not again and stale_reason(stored, release) is None:
        return stored
    with progress(f"{data.config} {baseline.name}", len(data.evaluation), "rows") as report:
        predictions = baseline.run(data, seed, report)
    values = judge(data, predictions, baseline.metrics or data.task.metrics)
    used = [*(["train"] if baseline.needs_train else []), data.split]
    entries = release.config(data.config)["splits"]
    result = Result(
        config=data.config,
        task=data.task.name,
        task_hash=task_hash(data.task),
        baseline=baseline.name,
        model=model,
        settings=settings,
        seed=seed,
        limit=limit,
        evaluated_on=data.split,
        splits={name: entries[name]["content_hash"] for name in used},
        metrics={name: metric_json(name, value) for name, value in values.items()},
        predictions_hash=predictions.hash,
        left_out=predictions.left_out,
        flagged={reason: len(uids) for reason, uids in predictions.flagged.items()},
        versions=library_versions(),
        environment=data.model.environment() if baseline.needs_model and data.model is not None else {},
    )
    write_result(release, result, predictions, values)
    return result


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


def _choose_configs(release: ReleaseFolder, configs: Sequence[str] | None, split: str) -> list[str]:
    placed = release.placed_configs
    names = list(placed) if configs is None else list(dict.fromkeys(configs))
    for name in names:
        release.config(name)
        if name not in placed:
            raise UsageError(f"config {name!r} holds no split rows; choose from {', '.join(placed)}")
        if configs is not None and split not in release.splits(name):
            raise UsageError(
                f"config {name!r} has no split {split!r}; it has {', '.join(release.splits(name))}"
            )
    if not any(release.task(name).target for name in names):
        raise UsageError(f"{release.path} has no target column to predict; there is nothing to evaluate")
    names = [name for name in names if split in release.splits(name)]
    if not names:
        raise UsageError(f"no config of {release.path} has a split {split!r}")
    return names


def _choose_baselines(
    names: Sequence[str | Baseline] | None, model: bool, predictions: str | Path | None, label: str | None
) -> list[Baseline]:
    if names is not None:
        chosen = [_instance(name) for name in names]
    elif model:
        chosen = [_instance(ZERO_SHOT)]
    elif predictions is None:
        chosen = [_instance(name) for name in baselines if baselines.get(name).default]
    else:
        chosen = []
    if predictions is not None:
        chosen.append(ExternalPredictions(predictions, label))
    needing = [baseline.name for baseline in chosen if baseline.needs_model]
    if needing and not model:
        raise UsageError(f"baseline {needing[0]} needs a model; name one with --model (Python: model=)")
    if model and not needing:
        raise UsageError(
            f"no chosen baseline uses a model; add {ZERO_SHOT} or {CLASSIFIER}, or leave the model out"
        )
    return chosen


def _instance(baseline: str | Baseline) -> Baseline:
    return baselines.get(baseline)() if isinstance(baseline, str) else baseline


def _extra_columns(chosen: Sequence[Baseline]) -> list[str]:
    return list(dict.fromkeys(name for baseline in chosen for name in baseline.needs_columns))


def _load_model(
    chosen: Sequence[Baseline],
    model: str | CausalModel | SequenceClassifier | None,
    revision: str | None,
    label_names: Sequence[str] | None,
) -> CausalModel | SequenceClassifier | None:
    """The model that the chosen baselines run, made by the loader of their kind; None if none needs one."""
    needing = {baseline.needs_model: baseline.name for baseline in chosen if baseline.needs_model}
    if len(needing) > 1:
        raise UsageError(
            f"{' and '.join(needing.values())} need models of different kinds; run them one by one"
        )
    if label_names is not None and ("classifier" not in needing or not isinstance(model, str)):
        raise UsageError(f"label_names are for baseline {CLASSIFIER} with a model that is loaded by name")
    if not isinstance(model, str):
        return model
    from .models import load_causal, load_classifier

    if "classifier" in needing:
        return load_classifier(model, revision=revision, label_names=label_names)
    return load_causal(model, revision=revision)
