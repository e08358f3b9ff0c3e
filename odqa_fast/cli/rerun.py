"""`odqa-fast rerun`: a run once more, from its own record."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from odqa_fast.cli import _options
from odqa_fast.cli._command import Quiet, run_and_show


def command(
    run: Annotated[
        Path,
        typer.Argument(
            help="The folder of a run, its summary.json, or the Parquet file of compress or answer."
        ),
    ],
    out: Annotated[
        str | None, typer.Option(help="Where the new run goes; by default in the old one's place.")
    ] = None,
    fmt: _options.Format = None,
    quiet: Quiet = False,
) -> None:
    """Run again what made a run: the same options and inputs, as its summary records them."""
    from odqa_fast.runs.record import list_changes, read_record, read_summary

    # Read before it is replaced.
    recorded = read_summary(run)
    run_and_show(read_record(run, out=out), fmt, quiet, partial(list_changes, recorded))
