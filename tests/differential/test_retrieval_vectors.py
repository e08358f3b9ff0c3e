"""Covers: retrieval metrics through the public API. Compared against: the results of the reference
scorers (DPR's has_answer and calculate_matches, FlashRAG, pytrec_eval, ir_measures).

Run: pytest tests/differential/test_retrieval_vectors.py
"""

from __future__ import annotations

import random
import re
import statistics
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference.store import Record, records

import odqa_fast as oq

#: key of the reference -> our metric
TREC = {
    "map": "map",
    "Rprec": "r_precision",
    "recip_rank": "mrr:ids",
    "ndcg": "ndcg",
    **{f"P_{k}": f"precision@{k}" for k in (1, 3, 5, 10)},
    **{f"recall_{k}": f"recall@{k}" for k in (1, 3, 5, 10)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (1, 3, 5, 10)},
    **{f"map_cut_{k}": f"map@{k}" for k in (5, 10)},
    **{f"success_{k}": f"hit@{k}:ids" for k in (1, 5, 10)},
}
#: What the reference reports besides and we do not: counts, measures of sets and of judgements.
TREC_OTHER = {"num_ret", "num_rel", "num_rel_ret", "bpref", "set_P", "set_recall", "set_F"}
MEASURES = {
    "AP": "map",
    "Rprec": "r_precision",
    "RR": "mrr:ids",
    "P@3": "precision@3",
    "R@5": "recall@5",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg@5",
    "Success@3": "hit@3:ids",
}


def rankings() -> list[Record]:
    return [record for record in records("retrieval") if "run" in record]


def table(found: list[Record], *, scores: bool = True) -> pa.Table:
    fields = [pa.field("text", pa.string()), pa.field("id", pa.string())]
    if scores:
        fields.append(pa.field("score", pa.float64()))
    runs = [
        [{"id": name, "score": float(score)} for name, score in record["run"]] for record in found
    ]
    return pa.table(
        {
            "documents": pa.array(runs, pa.list_(pa.struct(fields))),
            "relevant_ids": [list(record["qrels"]) for record in found],
            "relevance": pa.array(
                [list(record["qrels"].values()) for record in found], pa.list_(pa.int32())
            ),
        }
    )


def differences(found: list[Record], names: dict[str, str], scorer: str) -> list[Any]:
    scores = oq.score(table(found), list(names.values()), threads=2).table
    return [
        (record["id"], metric, record["expected"][scorer][key], got)
        for key, metric in names.items()
        for record, got in zip(found, scores[metric].to_pylist(), strict=True)
        if key in record["expected"][scorer] and record["expected"][scorer][key] != got
    ]


def test_equals_pytrec_eval() -> None:
    found = [r for r in rankings() if r["qrels"]]
    assert len(found) > 500
    assert {key for r in found for key in r["expected"]["pytrec_eval"]} == {*TREC, *TREC_OTHER}
    assert differences(found, TREC, "pytrec_eval") == []


def test_runs_and_judgements_in_files_equal_pytrec_eval(tmp_path: Path) -> None:
    """The same as a TREC run and qrels; a query without a line in the run is one of the judged."""
    found = [r for r in rankings() if r["qrels"]]
    assert any(not r["run"] for r in found)
    run = [
        f"{record['id']} Q0 {name} {rank} {score!r} tag\n"
        for record in found
        for rank, (name, score) in enumerate(record["run"])
    ]
    qrels = [f"{r['id']} 0 {name} {rel}\n" for r in found for name, rel in r["qrels"].items()]
    random.Random(9).shuffle(qrels)
    (tmp_path / "run").write_text("".join(run), encoding="utf-8")
    (tmp_path / "qrels").write_text("".join(qrels), encoding="utf-8")
    names = list(TREC.values())
    out = tmp_path / "out"
    result = oq.score_file(tmp_path / "run", names, qrels=tmp_path / "qrels", out=out)
    got = {row["id"]: row for row in pq.read_table(out / "scores.parquet").to_pylist()}
    wrong = [
        (record["id"], metric, record["expected"]["pytrec_eval"][key], got[record["id"]][metric])
        for key, metric in TREC.items()
        for record in found
        if record["expected"]["pytrec_eval"][key] != got[record["id"]][metric]
    ]
    assert wrong == []
    means = {
        metric: statistics.mean(Fraction(r["expected"]["pytrec_eval"][key]) for r in found)
        for key, metric in TREC.items()
    }
    assert result.means == {metric: float(mean) for metric, mean in means.items()}
    assert set(result.scored.values()) == {len(found)}


def test_equals_ir_measures() -> None:
    found = [r for r in rankings() if "error" not in r["expected"]["ir_measures"]]
    keys = {key for r in found for key in r["expected"]["ir_measures"]}
    assert keys == {*MEASURES, "RR@5", "Judged@5"}
    assert differences(found, MEASURES, "ir_measures") == []


def test_equals_ir_measures_with_its_other_rule_for_ties() -> None:
    """RR@5 comes from another of its providers: double scores, ties by rising id. Such an order is
    ours to have by listing the documents in it, without scores."""
    found = [r for r in rankings() if "error" not in r["expected"]["ir_measures"]]
    listed = [r | {"run": sorted(r["run"], key=lambda d: (-float(d[1]), d[0]))} for r in found]
    got = oq.score(table(listed, scores=False), "mrr@5:ids").table["mrr@5:ids"].to_pylist()
    assert got == [record["expected"]["ir_measures"]["RR@5"] for record in found]


def test_ids_in_list_order_where_there_are_no_scores() -> None:
    """A list in trec_eval's own order needs no scores to get the same values."""
    found = rankings()
    ordered = [
        record
        | {
            "run": sorted(
                sorted(record["run"], key=lambda d: d[0].encode(), reverse=True),
                key=lambda d: -float(pa.scalar(d[1], pa.float64()).cast(pa.float32(), safe=False)),
            )
        }
        for record in found
    ]
    names = list(TREC.values())
    with_scores = oq.score(table(found), names).table.drop(["id"])
    without = oq.score(table(ordered, scores=False), names).table.drop(["id"])
    assert with_scores.equals(without)


@pytest.mark.usefixtures("shared")
def test_hits_equal_dpr_top_k() -> None:
    """Lists of hits, as documents that hold the answer or do not."""
    found = [r for r in records("retrieval") if r["kind"] == "dpr_topk"]
    assert len(found) > 50
    wrong = []
    for record in found:
        documents = [["an answer" if hit else "" for hit in row] for row in record["hits"]]
        data = {"documents": documents, "answers": [["answer"]] * len(documents)}
        depth = len(record["expected"]["top_k_hits"])
        means = oq.score(data, [f"hit@{k + 1}" for k in range(depth)]).means
        if list(means.values()) != record["expected"]["top_k_accuracy"]:
            wrong.append((record["id"], means))
    assert wrong == []


@pytest.mark.parametrize(
    ("key", "metric", "profile"),
    [
        ("dpr_string", "hit@1:token", "nq"),
        ("fid", "hit@1", "nq"),
        ("dpr_kilt", "hit@1:normalized", "nq"),
        ("flashrag_contains", "hit@1:normalized", "flashrag"),
    ],
)
def test_hit_equals_has_answer(key: str, metric: str, profile: str) -> None:
    found = records("dpr_has_answer")
    data = pa.table(
        {"documents": [[r["text"]] for r in found], "answers": [r["answers"] for r in found]}
    )
    assert len(found) > 1000
    others = [re.sub("hit@1", name, metric) for name in ("mrr", "answer_precision@1")]
    scores = oq.score(data, [metric, *others], profile=profile).table
    for name in (metric, *others):
        got = scores[name].to_pylist()
        wrong = [(r, g) for r, g in zip(found, got, strict=True) if r["expected"][key] != g]
        assert wrong == []
