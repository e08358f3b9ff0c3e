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

from odqa_fast.atomic_output import partial_path, remove_abandoned
from odqa_fast.errors import OdqaError, OutputError
from odqa_fast.io.formats.parquet import WRITING
from odqa_fast.io.output_paths import file_at

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]


class PartFiles:
    """Collects batches for a Parquet file, which may differ in their columns.

    The parts lie in a folder named after the file, where others may keep what an unfinished run
    needs to go on. While a process has it, no other may: it is locked, and the lock ends with the
    process.

    Args:
        out: the file; one that is there already is replaced at `commit`.
        resume: whether an unfinished run may lie there.

    Raises:
        OdqaError: one lies there and may not.
        OutputError: the place cannot be written, holds no regular file, or another process has it.
    """

    def __init__(self, out: Path, *, resume: bool) -> None:
        self._out = file_at(out)
        self.folder = self._out.with_name(f"{self._out.name}.parts")
        self._parts: list[Path] = []
        was_there = self.folder.exists()
        with self._explain_errors():
            self._lock = self._lock_folder()
        if was_there and not resume:
            os.close(self._lock)
            raise OdqaError(
                "holds an unfinished run.",
                where=str(self.folder),
                hint="--resume goes on with it; delete the folder to start anew.",
            )
        with self._explain_errors():
            remove_abandoned(self._out)
            for part in self.folder.glob("rows-*.arrow"):
                part.unlink()

    def _lock_folder(self) -> int:
        """Makes the folder and takes it for this process; the handle it is held by."""
        while True:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Who had it may have removed it meanwhile.
                if os.path.samestat(os.fstat(handle), os.stat(self.folder)):
                    return handle
            except BlockingIOError:
                os.close(handle)
                raise OutputError(
                    "another process is writing it.",
                    where=str(self._out),
                    hint="Wait for its end, or name another --out.",
                ) from None
            except FileNotFoundError:
                pass
            os.close(handle)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        path = self.folder / f"rows-{len(self._parts):05}.arrow"
        with self._explain_errors(), pa.OSFile(str(path), "wb") as file:
            with pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)
        self._parts.append(path)

    def commit(self, order: pa.Schema, metadata: Mapping[str, str]) -> None:
        """Write the file and put it in its place.

        Args:
            order: of the columns; it may name some that no part has.
            metadata: kept in the file's schema.
        """
        partial = partial_path(self._out)
        try:
            with self._explain_errors():
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

    def remove(self) -> None:
        """Remove the folder of a finished run."""
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
        """Let go of the folder; keep of an unfinished run only what it can go on with, which is
        not the rows."""
        for part in self._parts:
            part.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
        os.close(self._lock)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
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
