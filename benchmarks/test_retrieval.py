"""Retrieval metrics against DPR's calculate_matches in plain Python and against pytrec_eval.

pytrec_eval is not among the dependencies: `pip install pytrec-eval-terrier` to have it as a peer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SHARED, best_seconds
from corpus import rows
from plain_python import has_answer, tokens
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

THREADS = 2
K = 20
QUESTIONS = 10_000
#: The peer takes a minute for this many; its time is per question.
PEER_QUESTIONS = 200


def calculate_matches(documents: list[list[str]], answers: list[list[str]]) -> list[float]:
    """DPR's top-k accuracy: each passage is looked at, and the first hit counts for all k above."""
    hits = [0] * K
    for passages, golds in zip(documents, answers, strict=True):
        found = [has_answer(passage, golds) for passage in passages]
        first = next((at for at, hit in enumerate(found) if hit), None)
        if first is not None:
            hits[first:] = [n + 1 for n in hits[first:]]
    return [n / len(documents) for n in hits]


@pytest.fixture(scope="module")
def questions() -> pa.Table:
    """Questions with 20 passages of about 100 words: real ones, dealt out anew, or drawn ones."""
    rng = random.Random(5)
    path = SHARED / "data" / "rag_topk.parquet"
    if path.is_file():
        found = pq.read_table(path, columns=["answers", "passages"]).to_pylist()
    else:
        found = [
            {"answers": row["answers"], "passages": [d["text"] for d in row["documents"]]}
            for row in islice(rows(5_000), 5_000)
        ]
    found = [row for row in found if row["answers"] and row["passages"]]
    pool = [passage for row in found for passage in row["passages"]]
    answers, documents = [], []
    for _ in range(QUESTIONS):
        row = rng.choice(found)
        passages = [*row["passages"][:3], *rng.choices(pool, k=K)][:K]
        rng.shuffle(passages)
        answers.append(row["answers"])
        documents.append(passages)
    return pa.table({"documents": documents, "answers": answers})


@pytest.mark.benchmark(group="retrieval")
def test_hit_curve(
    benchmark: BenchmarkFixture, report: Callable[..., None], questions: pa.Table
) -> None:
    names = [f"hit@{k}" for k in range(1, K + 1)]
    few = questions.slice(0, PEER_QUESTIONS)
    documents, answers = few["documents"].to_pylist(), few["answers"].to_pylist()
    start = time.perf_counter()
    expected = calculate_matches(documents, answers)
    plain = (time.perf_counter() - start) / PEER_QUESTIONS * QUESTIONS
    assert list(oq.score(few, names).means.values()) == expected
    n_tokens = sum(len(tokens(text)) for text in documents[0]) / K
    print(f"\n{n_tokens:.0f} tokens a passage, {sum(map(len, answers)) / len(answers):.1f} answers")
    benchmark(oq.score, questions, names, threads=THREADS)
    report(QUESTIONS * K, "passage", {"plain_python": plain})


def judged_runs(n_queries: int, depth: int) -> pa.Table:
    """Runs as a retriever writes them, best first, each with one to three relevant documents."""
    rng = random.Random(6)
    runs: list[list[dict[str, Any]]] = []
    relevant = []
    for _ in range(n_queries):
        ids = [f"doc{number}" for number in rng.sample(range(1_000_000), depth)]
        scores = sorted((rng.random() for _ in ids), reverse=True)
        runs.append([{"id": i, "score": s} for i, s in zip(ids, scores, strict=True)])
        relevant.append(rng.sample(ids, rng.randint(1, 2)) + ["elsewhere"] * rng.randint(0, 1))
    fields = [("text", pa.string()), ("id", pa.string()), ("score", pa.float64())]
    return pa.table(
        {"documents": pa.array(runs, pa.list_(pa.struct(fields))), "relevant_ids": relevant}
    )


@pytest.mark.benchmark(group="retrieval")
def test_ranked_by_ids(benchmark: BenchmarkFixture, report: Callable[..., None]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    n_queries = 10_000
    table = judged_runs(n_queries, 100)
    names = {"mrr:ids": "recip_rank", "recall@5": "recall_5", "recall@20": "recall_20"}
    runs, relevant = table["documents"].to_pylist(), table["relevant_ids"].to_pylist()

    def peer() -> dict[str, dict[str, float]]:
        run = {str(q): {d["id"]: d["score"] for d in row} for q, row in enumerate(runs)}
        qrels = {str(q): dict.fromkeys(ids, 1) for q, ids in enumerate(relevant)}
        judge = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "recall.5,20"})
        return judge.evaluate(run)  # type: ignore[no-any-return]  # untyped

    expected = peer()
    got = oq.score(table, list(names), threads=THREADS).table
    for name, theirs in names.items():
        assert got[name].to_pylist() == [expected[str(q)][theirs] for q in range(n_queries)]
    benchmark(oq.score, table, list(names), threads=THREADS)
    report(n_queries, "query", {"pytrec_eval_with_dicts": best_seconds(peer, rounds=3)})
