"""Blocks of JSON lines, parsed without knowing of other blocks, so that any thread may do it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.json as pj

from odqa_fast._kernels.lines import count_lines
from odqa_fast.io.canonical import Refusals
from odqa_fast.io.coerce import ENDS_INSIDE, BadValueError, kind
from odqa_fast.io.json_line import is_cut_off, parse_line
from odqa_fast.io.layout import validate
from odqa_fast.io.row_layout import RowLayout


@dataclass(frozen=True)
class ParsedTable:
    """A block as pyarrow read it, and whether there are lines that are no rows."""

    table: pa.Table
    has_blank_lines: bool


@dataclass
class ParsedRows:
    """The rows of a block: of each its line, counted from 0, its bytes, and what stands there.

    Of a row in `bad`, by its number among these, nothing could be read, and it says why.
    """

    lines: list[int] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    bad: dict[int, str] = field(default_factory=dict)

    @property
    def good(self) -> list[dict[str, Any]]:
        """The rows that could be read."""
        return [row for i, row in enumerate(self.rows) if i not in self.bad]


def parse_table(block: bytes, schema: pa.Schema) -> ParsedTable | None:
    """Parse lines by pyarrow; None where it refuses or might have read something else than lines.

    In valid JSON `{` follows `}` only between rows. So where every line begins and ends thus, and
    pyarrow finds as many rows as there are lines, each line is one row: pyarrow by itself also
    takes several objects on a line, one on several lines, and crashes on a `null` at the start.

    Knows nothing of other blocks, so that any thread may do it.
    """
    newlines, n_lines = count_lines(block)
    if not n_lines or not is_utf8(block):
        return None
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except Refusals:
        return None
    if table.num_rows != n_lines:
        return None
    return ParsedTable(table, n_lines < newlines + (not block.endswith(b"\n")))


def is_utf8(block: bytes) -> bool:
    """Tell whether a block is UTF-8."""
    # Not by pa.array(): of a list it imports pandas, to ask whether it is a series.
    offsets = pa.py_buffer(struct.pack("=qq", 0, len(block)))
    whole = pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(block))
    try:
        validate(whole)
    except pa.ArrowInvalid:
        return False
    return True


def parse_rows(block: bytes, layout: RowLayout | None = None) -> ParsedRows:
    """Parse line by line, whatever stands there.

    Args:
        block: whole lines.
        layout: what to make canonical rows by.
    """
    parsed = ParsedRows()
    # What stands behind the last end of a line was to have one as well.
    lines = block.split(b"\n")
    for i, line in enumerate(lines):
        if not line.strip():
            continue
        row: dict[str, Any] = {}
        try:
            row = parse_line(line)
            if layout is not None:
                row = _lay_out(row, layout)
        except BadValueError as error:
            is_last = i == len(lines) - 1
            cut_off = is_last and not row and is_cut_off(line)
            parsed.bad[len(parsed.rows)] = ENDS_INSIDE if cut_off else str(error)
            row = {}
        parsed.lines.append(i)
        parsed.texts.append(line)
        parsed.rows.append(row)
    return parsed


def _lay_out(row: dict[str, Any], layout: RowLayout) -> dict[str, Any]:
    if repeated := getattr(row, "repeated", ()):
        raise BadValueError(f"field {min(repeated)!r} stands twice")
    try:
        made = layout.row(row)
        if not isinstance(made, dict):
            raise ValueError(f"it made {kind(made)} of it")
    except Exception as error:  # whatever a layout does with a row that it does not know
        reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise BadValueError(f"no row of the layout {layout.name!r}: {reason}") from error
    return made
