"""Covers: options of models on the command line, and judging through an endpoint that misbehaves.

Compared against: what the endpoint was sent, and what it was told to play.
Run: pytest tests/cli/test_endpoints.py
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import Play, chat_server
from misbehaving_server import FAULTS, KEY, RETRIES, mark, misbehaving_server
from program import odqa_fast, refused, summary_of, write_jsonl

GOOD = json.dumps({"explanation": "So it is.", "verdict": "correct"})


def test_a_judge_that_misbehaves_costs_no_row_and_makes_none_up(tmp_path: Path) -> None:
    dump = write_jsonl(
        tmp_path / "dump.jsonl",
        [
            {"id": fault.name, "question": "Who?", "answers": ["Ada"], "prediction": mark(fault)}
            for fault in FAULTS
        ],
    )
    out, cache = tmp_path / "run", tmp_path / "c"
    with misbehaving_server(GOOD) as server:
        arguments = (
            "judge", dump, "--provider", server.engine(), "--cache", cache, "--timeout", 0.7,
            "--retries", RETRIES,
        )  # fmt: skip
        done = odqa_fast(*arguments, "--out", out, ODQA_FAST_API_KEY=KEY)
        first = len(server.bodies)
        again = summary_of(odqa_fast(*arguments, ODQA_FAST_API_KEY=KEY))
    summary = summary_of(done)
    rows = {row["id"]: row for row in pq.read_table(out / "scores.parquet").to_pylist()}
    assert [(name, row["judge.label"] or row["judge.failure"]) for name, row in rows.items()] == [
        (fault.name, fault.kind or "correct") for fault in FAULTS
    ]
    failed = [fault for fault in FAULTS if fault.kind]
    metric = summary["metrics"]["judge"]
    assert (metric["n_scored"], metric["n_failed"]) == (len(FAULTS) - len(failed), len(failed))
    assert "the upstream is down" in rows["error"]["judge.explanation"]
    # Said once, and in the signature: also of the replies that were kept.
    assert done.stderr.count("does not take temperature:") == 1
    for each in (summary, again):
        assert f"{server.engine()};temperature:unset|" in each["metrics"]["judge"]["signature"]
    # Only what failed was asked again; a reply that was cut off is kept as such.
    assert again["judge"]["usage"]["cache_hits"] >= len(FAULTS) - len(failed)
    assert len(server.bodies) - first < first
    for path in (out / "scores.parquet", out / "summary.json", cache):
        assert KEY.encode() not in path.read_bytes()
    assert KEY not in done.stdout + done.stderr


def test_requests_that_cannot_succeed_stop(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"Who is {n}?", "answers": ["Ada"]} for n in range(60)]
    dump = write_jsonl(tmp_path / "d.jsonl", rows)
    with chat_server(Play("the field 'user' has to be an object", 400)) as server:
        done = odqa_fast(
            "answer", dump, "--model", server.engine(), "--out", tmp_path / "a.parquet"
        )
    refused(done, 4, "refuses every request", "the field 'user' has to be an object")
    # Eight are under way at a time.
    assert 5 <= len(server.bodies) <= 5 + 8


OPTIONS = (
    "--temperature", 0.7, "--top-p", 0.9, "--seed", 3, "--thinking", "off", "--timing", "each",
    "--key-env", "MY_KEY", "--timeout", 20, "--retries", 1, "--request-field",
    "reasoning_effort=low", "--request-field", "top_k=5",
)  # fmt: skip


@pytest.mark.parametrize("command", ["judge", "answer", "compress", "levels", "noise"])
def test_options_of_models_go_with_every_command(command: str, tmp_path: Path) -> None:
    rows = [
        {
            "id": str(n),
            "question": f"Who is {n}?",
            "answers": ["Ada"],
            "prediction": f"Ada {n}",
            "documents": [f"Ada is number {n}. Glass of kind {n} is made from sand."],
        }
        for n in range(4)
    ]
    dump, out = write_jsonl(tmp_path / "d.jsonl", rows), tmp_path / "out.parquet"
    most, now, lock = 0, 0, threading.Lock()

    def script(body: dict[str, Any], before: int) -> Play:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        asked = [{"question": f"Who is it, {before}?", "answer": "Ada"}]
        return Play(json.dumps({"verdict": "correct", "questions": asked}))

    with chat_server(script) as server:
        name = server.engine()
        arguments: dict[str, tuple[object, ...]] = {
            "judge": ("--provider", name, "--cache", tmp_path / "c"),
            "answer": ("--model", name, "--out", out),
            "compress": ("--model", name, "--out", out),
            "levels": ("--compressor", "lead", "--reader", name, "--levels", "0.9", "--out", out),
            "noise": (
                "--model",
                name,
                "--generate-questions",
                1,
                "--rare",
                0,
                "--out",
                tmp_path / "n.jsonl",
            ),
        }
        summary = summary_of(odqa_fast(command, dump, *arguments[command], *OPTIONS, MY_KEY=KEY))
    assert most == 1
    for body, headers in zip(server.bodies, server.headers, strict=True):
        assert (body["temperature"], body["top_p"], body["seed"]) == (0.7, 0.9, 3)
        assert (body["reasoning_effort"], body["top_k"]) == ("low", 5)
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert headers["authorization"] == f"Bearer {KEY}"
    signature = json.dumps(summary)
    assert f"{name};temperature:0.7,top_p:0.9,seed:3,fields:" in signature
    for part in ("enable_thinking", "reasoning_effort", "top_k"):
        assert part in signature
    if command not in ("judge", "noise"):
        file = out / "scores.parquet" if command == "levels" else out
        names = pq.read_schema(file).names
        assert f"{'compressor' if command == 'compress' else 'reader'}_seconds" in names
        assert not [name for name in names if "amortized" in name]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["answer", "--model", "HTTP", "--rows", "4"], "--rows is no option of http:"),
        (["answer", "--model", "HTTP", "--device", "cpu"], "--device is no option of http:"),
        (["answer", "--model", "HTTP", "--threads", "2"], "--threads is no option of http:"),
        (["judge", "--provider", "onnx:m", "--key-env", "K"], "--key-env is no option of onnx:m"),
        (["judge", "--provider", "onnx:m", "--timeout", "9"], "--timeout is no option of onnx:m"),
        (["judge", "--provider", "HTTP", "--rows", "9"], "--rows is no option of http:"),
        (["levels", "--reader", "HTTP", "--threads", "2"], "--threads is no option of bm25 or"),
        (["levels", "--temperature", "1"], "--temperature is no option of bm25 or given"),
        (["noise", "--timeout", "9"], "--timeout is no option of noise without --generate-q"),
        (
            ["answer", "--model", "HTTP", "--timing", "each", "--concurrency", "2"],
            "--concurrency goes with --timing batch",
        ),
        (["answer", "--model", "HTTP", "--request-field", "top_k"], "is no NAME=VALUE"),
        (["answer", "--model", "HTTP", "--request-field", "model=x"], "sets no 'model'"),
        (["answer", "--model", "HTTP", "--request-field", "temperature=1"], "--temperature"),
    ],
)
def test_an_option_without_use_is_refused_by_name(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    row = {"question": "Who?", "answers": ["Ada"], "prediction": "Ada", "documents": ["Ada."]}
    dump = write_jsonl(tmp_path / "d.jsonl", [row])
    out = {"judge": ("--cache", tmp_path / "c")}.get(arguments[0], ("--out", tmp_path / "o"))
    named = [each.replace("HTTP", "http:http://127.0.0.1:9/v1#m") for each in arguments]
    if arguments[0] == "answer":
        out = ("--out", tmp_path / "o.parquet")
    refused(odqa_fast(named[0], dump, *named[1:], *out), 2, says)
