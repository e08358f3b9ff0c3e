"""`CompressJob` and `AnswerJob`: a dump through a model; and `compress_file`, `answer_file`."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.option import Option
from odqa_fast.runs.job import Job, function_of
from odqa_fast.runs.reading import DumpPaths, Reading
from odqa_fast.runs.strict import Strict
from odqa_fast.runs.summary import RunSummary
from odqa_fast.shares import parse_levels

Choice = Literal["auto", "summary", "documents", "none"]

_MODEL = Option("A model folder, see 'odqa-fast models'; or http:<base-url>#<model>.")
ParquetFile = Annotated[str | os.PathLike[str], Option("The Parquet file to write.")]


def _as_level(text: str) -> float:
    return parse_levels([text])[0]


@dataclass(frozen=True, kw_only=True)
class StepJob(Reading, EngineOptions, Strict, Job[RunSummary]):
    """What compressing and answering share."""

    resume: Annotated[
        bool,
        Option("Go on with a run that was stopped, if there is one.", changes_nothing=True),
    ] = False
    cache: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "File for replies, which later runs take from it; by default they are kept beside "
            "--out until no row of it failed.",
            changes_nothing=True,
        ),
    ] = None

    def summarize(self, result: RunSummary) -> RunSummary:
        """See `Job.summarize`."""
        return result

    def check_result(self, result: RunSummary) -> None:
        """See `Job.check_result`."""
        counts = result.counts
        every = counts.get("asked", 0) == counts.get("finish_error", 0)
        self.accept(counts.get("failed", 0), counts["rows"], "rows", every=every)

    @classmethod
    def adapt(cls, options: dict[str, Any]) -> dict[str, Any]:
        """See `Job.adapt`; `how=EngineOptions(...)` stands for its options."""
        how = options.pop("how", None)
        if how is not None:
            options.update(vars(how))
        return super().adapt(options)


@dataclass(frozen=True)
class CompressJob(StepJob):
    """Compress the documents of each row: a model's summary, or whole sentences to a level.

    In Python the result is the summary of the run (`runs.summary.RunSummary`); the rows are in
    `out`, with all canonical columns and `summary`. `run` takes `progress` (see `runs.progress`).

    Raises:
        OdqaError: there is no such prompt, engine or compressor, or `out` would replace an input.
        SchemaError: a needed column is missing, or documents have no text.
        DataError: the dump cannot be read.
        ModelError, EngineError: the model cannot be opened, or cannot go on.
        OutputError: `out` cannot be written.
    """

    command = "compress"
    runner = "odqa_fast.steps.run:compress_dump"

    paths: DumpPaths
    model: Annotated[str | None, _MODEL] = None
    out: ParquetFile = ""
    _: KW_ONLY
    compressor: Annotated[
        str | None,
        Option(
            "Instead of a model: none, top1, lead, random, bm25, or one that was added. Needs "
            "--level."
        ),
    ] = None
    level: Annotated[
        float | None,
        Option(
            "With --compressor: the largest ratio of characters, 0.2 or 20%.",
            above=0,
            high=1,
            read=_as_level,
        ),
    ] = None
    prompt: Annotated[
        str, Option("A prompt of ours, or a TOML file with places {documents}, {question}.")
    ] = "compress"
    seed: Annotated[
        int | None,
        Option(
            "Of the draws of a model, or of --compressor random; at temperature 0 a model draws "
            "none. By default 0, and left to an endpoint.",
            low=0,
        ),
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if not os.fspath(self.out):
            raise OdqaError(
                "there is nowhere to write.",
                hint="Name a Parquet file with --out (in Python out=).",
            )
        if (self.model is None) == (self.compressor is None):
            raise OdqaError("name either a --model or a --compressor.")
        if (self.compressor is None) != (self.level is None):
            raise OdqaError("--compressor and --level go together.")
        if self.prompt != "compress" and self.model is None:
            raise OdqaError("--prompt goes with --model, not with --compressor.")


@dataclass(frozen=True)
class AnswerJob(StepJob):
    """Answer the question of each row with a model.

    In Python the result is the summary of the run (`runs.summary.RunSummary`); the rows are in
    `out`, with all canonical columns and `prediction`. `run` takes `progress` (see
    `runs.progress`).

    Raises:
        As `compress_file`.
    """

    command = "answer"
    runner = "odqa_fast.steps.run:answer_dump"

    paths: DumpPaths
    model: Annotated[str, _MODEL]
    out: ParquetFile
    _: KW_ONLY
    context: Annotated[
        Choice, Option("What is read; auto: the summary, else the documents, else nothing.")
    ] = "auto"
    prompt: Annotated[
        str, Option("A prompt of ours, or a TOML file with a place {question}, and one {context}.")
    ] = "answer"
    closed_prompt: Annotated[
        str, Option("The same for rows without a context: {question} alone.")
    ] = "answer-closed"


compress_file = function_of(CompressJob, "compress_file")
answer_file = function_of(AnswerJob, "answer_file")
