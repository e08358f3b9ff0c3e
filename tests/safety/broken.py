"""Arrow columns whose buffers lie, one a name: `python broken.py NAME` scores it, says what came.

pyarrow checks the ends of what it makes, so each buffer is overwritten after that check.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable

import pyarrow as pa

import odqa_fast as oq

TEXTS = pa.array(["x", "y"])
LISTS = pa.array([["x"], ["y"]])

FAR = 2**30


def overwritten(make: Callable[[pa.Buffer], pa.Array], good: bytes, bad: bytes) -> pa.Array:
    memory = bytearray(good)
    array = make(pa.py_buffer(memory))
    memory[:] = bad
    return array


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def texts(*offsets: int) -> pa.Array:
    def make(buffer: pa.Buffer) -> pa.Array:
        return pa.StringArray.from_buffers(2, buffer, pa.py_buffer(b"okok"))

    return overwritten(make, ints(0, 2, 4), ints(*offsets))


def large_texts(*offsets: int) -> pa.Array:
    def make(buffer: pa.Buffer) -> pa.Array:
        return pa.LargeStringArray.from_buffers(2, buffer, pa.py_buffer(b"okok"))

    return overwritten(make, struct.pack("<3q", 0, 2, 4), struct.pack("<3q", *offsets))


def lists(*offsets: int) -> pa.Array:
    def make(buffer: pa.Buffer) -> pa.Array:
        kind = pa.list_(pa.string())
        return pa.Array.from_buffers(kind, 2, [None, buffer], children=[TEXTS])

    return overwritten(make, ints(0, 1, 2), ints(*offsets))


def list_views(start: int, size: int) -> pa.Array:
    def make(buffer: pa.Buffer) -> pa.Array:
        kind, starts = pa.list_view(pa.string()), pa.py_buffer(ints(0, start))
        return pa.Array.from_buffers(kind, 2, [None, starts, buffer], children=[TEXTS])

    return overwritten(make, ints(1, 1), ints(1, size))


def dictionary(*indices: int) -> pa.Array:
    def make(buffer: pa.Buffer) -> pa.Array:
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.DictionaryArray.from_buffers(kind, 2, [None, buffer], pa.array(["x"]))

    return overwritten(make, ints(0, 0), ints(*indices))


def views(length: int, buffer: int, offset: int) -> pa.Array:
    good = struct.pack("<i4sii", 20, b"okok", 0, 0)
    bad = struct.pack("<i4sii", length, b"okok", buffer, offset)
    memory = [None, pa.py_buffer(good + bad), pa.py_buffer(b"ok" * 10)]
    return pa.Array.from_buffers(pa.string_view(), 2, memory)


PREDICTIONS: dict[str, Callable[[], pa.Array]] = {
    "text-past-the-end": lambda: texts(0, 2, 99),
    "text-far-past-in-the-middle": lambda: texts(0, FAR, 4),
    "text-backwards": lambda: texts(0, 3, 1),
    "text-negative": lambda: texts(-2, 1, 2),
    "large-text-past-the-end": lambda: large_texts(0, 2, 2**40),
    "large-text-far-past-in-the-middle": lambda: large_texts(0, 2**40, 4),
    "dictionary-past-the-end": lambda: dictionary(0, 7),
    "dictionary-negative": lambda: dictionary(0, -7),
    "view-past-the-end": lambda: views(20, 0, 5),
    "view-of-no-buffer": lambda: views(20, 5, 0),
    "view-of-negative-length": lambda: views(-20, 0, 0),
}

ANSWERS: dict[str, Callable[[], pa.Array]] = {
    "list-past-the-end": lambda: lists(0, 1, 9),
    "list-far-past-in-the-middle": lambda: lists(0, FAR, 2),
    "list-backwards": lambda: lists(0, 2, 1),
    "list-negative": lambda: lists(-1, 0, 1),
    "list-view-past-the-end": lambda: list_views(1, 5),
    "list-view-negative": lambda: list_views(1, -1),
    "item-far-past-in-the-middle": lambda: pa.ListArray.from_arrays(
        pa.array([0, 1, 2]), texts(0, FAR, 4)
    ),
}


def main(name: str) -> None:
    if name in PREDICTIONS:
        data = {"prediction": PREDICTIONS[name](), "answers": LISTS}
    else:
        data = {"prediction": TEXTS, "answers": ANSWERS[name]()}
    try:
        scores = oq.score(data, metrics=["em", "f1"])
    except oq.DataError as error:
        sys.stdout.write(f"DataError: {error}\n")
    else:
        sys.stdout.write(f"scored: {scores.table.to_pylist()}\n")


if __name__ == "__main__":
    main(sys.argv[1])
