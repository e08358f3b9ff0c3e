"""Covers: odqa-fast score, its outputs, exit codes and messages.

Compared against: scores worked by hand from the SQuAD definition.
Run: pytest tests/cli/test_score.py
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import odqa_fast, write_jsonl

# r1: "lake victoria basin" against "lake victoria": P 2/3, R 1, F1 0.8; not equal.
# r2: equal once "The" and "." are gone. r3: null prediction, scores 0. r4: no answers, no score.
ROWS = [
    {"id": "r1", "prediction": "Lake Victoria basin", "answers": ["Lake Victoria"]},
    {"id": "r2", "prediction": "The Nile.", "answers": ["Amazon", "nile"]},
    {"id": "r3", "prediction": None, "answers": ["Oslo"]},
    {"id": "r4", "prediction": "Rome", "answers": []},
]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", ROWS)


def test_json_holds_means_counts_and_signatures(dump: Path) -> None:
    done = odqa_fast("score", dump, "--metrics", "em,f1")
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert summary["metrics"]["em"]["mean"] == pytest.approx(1 / 3)
    assert summary["metrics"]["f1"]["mean"] == pytest.approx(1.8 / 3)
    assert summary["metrics"]["f1"]["n_scored"] == 3
    assert summary["metrics"]["f1"]["n_null"] == 1
    assert summary["metrics"]["f1"]["signature"].startswith("f1/1|squad/1|golds:max|")
    assert summary["counts"]["rows"] == summary["counts"]["rows_read"] == 4
    assert summary["counts"]["null_predictions"] == 1
    assert summary["counts"]["empty_answers"] == 1


def test_table_and_csv_show_the_same_mean(dump: Path) -> None:
    table = odqa_fast("score", dump, "--metrics", "f1", "--format", "table").stdout
    assert "0.600000" in table
    assert "null predictions 1" in table
    assert "f1/1|squad/1|" in table
    lines = odqa_fast("score", dump, "--metrics", "f1", "--format", "csv").stdout
    (row,) = csv.DictReader(io.StringIO(lines))
    assert float(row["mean"]) == pytest.approx(0.6)


def test_out_holds_rows_and_summary(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "a"
    done = odqa_fast("score", dump, "--metrics", "em,f1", "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["scores.parquet", "summary.json"]
    assert json.loads((out / "summary.json").read_text()) == json.loads(done.stdout)
    table = pq.read_table(out / "scores.parquet")
    assert table.schema.names == ["id", "em", "f1", "source", "place", "question_hash"]
    assert table["id"].to_pylist() == ["r1", "r2", "r3", "r4"]
    assert table["f1"].to_pylist() == [pytest.approx(0.8), 1.0, 0.0, None]
    assert [path.name for path in out.parent.iterdir()] == ["a"]


def test_parquet_scores_as_jsonl_does(dump: Path, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "dump.parquet", row_group_size=2)
    summaries = [
        json.loads(odqa_fast("score", path, "--metrics", "em,f1").stdout)["metrics"]
        for path in (dump, tmp_path / "dump.parquet")
    ]
    assert summaries[0] == summaries[1]


def test_out_replaces_an_older_run_and_nothing_else(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    odqa_fast("score", dump, "--metrics", "em", "--out", out)
    odqa_fast("score", dump, "--metrics", "f1", "--out", out)
    names = pq.read_table(out / "scores.parquet").schema.names
    assert names == ["id", "f1", "source", "place", "question_hash"]
    (out / "thesis.tex").write_text("mine")
    done = odqa_fast("score", dump, "--out", out)
    assert done.returncode == 5
    assert "thesis.tex" in done.stderr
    assert (out / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--metrics", "f-1"], 2, ["'f-1'", "Closest: f1", "odqa-fast metrics"]),
        (["--metrics", "f1:squadd"], 2, ["'squadd'", "squad"]),
        (["--metrics", "em,em"], 2, ["'em'", "twice"]),
        (["--metrics", ""], 2, ["no metric"]),
        (["--profile", "squid"], 2, ["'squid'", "squad"]),
        (["--format", "xml"], 2, ["'xml'", "csv, json, table"]),
        (["--metrics", "par"], 2, ["'summary'", "prediction", "--map"]),
        (["--map", "prediction"], 2, ["--map", "COLUMN=NAME"]),
        (["--map", "prediction=reply"], 2, ["reply", "prediction"]),
        (["--on-error", "hope"], 2, ["hope"]),
        (["--threads", "0"], 2, ["threads"]),
    ],
)
def test_usage_errors_say_what_would_work(
    dump: Path, arguments: list[str], code: int, said: list[str]
) -> None:
    done = odqa_fast("score", dump, *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for words in said:
        assert words in done.stderr


def test_wrong_column_names_what_is_there(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "p.jsonl", [{"nr": "1", "reply": "x", "truth": ["x"]}])
    done = odqa_fast("score", dump, "--metrics", "em")
    assert (done.returncode, done.stdout) == (2, "")
    for words in ("prediction", "reply", "truth", "nr", "--map"):
        assert words in done.stderr
    mapped = odqa_fast("score", dump, "--map", "prediction=reply", "--map", "answers=truth")
    assert json.loads(mapped.stdout)["metrics"]["em"]["mean"] == 1.0


def test_missing_file_is_bad_data_without_traceback(tmp_path: Path) -> None:
    done = odqa_fast("score", tmp_path / "none.jsonl")
    assert (done.returncode, done.stdout) == (3, "")
    assert "none.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bad_line_is_named_or_skipped_and_counted(tmp_path: Path) -> None:
    dump = tmp_path / "bad.jsonl"
    good = '{"id":"1","prediction":"x","answers":["x"]}\n'
    dump.write_text(good + "{not json}\n" + good.replace('"1"', '"2"'))
    out = tmp_path / "run"
    failed = odqa_fast("score", dump, "--out", out)
    assert (failed.returncode, failed.stdout) == (3, "")
    assert "line 2" in failed.stderr
    assert not out.exists()
    skipped = odqa_fast("score", dump, "--out", out, "--on-error", "skip")
    assert skipped.returncode == 0
    counts = json.loads(skipped.stdout)["counts"]
    assert (counts["rows_read"], counts["rejected"], counts["rows"]) == (3, 1, 2)
    (rejected,) = map(json.loads, (out / "rejected.jsonl").read_text().splitlines())
    assert rejected["line"] == 2


def test_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -P -m odqa_fast metrics | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert done.returncode in (0, 141)
