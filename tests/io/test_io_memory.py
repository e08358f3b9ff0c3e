"""Data in memory: every Arrow layout and every kind of Python column gives the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from reading import COLUMNS, in_memory

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io import canonical_batches
from odqa_fast.io.slicing import MAX_BYTES, MAX_ROWS

TEXTS = ["x", None, "", "é"]
LISTS = [["x"], None, [], ["é", None]]


def dictionary(values: list[Any]) -> pa.Array:
    return pa.array(values).dictionary_encode()


@pytest.mark.parametrize(
    "array",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array([None if t is None else t.encode() for t in TEXTS], pa.binary()),
        pa.array([None if t is None else t.encode() for t in TEXTS], pa.large_binary()),
        dictionary(TEXTS),
        pa.array(["drop", *TEXTS]).slice(1),
        pa.array(["drop", *TEXTS], pa.string_view()).slice(1),
        dictionary(["drop", *TEXTS]).slice(1),
    ],
    ids=lambda array: str(array.type),
)
def test_text_layouts(array: pa.Array) -> None:
    rows = in_memory(pa.table({"prediction": array}))
    assert [row["prediction"] for row in rows] == TEXTS


@pytest.mark.parametrize(
    "array",
    [
        pa.array(LISTS, pa.list_(pa.string())),
        pa.array(LISTS, pa.large_list(pa.large_string())),
        pa.array(LISTS, pa.list_view(pa.string())),
        pa.array(LISTS, pa.large_list_view(pa.string())),
        pa.array(LISTS, pa.list_(pa.string_view())),
        pa.array([["drop"], *LISTS], pa.list_(pa.string())).slice(1),
        pa.array([["drop"], *LISTS], pa.list_(pa.string_view())).slice(1),
        pa.ListArray.from_arrays(
            pa.array([0, 1, 1, 1, 3]),
            dictionary(["x", "é", None]),
            mask=pa.array([False, True, False, False]),
        ),
    ],
    ids=lambda array: str(array.type),
)
def test_list_layouts(array: pa.Array) -> None:
    rows = in_memory(pa.table({"answers": array, "documents": array}))
    assert [row["answers"] for row in rows] == LISTS
    texts = [
        None if row["documents"] is None else [d and d["text"] for d in row["documents"]]
        for row in rows
    ]
    assert texts == LISTS


def test_a_slice_of_a_table() -> None:
    table = pa.table({"prediction": list("wxyzv"), "answers": [["w"], ["x"], [], ["q", "z"], None]})
    rows = in_memory(table)
    for start in range(6):
        for n in range(6):
            assert in_memory(table.slice(start, n)) == rows[start : start + n]


def test_documents_are_renamed_and_trimmed() -> None:
    documents = [[{"contents": "t", "passage": None, "docid": 7, "score": "2", "vector": [0.5]}]]
    struct = pa.struct(
        [
            ("contents", pa.string()),
            ("passage", pa.string()),
            ("docid", pa.int32()),
            ("score", pa.string()),
            ("vector", pa.list_(pa.float32())),
        ]
    )
    table = pa.table({"ctxs": pa.array(documents, pa.list_(struct))})
    expected = [{"documents": [{"text": "t", "id": "7", "score": 2.0}]}]
    assert in_memory(table) == expected
    assert in_memory([{"ctxs": documents[0]}]) == expected


def test_numbers_as_text() -> None:
    data = {
        "id": np.array([1.0, np.nan, 3.0]),
        "prediction": pa.array([1.0, 2.5, None]),
        "level": pa.array([1, 0, None], pa.int8()),
    }
    assert in_memory(data) == [
        {"id": "1", "prediction": "1.0", "level": 1.0},
        {"id": None, "prediction": "2.5", "level": 0.0},
        {"id": "3", "prediction": None, "level": None},
    ]


def test_columns_of_every_kind_side_by_side() -> None:
    data = {
        "id": [1, "b", 3],
        "prediction": pa.chunked_array([["x"], ["y", "z"]]),
        "answers": pa.chunked_array([[["x"], ["y"]], [["z"]]]),
        "level": np.array([0.2, 0.4, 0.6]),
    }
    rows = in_memory(data)
    assert [row["id"] for row in rows] == ["1", "b", "3"]
    assert [row["prediction"] for row in rows] == ["x", "y", "z"]
    assert [row["answers"] for row in rows] == [["x"], ["y"], ["z"]]
    assert [row["level"] for row in rows] == [0.2, 0.4, 0.6]


def test_rows_batches_and_other_libraries() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"prediction": ["x", "y"], "answers": [["x"], ["z", "w"]]}
    table = pa.table(columns)
    expected = table.to_pylist()
    for data in (
        columns,
        expected,
        iter(expected),
        table,
        table.to_batches()[0],
        table.to_reader(),
        table.to_batches(max_chunksize=1),
        polars.DataFrame(columns),
        pandas.DataFrame(columns),
    ):
        rows = in_memory(data)
        assert [{n: row[n] for n in columns} for row in rows] == expected


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'x' as prediction, ['x', 'y'] as answers")
    assert in_memory(relation) == [{"answers": ["x", "y"], "prediction": "x"}]


@pytest.mark.parametrize(
    "data", [{}, [], iter([]), pa.table({"prediction": pa.array([], pa.string())})]
)
def test_no_rows(data: object) -> None:
    assert in_memory(data) == []


def test_errors_name_row_and_column() -> None:
    with pytest.raises(DataError, match="row 1: field 'pred' holds a lone surrogate") as caught:
        in_memory({"pred": ["a", "\ud800"]})
    assert "--on-error" not in str(caught.value)
    broken = pa.StringArray.from_buffers(
        2, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xe9")
    )
    with pytest.raises(DataError, match="row 1: field 'prediction' is not UTF-8"):
        in_memory(pa.table({"prediction": broken}))
    with pytest.raises(DataError, match=r"row 0: field 'answers' .* is an object"):
        in_memory([{"answers": {"a": 1}}])
    with pytest.raises(DataError, match="row 1: a row must be a dict"):
        in_memory([{"id": 1}, "x"])


def test_errors_of_the_whole() -> None:
    with pytest.raises(SchemaError, match="answers has 1, prediction has 2"):
        in_memory({"prediction": ["a", "b"], "answers": ["x"]})
    with pytest.raises(SchemaError, match="'pred' and 'output'"):
        in_memory({"pred": ["a"], "output": ["b"]})
    with pytest.raises(SchemaError, match="'nope'"):
        in_memory({"pred": ["a"]}, {"prediction": "nope"})
    for data in ("text", 3, ["text"]):
        with pytest.raises(SchemaError, match="cannot read rows"):
            in_memory(data)


def test_dictionaries_are_decoded_piece_by_piece() -> None:
    contexts = pa.array([f"c{k} " * 250_000 for k in range(4)])
    indices = pa.array([i % 4 for i in range(200)], pa.int32())
    table = pa.table({"documents": pa.DictionaryArray.from_arrays(indices, contexts)})
    sizes = []
    for batch in canonical_batches(table, COLUMNS):
        sizes.append(batch.num_rows)
        assert batch.nbytes <= 1.1 * MAX_BYTES
    assert sum(sizes) == 200


def test_batches_are_bounded() -> None:
    n = 3 * MAX_ROWS + 1
    batches = list(canonical_batches({"level": np.zeros(n)}, COLUMNS))
    assert sum(batch.num_rows for batch in batches) == n
    assert max(batch.num_rows for batch in batches) == MAX_ROWS
