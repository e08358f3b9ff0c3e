"""A stream of bytes cut into blocks of whole lines."""

from __future__ import annotations

import io
from collections.abc import Iterator

from odqa_fast._kernels.lines import count_lines
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source

BLOCK_BYTES = 8 << 20


def cut_lines(source: Source, intake: Intake) -> Iterator[tuple[int, bytes]]:
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
            block = _drop_long(block, line, intake)
        yield line, block
        line += count_lines(block)[0]
    if rest := gathered.getvalue():
        yield line, _drop_long(rest, line, intake) if len(rest) > limit else rest


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


def _drop_long(block: bytes, first_line: int, intake: Intake) -> bytes:
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
