"""Parquet: only the needed columns, in batches whose decoded size stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from odqa_fast.io.canonical import without_columns
from odqa_fast.io.memory import arrow_batches
from odqa_fast.io.names import document_names, resolve
from odqa_fast.io.options import Intake
from odqa_fast.io.pieces import MAX_BYTES, MAX_ROWS
from odqa_fast.io.source import guarded
from odqa_fast.schema import DOCUMENT

#: Column chunks are read through a buffer of this size: a row group may be gigabytes.
_BUFFER_BYTES = 1 << 20

#: So many rows tell how large a row group's rows are: dictionaries hide it from the metadata.
_PROBED_ROWS = 64


def read_parquet(
    file: pa.NativeFile | pa.Buffer, intake: Intake, found: set[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a Parquet file.

    Raises:
        DataError: the file is damaged or encrypted.
    """
    batches = guarded(_batches(file, intake, found), "Parquet file", intake.file)
    return arrow_batches(batches, intake)


def _batches(
    file: pa.NativeFile | pa.Buffer, intake: Intake, found: set[str]
) -> Iterator[pa.RecordBatch]:
    parquet = pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    found.update(parquet.schema_arrow.names)
    columns = _columns(parquet.schema_arrow, intake)
    for group in range(parquet.num_row_groups):
        n_rows = parquet.metadata.row_group(group).num_rows
        if not columns:
            yield without_columns(n_rows)
            continue
        rows = _PROBED_ROWS
        if n_rows > rows:
            probe = next(parquet.iter_batches(rows, row_groups=[group], columns=columns))
            rows = max(1, min(MAX_ROWS, MAX_BYTES * rows // max(probe.nbytes, 1)))
        yield from parquet.iter_batches(rows, row_groups=[group], columns=columns)


def _columns(schema: pa.Schema, intake: Intake) -> list[str]:
    """Name what to read: of documents only the fields that are known."""
    columns: list[str] = []
    for column, name in resolve(schema.names, intake.options, intake.file).items():
        data_type = schema.field(name).type
        if column == "documents" and pt.is_list(data_type) and pt.is_struct(data_type.value_type):
            known = {n for field in DOCUMENT.names for n in document_names(field)}
            fields = [f.name for f in data_type.value_type if f.name in known]
            columns += [f"{name}.list.element.{field}" for field in fields]
            if fields:
                continue
        columns.append(name)
    return columns
