"""Covers: texts with their questions, in every shape in which a dump may have them.

Compared against: the same texts written by hand. Run: pytest tests/texts/test_texts.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from island import texts_at

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.texts.text import make_texts, rebuild_rows

LISTED = [
    {
        "source_text": "Ada Brink built it in 1700.",
        "questions": ["Who?", "When?"],
        "answers": ["Ada Brink", "1700"],
        "challenge_name": "c1",
    },
    {"source_text": "Nobody.", "questions": ["Who?"], "answers": [["Nobody", "no one"]]},
]
SHARED = [
    {"id": "1", "text_id": "t", "question": "Who?", "answers": ["A"], "documents": ["x A", "y"]},
    {"id": "2", "question": "Where?", "answers": ["B"], "documents": ["B"]},
    {"id": "3", "text_id": "t", "question": "When?", "answers": None, "documents": ["x A", "y"]},
    {"id": "4", "text_id": "t", "question": "Why?", "answers": ["C", "c"]},
]


def asked(data: Any) -> list[Any]:
    return [(q.id, q.text, q.answers) for text in data for q in text.questions]


LISTED_QUESTIONS = [
    ("0/0", "Who?", ["Ada Brink"]),
    ("0/1", "When?", ["1700"]),
    ("1/0", "Who?", ["Nobody", "no one"]),
]


def test_several_questions_in_one_row(tmp_path: Path) -> None:
    path = tmp_path / "soma.jsonl"
    path.write_text("\n".join(map(json.dumps, LISTED)), encoding="utf-8")
    found = texts_at(path)
    assert asked(found) == LISTED_QUESTIONS
    assert [text.whole for text in found] == ["Ada Brink built it in 1700.", "Nobody."]
    assert found[0].answers == ("Ada Brink", "1700")


@pytest.mark.parametrize("lists", [pa.list_(pa.string()), pa.list_(pa.list_(pa.string()))])
def test_several_questions_in_parquet(tmp_path: Path, lists: pa.DataType) -> None:
    answers = [["Ada Brink", "1700"]]
    if lists != pa.list_(pa.string()):
        answers = [[["Ada Brink"], ["1700"]]]  # type: ignore[list-item]
    table = pa.table(
        {
            "source_text": [LISTED[0]["source_text"]],
            "questions": [["Who?", "When?"]],
            "answers": pa.array(answers, lists),
        }
    )
    pq.write_table(table, tmp_path / "soma.parquet")
    assert asked(texts_at(tmp_path / "soma.parquet")) == LISTED_QUESTIONS[:2]


def test_rows_that_share_a_text() -> None:
    found = make_texts(SHARED)
    assert [(text.id, text.texts) for text in found] == [("t", ("x A", "y")), ("2", ("B",))]
    assert found[0].whole == "x A\n\ny"
    assert asked(found) == [
        ("1", "Who?", ["A"]),
        ("3", "When?", None),
        ("4", "Why?", ["C", "c"]),
        ("2", "Where?", ["B"]),
    ]


@pytest.mark.parametrize("data", [LISTED, SHARED], ids=["listed", "shared"])
def test_what_is_written_is_read_the_same(tmp_path: Path, data: list[dict[str, Any]]) -> None:
    path = tmp_path / "again.jsonl"
    before = make_texts(data)
    rows = [row for text in before for row in rebuild_rows(text)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    after = texts_at(path)
    assert asked(after) == asked(before)
    assert [text.texts for text in after] == [text.texts for text in before]


def test_an_id_that_stands_twice_is_two_texts() -> None:
    rows = [{"id": "same", "documents": ["x"], "answers": ["a"]}] * 2
    assert len(make_texts(rows)) == 2


def test_one_question_among_rows_with_several(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    rows = [*LISTED, {"documents": ["z"], "question": "Q?", "answers": ["one", "eins"]}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert asked(texts_at(path))[-1] == ("2", "Q?", ["one", "eins"])


@pytest.mark.parametrize(
    ("rows", "error", "says"),
    [
        ([], DataError, "no rows"),
        ([{"question": "Q?", "answers": ["a"]}], SchemaError, "a text needs a column 'documents'"),
        (
            [{"question": "Q?", "documents": ["x"]}],
            SchemaError,
            "a question needs a column 'answers'",
        ),
        (
            [{"documents": ["x"], "questions": ["Q?", "R?"], "answers": ["a"]}],
            DataError,
            "2 questions and answers to 1",
        ),
        (
            [
                {"id": "1", "text_id": "t", "documents": ["x"], "answers": ["a"]},
                {"id": "2", "text_id": "t", "documents": ["y"], "answers": ["a"]},
            ],
            DataError,
            "'1' and '2' share the text_id 't'",
        ),
    ],
)
def test_what_is_no_text(rows: list[dict[str, Any]], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make_texts(rows)
