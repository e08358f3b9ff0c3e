"""Results on stdout, everything else on stderr; a progress bar on a terminal only."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from odqa_fast.cli._errors import drop_stdout, tell
from odqa_fast.errors import OdqaWarning, OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from odqa_fast.io import Dump


#: What a terminal acts upon instead of showing it: control characters but for the ends of lines
#: and tabs, and marks that turn the direction of what follows.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def echo(text: str) -> None:
    """Writes a result to stdout, now, so that a closed pipe or a full disk is noticed here.

    A control character of a model's or a dump's text is written as JSON escapes it, so that it is
    seen in a table, and the same text in JSON.

    Raises:
        OutputError: stdout does not take it.
    """
    if sys.stdout is None:
        raise OutputError("is closed.", where="standard output", hint="Name a folder with --out.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whatever the locale says: JSON is UTF-8.
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        print(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text), flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise OutputError(
            f"could not be written: {error.strerror}.", where="standard output"
        ) from None


def show(summary: Mapping[str, Any], fmt: str | None) -> None:
    """Writes a run's summary in a format; by default a table on a terminal and JSON elsewhere."""
    from odqa_fast.report import render

    echo(render(summary, fmt or ("table" if sys.stdout and sys.stdout.isatty() else "json")))


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Shows what the library warns of as one line each, on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OdqaWarning)
        yield
    for warning in caught:
        tell(f"note: {warning.message}")


def terminal() -> Console | None:
    """Where to show progress; None where nobody would see it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def steps(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar of steps done of all; None where nobody would see it."""
    console = None if quiet else terminal()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Dump], None] | None]:
    """A bar of the bytes read, with rows per second; None where nobody would see it."""
    console = None if quiet else terminal()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[rows]:,} rows, {task.fields[speed]:,.0f} rows/s"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, rows=0, speed=0.0)

        def update(dump: Dump) -> None:
            rows = dump.counts.rows_read
            elapsed = bar.tasks[0].elapsed or 1.0
            bar.update(
                task,
                total=dump.total_bytes,
                completed=dump.counts.bytes_read,
                rows=rows,
                speed=rows / elapsed,
            )

        yield update
