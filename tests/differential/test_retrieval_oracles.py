"""Covers: retrieval metrics and evidence over nulls, ties, repeats, layouts, threads.

Compared against: oracles. Run: pytest tests/differential/test_retrieval_oracles.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import Layout
from oracles.par import par
from oracles.retrieval import Document, by_answers, by_evidence, by_ids, holding
from oracles.rules import RULES

import odqa_fast as oq

Row = dict[str, Any]
MODES = ("token", "raw", "normalized")

#: metric -> measure, k
ANSWER_MEASURES: dict[str, tuple[str, int | None]] = {
    "hit@1": ("hit", 1),
    "hit@3": ("hit", 3),
    "mrr": ("mrr", None),
    "mrr@2": ("mrr", 2),
    "answer_precision@2": ("precision", 2),
    "answer_precision@9": ("precision", 9),
    "evidence_share": ("share", None),
}
ID_MEASURES: dict[str, tuple[str, int | None]] = {
    "hit@2:ids": ("hit", 2),
    "mrr:ids": ("mrr", None),
    "mrr@3:ids": ("mrr", 3),
    "recall@1": ("recall", 1),
    "recall@4": ("recall", 4),
    "recall@2:capped": ("capped", 2),
    "precision@3": ("precision", 3),
    "r_precision": ("r_precision", None),
    "map": ("map", None),
    "map@3": ("map", 3),
    "ndcg": ("ndcg", None),
    "ndcg@3": ("ndcg", 3),
}


@pytest.mark.parametrize("profile", RULES)
@pytest.mark.parametrize("mode", MODES)
@given(rows=strategies.rows(), layout=strategies.layouts())
@settings(max_examples=25)
def test_by_answers(mode: str, profile: str, rows: list[Row], layout: Layout) -> None:
    names = [f"{metric}:{mode}" for metric in ANSWER_MEASURES]
    preserved = [f"par@evidential:{mode}", f"par@evidential:all:{mode}"]
    scores = oq.score(layout.table(rows), [*names, *preserved], profile=profile).table
    for metric, (measure, k) in ANSWER_MEASURES.items():
        if profile == "flashrag" and measure == "precision":
            measure = "share"
        expected = [
            by_answers(measure, k, row["documents"], row["answers"], mode, profile) for row in rows
        ]
        assert scores[f"{metric}:{mode}"].to_pylist() == expected, metric
    for row, over_some, over_all in zip(
        rows, *(scores[name].to_pylist() for name in preserved), strict=True
    ):
        kept = par(row["summary"], row["answers"], mode, profile)
        if any(holding(row["documents"], row["answers"], mode, profile)):
            assert (over_some, over_all) == (kept, kept)
        else:
            assert (over_some, over_all) == (None, None if row["answers"] is None else 0.0)


@pytest.mark.parametrize("evidence", MODES)
@given(rows=strategies.rows(), layout=strategies.layouts())
@settings(max_examples=40)
def test_where_the_evidence_is(evidence: Any, rows: list[Row], layout: Layout) -> None:
    table = oq.diagnose(layout.table(rows), evidence=evidence).table
    for row, found in zip(rows, table.to_pylist(), strict=True):
        answers, documents = row["answers"], row["documents"]
        holds = holding(documents, answers, evidence, "squad") if answers is not None else []
        if True not in holds:
            assert found["evidence_document"] is None
            assert found["evidence_gold"] is None
            continue
        at = holds.index(True)
        which = next(i for i, a in enumerate(answers) if par(documents[at], [a], evidence) == 1)
        assert (found["evidence_document"], found["evidence_answer"]) == (at, which)
        assert found["evidence_gold"] == ("alias" if which else "canonical")
        position = found["evidence_position"]
        if evidence == "raw":
            assert position == documents[at].index(answers[which])
        elif evidence == "token" and position is not None:
            assert par(documents[at][position:], [answers[which]], "token") == 1
            assert par(documents[at][position + 1 :], [answers[which]], "token") == 0 or (
                documents[at].count(documents[at][position]) > 1
            )


NAMES = st.sampled_from(["a", "b", "B", "é", "d1", "d10", "d2", "", "\U0010fffd", "\uffff"])
SCORES = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0 + 1e-9, -1.0, 1e300, -1e300, 3.4e38, 0.1]),
    st.floats(allow_nan=False, width=64),
)


@st.composite
def judged_rows(draw: st.DrawFn) -> list[Row]:
    with_scores = draw(st.booleans())
    score = st.one_of(SCORES, SCORES, SCORES, st.none()) if draw(st.booleans()) else SCORES
    document = st.tuples(st.one_of(NAMES, NAMES, st.none()), score if with_scores else st.none())
    row = st.fixed_dictionaries(
        {
            "documents": st.one_of(st.none(), st.lists(document, max_size=12)),
            "relevant_ids": st.one_of(
                st.none(), st.lists(st.one_of(NAMES, NAMES, NAMES, st.none()), max_size=5)
            ),
            "relevance": st.one_of(
                st.none(), st.lists(st.one_of(st.integers(-1, 3), st.none()), max_size=6)
            ),
        }
    )
    return draw(st.lists(row, min_size=1, max_size=8))


def judged_table(rows: list[Row]) -> pa.Table:
    def structs(documents: Sequence[Document] | None) -> list[dict[str, Any]] | None:
        if documents is None:
            return None
        return [{"id": name, "score": score} for name, score in documents]

    fields = [("text", pa.string()), ("id", pa.string()), ("score", pa.float64())]
    return pa.table(
        {
            "documents": pa.array(
                [structs(row["documents"]) for row in rows], pa.list_(pa.struct(fields))
            ),
            "relevant_ids": pa.array([row["relevant_ids"] for row in rows], pa.list_(pa.string())),
            "relevance": pa.array([row["relevance"] for row in rows], pa.list_(pa.int32())),
        }
    )


def id_oracle(row: Row, metric: str) -> float | None:
    measure, k = ID_MEASURES[metric]
    return by_ids(measure, k, row["documents"], row["relevant_ids"], row["relevance"])


@given(rows=judged_rows(), data=st.data())
@settings(max_examples=200)
def test_by_ids(rows: list[Row], data: st.DataObject) -> None:
    table = judged_table(rows)
    start = data.draw(st.integers(0, len(rows) - 1))
    scores = oq.score(table.slice(start), list(ID_MEASURES), threads=2).table
    for metric in ID_MEASURES:
        expected = [id_oracle(row, metric) for row in rows[start:]]
        assert scores[metric].to_pylist() == expected, metric


@given(rows=judged_rows())
@settings(max_examples=50)
def test_rows_of_python_values(rows: list[Row]) -> None:
    """The same as dicts, where a document may lack the field altogether."""
    dicts = []
    for row in rows:
        documents = row["documents"]
        if documents is not None:
            documents = [
                {key: value for key, value in (("id", name), ("score", score)) if value is not None}
                for name, score in documents
            ]
        dicts.append({**row, "documents": documents})
    scores = oq.score(dicts, list(ID_MEASURES)).table
    for metric in ID_MEASURES:
        assert scores[metric].to_pylist() == [id_oracle(row, metric) for row in rows]


EVIDENCE_MEASURES: dict[str, tuple[str, int | None]] = {
    "hit@2:kilt": ("hit", 2),
    "recall@1:kilt": ("recall", 1),
    "recall@4:kilt": ("recall", 4),
    "precision@3:kilt": ("precision", 3),
    "r_precision:kilt": ("r_precision", None),
}
IDS = st.sampled_from(["a", " a", "b", "c", "d", "e", ""])
EVIDENCE = st.lists(st.none() | st.lists(IDS | st.none(), max_size=4), max_size=5)


@given(st.lists(st.tuples(st.none() | st.lists(IDS, max_size=9), st.none() | EVIDENCE), min_size=1))
def test_by_evidence(
    rows: list[tuple[list[str] | None, list[list[str | None] | None] | None]],
) -> None:
    document = pa.struct([("text", pa.string()), ("id", pa.string())])
    documents = [None if ids is None else [{"id": name} for name in ids] for ids, _ in rows]
    table = pa.table(
        {
            "documents": pa.array(documents, pa.list_(document)),
            "evidence": pa.array([sets for _, sets in rows], pa.list_(pa.list_(pa.string()))),
        }
    )
    scores = oq.score(table, list(EVIDENCE_MEASURES)).table
    for metric, (measure, k) in EVIDENCE_MEASURES.items():
        expected = [by_evidence(measure, k, ids, sets) for ids, sets in rows]
        assert scores[metric].to_pylist() == expected, metric


def test_many_ids_and_sets_take_no_square_of_time() -> None:
    """Where each was compared to all before it, 20,000 of each took 2.6 s."""
    n = 100_000
    names = [f"page {number}" for number in range(n)]
    documents = pa.array([[{"id": name} for name in names]])
    # One set of every second page, which is complete at the last one, and one for each page.
    evidence = pa.array([[names[1::2], *([name] for name in names)]])
    start = time.process_time()
    scores = oq.score({"documents": documents, "evidence": evidence}, list(EVIDENCE_MEASURES))
    assert scores.means["r_precision:kilt"] == 1
    assert scores.means["precision@3:kilt"] == 1
    assert time.process_time() - start < 5
