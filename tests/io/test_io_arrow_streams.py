"""Covers: data sets, lazy frames and relations of other libraries, read by Arrow; bad rows skipped.

Compared against: the rows themselves. Run: pytest tests/io/test_io_arrow_streams.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from reading import in_memory

import odqa_fast as oq

N = 10_000
COLUMNS = {
    "id": [str(row) for row in range(N)],
    "prediction": [f"p{row}" for row in range(N)],
    "answers": [[f"p{row}"] if row % 2 else [] for row in range(N)],
    "unused": list(range(N)),
}
TABLE = pa.table(COLUMNS)
WANTED = TABLE.drop_columns("unused").select(["id", "answers", "prediction"]).to_pylist()


def test_a_data_set_of_pyarrow(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "part.parquet", row_group_size=999)
    data = ds.dataset(tmp_path / "part.parquet")
    assert in_memory(data) == WANTED
    assert in_memory(ds.dataset(TABLE)) == WANTED
    assert in_memory(data.scanner()) == WANTED


def test_a_lazy_frame() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(TABLE).lazy()
    assert in_memory(frame) == WANTED
    # Columns that are not asked for are not computed.
    broken = frame.with_columns(unused=polars.col("prediction").cast(polars.Int64))
    with pytest.raises(polars.exceptions.InvalidOperationError):
        broken.collect()
    assert in_memory(broken) == WANTED


def test_relations_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = TABLE
    assert in_memory(duckdb.sql("select * from rows order by cast(id as int)")) == WANTED
    assert rows.num_rows == N

    class WithoutCapsules:
        def fetch_record_batch(self) -> pa.RecordBatchReader:
            return TABLE.to_reader(max_chunksize=777)

    assert in_memory(WithoutCapsules()) == WANTED


class _Indices:
    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def column(self, at: int) -> pa.ChunkedArray:
        return self.table.column(at)


class StandIn:
    """What is used of a `datasets.Dataset`: its table, and the order of its rows."""

    def __init__(self, table: pa.Table, order: list[int] | None = None) -> None:
        self.data = _Indices(table)
        self.column_names = table.column_names
        rows = None if order is None else pa.table({"indices": pa.array(order, pa.uint64())})
        self._indices = None if rows is None else _Indices(rows)

    def select_columns(self, names: list[str]) -> StandIn:
        assert "unused" not in names
        other = StandIn(self.data.table.select(names))
        other._indices = self._indices
        return other

    def with_format(self, kind: str) -> StandIn:
        assert kind == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        assert self._indices is None, "it takes row by row"
        for start in range(0, self.data.table.num_rows, batch_size):
            yield self.data.table.slice(start, batch_size)


def test_a_data_set_of_hugging_face_by_its_table() -> None:
    assert in_memory(StandIn(TABLE)) == WANTED


def test_a_data_set_of_hugging_face_in_another_order() -> None:
    table = pa.Table.from_batches(TABLE.to_batches(max_chunksize=999))
    order = np.random.default_rng(1).permutation(N)[: N // 2].tolist()
    order[1] = order[0]
    assert in_memory(StandIn(table, order)) == [WANTED[row] for row in order]
    assert in_memory(StandIn(table, [])) == []


def test_the_library_of_hugging_face(tmp_path: Path) -> None:
    datasets = pytest.importorskip(
        "datasets", reason="large, and not needed: StandIn stands for it"
    )
    data = datasets.Dataset(TABLE)
    shuffled = data.shuffle(seed=1)
    assert in_memory(data) == WANTED
    assert in_memory(shuffled) == [WANTED[int(name)] for name in shuffled["id"][:]]
    assert in_memory(data.to_iterable_dataset()) == WANTED


BAD: list[Any] = [
    {"id": "1", "prediction": "a", "answers": ["a"]},
    {"id": "2", "prediction": ["a"], "answers": ["a"]},
    {"id": "3", "prediction": "b", "answers": "['a' 'b']"},
    "no row",
    {"id": "5", "prediction": "b", "answers": "['a', 'b']"},
    {"id": "6", "prediction": "b", "answers": ["a"]},
]


def test_bad_rows_in_memory_are_skipped_and_counted() -> None:
    with pytest.raises(oq.DataError, match="row 1: field 'prediction' must be text"):
        oq.score(BAD, "em")
    with pytest.warns(oq.OdqaWarning, match="3 rows were rejected and are left out"):
        result = oq.score(BAD, "em", on_error="skip")
    assert result.table.to_pylist() == [
        {"id": "1", "em": 1},
        {"id": "5", "em": 1},
        {"id": "6", "em": 0},
    ]
    assert (result.counts["rejected"], result.counts["lists_in_text"]) == (3, 1)
    assert "|rejected:3|" in str(result.signatures["em"])


def test_nothing_is_said_of_rows_that_are_good() -> None:
    result = oq.score(BAD[:1], "em", on_error="skip")
    assert "rejected" not in str(result.signatures["em"])
    assert result.notes == []


def test_bad_rows_of_a_table_and_of_a_diagnosis() -> None:
    table = pa.table({"prediction": ["a", "b"], "answers": ["a", "['a' 'b']"]})
    with pytest.warns(oq.OdqaWarning, match="1 rows were rejected"):
        assert oq.score(table, "em", on_error="skip").means == {"em": 1}
    rows = [{**row, "documents": ["a"]} for row in BAD if isinstance(row, dict)]
    with pytest.warns(oq.OdqaWarning, match="2 rows were rejected"):
        result = oq.diagnose(rows, "em", on_error="skip")
    assert result.counts["rows"] == 3
