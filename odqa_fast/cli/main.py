"""Finds the commands and runs one of them.

Every job (`job.py` of a package) is a command. Others are the modules here without an underscore:
one holds either `command`, a function, or `app`, a Typer app of sub-commands; its name is the
command's. Anything heavy is imported inside the functions, so that `--help` stays quick.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated

import typer

from odqa_fast.cli._command import command_of
from odqa_fast.cli._errors import reported
from odqa_fast.cli._output import echo
from odqa_fast.runs.registry import jobs
from odqa_fast.version import __version__

app = typer.Typer(
    name="odqa-fast",
    help="Exact, fast, accountable scores for open-domain QA, RAG and context compression.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"odqa-fast {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def _commands() -> dict[str, Callable[..., None] | typer.Typer]:
    """The commands by name: one for each job, and those of the modules here."""
    found: dict[str, Callable[..., None] | typer.Typer] = {
        name: command_of(job) for name, job in jobs().items()
    }
    for module in iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_") and module.name != "main":
            here = import_module(f"odqa_fast.cli.{module.name}")
            found[module.name] = here.app if hasattr(here, "app") else here.command
    return found


for _name, _command in sorted(_commands().items()):
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_name)
    else:
        app.command(_name)(reported()(_command))
