"""`score` for data in memory, `score_file` for dumps on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.errors import SchemaError
from odqa_fast.io import Dump, ReadOptions, canonical_batches, open_dump
from odqa_fast.io.write import RunWriter, summary_of
from odqa_fast.profiles import DEFAULT_PROFILE, Profile
from odqa_fast.scoring.aggregate import Aggregate
from odqa_fast.scoring.plan import Plan, make_plan
from odqa_fast.scoring.run import ScoredBatch, default_threads, run
from odqa_fast.table import ScoreTable

DEFAULT_METRICS = ("em", "f1")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def score(
    data: object,
    metrics: Sequence[str] = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    mapping: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> ScoreTable:
    """Scores data in memory.

    Args:
        data: anything with the Arrow capsule methods (pyarrow, polars, DuckDB, pandas), a dict of
            columns, a list of rows, or an iterable of record batches; the columns are those of
            `odqa_fast.schema.SAMPLES` or their common other names.
        metrics: ids with options, e.g. `"f1"`, `"par:token"`, `"f1:triviaqa"`.
        profile: which reference scorer to equal, unless a metric names its own.
        mapping: canonical name -> name in the data, for any other name.
        threads: how many; all processors by default. The number changes no bit.

    Returns:
        A ScoreTable whose table has one row per sample, in order.

    Raises:
        MetricError, ProfileError: an unknown or repeated name.
        SchemaError: a column is missing or of a type that cannot hold what it should.
        DataError: a value is bad; names row and column.
    """
    plan = make_plan(metrics, profile)
    wanted = plan.columns | {"id"}
    aggregate = Aggregate(plan)
    batches = _checked(canonical_batches(data, wanted, mapping or {}), plan, _names(data))
    kept = []
    for scored in run(batches, plan, threads or default_threads()):
        aggregate.add(scored)
        kept.append(scored)
    return _result(aggregate, lambda: _table(kept, plan))


def score_file(
    paths: Paths,
    metrics: Sequence[str] = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    out: str | os.PathLike[str] | None = None,
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    encoding_errors: Literal["fail", "replace"] = "fail",
    threads: int | None = None,
    progress: Callable[[Dump], None] | None = None,
) -> ScoreTable:
    """Scores a dump from disk in batches; memory does not grow with it.

    Args:
        paths: a file, a folder, a glob or several of them; `-` is standard input.
        metrics: as for `score`.
        profile: as for `score`.
        out: a folder for `scores.parquet` (per row), `summary.json` and `rejected.jsonl`; it
            appears whole or not at all, and replaces an older run whole.
        mapping: as for `score`.
        on_error: `fail` stops at the first bad row, `skip` writes it to `rejected.jsonl`.
        encoding_errors: whether bytes that are not UTF-8 are bad or become U+FFFD.
        threads: as for `score`.
        progress: called after each batch with the dump, whose `counts` have grown.

    Returns:
        A ScoreTable without a table: the per-row scores are in `out`.

    Raises:
        As `score`, with file and line; OutputError: `out` could not be written.
    """
    plan = make_plan(metrics, profile)
    options = ReadOptions(
        columns=plan.columns | {"id"},
        mapping=dict(mapping or {}),
        on_error=on_error,
        encoding_errors=encoding_errors,
    )
    aggregate = Aggregate(plan)
    with RunWriter(None if out is None else Path(out), scores_schema(plan)) as writer:
        dump = open_dump(paths, options, reject=writer.reject)
        for scored in run(_checked(dump, plan, dump), plan, threads or default_threads()):
            aggregate.add(scored)
            if out is not None:
                writer.write(_score_rows(scored, plan))
            if progress is not None:
                progress(dump)
        result = _result(aggregate, None, dump)
        writer.commit(summary_of(result, inputs=dump.paths))
    return result


def scores_schema(plan: Plan) -> pa.Schema:
    """The schema of the per-row scores: `id` and one nullable float64 column per metric."""
    columns = [pa.field(request.asked, pa.float64()) for request in plan.requests]
    return pa.schema([pa.field("id", pa.string()), *columns])


def _table(kept: list[ScoredBatch], plan: Plan) -> pa.Table:
    batches = [_score_rows(scored, plan) for scored in kept]
    return pa.Table.from_batches(batches, schema=scores_schema(plan))


def _score_rows(scored: ScoredBatch, plan: Plan) -> pa.RecordBatch:
    arrays = [_ids(scored)]
    # from_pandas turns the kernels' NaN, which means "not scored", into null.
    arrays += [pa.array(values, from_pandas=True) for values in scored.scores.values()]
    return pa.RecordBatch.from_arrays(arrays, schema=scores_schema(plan))


def _ids(scored: ScoredBatch) -> pa.Array:
    """The ids of a batch as text; a row without one is named by its number."""
    first = scored.first_row
    if scored.ids is not None and scored.ids.null_count == 0:
        return scored.ids.cast(pa.string())
    numbers = pa.array(np.arange(first, first + scored.rows)).cast(pa.string())
    return numbers if scored.ids is None else pc.coalesce(scored.ids.cast(pa.string()), numbers)


def _result(
    aggregate: Aggregate,
    make_table: Callable[[], pa.Table] | None,
    dump: Dump | None = None,
) -> ScoreTable:
    counts = aggregate.counts
    if dump is not None:
        read = dump.counts
        counts = {
            "rows_read": read.rows_read,
            "rejected": read.rejected,
            "replaced_encodings": read.replaced_encodings,
            **counts,
        }
    return ScoreTable(
        means=aggregate.means,
        scored=aggregate.scored,
        counts=counts,
        signatures=aggregate.signatures,
        make_table=make_table,
    )


def _checked(
    batches: Iterable[pa.RecordBatch], plan: Plan, found: Dump | Sequence[str]
) -> Iterable[pa.RecordBatch]:
    """The batches, once the first of them has every column that a metric needs."""
    for at, batch in enumerate(batches):
        if at == 0:
            for request in plan.requests:
                for column in request.spec.inputs:
                    if column not in batch.schema.names:
                        raise _missing(column, request.asked, found)
        yield batch


def _missing(column: str, asked: str, found: Dump | Sequence[str]) -> SchemaError:
    names = found.found if isinstance(found, Dump) else found
    return SchemaError(
        f"{asked!r} needs a column {column!r}, and there is none.",
        hint=f"Columns found: {', '.join(names) or 'none'}. "
        f"Name the right one with --map {column}=NAME (in Python mapping={{{column!r}: NAME}}).",
    )


def _names(data: object) -> list[str]:
    """The column names of data in memory, as well as they can be told without reading it."""
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None and not callable(names):
            return [name for name in names if isinstance(name, str)]
    schema = getattr(data, "schema", None)
    return list(getattr(schema, "names", ()))
