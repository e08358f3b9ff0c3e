"""Rows that lack what is scored because a model failed: told from those that are merely null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.engines.failures import Failures
from odqa_fast.schema import ERRORS

#: What they count: as any row without, which is 0 of most metrics; or in no mean.
Failed = Literal["zero", "null"]

_NOTES = {
    ("prediction", "zero"): "{n} predictions count 0 because a model failed, where --failed null "
    "leaves them out",
    ("summary", "zero"): "{n} summaries count as null because a model failed, where --failed null "
    "leaves them out",
    ("prediction", "null"): "{n} predictions are in no mean because a model failed",
    ("summary", "null"): "{n} summaries are in no mean because a model failed",
}


def failed_rows(batch: pa.RecordBatch, columns: Iterable[str]) -> dict[str, npt.NDArray[np.int64]]:
    """The rows in which a column is null or blank beside an error, by column, where there are
    any."""
    found = {}
    for column in ERRORS.keys() & {*columns} & {*batch.schema.names}:
        if ERRORS[column] not in batch.schema.names:
            continue
        rows = _nonzero(pc.invert(_is_blank(batch.column(ERRORS[column]))))
        rows = rows[_nonzero(_is_blank(batch.column(column).take(pa.array(rows))))]
        if len(rows):
            found[column] = rows
    return found


def _is_blank(texts: pa.Array) -> pa.Array:
    return pc.equal(pc.fill_null(pc.utf8_trim_whitespace(texts), ""), "")


def _nonzero(truths: pa.Array) -> npt.NDArray[np.int64]:
    return np.flatnonzero(truths.to_numpy(zero_copy_only=False))


class FailedCounts:
    """How many rows failed, and the first reasons; grows batch by batch."""

    def __init__(self) -> None:
        self._failures = {column: Failures() for column in ERRORS}

    def add(self, batch: pa.RecordBatch, failed: Mapping[str, npt.NDArray[np.int64]]) -> None:
        """Counts the failed rows of a batch; see `failed_rows`."""
        for column, rows in failed.items():
            for error in batch.column(ERRORS[column]).take(pa.array(rows)).to_pylist():
                self._failures[column].add(error)

    @property
    def counts(self) -> dict[str, int]:
        """By what is missing, where there are some."""
        names = {"prediction": "failed_predictions", "summary": "failed_summaries"}
        return {names[column]: each.n for column, each in self._failures.items() if each.n}

    def notes(self, failed: Failed) -> list[str]:
        """What a reader of the numbers should know."""
        return [
            note
            for column, each in self._failures.items()
            for note in each.note(_NOTES[column, failed])
        ]

    def tags(self, failed: Failed, inputs: Iterable[str]) -> dict[str, str]:
        """What this adds to the signature of a metric of some columns."""
        touched = any(self._failures[column].n for column in inputs if column in ERRORS)
        return {"failed": "null"} if touched and failed == "null" else {}
