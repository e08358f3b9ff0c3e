"""Finds the commands (every module here without an underscore) and runs one of them.

A module holds either `command`, a function, or `app`, a Typer app of sub-commands; its name is the
command's. Anything heavy is imported inside the functions, so that `--help` stays quick.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated

import typer

from odqa_fast.cli._errors import reported
from odqa_fast.cli._output import echo
from odqa_fast.errors import OdqaError
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


def _finite(command: Callable[..., None]) -> Callable[..., None]:
    """Refuses numbers that are not finite: NaN passes every bound that an option may have."""

    @wraps(command)
    def checked(**options: object) -> None:
        for name, value in options.items():
            if isinstance(value, float) and not math.isfinite(value):
                option = f"--{name.replace('_', '-')}"
                raise OdqaError(f"{option} has to be a finite number, not {value}.")
        command(**options)

    return checked


for _module in iter_modules([str(Path(__file__).parent)]):
    if not _module.name.startswith("_") and _module.name != "main":
        _found = import_module(f"odqa_fast.cli.{_module.name}")
        if hasattr(_found, "app"):
            app.add_typer(_found.app, name=_module.name)
        else:
            app.command(_module.name)(reported()(_finite(_found.command)))
