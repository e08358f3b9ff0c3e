"""Ids that stand twice are counted and named.

Run: pytest tests/io/test_repeated_ids.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import odqa_fast, summary_of, write_jsonl

import odqa_fast as oq
from odqa_fast.io.ids import RepeatCounter

ROW = {"prediction": "a", "answers": ["a"]}
IDS = ["x", "y", "x", None, None, "z", "y", "x"]
NOTE = "3 rows repeat an id of an earlier row (the first: 'x', 'y')."


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=12))
def test_any_batches(batches: list[list[int]]) -> None:
    counter = RepeatCounter()
    for batch in batches:
        counter.add(pa.array(map(str, batch), pa.string()))
    every = Counter(name for batch in batches for name in batch)
    assert counter.repeats() == sum(every.values()) - len(every)
    repeated = {str(name) for name, n in every.items() if n > 1}
    assert set(counter.first) <= repeated
    assert len(set(counter.first)) == len(counter.first) == min(5, len(repeated))


@pytest.mark.filterwarnings("ignore")
def test_in_memory_and_in_files(tmp_path: Path) -> None:
    rows = [{**ROW, "id": name} for name in IDS]
    assert NOTE in oq.score(rows, metrics=["em"]).notes
    done = odqa_fast("score", write_jsonl(tmp_path / "d.jsonl", rows), "--metrics", "em")
    assert NOTE in summary_of(done)["notes"]


def test_where_files_are_joined(tmp_path: Path) -> None:
    predictions = [{"id": name, "prediction": "a"} for name in ("x", "y", "y", "z", "z")]
    golds = [{"id": name, "answers": ["a"]} for name in ("x", "x", "y", "z")]
    done = odqa_fast(
        *("score", write_jsonl(tmp_path / "p.jsonl", predictions), "--metrics", "em"),
        *("--answers", write_jsonl(tmp_path / "g.jsonl", golds)),
    )
    notes = summary_of(done)["notes"]
    assert "3 rows repeat an id of an earlier row (the first: 'x', 'y', 'z')." in notes


def test_a_decimal_that_is_no_number_is_a_null() -> None:
    from decimal import Decimal

    for missing in (Decimal("NaN"), float("nan"), None):
        rows = [{**ROW, "prediction": missing}, ROW]
        counts = oq.score(rows, metrics=["em"]).counts
        assert counts["null_predictions"] == 1
