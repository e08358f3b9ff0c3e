"""Opens what compresses or answers, as a job names it."""

from __future__ import annotations

from odqa_fast.engines.base import Compressor, Reader
from odqa_fast.engines.opening import complete_name
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.steps.compressors import CompressorOptions, open_compressor
from odqa_fast.steps.job import AnswerJob, CompressJob
from odqa_fast.steps.readers import ReaderOptions, open_reader


def open_job_reader(job: AnswerJob) -> Reader:
    """Opens the reader of a job.

    Raises:
        OdqaError, ModelError, EngineError: see `steps.components.open_component`.
    """
    options = ReaderOptions(
        prompt=job.prompt, closed_prompt=job.closed_prompt, engine=job.part(EngineOptions)
    )
    return open_reader(complete_name(job.model), options)


def open_job_compressor(job: CompressJob) -> Compressor:
    """Opens the compressor of a job.

    Raises:
        OdqaError: it is told the answers.
        OdqaError, ModelError, EngineError: see `steps.components.open_component`.
    """
    engine = job.part(EngineOptions)
    if job.model is not None:
        options = CompressorOptions(prompt=job.prompt, engine=engine, to_level=False)
        return open_compressor(complete_name(job.model), options)
    assert job.compressor is not None  # see `CompressJob.check`
    options = CompressorOptions(seed=job.seed or 0, engine=engine)
    compressor = open_compressor(job.compressor, options)
    if compressor.sees_answers:
        compressor.close()
        raise OdqaError(
            f"{compressor.id!r} is told the answers: it is an upper bound for 'levels', no "
            "compressor."
        )
    return compressor
