"""Parquet: only the needed columns, in batches whose decoded size stays bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from odqa_fast.io.canonical import has_field, make_columnless
from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.memory import read_batches
from odqa_fast.io.names import answer_names, document_names, resolve
from odqa_fast.io.options import Intake
from odqa_fast.io.prefetch import Promise, work_ahead
from odqa_fast.io.slicing import MAX_BYTES, MAX_ROWS, decoded_bytes
from odqa_fast.io.source import Source, explain_damage
from odqa_fast.schema import DOCUMENT

NAME = "parquet"
SUFFIXES = {".parquet": "Parquet", ".pq": "Parquet"}
NEVER_EMPTY = True

#: How we write: a page that changed on its way is then an error and no other number.
WRITING = {"compression": "zstd", "write_page_checksum": True}

#: Column chunks are read through a buffer of this size: a row group may be gigabytes.
_BUFFER_BYTES = 1 << 20

#: So many rows tell how large a row group's rows are once decoded: dictionaries hide it from the
#: metadata. Other groups of the file are like it, unless they are stored in another size.
_PROBED_ROWS = 64
_LIKE = 1.25

#: A row group up to this size is decoded at once, beside others; a larger one in pieces.
_WHOLE_GROUP_BYTES = 96 << 20


def sniff(head: Head) -> Fit:
    """Tell the format by its first bytes."""
    return Fit.SIGNATURE if head.data.startswith(b"PAR1") else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a Parquet file; arguments as for `jsonl.read`.

    Raises:
        DataError: the file is damaged or encrypted.
    """
    file = source.random_access(NAME)
    batches = explain_damage(_batches(file, intake, found), "Parquet file", intake.file)
    return read_batches(batches, intake)


@dataclass(frozen=True)
class _Group:
    """A row group that has rows; `n_bytes` is a guess of its size once decoded."""

    index: int
    n_rows: int
    n_bytes: int


def _batches(
    file: pa.NativeFile | pa.Buffer, intake: Intake, found: set[str]
) -> Iterator[pa.RecordBatch]:
    parquet = _open(file)
    found.update(parquet.schema_arrow.names)
    columns = _columns(parquet.schema_arrow, intake)
    if not columns:
        for index in range(parquet.num_row_groups):
            yield make_columnless(parquet.metadata.row_group(index).num_rows)
        return

    def start(group: _Group) -> Promise | None:
        if group.n_bytes > _WHOLE_GROUP_BYTES:
            return None
        return intake.submit(_read_group, file, parquet.metadata, group, columns)

    groups = _groups(parquet, columns)
    for group, reading in work_ahead(groups, start, intake.depth, lambda group: group.n_bytes):
        if reading is None:
            yield from _pieces(parquet, group, columns)
            continue
        group_batches = reading.result()
        while group_batches:
            yield group_batches.popleft()  # not kept: what is used up makes room for the next


def _open(
    file: pa.NativeFile | pa.Buffer, metadata: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    return pq.ParquetFile(
        file,
        metadata=metadata,
        buffer_size=_BUFFER_BYTES,
        pre_buffer=False,
        page_checksum_verification=True,  # of the pages that have one
    )


def _groups(parquet: pq.ParquetFile, columns: list[str]) -> Iterator[_Group]:
    stored = decoded = 0.0  # bytes a row of the group that was looked into last
    for index in range(parquet.num_row_groups):
        metadata = parquet.metadata.row_group(index)
        n_rows = metadata.num_rows
        if not n_rows:
            continue
        if n_rows < 0:
            raise pa.ArrowInvalid(f"row group {index} says it has {n_rows} rows")
        here = metadata.total_byte_size / n_rows
        if not here / _LIKE <= stored <= here * _LIKE:
            few = min(n_rows, _PROBED_ROWS)
            probe = next(parquet.iter_batches(few, row_groups=[index], columns=columns), None)
            if probe is None:
                raise pa.ArrowInvalid(f"row group {index} holds no rows, but says it has {n_rows}")
            stored, decoded = here, max(1, sum(map(decoded_bytes, probe.columns))) / few
        yield _Group(index, n_rows, int(decoded * n_rows) + 1)


def _read_group(
    file: pa.NativeFile | pa.Buffer, metadata: pq.FileMetaData, group: _Group, columns: list[str]
) -> deque[pa.RecordBatch]:
    """Decode a row group, in any thread: with a reader of its own, for a reader has a place."""
    return deque(_pieces(_open(file, metadata), group, columns))


def _pieces(parquet: pq.ParquetFile, group: _Group, columns: list[str]) -> Iterator[pa.RecordBatch]:
    # In pieces also where all are wanted: one array of everything grows by copying itself. A little
    # less than may be in one, so that it is not cut once more.
    rows = max(1, min(MAX_ROWS, MAX_BYTES * 7 // 8 * group.n_rows // group.n_bytes))
    batches: Iterator[pa.RecordBatch] = parquet.iter_batches(
        rows, row_groups=[group.index], columns=columns, use_threads=False
    )
    return batches


def _columns(schema: pa.Schema, intake: Intake) -> list[str]:
    """Name what to read: of documents and answers only the fields that are known."""
    columns: list[str] = []
    for column, name in resolve(schema.names, intake.options, intake.file).items():
        data_type = schema.field(name).type
        if column == "documents" and pt.is_list(data_type) and pt.is_struct(data_type.value_type):
            known = {n for field in DOCUMENT.names for n in document_names(field)}
            fields = [each for each in sorted(known) if has_field(data_type.value_type, each)]
            columns += [f"{name}.list.element.{field}" for field in fields]
            if not {*fields} & {*document_names("text")}:
                intake.counts.document_fields.update(data_type.value_type.names)
            if fields:
                continue
        if column == "answers" and pt.is_struct(data_type):
            fields = list(answer_names(field.name for field in data_type))
            columns += [f"{name}.{field}" for field in fields]
            if fields:
                continue
        columns.append(name)
    return list(dict.fromkeys(columns))
