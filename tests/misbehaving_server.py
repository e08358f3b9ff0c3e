"""A chat endpoint that fails in every way that endpoints fail, and what is true of each way.

A request says by a mark in its text which fault it meets (`FAULTS`, `mark`), whatever else is asked
and in whatever order, so that a test knows the truth of every row:

    rows = [{"question": f"Who? {mark(fault)}", ...} for fault in FAULTS]
    with misbehaving_server("Ada") as server:
        run(server.engine(), ODQA_FAST_API_KEY=KEY)
    for fault, row in zip(FAULTS, table):
        assert (row["prediction"], row["reader_error"]) is as fault.text("Ada") and fault.kind say

Runs need a `--timeout` of few seconds, and `--retries` of `RETRIES` or more.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chat_server import ChatServer, Play, chat_server

#: What the endpoint's key has to be, for a reply that repeats it.
KEY = "sk-secret-0123456789abcdef"
#: Faults that pass do so at the second try.
RETRIES = 1


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Attributes:
        name: what its mark is made of.
        plays: what is played, in turn, the last one for good, for what a good reply would say.
        kind: what the row's failure is counted as; empty where a reply comes in the end.
        shows: the text that comes of a good reply's text.
        thought: what the model thought, of a good reply's text.
    """

    name: str
    plays: Callable[[str], list[Play]]
    kind: str = ""
    shows: Callable[[str], str] = lambda good: good
    thought: Callable[[str], str | None] = lambda good: None

    def text(self, good: str) -> str | None:
        """What the reply has to be where a good one would be `good`; None where there is none."""
        return None if self.kind else self.shows(good)


def _past(good: str, first: Play) -> list[Play]:
    return [first, Play(good)]


def _failed() -> bytes:
    return json.dumps({"choices": [{}], "error": _DOWN}).encode()


def _failed_choice(good: str) -> bytes:
    choice = {"message": {"content": good}, "finish_reason": "stop", "error": _DOWN}
    return json.dumps({"choices": [choice]}).encode()


_BUSY = "slow down"
_LONG_AGO = "Wed, 21 Oct 2015 07:28:00 GMT"
_DOWN = {"message": "the upstream is down", "code": 502}
_NO_JSON = "not a chat completion"

FAULTS: tuple[Fault, ...] = (
    Fault("none", lambda good: [Play(good)]),
    Fault("500-once", lambda good: _past(good, Play("oops", 500))),
    Fault("429-wait-0", lambda good: _past(good, Play(_BUSY, 429, {"Retry-After": "0"}))),
    Fault("429-wait-past", lambda good: _past(good, Play(_BUSY, 429, {"Retry-After": _LONG_AGO}))),
    Fault("closed-once", lambda good: _past(good, Play(act="drop"))),
    Fault("empty-once", lambda good: _past(good, Play(""))),
    Fault("error-once", lambda good: _past(good, Play(body=_failed()))),
    Fault("finish-once", lambda good: _past(good, Play(good[:1], finish="error"))),
    Fault("surrogate", lambda good: [Play(f"{good} \ud83d")], shows=lambda good: f"{good} \ufffd"),
    Fault("huge-usage", lambda good: [Play(good, tokens=(10**30, -7.5))]),
    Fault("odd-usage", lambda good: [Play(good, tokens=({"a": 1}, "many"))]),
    Fault("key-echo", lambda good: [Play(f"{good} {KEY}")], shows=lambda good: f"{good} ***"),
    Fault("end-turn", lambda good: [Play(good, finish="end_turn")]),
    Fault("thought", lambda good: [Play(f"<think>Hm.</think>{good}")], thought=lambda good: "Hm."),
    Fault("thought-apart", lambda good: [Play(good, thought="Hm.")], thought=lambda good: "Hm."),
    Fault("500", lambda good: [Play("oops", 500)], "HTTP 500"),
    Fault("400", lambda good: [Play("maximum context length is 8", 400)], "HTTP 400"),
    Fault("finish-error", lambda good: [Play(good, finish="error")], "unknown finish_reason"),
    Fault("finish-odd", lambda good: [Play(good, finish="network_error")], "unknown finish_reason"),
    Fault("finish-null", lambda good: [Play(good, finish=None)], "no finish_reason"),
    Fault("empty", lambda good: [Play("")], "empty reply"),
    Fault("blank", lambda good: [Play(" \n")], "empty reply"),
    Fault("no-content", lambda good: [Play(None)], "empty reply"),
    Fault("only-length", lambda good: [Play(None, finish="length")], "cut off"),
    Fault(
        "thinking",
        lambda good: [Play(f"<think>{good}?", finish="length")],
        "cut off",
        thought=lambda good: f"{good}?",
    ),
    Fault("withheld", lambda good: [Play(good, finish="content_filter")], "refused"),
    Fault("refusal", lambda good: [Play(None, refusal="No.")], "refused"),
    Fault("error", lambda good: [Play(body=_failed())], "error in the reply"),
    Fault("error-in-choice", lambda good: [Play(body=_failed_choice(good))], "error in the reply"),
    Fault("half-json", lambda good: [Play(body=Play(good).written()[:-9])], _NO_JSON),
    Fault("closed", lambda good: [Play(act="drop")], "connection lost"),
    Fault("hang", lambda good: [Play(act="hang")], "timed out"),
)

_BY_NAME = {fault.name: fault for fault in FAULTS}


def mark(fault: Fault) -> str:
    """What a request has to hold to meet a fault."""
    return f"fault-{fault.name}-end"


@contextmanager
def misbehaving_server(good: str | Callable[[dict[str, Any]], str]) -> Iterator[ChatServer]:
    """An endpoint that plays the fault that a request is marked with, and takes no temperature.

    Args:
        good: what a good reply says, to all requests or to a body.
    """
    seen: Counter[str] = Counter()

    def script(body: dict[str, Any], before: int) -> Play:
        prompt = "\n".join(turn["content"] for turn in body["messages"])
        found = re.search(r"fault-([a-z0-9-]+)-end", prompt)
        assert found, prompt
        fault = _BY_NAME[found[1]]
        if "temperature" in body:
            return Play("Unsupported parameter: 'temperature' is not supported here.", 400)
        # A request that is sent anew in other words is another one.
        asked = json.dumps([prompt, body.get("max_tokens")])
        with server.lock:
            seen[asked] += 1
        plays = fault.plays(good if isinstance(good, str) else good(body))
        return plays[min(seen[asked], len(plays)) - 1]

    with chat_server(script) as server:
        yield server
