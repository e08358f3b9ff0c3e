"""`compress_file` and `answer_file`: dumps on disk through a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odqa_fast.engines.compressor import open_compressor
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prepared import Worker
from odqa_fast.engines.reader import open_reader
from odqa_fast.io import open_dump
from odqa_fast.io.output_paths import output_file
from odqa_fast.option import Paths
from odqa_fast.runs.input import DumpOptions
from odqa_fast.runs.rejected import RejectedFile
from odqa_fast.schema import SAMPLES
from odqa_fast.steps.kinds import COMPRESS, Choice, answer
from odqa_fast.steps.run import Progress, run
from odqa_fast.steps.stage import Stage


@dataclass(frozen=True)
class FileOptions(DumpOptions):
    """How a dump is read, and how its run is shown.

    Args:
        mapping, on_error, where: see `DumpOptions`.
        resume: go on with an unfinished run.
        cache: a file for replies that outlives the run; see `steps.run.run`.
        progress: told after every reply how far it is.
    """

    resume: bool = False
    cache: Path | None = None
    progress: Callable[[Progress], None] | None = None


def compress_file(
    paths: Paths,
    model: str | Callable[[], Worker],
    out: str | Path,
    *,
    prompt: str = "compress",
    how: EngineOptions | None = None,
    options: FileOptions | None = None,
) -> dict[str, Any]:
    """Summarize the documents of a dump.

    Args:
        paths: see `io.open_dump`.
        model: see `engines.compressor.open_compressor`; or what opens another worker.
        out: a Parquet file with all canonical columns and `summary`.
        prompt: see `engines.compressor.open_compressor`.
        how: how the model runs.
        options: how the dump is read.

    Returns:
        The summary of the run; see `steps.run`.

    Raises:
        OdqaError: see `io.output_paths.output_file` and `steps.run.run`.
    """

    def opened() -> Worker:
        if callable(model):
            return model()
        return open_compressor(model, how, prompt=prompt)

    return _run(COMPRESS, opened, paths, out, how, options)


def answer_file(
    paths: Paths,
    model: str,
    out: str | Path,
    *,
    context: Choice = "auto",
    prompt: str = "answer",
    closed_prompt: str = "answer-closed",
    how: EngineOptions | None = None,
    options: FileOptions | None = None,
) -> dict[str, Any]:
    """Answer the questions of a dump.

    Args:
        paths: see `io.open_dump`.
        model: see `engines.reader.open_reader`.
        out: a Parquet file with all canonical columns and `prediction`.
        context: see `steps.kinds.answer`.
        prompt: see `engines.reader.open_reader`.
        closed_prompt: see `engines.reader.open_reader`.
        how: how the model runs.
        options: how the dump is read.

    Returns:
        The summary of the run; see `steps.run`.

    Raises:
        OdqaError: see `io.output_paths.output_file` and `steps.run.run`.
    """

    def opened() -> Worker:
        return open_reader(model, how, prompt=prompt, closed_prompt=closed_prompt)

    options = options or FileOptions()
    compressed = _has_summaries(paths, options) if context == "auto" else False
    return _run(answer(context, compressed=compressed), opened, paths, out, how, options)


def _has_summaries(paths: Paths, options: DumpOptions) -> bool | None:
    """Whether a dump has a column for summaries, in whatever row that is chosen; None where it can
    be read only once. What is wrong with its rows is said where they are read."""
    reading = replace(options.reading({"summary"}), on_error="skip", one_run=False)
    dump = open_dump(paths, reading)
    if dump.total_bytes is None:
        return None
    return any("summary" in batch.schema.names for batch in dump)


def _run(
    stage: Stage,
    opened: Callable[[], Worker],
    paths: Paths,
    out: str | Path,
    how: EngineOptions | None,
    options: FileOptions | None,
) -> dict[str, Any]:
    options = options or FileOptions()
    target = output_file(out, ("Parquet",), paths)
    with RejectedFile(target) as rejected:
        # What is missing on disk is said before a model is loaded.
        dump = open_dump(paths, options.reading(SAMPLES.names), reject=rejected.add)
        with closing(opened()) as worker:
            summary = run(
                stage,
                worker,
                dump,
                target,
                timing=(how or EngineOptions()).timing,
                resume=options.resume,
                cache=options.cache,
                progress=options.progress,
            )
        rejected.commit()
    return summary
