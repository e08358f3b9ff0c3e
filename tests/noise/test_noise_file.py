"""Covers: noise_file and its job: what it takes, tells, records and refuses.

Compared against: its own files made again from the record, counts by hand, messages.
Run: pytest tests/noise/test_noise_file.py
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from island import rows
from program import odqa_fast, refused, summary_of, write_jsonl

from odqa_fast.errors import OdqaError
from odqa_fast.noise.job import NoiseJob, noise_file
from odqa_fast.noise.written import manifest_path
from odqa_fast.runs.progress import Progress


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", rows(12))


def test_the_record_makes_the_same_files_again(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.jsonl"
    done = noise_file(dump, out, kind="documents", count=2, rare=0, seed=3, threads=2)
    assert done.counts["pieces"] == 24
    assert done.inputs[0]["path"] == str(dump)
    written = out.read_bytes(), manifest_path(out).read_bytes()
    out.unlink()
    record = json.loads(json.dumps(done.as_dict()))["job"]
    assert record.pop("command") == "noise"
    again = NoiseJob.from_table(record).run()
    assert (out.read_bytes(), manifest_path(out).read_bytes()) == written
    assert again == done


def test_it_tells_how_many_texts_are_done(dump: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    noise_file(dump, tmp_path / "noisy.jsonl", rare=0, progress=told.append)
    assert [each.done for each in told] == list(range(1, 13))
    assert {(each.total, each.unit) for each in told} == {(12, "texts")}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"generate_questions": 2}, "--generate-questions N and --model NAME go together"),
        ({"model": "m"}, "go together"),
        ({"prompt": "questions"}, "--prompt is for --generate-questions"),
        ({"retries": 2}, "--retries is no option of noise without"),
        ({"count": 1, "share": 0.5}, "exclude each other"),
        ({"share": "0.2.1"}, "no share"),
        ({"swap": True}, "for documents"),
        ({"seed": -1}, "--seed has to be 0 or more"),
        ({"max_line_bytes": 0}, "--max-line-bytes has to be 1 or more"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OdqaError, match=says):
        NoiseJob("dump.jsonl", "noisy.jsonl", **options)


@pytest.mark.parametrize("command", ["noise", "levels"])
def test_bytes_that_are_not_utf8_and_long_lines(command: str, tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", rows(4))
    longest = max(map(len, dump.read_bytes().splitlines()))
    dump.write_bytes(dump.read_bytes().replace(b"Who built", b"Who \xffbuilt", 1))
    arguments = (command, dump, "--out", tmp_path / "out", "--format", "json")
    refused(odqa_fast(*arguments), 3, f"{dump}, line 1", "UTF-8")
    summary = summary_of(odqa_fast(*arguments, "--encoding-errors", "replace"))
    assert (summary["counts"]["rows"], summary["counts"]["replaced_encodings"]) == (4, 1)
    assert any("not UTF-8" in note for note in summary["notes"])
    dump = write_jsonl(dump, [*rows(4), {**rows(1)[0], "id": "long", "context": "x" * longest}])
    limited = ("--max-line-bytes", longest + 1)
    refused(odqa_fast(*arguments, *limited), 3, f"{dump}, line 5")
    summary = summary_of(odqa_fast(*arguments, *limited, "--on-error", "skip"))
    assert (summary["counts"]["rows"], summary["counts"]["rejected"]) == (4, 1)


@pytest.mark.parametrize("command", ["noise", "levels"])
def test_every_format_shows_the_run(command: str, dump: Path, tmp_path: Path) -> None:
    shown = {
        fmt: odqa_fast(command, dump, "--out", tmp_path / "out", "--format", fmt).stdout
        for fmt in ("json", "csv", "table")
    }
    summary = json.loads(shown["json"])
    lines = list(csv.DictReader(shown["csv"].splitlines()))
    assert f"rows {summary['counts']['rows']}" in shown["table"]
    if command == "noise":
        assert [int(line["pieces"]) for line in lines] == [summary["counts"]["pieces"]]
    else:
        levels = summary["levels"]["text"]["levels"]
        assert [float(line["score"]) for line in lines] == [level["score"] for level in levels]
        assert f"{summary['metrics']['level_score']['mean']:.6f}" in shown["table"]
