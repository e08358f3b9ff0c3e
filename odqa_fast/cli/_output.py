"""Results on stdout, everything else on stderr; a progress bar on a terminal only."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from odqa_fast.cli._errors import drop_stdout, tell
from odqa_fast.errors import OdqaWarning, OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from odqa_fast.runs.progress import Progress, Watch
    from odqa_fast.runs.summary import RunSummary


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


def show(summary: RunSummary, fmt: str | None) -> None:
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
def progress(quiet: bool) -> Iterator[Watch | None]:
    """A bar of what is done, with the rate and the time that is left; None where nobody would see
    it."""
    console = None if quiet else terminal()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Bar(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None, said="")

        def update(state: Progress) -> None:
            said = _said(state, bar.tasks[0].elapsed or 1.0)
            bar.update(task, total=state.total, completed=state.done, said=said)

        yield update


def _said(state: Progress, elapsed: float) -> str:
    parts = []
    if state.unit != "bytes":
        of = "" if state.total is None else f" of {state.total:,}"
        parts.append(f"{state.done:,}{of} {state.unit}")
    if state.rows:
        parts.append(f"{state.rows:,} rows")
        if state.unit == "bytes":
            parts.append(f"{state.rows / elapsed:,.0f} rows/s")
    if state.tokens:
        parts.append(f"{state.tokens / (state.seconds or 1.0):,.1f} tokens/s")
    return ", ".join(parts)
