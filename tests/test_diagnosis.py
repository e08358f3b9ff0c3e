"""Covers: the diagnosis: labels, cells, findings, where the evidence is.

Compared against: twelve rows worked by hand; sums on real data. Run: pytest tests/test_diagnosis.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import odqa_fast, refused

import odqa_fast as oq

# documents, summary, prediction (the answers are Paris, "City of Light"); then label, F1, evidence
# as (document, answer, position). F1 against "Paris": one token; against "City of Light": three.
WORKED: list[tuple[list[str], str | None, str, str, float, tuple[int, int, int] | None]] = [
    # Both documents hold it, the first counts; it stands at the fifth code point of "It's Paris."
    (["It's Paris.", "Paris"], "Paris", "paris", "retrieved kept answered", 1.0, (0, 0, 5)),
    (["Rome", "the city of light"], "City of Light!", "City of Light", "retrieved kept answered",
     1.0, (1, 1, 4)),
    # One of the two predicted tokens, the only gold one: P 1/2, R 1, F1 2/3.
    (["Paris"], "In Paris.", "Paris France", "retrieved kept wrong", 2 / 3, (0, 0, 0)),
    (["é Paris"], "Paris", "Rome", "retrieved kept wrong", 0.0, (0, 0, 2)),
    # The second answer stands in the document, the first in the summary: kept is any answer.
    (["City of Light"], "Paris", "Lyon", "retrieved kept wrong", 0.0, (0, 1, 0)),
    (["Paris"], "Rome", "Paris", "retrieved lost answered", 1.0, (0, 0, 0)),
    # "Parisian" is another token.
    (["Paris"], "Parisian", "Rome", "retrieved lost wrong", 0.0, (0, 0, 0)),
    # An empty summary is a summary. P 1/2, R 1/3 of "City of Light": F1 2/5.
    (["Paris"], "", "night light", "retrieved lost wrong", 2 / 5, (0, 0, 0)),
    (["Rome"], "Paris", "Paris", "missed kept answered", 1.0, None),
    (["Parisian"], "Rome", "Paris", "missed lost answered", 1.0, None),
    ([], "Rome", "Rome", "missed lost wrong", 0.0, None),
    (["Rome", "Oslo"], "Oslo", "Oslo", "missed lost wrong", 0.0, None),
]  # fmt: skip


def worked() -> dict[str, list[Any]]:
    return {
        "id": [f"r{at}" for at in range(1, 13)],
        "answers": [["Paris", "City of Light"]] * 12,
        "documents": [row[0] for row in WORKED],
        "summary": [row[1] for row in WORKED],
        "prediction": [row[2] for row in WORKED],
    }


def test_twelve_rows_worked_by_hand() -> None:
    scores = oq.diagnose(worked(), ["f1"])
    rows = scores.table.to_pylist()
    assert [row["diagnosis"] for row in rows] == [row[3] for row in WORKED]
    assert [row["f1"] for row in rows] == pytest.approx([row[4] for row in WORKED], abs=1e-15)
    keys = ("evidence_document", "evidence_answer", "evidence_position")
    places = [tuple(row[key] for key in keys) for row in rows]
    assert places == [row[5] or (None, None, None) for row in WORKED]
    names = {None: None, 0: "canonical", 1: "alias"}
    assert all(row["evidence_gold"] == names[row["evidence_answer"]] for row in rows)

    diagnosis = scores.diagnosis
    assert diagnosis is not None
    cells = {cell.label: (cell.rows, cell.share, cell.f1) for cell in diagnosis.cells}
    assert cells == {
        "retrieved kept answered": (2, 2 / 12, 1.0),
        "retrieved kept wrong": (3, 3 / 12, pytest.approx(2 / 9, abs=1e-15)),
        "retrieved lost answered": (1, 1 / 12, 1.0),
        "retrieved lost wrong": (2, 2 / 12, pytest.approx(1 / 5, abs=1e-15)),
        "missed kept answered": (1, 1 / 12, 1.0),
        "missed kept wrong": (0, 0.0, None),
        "missed lost answered": (1, 1 / 12, 1.0),
        "missed lost wrong": (2, 2 / 12, 0.0),
    }
    assert diagnosis.unlabelled == 0
    assert diagnosis.findings == {
        "labelled_rows": 12,
        "answered": 5 / 12,
        # Rows 6 and 10: right, though the summary does not say so.
        "answered_without_evidence": 2,
        "kept_although_not_retrieved": 1,
        "perfect_retriever_adds": 2 / 12,
        "perfect_compressor_adds": 2 / 12,
        "perfect_reader_adds": 3 / 12,
    }


def test_without_a_summary_nothing_is_said_of_compression() -> None:
    data = worked()
    del data["summary"]
    diagnosis = oq.diagnose(data).diagnosis
    assert diagnosis is not None
    assert {cell.label: cell.rows for cell in diagnosis.cells} == {
        "retrieved answered": 3,
        "retrieved wrong": 5,
        "missed answered": 2,
        "missed wrong": 2,
    }
    findings = diagnosis.findings
    assert findings["answered_without_evidence"] == 2
    assert findings["perfect_reader_adds"] == 5 / 12
    assert "perfect_compressor_adds" not in findings


def test_rows_of_both_kinds_and_rows_without_answers() -> None:
    data = worked()
    data["summary"][0] = None
    data["answers"][1] = None
    data["answers"][2] = []
    scores = oq.diagnose(data)
    assert scores.diagnosis is not None
    assert scores.diagnosis.unlabelled == 2
    assert scores.table["diagnosis"].to_pylist()[:3] == ["retrieved answered", None, None]
    assert sum(cell.rows for cell in scores.diagnosis.cells) == 10


def test_top_k_hides_later_documents_even_where_another_metric_looks_further() -> None:
    data = worked()
    alone = oq.diagnose(data, ["em"], top_k=1).table
    beside = oq.diagnose(data, ["em", "hit@20", "mrr"], top_k=1).table
    assert alone["diagnosis"].to_pylist()[1] == "missed kept answered"
    for column in ("diagnosis", "evidence_document", "evidence_answer", "evidence_position"):
        assert alone[column].equals(beside[column])
    assert beside["hit@20"].to_pylist()[1] == 1.0


def test_answered_by_containment() -> None:
    data = worked()
    labels = oq.diagnose(data, answered="contains").table["diagnosis"].to_pylist()
    assert labels[2] == "retrieved kept answered"


def test_bad_options_and_missing_columns() -> None:
    with pytest.raises(oq.OdqaError, match="--top-k has to be 1 or more"):
        oq.diagnose(worked(), top_k=0)
    data = worked()
    del data["documents"]
    with pytest.raises(oq.SchemaError, match=r"the diagnosis.*'documents'"):
        oq.diagnose(data)


@pytest.mark.parametrize("batch_rows", [1, 5])
def test_batches_and_threads_change_nothing(batch_rows: int) -> None:
    table = pa.table(worked())
    whole = oq.diagnose(table, threads=1)
    parts = oq.diagnose(table.to_batches(max_chunksize=batch_rows), threads=2)
    assert parts.table.combine_chunks().equals(whole.table.combine_chunks())
    assert parts.diagnosis == whole.diagnosis


def test_command(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    columns = worked()
    lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    dump.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = tmp_path / "run"
    done = odqa_fast("score", dump, "--diagnose", "--out", out, "--format", "json")
    summary = json.loads(done.stdout)
    assert summary["diagnosis"]["findings"]["perfect_reader_adds"] == 3 / 12
    assert json.loads((out / "summary.json").read_text("utf-8")) == summary
    labels = pq.read_table(out / "scores.parquet")["diagnosis"].to_pylist()
    assert labels == [row[3] for row in WORKED]
    shown = odqa_fast("score", dump, "--diagnose", "--format", "table").stdout
    assert "perfect compressor adds: 0.166667" in shown
    for options in (("--top-k", 5), ("--evidence", "raw"), ("--answered", "contains")):
        refused(odqa_fast("score", dump, *options), 2, options[0], "go with --diagnose")


@pytest.mark.parametrize("name", ["popqa_passages", "rag_topk"])
@pytest.mark.parametrize("top_k", [None, 1, 3])
def test_cells_add_up_on_real_data(name: str, top_k: int | None, shared: Path) -> None:
    table = pq.read_table(shared / "data" / f"{name}.parquet")
    table = table.drop(["id"]) if "id" in table.column_names else table
    if "prediction" not in table.column_names:
        # Real passages without a reader: the first title stands in for a prediction.
        titles = [found[0] if found else None for found in table["titles"].to_pylist()]
        table = table.append_column("prediction", pa.array(titles, pa.string()))
    scores = oq.diagnose(table, ["em", "f1", "hit@3"], top_k=top_k)
    diagnosis = scores.diagnosis
    assert diagnosis is not None
    assert sum(cell.rows for cell in diagnosis.cells) + diagnosis.unlabelled == len(table)
    labels = scores.table["diagnosis"].value_counts().to_pylist()
    found = {entry["values"]: entry["counts"] for entry in labels if entry["values"]}
    assert found == {cell.label: cell.rows for cell in diagnosis.cells if cell.rows}
    answered = sum(cell.rows for cell in diagnosis.cells if cell.answered)
    assert answered == sum(score == 1 for score in scores.table["em"].to_pylist())
    findings = diagnosis.findings
    parts = ("answered", "perfect_retriever_adds", "perfect_reader_adds")
    assert sum(findings[part] or 0 for part in parts) == pytest.approx(1)
