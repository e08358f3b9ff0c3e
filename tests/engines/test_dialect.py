"""Covers: fields that endpoints do not take, ends of replies, options of engines and who has which.

Compared against: what endpoints were seen to say (their public bug reports), and what a scripted
one was sent. Run: pytest tests/engines/test_dialect.py
"""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import Play, chat_server
from test_http import asked, one
from test_tokens import TEMPLATE

import odqa_fast as oq
from odqa_fast.engines.backends.http import HttpEngine
from odqa_fast.engines.base import Engine, Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.card import Prompt, load_card
from odqa_fast.engines.extractive import ExtractiveReader
from odqa_fast.engines.opening import open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.engines.tokens import Codec
from odqa_fast.errors import EngineError, OdqaError

SAMPLED = {"temperature": 0.7, "top_p": 0.9, "seed": 3}


def openai(param: str, code: str, message: str) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


def said(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()


#: What servers say, its status, and the field that they do not take.
REFUSALS = [
    (
        400,
        openai(
            "temperature",
            "unsupported_value",
            "Unsupported value: 'temperature' does not support 0.7 with this model. Only the "
            "default (1) value is supported.",
        ),
        "temperature",
    ),
    (
        400,
        openai(
            "stop",
            "unsupported_parameter",
            "Unsupported parameter: 'stop' is not supported with this model.",
        ),
        "stop",
    ),
    (400, said("Unrecognized request argument supplied: seed"), "seed"),
    (400, said("property 'top_p' is unsupported"), "top_p"),
    (400, said("Model grok-4 does not support parameter stop."), "stop"),
    (400, said('Invalid JSON payload received. Unknown name "seed": Cannot find field.'), "seed"),
    (400, said('json: unknown field "top_p"'), "top_p"),
    (400, said("`temperature` is deprecated for this model."), "temperature"),
    (400, said("invalid 'temperature': only 1 is allowed for this model"), "temperature"),
    (400, said("seed: Extra inputs are not permitted"), "seed"),
    (500, said("Unexpected keyword argument 'seed'"), "seed"),
    (
        422,
        json.dumps(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "seed"],
                        "msg": "Extra inputs are not permitted",
                        "input": "what is the temperature",
                    }
                ]
            }
        ).encode(),
        "seed",
    ),
    (
        400,
        json.dumps(
            {
                "object": "error",
                "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra "
                "inputs are not permitted', 'input': 3}]",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
        ).encode(),
        "seed",
    ),
]


@pytest.mark.parametrize(("status", "body", "field"), REFUSALS)
def test_a_field_that_is_not_taken_is_left_out_once_and_for_all(
    status: int, body: bytes, field: str
) -> None:
    def script(sent: dict[str, Any], before: int) -> Play:
        return Play(status=status, body=body) if field in sent else Play("Ada\nMore")

    requests = [Request(str(n), stop=("\n",)) for n in range(3)]
    with chat_server(script) as server, pytest.warns(oq.OdqaWarning, match=f"take {field}:"):
        replies = asked(server, requests, **SAMPLED)
    assert [reply.text for reply in replies] == ["Ada"] * 3
    assert len(server.bodies) == 4
    others = {*SAMPLED, "stop", "max_tokens"} - {field}
    assert all(others <= sent.keys() for sent in server.bodies)


def test_all_that_is_not_taken_is_said_in_one_sentence_and_in_the_signature() -> None:
    def script(sent: dict[str, Any], before: int) -> Play:
        for field in ("temperature", "seed", "stop", "max_tokens", "max_completion_tokens"):
            if field in sent:
                return Play(f"Unsupported parameter: '{field}'", 400)
        return Play("abcdefghij" * 4, tokens=(9, 20))

    with chat_server(script) as server:
        engine = HttpEngine(server.engine(), EngineOptions(**SAMPLED, retries=0))
        assert engine.signature.endswith(";temperature:0.7,top_p:0.9,seed:3")
        request = Request("a", stop=("x",), max_new_tokens=5)
        says = "does not take temperature, seed, max_tokens, stop:"
        with pytest.warns(oq.OdqaWarning, match=says) as told:
            ((_, reply),) = engine.generate([request])
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(engine.generate([request]))
    # A quarter of the tokens, so a quarter of the text.
    assert (reply.text, reply.finish, reply.attempts) == ("abcdefghij", "length", 1)
    assert engine.signature.endswith(";temperature:unset,top_p:0.9,without:seed+max_tokens+stop")


def test_a_text_of_tokens_that_nobody_counts_is_cut_by_its_characters() -> None:
    def script(sent: dict[str, Any], before: int) -> Play:
        refused = [name for name in ("max_tokens", "max_completion_tokens") if name in sent]
        says = f"{refused[0]} is not supported" if refused else ""
        return Play(says, 400) if says else Play("ab\ncdefghij" * 4, tokens=(0, 0))

    with chat_server(script) as server, pytest.warns(oq.OdqaWarning):
        whole, stopped = asked(
            server,
            [Request("a", max_new_tokens=5), Request("b", max_new_tokens=5, stop=("\n",))],
        )
    assert (len(whole.text), whole.finish) == (44 * 5 // 11, "length")
    assert (stopped.text, stopped.finish) == ("ab", "stop")


def test_a_value_that_is_not_taken_is_the_users_affair() -> None:
    body = openai(
        "temperature",
        "decimal_above_max_value",
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, got 5.",
    )
    reply, _, server = one(Play(status=400, body=body), temperature=5.0)
    assert reply.error.startswith("HTTP 400: Invalid 'temperature': decimal above")
    assert len(server.bodies) == 1


def test_trouble_is_no_refusal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plays = [Play("unexpected stop of a worker, its temperature is high", 500), Play("Ada")]
        reply, _, server = one(plays, **SAMPLED)
    assert (reply.text, reply.attempts) == ("Ada", 2)
    assert server.bodies[1] == server.bodies[0]


@pytest.mark.parametrize("mine", [{"reasoning_effort": "low"}, {"top_k": 5}])
def test_a_field_that_was_asked_for_by_name_is_never_left_out(mine: dict[str, Any]) -> None:
    (name,) = mine
    with chat_server(Play(f"Unsupported parameter: '{name}'", 400)) as server:
        (reply,) = asked(server, [Request("a")], request_fields=mine)
    assert reply.error == f"HTTP 400: Unsupported parameter: '{name}'"
    assert len(server.bodies) == 1


def test_what_was_learnt_stands_with_the_replies_that_are_kept(tmp_path: Path) -> None:
    def script(sent: dict[str, Any], before: int) -> Play:
        refused = "temperature" in sent
        return Play("temperature is not supported", 400) if refused else Play("Ada")

    kept = ReplyStore(tmp_path / "c")
    with chat_server(script) as server:
        for again in (False, True):
            engine = CachedEngine(HttpEngine(server.engine()), kept)
            assert engine.signature.endswith("temperature:0")
            ((_, reply),) = engine.generate([Request("a")])
            assert (reply.text, reply.cached) == ("Ada", again)
            assert engine.signature.endswith("temperature:unset")
        assert len(server.bodies) == 2
    kept.close()


# Ends of replies


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        *((each, "stop") for each in ("stop", "eos", "eos_token", "stop_sequence", "end_turn")),
        *((each, "stop") for each in ("STOP", "COMPLETE")),
        *((each, "length") for each in ("length", "max_tokens", "MAX_TOKENS", "model_length")),
    ],
)
def test_ends_that_say_that_there_is_a_reply(reason: str, finish: str) -> None:
    reply, _, _ = one(Play("Ada", finish=reason))
    assert (reply.text, reply.finish) == ("Ada", finish)


@pytest.mark.parametrize("reason", ["error", "tool_calls", "function_call", "abort", ["stop"], 1])
def test_other_ends_say_that_there_is_none(reason: Any) -> None:
    reply, waits, server = one(Play("Ada", finish=reason))
    assert (reply.text, reply.finish, reply.attempts) == ("", "error", 3)
    assert reply.error.startswith("unknown finish_reason: ")
    # Asked twice more, and nobody has to wait for it.
    assert (len(server.bodies), waits.waits) == (3, [])
    assert reply.tokens_in == 10


def test_nothing_is_no_reply_and_may_pass() -> None:
    reply, _, _ = one([Play(""), Play("Ada", finish=None), Play("Ada")])
    assert (reply.text, reply.attempts) == ("Ada", 3)
    assert one(Play("", finish="length"))[0].error == "cut off: at its limit there was no text"
    assert one(Play("\nmore"), retries=0)[0].text == "\nmore"


def test_an_error_in_a_body_says_what_the_server_says() -> None:
    body = json.dumps({"error": {"message": "the upstream is down", "code": 502}}).encode()
    reply, waits, _ = one(Play(body=body), retries=2)
    assert reply.error == "error in the reply: the upstream is down 502"
    assert waits.waits == [1, 2]


# When to wait and when to stop


@pytest.mark.parametrize("wait", ["0", "0.0", "-1", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", ""])
def test_a_wait_of_nothing_is_left_to_us(wait: str) -> None:
    plays = [Play("slow down", 429, {"Retry-After": wait})] * 3
    assert one([*plays, Play("done")])[1].waits == [1, 2, 4]


def refused(*plays: Play) -> int:
    """How many of twelve requests are sent, one by one, until the endpoint is given up."""
    with chat_server(list(plays)) as server, contextlib.suppress(EngineError):
        asked(server, [Request(str(at)) for at in range(12)])
    return len(server.bodies)


def test_equal_refusals_are_hopeless_after_a_few() -> None:
    with (
        chat_server(Play("no such thing", 400)) as server,
        pytest.raises(EngineError, match=r"refuses every request \(HTTP 400: no such thing\)"),
    ):
        asked(server, [Request(str(at)) for at in range(12)])
    assert len(server.bodies) == 5
    assert refused(Play("no", 422)) == 5
    # Not where something went well, where each is another, or where it is of the request.
    assert refused(Play("Ada"), Play("no such thing", 400)) == 12
    assert refused(*(Play(f"no {n}", 400) for n in range(12))) == 12
    assert refused(Play("the request exceeds the available context size", 400)) == 12


def test_a_key_is_redacted_in_replies_but_no_word_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODQA_FAST_API_KEY", "sk-0123456789")
    assert one(Play("It is sk-0123456789."))[0].text == "It is ***."
    monkeypatch.setenv("ODQA_FAST_API_KEY", "none")
    assert one(Play("There is none."))[0].text == "There is none."


# Options


@pytest.mark.parametrize(("options", "most"), [({"timing": "each"}, 1), ({"concurrency": 3}, 3)])
def test_no_more_are_under_way_than_asked_for(options: dict[str, Any], most: int) -> None:
    under_way: set[int] = set()
    seen = []

    def script(body: dict[str, Any], before: int) -> Play:
        under_way.add(before)
        seen.append(len(under_way))
        time.sleep(0.005)
        under_way.discard(before)
        return Play("x")

    with chat_server(script) as server:
        engine = HttpEngine(server.engine(), EngineOptions(**options))
        list(engine.generate([Request(str(n)) for n in range(20)]))
    assert max(seen) == most


def test_fields_and_thinking_are_sent_and_signed() -> None:
    options = EngineOptions(
        thinking="on",
        request_fields={"chat_template_kwargs": {"style": "short"}, "top_k": 5},
        seed=3,
    )
    with chat_server(Play("Ada")) as server:
        engine = HttpEngine(server.engine(), options)
        list(engine.generate([Request("a")]))
    (body,) = server.bodies
    assert body["chat_template_kwargs"] == {"style": "short", "enable_thinking": True}
    assert body["top_k"] == 5
    # Nothing is drawn at temperature 0.
    assert "seed" not in body
    fields = '{"chat_template_kwargs":{"enable_thinking":true,"style":"short"},"top_k":5}'
    assert engine.signature.endswith(f";temperature:0,fields:{fields}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"temperature": -1}, "--temperature has to be 0 or more"),
        ({"temperature": float("nan")}, "--temperature has to be a finite number, 0 or more"),
        ({"top_p": 0}, "--top-p has to be above 0"),
        ({"timeout_seconds": 0}, "--timeout has to be"),
        ({"retries": -1}, "--retries has to be"),
        ({"concurrency": 0}, "--concurrency has to be"),
        ({"rows": 0}, "--rows has to be"),
        ({"timing": "each", "rows": 4}, "--rows goes with --timing batch"),
        ({"request_fields": {"messages": []}}, "sets no 'messages'"),
        ({"request_fields": {"seed": 1}}, "It is set by --seed"),
        ({"request_fields": {"x": float("nan")}}, "its value is no JSON"),
        ({"request_fields": {"x": {1, 2}}}, "its value is no JSON"),
        (
            {"request_fields": {"chat_template_kwargs": 1}, "thinking": "on"},
            "has to be an object",
        ),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OdqaError, match=says):
        EngineOptions(**options)


def onnx(folder: Path, options: EngineOptions) -> Engine:
    return open_engine(f"onnx:{folder}", options)


@pytest.mark.parametrize(
    ("engine", "options", "flag"),
    [
        *((onnx, {name: value}, flag) for name, value, flag in (
            ("key_env", "K", "--key-env"),
            ("timeout_seconds", 9.0, "--timeout"),
            ("retries", 1, "--retries"),
            ("concurrency", 2, "--concurrency"),
            ("request_fields", {"a": 1}, "--request-field"),
            ("temperature", None, "--temperature"),
        )),
        *((ExtractiveReader, {name: value}, flag) for name, value, flag in (
            ("rows", 4, "--rows"),
            ("temperature", 0.7, "--temperature"),
            ("thinking", "off", "--thinking"),
        )),
    ],
)  # fmt: skip
def test_model_folders_refuse_what_they_have_no_use_for(
    engine: Any, options: dict[str, Any], flag: str
) -> None:
    with pytest.raises(OdqaError, match=flag):
        engine(Path("none"), EngineOptions(**options))


def test_the_chat_template_is_told_whether_to_think(llama: Path) -> None:
    card = load_card(llama)
    thinking = TEMPLATE + "{% if enable_thinking %}<think>{% else %}<think></think>{% endif %}"
    knows = replace(card, prompt=Prompt(chat_template=thinking))
    assert Codec(knows, "on").text(Request("Who?")).endswith("<assistant><think>")
    assert Codec(knows, "off").text(Request("Who?")).endswith("<assistant><think></think>")
    for other in (card, replace(card, prompt=Prompt(chat_template=TEMPLATE))):
        with pytest.raises(OdqaError, match="--thinking"):
            Codec(other, "off")
