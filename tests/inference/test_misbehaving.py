"""Covers: an endpoint's replies that are none, and bodies of any kind, through all that reads them.

Compared against: what the endpoint was told to play; for random bodies, that every row has a reply
or a counted reason. Run: pytest tests/inference/test_misbehaving.py
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import ChatServer, Play, chat_server
from hypothesis import given, settings
from hypothesis import strategies as st
from misbehaving_server import FAULTS, KEY, RETRIES, mark, misbehaving_server
from program import write_jsonl

import odqa_fast as oq
from odqa_fast.inference.cached import CachedEngine
from odqa_fast.inference.chat import NoCompletionError, read_completion
from odqa_fast.inference.engine import Reply, Request
from odqa_fast.inference.http import HttpEngine
from odqa_fast.inference.open import open_engine
from odqa_fast.inference.options import EngineOptions
from odqa_fast.inference.replies import ReplyStore
from odqa_fast.judge.files import JudgeOptions, judge_file
from odqa_fast.judge.rubric import make_rubrics
from odqa_fast.protocol.files import Parts, levels_file
from odqa_fast.protocol.levels import parse_levels
from odqa_fast.protocol.questions import generate_questions
from odqa_fast.protocol.ratio import RatioRule, length_in
from odqa_fast.protocol.run_levels import LevelsOptions


class Time:
    now = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_every_request_has_its_reply_or_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODQA_FAST_API_KEY", KEY)
    waits = Time()
    # Of an open thought it says so, and whoever asks decides.
    faults = [fault for fault in FAULTS if fault.name != "thinking"]
    with misbehaving_server("Ada") as server:
        engine = HttpEngine(
            server.engine(),
            EngineOptions(retries=RETRIES, timeout_seconds=0.7),
            clock=waits.clock,
            sleep=waits.sleep,
        )
        assert engine.signature.endswith("#test-judge;temperature:0")
        with pytest.warns(oq.OdqaWarning, match="does not take temperature:"):
            replies = dict(engine.generate([Request(mark(fault)) for fault in faults]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it was said
            again = dict(engine.generate([Request(mark(faults[0]))]))
    for at, fault in enumerate(faults):
        reply, text = replies[at], fault.text("Ada")
        outcome = (reply.text, reply.finish, reply.error.partition(":")[0])
        assert outcome == (text or "", "error" if fault.kind else "stop", fault.kind), fault.name
        assert KEY not in reply.error
    counted = {fault.name: replies[at].tokens_in for at, fault in enumerate(faults)}
    assert (counted["none"], counted["huge-usage"], counted["odd-usage"]) == (10, 0, 0)
    assert again[0].text == "Ada"
    assert "temperature" not in server.bodies[-1]
    assert engine.signature.endswith("#test-judge;temperature:unset")


# Any body

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["stop", "length", "\ud800", "text", {"type": "text", "text": "a"}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "error", "text", "verdict"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A body of a chat completion with some of it replaced by anything."""
    content: Any = draw(
        st.sampled_from(
            ["Ada", '{"verdict": "correct"}', '{"questions": [{"question": "Who?", "answer": 7}]}']
        )
    )
    message = {"role": "assistant", "content": content}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    body: Any = {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    places = [body, choice, message, body["usage"]]
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.sampled_from(places))
        name = draw(st.sampled_from([*place, "error", "refusal", "object"]))
        place[name] = draw(json_values)
    body = draw(st.just(body) | json_values)
    written = json.dumps(body).encode()
    return written[: draw(st.just(len(written)) | st.integers(0, len(written)))]


REQUEST = Request("Who?", prefill="{", stop=("\n",))


def is_sound(reply: Reply) -> bool:
    counts = (reply.tokens_in, reply.tokens_out)
    return (
        reply.text.encode().decode() == reply.text
        and all(type(n) is int and 0 <= n < 1 << 62 for n in counts)
        and (bool(reply.text.strip()) if reply.finish != "error" else bool(reply.error))
    )


@given(bodies())
def test_a_body_is_a_reply_or_a_reason(body: bytes) -> None:
    try:
        reply = read_completion(body, REQUEST, 1.0)
    except NoCompletionError:
        return
    assert is_sound(reply)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_json_are_no_completion(body: bytes) -> None:
    with pytest.raises(NoCompletionError):
        read_completion(b"{" + body, REQUEST, 1.0)


GOOD = json.dumps({"verdict": "correct", "questions": []})


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server(Play(GOOD)) as running:
        yield running


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(
        tmp_path_factory.mktemp("any") / "dump.jsonl",
        [
            {
                "id": name,
                "question": f"Who is {name}?",
                "answers": ["Ada"],
                "prediction": name,
                "documents": [f"Ada is {name}. Nobody else was there."],
            }
            for name in ("Unbroken", "Broken", "Torn")
        ],
    )


def play(server: ChatServer, body: bytes) -> None:
    """Let the endpoint give a body to all but the first row."""

    def script(asked: dict[str, Any], before: int) -> Play:
        return Play(GOOD) if "Unbroken" in asked["messages"][-1]["content"] else Play(body=body)

    server.script = script


ONCE = EngineOptions(retries=0)


@given(body=bodies())
@settings(max_examples=12)
def test_any_body_through_judge(
    server: ChatServer, dump: Path, tmp_path_factory: pytest.TempPathFactory, body: bytes
) -> None:
    play(server, body)
    cache = ReplyStore(tmp_path_factory.mktemp("judge") / "c")
    engine = CachedEngine(open_engine(server.engine(), ONCE), cache)
    judged = judge_file(dump, [engine], make_rubrics(["correctness"], {}, 0.5), JudgeOptions())
    cache.close()
    found = judged.table.select(["judge.label", "judge.failure"]).to_pylist()
    assert found[0]["judge.label"] == "correct"
    assert all(row["judge.label"] or row["judge.failure"] for row in found)


@given(body=bodies())
@settings(max_examples=12)
def test_any_body_through_compress_and_answer(
    server: ChatServer, dump: Path, tmp_path_factory: pytest.TempPathFactory, body: bytes
) -> None:
    play(server, body)
    folder = tmp_path_factory.mktemp("stages")
    oq.compress_file(dump, server.engine(), folder / "c.parquet", how=ONCE)
    oq.answer_file(dump, server.engine(), folder / "a.parquet", how=ONCE)
    for file, column, error in (
        ("c.parquet", "summary", "compressor_error"),
        ("a.parquet", "prediction", "reader_error"),
    ):
        rows = pq.read_table(folder / file).to_pylist()
        assert rows[0][column] == GOOD
        assert all((row[column] is None) == bool(row[error]) for row in rows)


@given(body=bodies())
@settings(max_examples=8)
def test_any_body_through_levels(server: ChatServer, dump: Path, body: bytes) -> None:
    play(server, body)
    options = LevelsOptions(parse_levels(["0.9"]), RatioRule(length_in("chars")))
    name = server.engine()
    summary = levels_file(dump, options, Parts(name, name, engine=ONCE))
    (level,) = summary["levels"]["text"]["levels"]
    assert 0 <= level["score"] <= 1
    assert sum(level["reasons"].values()) <= 3


@given(body=bodies())
@settings(max_examples=12)
def test_any_body_through_generated_questions(server: ChatServer, body: bytes) -> None:
    play(server, body)
    texts = ["Ada is Unbroken.", "Ada is Broken.", "Ada is Torn."]
    made = dict(generate_questions(texts, open_engine(server.engine(), ONCE), 2))
    assert sorted(made) == [0, 1, 2]
    assert all(made[at].questions or made[at].dropped for at in (1, 2))
