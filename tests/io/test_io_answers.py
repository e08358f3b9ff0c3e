"""Covers: answers as the objects that SQuAD's and TriviaQA's data sets hold.

Compared against: the lists they stand for, by hand. Run: pytest tests/io/test_io_answers.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import in_memory, jsonl, read, read_bytes, write

from odqa_fast.errors import DataError
from odqa_fast.io.formats.jsonl import read as read_jsonl

Answers = list[tuple[Any, list[str | None] | None]]

SQUAD: Answers = [
    ({"text": ["Oslo", "the city"], "answer_start": [3, 9]}, ["Oslo", "the city"]),
    ({"text": [], "answer_start": []}, []),
    (None, None),
    ({"text": ["1990", None], "answer_start": [0]}, ["1990", None]),
]
TRIVIA: Answers = [
    ({"value": "Oslo", "aliases": ["Oslo", "Kristiania"], "normalized_aliases": ["oslo"],
      "normalized_value": "oslo", "type": "WikipediaEntity"},
     ["Oslo", "Oslo", "Kristiania", "oslo", "oslo"]),
    ({"value": "é", "aliases": None, "normalized_aliases": []}, ["é"]),
    ({"value": None, "aliases": ["a", None]}, ["a", None]),
    (None, None),
    ({"value": None, "aliases": None}, None),
    ({"value": "b", "aliases": []}, ["b"]),
]  # fmt: skip
OFFICIAL: Answers = [
    ({"Value": "Oslo", "Aliases": ["Oslo (city)"], "NormalizedAliases": ["oslo city"],
      "HumanAnswers": ["x"]}, ["Oslo", "Oslo (city)", "oslo city", "x"]),
    ({"NormalizedAliases": ["elm"], "NormalizedValue": "elm"}, ["elm", "elm"]),
    ({"NormalizedAliases": None, "HumanAnswers": None}, None),
]  # fmt: skip
SHAPES = {"squad": SQUAD, "triviaqa": TRIVIA, "official": OFFICIAL}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "rows", "table", "large", "chunks"])
def test_objects_of_data_sets(shape: str, kind: str, tmp_path: Path) -> None:
    given = [{"id": str(at), "answers": value} for at, (value, _) in enumerate(SHAPES[shape])]
    expected = [answers for _, answers in SHAPES[shape]]
    table = pa.Table.from_pylist(given)
    if kind == "rows":
        got = in_memory(given)
    elif kind == "table":
        got = in_memory(table)
    elif kind == "chunks":
        # Slices, the first row of which is not that of the buffers.
        got = in_memory(table.slice(1)) + in_memory(table.slice(0, 1))
        expected = expected[1:] + expected[:1]
    elif kind == "large":
        fields = [
            pa.field(f.name, pa.large_list(pa.large_string()) if f.name != "value" else f.type)
            for f in table.schema.field("answers").type
            if f.name in ("text", "value", "aliases", "Aliases")
        ]
        schema = pa.schema([("id", pa.string()), ("answers", pa.struct(fields))])
        got = in_memory(pa.Table.from_pylist(given, schema))
        if shape == "official":
            # Without the others, for the schema leaves them out.
            expected = [["Oslo (city)"], None, None]
        elif shape == "triviaqa":
            expected = [["Oslo", "Oslo", "Kristiania"], *expected[1:]]
    elif kind == "parquet":
        pq.write_table(table, tmp_path / "dump")
        got = read(tmp_path / "dump").rows
    elif kind == "json":
        got = read(write(tmp_path, "dump", json.dumps(given))).rows
    else:
        got = read_bytes(read_jsonl, jsonl(given)).rows
    assert [row["answers"] for row in got] == expected


def test_objects_among_lists_and_texts() -> None:
    answers = [["a"], {"text": ["b"]}, "c", {"value": "d", "aliases": "e"}]
    rows = read_bytes(read_jsonl, jsonl([{"answers": each} for each in answers])).rows
    assert [row["answers"] for row in rows] == [["a"], ["b"], ["c"], ["d", "e"]]


def test_an_object_in_a_cell(tmp_path: Path) -> None:
    path = write(tmp_path, "dump.csv", 'id,answers\n1,"{""text"": [""a"", ""b""]}"\n')
    assert read(path).column("answers") == [["a", "b"]]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"a": 1}, "is an object without 'text' (as in SQuAD)"),
        ({"text": [["x"]]}, "[text] [0] must be text, but is a list"),
        ({"value": "x", "aliases": {"a": 1}}, "[aliases] must be text or a list of texts"),
    ],
)
def test_an_object_that_is_none_of_these(answers: Any, said: str) -> None:
    lines = jsonl([{"answers": ["x"]}, {"answers": answers}])
    with pytest.raises(DataError, match="line 2: field 'answers'") as raised:
        read_bytes(read_jsonl, lines)
    assert said in str(raised.value)


def test_only_the_fields_that_are_needed_are_read(tmp_path: Path) -> None:
    """Of a Parquet file, so that a broken column of TriviaQA's extras does not matter."""
    answers = {"value": "a", "aliases": ["b"], "matched_wiki_entity_name": [["deep"]]}
    pq.write_table(pa.Table.from_pylist([{"answers": answers}]), tmp_path / "dump")
    assert read(tmp_path / "dump").column("answers") == [["a", "b"]]
