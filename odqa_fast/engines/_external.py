"""Which files an ONNX graph keeps its weights in, read from the bytes of the graph.

A run needs no `onnx` library, so the few fields in question are found by walking the protobuf
encoding (https://protobuf.dev/programming-guides/encoding/, field numbers of onnx.proto). Weights
inside the graph are stepped over, not read. What no writer of ONNX writes and readers take in
different ways (groups, tags of more than 32 bits) is refused, so that nothing can hide behind it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from odqa_fast.errors import ModelError

#: The fields that can lead from a message to an external tensor: (message, field) -> message.
_LEADS = {
    ("Model", 7): "Graph",
    ("Model", 20): "Training",
    ("Model", 25): "Function",
    ("Training", 1): "Graph",
    ("Training", 2): "Graph",
    ("Function", 7): "Node",
    ("Function", 11): "Attribute",
    ("Graph", 1): "Node",
    ("Graph", 5): "Tensor",
    ("Graph", 15): "Sparse",
    ("Sparse", 1): "Tensor",
    ("Sparse", 2): "Tensor",
    ("Node", 5): "Attribute",
    ("Attribute", 5): "Tensor",
    ("Attribute", 6): "Graph",
    ("Attribute", 10): "Tensor",
    ("Attribute", 11): "Graph",
    ("Attribute", 22): "Sparse",
    ("Attribute", 23): "Sparse",
    ("Tensor", 13): "Entry",
}


def find_external_files(path: Path) -> set[str]:
    """The file names, as they stand in a graph, of its external data.

    Raises:
        ModelError: the file is no ONNX graph.
    """
    with path.open("rb") as file:
        if not path.stat().st_size:
            raise ModelError("is empty.", where=str(path), hint="Export the model again.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return set(_locations(data))
            except (IndexError, UnicodeDecodeError):
                raise ModelError(
                    "is no ONNX graph.", where=str(path), hint="Export the model again."
                ) from None


def _locations(data: mmap.mmap) -> Iterator[str]:
    messages = [("Model", 0, len(data))]
    while messages:
        message, start, end = messages.pop()
        if message == "Entry":
            fields = {number: data[lo:hi] for number, lo, hi in _fields(data, start, end)}
            if fields.get(1) == b"location":
                yield fields.get(2, b"").decode()
            continue
        for number, lo, hi in _fields(data, start, end):
            if inner := _LEADS.get((message, number)):
                messages.append((inner, lo, hi))


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The length-delimited fields of a message: number, and where the content begins and ends."""
    at = start
    while at < end:
        tag, at = _varint(data, at)
        if not 8 <= tag < 1 << 32:
            # Readers keep the lower 32 bits of it: another field than the one that stands there.
            raise IndexError("a field without a number, or with too large a one")
        kind = tag & 7
        if kind == 2:
            size, at = _varint(data, at)
            yield tag >> 3, at, at + size
            at += size
        elif kind == 0:
            _, at = _varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise IndexError("an unknown wire type")
    if at != end:
        raise IndexError("a field runs over its message")


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise IndexError("a number of more than ten bytes")
