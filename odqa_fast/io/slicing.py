"""Cutting batches so that each stays small when it is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

#: A batch has at most so many rows, and about so much text.
MAX_ROWS = 65_536
MAX_BYTES = 8 << 20

_WITH_LENGTH = (pt.is_string, pt.is_large_string, pt.is_binary, pt.is_large_binary)


def cut_small(columns: Sequence[pa.Array], n_rows: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first row, rows, bytes) of slices of at most MAX_ROWS rows and MAX_BYTES of decoded
    values.

    A single row may be larger.
    """
    for start in range(0, n_rows, MAX_ROWS):
        yield from _halve(columns, start, min(MAX_ROWS, n_rows - start))


def _halve(columns: Sequence[pa.Array], start: int, length: int) -> Iterator[tuple[int, int, int]]:
    n_bytes = sum(decoded_bytes(column.slice(start, length)) for column in columns)
    if length <= 1 or n_bytes <= MAX_BYTES:
        yield start, length, n_bytes
        return
    half = length // 2
    yield from _halve(columns, start, half)
    yield from _halve(columns, start + half, length - half)


def decoded_bytes(array: pa.Array) -> int:
    """Estimate the bytes of this slice once dictionaries and views are plain."""
    data_type = array.type
    if pt.is_dictionary(data_type):
        return _dictionary_bytes(array)
    if pt.is_list_view(data_type) or pt.is_large_list_view(data_type):
        items = pc.sum(pc.list_value_length(array)).as_py() or 0
        return 4 * len(array) + _share(array.values, items)
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        return 4 * len(array) + decoded_bytes(array.flatten())
    if pt.is_struct(data_type):
        return sum(decoded_bytes(array.field(i)) for i in range(data_type.num_fields))
    if pt.is_string_view(data_type) or pt.is_binary_view(data_type):
        # nbytes would count every data buffer whole; a view's first 4 bytes are its length.
        words = np.frombuffer(array.buffers()[1], np.int32)
        return int(words[4 * array.offset :: 4][: len(array)].sum(dtype=np.int64))
    return int(array.nbytes)


def _dictionary_bytes(array: pa.DictionaryArray) -> int:
    values = array.dictionary
    if any(test(values.type) for test in _WITH_LENGTH):
        lengths = pc.cast(pc.binary_length(values), pa.int64())
        return 4 * len(array) + (pc.sum(lengths.take(array.indices)).as_py() or 0)
    return _share(values, len(array))


def _share(values: pa.Array, items: int) -> int:
    """Bytes of `items` values of average size."""
    return decoded_bytes(values) * items // max(len(values), 1)
