"""Covers: kill -9 while a run is being replaced. The folder holds one run, whole.

Compared against: the two runs there can be. Run: pytest tests/safety/test_kill.py
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from program import COMMAND, odqa_fast, summary_of

N_ROWS = 20_000

#: "lake victoria basin" against "lake victoria": not equal, precision 2/3, recall 1.
MEANS = {"em": 0.0, "recall": 1.0}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    row = '{"id":"%d","prediction":"lake victoria basin","answers":["Lake Victoria"]}\n'
    path.write_text("".join(row % i for i in range(N_ROWS)))
    return path


def which(run: Path) -> str:
    """The metric of the run in a folder, after looking whether all of it is there."""
    summary = json.loads((run / "summary.json").read_text())
    table = pq.read_table(run / "scores.parquet")
    (metric,) = summary["metrics"]
    assert table.schema.names[:2] == ["id", metric]
    assert table["id"].to_pylist() == [str(i) for i in range(N_ROWS)]
    assert set(table[metric].to_pylist()) == {MEANS[metric]}
    assert summary["metrics"][metric]["mean"] == MEANS[metric]
    assert summary["counts"]["rows"] == N_ROWS
    assert sorted(os.listdir(run)) == ["scores.parquet", "summary.json"]
    return str(metric)


def partials(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name not in ("dump.jsonl", "run")]


def start(dump: Path, run: Path, metric: str) -> tuple[subprocess.Popen[bytes], Path]:
    """A run that has just begun to write, and the folder it writes into."""
    before = set(partials(run.parent))
    running = subprocess.Popen(
        [*COMMAND, "score", dump, "--metrics", metric, "--out", run],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while running.poll() is None:
        if new := set(partials(run.parent)) - before:
            return running, run.with_name(new.pop())
        time.sleep(0.0005)
    raise AssertionError("a run that writes nothing")


def test_a_killed_run_leaves_the_old_one_or_the_new_one(dump: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    rng = random.Random(13)
    summary_of(odqa_fast("score", dump, "--metrics", "em", "--out", run))
    here = which(run)
    running, _ = start(dump, run, "em")
    begun = time.monotonic()
    running.wait()
    seconds = time.monotonic() - begun
    for i in range(20):
        new = "recall" if here == "em" else "em"
        running, partial = start(dump, run, new)
        if i % 2:
            time.sleep(rng.uniform(0, seconds))
        else:
            # The last moments are the ones that matter.
            while running.poll() is None and not (partial / "summary.json").exists():
                time.sleep(0.0001)
            time.sleep(rng.uniform(0, 0.005))
        running.kill()
        running.wait()
        found = which(run)
        assert found in (here, new)
        if running.returncode == 0:
            assert found == new
        here = found
        assert all(name.startswith(".run.partial-") for name in partials(tmp_path))
    summary_of(odqa_fast("score", dump, "--metrics", "em", "--out", run))
    assert which(run) == "em"
    assert partials(tmp_path) == []


def test_only_what_nobody_uses_is_cleaned_up(dump: Path, tmp_path: Path) -> None:
    mine = tmp_path / f".run.partial-{os.getpid()}-0"
    other = tmp_path / ".run2.partial-999999999-0"
    abandoned = tmp_path / ".run.partial-999999999-0"
    for folder in (mine, other, abandoned):
        folder.mkdir()
        (folder / "scores.parquet").write_text("half of it")
    summary_of(odqa_fast("score", dump, "--out", tmp_path / "run"))
    assert sorted(partials(tmp_path)) == sorted([mine.name, other.name])
