"""Covers: the file of kept replies: hits, replay, several processes, a killed process, bad files.

Compared against: what an engine that counts its calls was asked.
Run: pytest tests/engines/test_replies.py
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.replies import ReplyStore, default_path
from odqa_fast.errors import DataError, EngineError, OdqaWarning, OutputError


class Echo:
    """Replies with the prompt in capitals, and remembers what it was asked."""

    max_input_tokens = None

    def __init__(self, name: str = "echo", fails: Sequence[str] = ()) -> None:
        self.id = self.signature = name
        self.asked: list[str] = []
        self._fails = fails

    def count_tokens(self, request: Request) -> int:
        return len(request.user)

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        for at, request in reversed(list(enumerate(requests))):
            self.asked.append(request.user)
            if request.user == "stop":
                raise EngineError("no more.")
            if request.user in self._fails:
                yield at, Reply("", "error", error="HTTP 500: no")
            else:
                yield at, Reply(request.user.upper(), "stop", 3, 1, 0.25)

    def close(self) -> None:
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "replies.sqlite"


def run(path: Path, engine: Echo, *texts: str, replay: bool = False) -> list[Reply]:
    cache = ReplyStore(path)
    try:
        requests = [Request(text) for text in texts]
        replies = dict(CachedEngine(engine, cache, replay=replay).generate(requests))
    finally:
        cache.close()
    assert sorted(replies) == list(range(len(texts)))
    return [replies[at] for at in range(len(texts))]


def test_the_second_run_asks_nothing(path: Path) -> None:
    first, again = Echo(), Echo()
    replies = run(path, first, "a", "b", "a")
    assert sorted(first.asked) == ["a", "b"]
    assert [reply.text for reply in replies] == ["A", "B", "A"]
    assert [reply.cached for reply in replies] == [False, False, True]
    kept = run(path, again, "b", "a")
    assert again.asked == []
    assert kept == [replace(reply, cached=True) for reply in (replies[1], replies[0])]


def test_anything_that_could_change_the_reply_is_asked_anew(path: Path) -> None:
    base = Request("a", system="s", stop=("x",), max_new_tokens=5, prompt="p/1@00", schema="{}")
    others = [
        replace(base, user="b"),
        replace(base, system="t"),
        replace(base, prefill="y"),
        replace(base, stop=("x", "y")),
        replace(base, max_new_tokens=6),
        replace(base, prompt="p/2@00"),
        replace(base, schema=""),
    ]
    cache, engine = ReplyStore(path), Echo()
    dict(CachedEngine(engine, cache).generate([base]))
    kept = CachedEngine(engine, cache).kept([base, *others])
    assert [reply and reply.text for reply in kept] == ["A", *[None] * len(others)]
    dict(CachedEngine(engine, cache).generate([base, *others]))
    assert len(engine.asked) == 1 + len(others)
    assert CachedEngine(Echo("another"), cache).kept([base]) == [None]
    cache.close()


def test_a_replay_never_asks(path: Path) -> None:
    run(path, Echo(), "a")
    silent = Echo()
    kept, missing = run(path, silent, "a", "b", replay=True)
    assert silent.asked == []
    assert kept.text == "A"
    assert (missing.finish, missing.error.partition(":")[0]) == ("error", "not in the cache")


def test_errors_are_not_kept(path: Path) -> None:
    failed, _ = run(path, Echo(fails=["a"]), "a", "b")
    assert failed.error == "HTTP 500: no"
    engine = Echo()
    assert [reply.text for reply in run(path, engine, "a", "b")] == ["A", "B"]
    assert engine.asked == ["a"]


def test_what_came_before_the_end_is_kept(path: Path) -> None:
    with pytest.raises(EngineError, match=f"no more. What came before is kept in {path}"):
        run(path, Echo(), "stop", "c", "b", "a")
    engine = Echo()
    run(path, engine, "a", "b", "c")
    assert engine.asked == []


def test_replies_can_be_looked_up(path: Path) -> None:
    run(path, Echo(), "Où?")
    with sqlite3.connect(path) as file:
        (row,) = file.execute("select engine, request, reply from replies")
    file.close()
    reply = json.loads(row[2])
    assert row[0] == "echo"
    assert (reply["text"], reply["tokens_in"], reply["seconds"]) == ("OÙ?", 3, 0.25)
    assert '"Où?"' in row[1]


CHILD = """
import sys
from pathlib import Path
from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.replies import ReplyStore
cache = ReplyStore(Path(sys.argv[1]))
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    request = Request(f"number {n}")
    cache.keep("echo", request, Reply(f"NUMBER {n}", "stop"), "echo")
    print(n, flush=True)
"""


def child(path: Path, start: int, end: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", CHILD, str(path), str(start), str(end)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_several_processes_share_a_file(path: Path) -> None:
    """Three write at once, two of them the same; none waits in vain and nothing is lost."""
    children = [child(path, 0, 200), child(path, 0, 200), child(path, 200, 400)]
    for each in children:
        assert each.communicate(timeout=60)[1] == ""
        assert each.returncode == 0
    engine = Echo()
    replies = run(path, engine, *(f"number {n}" for n in range(400)))
    assert engine.asked == []
    assert replies[399].text == "NUMBER 399"


def test_a_killed_process_leaves_whole_replies(path: Path) -> None:
    victim = child(path, 0, 1_000_000)
    assert victim.stdout is not None
    for line in victim.stdout:
        if int(line) == 50:
            os.kill(victim.pid, signal.SIGKILL)
            break
    told = [50, *(int(line) for line in victim.stdout if line.endswith("\n"))]
    victim.communicate()
    engine = Echo()
    run(path, engine, *(f"number {n}" for n in range(told[-1] + 1)))
    assert engine.asked == []
    with sqlite3.connect(path) as file:
        assert file.execute("pragma integrity_check").fetchone() == ("ok",)
    file.close()


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database, but long enough to be read as the head of one" * 5)
    with pytest.raises(DataError, match="is no cache of replies"):
        ReplyStore(text).open()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("create table mine (x)")
    file.close()
    with pytest.raises(DataError, match="--cache"):
        ReplyStore(other).open()
    with sqlite3.connect(other) as file:
        assert file.execute("select count(*) from sqlite_master").fetchone() == (1,)
    file.close()


def test_a_file_of_an_older_version_is_set_aside(path: Path) -> None:
    """It has no checksums, and may hold replies that were none."""
    path.parent.mkdir()
    with sqlite3.connect(path) as file:
        file.execute("create table replies (key blob primary key, reply text)")
        file.execute("insert into replies values (x'00', 'A')")
        file.execute("pragma user_version = 1")
    file.close()
    engine = Echo()
    with pytest.warns(OdqaWarning, match="0 replies that are whole were taken over"):
        run(path, engine, "a")
    assert engine.asked == ["a"]
    with sqlite3.connect(path.with_name("replies.sqlite.damaged")) as file:
        assert file.execute("select reply from replies").fetchall() == [("A",)]
    file.close()
    run(path, engine, "a")
    assert engine.asked == ["a"]


def test_a_damaged_reply_is_dropped_and_asked_again(path: Path) -> None:
    run(path, Echo(), "a", "b", "c")
    with sqlite3.connect(path) as file:
        file.execute("update replies set reply = replace(reply, 'B', 'X')")
    file.close()
    engine = Echo()
    with pytest.warns(OdqaWarning, match="1 replies in .* were damaged"):
        replies = run(path, engine, "a", "b", "c")
    assert [reply.text for reply in replies] == ["A", "B", "C"]
    assert engine.asked == ["b"]
    again = Echo()
    run(path, again, "a", "b", "c")
    assert again.asked == []


def test_what_made_a_reply_is_kept_with_it(path: Path) -> None:
    """An endpoint may turn out not to take a field: the reply is found by what was asked."""

    class Learning(Echo):
        def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
            self.signature = "without-temperature"
            yield from super().generate(requests)

    store = ReplyStore(path)
    first = CachedEngine(Learning("asked-as"), store)
    assert first.signature == "asked-as"
    dict(first.generate([Request("a")]))
    assert first.signature == "without-temperature"
    silent = Echo("asked-as")
    second = CachedEngine(silent, store)
    dict(second.generate([Request("a")]))
    assert silent.asked == []
    assert second.signature == "without-temperature"
    store.close()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be used"):
        ReplyStore(tmp_path / "file" / "replies.sqlite").open()
    with pytest.raises(OutputError, match="cannot be used"):
        ReplyStore(tmp_path).open()


def test_the_usual_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "odqa-fast" / "replies.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".cache" / "odqa-fast" / "replies.sqlite"
    monkeypatch.setenv("ODQA_FAST_CACHE", str(tmp_path / "mine"))
    assert default_path() == tmp_path / "mine" / "replies.sqlite"


def test_ten_thousand_replies_are_found_quickly(path: Path) -> None:
    requests = [Request(f"number {n}") for n in range(10_000)]
    cache = ReplyStore(path)
    engine = CachedEngine(Echo(), cache)
    assert len(dict(engine.generate(requests))) == 10_000
    start = time.process_time()
    assert len(dict(engine.generate(requests))) == 10_000
    assert time.process_time() - start < 2
    cache.close()
