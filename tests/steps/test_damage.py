"""Covers: stores of replies that are damaged: what is written equals what an undisturbed run
writes, and no more is asked again than was lost. All commands: tests/safety/test_keeping.py.

Compared against: an undisturbed run; what the model was asked.
Run: pytest tests/steps/test_damage.py
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import Play, chat_server
from damages import DAMAGES, flipped
from program import COMMAND, odqa_fast, refused, write_jsonl

from odqa_fast.engines.base import Prepared, Query, Reply
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.io.parquet_parts import PartFiles
from odqa_fast.steps.contexts import make_answer_step
from odqa_fast.steps.job import AnswerJob
from odqa_fast.steps.run import run_step

N_DAMAGES = 4

ROWS = [{"id": str(n), "question": f"Question {n}?", "system": "x"} for n in range(150)]


class Echo:
    """Replies with the question, at some length; notes what it was asked."""

    id = "echo"
    signature = "echo/1"
    needs_question = True

    def __init__(self, stop_after: int | None = None) -> None:
        self.facts: dict[str, object] = {}
        self.asked: list[str] = []
        self._stop_after = stop_after

    def prepare(self, query: Query) -> Prepared:
        return Prepared(query.question)

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        for at, question in enumerate(requests):
            if len(self.asked) == self._stop_after:
                raise KeyboardInterrupt
            self.asked.append(question)
            yield at, Reply(f"{question} is an answer. " * 8, "stop", 3, 4, 0.5)

    def close(self) -> None:
        pass


def go(dump: Path, out: Path, echo: Echo) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job = AnswerJob(dump, "echo", out, timing="each", resume=True)
        run_step(job, make_answer_step(), lambda: echo)
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return rows


# Damage


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dump and a run of it that was stopped after 120 of 150 replies."""
    folder = tmp_path_factory.mktemp("stopped")
    dump = write_jsonl(folder / "dump.jsonl", ROWS)
    with pytest.raises(KeyboardInterrupt):
        go(dump, folder / "out.parquet", Echo(stop_after=120))
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_costs_only_what_was_lost(
    damage: Callable[[bytearray, random.Random], None], stopped: Path, tmp_path: Path
) -> None:
    undisturbed = go(stopped / "dump.jsonl", tmp_path / "whole.parquet", Echo())
    kept_some = 0
    for seed in range(N_DAMAGES):
        folder = tmp_path / str(seed)
        shutil.copytree(stopped, folder)
        store = folder / "out.parquet.parts" / "replies.sqlite"
        data = bytearray(store.read_bytes())
        damage(data, random.Random(seed))
        store.write_bytes(data)
        echo = Echo()
        rows = go(folder / "dump.jsonl", folder / "out.parquet", echo)
        assert rows == undisturbed, seed
        assert len(echo.asked) == len(set(echo.asked)), seed
        assert len(echo.asked) >= 30
        kept_some += len(echo.asked) < 150
        assert sorted(os.listdir(folder)) == ["dump.jsonl", "out.parquet"]
    # A file that lost a part is not lost.
    assert kept_some > 0


def test_a_head_that_is_lost_costs_nothing(stopped: Path, tmp_path: Path) -> None:
    """All that the first page tells of the others is known."""
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    store = folder / "out.parquet.parts" / "replies.sqlite"
    data = store.read_bytes()
    store.write_bytes(bytes(100) + data[100:])
    echo = Echo()
    rows = go(folder / "dump.jsonl", folder / "out.parquet", echo)
    assert rows == go(stopped / "dump.jsonl", tmp_path / "whole.parquet", Echo())
    assert len(echo.asked) == 30
    assert sorted(os.listdir(folder)) == ["dump.jsonl", "out.parquet"]


def test_a_damaged_log_costs_only_what_was_lost(tmp_path: Path) -> None:
    """What a killed process leaves: the replies are in the write-ahead log alone."""
    dump = write_jsonl(tmp_path / "dump.jsonl", ROWS)
    undisturbed = go(dump, tmp_path / "whole.parquet", Echo())
    source = tmp_path / "source"
    source.mkdir()
    store = ReplyStore(source / "replies.sqlite")
    for n in range(120):
        question = f"Question {n}?"
        reply = Reply(f"{question} is an answer. " * 8, "stop", 3, 4, 0.5)
        store.keep("echo/1|timing:each", question, reply, "echo/1")
    for seed in range(N_DAMAGES):
        parts = tmp_path / f"{seed}.parquet.parts"
        parts.mkdir()
        for file in source.iterdir():
            shutil.copy(file, parts)
        log = parts / "replies.sqlite-wal"
        data = bytearray(log.read_bytes())
        flipped(data, random.Random(seed))
        log.write_bytes(data)
        assert go(dump, tmp_path / f"{seed}.parquet", Echo()) == undisturbed
    store.close()


def test_a_wrong_reply_is_never_taken(stopped: Path, tmp_path: Path) -> None:
    """A record that SQLite finds nothing wrong with, and that is not what was written."""
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    with sqlite3.connect(folder / "out.parquet.parts" / "replies.sqlite") as file:
        another = "replace(reply, 'answer', 'ansver')"
        file.execute(f"update replies set reply = {another} where number = 7")
        file.execute("update replies set engine = 'another' where number = 8")
    file.close()
    echo = Echo()
    rows = go(folder / "dump.jsonl", folder / "out.parquet", echo)
    assert rows == go(stopped / "dump.jsonl", tmp_path / "whole.parquet", Echo())
    assert len(echo.asked) == 30 + 2


# Several at once


def test_one_process_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    dump = write_jsonl(tmp_path / "dump.jsonl", ROWS[:2])
    hold = threading.Event()

    def play(body: dict[str, Any], before: int) -> Play:
        hold.wait(30)
        return Play("x")

    with chat_server(play) as server:
        command = ("answer", dump, "--model", server.engine(), "--out", out)
        first = subprocess.Popen(
            [*COMMAND, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while not server.bodies:
            time.sleep(0.01)
        for resume in ([], ["--resume"]):
            refused(odqa_fast(*command, *resume), 5, "another process is writing it")
        hold.set()
        first.communicate()
    assert first.returncode == 0
    assert pq.read_table(out)["prediction"].to_pylist() == ["x", "x"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    parts = PartFiles(tmp_path / "out.parquet", resume=False)
    (parts.folder / "something").write_text("x")
    parts.leave()
    PartFiles(tmp_path / "out.parquet", resume=True).leave()
