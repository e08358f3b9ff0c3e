"""One prompt on its way to a reply."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.generate.sampling import Sampling
from odqa_fast.engines.thoughts import Growing, cut, split_thought
from odqa_fast.engines.tokens import Codec, Ids, TextStream

NOT_A_NUMBER = (
    "not a number: the model's logits ran over, as those of fp16 can; "
    "an export with --dtype fp32 may do."
)


class Decoding:
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
        #: What makes two decodings one and the same.
        limits = (request.max_new_tokens, request.thought_tokens)
        self.key = (ids.tobytes(), forced, request.stop, limits)
        self.max_new, self._thought_tokens = limits
        self._opened = codec.opens_thought and not request.prefill
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
        self._stream: TextStream | None = self._codec.stream()
        self._growing = Growing(self._stop, opened=self._opened)
        #: How many of the tokens are a thought, as far as it has room of its own.
        self._thought = 0

    @property
    def room(self) -> int:
        """Tokens the cache has to hold at most; the last token of a reply is never fed."""
        return len(self.ids) + self._thought_tokens + self.max_new - 1

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
        self._follow(token)
        if self._growing.has_ended:
            self._finish = "stop"
        elif len(self._tokens) >= (limit := self._thought + self.max_new):
            self._finish = "length"
            del self._tokens[limit:]
        return self.is_done

    def _follow(self, token: int) -> None:
        """Look at the text that a token adds, as long as it can matter."""
        if self._stream is None:
            return
        self._growing.add(self._stream.add(token))
        self._thought = min(self._growing.thought_pieces, self._thought_tokens)
        if self._growing.is_settled:
            self._stream = None

    def fail(self, error: str) -> None:
        """End without a reply."""
        self._finish, self._error = "error", error

    def reply(self) -> Reply:
        """The reply, once it is done."""
        assert self._finish is not None
        text, thought, finish = "", "", self._finish
        if finish != "error":
            said = split_thought(self._codec.decode(self._tokens), opened=self._opened)
            thought = said.thought
            text, _ = cut(said.text, self._stop)
            if said.is_open:
                finish = "length"
        return Reply(
            text=text,
            finish=finish,
            tokens_in=len(self.ids),
            tokens_out=len(self._tokens),
            seconds=self.seconds,
            error=self._error,
            tokenize_seconds=self.tokenize_seconds,
            queue_seconds=0.0 if self.started is None else self.started - self.ready,
            thought=thought,
        )
