"""`odqa-fast answer`: the questions of a dump to predictions."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from odqa_fast.cli import _models, _options, _output, _stages
from odqa_fast.engines.options import EngineOptions


@_models.options_of_models
def command(
    paths: _stages.Paths,
    model: _stages.Model,
    out: _stages.Out,
    context: Annotated[
        Literal["auto", "summary", "documents", "none"],
        typer.Option(help="What is read; auto: the summary, else the documents, else nothing."),
    ] = "auto",
    prompt: Annotated[
        str,
        typer.Option(
            help="A prompt of ours, or a TOML file with a place {question}, and one {context}."
        ),
    ] = "answer",
    closed_prompt: Annotated[
        str, typer.Option(help="The same for rows without a context: {question} alone.")
    ] = "answer-closed",
    resume: _stages.Resume = False,
    cache: _stages.Cache = None,
    strict: _stages.Strict = False,
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    where: _options.Where = None,
    fmt: _stages.Format = None,
    quiet: _stages.Quiet = False,
    *,
    how: EngineOptions,
) -> None:
    """Answer the question of each row with a model."""
    from odqa_fast.steps.files import FileOptions, answer_file

    with _stages.progress(quiet) as progress, _output.notes_on_stderr():
        summary = answer_file(
            paths,
            model,
            out,
            context=context,
            prompt=prompt,
            closed_prompt=closed_prompt,
            how=how,
            options=FileOptions(
                mapping=_options.parse_mapping(mapping),
                on_error=on_error,
                where=_options.parse_where(where),
                resume=resume,
                cache=cache,
                progress=progress,
            ),
        )
    _stages.show(summary, fmt)
    _stages.check(summary, strict=strict)
