"""From a source to a release: read, score, split, audit, write, describe."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ..cards import hand_written
from ..errors import BenchwrightWarning, SourceError, UsageError, show
from ..faults import Policy
from ..progress import Stage, no_progress
from ..release import MANIFEST, ReleaseFolder
from ._choosing import (
    check_splitters,
    choose_configs,
    every_config,
    in_source,
    optional_names,
    read_source,
    refuse_idle_folds,
    refuse_idle_pvi,
    refuse_withdrawn,
    tables_of,
)
from ._errata import Errata
from .assemble import assemble
from .audit import read_accepted
from .base import Builder, BuildOptions, Method, SourceData, builders
from .constituents import Redistribute
from .custom import corpus_name, custom_builder
from .hub.living import open_whole
from .hub.location import open_release
from .into import extend
from .release import check_target
from .scoring import (
    DEFAULT_PVI_MODELS,
    TableMaker,
    fold_options_given,
    load_tables,
    names_by_scorer,
    prompt_of_tables,
    pvi_options_given,
)
from .searching import PUBLISHED_HITS, CorpusSearch, searchable, warn_of_unsearched
from .sizes import Size
from .sources.origin import is_hub_id


def build(
    builder: str | Builder,
    *,
    source: str | Path,
    out: str | Path,
    into: str | Path | None = None,
    configs: Sequence[str] | None = None,
    lm: Sequence[str] = ("embedded",),
    k: Sequence[int] = (3,),
    pvi_model: str | Sequence[str] = DEFAULT_PVI_MODELS,
    method: Method = "corrected",
    criterion: str = "log_likelihood",
    length_buckets: int | None = None,
    validation: Size | None = None,
    test: Size | None = None,
    evaluation_labels: str | None = None,
    empty_quota: str | None = None,
    constraint: str | None = None,
    structure: str | None = None,
    template_rule: str | None = None,
    tmcd_mode: str | None = None,
    pvi_fit: str | None = None,
    pvi_cut: str | None = None,
    pvi_border: str | None = None,
    pvi_zero_label: bool = False,
    corpus: Sequence[str] = (),
    chinese_corpus: Sequence[str] = (),
    corpus_form: str | None = None,
    corpus_field: str | None = None,
    sentences: str = "none",
    chinese_analyzer: str = "characters-2",
    query: str | None = None,
    idf: str | None = None,
    engine: str = "fast",
    hits_per_query: int = PUBLISHED_HITS,
    top_hits: int = 10,
    executor: str = "serial",
    workers: int | None = None,
    ray_address: str | None = None,
    shards: int | None = None,
    overlap_cutoff: Sequence[float] = (),
    cutoff_quantile: Sequence[float] = (),
    repair: bool = False,
    prompt: str | None = None,
    seed: int = 42,
    scores: str | Path | None = None,
    recipe: Mapping[str, Any] | None = None,
    pvi_recipe: Mapping[str, Any] | None = None,
    keep_models: bool = False,
    device: str = "auto",
    start_token: str | int | None = None,
    on_bad_row: Policy = "fail",
    accepted: str | Path | None = None,
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Make a release of a corpus.

    `source` is a folder in the published format, `sample`, or `hub:ORG/NAME@REVISION`. Without `configs`:
    every config of the builder but the reversed splits, which are made by name. Only the score tables that
    the configs read are computed, with each model of `lm` (a Hub id, with `@REVISION` if it is to be pinned,
    or a folder) and, for fine-tuned scores, each number of folds of `k`; with `scores`, all are taken from
    that release and no model is run. `pvi_model` are the models by which V-information is measured, with the
    first number of folds, where configs read it. `method` and the options after it are those of
    `BuildOptions`. With `repair`, each config is made a second time, as `<config>_clean`, without conflicts,
    duplicates and leaks. `recipe` changes the training of fold models, `pvi_recipe` that for V-information.
    A cleaned config, or one of a data set among several, that was not asked for by name is left out with a
    warning where its rows cannot be divided. `accepted` is a file of audit findings that are agreed to.
    `scores` is a folder or a Hub release (`ORG/NAME@REVISION`).

    Configs by overlap need `corpus`, the corpora to search (see `builders.corpora.open_corpus`, which
    `corpus_form`, `corpus_field` and `sentences` are for), `chinese_corpus` where rows are Chinese; the
    options from `chinese_analyzer` to `shards` are those of `searching.CorpusSearch`, the two after them
    those of `BuildOptions`.

    With `into`, a folder or a Hub release, `configs` are added to that release, whose other files stay as
    they are, byte for byte: source, method and choices must be its own (an option that is not given is),
    and score tables that it has are taken from it.

    A release that `overwrite` replaces leaves its hand-written sections, its results and its publication:
    withdrawn rows and configs stay withdrawn, and renamed configs keep their names.

    Nothing stands at `out` until the release is whole; an interrupted build goes on where it stopped.
    Raises UsageError for names and options, SourceError for bad input, ReleaseError if `out` is in the way.
    """
    made = builder if isinstance(builder, Builder) else builders.get(builder)()
    check_target(Path(out), overwrite)
    hand_written(Path(out))
    agreed = read_accepted(Path(accepted)) if accepted is not None else set()
    if scores is not None and (recipe or pvi_recipe or start_token is not None):
        raise UsageError("with --scores no model is run; leave out --recipe, --pvi-recipe and --start-token")
    options = BuildOptions(
        method=method,
        criterion=criterion,
        length_buckets=length_buckets,
        prompt=prompt,
        seed=seed,
        validation=validation,
        test=test,
        evaluation_labels=evaluation_labels,
        empty_quota=empty_quota,
        constraint=constraint,
        structure=structure,
        template_rule=template_rule,
        tmcd_mode=tmcd_mode,
        pvi_fit=pvi_fit,
        pvi_cut=pvi_cut,
        pvi_border=pvi_border,
        pvi_zero_label=pvi_zero_label,
        overlap_cutoff=tuple(overlap_cutoff),
        cutoff_quantile=tuple(cutoff_quantile),
    )
    maker = TableMaker(
        lm=lm,
        k=k,
        pvi_model=(pvi_model,) if isinstance(pvi_model, str) else pvi_model,
        pvi_recipe=pvi_recipe,
        recipe=recipe,
        keep_models=keep_models,
        device=device,
        start_token=start_token,
        search=CorpusSearch(
            corpus=tuple(corpus),
            chinese_corpus=tuple(chinese_corpus),
            corpus_form=corpus_form,
            corpus_field=corpus_field,
            sentences=sentences,
            chinese_analyzer=chinese_analyzer,
            query=query,
            idf=idf,
            engine=engine,
            hits_per_query=hits_per_query,
            top_hits=top_hits,
            executor=executor,
            workers=workers,
            ray_address=ray_address,
            shards=shards,
        ),
        on_bad_row=on_bad_row,
        cache=cache,
        progress=progress,
    )
    if into is not None:
        if scores is not None:
            raise UsageError("with --into score tables come from the release; leave out --scores")
        return extend(
            made,
            open_whole(into),
            source=source,
            out=out,
            configs=configs,
            options=options,
            maker=maker,
            on_bad_row=on_bad_row,
            accepted=agreed,
            repair=repair,
            overwrite=overwrite,
        )
    return make_release(
        made,
        source=source,
        out=out,
        configs=configs,
        options=options,
        maker=maker,
        scores=None if scores is None else open_release(scores),
        on_bad_row=on_bad_row,
        accepted=agreed,
        repair=repair,
        overwrite=overwrite,
        errata=_errata_of(Path(out), made),
        pvi_given=pvi_options_given(options, maker),
    )


def make_release(
    builder: Builder,
    *,
    source: str | Path,
    out: str | Path,
    options: BuildOptions,
    maker: TableMaker,
    configs: Sequence[str] | None = None,
    scores: ReleaseFolder | None = None,
    on_bad_row: Policy = "fail",
    accepted: Collection[str] = (),
    repair: bool = False,
    overwrite: bool = False,
    errata: Errata | None = None,
    pvi_given: Sequence[str] = (),
) -> ReleaseFolder:
    """`build` with its options in parcels: `maker` makes score tables, unless they are those of `scores`.

    `errata` are those of the release that the new one follows (None: of none). `pvi_given` are the options
    on PVI that a user gave, which some config must be there for. Raises as `build` does.
    """
    published, errata = None, errata or Errata()
    if scores is not None:
        published = load_tables(scores)
        options = replace(options, prompt=prompt_of_tables(builder, published[0], options.prompt))
    options = builder.resolved(options)
    specs = maker.plan(builder) if published is None else published[1]
    names = names_by_scorer(specs)
    chosen = refuse_withdrawn(errata, choose_configs(builder, options, names, configs, repair), configs)
    known = every_config(builder, options, names)
    refuse_idle_pvi(builder, known, chosen, pvi_given)
    asked = [spec for spec in known if spec.name in chosen]
    if published is None:
        refuse_idle_folds(tables_of(asked), specs, fold_options_given(maker))
        chosen = searchable(builder, maker.search, options, asked, configs)
    elif maker.search.given:
        raise UsageError(f"with --scores no corpus is searched; leave out {', '.join(maker.search.given)}")
    maker.check_recipes(builder, options)
    root, data = read_source(builder, source, options, on_bad_row)
    every = every_config(builder, options, names, data.table.num_rows)
    wanted = in_source([spec for spec in every if spec.name in chosen], data, configs, root)
    check_splitters(wanted)
    if published is None:
        warn_of_unsearched(builder, maker.search, asked, data)
        maker.check_rows(builder, data, tables_of(wanted), specs, options)
    tables = {
        name: maker.make(builder, data, config, specs[name], options)
        if published is None
        else published[0][name]
        for name, config in tables_of(wanted).items()
    }
    _warn_of_strangers(errata, data)
    return assemble(
        builder,
        data,
        wanted,
        tables,
        options,
        out,
        on_bad_row=on_bad_row,
        accepted=accepted,
        trees_from=root if builder.source_has_trees else None,
        overwrite=overwrite,
        errata=errata,
        optional=optional_names(wanted, configs),
    )


def _errata_of(out: Path, builder: Builder) -> Errata:
    """Those of the release that a build replaces, if it is one of the same data."""
    if not (out / MANIFEST).is_file():
        return Errata()
    manifest = ReleaseFolder(out).manifest
    errata, dataset = Errata.of(manifest), manifest["dataset"]
    same = (dataset.get("builder"), dataset.get("pretty_name")) == (builder.name, builder.info.pretty_name)
    if same or errata == Errata():
        return errata
    message = f"{out} held a release of {show(dataset.get('pretty_name'))}; its publication is left out"
    warnings.warn(message, BenchwrightWarning, stacklevel=3)
    return Errata()


def _warn_of_strangers(errata: Errata, data: SourceData) -> None:
    """Say which withdrawn rows are not in the source: a renumbered source may have them under other uids."""
    unknown = sorted(errata.uids - set(data.table.column("uid").to_pylist())) if errata.uids else []
    if unknown:
        message = (
            f"{len(unknown)} withdrawn row(s) are not in this source, the first is {show(unknown[0])}; "
            "check that they do not stand there under other uids"
        )
        warnings.warn(message, BenchwrightWarning, stacklevel=3)


def split(
    file: str | Path,
    *,
    text: str,
    out: str | Path,
    by: Sequence[str],
    context: str | None = None,
    label: str | None = None,
    group: str | None = None,
    id: str | None = None,
    program: str | None = None,
    structure: str | None = None,
    template_rule: str | None = None,
    tmcd_mode: str | None = None,
    constraint: str | None = None,
    repair: bool = False,
    validation: Size = 0.1,
    test: Size = 0.1,
    licence: str = "unknown",
    redistribute: Redistribute = "text",
    scorer: Literal["prompt", "kfold"] = "prompt",
    lm: Sequence[str] = ("embedded",),
    k: Sequence[int] = (3,),
    criterion: str = "log_likelihood",
    seed: int = 42,
    recipe: Mapping[str, Any] | None = None,
    device: str = "auto",
    start_token: str | int | None = None,
    on_bad_row: Policy = "fail",
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Make a release of a user's own rows: a CSV, TSV, JSONL, JSON or parquet file, or a Hub data set.

    Rows whose inputs (`context` and `text`) are equal stay on one side, as do rows of one value in `group`;
    shares of `label` are kept. `program` is a column of programs, SQL say, for splits by `template` and
    `tmcd`; their definitions and `constraint` are those of `BuildOptions`; `repair` is as for `build`. `by`
    names rules of `builders.custom.RULES`; `licence` is a Hub licence id, `redistribute` what of the rows
    may be published: text, ids_only or no. A Hub data set is `ORG/NAME@REVISION`, if no such file exists.
    Raises as `build` does.
    """
    source = str(file)
    if not Path(file).exists():
        if not is_hub_id(source):
            raise SourceError(
                "no such file", path=file, fix="check the path, or give a Hub id: ORG/NAME@REVISION"
            )
        source = f"hub:{source}"
    name = source.removeprefix("hub:").partition("@")[0] if source.startswith("hub:") else Path(file).name
    made = custom_builder(
        corpus_name(name),
        text=text,
        context=context,
        label=label,
        group=group,
        id=id,
        program=program,
        structure=structure,
        template_rule=template_rule,
        by=by,
        scorer=scorer,
        validation=validation,
        test=test,
        licence=licence,
        redistribute=redistribute,
    )
    return build(
        made,
        source=source,
        out=out,
        lm=lm,
        k=k,
        criterion=criterion,
        constraint=constraint,
        repair=repair,
        structure=structure,
        template_rule=template_rule,
        tmcd_mode=tmcd_mode,
        seed=seed,
        recipe=recipe,
        device=device,
        start_token=start_token,
        on_bad_row=on_bad_row,
        cache=cache,
        overwrite=overwrite,
        progress=progress,
    )
