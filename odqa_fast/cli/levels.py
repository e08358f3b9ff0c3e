"""`odqa-fast levels`: compress to each level, check, answer from that alone, score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.cli import _models, _options, _output, _stages
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError


@_models.options_of_models
def command(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders or globs of any format; '-' is standard input."),
    ],
    at: Annotated[
        str,
        typer.Option(
            "--levels", help="Largest ratios of compressed to original: fractions, or percent."
        ),
    ] = "0.2,0.4,0.6",
    compressor: Annotated[
        str,
        typer.Option(
            help="none, top1, lead, random, bm25, oracle; a model: onnx:FOLDER, http:URL#MODEL."
        ),
    ] = "bm25",
    reader: Annotated[
        str,
        typer.Option(
            help="A model: onnx:FOLDER, http:URL#MODEL; or answers given by somebody: those of the "
            "dump (given), or of a file by id and level (given:FILE)."
        ),
    ] = "given",
    metric: Annotated[str, typer.Option(help="Of an answer; see 'odqa-fast metrics'.")] = "f1",
    profile: _options.Profile = "squad",
    weight: Annotated[
        Literal["texts", "questions"],
        typer.Option(help="A level's score: mean over texts of a text's mean, or over questions."),
    ] = "texts",
    blind: Annotated[
        bool, typer.Option("--blind", help="The compressor does not see the questions.")
    ] = False,
    unit: Annotated[
        Literal["chars", "words", "tokens"] | None,
        typer.Option(help="What lengths are counted in; chars, with --preset soma tokens."),
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="With --unit tokens: the tokenizer.json to count with.")
    ] = None,
    preset: Annotated[
        Literal["soma"] | None,
        typer.Option(
            help="soma: count tokens, and fail a text whose tokens have more than 1.8 times the "
            "characters of the original's."
        ),
    ] = None,
    enforce: Annotated[
        Literal["truncate"] | None,
        typer.Option(help="truncate: cut what is too long behind the last sentence that fits."),
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="What 'odqa-fast noise' put into the rows; adds noise measures and the "
            "clean texts."
        ),
    ] = None,
    noise: Annotated[
        Literal["sentences", "documents", "factual"] | None,
        typer.Option(help="Add noise first, taken from the other rows; see 'odqa-fast noise'."),
    ] = None,
    noise_share: Annotated[
        str | None,
        typer.Option(
            help="With --noise: its share of the text's characters, 20% by default; not factual."
        ),
    ] = None,
    clean: Annotated[
        bool | None,
        typer.Option(
            "--clean/--no-clean", help="With noise: run on the clean texts as well; by default."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of --noise, of --compressor random, and of models' draws at a --temperature."
        ),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="Of a model as reader: a prompt's name, or a TOML file.")
    ] = None,
    compressor_prompt: Annotated[
        str | None, typer.Option(help="Of a model as compressor, likewise.")
    ] = None,
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    where: _options.Where = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for scores.parquet (a row a question and level), summary.json, "
            "rejected.jsonl."
        ),
    ] = None,
    cache: _options.Cache = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 1 if a compression or an answer failed; all is written."
        ),
    ] = False,
    fmt: _options.Format = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    *,
    how: EngineOptions,
) -> None:
    """Score compression at several levels: texts that are too long score 0."""
    from odqa_fast.levels.files import Parts, levels_file
    from odqa_fast.levels.ratio import SOMA_GROWTH, RatioRule
    from odqa_fast.levels.run import LevelsOptions
    from odqa_fast.noise import NoiseOptions
    from odqa_fast.runs.input import DumpOptions
    from odqa_fast.shares import parse_levels
    from odqa_fast.texts.length import length_in

    if manifest is not None and noise is not None:
        raise OdqaError("--manifest and --noise exclude each other.")
    if noise_share is not None and noise is None:
        raise OdqaError("--noise-share goes with --noise KIND, which is not given.")
    if clean is not None and noise is None and manifest is None:
        raise OdqaError(
            f"{'--clean' if clean else '--no-clean'} goes with --noise or --manifest: else there "
            "is no noise to be without."
        )
    rule = RatioRule(
        length_in(unit or ("tokens" if preset else "chars"), tokenizer),
        max_growth=SOMA_GROWTH if preset else None,
        truncate=enforce is not None,
    )
    parts = Parts(compressor, reader, compressor_prompt, prompt, seed or 0, replace(how, seed=seed))
    levels = parse_levels(_options.parse_list(at))
    added = None
    if noise is not None:
        if noise_share is None and noise != "factual":
            noise_share = "20%"
        share = None if noise_share is None else _options.parse_share(noise_share)
        added = NoiseOptions(noise, share=share, seed=seed or 0, profile=profile)
    with _output.steps(quiet) as progress, _output.notes_on_stderr():
        summary = levels_file(
            paths,
            LevelsOptions(levels, rule, metric, profile, weight, blind),
            parts,
            noise=added or manifest,
            clean=clean is not False,
            reading=DumpOptions(
                _options.parse_mapping(mapping), on_error, _options.parse_where(where)
            ),
            out=out,
            progress=progress,
            cache=cache,
        )
    _output.show(summary, fmt)
    counts = summary["counts"]
    for gate in (False, strict):
        for what, tried in (("compressions", "compressions"), ("answers", "asked")):
            n, of = counts.get(f"failed_{what}", 0), counts.get(tried, 0)
            _stages.check_failed(n, of, what, every=n == of, strict=gate)
