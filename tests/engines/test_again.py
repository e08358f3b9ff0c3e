"""Covers: replies that were cut off in a thought, asked again with room.

Compared against: what a scripted engine was asked, and what it took by hand.
Run: pytest tests/engines/test_again.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odqa_fast.engines.again import THOUGHT_TOKENS, ask_whole
from odqa_fast.engines.base import Reply, Request


class Scripted:
    """Gives each prompt its replies in turn, the last of them for good."""

    id = signature = "scripted"
    max_input_tokens = None

    def __init__(self, **replies: list[Reply]) -> None:
        self._replies = replies
        self.asked: list[list[Request]] = []

    def count_tokens(self, request: Request) -> int | None:
        return None

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        self.asked.append(list(requests))
        for at in reversed(range(len(requests))):
            replies = self._replies[requests[at].user]
            yield at, replies.pop(0) if len(replies) > 1 else replies[0]

    def close(self) -> None:
        pass


PLAIN = Reply("Lima", "stop", tokens_out=1, seconds=1)
CUT_IN = Reply("", "length", tokens_out=32, seconds=2, thought="Peru is")
CUT_BEHIND = Reply("Li", "length", tokens_out=32, seconds=2, thought="Peru.")
WHOLE = Reply("Lima", "stop", tokens_out=80, seconds=4, thought="Peru is far.")


def replies(engine: Scripted, *users: str) -> list[Reply]:
    found = dict(ask_whole(engine, [Request(user) for user in users]))
    return [found[at] for at in range(len(users))]


def test_only_what_was_cut_off_is_asked_again_and_with_room() -> None:
    engine = Scripted(plain=[PLAIN], inside=[CUT_IN, WHOLE], behind=[CUT_BEHIND, WHOLE])
    plain, *others = replies(engine, "plain", "inside", "behind")
    assert plain == PLAIN
    for reply in others:
        assert (reply.text, reply.finish, reply.thought) == ("Lima", "stop", "Peru is far.")
        # What both times took.
        assert (reply.tokens_out, reply.seconds, reply.attempts) == (112, 6, 2)
    assert [len(requests) for requests in engine.asked] == [3, 2]
    assert {request.thought_tokens for request in engine.asked[0]} == {0}
    assert {request.thought_tokens for request in engine.asked[1]} == {THOUGHT_TOKENS}


def test_a_thought_without_end_is_a_failure() -> None:
    engine = Scripted(endless=[CUT_IN])
    (reply,) = replies(engine, "endless")
    assert (reply.finish, reply.text, reply.thought) == ("error", "", "Peru is")
    assert reply.error.partition(":")[0] == "cut off"
    assert len(engine.asked) == 2


def test_a_failure_of_the_kind_is_asked_again() -> None:
    hidden = Reply("", "error", error="cut off: at its limit there was no text")
    (reply,) = replies(Scripted(hidden=[hidden, WHOLE]), "hidden")
    assert (reply.text, reply.attempts) == ("Lima", 2)


def test_a_long_answer_behind_a_thought_is_cut_as_any_other() -> None:
    (reply,) = replies(Scripted(long=[CUT_BEHIND]), "long")
    assert (reply.finish, reply.text) == ("length", "Li")


def test_a_reply_without_a_thought_is_asked_once() -> None:
    long = Reply("Lima is", "length")
    engine = Scripted(long=[long], failed=[Reply("", "error", error="HTTP 500: no")])
    assert replies(engine, "long", "failed")[0] == long
    assert len(engine.asked) == 1
