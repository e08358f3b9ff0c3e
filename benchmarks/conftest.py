"""The data of the benchmarks: real text where it can be had, drawn words elsewhere; and the report.

Every suite checks its result against a peer before it times anything, runs the peer in the same
process run, and reports the ratio.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import corpus
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

SHARED = Path(os.environ.get("ODQA_FAST_SHARED", Path(__file__).parents[2] / "shared"))
ROWS = int(os.environ.get("ODQA_FAST_BENCH_ROWS", "50000"))


@pytest.fixture(scope="session")
def predictions() -> pa.Table:
    """Predictions and answers; rows without answers, which plain Python cannot score, left out."""
    path = SHARED / "data" / "predictions.parquet"
    if path.is_file():
        table = pq.read_table(path, columns=["prediction", "answers"])
    else:
        rows = corpus.rows(50_000)
        table = pa.Table.from_pylist([{k: r[k] for k in ("prediction", "answers")} for r in rows])
    pairs = zip(table["prediction"].to_pylist(), table["answers"].to_pylist(), strict=True)
    return table.filter(pa.array([p is not None and bool(a) for p, a in pairs]))


@pytest.fixture(scope="session")
def passages() -> pa.Table:
    """Passages of about 100 words as `summary`, with the answers of their question."""
    path = SHARED / "data" / "rag_topk.parquet"
    if path.is_file():
        table = pq.read_table(path, columns=["answers", "passages"])
        rows = zip(table["answers"].to_pylist(), table["passages"].to_pylist(), strict=True)
        pairs = [{"summary": p, "answers": a} for a, texts in rows for p in texts]
    else:
        pairs = [
            {"summary": document["text"], "answers": row["answers"]}
            for row in corpus.rows(3_000)
            for document in row["documents"]
        ]
    return pa.Table.from_pylist(pairs)


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same dump as JSONL and as Parquet, of ODQA_FAST_BENCH_ROWS rows."""
    named = os.environ.get("ODQA_FAST_BENCH_DUMPS")
    folder = Path(named) if named else tmp_path_factory.mktemp("dumps")
    paths = {kind: folder / f"dump.{kind}" for kind in ("jsonl", "parquet")}
    for path in paths.values():
        if not path.exists():
            command = [sys.executable, corpus.__file__, "--rows", str(ROWS), str(path)]
            subprocess.run(command, check=True)
    return paths


def best_seconds(call: Callable[[], object], rounds: int = 5) -> float:
    """The shortest of some runs: what the machine's noise adds to least."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def report(benchmark: BenchmarkFixture) -> Callable[..., None]:
    """Prints the benchmark's time beside its peers' and keeps the ratios in the JSON."""

    def say(per: int, unit: str, peers: dict[str, float]) -> None:
        ours = benchmark.stats["min"]
        ratios = {name: seconds / ours for name, seconds in peers.items()}
        benchmark.extra_info.update({f"times_{name}": round(r, 2) for name, r in ratios.items()})
        shown = ", ".join(
            f"{name} {1e6 * peers[name] / per:.3f} ({ratio:.2f} times)"
            for name, ratio in ratios.items()
        )
        print(f"\n{benchmark.name}: {1e6 * ours / per:.3f} us a {unit}; {shown}")

    return say
