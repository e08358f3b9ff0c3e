"""Arrow IPC: the file format and the stream format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from odqa_fast.io.memory import arrow_batches
from odqa_fast.io.names import resolve
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source, guarded


def read_ipc_file(
    file: pa.NativeFile | pa.Buffer, intake: Intake, found: set[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of an Arrow IPC file.

    Args:
        file: best mapped into memory: only what is looked at is then read.
        intake: options, counts, refusals.
        found: grows by the names of the columns.

    Raises:
        DataError: the file is damaged.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        # No choice of columns here: it would make copies of what a mapped file has for nothing.
        reader = pa.ipc.open_file(file)
        found.update(reader.schema.names)
        parts = map(reader.get_batch, range(reader.num_record_batches))
        yield from _checked(parts, intake)

    return arrow_batches(guarded(batches(), "Arrow file", intake.file), intake)


def read_ipc_stream(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of an Arrow IPC stream.

    Raises:
        DataError: the stream is damaged.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        reader = pa.ipc.open_stream(pa.PythonFile(source, mode="r"))
        found.update(reader.schema.names)
        yield from _checked(reader, intake)

    return arrow_batches(guarded(batches(), "Arrow stream", intake.file), intake)


def _checked(batches: Iterable[pa.RecordBatch], intake: Intake) -> Iterator[pa.RecordBatch]:
    """Check the needed columns' buffers; broken UTF-8 is left to be found with its row."""
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
