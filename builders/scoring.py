"""Which score tables a build needs, and where they come from: made now, or taken from a release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

import pyarrow as pa

from ..cache import cache_folder
from ..errors import ReleaseError, UsageError
from ..faults import Policy
from ..progress import Stage, no_progress
from ..registry import closest
from ..release import WITHOUT_TEXT, ReleaseFolder
from ..splitting.scores import ScoreTable, ScoringOptions, score_with_folds, score_with_prompt
from ..tasks import Task
from ._errata import scores_with_withdrawn
from .base import (
    PVI_CHOICES,
    Builder,
    BuildOptions,
    ConfigSpec,
    ScorerKind,
    ScoreSpec,
    SourceData,
    overlap_table_name,
    pvi_table_name,
)
from .searching import CorpusSearch

DEFAULT_FOLDS = 3
DEFAULT_PVI_MODELS = ("minilm-l6",)
"""The models that tables of V-information are made with unless others are chosen."""


@dataclass(frozen=True)
class TableMaker:
    """Which models score rows, and how; the options of `build` of the same names."""

    lm: Sequence[str] = ("embedded",)
    k: Sequence[int] = (DEFAULT_FOLDS,)
    pvi_model: Sequence[str] = DEFAULT_PVI_MODELS
    pvi_recipe: Mapping[str, Any] | None = None
    recipe: Mapping[str, Any] | None = None
    keep_models: bool = False
    device: str = "auto"
    start_token: str | int | None = None
    search: CorpusSearch = field(default_factory=CorpusSearch)
    on_bad_row: Policy = "fail"
    cache: str | Path | None = None
    progress: Stage = no_progress

    def plan(self, builder: Builder) -> dict[str, ScoreSpec]:
        """Every score table that can be made, by name; see `plan_tables` and the two after it."""
        pvi = plan_pvi_tables(self.pvi_model, self.k, builder.pvi_parts())
        searched = [
            part
            for part in builder.overlap_parts()
            if builder.needs_corpus or self.search.locations(builder.overlap_language(part))
        ]
        return {**plan_tables(self.lm, self.k), **pvi, **plan_overlap_tables(searched)}

    def check_recipes(self, builder: Builder, options: BuildOptions) -> None:
        """Raise UsageError for recipes that cannot be used: before a source is read."""
        if self.recipe:
            _recipe(builder, self.recipe)
        if self.pvi_recipe:
            from ..splitting.scores.pvi import Fit, PviRecipe

            PviRecipe.of(cast("Fit", options.with_pvi_choices().pvi_fit), self.pvi_recipe)

    def check_rows(
        self,
        builder: Builder,
        data: SourceData,
        tables: Mapping[str, ConfigSpec],
        specs: Mapping[str, ScoreSpec],
        options: BuildOptions,
    ) -> None:
        """Raise UsageError for rows that no table of V-information can be made of: before any is made.

        `tables` are those to make, each with a config that reads it. The message names the part.
        """
        measured = {name: config for name, config in tables.items() if specs[name].scorer == "pvi"}
        if not measured:
            return
        from ..splitting.scores.pvi import Fit, check_pvi_rows

        fit = cast("Fit", options.with_pvi_choices().pvi_fit)
        for name, config in measured.items():
            rows, k = data.part(config.part).table, specs[name].parameters["k"]
            try:
                check_pvi_rows(rows, builder.task_of(config), k=k, fit=fit, seed=options.seed)
            except UsageError as error:
                others = "; --configs may leave out those of a part" if len(measured) > 1 else ""
                raise UsageError(f"score table {name}: {error}{others}; nothing was scored") from None

    def make(
        self, builder: Builder, data: SourceData, config: ConfigSpec, spec: ScoreSpec, options: BuildOptions
    ) -> ScoreTable:
        """The table `spec` of the rows that `config` divides, which reads it; see `make_table`.

        Raises UsageError, which names the table of a part: those that were made before stay in the cache.
        """
        try:
            return self._made(builder, data, config, spec, options)
        except UsageError as error:
            if spec.part is None or spec.scorer != "pvi":
                raise
            kept = "finished tables are kept, and the same command goes on after them"
            raise UsageError(f"score table {spec.name}: {error}; {kept}") from None

    def _made(
        self, builder: Builder, data: SourceData, config: ConfigSpec, spec: ScoreSpec, options: BuildOptions
    ) -> ScoreTable:
        if spec.scorer == "bm25":
            rows, cache = data.part(spec.part).table, cache_folder(self.cache)
            return self.search.table(
                builder,
                rows,
                spec.part,
                options,
                cache=cache,
                on_bad_row=self.on_bad_row,
                progress=self.progress,
            )
        return make_table(
            builder,
            data.part(config.part).table,
            builder.task_of(config),
            spec,
            options,
            ScoringOptions(device=self.device, start_token=self.start_token),
            cache_folder(self.cache),
            recipe=self.pvi_recipe if spec.scorer == "pvi" else self.recipe,
            keep_models=self.keep_models,
            progress=self.progress,
        )


def pvi_options_given(options: BuildOptions, maker: TableMaker) -> list[str]:
    """Names of the options on PVI that are not left to their defaults."""
    given = [name for name in (*PVI_CHOICES, "pvi_zero_label") if getattr(options, name)]
    if tuple(maker.pvi_model) != DEFAULT_PVI_MODELS:
        given.append("pvi_model")
    return [*given, "pvi_recipe"] if maker.pvi_recipe else given


def fold_options_given(maker: TableMaker) -> list[str]:
    """The options on fine-tuned language models that a user gave, as on the command line.

    One number of folds is no such option: that of V-information is the first one, too.
    """
    given = ["--recipe"] if maker.recipe else []
    return [*given, *(f"--k {k}" for k in maker.k[1:])]


def model_slug(model: str) -> str:
    """The name of a model inside config and score-table names: `openai/GPT2-large` -> `gpt2_large`."""
    slug = re.sub(r"[^a-z0-9]+", "_", model.rstrip("/").rsplit("/", 1)[-1].lower()).strip("_")
    if not slug:
        raise UsageError(f"model {model!r} has no letter or digit to name its score table by")
    return slug


def model_and_revision(text: str) -> tuple[str, str | None]:
    """A model as options name it, `gpt2@REVISION`, in two parts; a folder may have an @ in its name."""
    if "@" not in text or Path(text).exists():
        return text, None
    model, _, revision = text.rpartition("@")
    return model, revision


def plan_tables(models: Sequence[str], fold_counts: Sequence[int]) -> dict[str, ScoreSpec]:
    """Every score table of these models and numbers of folds, by name.

    The first model and the first k give the plain names `lm_prompt` and `lm_kfold`; others add their slug
    (`lm_prompt_gpt2_large`, `lm_kfold_k5`). Raises UsageError for repeated models or k.
    """
    _check_values("k", fold_counts)
    tables: dict[str, ScoreSpec] = {}
    for slug, which in _slugs("lm", models).items():
        tables[f"lm_prompt{slug}"] = ScoreSpec(f"lm_prompt{slug}", "prompt", which)
        for position, k in enumerate(fold_counts):
            name = f"lm_kfold{slug}{f'_k{k}' if position else ''}"
            tables[name] = ScoreSpec(name, "kfold", {**which, "k": k})
    return tables


def plan_pvi_tables(
    models: Sequence[str], fold_counts: Sequence[int], parts: Sequence[str | None]
) -> dict[str, ScoreSpec]:
    """Every table of V-information of these models, by name, with the first of the numbers of folds.

    A table is called `pvi` where all rows are scored together, else `pvi_PART`; those of a second model add
    its slug. Raises UsageError for repeated models.

    >>> list(plan_pvi_tables(["minilm-l6", "me/Tiny"], [3], ["ner", "puns"]))
    ['pvi_ner', 'pvi_puns', 'pvi_ner_tiny', 'pvi_puns_tiny']
    """
    tables: dict[str, ScoreSpec] = {}
    for slug, which in _slugs("pvi_model", models).items():
        for part in parts:
            name = f"{pvi_table_name(part)}{slug}"
            tables[name] = ScoreSpec(name, "pvi", {**which, "k": fold_counts[0]}, part)
    return tables


def plan_overlap_tables(parts: Sequence[str | None]) -> dict[str, ScoreSpec]:
    """Every table of best scores, by name, one a part.

    >>> list(plan_overlap_tables(["wsc273", "dpr"]))
    ['bm25_wsc273', 'bm25_dpr']
    """
    names = {overlap_table_name(part): part for part in parts}
    return {name: ScoreSpec(name, "bm25", {}, part) for name, part in names.items()}


def _slugs(option: str, models: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """What each model adds to the names of its score tables, with the model and its revision."""
    _check_values(option, models)
    named = [model_and_revision(model) for model in models]
    slugs = [""] + [f"_{model_slug(model)}" for model, _ in named[1:]]
    if len(set(slugs)) != len(slugs):
        raise UsageError(f"models {', '.join(models)} would share a score-table name; rename a model folder")
    return {
        slug: {"model": model, "revision": revision}
        for slug, (model, revision) in zip(slugs, named, strict=True)
    }


def _check_values(option: str, values: Sequence[object]) -> None:
    flag = f"--{option.replace('_', '-')}"
    if not values:
        raise UsageError(f"give at least one {flag}")
    if len(set(values)) != len(values):
        raise UsageError(f"{flag} is given twice with the same value: {', '.join(map(str, values))}")


def names_by_scorer(tables: Mapping[str, ScoreSpec]) -> dict[str, list[str]]:
    """Score-table names grouped by scorer kind, in the order of the plan."""
    return {
        kind: [name for name, spec in tables.items() if spec.scorer == kind] for kind in get_args(ScorerKind)
    }


def make_table(
    builder: Builder,
    rows: pa.Table,
    task: Task,
    spec: ScoreSpec,
    build: BuildOptions,
    scoring: ScoringOptions,
    cache: Path,
    *,
    recipe: Mapping[str, Any] | None = None,
    keep_models: bool = False,
    progress: Stage = no_progress,
) -> ScoreTable:
    """Score every row with a model, or take the finished table from the cache.

    `task` is that of the rows; `recipe` holds changes to how models are trained. Raises UsageError for an
    unknown prompt or recipe field, PrerequisiteError for a missing model or extra.
    """
    if spec.scorer == "pvi":
        return _pvi_table(rows, task, spec, build, scoring, cache, recipe or {}, keep_models, progress)
    if spec.scorer == "prompt":
        template = _template(builder, build.prompt or builder.default_prompt)
        return score_with_prompt(
            rows,
            template,
            spec.parameters["model"],
            revision=spec.parameters["revision"],
            cache=cache,
            options=scoring,
            progress=progress,
        )
    # A chosen prompt holds for fine-tuned models too, unless (Spider) they have forms of their own.
    name = builder.kfold_template if builder.training_template else (build.prompt or builder.kfold_template)
    template = _template(builder, name)
    training = _template(builder, builder.training_template or name)
    return score_with_folds(
        rows,
        template,
        training,
        spec.parameters["model"],
        revision=spec.parameters["revision"],
        k=spec.parameters["k"],
        recipe=_recipe(builder, recipe or {}),
        seed=build.seed,
        cache=cache,
        options=scoring,
        keep_models=keep_models,
        progress=progress,
    )


def _pvi_table(
    rows: pa.Table,
    task: Task,
    spec: ScoreSpec,
    build: BuildOptions,
    scoring: ScoringOptions,
    cache: Path,
    recipe: Mapping[str, Any],
    keep_models: bool,
    progress: Stage,
) -> ScoreTable:
    from ..splitting.scores.pvi import Fit, score_with_pvi

    chosen = build.with_pvi_choices()
    return score_with_pvi(
        rows,
        task,
        spec.parameters["model"],
        revision=spec.parameters["revision"],
        k=spec.parameters["k"],
        recipe=recipe,
        fit=cast("Fit", chosen.pvi_fit),
        zero_label=chosen.pvi_zero_label,
        seed=build.seed,
        cache=cache,
        options=scoring,
        keep_models=keep_models,
        progress=progress,
    )


def load_tables(release: ReleaseFolder) -> tuple[dict[str, ScoreTable], dict[str, ScoreSpec]]:
    """The published score tables of a release, with what each was made by.

    Rows that were withdrawn after they were scored are in them, too.
    """
    if "scores" not in release.configs:
        raise ReleaseError(
            f"{release.path} has no score tables; leave out --scores, or name a release that has them"
        )
    if WITHOUT_TEXT in release.config("scores"):
        raise ReleaseError(
            f"{release.path} has hits without their text, and rows show it; run `benchwright hydrate` on it, "
            "and use what that makes"
        )
    tables, specs = {}, {}
    for name, entry in release.manifest["scores"].items():
        tables[name] = scores_with_withdrawn(release, name)
        specs[name] = ScoreSpec(name, entry["scorer"], {}, entry.get("part"))
    return tables, specs


def prompt_of_tables(builder: Builder, tables: Mapping[str, ScoreTable], prompt: str | None) -> str | None:
    """The prompt that published tables were made with, None for the builder's default.

    Raises UsageError if `prompt` is given and is another one: the published scores would not be its.
    """
    made = {t.provenance["key"]["template"]["name"] for t in tables.values() if t.scorer == "prompt"}
    if prompt is not None and made and made != {prompt}:
        raise UsageError(
            f"the published scores were made with prompt {' and '.join(sorted(made))}, not {prompt!r}"
        )
    known = next(iter(made), prompt)
    return None if known == builder.default_prompt else known


def _template(builder: Builder, name: str) -> Any:
    if name not in builder.templates:
        raise UsageError(f"{builder.name} has no prompt {name!r}; it has {', '.join(builder.templates)}")
    return builder.templates[name]


def _recipe(builder: Builder, changes: Mapping[str, Any]) -> Any:
    from ..eval.models import FineTuneRecipe

    for name in changes:
        if name not in FineTuneRecipe.__dataclass_fields__:
            raise UsageError(
                f"no recipe field {name!r}; {closest(name, list(FineTuneRecipe.__dataclass_fields__))}"
            )
    return FineTuneRecipe(**{"max_steps": builder.fine_tune_steps, **changes})
