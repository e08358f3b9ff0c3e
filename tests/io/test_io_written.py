"""Covers: lists that are written in a text, read alike from every format and from memory.

Compared against: Python's own `repr` and `json.dumps` of the lists.
Run: pytest tests/io/test_io_written.py
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import COLUMNS, in_memory, jsonl, read, write

from odqa_fast.errors import DataError
from odqa_fast.io import canonical_batches
from odqa_fast.io.written import is_list_of_texts, read_written

#: A text, and the gold answers that it holds.
TEXTS: list[tuple[str, list[str | None]]] = [
    ("['Lima', 'City of Lima']", ["Lima", "City of Lima"]),
    ('["Lima", "City of Lima"]', ["Lima", "City of Lima"]),
    ("""["O'Brien"]""", ["O'Brien"]),
    ("""["O'Brien", 'a "b"', 'é\\n\\x00']""", ["O'Brien", 'a "b"', "é\n\x00"]),
    ("[]", []),
    (" [ ] ", []),
    ("['a', None, nan]", ["a", None, None]),
    ("[null]", [None]),
    ("['1', 2, 2.50]", ["1", "2", "2.50"]),
    ("{'text': ['Lima'], 'answer_start': [3]}", ["Lima"]),
    # Texts in brackets that are answers.
    ("[citation needed]", ["[citation needed]"]),
    ("[[Lima]]", ["[[Lima]]"]),
    ("[1, 2]", ["[1, 2]"]),
    ("[Rec]", ["[Rec]"]),
    ("{x}", ["{x}"]),
    ("Lima ['x']", ["Lima ['x']"]),
    ("[", ["["]),
    ("[0, 1)", ["[0, 1)"]),
]
BROKEN = [
    "['Lima' 'City of Lima']",
    "['a', ..., 'b']",
    "['a', array(['b'], dtype=object)]",
    "['cut off', 'in the mid",
    "[1",
    "[cut",
    "['Tis the season]",
    "['\\d']",
    "['a'] + ['b']",
    "['a', f()]",
    "['a\nb']",
    "[" * 5000 + "'a'" + "]" * 5000,
]

Rows = list[dict[str, Any]]


def csv_file(folder: Path, rows: Rows) -> Path:
    cells = io.StringIO()
    writer = csv.DictWriter(cells, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return write(folder, "dump.csv", cells.getvalue())


def parquet_file(folder: Path, rows: Rows) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "dump")
    return folder / "dump"


def arrow_file(folder: Path, rows: Rows) -> Path:
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(folder / "dump", table.schema) as writer:
        writer.write_table(table)
    return folder / "dump"


def dictionary(table: pa.Table) -> pa.Table:
    columns = [column.combine_chunks().dictionary_encode() for column in table.columns]
    return pa.table(columns, names=table.column_names)


FORMS: dict[str, Callable[[Path, Rows], Any]] = {
    "jsonl": lambda folder, rows: write(folder, "dump", jsonl(rows)),
    "json": lambda folder, rows: write(folder, "dump", json.dumps(rows)),
    "csv": csv_file,
    "parquet": parquet_file,
    "arrow": arrow_file,
    "rows": lambda folder, rows: rows,
    "table": lambda folder, rows: pa.Table.from_pylist(rows),
    "slice": lambda folder, rows: pa.Table.from_pylist([*rows, *rows]).slice(len(rows)),
    "dictionary": lambda folder, rows: dictionary(pa.Table.from_pylist(rows)),
}


def through(form: str, folder: Path, rows: Rows, columns: frozenset[str] = COLUMNS) -> Rows:
    """Rows as they come back from a format."""
    data = FORMS[form](folder, rows)
    if isinstance(data, Path):
        return read(data, columns=columns).rows
    return [row for batch in canonical_batches(data, columns) for row in batch.to_pylist()]


@pytest.mark.parametrize("form", FORMS)
def test_every_format_reads_them_alike(form: str, tmp_path: Path) -> None:
    rows = [{"id": str(at), "answers": text} for at, (text, _) in enumerate(TEXTS)]
    got = through(form, tmp_path, rows)
    assert [row["answers"] for row in got] == [golds for _, golds in TEXTS]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_read_back_for_certain_is_an_error(
    form: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="field 'answers' is the text"):
        through(form, tmp_path, [{"id": "1", "answers": "x"}, {"id": "2", "answers": text}])


def test_a_text_in_brackets_that_is_meant_stands_in_a_list() -> None:
    assert in_memory([{"answers": ["['Tis the season]"]}]) == [{"answers": ["['Tis the season]"]}]


@pytest.mark.parametrize("form", FORMS)
def test_other_columns_of_lists(form: str, tmp_path: Path) -> None:
    """Among ids, numbers in brackets can be nothing but a list."""
    row = {
        "relevant_ids": "[12, 15]",
        "relevance": "[1, 2]",
        "evidence": "[[12, 15], ['x']]",
        "documents": "[{'text': \"It's\", 'id': 3}, 'b']",
    }
    (read_back,) = through(form, tmp_path, [row], frozenset(row))
    assert read_back == {
        "relevant_ids": ["12", "15"],
        "relevance": [1, 2],
        "evidence": [["12", "15"], ["x"]],
        "documents": [{"text": "It's", "id": "3"}, {"text": "b", "id": None}],
    }


def test_they_are_counted_by_row(tmp_path: Path) -> None:
    rows = [{"answers": each} for each in ("['a']", "b", "[1, 2]", ["['c']"], "[]")]
    for path in (
        write(tmp_path, "a.jsonl", jsonl(rows)),
        write(tmp_path, "b.csv", 'answers\n"[\'a\']"\nb\n"[1, 2]"\n"[""[\'c\']""]"\n[]\n'),
    ):
        counts = read(path).counts
        # In CSV there is no other way to hold a list than as JSON.
        assert counts.lists_in_text == (2 if path.suffix == ".jsonl" else 1)
        assert counts.numbers_in_brackets == 1


plain = st.text(st.characters(codec="utf-8"), max_size=8)


@given(st.lists(plain | st.none(), min_size=1))
def test_what_python_and_json_write_comes_back(items: list[str | None]) -> None:
    for text in (repr(items), json.dumps(items), json.dumps(items, ensure_ascii=False)):
        if isinstance(items[0], str):
            assert is_list_of_texts(text)
        assert read_written(text)[0] == items


@given(st.lists(plain, min_size=2))
def test_items_without_commas_never_come_back(items: list[str]) -> None:
    text = "[" + " ".join(map(repr, items)) + "]"
    assert is_list_of_texts(text)
    with pytest.raises(ValueError, match="numpy"):
        read_written(text)
