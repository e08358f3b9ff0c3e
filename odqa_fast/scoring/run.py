"""Batches and threads: the only place that makes threads for scoring."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odqa_fast._kernels.columns import Column
from odqa_fast.errors import SchemaError
from odqa_fast.schema import SAMPLES
from odqa_fast.scoring.plan import Plan, Task

# Enough ranges to keep every thread busy to the end of a batch, few enough to cost nothing.
RANGES_PER_THREAD = 4
MIN_RANGE_BYTES = 1 << 16


@dataclass(frozen=True)
class ScoredBatch:
    """The scores of one batch, by metric as asked for; NaN where a row is not scored."""

    batch: pa.RecordBatch
    first_row: int
    scores: dict[str, npt.NDArray[np.float64]]
    task_counts: list[Mapping[str, int]]

    def without_inputs(self) -> ScoredBatch:
        """The same without the columns that were scored, so that they may go."""
        return replace(self, batch=self.batch.select(["id"] if self.ids is not None else []))

    @property
    def ids(self) -> pa.Array | None:
        """The ids, where the input has some."""
        return self.batch.column("id") if "id" in self.batch.schema.names else None


def default_threads() -> int:
    """As many processors as this process may run on, up to 16: each thread takes memory, and
    reading one file feeds no more."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(here or 1, 16)


class Workers:
    """The threads of one scoring, for parsing and scoring alike: no core waits for the other work.

    `depth` is how many parts of an input are worth parsing ahead.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.depth = threads + 1
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="odqa_fast")
        self.submit = self._pool.submit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def run(batches: Iterable[pa.RecordBatch], plan: Plan, workers: Workers) -> Iterator[ScoredBatch]:
    """Scores canonical batches in order; the next one is taken while one is being scored."""
    waiting: _Running | None = None
    first_row = 0
    for batch in batches:
        running = _Running(batch, first_row, plan, workers)
        first_row += batch.num_rows
        if waiting is not None:
            yield waiting.result()
        waiting = running
    if waiting is not None:
        yield waiting.result()


class _Running:
    """A batch whose row ranges are with the threads."""

    def __init__(self, batch: pa.RecordBatch, first_row: int, plan: Plan, workers: Workers) -> None:
        self.batch, self.first_row, self.plan = batch, first_row, plan
        rows = batch.num_rows
        self.columns = {name: _column(batch, name) for name in plan.columns}
        self.outputs = [{name: np.empty(rows) for name in task.outputs} for task in plan.tasks]
        self.ranges: list[Future[list[dict[str, int]]]] = [
            workers.submit(self._score_range, lo, hi)
            for lo, hi in _ranges(list(self.columns.values()), rows, workers.threads)
        ]

    def _score_range(self, lo: int, hi: int) -> list[dict[str, int]]:
        return [
            task.rows(task.settings, self._columns_of(task), lo, hi, outputs)
            for task, outputs in zip(self.plan.tasks, self.outputs, strict=True)
        ]

    def _columns_of(self, task: Task) -> dict[str, Column]:
        return {name: self.columns[name] for name in task.columns}

    def result(self) -> ScoredBatch:
        totals: list[Counter[str]] = [Counter() for _ in self.plan.tasks]
        for done in self.ranges:
            for total, counts in zip(totals, done.result(), strict=True):
                total.update(counts)
        scores = {
            asked: values[name]
            for task, values in zip(self.plan.tasks, self.outputs, strict=True)
            for name, shown in task.outputs.items()
            for asked in shown
        }
        ordered = {request.asked: scores[request.asked] for request in self.plan.requests}
        return ScoredBatch(self.batch, self.first_row, ordered, list(totals))


def _column(batch: pa.RecordBatch, name: str) -> Column:
    if name in batch.schema.names:
        array = batch.column(name)
    else:
        # A field that this part of the input does not have is null in all its rows.
        array = pa.nulls(batch.num_rows, SAMPLES.field(name).type)
    try:
        return Column(name, array)
    except TypeError as error:
        raise SchemaError(f"{error}.") from None


def _ranges(columns: list[Column], rows: int, threads: int) -> list[tuple[int, int]]:
    """Row ranges of about the same number of bytes, in order."""

    def bytes_before(row: int) -> int:
        # A row counts a little of its own, so that rows without text are shared out as well.
        return 16 * row + sum(column.bytes_before(row) for column in columns)

    total = bytes_before(rows)
    pieces = max(1, min(threads * RANGES_PER_THREAD, total // MIN_RANGE_BYTES))
    edges = [0]
    for piece in range(1, pieces):
        low, high = edges[-1], rows
        while low < high:
            middle = (low + high) // 2
            if bytes_before(middle) * pieces < total * piece:
                low = middle + 1
            else:
                high = middle
        edges.append(low)
    edges.append(rows)
    return [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]
