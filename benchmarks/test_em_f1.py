"""EM, F1, precision and recall against plain Python on the same rows, in the same run.

make bench
"""

from __future__ import annotations

import time

import plain_python
import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

METRICS = ["em", "f1", "precision", "recall"]


@pytest.fixture(scope="module")
def plain(predictions: pa.Table) -> tuple[list[tuple[float, ...]], float]:
    """What plain Python scores, and the seconds it took."""
    pairs = list(
        zip(predictions["prediction"].to_pylist(), predictions["answers"].to_pylist(), strict=True)
    )
    start = time.perf_counter()
    scores = [plain_python.score_row(prediction, answers) for prediction, answers in pairs]
    return scores, time.perf_counter() - start


@pytest.mark.benchmark(group="em_f1")
@pytest.mark.parametrize("threads", [1, 2])
def test_em_f1_speed(
    benchmark: BenchmarkFixture,
    predictions: pa.Table,
    plain: tuple[list[tuple[float, ...]], float],
    threads: int,
) -> None:
    expected, seconds = plain
    result = oq.score(predictions, METRICS, threads=threads)
    got = zip(*(result.rows[metric].to_pylist() for metric in METRICS), strict=True)
    assert list(got) == expected

    benchmark(oq.score, predictions, METRICS, threads=threads)
    ratio = seconds / benchmark.stats["min"]
    benchmark.extra_info.update(rows=len(predictions), times_plain_python=round(ratio, 1))
    ours, theirs = (1e6 * t / len(predictions) for t in (benchmark.stats["min"], seconds))
    print(
        f"\n{threads} thread(s): {ours:.2f} us a row, plain Python {theirs:.1f}: {ratio:.0f} times"
    )
