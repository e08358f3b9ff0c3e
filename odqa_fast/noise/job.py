"""`NoiseJob`: noise for a dump; and `noise_file`."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated

from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.option import Option
from odqa_fast.runs.cache import Cache
from odqa_fast.runs.job import Job, function_of
from odqa_fast.runs.reading import DumpPaths, Reading
from odqa_fast.runs.summary import RunSummary
from odqa_fast.runs.threads import Threads


@dataclass(frozen=True)
class NoiseJob(NoiseOptions, Reading, Threads, EngineOptions, Cache, Job[RunSummary]):
    """Add noise to the documents of a dump; no piece of it holds an answer.

    In Python the result says what was done, in numbers; the noisy rows are in `out`, what was put
    where in the manifest beside it (`noise.written.manifest_path`), and refused rows as
    `runs.rejected.rejected_path` says. `run` takes `progress` (see `runs.progress`).

    Raises:
        OdqaError: options exclude each other, `out` would replace an input, or there is nothing
            to inject.
        SchemaError: there are no documents, or no answers.
        DataError: the dump or the pool cannot be read, or no text got a question.
        ModelError, EngineError: the model cannot be opened, or gives no replies.
        OutputError: `out` cannot be written.
    """

    command = "noise"
    runner = "odqa_fast.noise.dump:add_noise_to_dump"

    paths: DumpPaths
    out: Annotated[
        str | os.PathLike[str],
        Option(
            "The noisy rows: JSON lines, or Parquet if it ends in .parquet. The manifest is "
            "written beside it, as NAME.manifest.jsonl or .parquet."
        ),
    ]
    _: KW_ONLY
    pool: Annotated[
        str | os.PathLike[str] | None,
        Option("Take pieces from this text file, one a line; from the other rows."),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "Another seed is other noise, and other questions where --temperature draws them.",
            low=0,
        ),
    ] = None
    generate_questions: Annotated[
        int | None,
        Option("First ask a model for so many questions a text, in place of its own.", low=1),
    ] = None
    model: Annotated[
        str | None, Option("Who writes them: a model folder, or http:<base-url>#<model>.")
    ] = None
    prompt: Annotated[
        str | None,
        Option("For the questions: one of ours by name, questions by default, or a TOML file."),
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if (self.generate_questions is None) != (self.model is None):
            raise OdqaError("--generate-questions N and --model NAME go together.")
        if self.model is not None:
            return
        if self.prompt is not None:
            raise OdqaError(
                "--prompt is for --generate-questions N --model NAME, which are not given."
            )
        self.engine.require((), "noise without --generate-questions N --model NAME")

    @property
    def engine(self) -> EngineOptions:
        """How the model of the questions runs or is asked; the threads are those of the noise."""
        return replace(self.part(EngineOptions), threads=None)

    def summarize(self, result: RunSummary) -> RunSummary:
        """See `Job.summarize`."""
        return result


noise_file = function_of(NoiseJob, "noise_file")
