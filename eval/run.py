"""Running baselines on the configs of a release and storing what they score."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cache import cache_folder
from ..errors import BenchwrightWarning, UsageError
from ..hashing import canonical_json, sha256_text
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from .analyses import summary, with_known
from .baselines import Baseline, EvaluationData, Predictions
from .baselines import baselines as registry
from .baselines._trained import TrainedModels
from .baselines.external import ExternalPredictions
from .baselines.presets import preset as named_preset
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

ZERO_SHOT = ("lm_zero_shot", "pronoun_lm", "pronoun_lm_partial")
"""What a causal language model is asked by where no baseline is named."""
CLASSIFIER = "classifier"
PARSERS = ("causal_parser", "seq2seq_parser")
FINE_TUNED = ("fine_tuned_full_input", "fine_tuned_partial_input", "fine_tuned_pronoun")
EVALUATED = ("test", "validation")
"""The splits that a config is evaluated on, the first that it has."""


def evaluate(
    release: ReleaseFolder | str | Path,
    *,
    configs: Sequence[str] | None = None,
    baselines: Sequence[str | Baseline] | None = None,
    model: str | LoadedModel | None = None,
    model_revision: str | None = None,
    label_names: Sequence[str] | None = None,
    recipe: Mapping[str, Any] | None = None,
    preset: str | None = None,
    rows_per_label: Sequence[int] | None = None,
    repeats: int = 1,
    predictions: str | Path | None = None,
    predictions_name: str | None = None,
    databases: str | Path | None = None,
    split: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    cache: str | Path | None = None,
    progress: Stage = no_progress,
) -> list[Result]:
    """Run baselines on configs, store a result for each and bring `results/index.json` up to date.

    Without `split`, a config is evaluated on its test split or, where it has none, on its validation split;
    without `configs`, every placed config that has such a split. Without `baselines`: those that need nothing
    but the release; or, where `model` is given, those of `ZERO_SHOT` that apply, with it; or, where
    `predictions` is given, that file alone, which belongs to one config. `model` is a causal language model
    or, for the baseline `classifier`, a sequence classifier, for those named `seq2seq_...` a
    sequence-to-sequence model, for `pronoun_masked_lm` a masked language model, for those named
    `fine_tuned_...` any model that can be trained as a classifier; `label_names` name the outputs of
    `classifier` where its configuration does not. `recipe` changes fields of the recipe with which parsers
    (`ParserRecipe`) or classifiers (`ClassifierRecipe`) are fine-tuned, such as `max_steps`. `rows_per_label`
    trains classifiers on that many rows of every label, once for each number given (an inoculation curve).
    `repeats` runs baselines that train a model with that many seeds, `seed` and those after it. `preset`
    names published settings (`baselines.presets`) for `baselines`, `model`, `recipe` and `rows_per_label`,
    which can be changed by giving these.
    `databases` is a folder of SQLite files (`<db_id>/<db_id>.sqlite` or `<db_id>.sqlite`), with which
    text-to-SQL is judged by execution too. `limit` evaluates that many rows, drawn by `seed`.
    A stored result that is not stale is not made again unless `force`, or its answers were withheld; where a
    metric can be added to it, its answers are judged again. A training that is interrupted leaves a
    checkpoint in `cache` (else BENCHWRIGHT_CACHE, or ~/.cache/benchwright), where the same call goes on.

    Returns the results in the order of configs and baselines; combinations that do not apply are left
    out (`why_not_applicable` says why). Raises UsageError for unknown names and for named baselines that
    apply to none of the configs, SourceError for predictions that cannot be used.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    resources = Resources(folder, Path(databases) if databases is not None else None)
    if limit is not None and limit < 1:
        raise UsageError(f"limit is a number of rows from 1, got {limit}")
    if repeats < 1:
        raise UsageError(f"repeats is a number of seeds from 1, got {repeats}")
    splits = _choose_configs(folder, configs, split)
    names = list(splits)
    if preset is not None:
        published = named_preset(preset)
        baselines = baselines or [published.baseline]
        model = model or published.model
        recipe = {**published.recipe, **(recipe or {})}
        rows_per_label = rows_per_label or published.rows_per_label
    if databases is not None and not any(uses_databases(folder.task(name)) for name in names):
        raise UsageError("databases are for text-to-SQL; no chosen config has queries that run on one")
    chosen = _choose_baselines(baselines, model is not None, predictions, predictions_name)
    if recipe:
        chosen = _with_recipe(chosen, recipe)
    if rows_per_label is not None:
        chosen = _per_label(chosen, rows_per_label)
    if predictions is not None and len(names) != 1:
        raise UsageError(f"predictions belong to one config; choose one of {', '.join(names)}")
    loaded = _load_model(chosen, model, model_revision, label_names)
    results: list[Result] = []
    reasons: list[dict[str, str]] = [{} for _ in chosen]
    trained = TrainedModels()

    def read(config: str, seed: int) -> EvaluationData:
        data = load_data(
            folder, config, splits[config], _extra_columns(chosen), limit=limit, seed=seed, model=loaded
        )
        data.trained = trained
        return data

    try:
        for config in splits:
            data = read(config, seed)
            for baseline, why in zip(chosen, reasons, strict=True):
                reason = baseline.not_applicable(data)
                if reason is not None:
                    why[config] = reason
                    continue
                trains = baseline.needs_train and baseline.needs_model is not None
                for number in range(seed, seed + (repeats if trains else 1)):
                    # The seed draws the rows of a limit, too.
                    drawn = data if number == seed or limit is None else read(config, number)
                    run = _Run(drawn, baseline, number, limit, resources)
                    drawn.checkpoints = _checkpoints(folder, run, cache) if trains else None
                    results.append(_result(folder, run, force, progress))
    finally:
        if (folder.path / "results").is_dir():
            refresh_index(folder)
    if baselines is not None:
        _tell_not_applicable(chosen, reasons, names)
    return results


def _tell_not_applicable(
    chosen: Sequence[Baseline], reasons: Sequence[Mapping[str, str]], names: Sequence[str]
) -> None:
    """Raise UsageError for a baseline that applies to none of the configs; warn of gaps in a curve."""
    from .baselines.fine_tuned import FineTuned

    for baseline, why in zip(chosen, reasons, strict=True):
        told = "; ".join(f"{config}: {reason}" for config, reason in why.items())
        if len(why) == len(names):
            raise UsageError(f"baseline {baseline.name} is not applicable to {told}")
        if why and isinstance(baseline, FineTuned) and baseline.rows_per_label is not None:
            warnings.warn(f"{baseline.name} was left out of {told}", BenchwrightWarning, stacklevel=3)


def why_not_applicable(
    release: ReleaseFolder | str | Path, config: str, baseline: str | Baseline, *, split: str | None = None
) -> str | None:
    """Why a baseline cannot run on a config, or None if it can (with a model, where it needs one).

    `split` as in `evaluate`.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    instance = _instance(baseline)
    evaluated = _choose_configs(folder, [config], split)[config]
    return instance.not_applicable(load_data(folder, config, evaluated, _extra_columns([instance])))


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


def _checkpoints(release: ReleaseFolder, run: _Run, cache: str | Path | None) -> Path:
    """Where a training in this run leaves its checkpoints, wherever the release stands."""
    splits = release.config(run.data.config)["splits"]
    rows = {name: entry["content_hash"] for name, entry in splits.items()}
    return cache_folder(cache) / "training" / sha256_text(canonical_json([run.file, rows])).split(":")[-1]


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
    if data.checkpoints is not None:
        shutil.rmtree(data.checkpoints, ignore_errors=True)
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


def _choose_configs(
    release: ReleaseFolder, configs: Sequence[str] | None, split: str | None
) -> dict[str, str]:
    """The configs to evaluate, each with the split of it."""
    placed = release.placed_configs
    names = list(placed) if configs is None else list(dict.fromkeys(configs))
    for name in names:
        release.config(name)
        if name not in placed:
            raise UsageError(f"config {name!r} holds no split rows; choose from {', '.join(placed)}")
        if configs is not None and _evaluated_split(release, name, split) is None:
            raise UsageError(
                f"config {name!r} has no split {split or 'test'!r}; it has {', '.join(release.splits(name))}"
            )
    if not any(release.task(name).target for name in names):
        raise UsageError(f"{release.path} has no target column to predict; there is nothing to evaluate")
    without = [name for name in names if not release.task(name).target]
    if without and configs is not None:
        raise UsageError(f"config {without[0]!r} has no target column; there is nothing to evaluate")
    names = [name for name in names if name not in without]
    chosen = {name: found for name in names if (found := _evaluated_split(release, name, split)) is not None}
    if not chosen:
        raise UsageError(f"no config of {release.path} has a split {split or 'test'!r}")
    return chosen


def _evaluated_split(release: ReleaseFolder, config: str, asked: str | None) -> str | None:
    wanted = EVALUATED if asked is None else (asked,)
    return next((name for name in wanted if name in release.splits(config)), None)


def _choose_baselines(
    names: Sequence[str | Baseline] | None, model: bool, predictions: str | Path | None, label: str | None
) -> list[Baseline]:
    if names is not None:
        chosen = [_instance(name) for name in names]
    elif model:
        chosen = [_instance(name) for name in ZERO_SHOT]
    elif predictions is None:
        chosen = [_instance(name) for name in registry if registry.get(name).default]
    else:
        chosen = []
    if predictions is not None:
        chosen.append(ExternalPredictions(predictions, label))
    needing = [baseline.name for baseline in chosen if baseline.needs_model]
    if needing and not model:
        raise UsageError(f"baseline {needing[0]} needs a model; name one with --model (Python: model=)")
    if model and not needing:
        using = ", ".join(name for name in registry if registry.get(name).needs_model)
        raise UsageError(f"no chosen baseline uses a model; add one of {using}, or leave the model out")
    return chosen


def _with_recipe(chosen: Sequence[Baseline], changes: Mapping[str, Any]) -> list[Baseline]:
    """The baselines, those that are trained by a recipe with the changed one."""
    from .baselines.fine_tuned import FineTuned
    from .baselines.parser import Parser

    if not any(isinstance(baseline, Parser | FineTuned) for baseline in chosen):
        raise UsageError(
            f"a recipe is for {' or '.join((*PARSERS, *FINE_TUNED))}; name one as baseline, or leave it out"
        )
    return [
        baseline.with_recipe(changes) if isinstance(baseline, Parser | FineTuned) else baseline
        for baseline in chosen
    ]


def _per_label(chosen: Sequence[Baseline], numbers: Sequence[int]) -> list[Baseline]:
    """The baselines, those that are fine-tuned once for each number of rows per label."""
    from .baselines.fine_tuned import FineTuned

    if not any(isinstance(baseline, FineTuned) for baseline in chosen):
        raise UsageError(f"rows_per_label is for {' and '.join(FINE_TUNED)}; name one as baseline")
    for number in numbers:
        if number < 1:
            raise UsageError(f"rows_per_label is a number of rows from 1, got {number}")
    return [
        made
        for baseline in chosen
        for made in (
            [replace(baseline, rows_per_label=number) for number in dict.fromkeys(numbers)]
            if isinstance(baseline, FineTuned)
            else [baseline]
        )
    ]


def _instance(baseline: str | Baseline) -> Baseline:
    return registry.get(baseline)() if isinstance(baseline, str) else baseline


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
    from .models import (
        load_causal,
        load_classifier,
        load_masked,
        load_sequence_to_sequence,
        load_trainable_classifier,
    )

    if "classifier" in needing:
        return load_classifier(model, revision=revision, label_names=label_names)
    if "trainable_classifier" in needing:
        return load_trainable_classifier(model, revision=revision)
    if "masked_lm" in needing:
        return load_masked(model, revision=revision)
    if "seq2seq" in needing:
        return load_sequence_to_sequence(model, revision=revision)
    return load_causal(model, revision=revision)
