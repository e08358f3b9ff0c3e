"""A dump on disk with noise: read, asked about, noised, written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from odqa_fast.io.kept import find_room
from odqa_fast.io.output_paths import output_file
from odqa_fast.io.row_output import FORMS
from odqa_fast.noise.add import stream_noise
from odqa_fast.noise.dump_questions import Made, make_questions
from odqa_fast.noise.job import NoiseJob
from odqa_fast.noise.manifest import Noised
from odqa_fast.noise.written import manifest_path, read_pool, summarize_noise, write_noise
from odqa_fast.runs.progress import Progress, Watch
from odqa_fast.runs.rejected import open_dump_for
from odqa_fast.runs.summary import RunSummary
from odqa_fast.texts.text import READ, read_texts


def add_noise_to_dump(job: NoiseJob, *, progress: Watch | None = None) -> RunSummary:
    """Adds noise to a dump and writes it with its manifest; see `NoiseJob`.

    Args:
        job: what to do.
        progress: told how many texts have got their questions, and then their noise.
    """
    target = output_file(job.out, FORMS, job.paths, job.pool)
    output_file(manifest_path(target), FORMS, job.paths, job.pool)
    pieces = None if job.pool is None else read_pool(Path(job.pool))
    folder = find_room(target)
    with open_dump_for(target, job.paths, job.reading(READ)) as dump:
        if job.model is None:
            made = Made(read_texts(dump, folder=folder))
        else:
            made = make_questions(read_texts(dump, ["documents"], folder), job, folder, progress)
        noised = stream_noise(made.texts, job, pool=pieces, threads=job.threads, folder=folder)
        counts = write_noise(target, made.texts, _watched(noised, len(made.texts), progress))
    return summarize_noise(counts, job, dump, made)


def _watched(noised: Iterable[Noised], total: int, progress: Watch | None) -> Iterator[Noised]:
    for done, each in enumerate(noised, 1):
        yield each
        if progress is not None:
            progress(Progress(done, total, "texts"))
