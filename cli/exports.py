"""Commands that write a release's results in other tools' formats; each is the function of the same name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .options import Json, ReleasePlace


class Relationship(StrEnum):
    """What the evaluator is to the makers of the models."""

    first_party = "first_party"
    third_party = "third_party"
    collaborative = "collaborative"
    other = "other"


@app.command()
def export(
    release: ReleasePlace,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="A new folder for the files.")],
    organization: Annotated[
        str | None,
        typer.Option(help="Who ran the evaluations; else the owner of the Hub repository, or `unknown`."),
    ] = None,
    relationship: Annotated[
        Relationship, typer.Option(help="What they are to the makers of the models.")
    ] = Relationship.third_party,
    timestamp: Annotated[
        int | None,
        typer.Option(help="Time of the records, seconds since 1970; else SOURCE_DATE_EPOCH or now.", min=0),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write results of models for the Hub's model pages (.eval_results) and for Every Eval Ever."""
    from ..builders.exports import export as function
    from .output import print_json

    exported = function(
        release,
        out=out,
        organization=organization,
        relationship=relationship.value,
        timestamp=timestamp,
    )
    if as_json:
        print_json({"files": [str(file) for file in exported.files], "left_out": dict(exported.left_out)})
    else:
        typer.echo(str(exported))
