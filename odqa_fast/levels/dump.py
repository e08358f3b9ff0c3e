"""A dump on disk over levels: read, noised, compressed, answered, written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from odqa_fast.engines.base import Compressor, Reader
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.errors import DataError
from odqa_fast.io import open_dump
from odqa_fast.io.kept import Kept, KeptTable, find_room
from odqa_fast.io.output_paths import output_folder
from odqa_fast.io.row_output import read_rows
from odqa_fast.levels.job import LevelsJob
from odqa_fast.levels.level_rows import name_seconds
from odqa_fast.levels.plan import make_plan
from odqa_fast.levels.run import run_levels
from odqa_fast.levels.summary import summarize_levels
from odqa_fast.noise.add import stream_noise
from odqa_fast.noise.manifest import Noised, join_manifest
from odqa_fast.option import listed
from odqa_fast.profiles import get_profile
from odqa_fast.runs.output import RunFolder
from odqa_fast.runs.progress import Watch
from odqa_fast.runs.summary import RunSummary, as_text
from odqa_fast.steps.components import list_honoured
from odqa_fast.steps.compressors import COMPRESSORS, CompressorOptions, open_compressor
from odqa_fast.steps.readers import READERS, ReaderOptions, open_reader
from odqa_fast.texts.text import READ, Text, read_texts


def run_levels_on_dump(job: LevelsJob, *, progress: Watch | None = None) -> RunSummary:
    """Runs a dump over levels of compression; see `LevelsJob`.

    Args:
        job: what to do.
        progress: told how many compressions and answers there are, and how many are done.
    """
    plan = make_plan(job)
    engines = _divide_engine_options(job)
    target = output_folder(job.out, job.paths, job.manifest, job.given_answers)
    folder = find_room(target)
    schema = name_seconds(job.timing)
    with RunFolder(target, schema) as run, closing(ReplyStore(job.cache)) as replies:
        reading = replace(job.reading(READ), places=True, identify=target is not None)
        dump = open_dump(job.paths, reading, reject=run.reject)
        texts = read_texts(dump, folder=folder)
        noised = _noise_texts(texts, job, folder)
        predictions = _predictions(texts, job, folder) if job.reader == "given" else {}
        compressor, reader = _open_parts(job, engines, predictions, replies)
        with closing(compressor), closing(reader):
            result = run_levels(
                texts,
                compressor,
                reader,
                plan,
                noised=noised,
                write=lambda batch: run.write(pa.record_batch(batch.columns, schema=schema)),
                progress=progress,
            )
        summary = summarize_levels(result, job, dump, len(replies.from_before))
        run.commit(summary)
    return summary


def _divide_engine_options(job: LevelsJob) -> list[EngineOptions]:
    """The options of the compressor and of the reader.

    Raises:
        OdqaError: an option is given that neither honours.
    """
    named = ((COMPRESSORS, job.compressor), (READERS, job.reader))
    engine = job.part(EngineOptions)
    return engine.divided((name, list_honoured(kind, name)) for kind, name in named)


def _open_parts(
    job: LevelsJob,
    engines: Sequence[EngineOptions],
    predictions: Mapping[str, str | None],
    replies: ReplyStore,
) -> tuple[Compressor, Reader]:
    """What compresses and what answers."""
    of_compressor, of_reader = engines
    compressor = open_compressor(
        job.compressor,
        CompressorOptions(
            prompt=job.compressor_prompt,
            engine=of_compressor,
            replies=replies,
            seed=job.seed or 0,
            profile=get_profile(job.profile),
        ),
    )
    options = ReaderOptions(
        prompt=job.prompt, engine=of_reader, replies=replies, predictions=predictions
    )
    return compressor, open_reader(job.reader, options)


def _predictions(
    texts: Iterable[Text], job: LevelsJob, folder: Path | None
) -> Mapping[str, str | None]:
    """The dump's own answers by id."""
    questions = (question for text in texts for question in text.questions)
    predictions = KeptTable(((each.id, each.prediction) for each in questions), folder)
    for name, one, other in predictions.repeats():
        if one != other:
            raise DataError(
                f"id {name!r} stands twice with different predictions.",
                where=", ".join(map(as_text, listed(job.paths))),
                hint="Make ids unique, so that the reader 'given' knows which to give.",
            )
    return predictions


def _noise_texts(
    texts: Sequence[Text], job: LevelsJob, folder: Path | None
) -> Sequence[Noised] | None:
    """Noise added, or what a manifest says of it."""
    noise = job.added_noise
    if noise is not None:
        return Kept(stream_noise(texts, noise, folder=folder), folder)
    if job.manifest is None:
        return None
    where = as_text(job.manifest)
    return join_manifest(texts, read_rows(Path(job.manifest)), where, folder)
