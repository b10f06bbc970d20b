"""Publishing a release to the Hub; the command is the function of the same name."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import app
from .options import Json, Release


@app.command()
def publish(
    release: Release,
    repo: Annotated[str, typer.Option(metavar="ORG/NAME", help="The Hub data set.")],
    version: Annotated[
        str | None, typer.Option(help="MAJOR.MINOR.PATCH; the least that the changes allow if not given.")
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the repository if it does not exist.")
    ] = False,
    private: Annotated[bool, typer.Option("--private", help="Make it a private one.")] = False,
    pr: Annotated[bool, typer.Option("--pr", help="Propose the commit in a pull request.")] = False,
    message: Annotated[str | None, typer.Option(help="What to say of this version in its changelog.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")
    ] = False,
    load: Annotated[
        bool, typer.Option("--load/--no-load", help="Load every config with `datasets` in the end.")
    ] = True,
    as_json: Json = False,
) -> int:
    """Publish a release to the Hub: one commit, a version's tag, and proof; exit code 1 if that fails."""
    from ..builders.hub.publish import publish as function
    from ..progress import show
    from .output import print_json

    report = function(
        release,
        repo=repo,
        version=version,
        create=create,
        private=private,
        pr=pr,
        message=message,
        dry_run=dry_run,
        load=load,
        progress=show,
    )
    print_json(report.to_json()) if as_json else typer.echo(str(report))
    return 1 if report.differences else 0
