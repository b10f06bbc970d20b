"""Running baselines on the configs of a release and storing what they score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from .analyses import summary, with_known
from .baselines import Baseline, EvaluationData, Predictions, baselines
from .baselines.external import ExternalPredictions
from .data import load_data
from .judging import Judgement, Resources, judge, table_hash, uses_databases
from .metrics import metrics
from .results import (
    Result,
    library_versions,
    load_results,
    metric_json,
    read_analyses,
    read_result,
    result_file,
    settings_hash,
    stale_reason,
    stored_predictions,
    task_hash,
    write_index,
    write_result,
)

if TYPE_CHECKING:
    from .models import LoadedModel

ZERO_SHOT = "lm_zero_shot"
CLASSIFIER = "classifier"
PARSERS = ("causal_parser", "seq2seq_parser")


def evaluate(
    release: ReleaseFolder | str | Path,
    *,
    configs: Sequence[str] | None = None,
    baselines: Sequence[str | Baseline] | None = None,
    model: str | LoadedModel | None = None,
    model_revision: str | None = None,
    label_names: Sequence[str] | None = None,
    recipe: Mapping[str, Any] | None = None,
    predictions: str | Path | None = None,
    predictions_name: str | None = None,
    databases: str | Path | None = None,
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
    `classifier`, a sequence classifier, for `seq2seq_parser` a sequence-to-sequence model; `label_names`
    name the classifier's outputs where its configuration does not. `recipe` changes fields of the
    `ParserRecipe` with which parsers are fine-tuned, such as `max_steps`. `databases` is a folder of SQLite
    files (`<db_id>/<db_id>.sqlite` or `<db_id>.sqlite`), with which text-to-SQL is judged by execution too.
    `limit` evaluates that many rows, drawn by `seed`.
    A stored result that is not stale is not made again unless `force`, or its answers were withheld; where a
    metric can be added to it, its answers are judged again.

    Returns the results in the order of configs and baselines; combinations that do not apply are left
    out (`why_not_applicable` says why). Raises UsageError for unknown names and for named baselines that
    apply to none of the configs, SourceError for predictions that cannot be used.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    resources = Resources(folder, Path(databases) if databases is not None else None)
    if limit is not None and limit < 1:
        raise UsageError(f"limit is a number of rows from 1, got {limit}")
    names = _choose_configs(folder, configs, split)
    if databases is not None and not any(uses_databases(folder.task(name)) for name in names):
        raise UsageError("databases are for text-to-SQL; no chosen config has queries that run on one")
    chosen = _choose_baselines(baselines, model is not None, predictions, predictions_name)
    if recipe:
        chosen = _with_recipe(chosen, recipe)
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
                run = _Run(data, baseline, seed, limit, resources)
                results.append(_result(folder, run, force, progress))
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
    """Write `results/index.json`: every stored result, why it is stale if it is, and the analyses.

    Analyses that read rows or answers which were taken out stay as the index has them.
    """
    results = [(result, stale_reason(result, release)) for result in load_results(release)]
    current = [result for result, stale in results if stale is None]
    found, known = summary(release, current), read_analyses(release)
    write_index(release, results, with_known(found, known, release, current))


@dataclass(frozen=True)
class _Run:
    """One baseline on one config, and what it is judged with."""

    data: EvaluationData
    baseline: Baseline
    seed: int
    limit: int | None
    resources: Resources

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self.baseline.settings(self.data)

    @cached_property
    def metric_names(self) -> list[str]:
        return self.resources.metric_names(self.baseline.metrics or self.data.task.metrics, self.data.task)

    @cached_property
    def model(self) -> str | None:
        return self.loaded.identity()["model"] if self.loaded is not None else None

    @property
    def loaded(self) -> LoadedModel | None:
        return self.data.model if self.baseline.needs_model else None

    @property
    def file(self) -> str:
        """Where the result is stored."""
        baseline, data = self.baseline, self.data
        hashed = settings_hash(baseline.name, self.settings, self.seed, self.limit, data.split)
        return result_file(data.config, baseline.name, self.model, hashed)

    def can_add(self, stored: Result) -> bool:
        """Whether a stored result lacks a metric that can be computed now, or had other databases."""
        context = self.resources.context(self.data, self.metric_names)
        lacking = [name for name in self.metric_names if name not in {*stored.metrics, *stored.unavailable}]
        databases = self.resources.databases_hash(self.data, self.metric_names)
        return any(metrics.get(name).not_applicable(context) is None for name in lacking) or (
            databases is not None and databases != stored.databases
        )


def _result(release: ReleaseFolder, run: _Run, force: bool, progress: Stage) -> Result:
    data, baseline = run.data, run.baseline
    stored = read_result(release, run.file)
    again = force or isinstance(baseline, ExternalPredictions) or (stored is not None and stored.withheld)
    if stored is not None and not again and stale_reason(stored, release) is None:
        if not run.can_add(stored):
            return stored
        predictions = stored_predictions(release, stored)
    else:
        with progress(f"{data.config} {baseline.name}", len(data.evaluation), "rows") as report:
            predictions = baseline.run(data, run.seed, report)
    judgement = judge(data, predictions, run.metric_names, run.resources)
    result = _to_store(release, run, predictions, judgement)
    write_result(release, result, predictions, judgement.values)
    return result


def _to_store(release: ReleaseFolder, run: _Run, predictions: Predictions, judgement: Judgement) -> Result:
    data, baseline = run.data, run.baseline
    read = [
        *(["train"] if baseline.needs_train else []),
        *(["validation"] if baseline.reads_validation else []),
    ]
    used = [*(name for name in read if name in release.splits(data.config)), data.split]
    entries = release.config(data.config)["splits"]
    found = {name: metric_json(name, value) for name, value in judgement.values.items()}
    flagged = {reason: len(uids) for reason, uids in predictions.flagged.items()}
    for summary_of_metric in found.values():
        flagged |= summary_of_metric.get("flagged", {})
    return Result(
        config=data.config,
        task=data.task.name,
        task_hash=task_hash(data.task),
        baseline=baseline.name,
        model=run.model,
        settings=run.settings,
        seed=run.seed,
        limit=run.limit,
        evaluated_on=data.split,
        splits={name: entries[name]["content_hash"] for name in used},
        metrics=found,
        predictions_hash=predictions.hash,
        left_out=predictions.left_out,
        flagged=flagged,
        training=predictions.training,
        unavailable=judgement.unavailable,
        tables={name: table_hash(release, name) for name in baseline.reads_tables}
        | run.resources.table_hashes(list(judgement.values)),
        databases=run.resources.databases_hash(data, run.metric_names),
        versions=library_versions(),
        environment=run.loaded.environment() if run.loaded is not None else {},
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
        using = ", ".join((ZERO_SHOT, CLASSIFIER, *PARSERS))
        raise UsageError(f"no chosen baseline uses a model; add one of {using}, or leave the model out")
    return chosen


def _with_recipe(chosen: Sequence[Baseline], changes: Mapping[str, Any]) -> list[Baseline]:
    """The baselines, those that are trained by a recipe with the changed one."""
    from .baselines.parser import Parser

    if not any(isinstance(baseline, Parser) for baseline in chosen):
        raise UsageError(
            f"a recipe is for {' or '.join(PARSERS)}; name one as baseline, or leave the recipe out"
        )
    return [
        replace(baseline, recipe=baseline.recipe.changed(changes))
        if isinstance(baseline, Parser)
        else baseline
        for baseline in chosen
    ]


def _instance(baseline: str | Baseline) -> Baseline:
    return baselines.get(baseline)() if isinstance(baseline, str) else baseline


def _extra_columns(chosen: Sequence[Baseline]) -> list[str]:
    return list(dict.fromkeys(name for baseline in chosen for name in baseline.needs_columns))


def _load_model(
    chosen: Sequence[Baseline],
    model: str | LoadedModel | None,
    revision: str | None,
    label_names: Sequence[str] | None,
) -> LoadedModel | None:
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
    from .models import load_causal, load_classifier, load_sequence_to_sequence

    if "classifier" in needing:
        return load_classifier(model, revision=revision, label_names=label_names)
    if "seq2seq" in needing:
        return load_sequence_to_sequence(model, revision=revision)
    return load_causal(model, revision=revision)
