"""Covers: where each row came from, through every format, filter and join; rows read back by it.

Compared against: line and row numbers counted by hand, and those that error messages name.
Run: pytest tests/io/test_io_places.py
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import jsonl, read, read_bytes, write

from odqa_fast.errors import DataError
from odqa_fast.io import AnswerTable, ReadOptions, open_dump
from odqa_fast.io.formats.json import read as read_json
from odqa_fast.io.formats.jsonl import read as read_jsonl
from odqa_fast.io.lookup import read_rows_at
from odqa_fast.io.options import PLACE, SOURCE

ROWS = [{"id": str(i), "prediction": f"p{i}", "kind": "even odd".split()[i % 2]} for i in range(9)]
TABLE = pa.Table.from_pylist(ROWS)


def arrow(new: Any) -> bytes:
    sink = io.BytesIO()
    with new(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=4)
    return sink.getvalue()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(TABLE, sink, row_group_size=4)
    return sink.getvalue()


def csv_cells(rows: Iterable[dict[str, Any]]) -> str:
    return "id,prediction,kind\n" + "".join(",".join(row.values()) + "\n" for row in rows)


def places(paths: Any, **options: Any) -> list[tuple[str | None, int, int]]:
    """(id, source, place) of every row."""
    result = read(paths, places=True, **options)
    for batch in result.batches:
        assert batch.schema.names[-2:] == [SOURCE, PLACE]
        assert [batch.schema.field(name).type for name in (SOURCE, PLACE)] == [
            pa.int32(),
            pa.int64(),
        ]
    return [(row.get("id"), row[SOURCE], row[PLACE]) for row in result.rows]


BLANK = b"\n" + jsonl(ROWS[:4]) + b" \n\n" + jsonl(ROWS[4:])
ARRAY = b"[\n" + b",\n\n".join(jsonl([row]).strip() for row in ROWS) + b"\n]"
#: What stands in a file, and the places of its nine rows.
FORMATS: dict[str, tuple[bytes, list[int]]] = {
    "jsonl": (jsonl(ROWS), [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    "jsonl read line by line": (
        jsonl([*ROWS[:8], {**ROWS[8], "answers": 1.5}]),
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
    ),
    "blank lines": (BLANK, [2, 3, 4, 5, 8, 9, 10, 11, 12]),
    "gz": (gzip.compress(BLANK), [2, 3, 4, 5, 8, 9, 10, 11, 12]),
    "array": (ARRAY, [2, 4, 6, 8, 10, 12, 14, 16, 18]),
    "array on a line": (json.dumps(ROWS).encode(), [1] * 9),
    "csv": (csv_cells(ROWS).encode(), [2, 3, 4, 5, 6, 7, 8, 9, 10]),
    "csv over lines": (
        csv_cells([{**ROWS[0], "prediction": '"a\nb"'}, *ROWS[1:]]).encode(),
        [2, 4, 5, 6, 7, 8, 9, 10, 11],
    ),
    "parquet": (parquet(), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    "arrow": (arrow(pa.ipc.new_file), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    "arrow stream": (arrow(pa.ipc.new_stream), [0, 1, 2, 3, 4, 5, 6, 7, 8]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_places_of_every_format(name: str, tmp_path: Path) -> None:
    data, expected = FORMATS[name]
    files = [write(tmp_path, file, data) for file in ("a", "b")]
    numbered = list(zip(map(str, range(9)), expected, strict=True))
    assert places(files) == [(i, file, at) for file in (0, 1) for i, at in numbered]
    # The second and the last of a kind, after the others are left out.
    chosen = places(files[0], where={"kind": "odd"})
    assert chosen == [(i, 0, at) for i, at in numbered if int(i) % 2]
    # With no column of its own a row still has its place.
    assert places(files[0], columns=frozenset({"level"})) == [(None, 0, at) for at in expected]
    assert SOURCE not in read(files[0]).batches[0].schema.names


def test_what_has_no_rows(tmp_path: Path) -> None:
    assert places(write(tmp_path, "a.csv", "id,prediction\n")) == []
    assert places(write(tmp_path, "b.jsonl", "\n\n")) == []


@pytest.mark.parametrize("data", [jsonl(ROWS), ARRAY, csv_cells(ROWS).encode(), BLANK])
def test_places_are_those_that_errors_name(data: bytes, tmp_path: Path) -> None:
    """Rows 3 and 8 are made bad: what is refused and what is left share out the places."""
    whole = places(write(tmp_path, "whole", data))
    for i in (3, 8):
        data = data.replace(b'{"id": "%d"' % i, b'{"id": [%d]' % i)
        data = data.replace(b"\n%d,p%d,odd" % (i, i), b"\n%d,p%d,odd,more" % (i, i))
        data = data.replace(b"\n%d,p%d,even" % (i, i), b"\n%d,p%d,even,more" % (i, i))
    broken = write(tmp_path, "broken", data)
    result = read(broken, places=True, on_error="skip")
    assert [row["id"] for row in result.rows] == ["0", "1", "2", "4", "5", "6", "7"]
    assert result.lines == [whole[3][2], whole[8][2]]
    assert [row[PLACE] for row in result.rows] == [whole[i][2] for i in (0, 1, 2, 4, 5, 6, 7)]


def test_places_of_refused_rows_in_parquet(tmp_path: Path) -> None:
    lists = pa.table({"id": ["a", "b", "c"], "prediction": [["x"], None, ["y"]]})
    pq.write_table(lists, tmp_path / "lists.parquet")
    result = read(tmp_path / "lists.parquet", places=True, on_error="skip")
    assert ([row.row for row in result.rejected], result.column(PLACE)) == ([0, 2], [1])


def test_trec_lines(tmp_path: Path) -> None:
    run = "# a comment\nq1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n\nq2 Q0 d1 1 2.0 t\nq1 Q0 d3 3 0.5 t\n"
    assert places(write(tmp_path, "run", run)) == [("q1", 0, 2), ("q2", 0, 5)]
    qrels = "q2 0 d1 1\nq1 0 d1 0\nbad\nq2 0 d2 1\nq3 0 d9 1\n"
    file = write(tmp_path, "qrels", qrels)
    assert places(file, fmt="qrels", on_error="skip") == [("q2", 0, 1), ("q1", 0, 2), ("q3", 0, 5)]


@given(st.lists(st.sampled_from(["good", "bad", "blank", "slow"]), max_size=30), st.booleans())
def test_any_mixture_of_lines(kinds: list[str], as_array: bool) -> None:
    """The model is a count of lines."""
    written = {"good": '{"id": %d}', "slow": '{"id": %d, "answers": 1.5}', "bad": '{"id": [%d]}'}
    lines = [written[kind] % i if kind in written else " " for i, kind in enumerate(kinds, 2)]
    wanted = [(str(i), i) for i, kind in enumerate(kinds, 2) if kind in ("good", "slow")]
    if as_array:
        rows = [line for line in lines if line.strip()]
        comma = {id(line): "," for line in rows[:-1]}
        data = "[\n" + "".join(f"{line}{comma.get(id(line), '')}\n" for line in lines) + "]"
        reader: Callable[..., Any] = read_json
    else:
        data, reader = "\n" + "\n".join(lines), read_jsonl
    result = read_bytes(reader, data.encode(), on_error="skip", places=True)
    assert [(row["id"], row[PLACE]) for row in result.rows] == wanted


def joined(tmp_path: Path, predictions: bytes, golds: bytes, **ways: Any) -> list[Any]:
    """(id, prediction, answers, source, place) of a join."""
    files = [write(tmp_path, "predictions", predictions), write(tmp_path, "golds", golds)]
    columns = frozenset({"id", "answers", "prediction"})
    dump = open_dump(files[0], ReadOptions(columns, places=True))
    options = ReadOptions(columns, places=True, first_source=len(dump.paths))
    table = AnswerTable.load(open_dump(files[1], options), **ways)
    rows = [row for batch in table.join(dump) for row in batch.to_pylist()]
    return [
        tuple(row.get(n) for n in ("id", "prediction", "answers", SOURCE, PLACE)) for row in rows
    ]


def test_places_of_joined_rows(tmp_path: Path) -> None:
    predictions = jsonl([{"id": "b", "prediction": "x"}, {"id": "c", "prediction": "y"}])
    golds = b"\n" + jsonl([{"id": i, "answers": [i.upper()]} for i in "abd"])
    assert joined(tmp_path, predictions, golds) == [
        ("b", "x", ["B"], 0, 1),
        ("c", "y", None, 0, 2),
        ("a", None, ["A"], 1, 2),
        ("d", None, ["D"], 1, 4),
    ]


@pytest.mark.parametrize("side", ["predictions", "golds"])
def test_a_place_is_no_content(side: str, tmp_path: Path) -> None:
    """The same row twice is the same row, wherever it stands."""
    row, gold = {"id": "a", "prediction": "x"}, {"id": "a", "answers": ["A"]}
    n = {"predictions": (2, 1), "golds": (1, 2)}[side]
    rows = joined(tmp_path, jsonl([row] * n[0]), jsonl([gold] * n[1]))
    assert rows == [("a", "x", ["A"], 0, at) for at in range(1, n[0] + 1)]
    with pytest.raises(DataError, match="'a' stands twice with different content"):
        joined(tmp_path, jsonl([row, {**row, "prediction": "z"}]), jsonl([gold]))


@pytest.mark.parametrize("name", FORMATS)
def test_rows_are_read_back_by_their_places(name: str, tmp_path: Path) -> None:
    data, expected = FORMATS[name]
    path = write(tmp_path, "dump", data)
    options = ReadOptions(frozenset({"id"}), fields=frozenset({"kind"}))
    if len(set(expected)) == 1:
        # On one line all are candidates.
        assert len(read_rows_at(str(path), [1], options)) == len(expected)
        return
    asked = [expected[7], 999, expected[0], expected[2]]
    batch = read_rows_at(str(path), asked, options)
    assert batch.select(["id", "field:kind", PLACE]).to_pylist() == [
        {"id": "7", "field:kind": "odd", PLACE: expected[7]},
        {"id": "0", "field:kind": "even", PLACE: expected[0]},
        {"id": "2", "field:kind": "even", PLACE: expected[2]},
    ]
    assert read_rows_at(str(path), [999], options).num_rows == 0
    assert read_rows_at(str(write(tmp_path, "empty", "")), [1], options).num_rows == 0


def test_bad_rows_hinder_no_other(tmp_path: Path) -> None:
    path = write(tmp_path, "dump", b"{bad\n" + jsonl(ROWS) + b"{worse")
    batch = read_rows_at(str(path), [2], ReadOptions(frozenset({"id"})))
    assert batch.column("id").to_pylist() == ["0"]
