"""A JSON array, or objects over several lines: cut into values, then read as JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from odqa_fast.errors import DataError
from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.json_blocks import JsonBlocks
from odqa_fast.io.json_line import tell_json
from odqa_fast.io.line_blocks import BLOCK_BYTES
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source

NAME = "json"
SUFFIXES = {".json": "JSON"}
MAY_WIDEN = True

_BLANK = b" \t\r\n"
_SNIFFED = 64 << 10
_QUOTE = ord('"')

#: What stands before the next bracket, or comma, outside of strings; an open string is left.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+", re.DOTALL)
_TO_COMMA = re.compile(rb'(?:[^",{}\[\]]++|' + _STRING + rb")*+", re.DOTALL)


def sniff(head: Head) -> Fit:
    """Tell the format by its lines."""
    return Fit.CONTENT if tell_json(head.lines) == "whole" else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of a JSON array of objects, or of objects one after another.

    Args:
        source: decompressed bytes, after the byte order mark.
        intake: options, counts, refusals; a row's line is where its object begins.
        found: grows by the names of the fields met.
    """
    yield from JsonBlocks(intake, found).batches(_blocks(source, intake))


def _blocks(source: Source, intake: Intake) -> Iterator[tuple[bytes, list[int]]]:
    """Yield values, each on a line of its own, and where they begin."""
    block: list[bytes] = []
    numbers: list[int] = []
    size = 0
    for line, value in values(source, intake):
        # A newline between JSON tokens is only a blank; one inside a string is no JSON.
        block.append(value.replace(b"\n", b" "))
        numbers.append(line)
        size += len(value)
        if size >= BLOCK_BYTES:
            yield b"\n".join(block), numbers
            block, numbers, size = [], [], 0
    if block:
        yield b"\n".join(block), numbers


def values(source: Source, intake: Intake) -> Iterator[tuple[int, bytes]]:
    """Yield (line where it begins, bytes) of each value; looks at brackets and strings only.

    Values of an array stand between its commas; other values end where their bracket closes.
    What follows the last value, or an array that never closes, is refused.

    Raises:
        DataError: a value is longer than `max_line_bytes`.
    """
    in_array = source.peek(_SNIFFED).lstrip(_BLANK).startswith(b"[")
    base = 1 if in_array else 0
    limit = intake.options.line_limit
    buffer = b""
    start = at = depth = 0
    closed = False
    line = 1
    while not closed:
        pattern = _TO_COMMA if depth == base == 1 else _TO_BRACKET
        if skipped := pattern.match(buffer, at):
            at = skipped.end()
        if at == len(buffer) or buffer[at] == _QUOTE:
            if len(buffer) - start > limit:
                raise DataError(
                    f"the value that begins here is longer than max_line_bytes = {limit}.",
                    where=f"{intake.file}, line {line}",
                )
            # Twice as much each time, for a long string is looked at from its start again.
            if not (more := source.read(max(BLOCK_BYTES, len(buffer) - start))):
                break
            buffer, start, at = buffer[start:] + more, 0, at - start
            continue
        mark = buffer[at]
        at += 1
        if mark in b"{[":
            depth += 1
            if in_array and depth == 1:
                line += buffer.count(b"\n", start, at)
                start = at
            continue
        if mark in b"}]":
            depth = max(0, depth - 1)
            if depth >= max(base, 1):
                continue
        yield from _trim(buffer[start : at - base], line)
        line += buffer.count(b"\n", start, at)
        start = at
        closed = in_array and depth == 0
    rest = buffer[start:] + (source.read(_SNIFFED) if closed else b"")
    for number, value in _trim(rest, line):
        reason = "something follows the array" if closed else "the file ends inside a value"
        _refuse(reason, number, value, intake)
        return
    if in_array and not closed:
        _refuse("the file ends inside the array", line, b"", intake)


def _trim(value: bytes, line: int) -> Iterator[tuple[int, bytes]]:
    """Yield the value and its line without blanks around it, or nothing."""
    if text := value.lstrip(_BLANK):
        yield line + value.count(b"\n", 0, len(value) - len(text)), text.rstrip(_BLANK)


def _refuse(reason: str, line: int, value: bytes, intake: Intake) -> None:
    intake.counts.rows_read += 1
    intake.refuse(reason, line=line, text=value)
