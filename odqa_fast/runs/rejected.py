"""Refused rows as lines of JSON, each with its place and reason; whole, or not there at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO

from odqa_fast.errors import OutputError
from odqa_fast.io import Dump, open_dump
from odqa_fast.io.options import ReadOptions, Rejected
from odqa_fast.io.output_paths import file_at
from odqa_fast.option import Paths


def rejected_path(out: Path) -> Path:
    """Where the refused rows of a single output file go: beside it."""
    return out.with_name(f"{out.name}.rejected.jsonl")


def rejected_line(rejected: Rejected) -> str:
    """A refused row as a line."""
    row = {
        # Bytes of a name that are no text would be no JSON either.
        "file": os.fsencode(rejected.file).decode(errors="replace"),
        "line": rejected.line,
        "row": rejected.row,
        "reason": rejected.reason,
        "text": rejected.text,
    }
    return json.dumps(row) + "\n"


class RejectedFile:
    """The refused rows of a run that writes a single file.

    Args:
        out: that file; the refused rows go to `rejected_path(out)`.

    Raises:
        OutputError: no regular file stands there.
    """

    def __init__(self, out: Path) -> None:
        self._path = file_at(rejected_path(out))
        self._partial = self._path.with_name(f".{self._path.name}.partial-{os.getpid()}")
        self._file: IO[str] | None = None

    def __enter__(self) -> RejectedFile:
        return self

    def add(self, rejected: Rejected) -> None:
        """Appends a refused row.

        Raises:
            OutputError: it could not be written.
        """
        try:
            if self._file is None:
                self._partial.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._partial.open("w", encoding="utf-8")
            self._file.write(rejected_line(rejected))
        except OSError as error:
            raise self._failed(error) from None

    def commit(self) -> None:
        """Puts the file in its place; where nothing was refused, an older run's goes.

        Raises:
            OutputError: it could not be written.
        """
        try:
            if self._file is None:
                self._path.unlink(missing_ok=True)
                return
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self._partial.replace(self._path)
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(
            f"could not be written: {error.strerror or error}.", where=str(self._path)
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._partial.unlink(missing_ok=True)


@contextmanager
def open_dump_for(out: Path, paths: Paths, options: ReadOptions) -> Iterator[Dump]:
    """A dump to read, and identify, for a single output file; its refused rows go beside that, once
    all is done.

    Args:
        out: the file that is written.
        paths: the dump.
        options: how to read it.

    Raises:
        OutputError: see `RejectedFile`.
        DataError: nothing is there to read.
    """
    with RejectedFile(out) as rejected:
        yield open_dump(paths, replace(options, identify=True), reject=rejected.add)
        rejected.commit()
