"""Covers: profile kilt, KILT's provenance and entity measures, gated scores.

Compared against: KILT's own results.

Run: pytest tests/differential/test_kilt_vectors.py
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from reference.store import Record, records

import odqa_fast as oq

# The key of the reference -> our metric, for every key there is.
DOWNSTREAM = {"accuracy": "em:strip", "em": "em", "f1": "f1", "rougel": "rougeL:kilt"}
GATED = {
    "KILT-accuracy": "kilt_accuracy",
    "KILT-em": "kilt_em",
    "KILT-f1": "kilt_f1",
    "KILT-rougel": "kilt_rougel",
}
RETRIEVAL = {
    "Rprec": "r_precision:kilt",
    "precision@1": "precision@1:kilt",
    "precision@5": "precision@5:kilt",
    "recall@5": "recall@5:kilt",
    "success_rate@5": "hit@5:kilt",
    "answer_in_context@1": "hit@1:normalized",
    "answer_in_context@5": "hit@5:normalized",
    "answer_and_ent_in_context@1": "answer_and_ent_in_context@1",
    "answer_and_ent_in_context@5": "answer_and_ent_in_context@5",
    "entity_in_context@1": "entity_in_context@1",
    "entity_in_context@5": "entity_in_context@5",
    "entity_in_input": "entity_in_input",
}


def name(provenance: Record) -> str | None:
    return str(provenance["wikipedia_id"]) if "wikipedia_id" in provenance else None


def table(found: list[Record]) -> pa.Table:
    outputs = [record["gold"]["output"] for record in found]
    guesses = [record["guess"]["output"][0] for record in found]
    documents = [
        [{"text": p.get("text"), "id": name(p)} for p in guess.get("provenance", [])]
        for guess in guesses
    ]
    sets = [[output.get("provenance") for output in row] for row in outputs]
    evidence = [[None if s is None else list(map(name, s)) for s in row] for row in sets]
    titles = [[p["title"] for s in row for p in s or () if "title" in p] for row in sets]
    document = pa.struct([("text", pa.string()), ("id", pa.string())])
    texts = pa.list_(pa.string())
    return pa.table(
        {
            "question": [record["gold"]["input"] for record in found],
            "prediction": pa.array([g.get("answer") for g in guesses], pa.string()),
            "answers": pa.array([[o["answer"] for o in row if "answer" in o] for row in outputs]),
            "documents": pa.array(documents, pa.list_(document)),
            "relevant_titles": pa.array(titles, texts),
            "evidence": pa.array(evidence, pa.list_(texts)),
        }
    )


def differences(found: list[Record], names: dict[str, str], *path: str) -> list[Any]:
    scores = oq.score(table(found), list(names.values()), "kilt", threads=2).table
    wrong = []
    for key, metric in names.items():
        for record, got in zip(found, scores[metric].to_pylist(), strict=True):
            expected = record["expected"]
            for part in path:
                expected = expected[part]
            if expected[key] != got:
                wrong.append((record["id"], key, expected[key], got))
    return wrong


@pytest.fixture
def found() -> list[Record]:
    return [r for r in records("kilt") if "error" not in r["expected"]["retrieval"]]


def test_provenance(found: list[Record]) -> None:
    assert len(found) > 600
    assert {key for r in found for key in r["expected"]["retrieval"]} == RETRIEVAL.keys()
    assert differences(found, RETRIEVAL, "retrieval") == []


def test_downstream_and_gated(found: list[Record]) -> None:
    scored = [r for r in found if "error" not in r["expected"]["downstream"]]
    assert len(scored) > 600
    expected = [record["expected"]["downstream"] for record in scored]
    assert {key for scores in expected for key in scores} == {"downstream", "kilt"}
    assert {key for scores in expected for key in scores["downstream"]} == DOWNSTREAM.keys()
    assert {key for scores in expected for key in scores["kilt"]} == GATED.keys()
    assert differences(scored, DOWNSTREAM, "downstream", "downstream") == []
    assert differences(scored, GATED, "downstream", "kilt") == []


def test_rows_that_the_reference_refuses_are_not_scored(found: list[Record]) -> None:
    refused = [r for r in found if "error" in r["expected"]["downstream"]]
    metrics = [*DOWNSTREAM.values(), *GATED.values()]
    assert set(oq.score(table(refused), metrics, "kilt").scored.values()) == {0}
