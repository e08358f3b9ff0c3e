"""Covers: bytes under a text type that are not UTF-8. Compared against: RFC 3629 and the row.

Run: pytest tests/safety/test_not_utf8.py
"""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

import odqa_fast as oq

LISTS = pa.array([["ok"], ["ok"], ["ok"]])

BAD = {
    "stray bytes": b"\xff\xfe",
    "overlong slash": b"\xc0\xaf",
    "overlong in three": b"\xe0\x80\xaf",
    "surrogate": b"\xed\xa0\x80",
    "above U+10FFFF": b"\xf4\x90\x80\x80",
    "cut short": b"x\xc3",
    "lone continuation": b"\x80x",
    "after long ASCII": b"a" * 100 + b"\xe9",
}


def texts(*values: bytes, validity: bytes | None = None) -> pa.Array:
    """utf8 of any bytes: pyarrow does not look at them."""
    ends = [sum(len(value) for value in values[:n]) for n in range(len(values) + 1)]
    offsets = pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends))
    mask = None if validity is None else pa.py_buffer(validity)
    return pa.StringArray.from_buffers(len(values), offsets, pa.py_buffer(b"".join(values)), mask)


def em(prediction: pa.Array, answers: pa.Array = LISTS) -> list[float | None]:
    data = {"prediction": prediction, "answers": answers.slice(0, len(prediction))}
    return oq.score(data, metrics=["em"]).table["em"].to_pylist()


@pytest.mark.parametrize("name", BAD)
def test_the_error_names_column_and_row(name: str) -> None:
    with pytest.raises(oq.DataError, match=r"row 1\b.*prediction|prediction.*row 1\b"):
        em(texts(b"ok", BAD[name], b"ok"))


def test_a_character_split_over_two_rows_is_two_bad_rows() -> None:
    with pytest.raises(oq.DataError, match=r"row 0\b"):
        em(texts(b"\xc3", b"\xa9"))


@pytest.mark.parametrize("name", BAD)
def test_gold_answers_are_looked_at_too(name: str) -> None:
    offsets = pa.array([0, 2, 3], pa.int32())
    answers = pa.ListArray.from_arrays(offsets, texts(b"ok", b"ok", BAD[name]))
    with pytest.raises(oq.DataError, match=r"row 1\b.*answers|answers.*row 1\b"):
        em(texts(b"ok", b"ok"), answers)


def test_a_dictionary_is_looked_at_too() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts(b"ok", b"\xff"))
    with pytest.raises(oq.DataError, match=r"row 1\b"):
        em(column)


def test_bytes_that_no_row_shows_do_not_matter() -> None:
    under_null = texts(b"ok", b"\xff", b"ok", validity=b"\x05")
    assert em(under_null) == [1.0, 0.0, 1.0]
    assert em(texts(b"\xff", b"ok", b"\xff").slice(1, 1)) == [1.0]
    unused = pa.DictionaryArray.from_arrays(pa.array([0, 0]), texts(b"ok", b"\xff"))
    assert em(unused) == [1.0, 1.0]
    inner = texts(b"\xff", b"ok", b"x", b"\xff")
    answers = pa.ListArray.from_arrays(pa.array([1, 2, 3], pa.int32()), inner)
    assert em(texts(b"ok", b"ok"), answers) == [1.0, 0.0]


def test_four_byte_characters_and_the_edges_are_text() -> None:
    edges = "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"
    assert em(pa.array([edges, "x"]), pa.array([[edges], ["x"]])) == [1.0, 1.0]
