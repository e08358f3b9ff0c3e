"""Tries that failed: whether and when to try again, and when to give up the whole endpoint."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from odqa_fast.engines.base import Reply
from odqa_fast.errors import EngineError

#: A server that asks for more patience than this is left for a later run.
LONGEST_WAIT_SECONDS = 300.0
_FIRST_WAIT_SECONDS = 1.0
#: So many requests in a row that failed for good, and the endpoint is given up.
_LONGEST_FAILURE = 20
#: So many that it refused in the same words, while it has taken none, likewise.
_MOST_EQUAL_REFUSALS = 5
#: So often an endpoint is asked again that replied, but with nothing: most say the same again.
_RETRIES_OF_REPLIES = 2

_LATER = "Run again later."

#: Refusals that are of one request, and say nothing of others.
_OF_ONE_REQUEST = re.compile(
    r"context|too long|too many tokens|max\w* .{0,40}(length|tokens)|content_filter", re.IGNORECASE
)


@dataclass(frozen=True)
class Failure:
    """A try that brought no reply.

    Attributes:
        kind: what happened, to count by.
        detail: the same in the endpoint's words.
        may_pass: whether another try may bring a reply.
        wait_seconds: what the server asked for.
        reply: what came in place of a reply, if the endpoint is in order but for this one.
    """

    kind: str
    detail: str
    may_pass: bool
    wait_seconds: float | None = None
    reply: Reply | None = None

    @property
    def error(self) -> str:
        """What `Reply.error` says."""
        return f"{self.kind}: {self.detail}"


@dataclass
class Patience:
    """How long an endpoint is waited for; shared by all requests to it.

    Args:
        endpoint: its name, for errors.
        retries: how often a try that failed is repeated.
        clock: tells seconds, from any start.
        sleep: waits so many seconds.
        jitter: a random number in [0, 1).
    """

    endpoint: str
    retries: int
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        self._resume_at = 0.0
        self._answered = False
        self._failed_in_a_row = 0
        self._equal_refusals = ("", 0)

    async def ready(self) -> None:
        """Waits until the endpoint may be asked."""
        while (ahead := self._resume_at - self.clock()) > 0:
            await self.sleep(ahead)

    def succeeded(self) -> None:
        """A reply came."""
        self._answered, self._failed_in_a_row = True, 0

    def try_again(self, failure: Failure, attempt: int) -> bool:
        """Whether a request should be tried again, once the endpoint is `ready`.

        Args:
            failure: of the last try.
            attempt: how many tries there were.

        Raises:
            EngineError: the endpoint is given up.
        """
        retries = self.retries
        if failure.reply is not None:
            retries = min(retries, _RETRIES_OF_REPLIES)
        if not failure.may_pass or attempt > retries:
            self._give_up_if_hopeless(failure)
            return False
        if failure.reply is None:
            self._back_off(attempt, failure.wait_seconds)
        return True

    def _back_off(self, attempt: int, asked_seconds: float | None) -> None:
        """Makes every request wait, for what one of them met the others will meet."""
        wait = asked_seconds
        if wait is None:
            # Waits that double, each of random length, so that clients do not come back in step.
            wait = _FIRST_WAIT_SECONDS * 2 ** (attempt - 1) * (0.5 + self.jitter() / 2)
        elif wait > LONGEST_WAIT_SECONDS:
            raise self.stopped(f"asks to wait {wait:.0f} s", _LATER)
        self._resume_at = max(self._resume_at, self.clock() + min(wait, LONGEST_WAIT_SECONDS))

    def _give_up_if_hopeless(self, failure: Failure) -> None:
        """Ends the run where a request failed as others will."""
        if failure.kind == "no connection" and not self._answered:
            raise self.stopped(f"cannot be reached: {failure.detail}", "Is it running?")
        if failure.may_pass:
            self._failed_in_a_row += 1
            if self._failed_in_a_row == _LONGEST_FAILURE:
                raise self.stopped(
                    f"has failed {_LONGEST_FAILURE} requests ({failure.error})", _LATER
                )
        elif failure.reply is None and not _OF_ONE_REQUEST.search(failure.detail):
            error, n = self._equal_refusals
            self._equal_refusals = (failure.error, n + 1 if error == failure.error else 1)
            if self._equal_refusals[1] >= _MOST_EQUAL_REFUSALS and not self._answered:
                raise self.stopped(
                    f"refuses every request ({failure.error})",
                    "What it names has to change: the model, the prompt or an option.",
                )

    def stopped(self, what: str, hint: str) -> EngineError:
        """The error that ends the run."""
        return EngineError(f"the endpoint {what}.", where=self.endpoint, hint=hint)
