"""JSON lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.json_blocks import JsonBlocks
from odqa_fast.io.json_line import tell_json
from odqa_fast.io.line_blocks import cut_lines
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source

NAME = "jsonl"
SUFFIXES = {".jsonl": "JSON lines", ".ndjson": "JSON lines"}
MAY_WIDEN = True


def sniff(head: Head) -> Fit:
    """Tell the format by its lines; a file without any is one without rows."""
    return Fit.CONTENT if tell_json(head.lines) == "lines" else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a stream of JSON lines.

    Args:
        source: decompressed bytes, after the byte order mark.
        intake: options, counts, refusals.
        found: grows by the names of the fields met.
    """
    blocks = (
        (block, range(first_line, first_line + len(block) + 1))
        for first_line, block in cut_lines(source, intake)
    )
    yield from JsonBlocks(intake, found).batches(blocks)
