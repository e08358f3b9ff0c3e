"""Single rows of a file, read back by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from odqa_fast.io.batch_table import BatchTable
from odqa_fast.io.dump import open_dump
from odqa_fast.io.options import PLACE, ReadOptions


def read_rows_at(
    path: str, places: Sequence[int], options: ReadOptions, *, fmt: str | None = None
) -> pa.RecordBatch:
    """Read the rows that stand at some places of a file, in one pass, up to the last of them.

    Args:
        path: one file; standard input cannot be read again.
        places: lines or rows, as `PLACE` has them under `ReadOptions.places`.
        options: which columns and fields to read. Whatever else they say of other rows, these do
            not matter here.
        fmt: see `open_dump`.

    Returns:
        The rows in the order of `places`, with the columns of places. Where no row stands, or one
        that is refused, it has none; of a line on which several objects of a JSON array begin it
        has all: compare `PLACE`, and the rows with what is known of them.

    Raises:
        DataError: the file cannot be read.
    """
    wanted = np.unique(np.asarray(places, np.int64))
    options = replace(
        options, on_error="skip", where={}, one_run=False, places=True, first_source=0
    )
    held: list[pa.RecordBatch] = []
    missing = set(wanted.tolist())
    for batch in open_dump(path, options, fmt=fmt):
        numbers = np.from_dlpack(batch.column(PLACE))
        here = np.isin(numbers, wanted)
        missing.difference_update(numbers[here].tolist())
        if here.any() or not held:
            held.append(batch.filter(pa.array(here)))
        # More rows of the last one's line may follow.
        if not missing and len(here) and not here[-1]:
            break
    if not held:
        return pa.RecordBatch.from_arrays([pa.array([], pa.int64())], names=[PLACE])
    table = BatchTable(held)
    rows: dict[int, list[int]] = {}
    for row, place in enumerate(
        place for part in table.column(PLACE) for place in part.to_pylist()
    ):
        rows.setdefault(place, []).append(row)
    chosen = [row for place in places for row in rows.get(place, ())]
    return table.gather(np.array(chosen, np.int64), table.names)
