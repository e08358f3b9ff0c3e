"""The Arrow batches of what other libraries hold data in, none of which is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from odqa_fast.io.layout import check_lengths

#: Rows of a batch where a library copies them.
_COPIED_ROWS = 4096

#: Chooses, of the names of the columns, those to read.
Choose = Callable[[Iterable[str]], list[str]]


class Exported:
    """An array or batch of another library, its lengths looked at before pyarrow trusts them.

    Raises:
        pyarrow.ArrowInvalid: one is out of range.
    """

    def __init__(self, data: Any) -> None:
        self._capsules = data.__arrow_c_array__()
        check_lengths(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        """See Arrow's PyCapsule interface."""
        return self._capsules


def arrow_stream(data: object, choose: Choose) -> Iterable[pa.RecordBatch] | None:
    """Return data as Arrow batches; None where it does not give any.

    Args:
        data: what has the Arrow capsule methods, or one of the kinds below.
        choose: is asked where a library can leave columns out.
    """
    # pyarrow's own as they are: the capsules do not tell how long a buffer really is.
    if isinstance(data, pa.RecordBatch):
        return [data]
    if isinstance(data, pa.Table):
        return cast(Iterable[pa.RecordBatch], data.to_batches())
    for has, read in _KINDS:
        if all(hasattr(data, name) for name in has):
            return read(data, choose)
    return None


def _hugging_face(data: Any, choose: Choose) -> Iterator[pa.RecordBatch]:
    """Read a `datasets.Dataset`, which may hold its rows in another order than its table has.

    An `IterableDataset` that does not know its columns yet is read whole.
    """
    if data.column_names:
        data = data.select_columns(choose(data.column_names))
    order = getattr(data, "_indices", None)
    if order is not None:
        # Its own way takes row by row, a thousand times slower.
        return _gather(data.data.table, order.column(0).combine_chunks())
    tables = data.with_format("arrow").iter(batch_size=_COPIED_ROWS)
    return (batch for table in tables for batch in table.to_batches())


def _gather(table: pa.Table, rows: pa.Array) -> Iterator[pa.RecordBatch]:
    """Yield rows of a table by their numbers; those of one chunk are taken together."""
    batches = table.to_batches()
    starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
    for first in range(0, len(rows), _COPIED_ROWS):
        wanted = np.from_dlpack(rows.slice(first, _COPIED_ROWS)).astype(np.int64)
        order = np.argsort(wanted, kind="stable")
        ascending = wanted[order]
        chunks = np.searchsorted(starts, ascending, side="right") - 1
        parts = [
            batches[chunk].take(pa.array(ascending[chunks == chunk] - starts[chunk]))
            for chunk in np.unique(chunks)
        ]
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        yield pa.concat_batches(parts).take(pa.array(places))


def _data_set(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    """Read a `pyarrow.dataset.Dataset`."""
    return cast(Iterable[pa.RecordBatch], data.to_batches(columns=choose(data.schema.names)))


def _lazy_frame(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    """Read a `polars.LazyFrame`."""
    return _capsule_stream(data.select(choose(data.collect_schema().names())).collect(), choose)


def _capsule_stream(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    return cast(Iterable[pa.RecordBatch], pa.RecordBatchReader.from_stream(data))


def _capsule_array(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    return [pa.record_batch(Exported(data))]


def _scanner(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    """Read a `pyarrow.dataset.Scanner`, whose columns are chosen already."""
    return cast(Iterable[pa.RecordBatch], data.to_batches())


def _reader(data: Any, choose: Choose) -> Iterable[pa.RecordBatch]:
    """Read a result of DuckDB, in versions without capsules."""
    return cast(Iterable[pa.RecordBatch], data.fetch_record_batch())


#: What an object has, and how it is read then; the first that fits. Hugging Face comes first, for
#: the capsule of its table knows nothing of the order of its rows.
_KINDS: tuple[tuple[tuple[str, ...], Callable[[Any, Choose], Iterable[pa.RecordBatch]]], ...] = (
    (("with_format", "select_columns", "iter"), _hugging_face),
    (("__arrow_c_stream__",), _capsule_stream),
    (("__arrow_c_array__",), _capsule_array),
    (("collect_schema", "collect"), _lazy_frame),
    (("to_batches", "scanner", "schema"), _data_set),
    (("to_batches", "projected_schema"), _scanner),
    (("fetch_record_batch",), _reader),
)
