"""Files that end inside a record, and long lines.

Run: pytest tests/io/test_cut_off.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import measured, odqa_fast, refused, summary_of

ROW = '{"prediction": "b", "answers": ["a"]}\n'
ENDS = "the file ends inside this record"


@pytest.mark.parametrize(
    "rest",
    [
        '{"prediction": "a", "answ',
        '{"prediction": "a", "answers": ["a"]',
        '{"prediction": "a", "answers": [{"text": "a"}',
        '{"prediction": "it says }',
        '{"prediction": "a\\',
        '{"prediction": tr',
        '{"prediction": -',
        "{",
    ],
)
def test_json_lines_that_end_inside_a_record(rest: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text(ROW * 2 + rest, encoding="utf-8")
    refused(odqa_fast("score", dump, "--metrics", "em"), 3, "line 3", ENDS)
    skipped = odqa_fast("score", dump, "--metrics", "em", "--on-error", "skip")
    assert summary_of(skipped)["counts"]["rejected"] == 1


@pytest.mark.parametrize(
    "text",
    [
        ROW + '{"prediction": nope}',  # whole, and none
        ROW + "{}}",
        ROW + "that is all",
        ROW + '{"prediction": "a\n' + ROW,  # the file goes on
    ],
)
def test_what_is_wrong_otherwise(text: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text(text, encoding="utf-8")
    done = odqa_fast("score", dump, "--metrics", "em")
    refused(done, 3, "line 2", "not JSON")
    assert ENDS not in done.stderr


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text((ROW * 2).strip(), encoding="utf-8")
    assert summary_of(odqa_fast("score", dump, "--metrics", "em"))["counts"]["rows"] == 2


@pytest.mark.parametrize(
    ("rest", "says"),
    [
        ('"a,', "a quote is not closed before the file ends"),
        ("a", f"{ENDS}: 1 cells, but the header has 2"),
    ],
)
def test_csv_that_ends_inside_a_record(rest: str, says: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump.csv"
    dump.write_text(f"prediction,answers\nb,a\n{rest}", encoding="utf-8")
    refused(odqa_fast("score", dump, "--metrics", "em"), 3, "line 3", says)
    dump.write_text("prediction,answers\nb,a\na\n", encoding="utf-8")
    done = odqa_fast("score", dump, "--metrics", "em")
    assert ENDS not in done.stderr


@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"])
def test_a_long_line_is_read_in_four_times_its_size(letter: str, tmp_path: Path) -> None:
    peaks = []
    size = 60_000_000
    for n in (1000, size):
        dump = tmp_path / f"{n}.jsonl"
        text = "w" * (n - 1) + letter
        row = {"prediction": text, "answers": ["a"], "documents": [{"text": "a \\n b"}]}
        dump.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
        done, peak = measured("score", dump, "--metrics", "em", folder=tmp_path)
        assert summary_of(done)["metrics"]["em"]["mean"] == 0
        peaks.append(peak)
    assert (peaks[1] - peaks[0]) * (1 << 20) < 4 * size
