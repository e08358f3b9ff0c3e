"""JSON lines: blocks cut at newlines, parsed by pyarrow, and line by line where it balks."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.json as pj

from odqa_fast._kernels.lines import count_lines
from odqa_fast.io.canonical import (
    Ready,
    Refusals,
    canonical_array,
    finish,
)
from odqa_fast.io.coerce import ENDS_INSIDE, BadValueError
from odqa_fast.io.json_rows import is_cut_off, parse_line, read_type, shortened
from odqa_fast.io.layout import list_window, validate
from odqa_fast.io.names import candidates, resolve
from odqa_fast.io.options import FIELD, Intake
from odqa_fast.io.prefetch import Promise, ahead
from odqa_fast.io.slicing import pieces
from odqa_fast.io.source import Source
from odqa_fast.schema import PARTS

BLOCK_BYTES = 8 << 20

#: So many lines at the start decide how each field is read.
SNIFFED_LINES = 1000


def read_jsonl(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a stream of JSON lines.

    Args:
        source: decompressed bytes, after the byte order mark.
        intake: options, counts, refusals.
        found: grows by the names of the fields met.
    """
    blocks = (
        (block, range(first_line, first_line + len(block) + 1))
        for first_line, block in line_blocks(source, intake)
    )
    yield from JsonBlocks(intake, found).batches(blocks)


def line_blocks(source: Source, intake: Intake) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, whole lines); a line longer than a block is a block.

    A record ends at LF and nowhere else. Lines above `max_line_bytes` are refused and blanked.
    """
    limit = intake.options.line_limit
    line = 1
    # Of several hundred megabytes there is only one copy: BytesIO grows in place and gives itself.
    gathered = io.BytesIO()
    while chunk := source.read(BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            gathered.write(chunk)
            if gathered.tell() > limit:
                start, size = gathered.getvalue()[:BLOCK_BYTES], gathered.tell()
                gathered = io.BytesIO()
                gathered.write(_skip_line(source, start, size, line, intake))
                line += 1
            continue
        gathered.write(memoryview(chunk)[:cut])
        block = gathered.getvalue()
        gathered = io.BytesIO()
        gathered.write(chunk[cut:])
        del chunk
        if len(block) > limit:
            block = _without_long(block, line, intake)
        yield line, block
        line += count_lines(block)[0]
    if rest := gathered.getvalue():
        yield line, _without_long(rest, line, intake) if len(rest) > limit else rest


def _skip_line(source: Source, start: bytes, size: int, line: int, intake: Intake) -> bytes:
    """Read on to the end of a line that is too long, refuse it, return what follows."""
    rest = b""
    while chunk := source.read(BLOCK_BYTES):
        end = chunk.find(b"\n")
        if end >= 0:
            size, rest = size + end, chunk[end + 1 :]
            break
        size += len(chunk)
    _refuse_long(start, size, line, intake)
    return rest


def _without_long(block: bytes, first_line: int, intake: Intake) -> bytes:
    lines = block.split(b"\n")
    for i, text in enumerate(lines):
        if len(text) > intake.options.line_limit:
            _refuse_long(text, len(text), first_line + i, intake)
            lines[i] = b""
    return b"\n".join(lines)


def _refuse_long(start: bytes, size: int, line: int, intake: Intake) -> None:
    intake.counts.rows_read += 1
    reason = f"the line has {size} bytes, over max_line_bytes = {intake.options.line_limit}"
    intake.refuse(reason, line=line, text=start)


class JsonBlocks:
    """Parses blocks of JSON lines of one file, learning how its fields are written."""

    def __init__(self, intake: Intake, found: set[str]) -> None:
        self._intake = intake
        self._found = found
        self._names: dict[str, str] = {}
        self._schema: pa.Schema | None = None

    def batches(self, blocks: Iterable[tuple[bytes, Sequence[int]]]) -> Iterator[pa.RecordBatch]:
        """Yield the canonical batches of blocks, in order; they are parsed ahead.

        Args:
            blocks: whole lines; line i of a block is line numbers[i] of the file.
        """
        intake = self._intake
        written = (part for part in blocks if not part[0].isspace())
        for part, parsing in ahead(written, self._start, intake.depth, lambda part: len(part[0])):
            batch = self._batch(part, parsing)
            # A line may be as large as memory allows, and what was made of it is used now.
            del part, parsing
            if batch.nbytes > 2 * BLOCK_BYTES:
                # Arrow keeps what parsing took for the next block, which will be smaller.
                pa.default_memory_pool().release_unused()
            for start, length, _ in pieces(batch.columns, batch.num_rows):
                yield batch.slice(start, length)

    def _batch(self, part: tuple[bytes, Sequence[int]], parsing: Promise | None) -> pa.RecordBatch:
        block, numbers = part
        parsed = parsing.result() if parsing is not None else None
        if parsed is None and self._intake.options.encoding_errors == "replace":
            if not _is_utf8(block):
                block = self._replaced(block)
                parsed = parse_block(block, self._schema) if self._schema else None
        batch = self._taken(parsed) if parsed is not None else None
        return self._slowly(block, numbers) if batch is None else batch

    def _start(self, part: tuple[bytes, Sequence[int]]) -> Promise | None:
        block, _ = part
        if self._schema is None and not self._sniff(block):
            return None
        return self._intake.submit(parse_block, block, self._schema)

    def _replaced(self, block: bytes) -> bytes:
        lines = block.split(b"\n")
        for i, line in enumerate(lines):
            text = line.decode(errors="replace").encode()
            if text != line:
                lines[i] = text
                self._intake.counts.replaced_encodings += 1
        return b"\n".join(lines)

    def _sniff(self, block: bytes) -> bool:
        """Learn from the first lines; False where they hold no row to learn from."""
        rows = []
        if block.find(b"\n", 0, BLOCK_BYTES) < 0:
            block = shortened(block)
        # The last line of this may be cut off, and is then none.
        for line in block[:BLOCK_BYTES].split(b"\n", SNIFFED_LINES)[:SNIFFED_LINES]:
            if line.strip():
                try:
                    rows.append(parse_line(line))
                except BadValueError:
                    continue
        if rows:
            self._learn(rows)
        return bool(rows)

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            self._found.update(row)
        options = self._intake.options
        self._names = resolve(self._found, options, self._intake.file)
        types: dict[str, pa.DataType] = {}
        for column, name in list(self._names.items()):
            values = [v for r in rows if (v := r.get(name)) is not None]
            is_watched = column.startswith(FIELD) and name not in options.where
            if is_watched and any(isinstance(v, dict | list) for v in values):
                # It names no run, and to look at its values would take line by line.
                del self._names[column]
                continue
            types.setdefault(name, read_type(column, values))
        parts = {part for column, part in PARTS.items() if column in options.columns}
        for column in (options.columns | parts) - set(self._names):
            # A field that nobody has seen yet may still come.
            for name in candidates(column, options):
                types.setdefault(name, read_type(column, []))
        # So may one that rows are chosen by; one that is only looked at is not worth a column
        # of nulls in every block.
        for name in options.where.keys() - self._found:
            types.setdefault(name, pa.string())
        self._schema = pa.schema(list(types.items()))

    def _taken(self, table: pa.Table) -> pa.RecordBatch | None:
        """The canonical batch of what pyarrow read; None where it must be read line by line."""
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
                ready.arrays[column] = canonical_array(array, column, ready.noticed)
        except Refusals:
            return None
        if "documents" in columns and _lacks_texts(ready.arrays["documents"]):
            return None
        self._intake.counts.rows_read += table.num_rows
        return finish(table.num_rows, columns, self._names, self._intake, _nowhere, ready=ready)

    def _slowly(self, block: bytes, numbers: Sequence[int]) -> pa.RecordBatch:
        """Parse line by line, refuse bad rows by their lines, learn how the fields are written."""
        places: list[tuple[int, bytes]] = []
        rows: list[dict[str, Any]] = []
        bad: dict[int, str] = {}
        # What stands behind the last end of a line was to have one as well.
        lines = block.split(b"\n")
        for i, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                row = parse_line(line)
            except BadValueError as error:
                is_last = i == len(lines) - 1
                bad[len(rows)] = ENDS_INSIDE if is_last and is_cut_off(line) else str(error)
                row = {}
            rows.append(row)
            places.append((numbers[i], line))
        if len(bad) < len(rows):
            self._learn([row for i, row in enumerate(rows) if i not in bad])
        for i, row in enumerate(rows):
            for name in self._names.values():
                if name in getattr(row, "repeated", ()):
                    bad.setdefault(i, f"field {name!r} stands twice")
        self._intake.counts.rows_read += len(rows)

        def locate(i: int) -> tuple[int, None, bytes]:
            line, text = places[i]
            return line, None, text

        columns = {c: [row.get(name) for row in rows] for c, name in self._names.items()}
        return finish(len(rows), columns, self._names, self._intake, locate, bad)


def _nowhere(row: int) -> tuple[None, int, str]:
    """Where a row of a block came from that has no bad one."""
    return None, row, ""


def parse_block(block: bytes, schema: pa.Schema) -> pa.Table | None:
    """Parse lines by pyarrow; None where it refuses or might have read something else than lines.

    In valid JSON `{` follows `}` only between rows. So where every line begins and ends thus, and
    pyarrow finds as many rows as there are lines, each line is one row: pyarrow by itself also
    takes several objects on a line, one on several lines, and crashes on a `null` at the start.

    Knows nothing of other blocks, so that any thread may do it.
    """
    _, n_lines = count_lines(block)
    if not n_lines or not _is_utf8(block):
        return None
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except Refusals:
        return None
    return table if table.num_rows == n_lines else None


def _is_utf8(block: bytes) -> bool:
    # Not by pa.array(): of a list it imports pandas, to ask whether it is a series.
    offsets = pa.py_buffer(struct.pack("=qq", 0, len(block)))
    whole = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(block))
    try:
        validate(whole)
    except pa.ArrowInvalid:
        return False
    return True


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _lacks_texts(documents: pa.Array) -> bool:
    """Whether some document has no text: its text may stand under a name met here first."""
    values = list_window(documents)[1]
    return bool(values.field("text").null_count > values.null_count)
