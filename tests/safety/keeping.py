"""Attacks on commands that keep replies: `python keeping.py "WAY COMMAND" FIRST LAST`.

A number is one run that is killed at a random moment (`kill`) or told to end while it asks (`end`,
SIGTERM or SIGHUP), or one kept store that is damaged (`damage`), and then the same command again;
see fuzzing.py. It is survived where what that writes
equals what an undisturbed run writes (times aside), nothing else is left, and nothing was asked
again but what was under way or not kept. The model is an endpoint of this process.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from chat_server import ChatServer, Play, chat_server
from damages import DAMAGES
from fuzzing import each
from program import COMMAND, called, write_jsonl

N_ROWS = 50
#: As EngineOptions has it: so many requests are under way when a run is killed.
CONCURRENCY = 8
#: How long a request takes while runs are killed.
SECONDS = 0.03
#: A run is killed so often at most before it may end.
KILLS_OF_ONE = 4

STEP = ["--model", "ENGINE", "--resume", "--out", "FOLDER/out.parquet"]
CACHED = ["--cache", "FOLDER/replies.sqlite", "--out"]

COMMANDS = {
    "answer": STEP,
    "compress": STEP,
    "judge": ["--provider", "ENGINE", *CACHED, "FOLDER/run"],
    "levels": [
        *("--levels", "0.8", "--compressor", "ENGINE", "--reader", "ENGINE"),
        *(*CACHED, "FOLDER/run"),
    ],
    "noise": [
        *("--generate-questions", "1", "--model", "ENGINE", "--pool", "FOLDER/pool.txt"),
        *(*CACHED, "FOLDER/noisy.jsonl"),
    ],
}


def arguments(command: str, folder: Path, server: ChatServer) -> list[str]:
    """What the program is called with, for a folder that `fill` has filled."""
    given = [command, "FOLDER/dump.jsonl", *COMMANDS[command]]
    return [
        part.replace("FOLDER", str(folder)).replace("ENGINE", server.engine()) for part in given
    ]


def fill(folder: Path) -> Path:
    """Puts what a command reads into a new folder."""
    folder.mkdir()
    kept = "Whoever came by water at night saw the lamp, and nobody else lived there. " * 6
    rows = [
        {
            "id": str(at),
            "question": f"Who kept mill {at}?",
            "answers": [f"Ada{at}"],
            "prediction": f"Ada{at}",
            "documents": [f"Ada{at} kept the mill. {kept}"],
        }
        for at in range(N_ROWS)
    ]
    write_jsonl(folder / "dump.jsonl", rows)
    (folder / "pool.txt").write_text("It rained on the old harbour.\nNobody locked the gate.\n")
    return folder


def reply(body: dict[str, Any], before: int) -> Play:
    """A reply of use to every command, other for each request and always the same."""
    said = json.dumps(body["messages"])
    digest = hashlib.sha256(said.encode()).hexdigest()[:8]
    (name, *_) = re.findall(r"Ada\d+", said)
    written = {
        "explanation": digest,
        "verdict": "correct" if digest < "8" else "incorrect",
        "questions": [{"question": f"Who was {digest}?", "answer": name}],
    }
    return Play(json.dumps(written))


def two_thirds(body: dict[str, Any], before: int) -> Play:
    play = reply(body, before)
    return Play("not today", 413) if int(play.text.split('"')[3], 16) % 3 == 0 else play


def slowly(body: dict[str, Any], before: int) -> Play:
    time.sleep(SECONDS)
    return reply(body, before)


def run(command: str, folder: Path, server: ChatServer) -> None:
    """Runs the program in this process, to its end."""
    done = called(*arguments(command, folder, server))
    assert done.returncode == 0, done.stderr


def written(folder: Path) -> dict[str, Any]:
    """What a folder holds by name, times and stores of replies aside."""
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if "replies.sqlite" in name or path.is_dir():
            continue
        if path.suffix == ".parquet":
            rows = pq.read_table(path).to_pylist()
            found[name] = [
                {key: value for key, value in row.items() if not key.endswith("_seconds")}
                for row in rows
            ]
        elif name == "run/summary.json":
            found[name] = json.loads(path.read_text())["metrics"]
        else:
            found[name] = path.read_bytes()
    return found


class Attack:
    """A command, attacked in folders under `folder`."""

    def __init__(self, command: str, folder: Path, server: ChatServer) -> None:
        self.command, self._folder, self.server = command, folder, server
        self._n_folders = 0
        whole = self.new_folder()
        self._run(whole, reply)
        self._whole = written(whole)
        self._n_asked = len(server.bodies)
        self._killed = self.new_folder()
        self._kills = 0

    @cached_property
    def _left(self) -> tuple[Path, Path]:
        """Stores as two kinds of runs leave them: with failed rows, and killed."""
        failed, killed = self.new_folder(), self.new_folder()
        self._run(failed, two_thirds)
        self.server.bodies.clear()
        self.kill(killed, lambda: len(self.server.bodies) > N_ROWS // 2)
        return failed, killed

    def new_folder(self) -> Path:
        self._n_folders += 1
        return fill(self._folder / str(self._n_folders))

    def _run(self, folder: Path, script: Callable[[dict[str, Any], int], Play]) -> None:
        self.server.script = script
        self.server.bodies.clear()
        run(self.command, folder, self.server)

    def kill(self, folder: Path, is_time: Callable[[], bool], number: int = signal.SIGKILL) -> bool:
        """Sends a run a signal when it is time; whether it came to its end before."""
        self.server.script = slowly
        running = subprocess.Popen(
            [*COMMAND, *arguments(self.command, folder, self.server)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        while running.poll() is None and not is_time():
            time.sleep(0.002)
        running.send_signal(number)
        said = running.communicate()[1].decode()
        assert "Traceback" not in said, said
        # A run that is over already is ended by the signal itself.
        assert running.returncode in (0, -number, 128 + number), said
        if number != signal.SIGKILL:
            left = [
                p.name for p in folder.rglob("*") if ".partial-" in p.name or p.suffix == ".arrow"
            ]
            assert not left, f"left: {left}"
        return running.returncode == 0

    def killed(self, draw: random.Random, signals: Sequence[int], *, last: bool) -> None:
        """One kill; after the last of a run, what comes of it."""
        bodies = self.server.bodies
        if not self._kills:
            bodies.clear()
        self._kills += 1
        before, wait = len(bodies), draw.random() * 0.4
        number = draw.choice(signals)
        # Most while it asks; some at any moment, also before it can do anything about a signal.
        any_moment = number == signal.SIGKILL and draw.random() < 0.25
        begun = time.monotonic() if any_moment else None

        def is_time() -> bool:
            nonlocal begun
            if begun is None and len(bodies) > before:
                begun = time.monotonic()
            return begun is not None and time.monotonic() - begun > wait

        ended = self.kill(self._killed, is_time, number)
        out = self._killed / "out.parquet"
        ended |= out.exists() and not out.with_name("out.parquet.parts").exists()
        if not (ended or last or self._kills == KILLS_OF_ONE):
            return
        if not ended:
            self.server.script = reply
            run(self.command, self._killed, self.server)
        folder, kills = self._killed, self._kills
        self._killed, self._kills = self.new_folder(), 0
        self._check(folder)
        n_again = len(bodies) - self._n_asked
        assert n_again <= CONCURRENCY * kills, f"{n_again} asked again after {kills} kills"

    def damaged(self, number: int, draw: random.Random) -> None:
        """One damaged store, and what comes of it."""
        folder = self._folder / f"damaged-{number}"
        shutil.copytree(self._left[number % 2], folder)
        stores = [path for path in folder.rglob("*replies.sqlite*") if path.stat().st_size > 100]
        path = draw.choice(sorted(store for store in stores if not store.name.endswith("-shm")))
        data = bytearray(path.read_bytes())
        DAMAGES[number // 2 % len(DAMAGES)](data, draw)
        path.write_bytes(data)
        self._run(folder, reply)
        self._check(folder)
        bodies = list(map(json.dumps, self.server.bodies))
        assert len(bodies) == len(set(bodies)), "asked twice"
        shutil.rmtree(folder)

    def _check(self, folder: Path) -> None:
        found = written(folder)
        assert found.keys() == self._whole.keys(), f"left: {sorted(found)}"
        for name, content in self._whole.items():
            assert found[name] == content, f"{name} is another"


#: What a run is sent, by the way of attack.
SIGNALS: dict[str, Sequence[int]] = {
    "kill": [signal.SIGKILL],
    "end": [signal.SIGTERM, signal.SIGHUP],
}
KINDS = [f"{way} {command}" for way in (*SIGNALS, "damage") for command in COMMANDS]


def main(kind: str, first: int, last: int) -> None:
    way, command = kind.split()
    os.environ["ODQA_FAST_API_KEY"] = ""
    with tempfile.TemporaryDirectory() as folder, chat_server(reply) as server:
        attack = Attack(command, Path(folder), server)

        def attempt(number: int) -> None:
            draw = random.Random(f"{kind} {number}")
            if way in SIGNALS:
                attack.killed(draw, SIGNALS[way], last=number == last - 1)
            else:
                attack.damaged(number, draw)

        each(attempt, first, last)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
