"""Covers: kernels over slices, nulls, chunks, storage types, threads. Compared against: oracles.

Run: pytest tests/differential/test_against_oracles.py (ODQA_FAST_EXAMPLES=2000 to try harder)
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import strategies
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from layouts import DOCUMENT_KINDS, LIST_KINDS, TEXT_KINDS, Layout
from oracles.answer import ANSWER_METRICS
from oracles.cr import cr
from oracles.normalize import NORMALIZERS, TOKENIZERS
from oracles.par import par
from oracles.rules import RULES

import odqa_fast as oq

METRICS = [*ANSWER_METRICS, "par", "par:normalized", "par:token", "cr", "cr:words"]

Row = dict[str, Any]
Columns = dict[str, list[float | None]]


def oracle_value(row: Row, metric: str, profile: str) -> float | None:
    family, _, option = metric.partition(":")
    if family == "par":
        return par(row["summary"], row["answers"], option or "raw", profile)
    if family == "cr":
        return cr(row["summary"], row["documents"], option or "chars", profile)
    return ANSWER_METRICS[family](row["prediction"], row["answers"], profile)


def oracle_scores(rows: list[Row], profile: str) -> Columns:
    return {metric: [oracle_value(row, metric, profile) for row in rows] for metric in METRICS}


def product_scores(table: pa.Table, profile: str, threads: int | None = None) -> Columns:
    scored = oq.score(table, metrics=METRICS, profile=profile, threads=threads).table
    return {metric: scored[metric].to_pylist() for metric in METRICS}


@pytest.mark.parametrize("profile", RULES)
@given(rows=strategies.rows(), layout=strategies.layouts())
def test_scores_equal_oracles(profile: str, rows: list[Row], layout: Layout) -> None:
    assert product_scores(layout.table(rows), profile) == oracle_scores(rows, profile)


@pytest.mark.parametrize("profile", RULES)
@given(rows=strategies.rows())
@settings(max_examples=50)
def test_scalar_calls_equal_oracles(profile: str, rows: list[Row]) -> None:
    row = rows[0]
    for metric in ANSWER_METRICS:
        got = getattr(oq, metric)(row["prediction"], row["answers"], profile=profile)
        assert got == oracle_value(row, metric, profile)
    for mode in ("raw", "normalized", "token"):
        got = oq.par(row["summary"], row["answers"], mode=mode, profile=profile)
        assert got == oracle_value(row, f"par:{mode}", profile)


FIXED_ROWS: list[Row] = [
    {"prediction": "The cat", "summary": "a cat sat", "answers": ["cat"], "documents": ["a cat!"]},
    {"prediction": None, "summary": None, "answers": ["x"], "documents": ["x"]},
    {"prediction": "ΑΣ \u0130x", "summary": "é ½", "answers": [], "documents": []},
    {"prediction": "yes", "summary": "yes", "answers": None, "documents": None},
    {"prediction": "no", "summary": "", "answers": [None, "", "no no"], "documents": [None, ""]},
    {
        "prediction": "b a b",
        "summary": "\u0bf0 b",
        "answers": ["b b", None, "b"],
        "documents": ["b", "c"],
    },
    {"prediction": "", "summary": "e\u0301", "answers": [None], "documents": ["\xe9", None, "z z"]},
    {"prediction": "w " * 99, "summary": "w", "answers": ["w w v", "w"], "documents": ["w " * 99]},
]


@pytest.mark.parametrize("documents", DOCUMENT_KINDS)
@pytest.mark.parametrize("lists", LIST_KINDS)
@pytest.mark.parametrize("text", TEXT_KINDS)
def test_storage_does_not_matter(text: str, lists: str, documents: str) -> None:
    layout = Layout(text, text, lists, documents, before=3, after=2, chunks=(0, 1, 1, 5))
    assert product_scores(layout.table(FIXED_ROWS), "squad") == oracle_scores(FIXED_ROWS, "squad")


@given(rows=strategies.rows(), data=st.data())
@settings(max_examples=60)
def test_a_slice_scores_as_its_rows(rows: list[Row], data: st.DataObject) -> None:
    layout = data.draw(strategies.layouts())
    start = data.draw(st.integers(0, len(rows)))
    length = data.draw(st.integers(0, len(rows)))
    assume(strategies.readable(rows[start : start + length]))
    part = layout.table(rows).slice(start, length)
    expected = oracle_scores(rows[start : start + length], "squad")
    assert product_scores(part, "squad") == expected


@pytest.fixture(scope="module")
def many_rows() -> pa.Table:
    """Enough rows, of uneven length, that eight threads all get work."""
    rows = [
        {
            **row,
            "prediction": f"{row['prediction']} {i % 13} " * (i % 7),
            "summary": "b " * (i % 50),
        }
        for i, row in enumerate(FIXED_ROWS * 2500)
    ]
    return Layout(chunks=(1, 100, 7000)).table(rows)


@pytest.mark.parametrize("profile", ["squad", "orqa", "2wiki"])
def test_threads_give_equal_bits(profile: str, many_rows: pa.Table) -> None:
    one = oq.score(many_rows, metrics=METRICS, profile=profile, threads=1)
    assert 0 < one.means["f1"] < 1
    for threads in range(2, 9):
        several = oq.score(many_rows, metrics=METRICS, profile=profile, threads=threads)
        assert several.table.equals(one.table)
        assert several.means == one.means
        assert several.counts == one.counts


@pytest.mark.parametrize("normalizer", NORMALIZERS)
@given(texts=st.lists(st.one_of(strategies.texts(), st.none()), max_size=20))
def test_normalize_equals_oracle(normalizer: str, texts: list[str | None]) -> None:
    twin = NORMALIZERS[normalizer]
    expected = [None if text is None else twin(text) for text in texts]
    assert oq.normalize(pa.array(texts, pa.string()), normalizer).to_pylist() == expected


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(texts=st.lists(st.one_of(strategies.texts(), st.none()), max_size=20))
def test_tokenize_equals_oracle(tokenizer: str, texts: list[str | None]) -> None:
    twin = TOKENIZERS[tokenizer]
    expected = [None if text is None else twin(text) for text in texts]
    assert oq.tokenize(pa.array(texts, pa.string()), tokenizer).to_pylist() == expected
