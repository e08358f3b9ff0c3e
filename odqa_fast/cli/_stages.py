"""What `compress` and `answer` have in common: options, a progress bar, and how a run is shown."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from odqa_fast.cli import _output
from odqa_fast.errors import EngineError, GateError

if TYPE_CHECKING:
    from odqa_fast.steps.run import Progress

Paths = Annotated[
    list[str],
    typer.Argument(help="Files, folders or globs of any format; '-' is standard input."),
]
Model = Annotated[
    str,
    typer.Option(
        "--model", help="A model folder, see 'odqa-fast models'; or http:<base-url>#<model>."
    ),
]
Out = Annotated[Path, typer.Option("--out", help="The Parquet file to write.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was stopped, if there is one.")
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="File for replies, which later runs take from it; by default they are kept beside "
        "--out until no row of it failed.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 if any row failed; the output is written.")
]
Format = Annotated[
    Literal["table", "json"] | None,
    typer.Option("--format", "-f", help="By default a table on a terminal, json elsewhere."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Replies so far and tokens per second; None where nobody would see it."""
    console = None if quiet else _output.terminal()
    if console is None:
        yield None
        return
    from rich.progress import Progress as Bar
    from rich.progress import TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[rows]:,} rows read, {task.completed:,.0f} of {task.total:,.0f}"),
        TextColumn("prompts, {task.fields[speed]:,.1f} tokens/s"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=0, rows=0, speed=0.0)

        def update(state: Progress) -> None:
            bar.update(
                task,
                total=state.asked,
                completed=state.replied,
                rows=state.dump.counts.rows_read,
                speed=state.tokens_out / (state.seconds or 1.0),
            )

        yield update


def show(summary: Mapping[str, Any], fmt: str | None) -> None:
    """Writes a run's summary to stdout."""
    from odqa_fast.report import render

    if fmt == "json" or (fmt is None and not (sys.stdout and sys.stdout.isatty())):
        _output.echo(render(summary, "json"))
    else:
        _output.echo(_table(summary))


def check(summary: Mapping[str, Any], *, strict: bool) -> None:
    """What rows that failed mean for the exit code; see `check_failed`."""
    counts = summary["counts"]
    every = counts.get("asked", 0) == counts.get("finish_error", 0)
    check_failed(counts.get("failed", 0), counts["rows"], "rows", every=every, strict=strict)


def check_failed(n: int, of: int, what: str, *, every: bool, strict: bool) -> None:
    """What failures mean for the exit code; the output is there by now.

    Args:
        n: how many failed.
        of: of how many.
        what: what they are called.
        every: whether nothing came of any that was asked.
        strict: none may fail.

    Raises:
        EngineError: nothing came of any.
        GateError: some failed, and none may.
    """
    if n and every:
        raise EngineError(f"nothing came of any of the {what}: {n} of {of} failed.")
    if n and strict:
        raise GateError(f"{n} {what} failed, and --strict was given.")


def _table(summary: Mapping[str, Any]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    headings = ("mean", "median", "p90", "p99", "n")
    for heading in ("seconds", *headings):
        table.add_column(heading, justify="left" if heading == "seconds" else "right")
    for name, figures in summary["seconds"].items():
        table.add_row(Text(name), *(_number(figures.get(heading)) for heading in headings))
    text = io.StringIO()
    console = Console(file=text, width=400, color_system=None, force_terminal=False)
    console.print(table)
    for part in ("tokens", "counts", "runs"):
        shown = ", ".join(
            f"{name.replace('_', ' ')} {_number(value)}" for name, value in summary[part].items()
        )
        console.print(Text(f"{part}: {shown}"))
    console.print(Text(f"signature: {summary['signature']}"))
    console.print(Text(f"out: {summary['out']}"))
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines())


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)
