"""Commands that mine problems from corpora and have them labelled; each is the function of the same name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .options import BadRows, Cache, Json, Method, OnBadRow

mine_app = typer.Typer(
    help="Problems mined from Reddit dumps, annotators' tasks, and their labels.", no_args_is_help=True
)
app.add_typer(mine_app, name="mine")

Mined = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of `benchwright mine knowref`.")]


class Balance(StrEnum):
    """How both candidates come to be right equally often."""

    order = "order"
    drop = "drop"
    none = "none"


@mine_app.command("knowref")
def mine_knowref(
    dumps: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP...", help="Reddit comments: RC_* files (.bz2, .zst, .gz) or folders."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the stages; a run goes on in it.")],
    method: Annotated[Method, typer.Option(help=Method.__doc__)] = Method.corrected,
    treebank: Annotated[
        Path | None,
        typer.Option(
            help="NLTK's treebank.zip: its words that are no nouns are no candidates; else a tagger decides."
        ),
    ] = None,
    parser: Annotated[
        str, typer.Option(help="A spaCy pipeline: `parser`, an installed package, or a folder.")
    ] = "parser",
    seed: Annotated[int, typer.Option(help="Seed of the new names.")] = 42,
    workers: Annotated[int, typer.Option(help="Processes that share the first stage.", min=1)] = 1,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Find sentences about two persons and a pronoun, and give the persons new names (KnowRef-60k)."""
    from ..builders.knowref import mine_knowref as function
    from ..progress import show
    from .output import print_json

    mined = function(
        dumps,
        out=out,
        method=method.value,
        treebank=treebank,
        parser=parser,
        seed=seed,
        workers=workers,
        cache=cache,
        progress=show,
    )
    print_json(mined.to_json()) if as_json else typer.echo(str(mined))


@mine_app.command()
def export_tasks(
    mined: Mined,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A folder for tasks.csv and tasks.jsonl.")],
    limit: Annotated[int | None, typer.Option(help="Most tasks; the first ones.", min=1)] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace tasks that stand at --out.")
    ] = False,
) -> None:
    """Write mined problems as tasks for annotators: whom does the pronoun stand for?"""
    from ..builders.knowref import export_tasks as function

    typer.echo(str(function(mined, out=out, limit=limit, overwrite=overwrite)))


@mine_app.command()
def import_labels(
    mined: Mined,
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Answers (.csv, .jsonl) with task_id, annotator and answer: candidate_0, candidate_1, "
            "neither, or a candidate's name.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The labelled data set to make.")],
    annotators: Annotated[int, typer.Option(help="Answers that a problem needs.", min=1)] = 5,
    agreement: Annotated[
        int | None, typer.Option(help="Equal answers that it needs; else more than half.", min=1)
    ] = None,
    test_agreement: Annotated[
        int | None,
        typer.Option(
            help="Equal answers that test problems need; else one more, if there are so many.", min=1
        ),
    ] = None,
    validation: Annotated[float, typer.Option(help="Share of the validation part.")] = 0.05,
    test: Annotated[float, typer.Option(help="Share of the test part.")] = 0.05,
    balance: Annotated[
        Balance,
        typer.Option(
            help="Equal shares of both candidates by reversing the order of some, by dropping some, or not."
        ),
    ] = Balance.order,
    on_bad_row: OnBadRow = BadRows.fail,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what stands at --out.")] = False,
    as_json: Json = False,
) -> None:
    """Make labelled problems of annotators' answers, in the form that `build knowref_60k` reads."""
    from ..builders.knowref import import_labels as function
    from .output import print_json

    labelled = function(
        mined,
        labels,
        out=out,
        annotators=annotators,
        agreement=agreement,
        test_agreement=test_agreement,
        validation=validation,
        test=test,
        balance=balance.value,
        on_bad_row=on_bad_row.value,
        overwrite=overwrite,
    )
    print_json(labelled.to_json()) if as_json else typer.echo(str(labelled))
