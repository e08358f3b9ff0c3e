"""Endpoints that answer anything: `python odd_bodies.py COMMAND FIRST LAST`; see fuzzing.py.

A number stands for one body, which two of three rows get. It is survived where the third row has
what the endpoint said, and each of the two a text or a counted reason.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from chat_server import ChatServer, Play, chat_server
from fuzzing import each
from odd_models import changed
from program import write_jsonl

import odqa_fast as oq
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.opening import open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.judge.job import judge_file
from odqa_fast.levels.job import levels_file
from odqa_fast.noise.questions import generate_questions

ONCE = EngineOptions(retries=0)
GOOD = json.dumps({"verdict": "correct", "questions": []})
TEXTS = [f"Ada is {name}. Nobody else was there." for name in ("Unbroken", "Broken", "Torn")]
ROWS = [
    {
        "id": str(at),
        "question": f"Who is it? {text}",
        "answers": ["Ada"],
        "prediction": "Ada",
        "documents": [text],
    }
    for at, text in enumerate(TEXTS)
]
CONTENTS = ["Ada", GOOD, '{"questions": [{"question": "Who?", "answer": 7}]}', "<think>Ada"]


def body(rng: random.Random) -> bytes:
    """A chat completion with other values in it, sometimes cut off."""
    message = {"role": "assistant", "content": rng.choice(CONTENTS)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    written = json.dumps(changed({"choices": [choice], "usage": usage}, rng)).encode()
    return written[: rng.randrange(len(written))] if rng.random() < 0.1 else written


def judge(dump: Path, model: str, folder: Path) -> None:
    with closing(ReplyStore(folder / "replies.sqlite")) as cache:
        engine = CachedEngine(open_engine(model, ONCE), cache)
        judged = judge_file(dump, model, engines=[engine])
    found = judged.table.select(["judge.label", "judge.failure"]).to_pylist()
    assert found[0]["judge.label"] == "correct"
    assert all(row["judge.label"] or row["judge.failure"] for row in found)


def _check_step(out: Path, column: str, error: str) -> None:
    rows = pq.read_table(out).to_pylist()
    assert rows[0][column] == GOOD
    assert all((row[column] is None) == bool(row[error]) for row in rows)


def compress(dump: Path, model: str, folder: Path) -> None:
    oq.compress_file(dump, model, folder / "out.parquet", how=ONCE)
    _check_step(folder / "out.parquet", "summary", "compressor_error")


def answer(dump: Path, model: str, folder: Path) -> None:
    oq.answer_file(dump, model, folder / "out.parquet", how=ONCE)
    _check_step(folder / "out.parquet", "prediction", "reader_error")


def levels(dump: Path, model: str, folder: Path) -> None:
    summary = levels_file(
        dump,
        levels=[0.9],
        compressor=model,
        reader=model,
        retries=0,
        cache=folder / "replies.sqlite",
    )
    (level,) = summary.extras["levels"]["text"]["levels"]
    assert 0 <= level["score"] <= 1
    assert sum(level["reasons"].values()) <= len(ROWS)


def questions(dump: Path, model: str, folder: Path) -> None:
    made = dict(generate_questions(TEXTS, open_engine(model, ONCE), 2))
    assert sorted(made) == [0, 1, 2]
    assert all(made[at].questions or made[at].dropped for at in (1, 2))


COMMANDS: dict[str, Callable[[Path, str, Path], None]] = {
    "judge": judge,
    "compress": compress,
    "answer": answer,
    "levels": levels,
    "questions": questions,
}


def play(server: ChatServer, odd: bytes) -> None:
    """Lets the endpoint give a body to all but the first row."""

    def script(asked: dict[str, Any], before: int) -> Play:
        return Play(GOOD) if "Unbroken" in asked["messages"][-1]["content"] else Play(body=odd)

    server.script = script


def main(command: str, first: int, last: int) -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place, chat_server(Play(GOOD)) as server:
        dump = write_jsonl(Path(place, "dump.jsonl"), ROWS)

        def attempt(number: int) -> None:
            play(server, body(random.Random(f"{command} {number}")))
            with tempfile.TemporaryDirectory(dir=place) as folder:
                COMMANDS[command](dump, server.engine(), Path(folder))

        each(attempt, first, last)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
