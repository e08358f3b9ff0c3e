"""The folder of a run: scores.parquet, summary.json, rejected.jsonl; whole, or not there at all."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from odqa_fast.atomic_output import WholeFolder
from odqa_fast.io.formats.parquet import WRITING
from odqa_fast.io.options import Rejected
from odqa_fast.runs.rejected import rejected_line
from odqa_fast.runs.summary import RunSummary

#: A row group of scores.parquet has about so many rows, fewer where they take so many bytes.
GROUP_ROWS = 1 << 17
GROUP_BYTES = 32 << 20

RUN_FILES = frozenset({"scores.parquet", "summary.json", "rejected.jsonl", "report.html"})


class RunFolder:
    """Writes a run beside its place and moves it there in one step at `commit`.

    Args:
        out: the folder, or None to write nothing at all.
        schema: of the per-row scores.

    Raises:
        OutputError: the folder holds something that is no run, or cannot be written.
    """

    def __init__(self, out: Path | None, schema: pa.Schema) -> None:
        self._folder = None if out is None else WholeFolder(out, "a run", RUN_FILES)
        self._schema = schema
        self._scores: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rejected: IO[str] | None = None

    def __enter__(self) -> RunFolder:
        if self._folder is None:
            return self
        with ExitStack() as undo:
            folder = undo.enter_context(self._folder)
            try:
                self._scores = pq.ParquetWriter(
                    folder.partial / "scores.parquet", self._schema, **WRITING
                )
            except OSError as error:
                raise folder.failed(error) from None
            undo.pop_all()
        return self

    def write(self, scores: pa.RecordBatch) -> None:
        """Appends per-row scores."""
        if self._folder is None:
            return
        self._held.append(scores)
        rows = sum(batch.num_rows for batch in self._held)
        if rows >= GROUP_ROWS or sum(batch.nbytes for batch in self._held) >= GROUP_BYTES:
            try:
                self._write_group()
            except OSError as error:
                raise self._folder.failed(error) from None

    def _write_group(self) -> None:
        held, self._held = self._held, []
        if held and self._scores is not None:
            table = pa.Table.from_batches(held)
            self._scores.write_table(table, row_group_size=max(1, table.num_rows))

    def reject(self, rejected: Rejected) -> None:
        """Appends a refused row with its place and reason to `rejected.jsonl`."""
        if self._folder is None:
            return
        try:
            if self._rejected is None:
                path = self._folder.partial / "rejected.jsonl"
                self._rejected = path.open("w", encoding="utf-8")
            self._rejected.write(rejected_line(rejected))
        except OSError as error:
            raise self._folder.failed(error) from None

    def commit(self, summary: RunSummary) -> None:
        """Writes the summary and puts the run in its place, over an older one."""
        if self._folder is None:
            return
        try:
            self._write_group()
            self._close()
            text = json.dumps(summary.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)
            (self._folder.partial / "summary.json").write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise self._folder.failed(error) from None
        self._folder.commit()

    def _close(self) -> None:
        if self._scores is not None:
            self._scores.close()
            self._scores = None
        if self._rejected is not None:
            self._rejected.close()
            self._rejected = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._folder is None:
            return
        try:
            self._close()
        except OSError:
            if error is None:
                raise
        finally:
            self._folder.__exit__(kind, error, trace)
