"""CSV and TSV: every cell is text; lists stand in cells as `written` reads them."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from odqa_fast.errors import DataError
from odqa_fast.io.canonical import make_batch
from odqa_fast.io.coerce import ENDS_INSIDE
from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.names import resolve
from odqa_fast.io.options import Intake
from odqa_fast.io.places import RawRows
from odqa_fast.io.slicing import MAX_ROWS
from odqa_fast.io.source import Source
from odqa_fast.schema import column_type

NAME = "csv"
SUFFIXES = {".csv": "CSV", ".tsv": "TSV"}

#: A batch is full at about so much raw text.
_BATCH_CHARS = 8 << 20
_READ_BYTES = 1 << 20


def sniff(head: Head) -> Fit:
    """Take any text that no other format claims."""
    return Fit.FALLBACK if head.lines else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a table whose first row names its columns.

    The delimiter is a tab where the header has more tabs than commas. An empty cell is empty text,
    and a missing value in columns of lists and numbers.

    Args:
        source: decompressed bytes, after the byte order mark.
        intake: options, counts, refusals; a row's line is its first one.
        found: grows by the names in the header.

    Raises:
        DataError: the header cannot be read; or a bad row, as the options say.
        SchemaError: a needed column stands twice in the header.
    """
    intake.json_lists = True
    # The limit is the csv module's own and holds for the whole process; only ever raise it.
    csv.field_size_limit(max(csv.field_size_limit(), intake.options.line_limit))
    numbered = _lines(source, intake.options.line_limit)
    first = next(numbered, "")
    delimiter = "\t" if first.count("\t") > first.count(",") else ","
    lines = _Lines(chain([first], numbered))
    # Strict, because a quote that never closes would swallow the rest of the file as one cell.
    rows = _rows(csv.reader(lines, delimiter=delimiter, strict=True), lines, intake)
    line, header, reason = next(rows, (1, [], ""))
    if reason:
        raise DataError(
            f"the header is {reason}.",
            where=f"{intake.file}, line {line}",
            hint="Dumps are JSON lines, JSON, CSV, TSV, Parquet or Arrow.",
        )
    found.update(header)
    names = resolve(header, intake.options, intake.file)
    table = _Table(header, names, intake)
    for line, row, reason in rows:
        table.add(line, row, reason, is_last=lines.is_last)
        if table.is_full:
            yield table.take()
    if table.lines:
        yield table.take()


def _lines(source: Source, limit: int) -> Iterator[str]:
    """Yield lines with their LF; bytes that are not UTF-8 become lone surrogates.

    Raises:
        DataError: a line is longer than the limit.
    """
    rest: list[bytes] = []
    number = 1
    while block := source.read(_READ_BYTES):
        *lines, last = block.split(b"\n")
        for line in lines:
            rest.append(line)
            yield b"".join(rest).decode(errors="surrogateescape") + "\n"
            rest.clear()
        number += len(lines)
        rest.append(last)
        if sum(map(len, rest)) > limit:
            raise DataError(
                f"the line is longer than max_line_bytes = {limit}.",
                where=f"{source.file}, line {number}",
                hint="Is this CSV? If it is, raise --max-line-bytes.",
            )
    if last := b"".join(rest):
        yield last.decode(errors="surrogateescape")


class _Lines:
    """Lines that a reader takes one by one, and that can be given once more.

    Attributes:
        taken: how many are taken.
        row: those taken since this was emptied last.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self.taken = 0
        self.row: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken += 1
        self.row.append(line)
        return line

    @property
    def is_last(self) -> bool:
        """Whether the file ends where the row does, without the end of a line."""
        return bool(self.row) and not self.row[-1].endswith("\n")

    def give_again(self) -> None:
        """Take back all lines of the row but its first."""
        self.taken -= len(self.row) - 1
        self._again.extendleft(reversed(self.row[1:]))


def _rows(
    reader: Iterator[list[str]], lines: _Lines, intake: Intake
) -> Iterator[tuple[int, list[str], str]]:
    """Yield (first line, cells, what is wrong or nothing) of each row, blank lines too."""
    while True:
        line = lines.taken + 1
        lines.row.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # Its own words for this speak of how Python opens files.
            reason = "a CR inside a line" if "new-line character" in str(error) else str(error)
            if reason == "unexpected end of data":
                reason = "a quote is not closed before the file ends"
            first = lines.row[0].rstrip("\n")
            # A stray quote makes one cell of all lines up to the next: they are rows of their own.
            lines.give_again()
            yield line, [first], f"not CSV: {reason}"
            continue
        try:
            "".join(row).encode()
        except UnicodeEncodeError:
            if intake.options.encoding_errors == "fail":
                yield line, row, "not UTF-8"
                continue
            intake.counts.replaced_encodings += 1
            row = [cell.encode(errors="surrogateescape").decode(errors="replace") for cell in row]
        yield line, row, ""


class _Table:
    """Rows gathered for a batch.

    Attributes:
        lines: the first line of each row.
    """

    def __init__(self, header: list[str], names: dict[str, str], intake: Intake) -> None:
        self._width = len(header)
        self._names = names
        self._intake = intake
        self._cells = [
            (column, header.index(name), pa.types.is_list(column_type(column)))
            for column, name in names.items()
        ]
        self._clear()

    def _clear(self) -> None:
        self.lines: list[int] = []
        self._rows: list[list[str]] = []
        self._columns: dict[str, list[Any]] = {column: [] for column in self._names}
        self._bad: dict[int, str] = {}
        self._chars = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to take the batch."""
        return self._chars >= _BATCH_CHARS or len(self.lines) >= MAX_ROWS

    def add(self, line: int, row: list[str], reason: str, *, is_last: bool) -> None:
        """Take a row; a blank line is a row only where there is one column."""
        if not row and not reason:
            if self._width != 1:
                return
            row = [""]
        number = len(self.lines)
        self.lines.append(line)
        self._rows.append(row)
        self._chars += sum(map(len, row))
        if not reason and len(row) != self._width:
            reason = f"{len(row)} cells, but the header has {self._width}"
            if is_last and len(row) < self._width:
                reason = f"{ENDS_INSIDE}: {reason}"
        if reason:
            self._bad[number] = reason
            row = [""] * self._width
        for column, index, is_list in self._cells:
            self._columns[column].append((row[index] or None) if is_list else row[index])

    def take(self) -> pa.RecordBatch:
        """Return the gathered rows as a canonical batch and begin anew."""
        lines, rows, columns, bad = self.lines, self._rows, self._columns, self._bad
        self._clear()
        self._intake.counts.rows_read += len(lines)

        def text(i: int) -> bytes:
            return ",".join(rows[i]).encode(errors="surrogateescape")

        return make_batch(RawRows(columns, self._names, lines, True, text), self._intake, bad)
