"""The command as a whole process, against a process that only reads the same file.

ODQA_FAST_BENCH_ROWS sets the rows (50,000; a dump of 1,000,000 rows has about 3.5 GB),
ODQA_FAST_BENCH_DUMPS a folder that keeps the dumps.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import corpus
import pytest
from conftest import ROWS, best_seconds
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

METRICS = "em,f1,par,cr"
READ = {
    "jsonl": "import pyarrow.json as j, sys; "
    "j.read_json(sys.argv[1], read_options=j.ReadOptions(block_size=16 << 20))",
    "parquet": "import pyarrow.parquet as p, sys; p.read_table(sys.argv[1], "
    "columns=['id', 'answers', 'prediction', 'documents', 'summary'])",
}


def run(*command: object) -> str:
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.benchmark(group="end_to_end")
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_score_a_dump(
    benchmark: BenchmarkFixture, report: Callable[..., None], dumps: dict[str, Path], kind: str
) -> None:
    path = dumps[kind]
    command = ("-m", "odqa_fast", "score", path, "--metrics", METRICS)
    summary = json.loads(run(*command))
    assert summary["counts"]["rows"] == ROWS
    few = list(corpus.rows(500))
    in_memory = oq.score(few, METRICS.split(","))
    # The first rows of the dump are these, whatever its length.
    for row, par in zip(few, in_memory.table["par"].to_pylist(), strict=True):
        assert par == any(answer in row["summary"] for answer in row["answers"])

    benchmark.pedantic(run, command, rounds=3, warmup_rounds=1)
    read = best_seconds(lambda: run("-c", READ[kind], path), rounds=3)
    report(ROWS, "row", {"pyarrow_reading": read})


@pytest.mark.benchmark(group="start")
def test_ten_rows(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "ten.jsonl"
    corpus.write_jsonl(path, 10)
    benchmark.pedantic(run, ("-m", "odqa_fast", "score", path), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="start")
def test_help(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(run, ("-m", "odqa_fast", "--help"), rounds=10, warmup_rounds=1)
