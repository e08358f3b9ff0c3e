"""par:token over five joined passages of 100 words against DPR's has_answer in plain Python."""

from __future__ import annotations

import time
from collections.abc import Callable

import plain_python
import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

JOINED = 5


@pytest.mark.benchmark(group="answer_in_text")
def test_answer_in_text(
    benchmark: BenchmarkFixture, report: Callable[..., None], passages: pa.Table
) -> None:
    rows = passages.to_pylist()
    joined = [
        {
            "summary": " ".join(row["summary"] for row in rows[at : at + JOINED]),
            "answers": rows[at]["answers"],
        }
        for at in range(0, len(rows) - JOINED, JOINED)
    ]
    table = pa.Table.from_pylist(joined)
    start = time.perf_counter()
    expected = [plain_python.has_answer(row["summary"], row["answers"]) for row in joined]
    seconds = time.perf_counter() - start
    got = oq.score(table, ["par:token"], "nq", threads=1).table["par:token"].to_pylist()
    assert got == expected

    benchmark(oq.score, table, ["par:token"], "nq", threads=1)
    report(len(joined), "row", {"plain_python": seconds})
    n_bytes = sum(len(row["summary"].encode()) for row in joined)
    print(f"{n_bytes / benchmark.stats['min'] / 1e9:.2f} GB/s of text")
