"""Retrieval metrics against DPR's calculate_matches in plain Python and against pytrec_eval.

ODQA_FAST_BENCH_PEER_QUESTIONS sets how many of the 10,000 questions the first peer scores (200).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
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
#: The questions are drawn, so the first ones are a random part of them.
PEER_QUESTIONS = int(os.environ.get("ODQA_FAST_BENCH_PEER_QUESTIONS", "200"))
QUERIES = 100_000
DEPTH = 100


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


Runs = tuple[list[list[str]], list[list[float]], list[list[str]]]


@pytest.fixture(scope="module")
def judged_runs() -> Runs:
    """Ids and scores as a retriever writes them, best first; and one to three relevant ids a query,
    of which the last may be out of reach."""
    rng = random.Random(6)
    names = [f"doc{number}" for number in range(1_000_000)]
    ids, scores, relevant = [], [], []
    for _ in range(QUERIES):
        ids.append(rng.sample(names, DEPTH))
        scores.append(sorted((rng.random() for _ in range(DEPTH)), reverse=True))
        relevant.append(rng.sample(ids[-1], rng.randint(1, 2)) + ["elsewhere"] * rng.randint(0, 1))
    return ids, scores, relevant


MEASURES = {"mrr:ids": "recip_rank", "recall@5": "recall_5", "recall@20": "recall_20"}


@pytest.mark.benchmark(group="retrieval")
def test_ranked_by_ids(
    benchmark: BenchmarkFixture, report: Callable[..., None], judged_runs: Runs
) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    ids, scores, relevant = judged_runs

    def peer() -> dict[str, dict[str, float]]:
        pairs = enumerate(zip(ids, scores, strict=True))
        run = {str(q): dict(zip(*row, strict=True)) for q, row in pairs}
        qrels = {str(q): dict.fromkeys(names, 1) for q, names in enumerate(relevant)}
        judge = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "recall.5,20"})
        return judge.evaluate(run)  # type: ignore[no-any-return]  # untyped

    start = time.perf_counter()
    expected = peer()
    seconds = time.perf_counter() - start
    table = as_table(judged_runs)
    got = oq.score(table, list(MEASURES), threads=THREADS).table
    for name, theirs in MEASURES.items():
        assert got[name].to_pylist() == [expected[str(q)][theirs] for q in range(QUERIES)]
    benchmark.pedantic(
        oq.score, (table, list(MEASURES)), {"threads": THREADS}, rounds=5, warmup_rounds=1
    )
    seconds = min(seconds, best_seconds(peer, rounds=1))
    report(QUERIES, "query", {"pytrec_eval_with_dicts": seconds})


def as_table(judged: Runs) -> pa.Table:
    """The same as columns."""
    ids, scores, relevant = judged
    edges = pa.array(np.arange(0, QUERIES * DEPTH + 1, DEPTH, dtype=np.int32))
    flat = {
        "text": pa.nulls(QUERIES * DEPTH, pa.string()),
        "id": pa.array([name for row in ids for name in row]),
        "score": pa.array([score for row in scores for score in row]),
    }
    documents = pa.StructArray.from_arrays(list(flat.values()), names=list(flat))
    lists = pa.ListArray.from_arrays(edges, documents)
    return pa.table({"documents": lists, "relevant_ids": relevant})


@pytest.mark.benchmark(group="retrieval")
def test_run_and_qrels_in_files(
    benchmark: BenchmarkFixture, report: Callable[..., None], judged_runs: Runs, tmp_path: Path
) -> None:
    """From the files to the means, a tenth of the queries."""
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    n_queries = QUERIES // 10
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    with run.open("w") as out:
        for query, (ids, scores) in enumerate(zip(*judged_runs[:2], strict=True)):
            if query < n_queries:
                lines = zip(ids, range(DEPTH), scores, strict=True)
                out.writelines(f"{query} Q0 {i} {rank} {s!r} tag\n" for i, rank, s in lines)
    with qrels.open("w") as out:
        for query, names in enumerate(judged_runs[2][:n_queries]):
            out.writelines(f"{query} 0 {name} 1\n" for name in names)

    def peer() -> list[float]:
        with run.open() as lines:
            parsed = pytrec_eval.parse_run(lines)
        with qrels.open() as lines:
            judge = pytrec_eval.RelevanceEvaluator(
                pytrec_eval.parse_qrel(lines), {"recip_rank", "recall.5,20"}
            )
        found = judge.evaluate(parsed).values()
        return [np.mean([row[name] for row in found]) for name in MEASURES.values()]

    def ours() -> list[float | None]:
        means = oq.score_file(run, list(MEASURES), qrels=qrels, threads=THREADS).means
        return list(means.values())

    assert ours() == pytest.approx(peer(), rel=1e-12)
    benchmark.pedantic(ours, rounds=3, warmup_rounds=1)
    report(n_queries, "query", {"pytrec_eval": best_seconds(peer, rounds=2)})
