"""Batches of Arrow IPC, in a file or a stream, looked at before they are trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from odqa_fast.io.names import resolve
from odqa_fast.io.options import Intake


def check_batches(batches: Iterable[pa.RecordBatch], intake: Intake) -> Iterator[pa.RecordBatch]:
    """Yield the needed columns of each batch; broken UTF-8 is left to be found with its row."""
    for batch in batches:
        names = batch.schema.names
        wanted = set(resolve(names, intake.options, intake.file).values())
        chosen = batch.select([i for i, name in enumerate(names) if name in wanted])
        for column in chosen.columns:
            _check_names(column.type)
        yield chosen


def _check_names(data_type: pa.DataType) -> None:
    """Look at the names of nested fields: pyarrow decodes them only now, and may raise."""
    for i in range(data_type.num_fields):
        field = data_type.field(i)
        field.name.encode()
        _check_names(field.type)
