"""Covers: TREC runs and judgements as dumps.

Compared against: trec_eval's rules on lines (get_trec_results.c, get_qrels.c) followed by hand, and
`str.split`. Run: pytest tests/io/test_io_trec.py
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read, read_bytes, write

from odqa_fast.errors import DataError
from odqa_fast.io.formats.qrels import read as read_qrels
from odqa_fast.io.formats.run import read as read_run

COLUMNS = frozenset({"id", "documents", "relevant_ids", "relevance"})

Rows = list[tuple[str, list[tuple[str, float]]]]


def run(data: str | bytes, **options: Any) -> Any:
    raw = data.encode() if isinstance(data, str) else data
    return read_bytes(read_run, raw, columns=COLUMNS, **options)


def qrels(data: str | bytes, **options: Any) -> Any:
    raw = data.encode() if isinstance(data, str) else data
    return read_bytes(read_qrels, raw, columns=COLUMNS, **options)


def ranked(result: Any) -> Rows:
    return [(row["id"], [(d["id"], d["score"]) for d in row["documents"]]) for row in result.rows]


def judged(result: Any) -> list[tuple[str, dict[str, int]]]:
    return [
        (row["id"], dict(zip(row["relevant_ids"], row["relevance"], strict=True)))
        for row in result.rows
    ]


RUN = "q1 Q0 d2 1 2.5 t\nq1 Q0 d1 2 2 t\nq2 Q0 d1 1 -1e-3 t\n"
RANKED: Rows = [("q1", [("d2", 2.5), ("d1", 2.0)]), ("q2", [("d1", -0.001)])]


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace(" ", "  "),
        RUN.replace(" 2.5", "\t2.5"),
        RUN.replace("\n", "\r\n"),
        RUN.replace("t\n", "t and more\n", 1),
        RUN.replace("\n", "\n\n \n# a comment, with words of its own\n"),
        RUN.replace("\n", " \n"),
        " " + RUN,
        "# Q0 d 1 1 t\n" + RUN,
        RUN.rstrip("\n"),
        RUN.replace(" 2 t", "\v2\ft"),
    ],
)
def test_lines_of_a_run(text: str) -> None:
    result = run(text)
    assert ranked(result) == RANKED
    assert result.counts.rows_read == 3


def test_ids_are_text_and_quotes_are_nothing_special() -> None:
    text = '007 Q0 "1e5 1 7 NA\nnull 0 NA 2 inf nan\n'
    assert ranked(run(text)) == [("007", [('"1e5', 7.0)]), ("null", [("NA", math.inf)])]


def test_the_rank_is_not_looked_at() -> None:
    assert ranked(run(RUN.replace("d2 1", "d2 -").replace("d1 2", "d1 one"))) == RANKED


LINE_5 = "q1 Q0 d1 1 2.5"
BAD_LINES = [
    (LINE_5, "5 fields, but a line has 6: query, Q0, document, rank, score, tag"),
    (LINE_5.replace(" Q0", " "), "4 fields"),
    (f"{LINE_5.replace('2.5', 'high')} t", "the score must be a number, but is 'high'"),
    (f"{LINE_5.replace('2.5', 'nan')} t", "the score must be a number, but is 'nan'"),
    (f"{LINE_5.replace('2.5', '1_0')} t", "the score must be a number, but is '1_0'"),
    (f"{LINE_5.replace('2.5', '0x10')} t", "the score must be a number, but is '0x10'"),
    ("q1 Q0 d2 2 2 t", "document 'd2' stands a second time for query 'q1'"),
]


@pytest.mark.parametrize(("line", "said"), BAD_LINES)
def test_a_bad_line_of_a_run(line: str, said: str) -> None:
    first = RUN.splitlines(keepends=True)[0]
    text = f"{first}\n{line}\n{RUN.removeprefix(first)}"
    with pytest.raises(DataError, match=r"f, line 3: .*--on-error skip") as raised:
        run(text)
    assert said in str(raised.value)
    result = run(text, on_error="skip")
    assert ranked(result) == RANKED
    assert [(row.line, said in row.reason) for row in result.rejected] == [(3, True)]
    assert (result.counts.rows_read, result.counts.rejected) == (4, 1)


def test_a_query_that_comes_back() -> None:
    assert ranked(run(RUN + "q1 Q0 d3 3 1 t\n")) == [
        ("q1", [("d2", 2.5), ("d1", 2.0), ("d3", 1.0)]),
        ("q2", [("d1", -0.001)]),
    ]


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_a_query_that_comes_back_in_a_run_that_is_too_large_to_hold(on_error: str) -> None:
    with patch("odqa_fast.io.formats.run.HELD_BYTES", 1):
        assert ranked(run(RUN)) == RANKED
        with pytest.raises(DataError, match=r"f, line 4: query 'q1' comes back.* sort -s -k1,1"):
            run(RUN + "q1 Q0 d3 3 1 t\n", on_error=on_error)


@given(order=st.permutations(range(12)), size=st.sampled_from([1, 30, 1000]))
def test_lines_of_queries_in_any_order(order: list[int], size: int) -> None:
    """As a dict of lists gathers them."""
    expected: dict[str, list[tuple[str, float]]] = {}
    for i in order:
        expected.setdefault(f"q{i % 4}", []).append((f"d{i}", float(i)))
    text = "".join(f"q{i % 4} Q0 d{i} 1 {i} t\n" for i in order)
    with (
        patch("odqa_fast.io.line_blocks.BLOCK_BYTES", size),
        patch("odqa_fast.io.formats.run._LINES_OUT", 5),
    ):
        result = run(text)
        assert ranked(result) == list(expected.items())
        assert result.counts.rows_read == 12
        repeated = text + text.splitlines(keepends=True)[0]
        with pytest.raises(DataError, match=r"line 13: document .* stands a second time"):
            run(repeated)


@pytest.mark.parametrize("size", [1, 7, 16, 40, 1000])
def test_wherever_blocks_are_cut(size: int) -> None:
    """Lines of one query over several blocks, and several queries in one."""
    expected = [(f"q{q}", [(f"d{k}", float(-k)) for k in range(q % 5 + 1)]) for q in range(20)]
    lines = [
        f"{q} Q0 {d} 1 {score}  t\n" if q == "q7" else f"{q} Q0 {d} 1 {score} t\n"
        for q, documents in expected
        for d, score in documents
    ]
    with patch("odqa_fast.io.line_blocks.BLOCK_BYTES", size):
        assert ranked(run("".join(lines))) == expected
        back = (f"line {len(lines) + 1}: query 'q0' comes back", "".join([*lines, lines[0]]))
        with (
            patch("odqa_fast.io.formats.run.HELD_BYTES", 1),
            pytest.raises(DataError, match=back[0]),
        ):
            run(back[1])
        with pytest.raises(
            DataError, match=f"line {len(lines) + 1}: document 'd4' stands a second"
        ):
            run("".join([*lines, lines[-1]]))


WORDS = st.text(st.sampled_from("aé#Q01.e-\"'\\,|"), min_size=1, max_size=4)
GAPS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t"])
SCORES = st.floats(allow_nan=False).map(repr) | st.sampled_from(["+1", "1.", ".5", "INF", "1e999"])


@given(
    rows=st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS, SCORES, WORDS), max_size=8), gap=GAPS,
    odd=GAPS, end=st.sampled_from(["\n", "\r\n", "\n\n"]),
)  # fmt: skip
def test_lines_are_split_as_python_splits_them(
    rows: list[tuple[str, ...]], gap: str, odd: str, end: str
) -> None:
    lines = [gap.join(row) for row in rows]
    if lines:
        lines[0] = odd.join(rows[0])
    # Sorted, so that the lines of a query stand together: a gap comes before every other character.
    lines.sort()
    kept = [line.split() for line in lines if not line.startswith("#")]
    expected: dict[str, dict[str, float]] = {}
    for query, _, document, _, score, *_ in kept:
        expected.setdefault(query, {}).setdefault(document, float(score))
    text = end.join(lines)
    result = run(text, on_error="skip")
    assert {name: dict(documents) for name, documents in ranked(result)} == expected
    repeats = len(kept) - sum(map(len, expected.values()))
    assert (result.counts.rows_read, result.counts.rejected) == (len(kept), repeats)


def test_judgements_in_any_order() -> None:
    text = "q2 0 d1 0\nq1 0 d1 2\n\nq2\t0  d3 -1 \n# none\nq1 0 d2 1\n3 0 d1 1"
    expected = [("q2", {"d1": 0, "d3": -1}), ("q1", {"d1": 2, "d2": 1}), ("3", {"d1": 1})]
    assert judged(qrels(text)) == expected
    with patch("odqa_fast.io.line_blocks.BLOCK_BYTES", 8):
        assert judged(qrels(text)) == expected
    assert qrels("").rows == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 30, 1000])
def test_judgements_of_beir(size: int, end: str) -> None:
    lines = ["query-id\tcorpus-id\tscore", "q2\td1\t0", "q1\td1\t2", "q1\td2\t1"]
    with patch("odqa_fast.io.line_blocks.BLOCK_BYTES", size):
        result = qrels("".join(line + end for line in lines))
        assert judged(result) == [("q2", {"d1": 0}), ("q1", {"d1": 2, "d2": 1})]
        assert result.counts.rows_read == 3
        # Four fields are none of its lines.
        with pytest.raises(DataError, match="line 5: 4 fields, but a line has 3: query, document"):
            qrels("".join(line + end for line in [*lines, "q3 0 d1 1"]))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 0 d3", "3 fields, but a line has 4: query, iteration, document, relevance"),
        ("q1 0 d3 1 more", "5 fields"),
        ("q1 0 d3 yes", "the relevance must be a whole number of at most 32 bits, but is 'yes'"),
        ("q1 0 d3 0.5", "but is '0.5'"),
        ("q1 0 d3 1_0", "but is '1_0'"),
        ("q1 0 d3 3000000000", "but is '3000000000'"),
        ("q1 0 d1 0", "document 'd1' stands a second time for query 'q1'"),
    ],
)
def test_a_bad_line_of_judgements(line: str, said: str) -> None:
    text = f"q1 0 d1 1\nq2 0 d1 1\n{line}\nq1 0 d2 1\n"
    with pytest.raises(DataError, match=r"f, line 3: ") as raised:
        qrels(text)
    assert said in str(raised.value)
    result = qrels(text, on_error="skip")
    assert judged(result) == [("q1", {"d1": 1, "d2": 1}), ("q2", {"d1": 1})]
    assert [(row.line, said in row.reason) for row in result.rejected] == [(3, True)]


def test_bytes_that_are_not_utf8() -> None:
    text = RUN.encode().replace(b"d2", b"d\xff")
    with pytest.raises(DataError, match=r"line 1: is not UTF-8 \(byte 0xff\)"):
        run(text)
    result = run(text, encoding_errors="replace")
    assert ranked(result) == [("q1", [("d\ufffd", 2.5), ("d1", 2.0)]), RANKED[1]]
    assert result.counts.replaced_encodings == 1


def test_a_run_is_told_by_its_lines(tmp_path: Path) -> None:
    files = {
        "plain": RUN.encode(),
        "gzip": gzip.compress(RUN.encode()),
        "with a BOM": b"\xef\xbb\xbf" + RUN.encode(),
        "first line broken": b"what is this\n" + RUN.encode(),
    }
    for name, data in files.items():
        path = write(tmp_path, name, data)
        assert ranked(read(path, columns=COLUMNS, on_error="skip")) == RANKED
    words = write(tmp_path, "words", "prediction\nborn in the year 1990 2.5 AD\nin May 1990\n")
    assert len(read(words).column("prediction")) == 2
