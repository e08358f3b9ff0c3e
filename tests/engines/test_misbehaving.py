"""Covers: an endpoint's replies that are none, and bodies of any kind as they are read; through the
commands: tests/safety/test_odd_bodies.py.

Compared against: what the endpoint was told to play; for random bodies, that there is a reply or a
reason. Run: pytest tests/engines/test_misbehaving.py
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from misbehaving_server import FAULTS, KEY, RETRIES, mark, misbehaving_server

import odqa_fast as oq
from odqa_fast.engines.backends.http import HttpEngine
from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.chat import NoCompletionError, read_completion
from odqa_fast.engines.options import EngineOptions


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
