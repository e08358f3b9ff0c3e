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
    """Passages, each with all the answers of its question. The peers get the pairs spread out, one
    answer a row, which they need and which is not timed."""
    rows = passages.to_pylist()
    pairs = [(row["summary"], answer) for row in rows for answer in row["answers"]]
    expected = [any(answer in row["summary"] for answer in row["answers"]) for row in rows]
    assert oq.score(passages, ["par"], threads=THREADS).table["par"].to_pylist() == expected

    frame = pl.DataFrame(pairs, schema=["summary", "answer"], orient="row")
    search = pl.col("summary").str.contains(pl.col("answer"), literal=True)
    held = frame.select(search).to_series().to_list()
    assert held == [answer in summary for summary, answer in pairs]
    connection = duckdb.connect(config={"threads": THREADS})
    connection.register("pairs", frame.to_arrow())
    connection.execute("CREATE TABLE held AS SELECT * FROM pairs")
    counted = "SELECT count(*) FROM held WHERE contains(summary, answer)"
    assert connection.execute(counted).fetchall() == [(sum(held),)]

    benchmark(oq.score, passages, ["par"], threads=THREADS)
    peers = {
        f"polars_{pl.thread_pool_size()}_threads": best_seconds(lambda: frame.select(search), 20),
        "duckdb": best_seconds(lambda: connection.execute(counted).fetchall(), 20),
        "python_in": best_seconds(
            lambda: [any(a in row["summary"] for a in row["answers"]) for row in rows], 3
        ),
    }
    report(len(pairs), "pair", peers)
