"""One prompt on its way to a reply."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
import numpy.typing as npt

from odqa_fast.inference.engine import Reply, Request
from odqa_fast.inference.generate.sampling import Sampling
from odqa_fast.inference.tokens import Codec, Ids

NOT_A_NUMBER = (
    "not a number: the model's logits ran over, as those of float16 can; "
    "a float32 export of the model may do."
)


class Job:
    """One prompt on its way to a reply.

    Attributes:
        ids: the prompt.
        next: the token to feed next.
        length: tokens that the cache holds of it.
        seconds: what generating took so far; of work for several, this one's share.
        ready, started: when it was given, and when its generating began (perf_counter).
    """

    def __init__(
        self,
        request: Request,
        ids: Ids,
        codec: Codec,
        sampling: Sampling,
        eos_ids: Collection[int],
        forced: tuple[int, ...] = (),
    ) -> None:
        self.ids = ids
        #: What makes two jobs one and the same.
        self.key = (ids.tobytes(), forced, request.stop, request.max_new_tokens)
        self.max_new = request.max_new_tokens
        self.tokenize_seconds = 0.0
        self.ready = 0.0
        self._stop = request.stop
        self._codec = codec
        self._sampling = sampling
        self._eos_ids = eos_ids
        self._forced = forced
        self.restart()

    def restart(self) -> None:
        """Forget all that was generated."""
        self.next = 0
        self.length = 0
        self.seconds = 0.0
        self.started: float | None = None
        self._tokens: list[int] = []
        self._n_forced = 0
        self._finish: Literal["stop", "length", "error"] | None = None
        self._error = ""
        self._draws = self._sampling.draws(self.ids)
        self._stream = self._codec.stream() if self._stop else None
        self._seen = ""

    @property
    def room(self) -> int:
        """Tokens the cache has to hold at most; the last token of a reply is never fed."""
        return len(self.ids) + self.max_new - 1

    @property
    def wants_logits(self) -> bool:
        """Whether the likeliest token is not enough."""
        return self._draws is not None

    @property
    def is_done(self) -> bool:
        """Whether the reply is there."""
        return self._finish is not None

    def take(self, token: int, logits: npt.NDArray[np.float32] | None = None) -> bool:
        """Go on by one token, the likeliest one or one drawn; tells whether that was the end."""
        if self._n_forced < len(self._forced):
            self.next = self._forced[self._n_forced]
            self._n_forced += 1
            return False
        if self._draws is not None and logits is not None:
            token = self._draws.next(logits)
        self.next = token
        if token in self._eos_ids:
            self._finish = "stop"
            return True
        self._tokens.append(token)
        if self._stops(token):
            self._finish = "stop"
        elif len(self._tokens) == self.max_new:
            self._finish = "length"
        return self.is_done

    def _stops(self, token: int) -> bool:
        if self._stream is None:
            return False
        # A stop text may have begun in what was there before.
        longest = max(map(len, self._stop))
        new = self._stream.add(token)
        self._seen = self._seen[-(longest - 1) :] + new if longest > 1 else new
        return any(stop in self._seen for stop in self._stop)

    def fail(self, error: str) -> None:
        """End without a reply."""
        self._finish, self._error = "error", error

    def reply(self) -> Reply:
        """The reply, once it is done."""
        assert self._finish is not None
        text = ""
        if self._finish != "error":
            text = self._codec.decode(self._tokens)
            ends = [at for stop in self._stop if (at := text.find(stop)) >= 0]
            text = text[: min(ends, default=None)]
        return Reply(
            text=text,
            finish=self._finish,
            tokens_in=len(self.ids),
            tokens_out=len(self._tokens),
            seconds=self.seconds,
            error=self._error,
            tokenize_seconds=self.tokenize_seconds,
            queue_seconds=0.0 if self.started is None else self.started - self.ready,
        )
