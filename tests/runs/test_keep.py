"""Covers: --keep of `score`: columns, and fields of the dump's own, beside the scores.

Compared against: what is written in the files, by hand. Run: pytest tests/runs/test_keep.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import called, odqa_fast, refused, rows_of, summary_of

import odqa_fast as oq
from odqa_fast.errors import OdqaError

LINES = """\
{"id": "a", "prediction": "x", "answers": ["x"], "cost": 0.50, "note": "café", "meta": [{}]}
{"id": "b", "prediction": "y", "answers": ["x"], "cost": 7, "note": null}
{"id": "c", "prediction": "x", "answers": ["x", "y"], "note": ""}
"""
KEEP = ("note", "answers", "cost", "meta")
#: Fields of the dump's own are text: numbers as they are written, objects as JSON.
KEPT: dict[str, list[Any]] = {
    "id": ["a", "b", "c"],
    "note": ["café", None, ""],
    "answers": [["x"], ["x"], ["x", "y"]],
    "cost": ["0.50", "7", None],
    "meta": ["[{}]", None, None],
    "em": [1.0, 0.0, 1.0],
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


def check(run: Path, expected: dict[str, list[Any]]) -> None:
    rows = rows_of(run)
    assert {name: [row[name] for row in rows] for name in expected} == expected
    assert list(rows[0]) == list(expected)


def test_on_the_command_line(dump: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    keep = ("--keep", "note, answers", "--keep", "cost", "--keep", "meta,note,id")
    done = odqa_fast("score", dump, "--metrics", "em", *keep, "--out", run)
    assert summary_of(done)["metrics"]["em"]["mean"] == 2 / 3
    check(run, KEPT)


def test_in_python(dump: Path, tmp_path: Path) -> None:
    oq.score_file(dump, "em", keep=KEEP, out=tmp_path / "run")
    check(tmp_path / "run", KEPT)
    oq.score_file(dump, "em", keep="cost", out=tmp_path / "one")
    check(tmp_path / "one", {name: KEPT[name] for name in ("id", "cost", "em")})


def test_from_its_own_record(dump: Path, tmp_path: Path) -> None:
    oq.score_file(dump, "em", keep=KEEP, out=tmp_path / "run")
    summary_of(called("rerun", tmp_path / "run", "--out", tmp_path / "again"))
    check(tmp_path / "again", KEPT)


def test_files_that_differ(dump: Path, tmp_path: Path) -> None:
    """A field may stand in one file alone, and have another type in another."""
    other = tmp_path / "other.parquet"
    rows = {"id": ["d"], "prediction": ["x"], "answers": [["x"]], "cost": [2.5]}
    pq.write_table(pa.table(rows), other)
    oq.score_file([dump, other], "em", keep=["note", "cost"], out=tmp_path / "run")
    check(
        tmp_path / "run",
        {
            "id": ["a", "b", "c", "d"],
            "note": ["café", None, "", None],
            "cost": ["0.50", "7", None, "2.5"],
            "em": [1.0, 0.0, 1.0, 1.0],
        },
    )


def test_beside_joined_answers(tmp_path: Path) -> None:
    """What is kept is the dump's; a question that nobody answered has nothing."""
    (said := tmp_path / "said.jsonl").write_text('{"id": "a", "prediction": "x", "cost": 1.0}\n')
    (gold := tmp_path / "gold.jsonl").write_text(
        '{"id": "a", "answers": ["x"], "cost": 9}\n{"id": "b", "answers": ["x"], "cost": 9}\n'
    )
    done = called(
        "score", said, "--answers", gold, "-m", "em", "--keep", "cost", "--out", tmp_path / "run"
    )
    assert summary_of(done)["counts"]["unmatched_answers"] == 1
    check(tmp_path / "run", {"id": ["a", "b"], "cost": ["1.0", None], "em": [1.0, 0.0]})


@pytest.mark.parametrize(
    ("keep", "code", "said"),
    [
        (
            "nowhere",
            2,
            "--keep nowhere needs a column 'nowhere', and there is none. Columns found: answers, "
            "cost, id, meta, note, prediction. Name one of these as it is written here.",
        ),
        ("em", 2, "--keep em would stand twice in the scores"),
        ("place", 2, "--keep place would stand twice in the scores"),
    ],
)
def test_what_cannot_be_kept(keep: str, code: int, said: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    refused(odqa_fast("score", dump, "-m", "em", "--keep", keep, "--out", out), code, said)
    with pytest.raises(OdqaError, match=re.escape(said)):
        oq.score_file(dump, "em", keep=[keep], out=out)
    assert not out.exists()
