"""Covers: an input's own fields, which are kept as text.

Compared against: what is written in each file, by hand.
Run: pytest tests/io/test_io_own_fields.py
"""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import jsonl, read, write

from odqa_fast.errors import DataError
from odqa_fast.io import Data, ReadOptions
from odqa_fast.io.options import FIELD, split_kept

LINES = (
    b'{"id": 1, "level": 0.5, "note": "caf\xc3\xa9", "cost": 0.50, "n": 7, "ok": true,'
    b' "meta": {"k": [1, -0.0, 1e3, null, "\\u00e9\\"x"], "b": false}}\n'
    b'{"id": 2, "note": null, "meta": []}\n'
    b'{"id": 3}\n'
)
KEPT = {
    "note": ["café", None, None],
    "cost": ["0.50", None, None],
    "n": ["7", None, None],
    "ok": ["true", None, None],
    "meta": ['{"k": [1, -0.0, 1e3, null, "é\\"x"], "b": false}', "[]", None],
}
ONLY = frozenset({"id"})


def test_a_canonical_name_is_a_column_and_any_other_a_field() -> None:
    assert split_kept(["level", "note", "answer", "answer_aliases", "note"]) == (
        {"level"},
        {"note", "answer", "answer_aliases"},
    )


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("one_run", [False, True])
def test_fields_of_json(name: str, one_run: bool, tmp_path: Path) -> None:
    path = write(tmp_path, "a", LINES)
    result = read(path, columns=ONLY, fields=frozenset({name}), one_run=one_run)
    assert result.rows == [
        {"id": str(i), FIELD + name: value} for i, value in enumerate(KEPT[name], 1)
    ]


def test_a_field_that_comes_late(tmp_path: Path) -> None:
    """After the lines by which the fields are learned, and blocks later."""
    rows: list[dict[str, Any]] = [{"id": i, "pad": "x" * 1000} for i in range(20_000)]
    rows[15_000] |= {"late": "text"}
    path = write(tmp_path, "a", jsonl(rows))
    result = read(path, columns=ONLY, fields=frozenset({"late"}))
    found = [row["id"] for row in result.rows if row.get(FIELD + "late") == "text"]
    assert found == ["15000"]


def test_a_field_that_is_a_column_as_well(tmp_path: Path) -> None:
    rows = [{"id": "a", "golds": ["x", "y"]}, {"id": "b", "golds": ["z"]}]
    path = write(tmp_path, "a", jsonl(rows))
    result = read(path, columns=frozenset({"answers"}), fields=frozenset({"golds"}))
    assert result.rows == [
        {"answers": ["x", "y"], FIELD + "golds": '["x", "y"]'},
        {"answers": ["z"], FIELD + "golds": '["z"]'},
    ]


def test_what_tells_runs_apart_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a", jsonl({"id": i, "system": "bm25", "filter": "x"} for i in range(2)))
    for fields in ((), ("system",), ("filter", "system")):
        result = read(path, columns=ONLY, fields=frozenset(fields), one_run=True)
        assert result.batches[0].schema.names == ["id", *(FIELD + name for name in fields)]
    chosen = read(path, columns=ONLY, fields=frozenset({"system"}), where={"system": "bm25"})
    assert chosen.column(FIELD + "system") == ["bm25", "bm25"]


def test_rows_chosen_by_what_is_written(tmp_path: Path) -> None:
    path = write(tmp_path, "a", LINES)
    assert read(path, columns=ONLY, where={"meta": "[]"}).column("id") == ["2"]


def test_fields_of_arrow(tmp_path: Path) -> None:
    day = datetime.date(2011, 1, 1)
    # Named, for older versions of pyarrow put the keys in the order of their names.
    meta = pa.struct([("k", pa.list_(pa.float64())), ("day", pa.date32())])
    table = pa.table(
        {
            "id": ["1", "2"],
            "cost": [0.5, None],
            "day": [day, None],
            "at": [datetime.datetime(2011, 1, 1, 3), None],
            "meta": pa.array([{"k": [1.0, None], "day": day}, None], meta),
            "bytes": [b"x", None],
        }
    )
    kept = {
        "cost": "0.5",
        "day": "2011-01-01",
        "at": "2011-01-01 03:00:00",
        "meta": '{"k": [1.0, null], "day": "2011-01-01"}',
        "bytes": "x",
    }
    sink = io.BytesIO()
    pq.write_table(table, sink)
    path = write(tmp_path, "a", sink.getvalue())
    options = ReadOptions(ONLY, fields=frozenset(kept))
    expected = [
        {"id": "1", **{FIELD + name: kept[name] for name in sorted(kept)}},
        {"id": "2", **dict.fromkeys((FIELD + name for name in sorted(kept)), None)},
    ]
    assert read(path, columns=ONLY, fields=frozenset(kept)).rows == expected
    for data in (table, table.to_pylist(), table.to_pydict()):
        assert [row for batch in Data(data, options) for row in batch.to_pylist()] == expected


def test_fields_of_csv(tmp_path: Path) -> None:
    path = write(tmp_path, "a", "id,note\n1,x\n2,\n")
    result = read(path, columns=ONLY, fields=frozenset({"note"}))
    assert result.column(FIELD + "note") == ["x", ""]


def test_what_is_no_text_is_a_bad_row(tmp_path: Path) -> None:
    for note in ('"\\ud800"', '["\\ud800"]'):
        path = write(tmp_path, "a", f'{{"id": 1, "note": {note}}}')
        with pytest.raises(DataError, match="line 1: field 'note' holds a lone surrogate"):
            read(path, columns=ONLY, fields=frozenset({"note"}))
        assert read(path, columns=ONLY).column("id") == ["1"]


def test_json_is_json(tmp_path: Path) -> None:
    values: list[Any] = [{"a": {"b": [1, 2.5, "x\ny", None, True]}}, [[], {}], ["é", "\u2028"]]
    path = write(tmp_path, "a", jsonl({"note": value} for value in values))
    result = read(path, columns=ONLY, fields=frozenset({"note"}))
    assert [json.loads(text) for text in result.column(FIELD + "note")] == values
