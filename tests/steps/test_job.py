"""Covers: `compress` and `answer` as jobs: options, the ways to give them, formats, the record.

Compared against: the options as they were given; the same run on the command line and in Python.
Run: pytest tests/steps/test_job.py
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import ChatServer, Play, chat_server
from program import called, odqa_fast, refused, summary_of, write_jsonl

import odqa_fast as oq
from odqa_fast.runs.record import read_record
from odqa_fast.steps.job import AnswerJob, CompressJob

ROWS = [
    {
        "id": name,
        "question": f"Who is {name}?",
        "documents": [f"Ada met them. It was {name} who had gone."],
    }
    for name in ("a", "b", "c")
]
LEAD = ("--compressor", "lead", "--level", "50%")


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server(Play("Ada")) as server:
        yield server


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", ROWS)


def asked(server: ChatServer) -> list[dict[str, Any]]:
    """What the endpoint was asked since the last time."""
    with server.lock:
        bodies = server.bodies.copy()
        server.bodies.clear()
    return bodies


def test_python_and_the_command_line_do_the_same(
    dump: Path, server: ChatServer, tmp_path: Path
) -> None:
    model = server.engine()
    options = {"temperature": 0.5, "seed": 3}
    one, two, three = (tmp_path / f"{n}.parquet" for n in range(3))
    bodies = []
    for run in (
        lambda: oq.answer_file(dump, model, one, **options),
        lambda: oq.answer_file(dump, model, two, how=oq.EngineOptions(**options)),
        lambda: called(
            *("answer", dump, "--model", model, "--out", three, "--temperature", 0.5),
            *("--seed", 3),
        ),
    ):
        run()
        bodies.append(sorted(asked(server), key=str))
    assert bodies[0] == bodies[1] == bodies[2]
    assert len(bodies[0]) == 3
    assert {(body["temperature"], body["seed"]) for body in bodies[0]} == {(0.5, 3)}
    for out in (one, two, three):
        assert pq.read_table(out)["prediction"].to_pylist() == ["Ada"] * 3
    records = [read_record(out).record() for out in (one, two, three)]
    assert [record.pop("out") for record in records] == [str(out) for out in (one, two, three)]
    assert records[0] == records[1] == records[2]


def test_a_run_records_its_job(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    job = CompressJob(dump, out=out, compressor="random", level=0.5, seed=7, on_error="skip")
    summary = job.run()
    again = read_record(out)
    assert isinstance(again, CompressJob)
    assert (again.compressor, again.level, again.seed) == ("random", 0.5, 7)
    assert again.record() == job.record() == summary.job
    before = pq.read_table(out)["summary"].to_pylist()
    new = tmp_path / "new.parquet"
    summary_of(called("rerun", out, "--out", new, "--format", "json"))
    assert pq.read_table(new)["summary"].to_pylist() == before


@pytest.mark.parametrize("level", ["50%", "50", "0.5"])
def test_a_level_is_a_share_or_percent(level: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = called("compress", dump, "--compressor", "lead", "--level", level, "--out", out)
    assert summary_of(done)["job"]["level"] == 0.5


def test_every_format_shows_the_run(dump: Path, tmp_path: Path) -> None:
    command = ("compress", dump, *LEAD, "--out", tmp_path / "out.parquet", "--format")
    summary = summary_of(called(*command, "json"))
    counts = dict.fromkeys(("rows", "asked", "input_documents", "finish_stop", "distinct"), 3)
    assert summary["counts"] == counts
    (row,) = csv.DictReader(io.StringIO(called(*command, "csv").stdout))
    assert {name: int(n) for name, n in row.items()} == summary["counts"]
    table = called(*command, "table").stdout
    for shown in ("compressor_amortized_seconds", "tokens out", f"signature: {LEAD[1]}", "rows 3"):
        assert shown in table


def test_bad_bytes_and_long_lines(dump: Path, tmp_path: Path) -> None:
    lines = dump.read_bytes().splitlines(keepends=True)
    long = json.dumps({"id": "d", "question": "Who?", "documents": ["x" * 500]}).encode()
    dump.write_bytes(b"".join([lines[0].replace(b"Ada", b"Ad\xe4"), *lines[1:], long]))
    out = tmp_path / "out.parquet"
    command = ("compress", dump, *LEAD, "--out", out, "--max-line-bytes", 400)
    refused(odqa_fast(*command), 3, f"{dump}, line 1", "not UTF-8")
    skip = ("--on-error", "skip", "--format", "json")
    counts = summary_of(called(*command, *skip))["counts"]
    assert (counts["rows"], counts["rejected"]) == (2, 2)
    rejected = (tmp_path / "out.parquet.rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in rejected] == [1, 4]
    counts = summary_of(called(*command, *skip, "--encoding-errors", "replace"))["counts"]
    assert (counts["rows"], counts["rejected"], counts["replaced_encodings"]) == (3, 1, 1)
    assert "Ad\ufffd met them." in pq.read_table(out)["documents"].to_pylist()[0][0]["text"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*LEAD,), "nowhere to write.*--out"),
        (("--out", "x"), "either a --model or a --compressor"),
        ((*LEAD, "--model", "m", "--out", "x"), "either a --model or a --compressor"),
        (("--compressor", "lead", "--out", "x"), "--compressor and --level go together"),
        (("--model", "m", "--level", "1", "--out", "x"), "--compressor and --level go together"),
        ((*LEAD, "--prompt", "p", "--out", "x"), "--prompt goes with --model"),
        (
            ("--compressor", "lead", "--level", "1.5", "--out", "x"),
            "could be a fraction or percent",
        ),
        (("--compressor", "lead", "--level", "0", "--out", "x"), "level must be greater than 0"),
        (
            (*LEAD, "--retries", "2", "--out", "x"),
            "--retries is no option of the compressor 'lead'",
        ),
    ],
)
def test_options_that_do_not_go_together(
    options: tuple[str, ...], said: str, dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = called("compress", dump, *options)
    assert done.returncode == 2
    assert re.search(said, done.stderr), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["dump.jsonl"]


def test_options_have_bounds_in_python() -> None:
    with pytest.raises(oq.OdqaError, match=r"--level has to be .*at most 1"):
        CompressJob("dump", out="x", compressor="lead", level=2.0)
    with pytest.raises(oq.OdqaError, match="--context has to be one of auto, summary, documents"):
        AnswerJob("dump", "m", "x", context="all")  # type: ignore[arg-type]
