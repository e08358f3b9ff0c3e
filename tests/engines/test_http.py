"""Covers: the engine of an OpenAI-compatible endpoint, when all goes well and when nothing does.

Compared against: what a scripted local server was told to play; waits are counted, not waited.
Run: pytest tests/engines/test_http.py
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from chat_server import ChatServer, Play, Script, chat_server

from odqa_fast.engines.backends.http import HttpEngine
from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import EngineError, OdqaError, OdqaWarning

KEY = "sk-test-0123456789abcdef"


class Time:
    """A clock that stands still but for the waits, which take no time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def asked(
    server: ChatServer, requests: list[Request], waits: Time | None = None, **options: Any
) -> list[Reply]:
    """The replies in the order of the requests."""
    waits = waits or Time()
    options = {"concurrency": 1, "timeout_seconds": 20, **options}
    engine = HttpEngine(
        server.engine(),
        EngineOptions(**options),
        clock=waits.clock,
        sleep=waits.sleep,
        jitter=lambda: 1.0,
    )
    replies = dict(engine.generate(requests))
    assert sorted(replies) == list(range(len(requests)))
    return [replies[at] for at in range(len(requests))]


def one(plays: list[Play] | Play, **options: Any) -> tuple[Reply, Time, ChatServer]:
    waits = Time()
    with chat_server(plays) as server:
        (reply,) = asked(server, [Request("Hello?")], waits, **options)
    return reply, waits, server


def test_a_request_becomes_a_chat_and_its_reply_comes_back() -> None:
    request = Request(
        user="Who?", system="Be brief.", prefill="It is", stop=("\n",), max_new_tokens=7
    )
    with chat_server(Play("It is Ada.\nMore", tokens=(12, 4))) as server:
        (reply,) = asked(server, [request])
    assert server.bodies == [
        {
            "model": "test-judge",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Who?"},
                {"role": "assistant", "content": "It is"},
            ],
            "max_tokens": 7,
            "temperature": 0.0,
            "stop": ["\n"],
        }
    ]
    assert (reply.text, reply.finish) == (" Ada.", "stop")
    assert (reply.tokens_in, reply.tokens_out, reply.attempts) == (12, 4, 1)


def test_many_requests_are_under_way_together_and_keep_their_places() -> None:
    requests = [Request(f"number {n}") for n in range(40)]

    def echo(body: dict[str, Any], before: int) -> Play:
        return Play(body["messages"][0]["content"].removeprefix("number "))

    with chat_server(echo) as server:
        replies = asked(server, requests, concurrency=8)
    assert [reply.text for reply in replies] == [str(n) for n in range(40)]


def test_no_more_are_under_way_than_asked() -> None:
    most, now = 0, set[int]()

    def watched(body: dict[str, Any], before: int) -> Play:
        nonlocal most
        now.add(before)
        most = max(most, len(now))
        time.sleep(0.002)
        now.discard(before)
        return Play("x")

    with chat_server(watched) as server:
        asked(server, [Request(str(n)) for n in range(30)], concurrency=3)
    assert 1 < most <= 3


def test_a_reply_cut_at_its_limit_says_so() -> None:
    assert one(Play("half", finish="length"))[0].finish == "length"


def test_content_in_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    choice = {"message": {"content": parts}, "finish_reason": "stop"}
    assert one(Play(body=json.dumps({"choices": [choice]}).encode()))[0].text == "ab"


def test_a_refusal_of_the_interface_is_no_reply() -> None:
    reply, _, _ = one(Play(None, refusal="I cannot help with that."))
    assert (reply.finish, reply.error) == ("error", "refused: I cannot help with that.")
    assert one(Play("", finish="content_filter"))[0].error.startswith("refused: ")


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_may_pass_is_tried_again_after_waits_that_double(status: int) -> None:
    reply, waits, server = one([Play("busy", status)] * 3 + [Play("done")])
    assert (reply.text, reply.attempts) == ("done", 4)
    assert waits.waits == [1, 2, 4]
    assert len(server.bodies) == 4


def test_retry_after_is_kept_to_in_seconds_and_as_a_date() -> None:
    date = formatdate(time.time() + 90, usegmt=True)
    plays = [
        Play("slow down", 429, {"Retry-After": "7"}),
        Play("slow down", 429, {"Retry-After": date}),
        Play("done"),
    ]
    reply, waits, _ = one(plays)
    assert reply.attempts == 3
    assert waits.waits[0] == 7
    assert 80 < waits.waits[1] <= 90


def test_every_request_waits_when_one_is_told_to() -> None:
    plays = [Play("slow down", 429, {"Retry-After": "7"}), Play("done")]
    with chat_server(plays) as server:
        waits = Time()
        replies = asked(server, [Request("a"), Request("b")], waits)
    assert [reply.text for reply in replies] == ["done", "done"]
    assert waits.now == 7


def test_a_wait_without_end_is_left_for_later() -> None:
    with (
        chat_server(Play("slow down", 429, {"Retry-After": "86400"})) as server,
        pytest.raises(EngineError, match="asks to wait 86400 s") as error,
    ):
        asked(server, [Request("a")])
    assert "Run again later" in str(error.value)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (Play("no", 500), "HTTP 500"),
        (Play(act="drop"), "connection lost"),
        (Play("half of this", act="cut"), "connection lost"),
        (Play(act="hang"), "timed out"),
        (Play(body=b'{"choices": [{"mess'), "not a chat completion"),
        (Play(body=b"<html>gateway</html>"), "not a chat completion"),
        (Play(body=b'{"choices": []}'), "not a chat completion"),
    ],
)
def test_what_does_not_pass_ends_as_a_counted_error(play: Play, kind: str) -> None:
    limit = 0.3 if play.act == "hang" else 20
    reply, waits, server = one(play, retries=2, timeout_seconds=limit)
    assert (reply.finish, reply.text, reply.attempts) == ("error", "", 3)
    assert reply.error.partition(":")[0] == kind
    assert len(server.bodies) == 3
    assert waits.waits == [1, 2]


def test_a_bad_request_is_not_repeated_and_stops_nothing_else() -> None:
    plays = [Play("maximum context length is 8", 400), Play("fine")]
    with chat_server(plays) as server:
        replies = asked(server, [Request("long"), Request("short")])
    assert replies[0].error == "HTTP 400: maximum context length is 8"
    assert replies[1].text == "fine"
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("play", "says"),
    [
        (Play("who are you", 401), "does not accept the key (HTTP 401: who are you)"),
        (Play("pay first", 402), "asks for payment (HTTP 402: pay first)"),
        (Play("not you", 403), "refuses access"),
        (Play("no model of that name", 404), "knows no such path or model"),
        (Play("", 307, {"Location": "http://elsewhere/"}), "sends to another address"),
        (
            Play(status=429, body=b'{"error": {"message": "x", "code": "insufficient_quota"}}'),
            "has no credit left",
        ),
    ],
)
def test_what_cannot_pass_stops_everything(play: Play, says: str) -> None:
    with chat_server([Play("one"), play]) as server, pytest.raises(EngineError) as error:
        asked(server, [Request(str(n)) for n in range(50)])
    assert says in str(error.value)
    assert len(server.bodies) == 2
    assert error.value.exit_code == 4


def test_an_endpoint_that_fails_again_and_again_is_given_up() -> None:
    with (
        chat_server([Play("one"), Play("no", 500)]) as server,
        pytest.raises(EngineError, match=r"has failed 20 requests \(HTTP 500: no\)"),
    ):
        asked(server, [Request(str(n)) for n in range(50)], retries=0)
    assert len(server.bodies) == 21


def test_an_endpoint_that_is_not_there() -> None:
    with chat_server(Play()) as server:
        pass  # so that its port is free again
    with pytest.raises(EngineError, match="cannot be reached"):
        asked(server, [Request("a")], retries=1)


def test_the_key_comes_from_its_variable_alone_and_shows_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.delenv("ODQA_FAST_API_KEY", raising=False)
    _, _, server = one(Play("x"))
    assert "authorization" not in server.headers[0]

    monkeypatch.setenv("ODQA_FAST_API_KEY", f" {KEY}\n")
    _, _, server = one(Play("x"))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"

    monkeypatch.setenv("MY_KEY", KEY)
    with chat_server(Play(f"wrong key {KEY}!", 401)) as server:
        engine = HttpEngine(server.engine(), EngineOptions(key_env="MY_KEY"))
        with pytest.raises(EngineError, match=r"wrong key \*\*\*!") as error:
            list(engine.generate([Request("a")]))
    assert "MY_KEY, which holds a key" in str(error.value)
    assert KEY not in engine.signature + repr(error.value) + caplog.text
    assert "test-judge" in engine.signature


def test_a_key_that_could_split_a_header_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODQA_FAST_API_KEY", "sk-1\r\nX-Admin: yes")
    with chat_server(Play("x")) as server, pytest.raises(EngineError) as error:
        asked(server, [Request("a")])
    assert "ODQA_FAST_API_KEY" in str(error.value)
    assert "sk-1" not in str(error.value)


SCHEMA = '{"type": "object", "properties": {"verdict": {"type": "string"}}}'


def refusing(known: Callable[[dict[str, Any]], bool], says: str) -> Script:
    """An endpoint that takes only some requests; llama-cpp-python says 500 to others."""
    return lambda body, before: Play("fine") if known(body) else Play(says, 500)


def format_of(body: dict[str, Any]) -> str | None:
    form: str | None = body.get("response_format", {}).get("type")
    return form


def test_a_schema_is_sent_as_openai_has_it() -> None:
    with chat_server(Play("fine")) as server:
        asked(server, [Request("a", schema=SCHEMA)])
    sent = server.bodies[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == json.loads(SCHEMA)


def test_a_schema_is_sent_as_the_endpoint_knows_it() -> None:
    script = refusing(
        lambda body: format_of(body) == "json_object",
        "response_format.type: Input should be 'text' or 'json_object'",
    )
    with chat_server(script) as server:
        replies = asked(server, [Request(str(n), schema=SCHEMA) for n in range(3)])
    assert [reply.text for reply in replies] == ["fine"] * 3
    assert [format_of(body) for body in server.bodies] == ["json_schema", *["json_object"] * 3]
    assert server.bodies[-1]["response_format"]["schema"] == json.loads(SCHEMA)


def test_a_schema_is_left_out_where_none_is_known() -> None:
    script = refusing(lambda body: format_of(body) is None, "unknown field response_format")
    with (
        chat_server(script) as server,
        pytest.warns(OdqaWarning, match="does not take response_format"),
    ):
        replies = asked(server, [Request(str(n), schema=SCHEMA) for n in range(3)])
    assert [reply.text for reply in replies] == ["fine"] * 3
    assert len(server.bodies) == 5


def test_the_newer_name_of_the_limit_is_used_where_it_is_asked_for() -> None:
    script = refusing(
        lambda body: "max_tokens" not in body,
        "'max_tokens' is not supported. Use 'max_completion_tokens'.",
    )
    with chat_server(script) as server:
        replies = asked(server, [Request("a", max_new_tokens=9), Request("b")])
    assert [reply.text for reply in replies] == ["fine", "fine"]
    assert server.bodies[1]["max_completion_tokens"] == 9
    assert len(server.bodies) == 3


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(EngineError, match=r"httpx2.*odqa-fast\[http\]"):
        list(HttpEngine("http:http://localhost/v1#m").generate([Request("a")]))


def test_it_works_where_an_event_loop_runs() -> None:
    async def in_a_notebook() -> list[Reply]:
        return asked(server, [Request("a")])

    with chat_server(Play("fine")) as server:
        assert asyncio.run(in_a_notebook())[0].text == "fine"


def test_who_stops_listening_stops_the_asking() -> None:
    with chat_server([Play("one"), Play(act="hang")]) as server:
        replies = HttpEngine(server.engine(), EngineOptions(concurrency=1)).generate(
            [Request("a"), Request("b")]
        )
        assert next(replies)[0] == 0
        replies.close()


@pytest.mark.parametrize(
    "name",
    [
        "http:localhost:8000#m",
        "http:http://#m",
        "http:http://host/v1",
        "http:http://host/v1#",
        "http:http://host:port/v1#m",
        "http:ftp://host/v1#m",
        "http:http://host/v1#a|b",
    ],
)
def test_a_name_of_another_form_is_refused(name: str) -> None:
    with pytest.raises(OdqaError, match="is no http:<base-url>#<model>") as error:
        HttpEngine(name)
    assert "http://localhost:8000/v1" in str(error.value)


def test_a_password_in_the_address_is_refused_unseen() -> None:
    with pytest.raises(OdqaError) as error:
        HttpEngine("http:https://me:secret@host/v1#m")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("play", "expected"),
    [
        (Play("<think>Peru.\n</think>\n\nLima\nPeru"), ("Lima", "stop", "Peru.")),
        (Play("\n\nLima\nPeru"), ("Lima", "stop", "")),
        (Play("\n\nLima", thought="Peru."), ("Lima", "stop", "Peru.")),
        # Cut off inside the thought, by a stop text or by the limit.
        (Play("<think>"), ("", "length", "<think>")),
        (Play("<think>Peru", finish="length"), ("", "length", "Peru")),
        (Play(None, thought="Peru"), ("", "length", "Peru")),
        (Play("Li", thought="Peru.", finish="length"), ("Li", "length", "Peru.")),
    ],
)
def test_thoughts_are_told_from_the_reply(play: Play, expected: tuple[str, str, str]) -> None:
    with chat_server(play) as server:
        (reply,) = asked(server, [Request("Where?", stop=("\n",))])
    assert (reply.text, reply.finish, reply.thought) == expected


def test_a_request_with_room_for_a_thought_is_cut_here() -> None:
    request = Request("Where?", stop=("\n",), max_new_tokens=32, thought_tokens=100)
    with chat_server(Play("<think>\nPeru.</think>Lima\nPeru")) as server:
        (reply,) = asked(server, [request])
    assert "stop" not in server.bodies[0]
    assert server.bodies[0]["max_tokens"] == 132
    assert (reply.text, reply.finish) == ("Lima", "stop")


def test_what_waits_to_be_kept_is_under_way() -> None:
    """Else a process that is killed loses more than it had asked for."""
    with chat_server(Play("Ada")) as server:
        engine = HttpEngine(server.engine(), EngineOptions(concurrency=3))
        replies = engine.generate([Request(f"Who is {at}?") for at in range(20)])
        next(replies)
        time.sleep(0.3)
        assert len(server.bodies) == 3
        next(replies)
        time.sleep(0.3)
        assert len(server.bodies) == 4
        assert len(list(replies)) == 18
