"""Commands that judge models and rows and update the card; each is the function of the same name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app, errors_app
from .options import (
    BadRows,
    Baseline,
    Cache,
    Config,
    Corpora,
    CorpusField,
    CorpusForm,
    Engine,
    Executor,
    Json,
    OnBadRow,
    RayAddress,
    Recipe,
    Release,
    ReleasePlace,
    Sentences,
    Settings,
    Shards,
    Workers,
    names,
    parse_recipe,
    whole_numbers,
)

if TYPE_CHECKING:
    from ..release import ReleaseFolder

Copy = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Where to copy a release of the Hub; the repository's name if not given."
    ),
]


# One config or several: `build` has --configs, commands on one config have --config, and here both are right.
ConfigNames = Annotated[
    str | None, typer.Option("--configs", "--config", metavar="NAMES", help="Comma-separated configs.")
]


@app.command("eval")
def evaluate(
    release: ReleasePlace,
    out: Copy = None,
    configs: ConfigNames = None,
    baselines: Annotated[str | None, typer.Option("--baseline", help="Comma-separated baselines.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A causal LM (`embedded`, a Hub id, a folder), a classifier, a sequence-to-sequence model "
            "or an encoder to fine-tune (`minilm-l6`)."
        ),
    ] = None,
    model_revision: Annotated[str | None, typer.Option(help="Revision of a Hub model.")] = None,
    label_names: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated names of a classifier's outputs, where its configuration has none."
        ),
    ] = None,
    recipe: Recipe = None,
    preset: Annotated[
        str | None, typer.Option(help="Published settings by name: baseline, model and recipe.")
    ] = None,
    rows_per_label: Annotated[
        str | None,
        typer.Option(
            metavar="K,K,...", help="Fine-tune on that many rows of every label, once for each number."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Seeds of baselines that train a model.")] = 1,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Score predictions made elsewhere: JSONL, CSV or TSV of uid, prediction."
        ),
    ] = None,
    predictions_name: Annotated[
        str | None, typer.Option(help="What to call the system that made them.")
    ] = None,
    databases: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="SQLite files (DB_ID/DB_ID.sqlite), to judge SQL by execution too."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Which split to evaluate on; test, or validation where there is no test."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of baselines and of the rows of --limit.")] = 0,
    limit: Annotated[int | None, typer.Option(help="Evaluate only that many rows.")] = None,
    force: Annotated[bool, typer.Option(help="Run again what is stored and fresh.")] = False,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Run baselines on the configs, store the results and bring the card up to date."""
    from ..builders.hub.living import evaluate as function
    from ..builders.hub.living import local_copy
    from ..cards import write_card
    from ..progress import show
    from .output import print_results

    copy = local_copy(release, out, progress=show)
    results = function(
        copy,
        configs=names(configs),
        baselines=names(baselines),
        model=model,
        model_revision=model_revision,
        label_names=names(label_names),
        recipe=parse_recipe(recipe) or None,
        preset=preset,
        rows_per_label=whole_numbers(rows_per_label, "--rows-per-label"),
        repeats=repeats,
        predictions=predictions,
        predictions_name=predictions_name,
        databases=databases,
        split=split,
        seed=seed,
        limit=limit,
        force=force,
        cache=cache,
        progress=show,
    )
    write_card(copy)
    print_results(results, as_json)
    _say_where(copy, release, as_json)


@app.command()
def analyse(
    release: ReleasePlace,
    out: Copy = None,
    frequencies: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Word frequencies for rare words: SUBTLEXus or another list."),
    ] = None,
    words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="English words, beside --frequencies.")
    ] = None,
    pronunciations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A pronouncing dictionary, for Flesch-Kincaid grades.")
    ] = None,
    parses: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Constituency trees: JSON Lines of uid, column, parse."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="The corpus, where its own files hold constituency trees (SNLI).")
    ] = None,
    parser: Annotated[
        str | None, typer.Option(help="A constituency parser: stanza, benepar or a plugin's name.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--column", help="Comma-separated text columns; else the task's inputs.")
    ] = None,
    draws: Annotated[
        int, typer.Option(help="Random splits that shares of rare words are compared with.")
    ] = 500,
    seed: Annotated[int, typer.Option(help="Seed of these draws.")] = 0,
    as_json: Json = False,
) -> None:
    """Analyse the rows of every config (words, lengths, trees, divergence) and bring the card up to date."""
    from ..builders.analyse import PROPERTIES
    from ..builders.hub.living import analyse as function
    from ..builders.hub.living import local_copy
    from ..cards import write_card
    from ..progress import show
    from .output import print_json

    copy = local_copy(release, out, progress=show)
    properties = function(
        copy,
        frequencies=frequencies,
        words=words,
        pronunciations=pronunciations,
        parses=parses,
        source=source,
        parser=parser,
        columns=names(columns),
        draws=draws,
        seed=seed,
        progress=show,
    )
    written = write_card(copy)
    if as_json:
        print_json(properties)
        return
    typer.echo(f"written: {copy.path / PROPERTIES}")
    for note in properties.get("notes", ()):
        typer.echo(f"note: {note['message']}")
    typer.echo(written)
    _say_where(copy, release, as_json)


@app.command()
def overlap(
    release: ReleasePlace,
    out: Copy = None,
    corpus: Corpora = [],  # noqa: B006 (typer copies it)
    configs: ConfigNames = None,
    ngram: Annotated[int, typer.Option(help="Words of a run that is looked for as it stands.")] = 13,
    overlap_share: Annotated[
        float | None,
        typer.Option(
            help="Share of a row's terms, weighted by rarity, above which a document overlaps (0.5)."
        ),
    ] = None,
    overlap_cutoff: Annotated[
        float | None, typer.Option(help="Instead of it, the BM25 score above which rows overlap.")
    ] = None,
    corpus_form: CorpusForm = None,
    corpus_field: CorpusField = None,
    sentences: Sentences = "none",
    idf: Annotated[str, typer.Option(help="Formula of word weights: paper or whoosh.")] = "paper",
    engine: Engine = "fast",
    top_hits: Annotated[int, typer.Option(help="Best documents of each corpus that are kept, by id.")] = 5,
    executor: Executor = "serial",
    workers: Workers = None,
    ray_address: RayAddress = None,
    shards: Shards = None,
    on_bad_row: OnBadRow = BadRows.fail,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Search the evaluation rows in corpora (exact n-grams, BM25); accuracy on clean and overlapping rows."""
    from ..builders.hub.living import local_copy
    from ..builders.hub.living import overlap as function
    from ..cards import write_card
    from ..progress import show
    from .output import print_overlap

    copy = local_copy(release, out, progress=show)
    found = function(
        copy,
        corpus=corpus,
        configs=names(configs),
        ngram=ngram,
        overlap_share=overlap_share,
        overlap_cutoff=overlap_cutoff,
        corpus_form=corpus_form,
        corpus_field=corpus_field,
        sentences=sentences,
        idf=idf,
        engine=engine,
        top_hits=top_hits,
        executor=executor,
        workers=workers,
        ray_address=ray_address,
        shards=shards,
        on_bad_row=on_bad_row.value,
        cache=cache,
        progress=show,
    )
    write_card(copy)
    print_overlap(found, as_json)
    _say_where(copy, release, as_json)


@app.command()
def card(release: ReleasePlace, out: Copy = None) -> None:
    """Write the card (README.md) and its figures again."""
    from ..builders.hub.living import card as function
    from ..builders.hub.living import local_copy

    copy = local_copy(release, out)
    typer.echo(function(copy))
    _say_where(copy, release, False)


def _say_where(copy: ReleaseFolder, release: str, as_json: bool) -> None:
    """How a copy of a release on the Hub gets back there."""
    repo = copy.publication.repo
    if not as_json and repo and str(copy.path) != release:
        typer.echo(f"changed: {copy.path}; publish with: benchwright publish {copy.path} --repo {repo}")


@errors_app.command("export")
def export_errors(
    release: Release,
    config: Config,
    baseline: Baseline,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .jsonl or .csv file to fill in.")],
    settings: Settings = None,
    limit: Annotated[int, typer.Option(help="At most that many rows.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that stands at --out, types and all.")
    ] = False,
) -> None:
    """Write a sample of a result's wrong answers with an empty field `error_type`."""
    from ..eval.analyses import export_errors as function

    rows = function(
        release, config, baseline, out, settings=settings, limit=limit, seed=seed, overwrite=overwrite
    )
    typer.echo(f"{rows} wrong answers: {out}; fill in error_type, then: benchwright errors store")


@errors_app.command("store")
def store_typed_errors(
    release: Release,
    config: Config,
    baseline: Baseline,
    typed: Annotated[Path, typer.Option(metavar="FILE", help="The file with error_type filled in.")],
    settings: Settings = None,
) -> None:
    """Keep typed errors beside their result and count them in the card."""
    from ..cards import write_card
    from ..eval import refresh_index
    from ..eval.analyses import store_typed_errors as function
    from ..release import ReleaseFolder
    from .output import table

    found = function(release, config, baseline, typed, settings=settings)
    refresh_index(ReleaseFolder(release))
    write_card(release)
    typer.echo(table(found.counts.items(), ["error type", "rows"]))
    typer.echo(f"{found.typed} of {found.sampled} sampled rows have a type")


@app.command()
def explain(
    release: Release,
    uid: Annotated[str, typer.Argument(metavar="UID", help="The uid of a row.")],
    config: Annotated[str | None, typer.Option(help="Look for the row in this config alone.")] = None,
    parser: Annotated[
        str, typer.Option(help="A spaCy pipeline: `parser`, a package's name or a folder.")
    ] = "parser",
    as_json: Json = False,
) -> None:
    """Both overlap queries of a row, parsed and published, and what its best hits have of them."""
    from ..builders.explaining import explain as function
    from ..builders.explaining import explanation_lines
    from ..errors import printable
    from .output import print_json

    explanation = function(release, uid, config=config, parser=parser)
    if as_json:
        print_json(explanation)
    else:
        typer.echo("\n".join(map(printable, explanation_lines(explanation))))
