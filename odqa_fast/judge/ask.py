"""Judges asked about rows: every reply becomes a verdict or a counted reason."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from odqa_fast.engines.again import ask_until_whole
from odqa_fast.engines.base import Engine, Reply, Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.verdict import CUT_OFF, Verdict

#: So many rows are asked about at a time.
AT_ONCE = 4096
#: How many times the template's limit a reply may have: at first, and each time it was cut off.
_LIMITS = (1, 4, 16)

#: What is asked of one row: a request, a verdict that needs no judge, or nothing.
Question = Request | Verdict | None
#: Told how many more questions are done.
Count = Callable[[int], None]


class Questions(Protocol):
    """What rubrics ask of rows, or of pairs of rows."""

    def __len__(self) -> int:
        """How many rows or pairs there are."""

    def ask(self, rubric: Rubric, lo: int, hi: int) -> list[Question]:
        """What a rubric asks of [lo, hi), in order; of each the same number of questions."""


@dataclass
class Usage:
    """What judging took; grows reply by reply. Tokens and seconds are of what was asked now.

    Attributes:
        asked: requests that were sent.
        cached: replies that were kept from an earlier time.
        attempts: how often requests were sent.
        came: replies that are no failure of an engine.
        tokens_in, tokens_out: sent, and written.
        seconds: of each reply.
        started: when judging began.
        prices: of a million tokens sent, and written.
    """

    asked: int = 0
    cached: int = 0
    came: int = 0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    prices: tuple[float, float] | None = None

    def add(self, reply: Reply) -> None:
        """Counts one reply."""
        self.came += reply.finish != "error"
        if reply.cached:
            self.cached += 1
            return
        self.asked += reply.attempts > 0
        self.attempts += reply.attempts
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        if reply.finish != "error":
            self.seconds.append(reply.seconds)

    def as_dict(self, rows: int) -> dict[str, float | int | None]:
        """Requests and attempts, cache hits, tokens, latencies, rows a second, and the cost."""
        elapsed = time.perf_counter() - self.started
        total = self.asked + self.cached
        p50, p90 = np.percentile(self.seconds, [50, 90]) if self.seconds else (None, None)
        return {
            "requests": self.asked,
            "attempts": self.attempts,
            "cache_hits": self.cached,
            "cache_hit_share": self.cached / total if total else None,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "latency_p50_seconds": None if p50 is None else float(p50),
            "latency_p90_seconds": None if p90 is None else float(p90),
            "seconds": elapsed,
            "rows_per_second": rows / elapsed,
            "cost": cost_of(self.prices, self.tokens_in, self.tokens_out),
        }


def cost_of(prices: tuple[float, float] | None, tokens_in: int, tokens_out: int) -> float | None:
    """The price of tokens, of prices per million of those sent and those written."""
    return None if prices is None else (prices[0] * tokens_in + prices[1] * tokens_out) / 1e6


def ask(
    engine: Engine,
    rubric: Rubric,
    questions: Sequence[Question],
    usage: Usage,
    progress: Count = lambda n: None,
) -> list[Verdict | None]:
    """One judge's verdict on each row; None where nothing was asked.

    A reply that is cut off is asked for again: see `list_askings`.

    Args:
        engine: the judge.
        rubric: how its replies are read.
        questions: one a row.
        usage: grows.
        progress: told how many more rows are done.

    Raises:
        EngineError: the judge gives no more replies.
    """
    verdicts = [question if isinstance(question, Verdict) else None for question in questions]
    rows = {
        at: list_askings(each) for at, each in enumerate(questions) if isinstance(each, Request)
    }
    places = list(rows)

    def is_cut_off(number: int, reply: Reply) -> bool:
        usage.add(reply)
        verdict = verdicts[places[number]] = _verdict(rubric, reply)
        return verdict.failure == CUT_OFF

    for _ in ask_until_whole(engine, list(rows.values()), is_cut_off):
        progress(1)
    progress(len(questions) - sum(isinstance(each, Request) for each in questions))
    return verdicts


def ask_all(
    engines: Sequence[Engine],
    rubric: Rubric,
    questions: Questions,
    usage: Usage,
    progress: Count = lambda n: None,
) -> list[list[Verdict | None]]:
    """What each judge says to each question; arguments and errors as of `ask`."""
    said: list[list[Verdict | None]] = [[] for _ in engines]
    for part in _parts(rubric, questions):
        for engine, verdicts in zip(engines, said, strict=True):
            verdicts += ask(engine, rubric, part, usage, progress)
    return said


def requests_of(rubric: Rubric, questions: Questions) -> Iterator[list[Request]]:
    """All requests that a rubric makes, a part at a time."""
    for part in _parts(rubric, questions):
        yield [each for each in part if isinstance(each, Request)]


def _parts(rubric: Rubric, questions: Questions) -> Iterator[list[Question]]:
    n = len(questions)
    return (questions.ask(rubric, lo, min(lo + AT_ONCE, n)) for lo in range(0, n, AT_ONCE))


def list_askings(request: Request) -> list[Request]:
    """A request as it is asked at first, and as it is asked again each time its reply is cut off:
    with larger limits."""
    return [replace(request, max_new_tokens=request.max_new_tokens * times) for times in _LIMITS]


def find_unsettled(
    engine: CachedEngine, rubric: Rubric, requests: Iterable[Request]
) -> list[list[Request]]:
    """What may yet be asked: of each distinct request whose verdict does not come of kept replies,
    the askings that are left, the next one first."""
    waiting = [list_askings(request) for request in dict.fromkeys(requests)]
    left: list[list[Request]] = []
    while waiting:
        cut_off = []
        kept = engine.kept([each[0] for each in waiting])
        for each, reply in zip(waiting, kept, strict=True):
            if reply is None:
                left.append(each)
            elif len(each) > 1 and _verdict(rubric, reply).failure == CUT_OFF:
                cut_off.append(each[1:])
        waiting = cut_off
    return left


def _verdict(rubric: Rubric, reply: Reply) -> Verdict:
    if reply.finish == "error":
        return Verdict(failure=reply.error.partition(":")[0], explanation=reply.error)
    verdict = replace(rubric.read(reply), thought=reply.thought)
    return verdict if verdict.label else replace(verdict, explanation=reply.text)


def take_majority(said: Sequence[Sequence[Verdict | None]]) -> list[Verdict | None]:
    """The verdict of most judges on each row, of those that gave one; None where none was asked.

    Its score is the mean of those who gave it.
    """
    return [_majority([each for each in row if each]) for row in zip(*said, strict=True)]


def _majority(verdicts: Sequence[Verdict]) -> Verdict | None:
    if not verdicts:
        return None
    votes = Counter(verdict.label for verdict in verdicts if verdict.label)
    if not votes:
        return Verdict(failure="no verdict of any judge")
    label, most = votes.most_common(1)[0]
    if most * 2 <= votes.total():
        return Verdict(failure="no majority")
    scores = [v.score for v in verdicts if v.label == label and v.score is not None]
    return Verdict(label, sum(scores) / len(scores))
