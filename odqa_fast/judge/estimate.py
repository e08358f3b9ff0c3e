"""What judging would ask and take, without asking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from odqa_fast.engines.base import Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.judge.ask import Questions, cost_of, find_unsettled, requests_of
from odqa_fast.judge.ratings import judge_names
from odqa_fast.judge.rubric import Rubric

#: A token is about so many characters, where nobody counts them.
_CHARS_PER_TOKEN = 4
#: More than chat templates put around what is asked.
_FRAME_TOKENS = 256

Prices = tuple[float, float] | None


def estimate(
    questions: Questions,
    engines: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    prices: Prices = None,
) -> list[dict[str, Any]]:
    """Requests of each judge by each rubric, how many of them kept replies settle, and what the
    others take: each asked once, with replies as long as they may be; and at most, should every
    reply be cut off and asked for again (see `ask.list_askings`). Tries that fail are in neither.

    Tokens sent are counted where the judge can count. Else they are about the characters over
    `_CHARS_PER_TOKEN`, and at most the bytes, for no token is less than one.

    Args:
        questions: what rubrics ask.
        engines: the judges.
        rubrics: what they would be asked.
        prices: of a million tokens sent, and written.
    """
    return [
        {
            "judge": name,
            "rubric": rubric.id,
            **_estimate(engine, rubric, requests_of(rubric, questions), prices),
        }
        for name, engine in zip(judge_names(engines), engines, strict=True)
        for rubric in rubrics
    ]


def _estimate(
    engine: CachedEngine, rubric: Rubric, requests: Iterable[list[Request]], prices: Prices
) -> dict[str, Any]:
    n = to_ask = at_most = 0
    once_in = once_out = most_in = most_out = 0
    counted = True
    for part in requests:
        n += len(part)
        for left in find_unsettled(engine, rubric, part):
            to_ask += 1
            at_most += len(left)
            tokens = engine.count_tokens(left[0])
            counted &= tokens is not None
            once_in += _about(left[0]) if tokens is None else tokens
            once_out += left[0].max_new_tokens
            most_in += len(left) * (_most(left[0]) if tokens is None else tokens)
            most_out += sum(each.max_new_tokens for each in left)
    return {
        "requests": n,
        "kept": n - to_ask,
        "to_ask": to_ask,
        "tokens_in_counted": counted,
        "tokens_in_asked_once": once_in,
        "tokens_out_asked_once": once_out,
        "cost_asked_once": cost_of(prices, once_in, once_out),
        "requests_at_most": at_most,
        "tokens_in_at_most": most_in,
        "tokens_out_at_most": most_out,
        "cost_at_most": cost_of(prices, most_in, most_out),
    }


def _about(request: Request) -> int:
    return -(-(len(request.system) + len(request.user)) // _CHARS_PER_TOKEN)


def _most(request: Request) -> int:
    sent = (request.system, request.user, request.prefill, request.schema)
    return sum(len(text.encode()) for text in sent) + _FRAME_TOKENS
