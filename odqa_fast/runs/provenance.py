"""Where the rows of a run come from: which input, where in it, and a hash of the question.

With these `rows`, reports and comparisons fetch the texts of a row from its source again, and see
whether that still holds the same question.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.hashes import hashes
from odqa_fast.io.options import PLACE, SOURCE

#: `source` counts the inputs of the summary from 0; `place` is the line (from 1) or row (from 0)
#: that error messages name; `question_hash` is null where a row has no question.
PROVENANCE = [
    pa.field("source", pa.int32()),
    pa.field("place", pa.int64()),
    pa.field("question_hash", pa.uint64()),
]

#: Any number does, but always the same one.
_KEY = 0x6F64_7161_5F66_6173


def hash_questions(questions: pa.Array) -> pa.Array:
    """A 64-bit hash of each question, the same in every process; null of null."""
    if not (pa.types.is_string(questions.type) or pa.types.is_large_string(questions.type)):
        questions = questions.cast(pa.string())
    found = np.empty(len(questions), np.uint64)
    hashes(Column("question", questions), _KEY, found)
    mask = None
    if questions.null_count:
        mask = questions.is_null().to_numpy(zero_copy_only=False)
    return pa.array(found, mask=mask)


def provenance_of(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The columns of `PROVENANCE` for a batch that was read with `ReadOptions.places`."""
    n_rows = batch.num_rows
    names = batch.schema.names
    return {
        "source": batch.column(SOURCE),
        "place": batch.column(PLACE),
        "question_hash": hash_questions(batch.column("question"))
        if "question" in names
        else pa.nulls(n_rows, pa.uint64()),
    }
