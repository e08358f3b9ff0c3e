"""Arrow data with flipped bytes: `python flipped.py KIND FIRST LAST` scores each; see fuzzing.py.

A number stands for the same bytes everywhere.
"""

from __future__ import annotations

import ctypes
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fuzzing import each

import odqa_fast as oq

METRICS = ["em", "f1", "contains", "par", "hit@1", "mrr:ids", "cr"]

_ANSWERS: list[list[str | None] | None] = [["x", "the é"], None, [], [None, "a b"], ["y"] * 3]
_DOCUMENT = pa.struct([("text", pa.string()), ("id", pa.string()), ("score", pa.float64())])
_PAIRS = [["x", "y"], ["a", None], None, ["", "b"], ["y", "z"]]


def tables() -> list[pa.Table]:
    """Two layouts of each column: the plain ones, and those that go another way."""
    documents = [[{"text": f"the x {at}", "id": str(at), "score": 0.5}] * at for at in range(5)]
    text = ["x", None, "thé é", "", "y y y"]
    plain = {
        "id": pa.array(["a", "b", "c", "d", "e"]),
        "prediction": pa.array(text),
        "answers": pa.array(_ANSWERS),
        "documents": pa.array(documents, pa.list_(_DOCUMENT)),
        "relevant_ids": pa.array([["1"], ["2", "3"], None, [], ["4"]]),
        "summary": pa.array(text, pa.large_string()),
    }
    other = {
        "id": pa.array([1, 2, 3, 4, 5]),
        "prediction": pa.array(text).dictionary_encode(),
        "answers": pa.array(_PAIRS, pa.list_(pa.string(), 2)),
        "documents": pa.array(_PAIRS, pa.large_list(pa.large_string())),
        "relevant_ids": pa.array([["1"], ["2", "3"], None, [], ["4"]], pa.list_view(pa.string())),
        "summary": pa.array(text, pa.string_view()),
    }
    return [pa.table(plain), pa.table(other)]


def _flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data))
        change = rng.randrange(3)
        if change == 0:
            data[at] ^= 1 << rng.randrange(8)
        else:
            data[at] = rng.randrange(256) if change == 1 else rng.choice((0, 1, 0x7F, 0x80, 0xFF))


def _packed(table: pa.Table, make: Callable[..., Any], **options: Any) -> bytearray:
    sink = pa.BufferOutputStream()
    with make(sink, table.schema, **options) as writer:
        writer.write_table(table)
    return bytearray(sink.getvalue().to_pybytes())


def _file(make: Callable[..., Any], name: str, **options: Any) -> Callable[..., Any]:
    def broken(table: pa.Table, rng: random.Random, folder: Path) -> None:
        data = _packed(table, make, **options)
        _flip(data, rng)
        path = folder / name
        path.write_bytes(data)
        oq.score_file(path, METRICS, threads=1)

    return broken


def _memory(table: pa.Table, rng: random.Random, folder: Path) -> None:
    """A table whose buffers change after it was read."""
    data = _packed(table, pa.ipc.new_stream)
    read = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
    _flip(data, rng)
    oq.score(read, METRICS, threads=1)


class _Lying:
    """A batch whose C structs have numbers that were changed: some length, count or offset."""

    def __init__(self, batch: pa.RecordBatch, rng: random.Random) -> None:
        self._batch, self._rng = batch, rng

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = self._batch.__arrow_c_array__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        at: int = get(array, b"arrow_array")
        while True:
            # length, null_count, offset, n_buffers, n_children, buffers, children
            fields = (ctypes.c_int64 * 7).from_address(at)
            if not fields[4] or self._rng.random() < 0.3:
                break
            at = (ctypes.c_int64 * fields[4]).from_address(fields[6])[
                self._rng.randrange(fields[4])
            ]
        # More rows than there are cannot be seen in this interface: the sizes follow the length.
        fields[self._rng.randrange(3)] = self._rng.choice((-1, -2, -(2**40), -(2**63)))
        return schema, array


def _struct(table: pa.Table, rng: random.Random, folder: Path) -> None:
    oq.score(_Lying(table.to_batches()[0], rng), METRICS, threads=1)


KINDS: dict[str, Callable[[pa.Table, random.Random, Path], None]] = {
    "parquet": _file(pq.ParquetWriter, "dump.parquet", compression="none"),
    "file": _file(pa.ipc.new_file, "dump.arrow"),
    "stream": _file(pa.ipc.new_stream, "dump.arrows"),
    "memory": _memory,
    "struct": _struct,
}


def main(kind: str, first: int, last: int) -> None:
    warnings.simplefilter("ignore", oq.OdqaWarning)
    choice = tables()
    with tempfile.TemporaryDirectory() as folder:

        def attempt(number: int) -> None:
            KINDS[kind](choice[number % 2], random.Random(f"{kind} {number}"), Path(folder))

        each(attempt, first, last)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
