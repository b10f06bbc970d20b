"""The command line's commands and how one is run.

Commands stand in `releases` and `results`; each has the parameters and defaults of the Python function of
the same name.
"""

from __future__ import annotations

import sys
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
errors_app = typer.Typer(help="Wrong answers, to be typed by a person and counted.", no_args_is_help=True)
app.add_typer(errors_app, name="errors")
models_app = typer.Typer(help="Models that come in packages, without any hub.", no_args_is_help=True)
app.add_typer(models_app, name="models")


_INTERRUPTED = 130


def commands() -> Any:
    """The whole command line."""
    from . import exports, maintenance, mining, publishing, releases, results  # noqa: F401 (they register)

    return typer.main.get_command(app)


def run(arguments: list[str] | None) -> int:
    """Parse and run; returns the exit code."""
    command = commands()
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
