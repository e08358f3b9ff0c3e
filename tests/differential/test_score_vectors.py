"""Covers: every profile through the public API. Compared against: the reference scorers' results.

Run: pytest tests/differential/test_score_vectors.py
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference.store import records
from reference_checks import CHECKS, NORMALIZER_KEYS, Check, rows

import odqa_fast as oq

TYPES = {
    "prediction": pa.string(),
    "summary": pa.string(),
    "answers": pa.list_(pa.string()),
    "documents": pa.list_(pa.string()),
}


def load(check: Check) -> tuple[pa.Table, list[float | None]]:
    inputs, expected = zip(*rows(check), strict=True)
    columns = {name: pa.array([row[name] for row in inputs], TYPES[name]) for name in inputs[0]}
    return pa.table(columns), list(expected)


def differences(
    table: pa.Table, expected: list[float | None], got: list[float | None]
) -> list[dict]:
    """The rows that differ in any bit, with both values."""
    assert len(got) == len(expected)
    pairs = enumerate(zip(expected, got, strict=True))
    return [
        {**table.slice(i, 1).to_pylist()[0], "expected": want, "got": score}
        for i, (want, score) in pairs
        if want != score
    ]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_score_equals_reference(check: Check) -> None:
    table, expected = load(check)
    scores = oq.score(table, metrics=[check.metric], profile=check.profile)
    assert len(expected) > 1000
    assert differences(table, expected, scores.table[check.metric].to_pylist()) == []


def groups() -> list[list[Check]]:
    """The checks that go over the same rows under the same profile, each metric once."""
    found: dict[tuple[str, str], dict[str, Check]] = defaultdict(dict)
    for check in CHECKS:
        found[check.file, check.profile].setdefault(check.metric, check)
    return [list(group.values()) for group in found.values()]


@pytest.mark.parametrize("group", groups(), ids=lambda group: str(group[0]))
def test_metrics_do_not_disturb_each_other(group: list[Check]) -> None:
    table, _ = load(group[0])
    names = [f"{check.metric}:{check.profile}" for check in group]
    scores = oq.score(table, metrics=names, threads=2)
    for check, name in zip(group, names, strict=True):
        _, expected = load(check)
        assert differences(table, expected, scores.table[name].to_pylist()) == []


@pytest.mark.parametrize("key", NORMALIZER_KEYS)
def test_normalize_equals_reference(key: str) -> None:
    found = records("normalize")
    texts = [record["text"] for record in found]
    got = oq.normalize(texts, NORMALIZER_KEYS[key]).to_pylist()
    expected = [record["expected"][key] for record in found]
    wrong = [t for t in zip(texts, expected, got, strict=True) if t[1] != t[2]]
    assert wrong == []


@pytest.mark.parametrize(
    ("tokenizer", "key"), [("dpr", "dpr_tokens_uncased_nfd"), ("squad", "squad")]
)
def test_tokenize_equals_reference(tokenizer: str, key: str) -> None:
    found = records("normalize")
    texts = [record["text"] for record in found]
    expected = [record["expected"][key] for record in found]
    if tokenizer == "squad":
        expected = [normalized.split() for normalized in expected]
    got = oq.tokenize(texts, tokenizer).to_pylist()
    wrong = [t for t in zip(texts, expected, got, strict=True) if t[1] != t[2]]
    assert wrong == []


def test_rag_topk_equals_the_scores_flashrag_recorded(shared: Path) -> None:
    table = pq.read_table(shared / "data" / "rag_topk.parquet")
    scores = oq.score(table, metrics=["em", "contains", "f1"], profile="flashrag")
    assert scores.table.num_rows == 4707
    columns = {"em": "flashrag_em", "contains": "flashrag_acc", "f1": "flashrag_f1"}
    for metric, recorded in columns.items():
        expected, got = table[recorded].to_pylist(), scores.table[metric].to_pylist()
        assert differences(table.select(["prediction", "answers"]), expected, got) == []
