"""EM, F1, precision and recall against plain Python on the same rows, in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable

import plain_python
import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

METRICS = ["em", "f1", "precision", "recall"]
TILED_ROWS = 1_000_000

Plain = tuple[list[tuple[float, ...]], float]


@pytest.fixture(scope="module")
def plain(predictions: pa.Table) -> Plain:
    """What plain Python scores, and the seconds it takes a row."""
    pairs = list(
        zip(predictions["prediction"].to_pylist(), predictions["answers"].to_pylist(), strict=True)
    )
    start = time.perf_counter()
    scores = [plain_python.score_row(prediction, answers) for prediction, answers in pairs]
    return scores, (time.perf_counter() - start) / len(pairs)


@pytest.fixture(scope="module")
def tiled(predictions: pa.Table) -> pa.Table:
    copies = -(-TILED_ROWS // len(predictions))
    return pa.concat_tables([predictions] * copies).slice(0, TILED_ROWS)


@pytest.mark.benchmark(group="em_f1")
@pytest.mark.parametrize("threads", [1, 2])
def test_em_f1(
    benchmark: BenchmarkFixture,
    report: Callable[..., None],
    predictions: pa.Table,
    tiled: pa.Table,
    plain: Plain,
    threads: int,
) -> None:
    expected, seconds_a_row = plain
    table = oq.score(predictions, METRICS, threads=threads).table
    got = zip(*(table[metric].to_pylist() for metric in METRICS), strict=True)
    assert list(got) == expected

    benchmark(oq.score, tiled, METRICS, threads=threads)
    report(len(tiled), "row", {"plain_python": seconds_a_row * len(tiled)})


def accented(text: str) -> str:
    return text[: len(text) // 2] + "é" + text[len(text) // 2 :]


LATIN = "abcdefghijklmnopqrstuvwxyz"
CYRILLIC = "абцдефгхийклмнопярстувшхыз"
TO_CYRILLIC = str.maketrans(LATIN + LATIN.upper(), CYRILLIC + CYRILLIC.upper())


@pytest.mark.benchmark(group="em_f1_unicode")
@pytest.mark.parametrize("script", ["ascii", "accented", "cyrillic"])
def test_em_f1_unicode(benchmark: BenchmarkFixture, predictions: pa.Table, script: str) -> None:
    """The same corpus in ASCII, with one accented letter in every text, and all in Cyrillic."""

    def spelled(text: str) -> str:
        text = text.encode("ascii", "ignore").decode()
        if script == "accented":
            return accented(text)
        return text.translate(TO_CYRILLIC) if script == "cyrillic" else text

    rows = [
        {
            "prediction": spelled(row["prediction"]),
            "answers": [spelled(answer) for answer in row["answers"]],
        }
        for row in predictions.to_pylist()
    ]
    some = slice(0, len(rows), 37)
    got = oq.score(rows[some], METRICS).table.select(METRICS).to_pylist()
    assert [tuple(row.values()) for row in got] == [
        plain_python.score_row(row["prediction"], row["answers"]) for row in rows[some]
    ]
    table = pa.Table.from_pylist(rows)
    benchmark(oq.score, table, METRICS, threads=1)
    n_bytes = sum(len(t.encode()) for row in rows for t in (row["prediction"], *row["answers"]))
    seconds = benchmark.stats["min"]
    per_row, per_byte = 1e9 * seconds / len(rows), 1e9 * seconds / n_bytes
    benchmark.extra_info.update(ns_a_row=round(per_row), ns_a_byte=round(per_byte, 3))
    print(f"\n{script}: {per_row:.0f} ns a row, {per_byte:.2f} a byte")
