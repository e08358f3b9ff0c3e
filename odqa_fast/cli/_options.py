"""Options that more than one command has."""

from __future__ import annotations

from typing import Annotated

import typer

from odqa_fast.errors import OdqaError


def _known_format(fmt: str | None) -> str | None:
    """Refuses a report's format that there is none of, before there is anything to report."""
    from odqa_fast.report import formats

    if fmt is not None and fmt not in formats():
        raise OdqaError(f"no format {fmt!r}.", hint=f"Formats: {', '.join(formats())}.")
    return fmt


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        callback=_known_format,
        help="table, json, csv, or a report that was added; by default a table on a terminal, json "
        "elsewhere.",
    ),
]
