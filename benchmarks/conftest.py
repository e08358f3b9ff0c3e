"""The data of the benchmarks: real predictions where they can be had, drawn ones elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import corpus
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SHARED = Path(os.environ.get("ODQA_FAST_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def predictions() -> pa.Table:
    """Predictions and answers; rows without answers, which plain Python cannot score, left out."""
    path = SHARED / "data" / "predictions.parquet"
    if path.is_file():
        table = pq.read_table(path, columns=["prediction", "answers"])
    else:
        table = pa.Table.from_pylist(
            [{k: row[k] for k in ("prediction", "answers")} for row in corpus.rows(50_000)]
        )
    scorable = [
        prediction is not None and bool(answers)
        for prediction, answers in zip(
            table["prediction"].to_pylist(), table["answers"].to_pylist(), strict=True
        )
    ]
    return table.filter(pa.array(scorable))
