"""What a run has read; and of its rows which input they come from, where in it, and a hash of the
question.

With these `rows`, reports and comparisons fetch the texts of a row from its source again, and see
whether that still holds the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.hashes import hashes
from odqa_fast.io import Dump
from odqa_fast.io.identity import InputIdentity, identify_again
from odqa_fast.io.input_paths import find
from odqa_fast.io.options import PLACE, SOURCE
from odqa_fast.option import Paths
from odqa_fast.runs.summary import as_text

#: `source` counts the inputs of the summary from 0; `place` is the line (from 1) or row (from 0)
#: that error messages name; both are null of data in memory. `question_hash` is null where a row
#: has no question, or an empty one.
PROVENANCE = [
    pa.field("source", pa.int32()),
    pa.field("place", pa.int64()),
    pa.field("question_hash", pa.uint64()),
]

#: Any number does, but always the same one.
_KEY = 0x6F64_7161_5F66_6173


def list_inputs(dumps: Sequence[Dump], *others: Paths | None) -> list[dict[str, Any]]:
    """The inputs of a run as its summary has them: of each `path`, `size` in bytes and `hash`.

    The hash (see `InputIdentity`) is there if the dumps were read with `ReadOptions.identify`.

    Args:
        dumps: once they have been read; `source` of a row counts their files.
        others: further files that were read, for which no row stands.

    Raises:
        DataError: one cannot be read any more.
    """
    for dump in dumps:
        dump.identify_rest()
    hashed = any(dump.options.identify for dump in dumps)
    files = [file for paths in others if paths is not None for file in find(paths)]
    found = [
        *(each for dump in dumps for each in dump.identities),
        *(
            identify_again(file) if hashed else InputIdentity(file.name, file.size, None)
            for file in files
        ),
    ]
    return [{**each.as_dict(), "path": as_text(each.path)} for each in found]


def hash_questions(questions: pa.Array) -> pa.Array:
    """A 64-bit hash of each question, the same in every process; null of null and empty ones."""
    if not (pa.types.is_string(questions.type) or pa.types.is_large_string(questions.type)):
        questions = questions.cast(pa.string())
    found = np.empty(len(questions), np.uint64)
    hashes(Column("question", questions), _KEY, found)
    is_none = pc.equal(pc.binary_length(questions).fill_null(0), 0)
    return pa.array(found, mask=is_none.to_numpy(zero_copy_only=False))


def provenance_of(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The columns of `PROVENANCE` for a batch; null where it lacks what they are made of, which
    `ReadOptions.places` and the column `question` bring."""

    def column(name: str, kind: pa.DataType) -> pa.Array:
        if name in batch.schema.names:
            return batch.column(name)
        return pa.nulls(batch.num_rows, kind)

    return {
        "source": column(SOURCE, pa.int32()),
        "place": column(PLACE, pa.int64()),
        "question_hash": hash_questions(column("question", pa.string())),
    }
