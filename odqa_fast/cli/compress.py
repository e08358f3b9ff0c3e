"""`odqa-fast compress`: the documents of a dump to summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from odqa_fast.cli import _models, _options, _output, _stages
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError

if TYPE_CHECKING:
    from odqa_fast.engines.prepared import Worker


@_models.options_of_models
def command(
    paths: _stages.Paths,
    out: _stages.Out,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A model folder, see 'odqa-fast models'; or http:<base-url>#<model>."
        ),
    ] = None,
    compressor: Annotated[
        str | None,
        typer.Option(help="Instead of a model: none, top1, lead, random, bm25. Needs --level."),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(help="With --compressor: the largest ratio of characters, 0.2 or 20%."),
    ] = None,
    prompt: Annotated[
        str,
        typer.Option(help="A prompt of ours, or a TOML file with places {documents}, {question}."),
    ] = "compress",
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
    """Compress the documents of each row: a model's summary, or whole sentences to a level."""
    from odqa_fast.steps.files import FileOptions, compress_file

    if (model is None) == (compressor is None):
        raise OdqaError("name either a --model or a --compressor.")
    if (compressor is None) != (level is None):
        raise OdqaError("--compressor and --level go together.")
    if prompt != "compress" and model is None:
        raise OdqaError("--prompt goes with --model, not with --compressor.")

    def opened() -> Worker:
        from odqa_fast.shares import parse_levels
        from odqa_fast.steps.compressors import CompressorOptions, open_compressor
        from odqa_fast.steps.compressors._worker import CompressorWorker
        from odqa_fast.texts.length import length_in

        found = open_compressor(compressor or "", CompressorOptions(how.seed or 0, engine=how))
        return CompressorWorker(found, parse_levels([level or ""])[0], length_in("chars"))

    with _stages.progress(quiet) as progress, _output.notes_on_stderr():
        summary = compress_file(
            paths,
            model or opened,
            out,
            prompt=prompt,
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
