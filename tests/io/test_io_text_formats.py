"""CSV, TSV, JSON arrays and JSON over several lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from reading import read, read_bytes, write

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.formats.csv import read as read_csv
from odqa_fast.io.formats.json import read as read_json


def table(text: str | bytes, **options: Any) -> Any:
    return read_bytes(read_csv, text.encode() if isinstance(text, str) else text, **options)


def whole(text: str, **options: Any) -> Any:
    return read_bytes(read_json, text.encode(), **options)


def test_csv_cells_stay_text() -> None:
    result = table(
        'id,prediction,answers\n1,007,"[""007""]"\n2,"042","[""042"", 7]"\n3,,bare\n4,x,\n'
    )
    assert result.column("prediction") == ["007", "042", "", "x"]
    assert result.column("answers") == [["007"], ["042", "7"], ["bare"], None]
    assert result.column("id") == ["1", "2", "3", "4"]


def test_csv_documents_and_numbers() -> None:
    cell = json.dumps([{"contents": "t"}, "u"]).replace('"', '""')
    result = table(f'documents,level\n"{cell}",0.5\nplain,\n')
    assert result.column("documents") == [[{"text": "t"}, {"text": "u"}], [{"text": "plain"}]]
    assert result.column("level") == [0.5, None]


def test_tsv_and_crlf() -> None:
    assert table("id\tprediction\r\n1\ta,b\r\n").rows == [{"id": "1", "prediction": "a,b"}]


def test_an_empty_prediction_in_one_column_is_a_row() -> None:
    assert table("prediction\nRome\n\nOslo\n").column("prediction") == ["Rome", "", "Oslo"]


def test_blank_lines_between_rows_of_cells_are_none() -> None:
    result = table("id,prediction\n1,a\n\n2,b\n\n")
    assert result.column("id") == ["1", "2"]
    assert result.counts.rows_read == 2


def test_csv_newlines_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "nl.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prediction", "answers"])
        for i in range(60_000):
            writer.writerow([i, "first line\nsecond line", '["first line second line"]'])
    result = read(path)
    assert result.column("prediction") == ["first line\nsecond line"] * 60_000


def test_csv_bad_rows() -> None:
    text = 'id,answers\n1,x\n2,"a\nb",3\n4,[broken\n5,y\n'
    with pytest.raises(DataError, match="line 3: 3 cells, but the header has 2"):
        table(text)
    result = table(text, on_error="skip")
    assert result.column("id") == ["1", "5"]
    assert result.lines == [3, 5]
    assert result.rejected[0].text == "2,a\nb,3"
    with pytest.raises(DataError, match="not CSV"):
        table('id,answers\n1,"never closed\n2,x\n')
    with pytest.raises(SchemaError, match="several columns are named 'id'"):
        table("id,id\n1,2\n")


def test_csv_a_stray_quote_takes_no_row_but_its_own() -> None:
    """Whether the next quote stands further down, or there is none."""
    rows = [f"{n},cat" for n in range(100)]
    rows[10], rows[50] = '10,"cat', '50,"cat'
    result = table("\n".join(["id,prediction", *rows, '100,"a\nb"']), on_error="skip")
    kept = [str(n) for n in range(101) if n not in (10, 50)]
    assert result.column("id") == kept
    assert result.column("prediction")[-1] == "a\nb"
    assert [(each.line, each.text) for each in result.rejected] == [
        (12, '10,"cat'),
        (52, '50,"cat'),
    ]
    assert result.counts.rows_read == 101


def test_csv_encodings() -> None:
    data = b"id,prediction\n1,caf\xe9\n2,caf\xc3\xa9\n"
    with pytest.raises(DataError, match="line 2: not UTF-8"):
        table(data)
    result = table(data, encoding_errors="replace")
    assert result.column("prediction") == ["caf\ufffd", "café"]
    assert result.counts.replaced_encodings == 1


def test_csv_cell_over_the_modules_limit() -> None:
    assert len(table(f"id,prediction\n1,{'x' * 300_000}\n").column("prediction")[0]) == 300_000


def test_json_array_and_pretty_object(tmp_path: Path) -> None:
    row = {"id": "1", "prediction": 'x, "y" [z] {\\', "answers": ["x"]}
    for name, text in {
        "minified": json.dumps([row, row]),
        "array of lines": f"[\n{json.dumps(row)},\n{json.dumps(row)}\n]\n",
        "indented": json.dumps([row, row], indent=2),
        "objects": json.dumps(row, indent=2) + "\n" + json.dumps(row, indent=2),
    }.items():
        assert read(write(tmp_path, name, text)).rows == [row, row], name
    assert read(write(tmp_path, "empty", "[]")).rows == []


def test_json_lines_of_values() -> None:
    text = '[\n {"id": 1},\n\n {"id":\n 2}, 7, "a,]",\n {"prediction": ["x"]}\n]'
    result = whole(text, on_error="skip")
    assert result.column("id") == ["1", "2"]
    assert result.lines == [5, 5, 6]
    assert result.counts.rows_read == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"id": 1},\n{"id": 2}', "line 2: the file ends inside a value"),
        ('[{"id": 1},\n', "the file ends inside the array"),
        ('[{"id": 1}]\n{"id": 2}', "line 2: something follows the array"),
        ('{\n"id": 1', "line 1: the file ends inside a value"),
        ('[{"id": 1}\n{"id": 2}]', "line 1: not JSON"),
    ],
)
def test_broken_json(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        whole(text)


def test_json_values_across_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": str(i), "prediction": '\\"[{' * (i % 5)} for i in range(50)]
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr("odqa_fast.io.formats.json.BLOCK_BYTES", size)
        assert whole(json.dumps(rows, indent=1)).rows == rows


def test_json_value_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odqa_fast.io.formats.json.BLOCK_BYTES", 100)
    with pytest.raises(DataError, match="max_line_bytes = 500"):
        whole(json.dumps([{"id": "x" * 2000}]), max_line_bytes=500)
