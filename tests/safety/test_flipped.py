"""Covers: Arrow files, streams, Parquet files and tables in memory with flipped bytes.

Compared against: nothing but scores and errors of ours; a traceback or a dead process is a failure.
Run: ODQA_FAST_FUZZ=100000 pytest tests/safety/test_flipped.py (some hundreds of each kind without)
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flipped import KINDS
from fuzzing import tried

import odqa_fast as oq

#: The first of each kind include several on which earlier versions died.
N_INPUTS = int(os.environ.get("ODQA_FAST_FUZZ", "2000")) // 5


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bytes(kind: str) -> None:
    found, failures = tried("flipped.py", kind, N_INPUTS)
    assert failures == []
    # It is no use where everything is refused, or nothing is.
    assert found["refused"] > N_INPUTS // 10
    assert found["taken"] > N_INPUTS // 20


ROWS = {"prediction": ["y", "b"], "answers": [["x", "y"], ["a", "c"]]}
PAIRS = pa.list_(pa.string(), 2)


@pytest.mark.parametrize("form", ["columns", "table", "batch", "Parquet", "Arrow"])
def test_lists_of_fixed_size_are_lists(form: str, tmp_path: Path) -> None:
    answers = pa.array([["none", "none"], ["x", "y"], ["a", "c"], None, ["b", None]], PAIRS)
    columns = {"prediction": pa.array(["y", "b", "b", "b"]), "answers": answers.slice(1)}
    expected = [1.0, 0.0, None, 1.0]
    path = tmp_path / "dump"
    if form == "Parquet":
        pq.write_table(pa.table(columns), path)
    elif form == "Arrow":
        with pa.OSFile(str(path), "wb") as out:
            with pa.ipc.new_file(out, pa.table(columns).schema) as writer:
                writer.write_table(pa.table(columns))
    if path.exists():
        found = oq.score_file(path, ["em"], out=tmp_path / "run").means
        assert found == {"em": 2 / 3}
        return
    make = {"columns": dict, "table": pa.table, "batch": pa.record_batch}[form]
    assert oq.score(make(columns), metrics=["em"]).table["em"].to_pylist() == expected


def test_documents_and_evidence_of_fixed_size() -> None:
    one = pa.list_(pa.struct([("text", pa.string()), ("id", pa.string())]), 1)
    data = {
        "answers": [["y"], ["y"]],
        "documents": pa.array([[{"text": "x y", "id": "1"}], [{"text": "z", "id": "2"}]], one),
        "relevant_ids": pa.array([["2"], ["2"]], pa.list_(pa.string(), 1)),
    }
    assert oq.score(data, metrics=["hit@1", "hit@1:ids"]).means == {"hit@1": 0.5, "hit@1:ids": 0.5}


@pytest.mark.parametrize("form", ["Parquet", "Arrow", "table"])
def test_two_columns_of_one_name(form: str, tmp_path: Path) -> None:
    columns = [pa.array(["x"]), pa.array(["y"]), pa.array([["x"]])]
    table = pa.Table.from_arrays(columns, names=["prediction", "prediction", "answers"])
    path = tmp_path / "dump"
    if form == "Parquet":
        pq.write_table(table, path)
    elif form == "Arrow":
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)

    def score() -> object:
        return oq.score_file(path, ["em"]) if path.exists() else oq.score(table, metrics=["em"])

    with pytest.raises(oq.SchemaError, match="several columns are named 'prediction'"):
        score()


def test_a_page_that_is_not_the_one_its_checksum_means(tmp_path: Path) -> None:
    path = tmp_path / "dump.parquet"
    rows = {"prediction": ["lakes"] * 100, "answers": [["lakes"]] * 100}
    pq.write_table(pa.table(rows), path, compression="none", write_page_checksum=True)
    whole = path.read_bytes()
    # In a page of values: another text of the same length is valid Parquet, and a wrong score.
    path.write_bytes(whole.replace(b"lakes", b"fakes", 1))
    with pytest.raises(oq.DataError, match="CRC checksum"):
        oq.score_file(path, ["em"])


def test_what_we_write_has_checksums(tmp_path: Path) -> None:
    oq.score_file(_dump(tmp_path), ["em"], keep=["prediction"], out=tmp_path / "run")
    path = tmp_path / "run" / "scores.parquet"
    whole = path.read_bytes()
    group = pq.ParquetFile(path).metadata.row_group(0)
    column = next(c for c in map(group.column, range(9)) if c.path_in_schema == "prediction")
    last = column.dictionary_page_offset + column.total_compressed_size - 1
    path.write_bytes(whole[:last] + bytes([whole[last] ^ 1]) + whole[last + 1 :])
    with pytest.raises(OSError, match="CRC checksum"):
        pq.read_table(path, page_checksum_verification=True)


def _dump(folder: Path) -> Path:
    path = folder / "dump.parquet"
    pq.write_table(pa.table(ROWS), path)
    return path
