"""Commands of the command line, made of a job or of another group of options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from odqa_fast.cli import _options, _output
from odqa_fast.cli._errors import tell
from odqa_fast.option import Declared, Options, options_of
from odqa_fast.runs.job import Job
from odqa_fast.runs.summary import RunSummary

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


def command_of(job: type[Job[Any]]) -> Callable[..., None]:
    """The function that a job's command runs: it takes the options of the job, and --format."""
    command = take_options(job, run_and_show, fmt=(_options.Format, None), quiet=(Quiet, False))
    command.__name__ = job.command
    return command


def take_options(
    group: type[Options], do: Callable[..., None], **more: tuple[Any, Any]
) -> Callable[..., None]:
    """A function of options as typer reads them.

    Args:
        group: whose options they are; its docstring says what the command does.
        do: is handed the group that is made of them, and by name what else there is.
        more: further options of the command line: the type, and the default.
    """

    def command(**options: Any) -> None:
        others = {name: options.pop(name) for name in more}
        # A command line cannot write None: it is what was not given.
        do(group(**{name: value for name, value in options.items() if value is not None}), **others)

    parameters = [
        *map(_parameter, options_of(group)),
        *(_keyword(name, kind, default) for name, (kind, default) in more.items()),
    ]
    command.__doc__ = _about(group)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def run_and_show(
    job: Job[Any],
    fmt: str | None,
    quiet: bool,
    more_notes: Callable[[RunSummary], list[str]] = lambda summary: [],
) -> None:
    """Does a job with a progress bar, and shows its notes, `more_notes` and its summary."""
    with _output.progress(quiet) as progress, _output.notes_on_stderr():
        result = job.run(progress=progress)
    summary = job.summarize(result)
    for note in more_notes(summary):
        tell(f"note: {note}")
    _output.show(summary, fmt)
    job.check_result(result)


def _about(group: type[Options]) -> str:
    """What a command does, from its docstring, without what is for Python alone."""
    return re.split(r"\n\n(?=In Python|Raises:)", inspect.getdoc(group) or "", maxsplit=1)[0]


def _keyword(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _parameter(each: Declared) -> inspect.Parameter:
    said = each.said
    metavar = said.pair[0] if each.is_mapping else said.metavar
    shown: dict[str, Any] = {"help": said.help, "metavar": metavar or None}
    if said.positional:
        typed: Any = typer.Argument(**shown)
    else:
        names = [each.flag, *([f"-{said.short}"] if said.short else [])]
        if each.kind is bool and each.optional:
            names[0] += f"/--no-{each.flag.removeprefix('--')}"
        typed = typer.Option(*names, **shown)
    kind, default = _as_written(each), each.default
    if each.is_required:
        default = inspect.Parameter.empty
    elif each.is_list or each.is_mapping or said.read is not None:
        # Typer would show an empty list, or a number that is written otherwise.
        default = None
        kind = kind | None
    elif each.optional:
        kind = kind | None
    return _keyword(each.name, Annotated[kind, typed], default)


def _as_written(each: Declared) -> Any:
    """The type that typer makes of the text."""
    if each.said.read is not None:
        return str
    if each.is_mapping:
        return list[str]
    if each.is_list:
        of = get_args(each.kind)
        return list[str] if of[-1] is Ellipsis else each.kind
    return str if isinstance(each.kind, type) and issubclass(each.kind, Path) else each.kind
