"""Dumps on disk through the protocol: noise added, levels run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.errors import DataError, OdqaWarning
from odqa_fast.inference.open import honoured_by, open_engine
from odqa_fast.inference.options import EngineOptions
from odqa_fast.inference.prompt import load_prompt
from odqa_fast.io.places import Paths
from odqa_fast.io.row_files import FORMS, read_rows
from odqa_fast.io.targets import output_file, output_folder
from odqa_fast.io.write import RunWriter
from odqa_fast.profiles import get_profile
from odqa_fast.protocol.compressors import CompressorOptions, open_compressor
from odqa_fast.protocol.noise.add import NoiseOptions, add_noise
from odqa_fast.protocol.noise.manifest import Noised, with_manifest
from odqa_fast.protocol.noise.written import (
    manifest_path,
    noise_summary,
    read_pool,
    write_noise,
)
from odqa_fast.protocol.questions import with_questions
from odqa_fast.protocol.readers import ReaderOptions, open_reader
from odqa_fast.protocol.run_levels import ROWS, LevelsOptions, Progress, run_levels
from odqa_fast.protocol.summary import levels_summary
from odqa_fast.protocol.texts import Text, read_texts

_GIVEN = "the answers are the dump's own predictions, whatever the compressed text says."


@dataclass(frozen=True)
class ReadingOptions:
    """How a dump is read: see `odqa_fast.score_file`."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    on_error: Literal["fail", "skip"] = "fail"

    def texts(self, paths: Paths) -> list[Text]:
        """The texts of a dump."""
        return read_texts(paths, mapping=self.mapping, on_error=self.on_error)

    def base_texts(self, paths: Paths) -> list[Text]:
        """The texts of a dump, whether there are questions about them or not."""
        return read_texts(paths, mapping=self.mapping, on_error=self.on_error, needs=("documents",))


@dataclass(frozen=True)
class Generate:
    """Questions to be made from the texts before noise is added; see `questions.with_questions`.

    Attributes:
        n: how many a text.
        model: who writes them; see `odqa_fast.inference.open.open_engine`.
        prompt: the name or path of the prompt.
        engine: how the model runs or is asked.
    """

    n: int
    model: str
    prompt: str = "questions"
    engine: EngineOptions = field(default_factory=EngineOptions)


def noise_file(
    paths: Paths,
    out: str | os.PathLike[str],
    options: NoiseOptions,
    *,
    pool: str | os.PathLike[str] | None = None,
    generate: Generate | None = None,
    reading: ReadingOptions | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Adds noise to a dump and writes it with its manifest.

    Args:
        paths: the dump; see `odqa_fast.score_file`.
        out: the noisy rows, Parquet where the name ends in `.parquet`, else JSON lines; the
            manifest is written beside them (`noise.written.manifest_path`).
        options: what to add.
        pool: a text file to take pieces from, one a line; the other rows where None.
        generate: questions to make from the texts, in the place of their own.
        reading: how to read.
        threads: how many; changes nothing.

    Returns:
        What was done, in numbers.

    Raises:
        OdqaError: as reading, `output_file` and writing say.
    """
    reading = reading or ReadingOptions()
    target = output_file(out, FORMS, paths, pool)
    output_file(manifest_path(target), FORMS, paths, pool)
    pieces = None if pool is None else read_pool(Path(pool))
    if generate is None:
        texts, made = reading.texts(paths), None
    else:
        texts, made = _generated(reading.base_texts(paths), generate)
    noised = add_noise(texts, options, pool=pieces, threads=threads)
    write_noise(target, noised)
    summary = noise_summary(noised, options, _named(paths))
    if made is not None:
        summary["questions"] = made
        reasons = ", ".join(f"{reason} {n}" for reason, n in made["dropped"].items())
        summary["notes"].append(
            f"{made['kept']} questions were made; left out: {reasons or 'nothing'}."
        )
    return _warned(summary)


def _generated(texts: list[Text], generate: Generate) -> tuple[list[Text], dict[str, Any]]:
    """The texts with new questions, and how those came about."""
    with closing(open_engine(generate.model, generate.engine)) as engine:
        asking, dropped = with_questions(texts, engine, generate.n, prompt=generate.prompt)
        made = {
            "model": engine.signature,
            "prompt": load_prompt(generate.prompt, "questions").signature,
            "kept": sum(len(text.questions) for text in asking),
            "dropped": dict(sorted(dropped.items())),
        }
    if not asking:
        raise DataError(f"no text got a question: {made['dropped']}.")
    return asking, made


@dataclass(frozen=True)
class Parts:
    """What compresses and what answers.

    Attributes:
        compressor, reader: as for `open_compressor` and `open_reader`.
        compressor_prompt, prompt: of models, the names or paths of their prompts.
        seed: of what draws.
        engine: of models, how they run or are asked; each gets the options that it honours.
    """

    compressor: str = "bm25"
    reader: str = "given"
    compressor_prompt: str | None = None
    prompt: str | None = None
    seed: int = 0
    engine: EngineOptions = field(default_factory=EngineOptions)

    def divided(self) -> list[EngineOptions]:
        """The options of the compressor and of the reader.

        Raises:
            OdqaError: an option is given that neither honours.
        """
        names = (self.compressor, self.reader)
        # A name without a colon is no model here, though it would be a folder elsewhere.
        return self.engine.divided(
            (name, honoured_by(name) if ":" in name else frozenset()) for name in names
        )


def levels_file(
    paths: Paths,
    options: LevelsOptions,
    parts: Parts | None = None,
    *,
    noise: NoiseOptions | str | os.PathLike[str] | None = None,
    clean: bool = True,
    reading: ReadingOptions | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Runs a dump over levels of compression.

    Args:
        paths: the dump; see `odqa_fast.score_file`.
        options: levels, check and scoring.
        parts: what compresses and what answers.
        noise: noise to add first, or the manifest of what is in the dump.
        clean: with noise, run on the texts without it as well.
        reading: how to read.
        out: a folder for `scores.parquet` (see `ROWS`; under `timing` each, seconds are a row's
            own and named without `amortized`) and `summary.json`.
        progress: is told how far it is.

    Returns:
        What `summary.json` holds.

    Raises:
        OdqaError: as reading, opening, `output_folder` and writing say.
    """
    parts = parts or Parts()
    of_compressor, of_reader = parts.divided()
    manifest = None if isinstance(noise, NoiseOptions) else noise
    given = parts.reader.removeprefix("given:") if parts.reader.startswith("given:") else None
    target = output_folder(out, paths, manifest, given)
    texts = (reading or ReadingOptions()).texts(paths)
    noised = _noised(texts, noise)
    if noised is not None:
        texts = [each.text for each in noised]
    compressor = open_compressor(
        parts.compressor,
        CompressorOptions(
            parts.seed, get_profile(options.profile), parts.compressor_prompt, of_compressor
        ),
    )
    predictions = _predictions(texts, paths) if parts.reader == "given" else {}
    reader = open_reader(parts.reader, ReaderOptions(predictions, parts.prompt, of_reader))
    rows = _rows(parts.engine.timing)
    with RunWriter(target, rows) as writer:
        result = run_levels(
            texts,
            compressor,
            reader,
            options,
            noised=noised,
            clean=clean,
            write=lambda batch: writer.write(pa.record_batch(batch.columns, schema=rows)),
            progress=progress,
        )
        notes = [_GIVEN] if parts.reader == "given" else []
        summary = levels_summary(result, texts, _named(paths), notes)
        if isinstance(noise, NoiseOptions):
            summary["noise"] = noise.tag
        writer.commit(summary)
    return _warned(summary)


def _rows(timing: Literal["batch", "each"]) -> pa.Schema:
    """The columns of a run, with seconds named by what they are; see `stages.stage`."""
    if timing == "batch":
        return ROWS
    return pa.schema([each.with_name(each.name.replace("_amortized", "")) for each in ROWS])


def _predictions(texts: list[Text], paths: Paths) -> dict[str, str | None]:
    """The dump's own answers by id."""
    predictions: dict[str, str | None] = {}
    for question in (each for text in texts for each in text.questions):
        if predictions.setdefault(question.id, question.prediction) != question.prediction:
            raise DataError(
                f"id {question.id!r} stands twice with different predictions.",
                where=", ".join(_named(paths)),
                hint="Make ids unique, so that the reader 'given' knows which to give.",
            )
    return predictions


def _noised(
    texts: list[Text], noise: NoiseOptions | str | os.PathLike[str] | None
) -> list[Noised] | None:
    """Noise added, or what a manifest says of it."""
    if noise is None:
        return None
    if isinstance(noise, NoiseOptions):
        return add_noise(texts, noise)
    return with_manifest(texts, read_rows(Path(noise)), str(noise))


def _named(paths: Paths) -> list[str]:
    each = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [os.fsencode(path).decode(errors="replace") for path in each]


def _warned(summary: dict[str, Any]) -> dict[str, Any]:
    for note in summary["notes"]:
        warnings.warn(note, OdqaWarning, stacklevel=3)
    return summary
