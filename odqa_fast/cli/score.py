"""`odqa-fast score`: a dump to its scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.cli import _options, _output
from odqa_fast.errors import OdqaError

Duplicates = Literal["error", "keep-first", "keep-last", "all", "merge"]


def command(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders or globs of any format; '-' is standard input. In a TREC run of "
            "over 1 GiB of memory the lines of a query must stand together."
        ),
    ],
    metrics: _options.Metrics = None,
    profile: _options.Profile = "squad",
    answers: Annotated[
        list[str] | None,
        typer.Option(
            help="A second dump with gold answers (or more), which count whatever the first one "
            "has of these; joined by id or question; repeatable."
        ),
    ] = None,
    qrels: Annotated[
        list[str] | None,
        typer.Option(help="TREC judgements, joined by query id to a run or any dump; repeatable."),
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
        typer.Option(
            help="With --answers or --qrels: an id that stands twice with other content; merge "
            "puts the golds (answers, relevant ids) of several rows together."
        ),
    ] = "error",
    missing: Annotated[
        Literal["null", "zero"] | None,
        typer.Option(
            help="Answers or judgements that no row has the id of: 0 in each mean (zero, the "
            "default) or in none."
        ),
    ] = None,
    join: Annotated[
        Literal["auto", "id", "question", "order"],
        typer.Option(
            help="What --answers is joined by: the first that both files have; the order of the "
            "files of a folder or glob only if it is asked for."
        ),
    ] = "auto",
    where: _options.Where = None,
    failed: Annotated[
        Literal["zero", "null"],
        typer.Option(
            help="Predictions and summaries that are missing because a model failed: count as "
            "missing ones do, or are in no mean."
        ),
    ] = "zero",
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
    regex_seconds: Annotated[
        float,
        typer.Option(help="How long an answer that is a regular expression may look at one text."),
    ] = 1.0,
    bertscore_model: Annotated[
        str | None, typer.Option(help="Folder of an encoder; see 'odqa-fast models'.")
    ] = None,
    bertscore_idf: Annotated[
        list[str] | None,
        typer.Option(help="A dump whose answers weigh the tokens of bertscore:idf; repeatable."),
    ] = None,
    bertscore_baseline: Annotated[
        str | None,
        typer.Option(help="What bertscore:rescaled calls 0: P,R,F, e.g. 0.83,0.83,0.83."),
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="The tokenizer.json that cr:tokens counts with.")
    ] = None,
    device: _options.Device = "auto",
    threads: _options.Threads = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Score a dump of predictions."""
    from odqa_fast.diagnosis import DiagnoseOptions
    from odqa_fast.io.write import summary_of
    from odqa_fast.metrics.resources import Resources
    from odqa_fast.scoring.score import score_file

    if [*paths, *(answers or []), *(qrels or [])].count("-") > 1:
        raise OdqaError("'-' stands twice, but standard input can be read only once.")
    diagnosis = DiagnoseOptions(top_k, evidence, answered)
    if diagnosis != DiagnoseOptions() and not diagnose:
        raise OdqaError("--top-k, --evidence and --answered go with --diagnose.")
    baseline = _baseline(bertscore_baseline)
    asked = _options.parse_list(",".join(["em,f1"] if metrics is None else metrics))
    _all_used(
        asked,
        {
            "--bertscore-model": bertscore_model,
            "--bertscore-idf": bertscore_idf,
            "--bertscore-baseline": bertscore_baseline,
            "--tokenizer": tokenizer,
        },
    )
    with _output.progress(quiet) as progress, _output.notes_on_stderr():
        result = score_file(
            paths,
            asked,
            profile,
            answers=answers,
            qrels=qrels,
            out=out,
            keep=_options.parse_list(keep),
            mapping=_options.parse_mapping(mapping),
            on_error=on_error,
            encoding_errors=encoding_errors,
            duplicates=duplicates,
            missing=missing,
            join=join,
            where=_options.parse_where(where),
            failed=failed,
            max_line_bytes=max_line_bytes,
            threads=threads,
            diagnosis=diagnosis if diagnose else None,
            resources=Resources(
                bertscore_model=bertscore_model,
                bertscore_idf=_answers(bertscore_idf) if bertscore_idf else None,
                bertscore_baseline=baseline,
                regex_seconds=regex_seconds,
                tokenizer=tokenizer,
                device=device,
            ),
            progress=progress,
        )
    _output.show(summary_of(result), fmt)


#: The metric that an option is for, and the option of that metric.
_OF_METRIC = {
    "--bertscore-model": ("bertscore", ""),
    "--bertscore-idf": ("bertscore", "idf"),
    "--bertscore-baseline": ("bertscore", "rescaled"),
    "--tokenizer": ("cr", "tokens"),
}


def _all_used(metrics: list[str], given: dict[str, object]) -> None:
    """An option that no metric uses may be meant for one that is counted otherwise now."""
    split = [metric.split(":") for metric in metrics]
    for option, value in given.items():
        name, part = _OF_METRIC[option]
        if value and not any(name == each[0] and part in ("", *each[1:]) for each in split):
            with_it = ":".join(filter(None, (name, part)))
            raise OdqaError(
                f"{option} is of no use to {', '.join(metrics)}.",
                hint=f"It goes with {with_it}.",
            )


def _answers(paths: list[str]) -> Iterator[str]:
    """The gold answers of a dump, each as often as it stands there."""
    from odqa_fast.io import ReadOptions, open_dump

    for batch in open_dump(paths, ReadOptions(columns=frozenset({"answers"}))):
        for answers in batch.column("answers").to_pylist():
            yield from (answer for answer in answers or () if answer is not None)


def _baseline(text: str | None) -> tuple[float, float, float] | None:
    if text is None:
        return None
    try:
        precision, recall, f = map(float, text.split(","))
    except ValueError:
        raise OdqaError(
            f"--bertscore-baseline {text!r} is not three numbers.", hint="E.g. 0.83,0.83,0.83"
        ) from None
    if not all(value < 1 for value in (precision, recall, f)):
        raise OdqaError("--bertscore-baseline has to be below 1.")
    return precision, recall, f
