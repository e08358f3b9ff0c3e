"""Batches: each cut into row ranges, which the threads score while the next is being read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odqa_fast._kernels.columns import Column
from odqa_fast.errors import SchemaError
from odqa_fast.metrics.spec import Tally
from odqa_fast.schema import SAMPLES
from odqa_fast.scoring.diagnose import has_summary
from odqa_fast.scoring.failed import failed_rows
from odqa_fast.scoring.plan import Plan, Task
from odqa_fast.scoring.workers import Workers

# Enough ranges to keep every thread busy to the end of a batch, few enough to cost nothing.
RANGES_PER_THREAD = 2
MIN_RANGE_BYTES = 1 << 16

#: What stands in an output before a metric writes there: a NaN that no computation gives.
_UNWRITTEN_BITS = 0x7FF8_0000_DEAD_0000
UNWRITTEN = np.array(_UNWRITTEN_BITS, np.int64).view(np.float64)[()]

#: By so much may the cosine of a vector with itself pass 1.
_ROUNDING = 1e-6
#: Whether values are held against the range that their metric declares; the tests do.
_CHECKS_RANGES = bool(os.environ.get("ODQA_FAST_CHECK_RANGES"))


@dataclass(frozen=True)
class ScoredBatch:
    """The scores of one batch, by metric as asked for; NaN where a row is not scored.

    `steps` are what a diagnosis looks at, if there is one; `failed` is of `failed_rows`.
    """

    batch: pa.RecordBatch
    first_row: int
    scores: dict[str, npt.NDArray[np.float64]]
    seen: list[Tally]
    steps: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    failed: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)

    def without_inputs(self) -> ScoredBatch:
        """The same without the columns that were scored, so that they may go."""
        return replace(self, batch=self.batch.select(["id"] if self.ids is not None else []))

    @property
    def ids(self) -> pa.Array | None:
        """The ids, where the input has some."""
        return self.batch.column("id") if "id" in self.batch.schema.names else None


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
        self.columns = {name: _column(batch, name) for name in plan.parts}
        self.outputs = [
            {name: np.full(rows, UNWRITTEN) for name in task.outputs} for task in plan.tasks
        ]
        self.ranges = [
            workers.submit(self._score_range, lo, hi)
            for lo, hi in _ranges(list(self.columns.values()), rows, workers.threads)
        ]

    def _score_range(self, lo: int, hi: int) -> list[Mapping[str, int]]:
        return [
            task.rows(task.settings, self._columns_of(task), lo, hi, outputs)
            for task, outputs in zip(self.plan.tasks, self.outputs, strict=True)
        ]

    def _columns_of(self, task: Task) -> dict[str, Column]:
        return {name: self.columns[name] for name in task.columns}

    def _check(self, asked: str, values: npt.NDArray[np.float64]) -> None:
        """Each row must have been scored, or said not to be."""
        missed = np.flatnonzero(values.view(np.int64) == _UNWRITTEN_BITS)
        if len(missed):
            row = self.first_row + int(missed[0])
            raise RuntimeError(f"the metric {asked!r} left row {row} without a score.")
        request = next((each for each in self.plan.requests if each.asked == asked), None)
        if _CHECKS_RANGES and request is not None:
            low, high = request.spec.range
            if request.spec.open_options.intersection(request.option.split(":")):
                high = None
            most = np.inf if high is None else high + _ROUNDING
            outside = (values < low - _ROUNDING) | (values > most)
            if outside.any():
                value = values[outside][0]
                raise RuntimeError(f"the metric {asked!r} gave {value}, outside {low} to {high}.")

    def result(self) -> ScoredBatch:
        totals = [Tally() for _ in self.plan.tasks]
        for done in self.ranges:
            for total, seen in zip(totals, done.result(), strict=True):
                total.add(seen)
        scores = {
            asked: values[name]
            for task, values in zip(self.plan.tasks, self.outputs, strict=True)
            for name, shown in task.outputs.items()
            for asked in shown
        }
        for asked, values in scores.items():
            self._check(asked, values)
        ordered = {request.asked: scores[request.asked] for request in self.plan.requests}
        steps = {step: scores[step] for step in self.plan.steps}
        if self.plan.diagnosis is not None:
            steps["diagnosis.summary"] = has_summary(self.batch)
        failed = failed_rows(self.batch, self.plan.columns)
        if self.plan.failed == "null":
            for request in self.plan.requests:
                for column in failed.keys() & set(request.spec.inputs):
                    ordered[request.asked][failed[column]] = np.nan
        return ScoredBatch(self.batch, self.first_row, ordered, totals, steps, failed)


def _column(batch: pa.RecordBatch, part: str) -> Column:
    name, _, field = part.partition(".")
    if name in batch.schema.names:
        array = batch.column(name)
    else:
        # A field that this part of the input does not have is null in all its rows.
        array = pa.nulls(batch.num_rows, SAMPLES.field(name).type)
    try:
        return Column(name, array, field or "text")
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
