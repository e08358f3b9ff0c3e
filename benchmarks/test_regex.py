"""em:regex against a plain loop over `re`, as the official NQ-open scorer is written."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SHARED, best_seconds
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

QUESTIONS = 694
FLAGS = re.IGNORECASE | re.UNICODE | re.MULTILINE


def plain(predictions: list[str], answers: list[list[str]]) -> list[float]:
    """Patterns that do not compile match nothing, here as there."""
    scores = []
    for prediction, patterns in zip(predictions, answers, strict=True):
        score = 0.0
        for pattern in patterns:
            try:
                found = re.compile(pattern, FLAGS).match(prediction)
            except re.error:
                continue
            if found is not None:
                score = 1.0
        scores.append(score)
    return scores


def questions() -> list[list[str]]:
    """The answers of CuratedTREC, or patterns like them."""
    path = SHARED / "data" / "curatedtrec_test.parquet"
    if path.is_file():
        return list(pq.read_table(path)["answers"].to_pylist())
    return [[rf"(the\s+)?river\s*-?\s*{n}|19\d{n % 10}|colou?rs? (of|in) {n}"] for n in range(694)]


@pytest.mark.parametrize(
    ("n_questions", "n_rows"), [(40, 20_000), (QUESTIONS, 20_000), (QUESTIONS, QUESTIONS)]
)
@pytest.mark.benchmark(group="regex")
def test_em_regex(
    benchmark: BenchmarkFixture,
    report: Callable[..., None],
    predictions: pa.Table,
    n_questions: int,
    n_rows: int,
) -> None:
    """Few questions that many systems answered; all of them likewise; each of them once, where
    compiling the patterns is all there is to do."""
    rng = random.Random(3)
    texts = rng.choices(predictions["prediction"].to_pylist(), k=n_rows)
    some = questions()[:n_questions]
    answers = [some[row % n_questions] for row in range(n_rows)]
    data = pa.table({"prediction": texts, "answers": answers})

    def ours() -> oq.ScoreTable:
        return oq.score(data, ["em:regex"], "orqa", threads=1)

    def fresh() -> list[float]:
        re.purge()
        return plain(texts, answers)

    assert ours().table["em:regex"].to_pylist() == fresh()

    def prepare() -> None:
        re.purge()

    benchmark.pedantic(ours, setup=prepare, rounds=5)
    report(n_rows, "row", {"re_loop": best_seconds(fresh, 5)})
