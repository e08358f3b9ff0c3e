"""`odqa-fast levels`: compress to each level, check, answer from that alone, score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from odqa_fast.cli import _options, _output
from odqa_fast.errors import OdqaError


def command(
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders or globs of any format; '-' is standard input."),
    ],
    levels: Annotated[
        str,
        typer.Option(help="Largest ratios of compressed to original: fractions, or percent."),
    ] = "0.2,0.4,0.6",
    compressor: Annotated[
        str,
        typer.Option(help="none, top1, lead, random, bm25, oracle, or a model: onnx:FOLDER."),
    ] = "bm25",
    reader: Annotated[
        str,
        typer.Option(
            help="A model: onnx:FOLDER; or answers given: those of the dump (given), or of a file "
            "by id and level (given:FILE)."
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
        str, typer.Option(help="With --noise: its share of the text's characters; not factual.")
    ] = "20%",
    clean: Annotated[bool, typer.Option(help="With noise: run on the clean texts as well.")] = True,
    seed: Annotated[int, typer.Option(help="Of --noise and of --compressor random.")] = 0,
    prompt: Annotated[
        str | None, typer.Option(help="Of a model as reader: a prompt's name, or a TOML file.")
    ] = None,
    compressor_prompt: Annotated[
        str | None, typer.Option(help="Of a model as compressor, likewise.")
    ] = None,
    device: Annotated[
        Literal["auto", "cuda", "cpu"], typer.Option(help="Where models run.")
    ] = "auto",
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for scores.parquet (a row a question and level), summary.json."),
    ] = None,
    fmt: _options.Format = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Score compression at several levels: texts that are too long score 0."""
    from odqa_fast.io.row_files import read_rows
    from odqa_fast.io.write import RunWriter
    from odqa_fast.profiles import get_profile
    from odqa_fast.protocol.compressors import CompressorOptions, open_compressor
    from odqa_fast.protocol.levels import parse_levels
    from odqa_fast.protocol.noise import NoiseOptions, add_noise
    from odqa_fast.protocol.noise.manifest import with_manifest
    from odqa_fast.protocol.ratio import SOMA_GROWTH, RatioRule, length_in
    from odqa_fast.protocol.readers import ReaderOptions, open_reader
    from odqa_fast.protocol.run_levels import ROWS, LevelsOptions, run_levels
    from odqa_fast.protocol.summary import levels_summary
    from odqa_fast.protocol.texts import read_texts

    if manifest is not None and noise is not None:
        raise OdqaError("--manifest and --noise exclude each other.")
    rule = RatioRule(
        length_in(unit or ("tokens" if preset else "chars"), tokenizer),
        max_growth=SOMA_GROWTH if preset else None,
        truncate=enforce is not None,
    )
    options = LevelsOptions(
        parse_levels(_options.parse_list(levels)), rule, metric, profile, weight, blind
    )
    chosen = get_profile(profile)
    texts = read_texts(paths, mapping=_options.parse_mapping(mapping or []), on_error=on_error)
    noised = None
    if manifest is not None:
        noised = with_manifest(texts, read_rows(manifest), str(manifest))
    elif noise is not None:
        amount = None if noise == "factual" else _options.parse_share(noise_share)
        noised = add_noise(texts, NoiseOptions(noise, share=amount, seed=seed, profile=profile))
        texts = [each.text for each in noised]
    predictions = {q.id: q.prediction for text in texts for q in text.questions}
    compresses = open_compressor(
        compressor, CompressorOptions(seed, chosen, compressor_prompt, device)
    )
    reads = open_reader(reader, ReaderOptions(predictions, prompt, device))
    with RunWriter(out, ROWS) as writer, _output.steps(quiet) as progress:
        result = run_levels(
            texts,
            compresses,
            reads,
            options,
            noised=noised,
            clean=clean,
            write=writer.write,
            progress=progress,
        )
        summary = levels_summary(result, texts, paths, _notes(reader))
        writer.commit(summary)
    _output.tell_notes(summary)
    _output.show(summary, fmt)


def _notes(reader: str) -> list[str]:
    if reader != "given":
        return []
    return ["the answers are the dump's own predictions, whatever the compressed text says."]
