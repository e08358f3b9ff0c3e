"""A Parquet file that is made of parts: they lie beside it, and it appears whole at the end."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from odqa_fast.errors import OdqaError, OutputError
from odqa_fast.folders import partial_path, remove_abandoned
from odqa_fast.io.parquet import WRITING
from odqa_fast.io.targets import file_at


class PartFiles:
    """Collects batches for a Parquet file, which may differ in their columns.

    The parts lie in a folder named after the file, where others may keep what an unfinished run
    needs to go on. It is removed once the file is there.

    Args:
        out: the file; one that is there already is replaced at `commit`.
        resume: whether an unfinished run may lie there.

    Raises:
        OdqaError: one lies there and may not.
        OutputError: the place cannot be written, or holds no regular file.
    """

    def __init__(self, out: Path, *, resume: bool) -> None:
        self._out = file_at(out)
        self.folder = self._out.with_name(f"{self._out.name}.parts")
        self._parts: list[Path] = []
        if self.folder.exists() and not resume:
            raise OdqaError(
                "holds an unfinished run.",
                where=str(self.folder),
                hint="--resume goes on with it; delete the folder to start anew.",
            )
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self._out)
            for part in self.folder.glob("rows-*.arrow"):
                part.unlink()

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        path = self.folder / f"rows-{len(self._parts):05}.arrow"
        with self._explained(), pa.OSFile(str(path), "wb") as file:
            with pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)
        self._parts.append(path)

    def commit(self, order: pa.Schema, metadata: Mapping[str, str]) -> None:
        """Write the file, put it in its place, and remove the parts.

        Args:
            order: of the columns; it may name some that no part has.
            metadata: kept in the file's schema.
        """
        partial = partial_path(self._out)
        try:
            with self._explained():
                found = {name for part in self._parts for name in _schema_of(part).names}
                fields = [field for field in order if field.name in found] or list(order)
                schema = pa.schema(fields, metadata=dict(metadata))
                with pq.ParquetWriter(partial, schema, **WRITING) as writer:
                    for batch in self._batches(schema):
                        writer.write_batch(batch)
                with partial.open("rb") as file:
                    os.fsync(file.fileno())
                partial.replace(self._out)
        finally:
            partial.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for part in self._parts:
            with pa.memory_map(str(part)) as file, pa.ipc.open_file(file) as reader:
                batch = reader.get_batch(0)
                columns = [
                    batch.column(field.name)
                    if field.name in batch.schema.names
                    else pa.nulls(batch.num_rows, field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def leave(self) -> None:
        """Keep of an unfinished run only what it can go on with, which is not the rows."""
        for part in self._parts:
            part.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            hint = (
                "Free some space and go on with --resume." if error.errno == errno.ENOSPC else None
            )
            reason = error.strerror or str(error)
            raise OutputError(
                f"could not be written: {reason}.", where=str(self._out), hint=hint
            ) from None


def _schema_of(part: Path) -> pa.Schema:
    with pa.memory_map(str(part)) as file, pa.ipc.open_file(file) as reader:
        return reader.schema
