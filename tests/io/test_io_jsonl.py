"""JSON lines: what the fast path reads, what falls to the slow one, and that both agree."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import jsonl, read, read_bytes, write

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.io.formats.jsonl import read as read_jsonl
from odqa_fast.io.json_blocks import JsonBlocks
from odqa_fast.io.line_blocks import BLOCK_BYTES


def lines(data: bytes, **options: Any) -> Any:
    return read_bytes(read_jsonl, data, **options)


def test_one_line_without_newline() -> None:
    result = lines(b'{"id":"q1","prediction":"Rome","answers":["Rome"]}')
    assert result.rows == [{"id": "q1", "answers": ["Rome"], "prediction": "Rome"}]


def test_blank_lines_bom_and_crlf(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"id":"1"}\r\n\r\n\n  \n{"id":"2"}\r\n{"id":"3"}'
    result = read(write(tmp_path, "d", data))
    assert result.column("id") == ["1", "2", "3"]
    assert result.counts.rows_read == 3


def test_only_lf_ends_a_line() -> None:
    texts = ["left\u2028right", "a\u0085b", "a\u000cb"]
    data = b"".join(
        json.dumps({"prediction": t}, ensure_ascii=False).encode() + b"\n" for t in texts
    )
    assert lines(data).column("prediction") == texts


def test_mixed_types_keep_their_spelling() -> None:
    result = lines(
        b'{"id":1,"prediction":1969,"answers":[1969]}\n'
        b'{"id":"2","prediction":"Paris","answers":"Paris"}\n'
        b'{"id":3.0,"prediction":true,"answers":["True",null,1.50]}\n'
        b'{"id":4,"prediction":NaN,"answers":null}\n'
    )
    assert result.column("id") == ["1", "2", "3", "4"]
    assert result.column("prediction") == ["1969", "Paris", "true", None]
    assert result.column("answers") == [["1969"], ["Paris"], ["True", None, "1.50"], None]


def test_nothing_is_guessed() -> None:
    result = lines(jsonl([{"prediction": "2009-01-01", "answers": ["007", "1e3"]}] * 3))
    assert result.column("prediction") == ["2009-01-01"] * 3
    assert result.column("answers") == [["007", "1e3"]] * 3


def test_integers_are_exact() -> None:
    assert lines(b'{"id":12345678901234567890123}\n{"id":-0}\n').column("id") == [
        "12345678901234567890123",
        "0",
    ]


def test_documents_of_every_form() -> None:
    result = lines(
        b'{"ctxs":[{"text":"a","title":"T","id":7,"score":"1.5"},null]}\n'
        b'{"ctxs":[{"contents":"b"}]}\n{"ctxs":["c"]}\n{"ctxs":"d"}\n{"ctxs":[]}\n{"ctxs":null}\n'
    )
    documents = result.column("documents")
    assert documents[0] == [{"text": "a", "title": "T", "id": "7", "score": 1.5}, None]
    assert [[d["text"] for d in row] for row in documents[1:4]] == [["b"], ["c"], ["d"]]
    assert documents[4:] == [[], None]


def test_a_document_text_under_a_late_name() -> None:
    rows = [{"documents": [{"text": "a"}]}] * 2000 + [{"documents": [{"contents": "b"}]}]
    assert lines(jsonl(rows)).column("documents")[-1] == [{"text": "b"}]


def test_a_late_field_and_a_late_column() -> None:
    rows = [{"id": i} for i in range(3000)] + [{"id": 3000, "prediction": "y", "note": 1}]
    result = lines(jsonl(rows))
    assert result.counts.rows_read == 3001
    assert result.column("prediction") == [None] * 3000 + ["y"]
    assert "prediction" in result.found


def test_a_shape_that_changes_between_blocks() -> None:
    pad = "z" * 1000
    rows: list[Any] = [{"answers": "x", "pad": pad}] * 9000 + [
        {"answers": ["y"], "pad": pad}
    ] * 9000
    assert lines(jsonl(rows)).column("answers") == [["x"]] * 9000 + [["y"]] * 9000


def test_the_true_line_across_blocks(tmp_path: Path) -> None:
    rows: list[Any] = [{"id": i, "prediction": "x", "pad": "z" * 1000} for i in range(20000)]
    path = write(tmp_path, "d.jsonl", jsonl([*rows, {"id": 20000, "prediction": ["nested"]}]))
    assert path.stat().st_size > 2 * BLOCK_BYTES
    with pytest.raises(DataError, match=r"d\.jsonl, line 20001: field 'prediction' must be text"):
        read(path)
    result = read(path, on_error="skip")
    assert result.lines == [20001]
    assert result.counts.rows_read == 20001


def test_malformed_lines() -> None:
    data = (
        b'{"id":"1"}\n{not json}\n"only a string"\n[1,2]\n{"id":"5"}\nnull\n{"id":"7"}{"id":"8"}\n'
    )
    with pytest.raises(DataError, match="line 2: not JSON"):
        lines(data)
    result = lines(data, on_error="skip")
    assert result.column("id") == ["1", "5"]
    assert result.lines == [2, 3, 4, 6, 7]
    assert result.rejected[1].text == '"only a string"'
    assert "but is a list" in result.rejected[2].reason
    assert (result.counts.rows_read, result.counts.rejected) == (7, 5)


def test_a_null_at_the_start_does_not_crash() -> None:
    # pyarrow 26 dies of it when it is let near such a block.
    assert lines(b'null\n{"id":"a"}\n', on_error="skip").column("id") == ["a"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"answers": {"a": 1}}, "'answers' must be text or a list of texts, but is an object"),
        ({"answers": [["x"]]}, r"'answers' \[0\] must be text, but is a list"),
        ({"prediction": ["x"]}, "'prediction' must be text, but is a list"),
        ({"level": "high"}, "'level' must be a number, but is text"),
        ({"documents": [["x"]]}, r"'documents' \[0\] must be text or an object"),
    ],
)
def test_wrong_types_name_the_field_and_both_types(row: Any, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        lines(jsonl([{"id": 1}, row]))


def test_bytes_that_are_not_utf8() -> None:
    data = b'{"id":"1","prediction":"ok"}\n{"id":"2","prediction":"caf\xe9"}\n'
    with pytest.raises(DataError, match="line 2: field 'prediction' is not UTF-8"):
        lines(data)
    assert lines(data, on_error="skip").lines == [2]
    result = lines(data, encoding_errors="replace")
    assert result.column("prediction") == ["ok", "caf\ufffd"]
    assert result.counts.replaced_encodings == 1


def test_surrogates_and_repeated_keys() -> None:
    data = b'{"prediction":"\\ud83d\\ude00"}\n{"prediction":"\\ud800"}\n{"id":1,"id":2}\n'
    result = lines(data, on_error="skip", encoding_errors="replace")
    assert result.column("prediction") == ["\U0001f600"]
    assert "lone surrogate" in result.rejected[0].reason
    assert "stands twice" in result.rejected[1].reason


def test_a_long_line_grows_the_block(tmp_path: Path) -> None:
    big = "w " * 6_000_000
    path = write(tmp_path, "d", jsonl([{"id": 1}, {"id": 2, "summary": big}, {"id": 3}]))
    result = read(path)
    assert result.column("id") == ["1", "2", "3"]
    assert result.column("summary")[1] == big


@pytest.mark.parametrize("size", [200, BLOCK_BYTES * 2])
def test_a_line_over_the_limit(size: int) -> None:
    data = jsonl([{"id": 1}, {"id": "x" * size}, {"id": 3}])
    limit = size // 2
    with pytest.raises(DataError, match=rf"line 2: .*max_line_bytes = {limit}"):
        lines(data, max_line_bytes=limit)
    result = lines(data, max_line_bytes=limit, on_error="skip")
    assert result.column("id") == ["1", "3"]
    assert (result.lines, result.counts.rows_read) == ([2], 3)


def test_names() -> None:
    data = b'{"qid":"1","reply":"x","gold":["y"]}\n'
    result = lines(data)
    assert result.rows == [{"id": "1", "answers": ["y"]}]
    assert result.found == ("gold", "qid", "reply")
    assert lines(data, mapping={"prediction": "reply"}).column("prediction") == ["x"]
    with pytest.raises(SchemaError, match=r"'nope'.*Columns found: gold, qid, reply"):
        lines(data, mapping={"prediction": "nope"})
    with pytest.raises(SchemaError, match=r"'pred' and 'output'.*--map prediction=pred"):
        lines(b'{"pred":"a","output":"b"}\n')
    assert lines(b'{"pred":"a","prediction":"b"}\n').column("prediction") == ["b"]
    with pytest.raises(SchemaError, match="no column 'predictoin'"):
        ReadOptions(frozenset({"predictoin"}))


def test_rows_without_any_asked_column_are_still_rows() -> None:
    result = lines(b'{"foo":1}\n{"foo":2}\n')
    assert [batch.num_rows for batch in result.batches] == [2]
    assert result.batches[0].num_columns == 0


def test_batches_are_bounded() -> None:
    result = lines(jsonl({"id": i} for i in range(150_000)))
    assert sum(batch.num_rows for batch in result.batches) == 150_000
    assert max(batch.num_rows for batch in result.batches) <= 65_536


def test_nothing_is_read_before_iteration(tmp_path: Path) -> None:
    dump = open_dump(write(tmp_path, "d", "{broken"), ReadOptions(frozenset({"id"})))
    assert dump.counts.rows_read == 0
    assert dump.total_bytes == 7


class SlowOnly(JsonBlocks):
    """Never asks pyarrow."""

    def _start(self, part: tuple[bytes, Sequence[int]]) -> None:
        return None


BITS = [b"{", b"}", b"[", b'"', b",", b":", b"\n", b"\\", b"\xe9", b"\0", b"NaN", b"-0", b"1.0"]
BITS += [b"null", b" ", b"\r", b"\x0c", b"\\ud800", b'{"id":9}', b'"id":7,', b"\xe2\x80\xa8"]
WHOLE = (
    b'{"id":1,"prediction":"x \\u00e9","answers":["a","b"],"documents":[{"text":"t","score":1}]}\n'
    b'{"id":2,"prediction":"007","answers":[]}\n{"id":3,"prediction":null,"level":0.5}\n'
    b'{"id":4,"prediction":"q \\"w\\"","answers":[null,"\xc3\xbc"]}\n'
)


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    data = bytearray(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data)))
        gone = draw(st.sampled_from([0, 0, 1, 1, 2, 20]))
        data[place : place + gone] = draw(st.sampled_from([b"", *BITS]))
    return bytes(data)


def known(value: Any) -> Any:
    """Drop nulls: a batch may lack a column, or a document a field, that is null throughout."""
    if isinstance(value, dict):
        return {k: known(v) for k, v in value.items() if v is not None}
    return [known(v) for v in value] if isinstance(value, list) else value


@given(broken(), st.sampled_from(["fail", "replace"]))
def test_both_paths_agree_and_lose_nothing(data: bytes, errors: str) -> None:
    fast = lines(data, on_error="skip", encoding_errors=errors)
    with patch("odqa_fast.io.formats.jsonl.JsonBlocks", SlowOnly):
        slow = lines(data, on_error="skip", encoding_errors=errors)
    assert known(fast.rows) == known(slow.rows)
    assert (fast.counts, fast.rejected) == (slow.counts, slow.rejected)
    n_lines = sum(1 for line in data.split(b"\n") if line.strip())
    assert fast.counts.rows_read == n_lines == len(fast.rows) + fast.counts.rejected


def _never(*_: Any) -> Iterator[pa.RecordBatch]:
    raise AssertionError("a regular dump must not be read line by line")


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "prediction": "x", "answers": ["a"], "documents": [{"text": "t", "id": 3}]},
        {"id": "1", "prediction": 1969, "answers": "a", "documents": ["t"]},
        {"qid": "1", "pred": "é", "golds": [1], "ctxs": [{"contents": "t", "score": "1.5"}]},
        {"id": "1", "level": 1, "documents": "t", "summary": None, "other": {"deep": [1]}},
    ],
)
def test_regular_dumps_take_the_fast_path(row: Any) -> None:
    with patch.object(JsonBlocks, "_take_rows", _never):
        assert len(lines(jsonl([row] * 50)).rows) == 50


def test_a_mapped_name_does_not_hide_broken_lines() -> None:
    with pytest.raises(DataError, match="line 1: not JSON"):
        lines(b"{broken\n", mapping={"prediction": "reply"})


def test_blank_lines_are_passed_over_and_counted() -> None:
    blank = b" \r\n" * (BLOCK_BYTES // 3) + b"\n" * BLOCK_BYTES
    data = b'{"id": "1"}\n' + blank + b'{"id": "2"}\n' + blank
    start = time.process_time()
    data.split(b"\n")
    split = time.process_time() - start
    start = time.process_time()
    assert lines(data).rows == [{"id": "1"}, {"id": "2"}]
    assert time.process_time() - start < split
    # The true line of what is bad behind them.
    with pytest.raises(DataError, match=f"line {2 + blank.count(10)}: "):
        lines(b'{"id": "1"}\n' + blank + b"bad\n")
