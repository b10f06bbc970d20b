"""Commands for releases that live on the Hub: copies, errata, text that may not be passed on, old sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UsageError
from ..wording import plural
from .app import app
from .options import Corpora, Json, Overwrite, ReleasePlace

if TYPE_CHECKING:
    from ..release import ReleaseFolder

Reason = Annotated[str, typer.Option(help="Why; the card shows it.")]


def _uids(values: list[str]) -> list[str]:
    """Uids as given; `@FILE` stands for those in a file, one a line."""
    found = []
    for value in values:
        if not value.startswith("@"):
            found.append(value)
            continue
        try:
            lines = Path(value[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--uid {value}: cannot be read ({error}); give a text file of uids") from None
        found += [line.strip() for line in lines if line.strip()]
    return found


def _publish_line(release: ReleaseFolder) -> str:
    """The command that brings a changed folder to the Hub."""
    repo = release.publication.repo or "ORG/NAME"
    return f"publish with: benchwright publish {release.path} --repo {repo}"


@app.command()
def download(
    place: Annotated[str, typer.Argument(metavar="HUB_ID[@REVISION]", help="A release on the Hub.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder to make; else the repository's name."),
    ] = None,
) -> None:
    """Make a local copy of a release on the Hub, which a later `publish` takes as its base."""
    from ..builders.hub.living import download as function
    from ..progress import show

    release = function(place, out=out, progress=show)
    version = release.publication.version
    typer.echo(f"{release.path}: {place}, {f'version {version}' if version else 'no version'}")


@app.command()
def withdraw(
    release: ReleasePlace,
    reason: Reason,
    uids: Annotated[
        list[str], typer.Option("--uid", metavar="UID", help="A row; repeatable. `@FILE`: one uid a line.")
    ] = [],  # noqa: B006 (typer copies it)
    config: Annotated[str | None, typer.Option(help="A whole config instead of rows.")] = None,
) -> None:
    """Take rows or a config back for a reason; the next publication carries it to the Hub."""
    from ..builders.errata import withdraw as function

    chosen = _uids(uids)
    changed = function(release, uids=chosen, config=config, reason=reason)
    if config is not None:
        default = next(name for name, entry in changed.configs.items() if entry["default"])
        typer.echo(f"withdrawn: config {config}; the default config is {default}")
    else:
        typer.echo(f"withdrawn: {plural(len(chosen), 'row')}")
    typer.echo(_publish_line(changed))


@app.command()
def rename(
    release: ReleasePlace,
    config: Annotated[str, typer.Option(help="The config's present name.")],
    to: Annotated[str, typer.Option(help="Its new name.")],
) -> None:
    """Rename a config; its old name keeps working until the next major version."""
    from ..builders.errata import rename as function

    changed = function(release, config=config, to=to)
    typer.echo(f"renamed: {config} is {to}; {config} stays an alias until the next major version")
    typer.echo(_publish_line(changed))


@app.command()
def yank(
    release: ReleasePlace,
    version: Annotated[str, typer.Option(help="The published version to take back.")],
    reason: Reason,
) -> None:
    """Take a published version back; the next publication renames its tag to VERSION-yanked."""
    from ..builders.errata import yank as function

    changed = function(release, version=version, reason=reason)
    typer.echo(f"yanked: {version}")
    typer.echo(_publish_line(changed))


@app.command()
def strip(
    release: ReleasePlace,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The release folder to make.")],
    where_needed: Annotated[
        bool, typer.Option("--where-needed", help="Only of configs whose sources may not be passed on.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a release again without the text of its corpus: ids, scores and placements."""
    from ..builders.hydrate import strip as function
    from ..progress import show

    written = function(release, out=out, where_needed=where_needed, overwrite=overwrite, progress=show)
    path = written.path
    typer.echo(f"written: {path}; with the corpus: benchwright hydrate {path} --source PATH --out DIR")


@app.command()
def hydrate(
    place: ReleasePlace,
    source: Annotated[str, typer.Option(help="Your copy of the corpus; as for `build`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The release folder to make.")],
    corpus: Corpora = [],  # noqa: B006 (typer copies it)
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Put the text of a corpus into a release without it; exit code 1 if rows are missing or different."""
    from ..builders.hydrate import hydrate as function
    from ..progress import show
    from .output import print_hydration

    answer = function(place, source=source, out=out, corpus=corpus, overwrite=overwrite, progress=show)
    return print_hydration(answer, as_json)


@app.command()
def outdated(
    place: ReleasePlace,
    source: Annotated[
        Path | None, typer.Option(help="The newest copy of a corpus that was read from a folder.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Compare sources and models of a release with the newest; exit code 1 if one has moved on."""
    from ..builders.hub.outdated import outdated as function
    from .output import print_outdated

    return print_outdated(function(place, source=source), as_json)
