"""Options that more than one command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.errors import OdqaError


def _known_format(fmt: str | None) -> str | None:
    """Refuses a report's format that there is none of, before there is anything to report."""
    from odqa_fast.report import formats

    if fmt is not None and fmt not in formats():
        raise OdqaError(f"no format {fmt!r}.", hint=f"Formats: {', '.join(formats())}.")
    return fmt


Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        "-m",
        help="Metrics, comma-separated, em,f1 by default; repeatable; see 'odqa-fast metrics'.",
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile", "-p", help="Which reference scorer to equal; see 'odqa-fast profiles'."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        callback=_known_format,
        help="table, json or csv; by default a table on a terminal, json elsewhere.",
    ),
]
Device = Annotated[
    Literal["auto", "cuda", "cpu"],
    typer.Option(help="Where models run; auto is cuda where it works, else cpu, and says so."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="By default $ODQA_FAST_THREADS, or all processors; no more than these, or 16, start. "
        "Changes no number.",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", help="File of models' replies; by default one in your cache folder."),
]
Mapping = Annotated[
    list[str] | None,
    typer.Option("--map", help="COLUMN=NAME where the dump has another name; repeatable."),
]
OnError = Annotated[
    Literal["fail", "skip"],
    typer.Option(help="A bad row: stop at the first, or leave it out, count it and go on."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", help="FIELD=VALUE: take only the rows that have it, count others; repeatable."
    ),
]


def parse_mapping(pairs: list[str] | None) -> dict[str, str]:
    """`["prediction=answer_text"]` as a dict.

    Raises:
        OdqaError: a pair without `=`, or a column mapped twice.
    """
    mapping: dict[str, str] = {}
    for pair in pairs or ():
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise OdqaError(
                f"--map {pair!r} is no COLUMN=NAME.", hint="E.g. prediction=answer_text"
            )
        if column in mapping:
            raise OdqaError(f"--map names {column!r} twice.")
        mapping[column] = name
    return mapping


def parse_where(pairs: list[str] | None) -> dict[str, str]:
    """`["filter=strict-match"]` as a dict; a value may be empty.

    Raises:
        OdqaError: a pair without `=`, or two values of one field.
    """
    where: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise OdqaError(f"--where {pair!r} is no FIELD=VALUE.", hint="E.g. system=bm25")
        if where.setdefault(name, value) != value:
            raise OdqaError(f"--where gives {name!r} two values.", hint="Take one at a time.")
    return where


def parse_list(text: str) -> list[str]:
    """`"em,f1"` as a list; white space around a name does not matter."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_share(text: str) -> float:
    """`"0.2"` or `"20%"` as 0.2; from 2 on it is percent without the sign as well.

    Raises:
        OdqaError: it is no number, or one of which that cannot be told.
    """
    from odqa_fast.shares import as_fraction

    share, _ = as_fraction(text, "share")
    return share
