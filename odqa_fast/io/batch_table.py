"""Rows that are held in memory as batches of one schema, and taken from it in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.io.ids import NO_ROW, Rows
from odqa_fast.io.slicing import MAX_BYTES, MAX_ROWS


class BatchTable:
    """Batches as one table.

    Args:
        batches: canonical batches; they may differ in columns and widths of offsets.

    Attributes:
        names: of the columns.
        n_rows: how many rows there are, without those appended.
        rows_out: so many rows of average size make up a batch.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch]) -> None:
        self._batches = _make_alike(batches)
        self._starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        self.names: list[str] = self._batches[0].schema.names if self._batches else []
        self.n_rows = int(self._starts[-1])
        n_bytes = sum(batch.nbytes for batch in self._batches)
        self.rows_out = max(1, min(MAX_ROWS, MAX_BYTES * self.n_rows // max(n_bytes, 1)))

    def column(self, name: str) -> list[pa.Array]:
        """Return a column, batch by batch."""
        return [batch.column(name) for batch in self._batches]

    def value(self, row: int, name: str) -> Any:
        """Return what stands in one place, as Python has it."""
        batch, place = self._place(row)
        return batch.column(name)[place].as_py()

    def content(self, row: int, without: Set[str]) -> dict[str, Any]:
        """Return a row, without some of its columns."""
        batch, place = self._place(row)
        values: dict[str, Any] = batch.slice(place, 1).to_pylist()[0]
        return {name: value for name, value in values.items() if name not in without}

    def append(self, rows: Rows, columns: Mapping[str, Sequence[Any]]) -> Rows:
        """Append copies of rows with other values in some columns; return their numbers."""
        copies = self.gather(rows, self.names)
        for name, values in columns.items():
            place = copies.schema.get_field_index(name)
            field = copies.schema.field(place)
            copies = copies.set_column(place, field, pa.array(values, field.type))
        self._batches.append(copies)
        first = int(self._starts[-1])
        self._starts = np.append(self._starts, first + len(rows))
        return np.arange(first, first + len(rows))

    def gather(self, rows: Rows, names: Sequence[str]) -> pa.RecordBatch:
        """Take rows of some columns; NO_ROW gives nulls."""
        chunk_of = np.searchsorted(self._starts, rows, side="right") - 1
        place = np.full(len(rows), NO_ROW, np.int64)
        parts: list[pa.RecordBatch] = []
        taken = 0
        for chunk in np.unique(chunk_of[rows != NO_ROW]):
            here = np.flatnonzero((chunk_of == chunk) & (rows != NO_ROW))
            local = pa.array(rows[here] - self._starts[chunk])
            parts.append(self._batches[chunk].select(names).take(local))
            place[here] = np.arange(taken, taken + len(here))
            taken += len(here)
        if not parts:
            parts = [self._batches[0].select(names).slice(0, 0)]
        whole = pa.concat_batches(parts) if len(parts) > 1 else parts[0]
        if len(parts) == 1 and taken == len(rows):
            return whole
        return whole.take(pa.array(place, mask=place == NO_ROW))

    def _place(self, row: int) -> tuple[pa.RecordBatch, int]:
        chunk = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._batches[chunk], int(row - self._starts[chunk])


def _make_alike(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Give all batches one schema: the files of one side may differ in columns and offsets."""
    schemas = {batch.schema for batch in batches}
    if len(schemas) <= 1:
        return list(batches)
    schema = pa.unify_schemas(list(schemas), promote_options="permissive")
    return [
        pa.RecordBatch.from_arrays(
            [
                batch.column(field.name).cast(field.type)
                if field.name in batch.schema.names
                else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ],
            schema=schema,
        )
        for batch in batches
    ]
