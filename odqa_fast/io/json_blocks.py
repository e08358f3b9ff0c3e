"""JSON lines: blocks cut at newlines, parsed by pyarrow, and line by line where it balks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from odqa_fast.io.canonical import Ready, Refusals, make_batch, make_canonical
from odqa_fast.io.json_line import read_type, shorten
from odqa_fast.io.json_parse import ParsedRows, ParsedTable, is_utf8, parse_rows, parse_table
from odqa_fast.io.layout import list_window
from odqa_fast.io.line_blocks import BLOCK_BYTES
from odqa_fast.io.names import candidates, resolve
from odqa_fast.io.options import WATCHED, Intake
from odqa_fast.io.places import RawRows
from odqa_fast.io.prefetch import Promise, work_ahead
from odqa_fast.io.row_layout import RowLayout, choose_layout
from odqa_fast.io.slicing import cut_small
from odqa_fast.schema import PARTS

#: So many lines at the start decide how each field is read.
SNIFFED_LINES = 1000


class JsonBlocks:
    """Parses blocks of JSON lines of one file, learning how its fields are written."""

    def __init__(self, intake: Intake, found: set[str]) -> None:
        self._intake = intake
        self._found = found
        self._names: dict[str, str] = {}
        self._schema: pa.Schema | None = None
        self._layout: RowLayout | None = None

    def batches(self, blocks: Iterable[tuple[bytes, Sequence[int]]]) -> Iterator[pa.RecordBatch]:
        """Yield the canonical batches of blocks, in order; they are parsed ahead.

        Args:
            blocks: whole lines; line i of a block is line numbers[i] of the file.
        """
        intake = self._intake
        written = (part for part in blocks if not part[0].isspace())
        for part, parsing in work_ahead(
            written, self._start, intake.depth, lambda part: len(part[0])
        ):
            batch = self._batch(part, parsing)
            # A line may be as large as memory allows, and what was made of it is used now.
            del part, parsing
            if batch.nbytes > 2 * BLOCK_BYTES:
                # Arrow keeps what parsing took for the next block, which will be smaller.
                pa.default_memory_pool().release_unused()
            for start, length, _ in cut_small(batch.columns, batch.num_rows):
                yield batch.slice(start, length)

    def _batch(self, part: tuple[bytes, Sequence[int]], parsing: Promise | None) -> pa.RecordBatch:
        block, numbers = part
        parsed: ParsedTable | ParsedRows | None = parsing.result() if parsing is not None else None
        replace = self._intake.options.encoding_errors == "replace"
        if replace and not isinstance(parsed, ParsedTable) and not is_utf8(block):
            block = self._replace_bytes(block)
            parsed = parse_table(block, self._schema) if self._schema and not self._layout else None
        batch = (
            self._take_table(parsed, block, numbers) if isinstance(parsed, ParsedTable) else None
        )
        if batch is not None:
            return batch
        rows = parsed if isinstance(parsed, ParsedRows) else parse_rows(block, self._layout)
        return self._take_rows(rows, numbers)

    def _start(self, part: tuple[bytes, Sequence[int]]) -> Promise | None:
        block, _ = part
        if self._schema is None and not self._sniff(block):
            return None
        if self._layout is not None:
            return self._intake.submit(parse_rows, block, self._layout)
        return self._intake.submit(parse_table, block, self._schema)

    def _replace_bytes(self, block: bytes) -> bytes:
        lines = block.split(b"\n")
        for i, line in enumerate(lines):
            text = line.decode(errors="replace").encode()
            if text != line:
                lines[i] = text
                self._intake.counts.replaced_encodings += 1
        return b"\n".join(lines)

    def _sniff(self, block: bytes) -> bool:
        """Learn from the first lines; False where they hold no row to learn from."""
        if block.find(b"\n", 0, BLOCK_BYTES) < 0:
            block = shorten(block)
        # The last line of this may be cut off, and is then none.
        first = b"\n".join(block[:BLOCK_BYTES].split(b"\n", SNIFFED_LINES)[:SNIFFED_LINES])
        if self._intake.options.encoding_errors == "replace":
            first = first.decode(errors="replace").encode()
        parsed = parse_rows(first)
        if parsed.rows and self._layout is None:
            self._layout = choose_layout(self._intake.layouts, parsed.good)
            if self._layout is not None:
                self._intake.counts.layouts.add(self._layout.name)
                parsed = parse_rows(first, self._layout)
        if good := parsed.good:
            self._learn(good)
        return bool(good)

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            self._found.update(row)
        options = self._intake.options
        self._names = resolve(self._found, options, self._intake.file)
        types: dict[str, pa.DataType] = {}
        for column, name in list(self._names.items()):
            values = [v for r in rows if (v := r.get(name)) is not None]
            if column.startswith(WATCHED) and any(isinstance(v, dict | list) for v in values):
                # It names no run, and to look at its values would take line by line.
                del self._names[column]
                continue
            types.setdefault(name, read_type(column, values))
        parts = {part for column, part in PARTS.items() if column in options.columns}
        for column in (options.columns | parts) - set(self._names):
            # A field that nobody has seen yet may still come.
            for name in candidates(column, options):
                types.setdefault(name, read_type(column, []))
        # So may one that is kept or that rows are chosen by; one that is only looked at is not
        # worth a column of nulls in every block.
        for name in (options.fields | options.where.keys()) - self._found:
            types.setdefault(name, pa.string())
        self._schema = pa.schema(list(types.items()))

    def _take_table(
        self, parsed: ParsedTable, block: bytes, numbers: Sequence[int]
    ) -> pa.RecordBatch | None:
        """The canonical batch of what pyarrow read; None where it must be read line by line."""
        table = parsed.table
        late = [
            name
            for name in set(table.column_names) - self._found
            if table[name].null_count < table.num_rows
        ]
        if late:
            self._found.update(late)
            self._names = resolve(self._found, self._intake.options, self._intake.file)
        if not set(self._names.values()) <= set(table.column_names):
            # Parsed ahead, before a name was met that this block may hold.
            return None
        columns = {c: _one_chunk(table[name]) for c, name in self._names.items()}
        ready = Ready()
        try:
            for column, array in columns.items():
                ready.arrays[column] = make_canonical(array, column, ready.noticed)
        except Refusals:
            return None
        if "documents" in columns and _lacks_texts(ready.arrays["documents"]):
            return None
        self._intake.counts.rows_read += table.num_rows
        places = numbers[: table.num_rows]
        if parsed.has_blank_lines and self._intake.options.places:
            lines = zip(numbers, block.split(b"\n"), strict=False)
            places = [number for number, line in lines if line.strip()]
        # None of these rows can be bad, so that nobody asks for its text.
        raw = RawRows(columns, self._names, places, True, lambda row: "")
        return make_batch(raw, self._intake, ready=ready)

    def _take_rows(self, parsed: ParsedRows, numbers: Sequence[int]) -> pa.RecordBatch:
        """Refuse bad rows by their lines, and learn how the fields are written."""
        rows, bad = parsed.rows, parsed.bad
        if good := parsed.good:
            self._learn(good)
        for i, row in enumerate(rows):
            for name in self._names.values():
                if name in getattr(row, "repeated", ()):
                    bad.setdefault(i, f"field {name!r} stands twice")
        self._intake.counts.rows_read += len(rows)
        columns = {c: [row.get(name) for row in rows] for c, name in self._names.items()}
        places = [numbers[line] for line in parsed.lines]
        raw = RawRows(columns, self._names, places, True, parsed.texts.__getitem__)
        return make_batch(raw, self._intake, bad)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _lacks_texts(documents: pa.Array) -> bool:
    """Whether some document has no text: its text may stand under a name met here first."""
    values = list_window(documents)[1]
    return bool(values.field("text").null_count > values.null_count)
