"""Covers: dumps without rows: columns that lack all the same, and files that are none.

Compared against: what is said of the same columns with a row, and the exit codes of the README.
Run: pytest tests/safety/test_no_rows.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from as_bytes import arrow, parquet
from program import odqa_fast, refused, summary_of

Written = Callable[[pa.Table], bytes]

KNOWN = pa.table({"id": ["1"], "prediction": ["x"], "answers": [["x"]]})
UNKNOWN = pa.table({"foo": ["x"], "bar": ["y"]})


def csv(table: pa.Table) -> bytes:
    rows = [table.column_names, *(row.values() for row in table.to_pylist())]
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


FORMATS = pytest.mark.parametrize("written", [csv, parquet, arrow])


@FORMATS
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", []),
        ("compress", ["--compressor", "bm25", "--level", "0.5", "--out", "OUT"]),
        ("judge", ["--provider", "http:http://127.0.0.1:1/v1#m", "--cache", "OUT"]),
    ],
)
def test_columns_are_missed_all_the_same(
    tmp_path: Path, written: Written, command: str, options: list[str]
) -> None:
    dump = tmp_path / "dump"
    options = [str(tmp_path / "out") if each == "OUT" else each for each in options]
    said = set()
    for table in (UNKNOWN, UNKNOWN.slice(0, 0)):
        dump.write_bytes(written(table))
        done = odqa_fast(command, dump, *options)
        refused(done, 2, "column", "Columns found: bar, foo")
        said.add(done.stderr)
    assert len(said) == 1


@pytest.mark.parametrize("options", [(), ("--missing", "zero"), ("--duplicates", "keep-last")])
def test_columns_are_missed_in_a_join(tmp_path: Path, options: tuple[str, ...]) -> None:
    dump, gold = tmp_path / "dump", tmp_path / "gold"
    dump.write_bytes(b"id,foo\n")
    gold.write_text('{"id":"1","answers":["x"]}\n')
    done = odqa_fast("score", dump, "--answers", gold, *options)
    refused(done, 2, "needs a column 'prediction'", "Columns found: answers, foo, id")


@FORMATS
def test_none_under_known_columns_is_no_fault(tmp_path: Path, written: Written) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(written(KNOWN.slice(0, 0)))
    done = odqa_fast("score", dump, "--out", tmp_path / "run")
    assert summary_of(done)["counts"]["rows"] == 0
    assert "no row was scored" in done.stderr
    assert pq.read_table(tmp_path / "run" / "scores.parquet").num_rows == 0


def test_nor_is_a_part_without_rows(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(csv(UNKNOWN.slice(0, 0)))
    (tmp_path / "b").write_bytes(parquet(KNOWN))
    assert summary_of(odqa_fast("score", tmp_path))["counts"]["rows"] == 1


def test_what_has_no_rows_at_all(tmp_path: Path) -> None:
    text = tmp_path / "text.json"
    text.write_text('"x"\n')
    refused(odqa_fast("score", text), 2, "needs a column 'prediction'", "Columns found: x")
    for name in ("dump.parquet", "dump.arrow", "dump.jsonl.gz"):
        (tmp_path / name).touch()
        refused(odqa_fast("score", tmp_path / name), 3, name, "0 bytes")
