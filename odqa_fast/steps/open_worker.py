"""Opens who compresses or answers, as a job names it."""

from __future__ import annotations

from odqa_fast.engines.compressor import open_compressor
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prepared import Worker
from odqa_fast.engines.reader import open_reader
from odqa_fast.steps import compressors
from odqa_fast.steps.compressors._worker import CompressorWorker
from odqa_fast.steps.job import AnswerJob, CompressJob
from odqa_fast.texts.length import make_length


def open_worker(job: CompressJob | AnswerJob) -> Worker:
    """Opens the model of a job, or the compressor that stands in its place.

    Raises:
        OdqaError: there is no such prompt, engine or compressor, or it has no use for an option.
        ModelError, EngineError: the model cannot be opened.
    """
    engine = job.part(EngineOptions)
    if isinstance(job, AnswerJob):
        return open_reader(job.model, engine, prompt=job.prompt, closed_prompt=job.closed_prompt)
    if job.model is not None:
        return open_compressor(job.model, engine, prompt=job.prompt)
    # `CompressJob.check` says so.
    assert job.compressor is not None
    assert job.level is not None
    options = compressors.CompressorOptions(job.seed or 0, engine=engine)
    found = compressors.open_compressor(job.compressor, options)
    return CompressorWorker(found, job.level, make_length("chars"))
