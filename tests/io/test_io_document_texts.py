"""Covers: documents of which none has a text; where a document's text stands in other tools' dumps.

Compared against: the texts themselves, and hits worked by hand.
Run: pytest tests/io/test_io_document_texts.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import called, refused, summary_of, write_jsonl
from reading import in_memory, jsonl, read, read_bytes

import odqa_fast as oq
from odqa_fast.io.formats.jsonl import read as read_jsonl

#: A document as a tool writes it: its text is "In Lima." and its id, if it has one, "7".
DOCUMENTS: dict[str, dict[str, Any]] = {
    "langchain": {"page_content": "In Lima.", "metadata": {"source": "a"}},
    "llamaindex": {
        "node": {"id_": "7", "text": "In Lima.", "metadata": {"x": 1}, "embedding": [0.5]},
        "score": 0.5,
    },
    "pyserini": {"docid": "7", "contents": "In Lima."},
    "haystack": {"id": "7", "content": "In Lima.", "meta": {"x": 1}},
}


@pytest.mark.parametrize("tool", DOCUMENTS)
@pytest.mark.parametrize("form", ["jsonl", "parquet", "rows", "table"])
def test_texts_under_other_names(form: str, tool: str, tmp_path: Path) -> None:
    row = {"documents": [DOCUMENTS[tool], None, DOCUMENTS[tool]]}
    if form == "jsonl":
        rows = read_bytes(read_jsonl, jsonl([row])).rows
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "dump")
        rows = read(tmp_path / "dump").rows
    else:
        rows = in_memory([row] if form == "rows" else pa.Table.from_pylist([row]))
    first, missing, last = rows[0]["documents"]
    assert missing is None
    assert first == last
    assert first["text"] == "In Lima."
    assert first.get("id") == ("7" if "7" in json.dumps(DOCUMENTS[tool]) else None)


TEXTLESS = [
    {
        "id": str(at),
        "question": "Where?",
        "answers": ["Lima"],
        "prediction": "Lima",
        "documents": [{"id": str(at), "body": "In Lima.", "headline": "x"}],
    }
    for at in range(3)
]
FIELDS = "the documents have no text: their fields are body, headline, id."


def _written(form: str, folder: Path) -> Path:
    if form == "jsonl":
        return write_jsonl(folder / "dump.jsonl", TEXTLESS)
    if form == "csv":
        rows = [{**row, "documents": json.dumps(row["documents"])} for row in TEXTLESS]
        rows = [{**row, "answers": row["answers"][0]} for row in rows]
        pa.csv.write_csv(pa.Table.from_pylist(rows), folder / "dump.csv")
        return folder / "dump.csv"
    pq.write_table(pa.Table.from_pylist(TEXTLESS), folder / "dump.parquet")
    return folder / "dump.parquet"


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_no_text_at_all_is_an_error_that_names_the_fields(form: str, tmp_path: Path) -> None:
    dump = _written(form, tmp_path)
    refused(called("score", dump, "-m", "hit@1"), 2, FIELDS, "page_content")
    for data in (TEXTLESS, pa.Table.from_pylist(TEXTLESS)):
        with pytest.raises(oq.SchemaError, match=FIELDS):
            oq.score(data, "hit@1")


@pytest.mark.parametrize(
    "metrics", ["mrr", "evidence_share", "cr", "par@evidential", "hit@1:raw", "entity_in_context@1"]
)
def test_every_metric_that_looks_into_texts(metrics: str) -> None:
    rows = [{**row, "summary": "Lima", "relevant_titles": ["Lima"]} for row in TEXTLESS]
    with pytest.raises(oq.SchemaError, match=FIELDS):
        oq.score(rows, metrics)


def test_the_other_commands(tmp_path: Path) -> None:
    dump = _written("jsonl", tmp_path)
    judge = ("judge", dump, "--provider", "http:http://localhost:1#m", "--dry-run")
    for command in (
        ("compress", dump, "--compressor", "lead", "--level", 0.5, "--out", tmp_path / "c.parquet"),
        ("noise", dump, "--kind", "documents", "--out", tmp_path / "n.jsonl"),
        ("levels", dump, "--levels", 0.5, "--compressor", "lead"),
        (*judge, "--cache", tmp_path / "cache", "--rubric", "faithfulness"),
    ):
        refused(called(*command), 2, FIELDS)
    assert not (tmp_path / "c.parquet").exists()


def test_ids_need_no_texts(tmp_path: Path) -> None:
    rows = [{**row, "relevant_ids": ["1"]} for row in TEXTLESS]
    assert oq.score(rows, ["hit@1:ids", "em"]).means == {"hit@1:ids": pytest.approx(1 / 3), "em": 1}
    run, qrels = tmp_path / "run.trec", tmp_path / "qrels"
    run.write_text("q1 Q0 d1 1 2.0 t\n")
    qrels.write_text("q1 0 d1 1\n")
    done = called("score", run, "--qrels", qrels, "-m", "recall@5")
    assert summary_of(done)["metrics"]["recall@5"]["mean"] == 1


def test_one_text_is_enough_and_the_others_are_counted() -> None:
    rows = [*TEXTLESS, {**TEXTLESS[0], "documents": [{"text": "In Lima."}]}]
    with pytest.warns(oq.OdqaWarning, match="3 documents have no text"):
        assert oq.score(rows, "hit@1").means == {"hit@1": 0.25}


def test_no_documents_are_another_matter() -> None:
    rows = [{**TEXTLESS[0], "documents": []}, {**TEXTLESS[0], "documents": None}]
    assert oq.score(rows, "hit@1").means == {"hit@1": 0}
