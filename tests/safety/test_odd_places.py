"""Covers: outputs that name no place, caches that cannot be written, runs that a signal ends.

Compared against: the exit codes of the README, and what lay there before.
Run: pytest tests/safety/test_odd_places.py
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from island import rows
from program import COMMAND, odqa_fast, refused, write_jsonl

COMMANDS = {
    "score": ["score", "DUMP"],
    "levels": ["levels", "DUMP", "--levels", "0.5", "--compressor", "lead", "--reader", "given"],
    "noise": ["noise", "DUMP", "--kind", "sentences", "--count", "1"],
    "compress": ["compress", "DUMP", "--compressor", "lead", "--level", "0.5"],
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", rows(8))


@pytest.mark.parametrize(
    ("name", "out"), [*((name, "/") for name in COMMANDS), ("score", ""), ("noise", ".")]
)
def test_an_output_without_a_name(name: str, out: str, dump: Path, tmp_path: Path) -> None:
    arguments = [str(dump) if each == "DUMP" else each for each in COMMANDS[name]]
    empty = tmp_path / "empty"
    empty.mkdir()
    here = Path.cwd()
    os.chdir(empty)
    try:
        refused(odqa_fast(*arguments, "--out", out), 2, "--out takes a name")
    finally:
        os.chdir(here)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("out", ["/", ""])
def test_an_export_without_a_name(out: str, llama: Path) -> None:
    source = llama.parent / "llama-hf"
    refused(odqa_fast("models", "export", source, "--out", out), 5, "cannot be replaced")


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    export = ("models", "export", "smollm2-135m", "--out", tmp_path / "model")
    done = odqa_fast(*export, ODQA_FAST_CACHE=str(tmp_path / "file"))
    refused(done, 5, str(tmp_path / "file"), "ODQA_FAST_CACHE")


@pytest.mark.parametrize("command", ["noise", "compress"])
def test_what_a_killed_run_left_is_removed(command: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    left = [tmp_path / f".{out.name}.partial-999999999-{number}" for number in range(2)]
    mine = tmp_path / f".{out.name}.partial-{os.getpid()}-0"
    for path in (*left, mine):
        path.write_text("half of it")
    arguments = [str(dump) if each == "DUMP" else each for each in COMMANDS[command]]
    done = odqa_fast(*arguments, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [path for path in left if path.exists()] == []
    assert mine.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_run_that_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "run"
    reading, writing = os.pipe()
    row = json.dumps({"prediction": "x", "answers": ["x"]}).encode() + b"\n"
    command = [*COMMAND, "score", "-", "--out", str(out)]
    with subprocess.Popen(
        command, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as running:
        os.close(reading)
        os.write(writing, row * 100)
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".run.partial-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.send_signal(number)
        # A read that waits is not interrupted in a C library; the signal is seen when it returns.
        os.write(writing, row)
        os.close(writing)
        stdout, stderr = running.communicate(timeout=30)
    done = subprocess.CompletedProcess(command, running.returncode, stdout, stderr)
    refused(done, 128 + number, "interrupted")
    assert list(tmp_path.iterdir()) == []


def test_a_hangup_that_is_ignored_stays_so(dump: Path, tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from odqa_fast.cli._errors import reported\n"
        "with reported(): os.kill(os.getpid(), signal.SIGHUP); print('goes on')\n"
    )
    done = subprocess.run(
        [*COMMAND[:-2], "-c", script], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (0, "goes on\n")


def test_control_characters_of_a_model_are_shown(llama: Path, tmp_path: Path) -> None:
    model = shutil.copytree(llama, tmp_path / "model")
    card = json.loads((model / "model.json").read_text())
    card["id"] = "evil\x1b[2J\x9b\u202e\rid"
    (model / "model.json").write_text(json.dumps(card))
    for command in ("show", "check"):
        done = odqa_fast("models", command, model)
        assert "evil\\u001b[2J\\u009b\\u202e\\u000did" in done.stdout
        assert [c for c in done.stdout if not c.isprintable() and c != "\n"] == []
