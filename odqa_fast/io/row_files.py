"""Files of rows that appear whole or not at all: JSON lines, or Parquet by their name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odqa_fast.errors import DataError, OutputError
from odqa_fast.folders import partial_path, remove_abandoned
from odqa_fast.io.formats import Form, form_of
from odqa_fast.io.parquet import WRITING
from odqa_fast.io.targets import file_at

#: What `write_rows` can write.
FORMS: tuple[Form, ...] = ("JSON lines", "Parquet")

Row = Mapping[str, Any]


def write_rows(files: Sequence[tuple[Path, Iterable[Row], pa.Schema]]) -> None:
    """Writes files that belong together: all are written beside their places before any appears.

    Args:
        files: path, rows, and the fields that Parquet is to have; a path that means Parquet
            (`formats.form_of`) becomes that, any other JSON lines.

    Raises:
        OutputError: one could not be written, or no regular file stands there.
    """
    places = [file_at(path) for path, _, _ in files]
    partial = [(partial_path(path), path) for path in places]
    path = Path()
    try:
        for (beside, path), (named, rows, schema) in zip(partial, files, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(path)
            _write(beside, rows, schema, parquet=form_of(named.name) == "Parquet")
        for beside, path in partial:
            beside.replace(path)
    except OSError as error:
        raise OutputError(
            f"could not be written: {error.strerror or error}.", where=str(path)
        ) from None
    finally:
        for beside, _ in partial:
            with suppress(OSError):
                beside.unlink()


def _write(path: Path, rows: Iterable[Row], schema: pa.Schema, *, parquet: bool) -> None:
    if parquet:
        pq.write_table(pa.Table.from_pylist(list(rows), schema), path, **WRITING)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        return
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file that `write_rows` wrote.

    Raises:
        DataError: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                rows: list[dict[str, Any]] = pq.read_table(
                    path, page_checksum_verification=True
                ).to_pylist()
                return rows
        with path.open(encoding="utf-8") as lines:
            return [
                _object(line, path, number) for number, line in enumerate(lines, 1) if line.strip()
            ]
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
