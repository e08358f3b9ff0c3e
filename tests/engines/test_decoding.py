"""Covers: one prompt on its way to a reply: thoughts, limits, stop texts.

Compared against: what a model that writes a known text has to be cut to, by hand.
Run: pytest tests/engines/test_decoding.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.card import Prompt, load_card
from odqa_fast.engines.generate.decoding import Decoding
from odqa_fast.engines.generate.sampling import Sampling
from odqa_fast.engines.tokens import Codec

THOUGHT = "<think>\nLima.\nOr Cuzco.\n</think>"


@pytest.fixture(scope="module")
def codec(llama: Path) -> Codec:
    return Codec(load_card(llama))


def written(
    codec: Codec, text: str, *, stop: tuple[str, ...] = ("\n",), new: int = 200, room: int = 0
) -> tuple[Reply, int]:
    """The reply where a model writes a text, and how many of its tokens were wanted."""
    request = Request("?", stop=stop, max_new_tokens=new, thought_tokens=room)
    eos = 1
    decoding = Decoding(request, np.array([5]), codec, Sampling(), {eos})
    for taken, token in enumerate([*codec.ids(text).tolist(), eos], 1):
        assert len(decoding.ids) + taken - 1 <= decoding.room
        if decoding.take(int(token)):
            return decoding.reply(), taken
    raise AssertionError("the decoding goes on behind the end")


def n_tokens(codec: Codec, text: str) -> int:
    return len(codec.ids(text))


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("stop", [(), ("\n",)])
def test_a_reply_without_a_thought_is_what_the_model_wrote(
    codec: Codec, stop: tuple[str, ...], room: int
) -> None:
    for text in (" Lima", "<b>Lima</b>", "  ", "", "[Lima]", "Ὀδυσσεύς"):
        reply, _ = written(codec, text, stop=stop, room=room)
        assert (reply.text, reply.finish, reply.thought) == (text, "stop", "")
        assert reply.tokens_out == n_tokens(codec, text)


def test_a_stop_text_ends_the_reply_and_no_thought(codec: Codec) -> None:
    reply, taken = written(codec, f"{THOUGHT}\n\nLima\nPeru and more of it")
    assert (reply.text, reply.finish, reply.thought) == ("Lima", "stop", "Lima.\nOr Cuzco.")
    assert taken <= n_tokens(codec, f"{THOUGHT}\n\nLima\nP")
    reply, _ = written(codec, "\n\nLima\nPeru")
    assert (reply.text, reply.thought) == ("Lima", "")


def test_a_limit_is_that_of_the_reply(codec: Codec) -> None:
    answer = "The river Nile flows north"
    for new in (1, 2, 7):
        reply, taken = written(codec, f"{THOUGHT}{answer}", new=new, room=100)
        assert taken == n_tokens(codec, THOUGHT) + new
        assert reply.text == codec.decode(codec.ids(answer).tolist()[:new])
        assert reply.finish == "length"
    # It begins as a thought does.
    reply, _ = written(codec, "<th>ree", new=2, room=100)
    assert (reply.text, reply.finish) == (codec.decode(codec.ids("<th>ree").tolist()[:2]), "length")


def test_a_thought_that_is_cut_off_is_no_reply(codec: Codec) -> None:
    # It may take the reply's room, as long as there is none of its own, or what there is of both.
    for new, room in ((10, 0), (4, 6)):
        reply, taken = written(codec, THOUGHT, new=new, room=room)
        assert (reply.text, reply.finish, taken) == ("", "length", 10)
        assert reply.thought.startswith("Lim")
    # One that ends without an answer was cut off as well, whatever ended it.
    reply, _ = written(codec, THOUGHT)
    assert (reply.text, reply.finish) == ("", "length")


def test_what_a_thought_leaves_may_be_too_little(codec: Codec) -> None:
    new = n_tokens(codec, THOUGHT) + 2
    reply, _ = written(codec, f"{THOUGHT}The river Nile", new=new)
    assert reply.finish == "length"
    assert reply.thought
    assert reply.text


def test_a_template_may_open_the_thought(llama: Path) -> None:
    card = load_card(llama)
    template = "{{ messages[0].content }}<think>\n"
    opened = Codec(replace(card, prompt=Prompt(chat_template=template)))
    reply, _ = written(opened, "Lima.\nOr\n</think>\nLima\nPeru")
    assert (reply.text, reply.thought) == ("Lima", "Lima.\nOr")
    reply, _ = written(opened, "Lima.\nOr")
    assert (reply.text, reply.finish, reply.thought) == ("", "length", "Lima.\nOr")
