"""`odqa-fast score`: a dump to its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.cli import _options, _output
from odqa_fast.errors import OdqaError

Duplicates = Literal["error", "keep-first", "keep-last", "all"]


def command(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders or globs of any format; '-' is standard input."),
    ],
    metrics: _options.Metrics = None,
    profile: _options.Profile = "squad",
    answers: Annotated[
        list[str] | None,
        typer.Option(help="A second dump with gold answers (or more), joined by id; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for scores.parquet, summary.json and rejected.jsonl."),
    ] = None,
    fmt: _options.Format = None,
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    encoding_errors: Annotated[
        Literal["fail", "replace"],
        typer.Option(help="Bytes that are not UTF-8: a bad row, or U+FFFD and counted."),
    ] = "fail",
    duplicates: Annotated[
        Duplicates,
        typer.Option(help="With --answers: an id that stands twice with other content."),
    ] = "error",
    keep: Annotated[
        str, typer.Option(help="Columns to keep beside the scores, comma-separated.")
    ] = "",
    max_line_bytes: Annotated[
        int, typer.Option(min=1, help="A longer line of text is bad; bounds the memory.")
    ] = 1 << 29,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Say of each row what was retrieved, kept, answered.")
    ] = False,
    top_k: Annotated[
        int | None,
        typer.Option(min=1, help="With --diagnose: documents that count as retrieved; all."),
    ] = None,
    evidence: Annotated[
        Literal["token", "raw", "normalized", "regex"],
        typer.Option(help="With --diagnose: how an answer stands in a document or summary."),
    ] = "token",
    answered: Annotated[
        Literal["em", "contains", "em:regex", "contains:regex"],
        typer.Option(help="With --diagnose: the metric that must be 1 for a row to be answered."),
    ] = "em",
    threads: _options.Threads = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Score a dump of predictions."""
    from odqa_fast.diagnosis import DiagnoseOptions
    from odqa_fast.io.write import summary_of
    from odqa_fast.scoring.score import score_file

    if [*paths, *(answers or [])].count("-") > 1:
        raise OdqaError("'-' stands twice, but standard input can be read only once.")
    with _output.progress(quiet) as progress, _output.notes_on_stderr():
        result = score_file(
            paths,
            _options.parse_list(",".join(["em,f1"] if metrics is None else metrics)),
            profile,
            answers=answers,
            out=out,
            keep=_options.parse_list(keep),
            mapping=_options.parse_mapping(mapping or []),
            on_error=on_error,
            encoding_errors=encoding_errors,
            duplicates=duplicates,
            max_line_bytes=max_line_bytes,
            threads=threads,
            diagnosis=DiagnoseOptions(top_k, evidence, answered) if diagnose else None,
            progress=progress,
        )
    _output.show(summary_of(result), fmt)
