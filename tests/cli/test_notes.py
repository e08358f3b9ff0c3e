"""Covers: what is said of rows that a number silently depends on.

Compared against: EM worked by hand.
Run: pytest tests/cli/test_notes.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from program import odqa_fast, summary_of, write_jsonl

import odqa_fast as oq

RIGHT = {"answers": ["Oslo"]}


def test_a_file_without_the_column_is_named_and_counted(tmp_path: Path) -> None:
    first = write_jsonl(tmp_path / "a.jsonl", [{"id": "1", "prediction": "Oslo", **RIGHT}])
    second = write_jsonl(tmp_path / "b.jsonl", [{"id": "2", "predicton": "Oslo", **RIGHT}])
    done = odqa_fast("score", first, second, "--metrics", "em")
    assert summary_of(done)["metrics"]["em"]["mean"] == 0.5
    assert summary_of(done)["counts"]["rows_without_prediction"] == 1
    assert "1 rows come from input without 'prediction'" in done.stderr


def test_a_field_that_lost_to_another_is_named(tmp_path: Path) -> None:
    rows = [{"id": "1", "pred": "Oslo", **RIGHT}, {"id": "2", "prediction": "Oslo", **RIGHT}]
    done = odqa_fast("score", write_jsonl(tmp_path / "mix.jsonl", rows), "--metrics", "em")
    assert "'pred' ignored" in done.stderr
    assert summary_of(done)["metrics"]["em"]["mean"] == 0.5


def test_a_join_by_order_is_said(tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "p.jsonl", [{"prediction": "Oslo"}])
    answers = write_jsonl(tmp_path / "g.jsonl", [RIGHT])
    done = odqa_fast("score", predictions, "--answers", answers, "--metrics", "em")
    assert summary_of(done)["counts"]["joined_by_position"] == 1
    assert "joined by their order" in done.stderr


def test_what_was_skipped_stands_in_the_signature(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "d.jsonl", [{"id": "1", "prediction": "Oslo", **RIGHT}])
    dump.write_text(dump.read_text() + "{broken\n")
    done = odqa_fast("score", dump, "--metrics", "em", "--on-error", "skip")
    assert "|rejected:1|" in summary_of(done)["metrics"]["em"]["signature"]


def test_metrics_may_be_repeated(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "d.jsonl", [{"id": "1", "prediction": "Oslo", **RIGHT}])
    done = odqa_fast("score", dump, "-m", "em", "-m", "f1,recall")
    assert list(summary_of(done)["metrics"]) == ["em", "f1", "recall"]


def test_keeping_needs_a_place(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "d.jsonl", [{"id": "1", "prediction": "Oslo", **RIGHT}])
    done = odqa_fast("score", dump, "--keep", "prediction")
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_columns_that_are_not_carried_on_are_named(tmp_path: Path) -> None:
    row = {"id": "1", "question": "Where?", "documents": ["In Oslo. Not here."], "kind": "a"}
    dump = write_jsonl(tmp_path / "d.jsonl", [{**row, **RIGHT}])
    out = tmp_path / "s.parquet"
    done = odqa_fast("compress", dump, "--compressor", "lead", "--level", "0.5", "--out", out)
    assert "s.parquet holds the columns that this program knows, without kind." in done.stderr


def test_whole_numbers_with_a_point_are_counted() -> None:
    """What pandas makes of integers beside a missing value."""
    data = {"prediction": np.array([1969.0, np.nan, 2.5]), "answers": ["1969", "x", "2.5"]}
    with pytest.warns(oq.OdqaWarning, match="^1 rows hold whole numbers in a column of decimal"):
        scores = oq.score(data, "em")
    assert scores.counts["pointed_numbers"] == 1
    assert scores.table["em"].to_pylist() == [0, 0, 1]
