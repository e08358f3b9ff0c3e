"""PAR, raw, against polars and DuckDB on the same (passage, answer) pairs, two threads each."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from conftest import best_seconds
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

THREADS = 2


@pytest.mark.benchmark(group="par")
def test_par_raw(
    benchmark: BenchmarkFixture, report: Callable[..., None], passages: pa.Table
) -> None:
    rows = passages.to_pylist()
    pairs = pa.Table.from_pylist(
        [{"summary": row["summary"], "answers": [a]} for row in rows for a in row["answers"]]
    )
    frame = pl.DataFrame(
        {
            "summary": pairs["summary"],
            "answer": [answer for row in rows for answer in row["answers"]],
        }
    )
    search = pl.col("summary").str.contains(pl.col("answer"), literal=True)
    expected = frame.select(search).to_series().to_list()
    assert oq.score(pairs, ["par"], threads=THREADS).table["par"].to_pylist() == expected

    connection = duckdb.connect(config={"threads": THREADS})
    connection.register("pairs", frame.to_arrow())
    connection.execute("CREATE TABLE held AS SELECT * FROM pairs")
    counted = "SELECT count(*) FROM held WHERE contains(summary, answer)"
    assert connection.execute(counted).fetchall() == [(sum(expected),)]

    benchmark(oq.score, pairs, ["par"], threads=THREADS)
    peers = {
        f"polars_{pl.thread_pool_size()}_threads": best_seconds(lambda: frame.select(search)),
        "duckdb": best_seconds(lambda: connection.execute(counted).fetchall()),
        "python_in": best_seconds(
            lambda: [a in row["summary"] for row in rows for a in row["answers"]], rounds=3
        ),
    }
    report(len(pairs), "pair", peers)


@pytest.mark.benchmark(group="par")
def test_par_raw_by_row(
    benchmark: BenchmarkFixture, report: Callable[..., None], passages: pa.Table
) -> None:
    """The same question asked as a dump asks it: a passage once, with all its answers."""
    rows = passages.to_pylist()
    expected = [float(any(a in row["summary"] for a in row["answers"])) for row in rows]
    assert oq.score(passages, ["par"], threads=THREADS).table["par"].to_pylist() == expected
    benchmark(oq.score, passages, ["par"], threads=THREADS)
    plain = best_seconds(
        lambda: [any(a in row["summary"] for a in row["answers"]) for row in rows], rounds=3
    )
    report(len(rows), "row", {"python_in": plain})
