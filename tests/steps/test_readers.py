"""Covers: readers of answers that are given. Compared against: the answers in the file.

Run: pytest tests/steps/test_readers.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from odqa_fast.engines.base import Query, Reader, Reply, ask
from odqa_fast.engines.context import read_summary
from odqa_fast.errors import DataError, OdqaError, SchemaError
from odqa_fast.steps.compressors import CompressorOptions, open_compressor
from odqa_fast.steps.readers import READERS, ReaderOptions, open_reader


def answers(reader: Reader, *asked: tuple[str, float]) -> list[str | None]:
    found = replies(reader, *asked)
    return [found[at].result for at in range(len(asked))]


def replies(reader: Reader, *asked: tuple[str, float]) -> dict[int, Reply]:
    context = read_summary("context")
    queries = [Query("Q?", context, name, level) for name, level in asked]
    return {at: reply for at, _, reply in ask(reader, queries)}


def test_every_file_is_a_reader() -> None:
    assert "given" in READERS.names()
    with pytest.raises(OdqaError, match="no reader 'onx'"):
        open_reader("onx:folder")


def test_given_are_the_dumps_own_predictions_at_every_level() -> None:
    reader = open_reader("given", ReaderOptions(predictions={"a": "one", "b": None}))
    assert answers(reader, ("a", 0.2), ("a", 0.6), ("b", 0.2)) == ["one", "one", None]
    found = replies(reader, ("c", 0.2))
    assert (found[0].result, found[0].error) == (None, "no answer is given")


def test_without_predictions_there_is_nothing_to_give() -> None:
    with pytest.raises(SchemaError, match="needs a column 'prediction'"):
        open_reader("given", ReaderOptions(predictions={"a": None}))


def test_given_in_a_file_by_level(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "prediction": "at any level"},
        {"id": "b", "level": 0.2, "prediction": "at 0.2"},
        {"id": "b", "level": 40, "prediction": "at 0.4"},
        {"id": "b", "prediction": "elsewhere"},
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    reader = open_reader(f"given:{path}")
    assert answers(reader, ("a", 0.2), ("b", 0.2), ("b", 0.4), ("b", 0.6)) == [
        "at any level", "at 0.2", "at 0.4", "elsewhere",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            ['{"id": "a", "prediction": "x"}', '{"id": "a", "prediction": "y"}'],
            "id 'a' stands twice",
        ),
        (
            [
                '{"id": "a", "level": 0.4, "prediction": "x"}',
                '{"id": "a", "level": 40, "prediction": "x"}',
            ],
            "id 'a' stands twice at level 0.4",
        ),
        (
            ['{"id": "a", "level": 1.5, "prediction": "x"}'],
            "level 1.5 could be a fraction or percent",
        ),
    ],
)
def test_two_answers_to_one_question_are_refused(
    tmp_path: Path, rows: list[str], says: str
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(rows))
    with pytest.raises(DataError, match=says) as raised:
        open_reader(f"given:{path}")
    assert str(path) in str(raised.value)


def test_what_is_no_model_takes_no_prompt() -> None:
    with pytest.raises(OdqaError, match="reader 'given' is no model and takes no prompt"):
        open_reader("given", ReaderOptions(predictions={"a": "one"}, prompt="answer"))
    with pytest.raises(OdqaError, match="compressor 'bm25' is no model and takes no prompt"):
        open_compressor("bm25", CompressorOptions(prompt="compress-level"))


def test_files_that_give_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "text": "x"}\n')
    with pytest.raises(SchemaError, match="needs a column 'prediction'"):
        open_reader(f"given:{path}")
    with pytest.raises(DataError):
        open_reader(f"given:{tmp_path / 'none.jsonl'}")
