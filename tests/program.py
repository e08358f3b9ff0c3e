"""Runs the program as a user would: its own process, its exit code, both its streams."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

COMMAND = [sys.executable, "-P", "-m", "odqa_fast"]

#: A child's peak is told to its parent, and begins with the parent's own: so a small one is needed.
_PEAK = """
import pathlib, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
pathlib.Path(sys.argv[1]).write_text(str(peak))
sys.exit(code)
"""

Done = subprocess.CompletedProcess[str]


def odqa_fast(*arguments: object, stdin: Path | None = None, **env: str) -> Done:
    command = [*COMMAND, *map(str, arguments)]
    return _run(command, stdin, env)


def measured(*arguments: object, folder: Path) -> tuple[Done, float]:
    """Run the program; also return its peak memory in MB, by way of a note in a folder."""
    note = folder / "peak"
    command = [sys.executable, "-c", _PEAK, str(note), *COMMAND, *map(str, arguments)]
    done = _run(command, None, {})
    peak = int(note.read_text()) / 1024
    note.unlink()
    return done, peak


def called(*arguments: object) -> Done:
    """Run the program in this process: its command line, codes and streams without its start."""
    from odqa_fast.cli.main import app

    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    command = list(map(str, arguments))
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            app(command)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Done(command, code, stdout.getvalue(), stderr.getvalue())


def _run(command: list[str], stdin: Path | None, env: dict[str, str]) -> Done:
    with open(stdin or os.devnull, "rb") as source:
        return subprocess.run(
            command,
            stdin=source,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **env},
            check=False,
        )


def refused(done: Done, code: int, *said: str) -> None:
    """Check that a run ended with one clear line and nothing else."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("odqa-fast: ")
    assert done.stderr.rstrip("\n").isprintable()
    for words in said:
        assert words in done.stderr


def summary_of(done: Done) -> dict[str, Any]:
    """The summary of a run that went well, which holds nothing that strict JSON has not."""
    assert done.returncode == 0, done.stderr

    def fail(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    summary: dict[str, Any] = json.loads(done.stdout, parse_constant=fail)
    return summary


def rows_of(run: Path) -> list[dict[str, Any]]:
    """The rows of a run, without where they come from."""
    where = ("source", "place", "question_hash")
    table = pq.read_table(run / "scores.parquet")
    rows: list[dict[str, Any]] = table.drop_columns(
        [name for name in where if name in table.column_names]
    ).to_pylist()
    return rows


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path
