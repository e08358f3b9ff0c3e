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
        that is refused, it has none: compare `PLACE`.

    Raises:
        DataError: the file cannot be read.
    """
    wanted = np.unique(np.asarray(places, np.int64))
    options = replace(
        options, on_error="skip", where={}, one_run=False, places=True, first_source=0
    )
    held: list[pa.RecordBatch] = []
    n_missing = len(wanted)
    for batch in open_dump(path, options, fmt=fmt):
        here = np.isin(np.from_dlpack(batch.column(PLACE)), wanted)
        n_missing -= int(here.sum())
        if here.any() or not held:
            held.append(batch.filter(pa.array(here)))
        if not n_missing:
            break
    rows = BatchTable(held)
    numbers = {
        place: row for row, place in enumerate(p for b in rows.column(PLACE) for p in b.to_pylist())
    }
    chosen = [numbers[place] for place in places if place in numbers]
    return rows.gather(np.array(chosen, np.int64), rows.names)
