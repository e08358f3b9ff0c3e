"""The rows that were asked for, by what stands in fields of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.errors import SchemaError
from odqa_fast.io.names import list_names
from odqa_fast.io.options import FIELD, ReadCounts, ReadOptions

#: So many other values are kept to be shown where no row has the one that was asked for.
_SHOWN_VALUES = 10


def choose_rows(
    batches: Iterable[pa.RecordBatch],
    options: ReadOptions,
    counts: ReadCounts,
    found: Callable[[], Sequence[str]],
) -> Iterator[pa.RecordBatch]:
    """Yield of each batch the rows in which the fields of `options.where` are what they should.

    The fields are left out, but for those of `options.fields`. A batch with no such row says
    nothing of the columns of those that are chosen, and is left out, unless `where_may_lack`.

    Args:
        batches: canonical batches with the columns `FIELD + name`.
        options: `where`, `where_may_lack` and `fields`.
        counts: `rows_not_chosen` grows.
        found: the names of the fields met so far, for errors.

    Raises:
        SchemaError: the input lacks a field, or no row has the value; after the last batch.
    """
    others: dict[str, dict[str | None, None]] = {name: {} for name in options.where}
    n_rows = n_chosen = 0
    for batch in batches:
        n_before = batch.num_rows
        for name, value in options.where.items():
            batch = _chosen(batch, name, value, options.where_may_lack, others[name])
        unasked = {FIELD + name for name in options.where.keys() - options.fields}
        batch = batch.select([name for name in batch.schema.names if name not in unasked])
        n_rows += n_before
        n_chosen += batch.num_rows
        if batch.num_rows or not n_before or options.where_may_lack:
            yield batch
    counts.rows_not_chosen += n_rows - n_chosen
    if options.where_may_lack or n_chosen or not n_rows:
        return
    for name, value in options.where.items():
        if name not in found():
            raise SchemaError(
                f"no field {name!r} to choose rows by.",
                hint=f"Fields found: {list_names(found())}.",
            )
        met = [repr(other) for other in others[name] if other is not None]
        if others[name]:
            raise SchemaError(
                f"no row has {value!r} as its {name!r}.",
                hint=f"Among the others are: {', '.join(met) or 'no text and no number'}.",
            )


def _chosen(
    batch: pa.RecordBatch, name: str, value: str, may_lack: bool, others: dict[str | None, None]
) -> pa.RecordBatch:
    if FIELD + name not in batch.schema.names:
        return batch if may_lack else batch.slice(0, 0)
    here = batch.column(FIELD + name)
    fits = pc.fill_null(pc.equal(here, value), False)
    if len(others) < _SHOWN_VALUES:
        different = here.filter(pc.invert(fits)).slice(0, 1000).unique().to_pylist()
        others.update(dict.fromkeys(different[: _SHOWN_VALUES - len(others)]))
    return batch.filter(fits)
