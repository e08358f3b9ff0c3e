"""Replies that were cut off are asked for again, with more room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from odqa_fast.engines.base import Engine, Reply, Request

#: Room for a thought: most models need some hundreds to a few thousand tokens.
THOUGHT_TOKENS = 4096

#: The kind of the failure.
_CUT_OFF = "cut off"


def ask_until_whole(
    engine: Engine,
    askings: Sequence[Sequence[Request]],
    is_cut_off: Callable[[int, Reply], bool],
) -> Iterator[tuple[int, Reply]]:
    """Each row's position and last reply, once each, in the order in which they get done.

    Args:
        engine: who is asked.
        askings: of each row the request as it is asked at first, and as it is asked again each time
            its reply is cut off.
        is_cut_off: told of every reply and its row.

    Raises:
        EngineError: the engine gives no more replies.
    """
    waiting = {at: list(each) for at, each in enumerate(askings)}
    while waiting:
        rows = list(waiting)
        for number, reply in engine.generate([waiting[at].pop(0) for at in rows]):
            at = rows[number]
            if not (is_cut_off(at, reply) and waiting[at]):
                del waiting[at]
                yield at, reply


def ask_whole(engine: Engine, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
    """Each request's position and reply, in the order in which they get done.

    Limits and stop texts are meant for the reply, not for a thought before it. Where a thought took
    up what was meant for the reply, the request is repeated with `THOUGHT_TOKENS` of room. A
    thought that is not over then either is a failure. Seconds, tokens and attempts of a reply are
    those of both times.

    Raises:
        EngineError: the engine gives no more replies.
    """
    first: dict[int, Reply] = {}

    def is_cut_off(at: int, reply: Reply) -> bool:
        cut = _is_cut_off(reply)
        if cut:
            first.setdefault(at, reply)
        return cut

    askings = [[each, replace(each, thought_tokens=THOUGHT_TOKENS)] for each in requests]
    for at, reply in ask_until_whole(engine, askings, is_cut_off):
        if (before := first.get(at)) is not None:
            reply = _after(before, reply)
        yield at, reply


def _is_cut_off(reply: Reply) -> bool:
    # An endpoint of which nothing came within the limit may hide a thought.
    failed = reply.error.partition(":")[0] == _CUT_OFF
    return failed or (reply.finish == "length" and bool(reply.thought))


def _after(before: Reply, reply: Reply) -> Reply:
    """A second reply with what the first one took."""
    reply = replace(
        reply,
        seconds=reply.seconds + before.seconds,
        tokens_out=reply.tokens_out + before.tokens_out,
        attempts=reply.attempts + before.attempts,
    )
    if reply.text or reply.finish == "error":
        return reply
    error = f"{_CUT_OFF}: the thought did not end, with room for {THOUGHT_TOKENS:,} tokens at most."
    return replace(reply, finish="error", error=error)
