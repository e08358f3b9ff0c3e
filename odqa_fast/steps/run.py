"""A dump through a component, to a Parquet file: read, ask, keep, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from odqa_fast.engines.base import Component
from odqa_fast.engines.replies import KEPT_NOTE
from odqa_fast.io import Dump, open_dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.names import list_names, missing_column
from odqa_fast.io.output_paths import output_file
from odqa_fast.io.parquet_parts import PartFiles
from odqa_fast.runs.input import Read
from odqa_fast.runs.progress import Watch
from odqa_fast.runs.provenance import list_inputs
from odqa_fast.runs.record import METADATA
from odqa_fast.runs.rejected import open_dump_for
from odqa_fast.runs.summary import RunSummary, as_text
from odqa_fast.schema import SAMPLES
from odqa_fast.steps.asking import Asking
from odqa_fast.steps.contexts import make_answer_step, make_compress_step
from odqa_fast.steps.job import AnswerJob, CompressJob
from odqa_fast.steps.opening import open_job_compressor, open_job_reader
from odqa_fast.steps.run_replies import RunReplies, replies_path
from odqa_fast.steps.step import NOT_ASKED, READ, Asked, NotAsked, Row, Step
from odqa_fast.steps.tally import Tally
from odqa_fast.steps.timing import describe_seconds, measure_throughput

#: Rows whose requests go to the component together: enough to find equals and to sort by length.
WINDOW_ROWS = 1024


def compress_dump(job: CompressJob, *, progress: Watch | None = None) -> RunSummary:
    """Compresses the documents of a dump; see `CompressJob`.

    Args:
        job: what to do.
        progress: told how far it is, before the first reply and after each.
    """
    return run_step(job, make_compress_step(job.level), partial(open_job_compressor, job), progress)


def answer_dump(job: AnswerJob, *, progress: Watch | None = None) -> RunSummary:
    """Answers the questions of a dump; see `AnswerJob`.

    Args:
        job: what to do.
        progress: told how far it is, before the first reply and after each.
    """
    compressed = _has_summaries(job) if job.context == "auto" else False
    step = make_answer_step(job.context, compressed=compressed)
    return run_step(job, step, partial(open_job_reader, job), progress)


def _has_summaries(job: AnswerJob) -> bool | None:
    """Whether a dump has a column for summaries, in whatever row that is chosen; None where it can
    be read only once. What is wrong with its rows is said where they are read."""
    reading = replace(job.reading({"summary"}), on_error="skip", one_run=False)
    dump = open_dump(job.paths, reading)
    if dump.total_bytes is None:
        return None
    return any("summary" in batch.schema.names for batch in dump)


def run_step(
    job: CompressJob | AnswerJob,
    step: Step,
    opener: Callable[[], Component[Any]],
    progress: Watch | None = None,
) -> RunSummary:
    """Asks what every row asks, and writes the dump with what comes of it.

    Args:
        job: what is read and written, and how.
        step: what is asked.
        opener: opens who is asked.
        progress: told how far it is, before the first reply and after each.

    Returns:
        The summary, which also stands in the file's schema. `counts.failed` are rows that have
        nothing because something failed: it or, of an answer, the compression before it.

    Raises:
        SchemaError: a needed column is missing, or documents have no text.
        DataError: the dump cannot be read.
        EngineError: the component cannot go on.
        OutputError: the output cannot be written.
    """
    out = output_file(job.out, ("Parquet",), job.paths)
    with ExitStack() as stack:
        # What is missing on disk is said before a model is loaded.
        dump = stack.enter_context(open_dump_for(out, job.paths, job.reading(SAMPLES.names)))
        component = stack.enter_context(closing(opener()))
        parts = PartFiles(out, resume=job.resume)
        stack.callback(parts.leave)
        tag = f"{step.tag}|timing:{job.timing}"
        cache = None if job.cache is None else Path(job.cache)
        kept = RunReplies(out, parts.folder, cache, f"{component.signature}{tag}")
        stack.enter_context(kept)
        asking = Asking(component, kept.store, tag, dump, progress)
        running = _Run(job, step, asking)
        for batch in _read_windows(step, asking, dump, job.command):
            parts.write(running.fill_rows(batch))
        summary = running.summarize(dump, out)
        metadata = {METADATA.decode(): json.dumps(summary.as_dict(), ensure_ascii=False)}
        parts.commit(step.make_schema(job.timing), metadata)
        kept.finish(failed=running.tally.failed > 0)
        parts.remove()
    return summary


def _read_windows(step: Step, asking: Asking, dump: Dump, command: str) -> Iterator[pa.RecordBatch]:
    """The rows of a dump that are asked together; an error where a needed column is missing."""
    needed = step.needs | ({"question"} if asking.component.needs_question else set())
    batches: Iterable[pa.RecordBatch] = dump
    if "documents" in needed or step.or_documents:
        batches = with_texts(dump, [dump], unless="summary" if step.or_documents else "")
    n_rows = 0
    for batch in batches:
        missing = sorted(needed - set(batch.schema.names))
        if missing and not n_rows:
            # Said now, though a later row may have it: models are slow.
            raise missing_column(missing[0], repr(command), [dump])
        n_rows += batch.num_rows
        for start in range(0, batch.num_rows, WINDOW_ROWS):
            yield batch.slice(start, WINDOW_ROWS)


class _Run:
    """A step over the rows of a dump."""

    def __init__(self, job: CompressJob | AnswerJob, step: Step, asking: Asking) -> None:
        self._job, self._step, self._asking = job, step, asking
        self.tally = Tally(step)

    def fill_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Some rows with what came of them."""
        read = batch.select([name for name in READ if name in batch.schema.names])
        asked = [self._prepare(row) for row in read.to_pylist()]
        replies = self._asking.ask(
            [each.prepared.request if isinstance(each, Asked) else None for each in asked]
        )
        self.tally.add(asked, replies)
        return self._step.fill_rows(batch, asked, replies, self._job.timing)

    def _prepare(self, row: Row) -> Asked | NotAsked:
        question, component = row.get("question"), self._asking.component
        if question is None and component.needs_question:
            return NOT_ASKED
        context = self._step.context(row)
        if isinstance(context, NotAsked):
            return context
        is_blank = context.kind == "summary" and not any(map(str.strip, context.plain()))
        return Asked(
            context.kind, component.prepare(self._step.ask(question or "", context)), is_blank
        )

    def summarize(self, dump: Dump, out: Path) -> RunSummary:
        """The run in figures."""
        step, asking, timing = self._step, self._asking, self._job.timing
        read, store = Read.of(dump), asking.store
        replies = [each for each in asking.replies.values() if each.finish != "error"]
        counts = {
            **self.tally.counts,
            "distinct": len(asking.replies),
            "kept_from_before": len(store.from_before),
            "kept_damaged": store.n_damaged,
            **read.oddities,
        }
        notes = list(self.tally.notes("" if self._job.cache else replies_path(out).name))
        if n := counts["kept_from_before"]:
            notes.append(KEPT_NOTE.format(n=n))
        if left_out := dump.left_out:
            notes.append(
                f"{out.name} holds the columns that this program knows, without "
                f"{list_names(left_out)}."
            )
        tags = (f"{name}:{tag}" for name, tag in read.tags.items())
        seconds = {
            step.name_seconds(timing): [reply.seconds for reply in replies],
            f"{step.name}_tokenize_seconds": [reply.tokenize_seconds for reply in replies],
            f"{step.name}_queue_seconds": [reply.queue_seconds for reply in replies],
            f"{step.name}_prompt_seconds": self.tally.prompt_seconds,
        }
        return RunSummary(
            metrics={},
            counts={name: n for name, n in counts.items() if n or name == "rows"},
            notes=[*notes, *read.notes],
            inputs=list_inputs([dump]),
            extras={
                "out": as_text(out),
                "column": step.column,
                "signature": "|".join([asking.component.signature + step.tag, *tags]),
                "runs": {**asking.component.facts, **step.facts, "timing": timing},
                "seconds": {name: describe_seconds(each) for name, each in seconds.items()},
                "tokens": measure_throughput(replies),
            },
            job=self._job.record(),
        )
