"""The scores as rows: what scores.parquet and `ScoreTable.table` hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.errors import OdqaError
from odqa_fast.io.options import FIELD, SOURCE
from odqa_fast.runs.provenance import PROVENANCE, provenance_of
from odqa_fast.schema import SAMPLES
from odqa_fast.scoring.diagnose import FOUND, found_columns
from odqa_fast.scoring.executor import ScoredBatch
from odqa_fast.scoring.plan import Plan


def scores_schema(plan: Plan, keep: Sequence[str] = (), *, places: bool = False) -> pa.Schema:
    """The per-row scores: `id`, the kept columns, and one nullable float64 column per metric;
    with a diagnosis the label of each row and where its evidence is.

    Args:
        plan: what is scored.
        keep: columns of the dump, and fields of its own, which are kept as text.
        places: also say where each row comes from (`runs.provenance`).

    Raises:
        OdqaError: a column that is kept has the name of one that is made.
    """
    made = [pa.field(request.asked, pa.float64()) for request in plan.requests]
    made += [] if plan.diagnosis is None else FOUND
    made += PROVENANCE if places else []
    for field in made:
        if field.name in keep:
            raise OdqaError(
                f"--keep {field.name} would stand twice in the scores, beside what is made here.",
                hint="Rename the field of the dump.",
            )
    kept = [
        SAMPLES.field(name) if name in SAMPLES.names else pa.field(name, pa.string())
        for name in dict.fromkeys(keep)
        if name != "id"
    ]
    return pa.schema([SAMPLES.field("id"), *kept, *made])


def scores_table(kept: list[ScoredBatch], plan: Plan) -> pa.Table:
    """The per-row scores of a run that is over."""
    schema = scores_schema(plan)
    return pa.Table.from_batches(
        [score_rows(scored, schema, plan) for scored in kept], schema=schema
    )


def score_rows(scored: ScoredBatch, schema: pa.Schema, plan: Plan) -> pa.RecordBatch:
    """The per-row scores of one batch."""
    arrays = [_ids(scored)]
    found = {} if plan.diagnosis is None else found_columns(scored.steps, plan.diagnosis.top_k)
    if SOURCE in scored.batch.schema.names:
        found |= provenance_of(scored.batch)
    for field in list(schema)[1:]:
        own = f"{FIELD}{field.name}"
        if field.name in found:
            arrays.append(found[field.name])
        elif field.name in scored.scores:
            arrays.append(_nullable(scored.scores[field.name]))
        elif field.name in scored.batch.schema.names:
            arrays.append(scored.batch.column(field.name).cast(field.type))
        elif own in scored.batch.schema.names:
            arrays.append(scored.batch.column(own).cast(field.type))
        else:
            arrays.append(pa.nulls(scored.batch.num_rows, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _nullable(scores: npt.NDArray[np.float64]) -> pa.Array:
    """The kernels' NaN means "not scored": null. (`pa.array(..., from_pandas=True)` says the same
    and imports pandas.)"""
    plain = pa.Array.from_buffers(pa.float64(), len(scores), [None, pa.py_buffer(scores)])
    return pc.if_else(pc.is_nan(plain), None, plain)


def _ids(scored: ScoredBatch) -> pa.Array:
    """The ids of a batch as text; a row without one is named by its number."""
    first, ids = scored.first_row, scored.ids
    if ids is not None and ids.null_count == 0:
        return ids.cast(pa.string())
    numbers = pa.array(np.arange(first, first + scored.batch.num_rows)).cast(pa.string())
    return numbers if ids is None else pc.coalesce(ids.cast(pa.string()), numbers)
