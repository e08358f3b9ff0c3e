"""Files of rows that appear whole or not at all: JSON lines, or Parquet by their name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from odqa_fast.atomic_output import partial_path, remove_abandoned
from odqa_fast.errors import DataError, OutputError
from odqa_fast.io.formats import name_form
from odqa_fast.io.formats.parquet import WRITING
from odqa_fast.io.output_paths import file_at

#: What can be written.
FORMS: tuple[str, ...] = ("JSON lines", "Parquet")
#: A row group of Parquet has about so many bytes before they are compressed.
_GROUP_BYTES = 32 << 20
#: Rows of Parquet that are objects at once.
_ROWS_AT_ONCE = 256

Row = Mapping[str, Any]


class RowFile:
    """A file of rows that is written beside its place; see `write_rows`."""

    def __init__(self, out: Path, schema: pa.Schema) -> None:
        self.place = file_at(out)
        self.partial = partial_path(self.place)
        self._schema = schema
        self._parquet: pq.ParquetWriter | None = None
        self._file: IO[bytes] | None = None
        self._rows: list[Row] = []
        self._group: list[pa.RecordBatch] = []
        self._group_bytes = 0
        self._is_parquet = name_form(out.name) == "Parquet"

    def open(self) -> None:
        """Begins."""
        with self._explain_errors():
            self.place.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self.place)
            self._file = self.partial.open("wb")
            if self._is_parquet:
                self._parquet = pq.ParquetWriter(self._file, self._schema, **WRITING)

    def add(self, rows: Iterable[Row]) -> None:
        """Appends rows."""
        assert self._file is not None
        if self._parquet is None:
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            with self._explain_errors():
                self._file.write(lines.encode())
            return
        self._rows += rows
        if len(self._rows) >= _ROWS_AT_ONCE:
            with self._explain_errors():
                self._take_rows()

    def _take_rows(self) -> None:
        batch = pa.RecordBatch.from_pylist(self._rows, self._schema)
        self._rows = []
        self._group.append(batch)
        self._group_bytes += batch.nbytes
        if self._group_bytes >= _GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        if self._group and self._parquet is not None:
            table = pa.Table.from_batches(self._group)
            self._group, self._group_bytes = [], 0
            self._parquet.write_table(table, max(1, table.num_rows))

    def close(self) -> None:
        """Ends, and waits until it lies on the disk."""
        assert self._file is not None
        with self._explain_errors():
            if self._parquet is not None:
                self._take_rows()
                self._write_group()
                self._parquet.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def appear(self) -> None:
        """Puts it in its place."""
        with self._explain_errors():
            self.partial.replace(self.place)

    def discard(self) -> None:
        """Leaves nothing that is not in its place."""
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
            self.partial.unlink()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"could not be written: {error.strerror or error}.", where=str(self.place)
            ) from None


@contextmanager
def write_rows(*files: tuple[Path, pa.Schema]) -> Iterator[list[RowFile]]:
    """Files that belong together: all are written beside their places before any appears, at the
    end of the block.

    Args:
        files: paths, and the fields that Parquet is to have; a path that means Parquet
            (`formats.name_form`) becomes that, any other JSON lines.

    Raises:
        OutputError: one could not be written, or no regular file stands there.
    """
    made = [RowFile(path, schema) for path, schema in files]
    try:
        for each in made:
            each.open()
        yield made
        for each in made:
            each.close()
        for each in made:
            each.appear()
    finally:
        for each in made:
            each.discard()


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of a file that `write_rows` wrote.

    Raises:
        DataError: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                parquet = pq.ParquetFile(path, page_checksum_verification=True)
                for batch in parquet.iter_batches(_ROWS_AT_ONCE):
                    yield from batch.to_pylist()
                return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _object(line, path, number)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}.", where=str(path)) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}.", where=str(path)) from None


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise DataError("is no JSON object.", where=f"{path}, line {number}")
    return row
