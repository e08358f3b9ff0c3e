"""Data that is already in memory: Arrow of any library, columns, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.arrow_streams import Choose, Exported, arrow_stream
from odqa_fast.io.canonical import convert_columns, make_batch
from odqa_fast.io.coerce import kind
from odqa_fast.io.layout import check_layout
from odqa_fast.io.names import resolve
from odqa_fast.io.options import Intake, ReadCounts, ReadOptions
from odqa_fast.io.places import RawRows
from odqa_fast.io.prefetch import Promise, Submit, work_ahead, work_at_once
from odqa_fast.io.runs import RunWatch, add_run_fields
from odqa_fast.io.slicing import cut_small
from odqa_fast.io.source import explain_damage
from odqa_fast.io.where import choose_rows

Columns = dict[str, Any]

#: Rows of Python objects to a batch: their size is not known before they are converted.
LIST_ROWS = 4096

#: What errors call the data, and of which kind it is.
_FILE, _ARROW = "the data", "Arrow data"

_MEND = 'Mend it, or skip bad rows: score(..., on_error="skip").'

_WHAT_WORKS = (
    "Pass an Arrow table, a data frame, a data set, a dict of columns, or a list of dicts."
)


class Data:
    """Data in memory, as `Dump` is data in files; iterate it once.

    Args:
        data: anything with the Arrow capsule methods (a table, batch or reader of pyarrow, polars,
            DuckDB, pandas), a data set of Hugging Face or pyarrow, a LazyFrame of polars, a dict
            of columns of one length, an iterable of dicts (rows), or an iterable of Arrow batches.
        options: which columns, and how strictly.
        submit: starts work on a part of the data, e.g. a thread pool's.
        depth: how many parts may be in work ahead of the one that is used.

    Attributes:
        options: as given, with the fields that are read to tell runs apart.
        counts: grows while reading.
        runs: the runs that its rows are of, under `ReadOptions.one_run`.
        may_widen: later rows may have columns that the first batch lacks.
    """

    may_widen = True

    def __init__(
        self, data: object, options: ReadOptions, submit: Submit = work_at_once, depth: int = 0
    ) -> None:
        options = self.options = add_run_fields(options)
        self.counts = ReadCounts()
        self.runs = RunWatch()
        self._data = data
        self._intake = Intake(_FILE, options, self.counts, submit=submit, depth=depth, hint=_MEND)
        self._found: set[str] = set()

    @property
    def found(self) -> tuple[str, ...]:
        """Names of the columns, sorted; as far as the data has been read."""
        return tuple(sorted(self._found))

    @property
    def layouts(self) -> list[frozenset[str]]:
        """The sets of names, as of a dump's files: here there is one."""
        return [frozenset(self._found)]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield canonical batches (see `odqa_fast.io`), in the order of the rows.

        Raises:
            SchemaError: ambiguous or unknown column names, or data of no known kind; nothing that
                `where` asks for; several runs under `one_run`.
            DataError: a bad value under `on_error="fail"`, with its row (from 0) and column.
        """
        rows = choose_rows(self._rows(), self.options, self.counts, lambda: self.found)
        return self.runs.watch(rows) if self.options.one_run else rows

    def _rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, whatever `ReadOptions.where` says."""
        data, intake, found = self._data, self._intake, self._found
        if isinstance(data, Mapping):
            return _batches(_from_columns(data, intake, found), intake)
        if (stream := _export(data, self._wanted)) is not None:
            return read_batches(explain_damage(iter(stream), _ARROW, intake.file), intake, found)
        if isinstance(data, str | bytes) or not isinstance(data, Iterable):
            raise _no_rows(data)
        items = iter(data)
        first = next(items, None)
        if first is None:
            return iter(())
        items = chain([first], items)
        if isinstance(first, Mapping):
            return _batches(_from_rows(items, intake, found), intake)
        return read_batches(chain.from_iterable(map(_item_stream, items)), intake, found)

    def _wanted(self, names: Iterable[str]) -> list[str]:
        """The names of the columns to read; all where none is, for there are rows all the same."""
        every = list(names)
        self._found.update(every)
        # A field may be a column and be looked at as it is.
        return (
            list(dict.fromkeys(resolve(every, self.options, self._intake.file).values())) or every
        )


def _export(data: object, choose: Choose) -> Iterable[pa.RecordBatch] | None:
    """What `arrow_stream` returns.

    Raises:
        SchemaError: the library that holds the data has no Arrow for it.
    """
    try:
        return arrow_stream(data, choose)
    except (pa.ArrowException, ValueError, TypeError) as error:
        said = " ".join(" ".join(map(str, error.args)).split())
        raise SchemaError(
            f"{type(data).__name__} cannot give its columns as Arrow: {said}.",
            where=_FILE,
            hint="Give each column one kind of values and a name of its own, or pass the columns "
            'as a dict of lists, e.g. frame.to_dict("list").',
        ) from error


def canonical_batches(
    data: object, columns: frozenset[str], mapping: Mapping[str, str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of data in memory, as `Data` does."""
    return iter(Data(data, ReadOptions(columns, dict(mapping or {}))))


def _no_rows(data: object) -> SchemaError:
    return SchemaError(f"cannot read rows from {type(data).__name__}.", hint=_WHAT_WORKS)


def _item_stream(item: object) -> Iterator[pa.RecordBatch]:
    stream = _export(item, list)
    if stream is None:
        raise _no_rows(item)
    return explain_damage(iter(stream), _ARROW, _FILE)


def read_batches(
    batches: Iterable[pa.RecordBatch], intake: Intake, found: set[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical form of Arrow batches, cut to a bounded size, counting their rows.

    Args:
        batches: of any columns.
        intake: options, counts, refusals.
        found: grows by the names of the columns.
    """
    return _batches(_from_arrow(batches, intake, found if found is not None else set()), intake)


@dataclass(frozen=True)
class _Part:
    """Some rows: their columns by canonical name, and the names these have in the input.

    `n_bytes` is the size of those columns that are Arrow's; `bad` are rows that are none, and why.
    """

    n_rows: int
    columns: Columns
    names: Mapping[str, str]
    n_bytes: int = 0
    bad: Mapping[int, str] = field(default_factory=dict)


def _from_arrow(
    batches: Iterable[pa.RecordBatch], intake: Intake, found: set[str]
) -> Iterator[_Part]:
    for batch in batches:
        found.update(batch.schema.names)
        names = resolve(batch.schema.names, intake.options, intake.file)
        chosen = [batch.column(name) for name in names.values()]
        for name, array in zip(names.values(), chosen, strict=True):
            _check(array, name, intake.file)
        yield from _cut(batch.num_rows, dict(zip(names, chosen, strict=True)), names)


def _cut(
    n_rows: int, columns: Columns, names: Mapping[str, str], bad: Mapping[int, str] | None = None
) -> Iterator[_Part]:
    arrow = {c: values for c, values in columns.items() if isinstance(values, pa.Array)}
    lists = {c: values for c, values in columns.items() if c not in arrow}
    for start, length, n_bytes in cut_small(list(arrow.values()), n_rows):
        part: Columns = {c: values.slice(start, length) for c, values in arrow.items()}
        part |= {c: values[start : start + length] for c, values in lists.items()}
        here = {i - start: why for i, why in (bad or {}).items() if 0 <= i - start < length}
        yield _Part(length, part, names, n_bytes, here)


def _batches(parts: Iterable[_Part], intake: Intake) -> Iterator[pa.RecordBatch]:
    def start(part: _Part) -> Promise:
        return intake.submit(convert_columns, part.columns)

    for part, promise in work_ahead(parts, start, intake.depth, lambda part: part.n_bytes):
        first = intake.counts.rows_read - intake.first_row
        intake.counts.rows_read += part.n_rows
        places = range(first, first + part.n_rows)
        rows = RawRows(part.columns, part.names, places, False, partial(_raw, part.columns))
        ready = promise.result() if promise is not None else None
        yield make_batch(rows, intake, dict(part.bad), ready)


def _check(array: pa.Array, name: str, where: str) -> None:
    try:
        check_layout(array)
    except pa.ArrowException as error:
        raise _broken(name, error, where) from None


def _broken(name: str, error: pa.ArrowException, where: str) -> DataError:
    said = " ".join(str(error).split())  # some of Arrow's have several lines
    return DataError(f"column {name!r} is broken: {said}.", where=where)


def _raw(columns: Columns, row: int) -> str:
    try:
        return repr({c: _plain(values[row]) for c, values in columns.items()})
    except UnicodeDecodeError:
        return ""


def _plain(value: Any) -> Any:
    """Unwrap what Arrow and numpy wrap."""
    if isinstance(value, pa.Scalar):
        return value.as_py()
    return value.tolist() if hasattr(value, "tolist") else value


def _from_columns(data: Mapping[Any, Any], intake: Intake, found: set[str]) -> Iterator[_Part]:
    found.update(map(str, data))
    names = resolve(found, intake.options, intake.file)
    columns = {column: _column(data[name], name) for column, name in names.items()}
    lengths = {names[column]: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise SchemaError(f"the columns differ in length: {shown}.")
    n_rows = next(iter(lengths.values()), 0)
    if not columns and data:
        yield _Part(len(next(iter(data.values()))), {}, names)
    chunked = {c: values for c, values in columns.items() if isinstance(values, pa.ChunkedArray)}
    lists = {c: values for c, values in columns.items() if c not in chunked}
    for column, chunks in chunked.items():
        for chunk in chunks.chunks:
            _check(chunk, names[column], intake.file)
    if not chunked:
        for start in range(0, n_rows, LIST_ROWS):
            part = {c: values[start : start + LIST_ROWS] for c, values in lists.items()}
            yield from _cut(min(LIST_ROWS, n_rows - start), part, names)
        return
    start = 0
    for batch in pa.table(chunked).to_batches(max_chunksize=LIST_ROWS if lists else None):
        stop = start + batch.num_rows
        part = dict(zip(batch.schema.names, batch.columns, strict=True))
        part |= {c: values[start:stop] for c, values in lists.items()}
        yield from _cut(batch.num_rows, part, names)
        start = stop


def _column(values: Any, name: str) -> Any:
    """Return a ChunkedArray, or a list whose values are looked at one by one."""
    try:
        chunked = _chunked(values)
    except pa.ArrowException as error:
        raise _broken(name, error, _FILE) from None
    if chunked is not None:
        return chunked
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SchemaError(f"column {name!r} must be a list or array, but is {kind(values)}.")
    return [_plain(value) for value in values]


def _chunked(values: Any) -> pa.ChunkedArray | None:
    """A column that is Arrow's or numbers of numpy's; None where it is neither."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        foreign = not isinstance(values, pa.Array)
        return pa.chunked_array([pa.array(Exported(values)) if foreign else values])
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return pa.chunked_array([pa.array(values)])
    return None


def _from_rows(rows: Iterable[Any], intake: Intake, found: set[str]) -> Iterator[_Part]:
    while chunk := list(islice(rows, LIST_ROWS)):
        bad: dict[int, str] = {}
        for i, row in enumerate(chunk):
            if not isinstance(row, Mapping):
                bad[i] = f"a row must be a dict, but is {kind(row)}"
                chunk[i] = {}
            found.update(map(str, chunk[i]))
        names = resolve(found, intake.options, intake.file)
        columns = {c: [_plain(row.get(name)) for row in chunk] for c, name in names.items()}
        yield from _cut(len(chunk), columns, names, bad)
