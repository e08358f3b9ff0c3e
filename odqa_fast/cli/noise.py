"""`odqa-fast noise`: a dump with noise that is known, and the manifest of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.cli import _models, _options, _output
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError


@_models.options_of_models
def command(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders or globs of any format; '-' is standard input."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The noisy rows: JSON lines, or Parquet if it ends in .parquet. The manifest is "
            "written beside it, as NAME.manifest.jsonl or .parquet."
        ),
    ],
    kind: Annotated[
        Literal["sentences", "documents", "factual"],
        typer.Option(
            help="Irrelevant sentences at sentence borders; irrelevant documents among the "
            "retrieved ones; wrong answers in documents that hold one."
        ),
    ] = "sentences",
    count: Annotated[
        int | None, typer.Option(min=1, help="Pieces a text; 1 by default. Not for factual.")
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            help="Pieces until they have this share of the text's characters: 0.2 or 20%."
        ),
    ] = None,
    swap: Annotated[
        bool,
        typer.Option("--swap", help="Documents take the place of others that hold no answer."),
    ] = False,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Documents go among the first so many; anywhere.")
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(help="Take pieces from this text file, one a line; from the other rows."),
    ] = None,
    rare: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="A piece shares no word with the questions that at most this share of all pieces "
            "has; 0 lets it.",
        ),
    ] = 0.01,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Another seed is other noise, and other questions where --temperature draws them."
        ),
    ] = None,
    generate_questions: Annotated[
        int | None,
        typer.Option(
            min=1, help="First ask a model for so many questions a text, in place of its own."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Who writes them: a model folder, or http:<base-url>#<model>."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="For the questions: one of ours by name, questions by default, or a TOML file."
        ),
    ] = None,
    profile: _options.Profile = "squad",
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    where: _options.Where = None,
    threads: _options.Threads = None,
    cache: _options.Cache = None,
    fmt: _options.Format = None,
    *,
    how: EngineOptions,
) -> None:
    """Add noise to the documents of a dump; no piece of it holds an answer."""
    from odqa_fast.levels.files import Generate, noise_file
    from odqa_fast.noise import NoiseOptions
    from odqa_fast.runs.input import DumpOptions

    if (generate_questions is None) != (model is None):
        raise OdqaError("--generate-questions N and --model NAME go together.")
    if prompt is not None and model is None:
        raise OdqaError("--prompt is for --generate-questions N --model NAME, which are not given.")
    generate = None
    if generate_questions is not None and model is not None:
        how = replace(how, seed=seed)
        generate = Generate(generate_questions, model, prompt or Generate.prompt, how)
    else:
        how.require((), "noise without --generate-questions N --model NAME")
    options = NoiseOptions(
        kind=kind,
        count=count,
        share=None if share is None else _options.parse_share(share),
        swap=swap,
        top_k=top_k,
        rare=rare,
        seed=seed or 0,
        profile=profile,
    )
    with _output.notes_on_stderr():
        summary = noise_file(
            paths,
            out,
            options,
            pool=pool,
            generate=generate,
            reading=DumpOptions(
                _options.parse_mapping(mapping), on_error, _options.parse_where(where)
            ),
            threads=threads,
            cache=cache,
        )
    _output.show(summary, fmt)
