"""Covers: which field is which column: one field has one role; aliases beside an answer are golds.

Compared against: the answers that a reader of the names would choose, by hand.
Run: pytest tests/io/test_io_names.py
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from program import called, refused, summary_of, write_jsonl
from reading import COLUMNS, in_memory, jsonl, read, read_bytes, write

import odqa_fast as oq
from odqa_fast.errors import SchemaError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.io.formats.jsonl import read as read_jsonl
from odqa_fast.io.line_blocks import BLOCK_BYTES
from odqa_fast.io.names import missing_column, name_notes, resolve
from odqa_fast.schema import OTHER_NAMES, READABLE, WEAK_NAMES


def resolved(names: str, columns: str = "answers prediction", **options: Any) -> dict[str, str]:
    return resolve(names.split(), ReadOptions(frozenset(columns.split()), **options), "f")


def _judge(dump: Path) -> tuple[object, ...]:
    cache = dump.with_suffix(".sqlite")
    return ("judge", dump, "--provider", "http:http://localhost:1#m", "--cache", cache, "--dry-run")


def test_no_name_stands_for_two_columns() -> None:
    names = Counter(
        name
        for column in READABLE
        for name in (column, *OTHER_NAMES.get(column, ()), *WEAK_NAMES.get(column, ()))
    )
    assert names.most_common(1)[0][1] == 1


def test_a_mapped_field_is_no_other_column() -> None:
    mapping = {"prediction": "answer"}
    assert resolved("answer", mapping=mapping) == {"prediction": "answer"}
    assert resolved("answer gold", mapping=mapping) == {"answers": "gold", "prediction": "answer"}
    # Nor where the column it is mapped to is not read.
    assert resolved("answer", mapping={"question": "answer"}) == {}
    # Nor by its own canonical name.
    mapping = {"prediction": "answers", "answers": "prediction"}
    assert resolved("answers prediction", mapping=mapping) == {
        "answers": "prediction",
        "prediction": "answers",
    }


def test_two_columns_of_one_field_are_refused(tmp_path: Path) -> None:
    mapping = {"prediction": "x", "answers": "x"}
    with pytest.raises(SchemaError, match="'x' is mapped to two columns, 'prediction' and 'ans"):
        resolved("x", mapping=mapping)
    with pytest.raises(SchemaError, match="'x' is mapped to two columns"):
        oq.score([{"x": "a"}], "em", mapping=mapping)
    dump = write_jsonl(tmp_path / "dump.jsonl", [{"x": "a", "documents": ["a"], "question": "q"}])
    options = ("--map", "prediction=x", "--map", "answers=x")
    for command in (
        ("score", dump),
        ("compress", dump, "--compressor", "lead", "--level", 0.5, "--out", tmp_path / "c.parquet"),
        ("noise", dump, "--kind", "documents", "--out", tmp_path / "n.jsonl"),
        ("levels", dump, "--levels", 0.5, "--compressor", "lead"),
        _judge(dump),
    ):
        refused(called(*command, *options), 2, "the field 'x' is mapped to two columns")


def test_the_side_of_the_answers_brings_no_prediction() -> None:
    elsewhere = frozenset({"prediction"})
    options = {"mapping": {"prediction": "answer"}, "joined": True, "elsewhere": elsewhere}
    assert resolved("answer pred", **options) == {"answers": "answer"}


def test_a_weak_name_gives_way() -> None:
    assert resolved("label predict") == {"answers": "label", "prediction": "predict"}
    assert resolved("label answer") == {"answers": "answer"}
    assert resolved("label", mapping={"human": "label"}) == {}


def test_every_command_offers_only_fields_that_are_free(tmp_path: Path) -> None:
    rows = [{"id": "1", "question": "q", "docs": ["a. b."], "answer": "a", "x": "a"}]
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    golds = "answer (prediction), docs (documents), id, question, x"
    as_prediction = ("--map", "prediction=answer")
    compress = ("compress", dump, "--compressor", "lead", "--level", 0.5, "--out", tmp_path / "c")
    for command, found in (
        (("score", dump, *as_prediction), golds),
        (("noise", dump, "--kind", "documents", "--out", tmp_path / "n", *as_prediction), golds),
        (("levels", dump, "--levels", 0.5, "--compressor", "lead", *as_prediction), golds),
        ((*_judge(dump), *as_prediction), golds),
        (
            (*compress, "--map", "relevant_titles=docs"),
            "answer (answers), docs (relevant_titles), id, question, x",
        ),
    ):
        refused(called(*command), 2, f"Columns found: {found}.", "ame the right one with --map")


def test_a_field_of_no_column_is_offered_in_python_as_well() -> None:
    with pytest.raises(SchemaError, match=r"Columns found: pred \(prediction\), reply\. Name the"):
        oq.score([{"pred": "a", "reply": "b"}], "em")


#: Fields of a row, and the gold answers they hold.
ALIASES: list[tuple[dict[str, Any], list[str | None] | None]] = [
    ({"answer": "a", "answer_aliases": ["b", "c"]}, ["a", "b", "c"]),
    ({"answer": None, "answer_aliases": ["b", None]}, ["b", None]),
    ({"answer": "a", "answer_aliases": []}, ["a"]),
    ({"answer": "a", "answer_aliases": None}, ["a"]),
    ({"answer": None, "answer_aliases": None}, None),
    # None is dropped for being there twice: the reference joins the lists as they are.
    ({"answer": "a", "answer_aliases": ["a", "a"]}, ["a", "a", "a"]),
    ({"answer": "['a', 'b']", "answer_aliases": ["c"]}, ["a", "b", "c"]),
]


@pytest.mark.parametrize("name", ["answer_aliases", "aliases"])
@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "csv", "rows", "table", "columns"])
def test_aliases_beside_the_answer(form: str, name: str, tmp_path: Path) -> None:
    rows = [{"answer": row["answer"], name: row["answer_aliases"]} for row, _ in ALIASES]
    got: list[dict[str, Any]]
    if form == "rows":
        got = in_memory(rows)
    elif form == "table":
        # A slice, the first row of which is not that of the buffers.
        got = in_memory(pa.Table.from_pylist([rows[0], *rows]).slice(1))
    elif form == "columns":
        got = in_memory({field: [row[field] for row in rows] for field in rows[0]})
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dump")
        got = read(tmp_path / "dump").rows
    elif form == "json":
        got = read(write(tmp_path, "dump", json.dumps(rows))).rows
    elif form == "csv":
        lists = [None if row[name] is None else json.dumps(row[name]) for row in rows]
        table = pa.table({"answer": [row["answer"] for row in rows], name: lists})
        pa.csv.write_csv(table, tmp_path / "dump.csv")
        got = read(tmp_path / "dump.csv").rows
    else:
        got = read_bytes(read_jsonl, jsonl(rows)).rows
    assert [row["answers"] for row in got] == [golds for _, golds in ALIASES]


def test_aliases_by_themselves_are_no_answers() -> None:
    assert in_memory([{"aliases": ["x"], "pred": "y"}]) == [{"prediction": "y"}]
    assert resolved("aliases answer", "prediction") == {}


def test_aliases_that_come_late() -> None:
    first = [{"answers": "a", "pred": "x" * 99}] * (BLOCK_BYTES // 100)
    rows = read_bytes(read_jsonl, jsonl([*first, {"answers": "a", "aliases": ["b"]}])).rows
    assert rows[0]["answers"] == ["a"]
    assert rows[-1]["answers"] == ["a", "b"]


def test_aliases_of_another_name() -> None:
    rows = in_memory([{"answer": "a", "others": ["b"]}], {"answer_aliases": "others"})
    assert rows == [{"answers": ["a", "b"]}]


def notes(names: str, **options: Any) -> list[str]:
    return list(name_notes(names.split(), ReadOptions(COLUMNS, **options)))


@pytest.mark.parametrize(
    "names",
    [
        "id question answer prediction",
        "id answer answer_start answer_type answerable answers_count",
        "id golden_answers pred generated_answers model_answer predicted_aliases",
        "id answers gold_ids reference_url label_id",
    ],
)
def test_names_that_say_nothing_of_golds(names: str) -> None:
    assert notes(names) == []


def test_a_mapped_field_is_not_called_ignored() -> None:
    assert notes("id answer answers", mapping={"prediction": "answer"}) == []


def test_fields_that_look_like_golds(tmp_path: Path) -> None:
    (said,) = notes("id answer o_aliases correctAnswer target_label")
    assert said.startswith("'correctAnswer', 'o_aliases', 'target_label' not read, though the name")
    assert notes("answer label") == [
        "'label' ignored: 'answer' is the column 'answers' (--map answers=NAME)."
    ]
    rows = [{"answer": "a", "pred": "b", "valid_answers": ["b"]}]
    done = called("score", write_jsonl(tmp_path / "dump.jsonl", rows), "-m", "em")
    assert summary_of(done)["metrics"]["em"]["mean"] == 0
    assert "note: 'valid_answers' not read" in done.stderr
    with pytest.warns(oq.OdqaWarning, match="'valid_answers' not read"):
        oq.score(rows, "em")


def test_a_missing_column_has_one_wording(tmp_path: Path) -> None:
    dump = open_dump(
        write(tmp_path, "a", jsonl([{"id": 1, "reply": 0.5, "answer": "y"}])),
        ReadOptions(COLUMNS, mapping={"level": "reply"}),
    )
    list(dump)
    error = missing_column(
        ("summary", "documents"), "'par'", [dump], where="a", elsewhere="join --answers FILE"
    )
    assert str(error) == (
        "a: 'par' needs a column 'summary' or 'documents', and there is none. Columns found: "
        "answer (answers), id, reply (level). Each of them is another column; where one is not, "
        "name the right one with --map summary=NAME (in Python mapping={'summary': NAME}), or join "
        "--answers FILE."
    )
    assert str(missing_column("level", "--keep level", [dump])).startswith(
        "--keep level needs a column 'level', and there is none."
    )
