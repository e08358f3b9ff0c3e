"""Covers: answer, compress, levels and generated questions through an endpoint that fails in every
way, and the scores of what they write.

Compared against: what the endpoint was told to play, row by row (`misbehaving_server.FAULTS`).
Run: pytest tests/cli/test_misbehaving_endpoints.py
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import ChatServer
from misbehaving_server import FAULTS, KEY, RETRIES, mark, misbehaving_server
from program import Done, odqa_fast, rows_of, summary_of, write_jsonl

GOOD = "Ada"
FAILED = [fault for fault in FAULTS if fault.kind]
N, N_FAILED = len(FAULTS), len(FAILED)
KINDS = Counter(fault.kind for fault in FAILED)
#: Of a thought without an end, generated questions keep the first reply as well; readers and
#: compressors keep what their asking came to, which is a failure.
N_THOUGHTS = 1
#: The one text that comes is no exact match: U+FFFD stands behind it. Asterisks are punctuation.
N_EXACT = N - N_FAILED - 1


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    rows = [
        {
            "id": fault.name,
            "question": f"Who is {mark(fault)}?",
            "answers": [GOOD],
            "prediction": GOOD,
            "documents": [f"Ada wrote to {mark(fault)} of sand and of many other things."],
        }
        for fault in FAULTS
    ]
    return write_jsonl(tmp_path / "dump.jsonl", rows)


def through(server: ChatServer, folder: Path, command: str, *arguments: object) -> Done:
    done = odqa_fast(
        *(command, *arguments, "--timeout", 1, "--retries", RETRIES, "--format", "json"),
        *("--cache", folder / "cache.sqlite"),
        ODQA_FAST_API_KEY=KEY,
    )
    assert KEY not in done.stdout + done.stderr
    assert all(KEY.encode() not in path.read_bytes() for path in folder.rglob("*.*"))
    return done


def asked(server: ChatServer) -> list[str]:
    """The faults that an endpoint was asked about since the last time, sorted."""
    with server.lock:
        bodies = server.bodies.copy()
        server.bodies.clear()
    found = {name for body in bodies for name in re.findall(r"fault-(.+?)-end", json.dumps(body))}
    return sorted(found)


def kind(error: str | None) -> str:
    return (error or "").partition(":")[0]


def says_why(summary: dict[str, Any], done: Done, sentence: str) -> None:
    """Of all failures, one note, with the first reasons; also to whoever looks at the terminal."""
    (note,) = [note for note in summary["notes"] if note.startswith(sentence)]
    assert f"note: {note}" in done.stderr
    assert note.count(";") == 2


@pytest.mark.parametrize(
    ("command", "column", "step", "metric", "n_right"),
    [
        ("answer", "prediction", "reader", "em", N_EXACT),
        ("compress", "summary", "compressor", "par", N - N_FAILED),
    ],
)
def test_steps(
    command: str, column: str, step: str, metric: str, n_right: int, dump: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    with misbehaving_server(GOOD) as server:
        run = (server, tmp_path, command, dump, "--model", server.engine(), "--out", out)
        done = through(*run)
        assert asked(server) == sorted(fault.name for fault in FAULTS)
        summary, table = summary_of(done), pq.read_table(out).to_pylist()
        # The same again asks what failed, and only that.
        again = through(*run, "--strict")
        assert asked(server) == sorted(fault.name for fault in FAILED)
    for fault, row in zip(FAULTS, table, strict=True):
        assert row["id"] == fault.name
        assert (row[column], kind(row[f"{step}_error"])) == (fault.text(GOOD), fault.kind), fault
        assert row[f"{step}_thought"] == fault.thought(GOOD), fault
        assert (row[f"{step}_finish"] == "error") == bool(fault.kind), fault
    counts = {"rows": N, "asked": N, "distinct": N, "failed": N_FAILED, "finish_error": N_FAILED}
    counts |= {f"error_{name.replace(' ', '_')}": n for name, n in KINDS.items()}
    assert counts.items() <= summary["counts"].items()
    says_why(summary, done, f"{N_FAILED} rows failed and have no {column} (")
    assert again.returncode == 1
    assert f"{N_FAILED} rows failed, and --strict was given" in again.stderr
    assert json.loads(again.stdout)["counts"]["kept_from_before"] == N - N_FAILED
    same = [column, f"{step}_thought", f"{step}_finish"]
    for before, after in zip(table, pq.read_table(out).to_pylist(), strict=True):
        assert [before[name] for name in same] == [after[name] for name in same]

    for failed, n in (("zero", N), ("null", N - N_FAILED)):
        scored = odqa_fast("score", out, "-m", metric, "--failed", failed, "--format", "json")
        scores = summary_of(scored)
        assert scores["metrics"][metric]["n_scored"] == n
        assert scores["metrics"][metric]["mean"] == pytest.approx(n_right / n)
        name = "failed_predictions" if column == "prediction" else "failed_summaries"
        assert scores["counts"][name] == N_FAILED
        assert any(note.startswith(f"{N_FAILED} {name[7:]}") for note in scores["notes"])


def _read_by_it(server: ChatServer) -> tuple[object, ...]:
    return "--compressor", "none", "--reader", server.engine()


def _compressed_by_it(server: ChatServer) -> tuple[object, ...]:
    return "--compressor", server.engine(), "--reader", "given"


@pytest.mark.parametrize(
    ("roles", "what", "column", "said", "n_right"),
    [
        (_read_by_it, "answers", "prediction", "no answer", N_EXACT),
        (_compressed_by_it, "compressions", "summary", "no summary", N - N_FAILED),
    ],
)
def test_levels(
    roles: Callable[[ChatServer], tuple[object, ...]],
    what: str,
    column: str,
    said: str,
    n_right: int,
    dump: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    with misbehaving_server(GOOD) as server:
        run = ("levels", dump, "--levels", "1", "--metric", "em", *roles(server), "--out", out)
        done = through(server, tmp_path, *run)
        assert asked(server) == sorted(fault.name for fault in FAULTS)
        summary, table = summary_of(done), rows_of(out)
        again = through(server, tmp_path, *run, "--strict")
        assert asked(server) == sorted(fault.name for fault in FAILED)
    for fault, row in zip(FAULTS, table, strict=True):
        assert row["id"] == fault.name
        assert row[column] == fault.text(GOOD), fault
        reason = f"{said}: {fault.kind}" if fault.kind else ""
        assert (row["reason"] or "").startswith(reason)
        assert bool(row["reason"]) == bool(fault.kind)
        is_right = not fault.kind and (column == "summary" or fault.name != "surrogate")
        assert row["score"] == is_right, fault
    assert summary["counts"][f"failed_{what}"] == N_FAILED
    assert summary["metrics"]["level_score"]["mean"] == pytest.approx(n_right / N)
    sentence = "questions have no answer" if what == "answers" else "compressions failed"
    says_why(summary, done, f"{N_FAILED} {sentence} and score 0 (")
    assert again.returncode == 1
    assert f"{N_FAILED} {what} failed, and --strict was given" in again.stderr
    kept = json.loads(again.stdout)["counts"]["kept_from_before"]
    assert kept == N - N_FAILED
    seconds = re.compile("_seconds$")
    for before, after in zip(table, rows_of(out), strict=True):
        for name, value in before.items():
            assert seconds.search(name) or name == "reason" or after[name] == value


def test_generated_questions(dump: Path, tmp_path: Path) -> None:
    good = json.dumps({"questions": [{"question": "Who wrote?", "answer": GOOD}]})
    out, pool = tmp_path / "noisy.jsonl", tmp_path / "pool.txt"
    pool.write_text("It rained on the old harbour all day.\n")
    with misbehaving_server(good) as server:
        run = (
            *("noise", dump, "--pool", pool, "--generate-questions", 1, "--out", out),
            *("--model", server.engine()),
        )
        done = through(server, tmp_path, *run)
        assert asked(server) == sorted(fault.name for fault in FAULTS)
        again = summary_of(through(server, tmp_path, *run))
        assert asked(server) == sorted(fault.name for fault in FAILED)
    summary = summary_of(done)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [fault.name for fault in FAULTS if not fault.kind]
    for row in rows:
        assert (row["questions"], row["answers"]) == (["Who wrote?"], [[GOOD]])
    assert summary["questions"]["kept"] == again["questions"]["kept"] == N - N_FAILED
    assert summary["questions"]["dropped"] == {**KINDS, "texts without questions": N_FAILED}
    says_why(summary, done, f"{N_FAILED} texts got no reply (")
    assert again["questions"]["kept_from_before"] == N - N_FAILED + N_THOUGHTS
