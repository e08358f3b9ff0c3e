"""The loop of decoders with a shared cache: prompts come into free places while others go on.

What is done leaves at once, and its place goes to the next prompt. A prompt whose beginning some
place already holds gets that as a copy, and only the rest of it is read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from time import perf_counter

import numpy as np

from odqa_fast.engines.generate.decoding import Decoding
from odqa_fast.engines.generate.scheduling import SHARED_TOKENS, Limits, classes, shared_length
from odqa_fast.engines.generate.shared_cache import SharedCache
from odqa_fast.engines.tokens import Ids

_NOTHING: Ids = np.empty(0, np.int64)


class Slots:
    """Runs decodings through a decoder with a shared cache."""

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache
        self._queue: deque[Decoding] = deque()
        self._active: list[Decoding] = []
        #: The prompt that each row of the cache holds, also rows that nobody uses any more.
        self._held: list[Ids] = []

    @property
    def running(self) -> int:
        """Rows in use: how many were too many, when memory ran out."""
        return max(1, len(self._held))

    def run(self, decodings: Iterable[Decoding], limits: Limits) -> Iterator[Decoding]:
        """Each decoding, once it is done."""
        for length, members in classes(decodings):
            rows = min(limits.rows_of(length), len(members))
            self._queue, self._active, self._held = deque(members), [], [_NOTHING] * rows
            self._cache.open(rows, length)
            while self._queue or self._active:
                while self._may_admit(limits):
                    yield from self._admit(limits)
                if self._active:
                    yield from self._step()
        self._held = []
        self._cache.close()

    def _may_admit(self, limits: Limits) -> bool:
        """Prompts are read several at a time where they are short."""
        free = len(self._held) - len(self._active)
        if not free or not self._queue:
            return False
        waiting = sum(len(self._queue[i].ids) for i in range(min(free, len(self._queue))))
        return 2 * free >= len(self._held) or waiting >= limits.prefill_tokens

    def _admit(self, limits: Limits) -> Iterator[Decoding]:
        """Read the next prompts."""
        first = len(self._active)
        source, known = self._longest_beginning(self._queue[0]) if limits.share else (first, 0)
        if known:
            group = [self._queue.popleft()]
        else:
            group = list(self._next_group(limits))
        begun = perf_counter()
        if known and source != first:
            self._cache.copy(source, first)
        output = self._cache.prefill(first, [decoding.ids for decoding in group], known)
        read = sum(len(decoding.ids) for decoding in group)
        seconds = perf_counter() - begun
        for row, decoding in enumerate(group, first):
            decoding.started = begun
            decoding.seconds += seconds * len(decoding.ids) / read
            decoding.length = len(decoding.ids)
            self._held[row] = decoding.ids
        self._active += group
        done = output.give(dict(enumerate(group)))
        yield from self._leave([first + row for row in done])

    def _longest_beginning(self, decoding: Decoding) -> tuple[int, int]:
        """The row that holds most of a prompt's beginning, and how much; its last token is read
        in any case, for its logits are wanted."""
        known = [shared_length(held, decoding.ids[:-1]) for held in self._held]
        # A place that is free and holds it as well needs no copy.
        best = max(range(len(known)), key=lambda row: (known[row], row == len(self._active)))
        return (best, known[best]) if known[best] >= SHARED_TOKENS else (best, 0)

    def _next_group(self, limits: Limits) -> Iterator[Decoding]:
        """Prompts that are read together: as many as the limit allows, and none of which could
        copy its beginning from another."""
        free = len(self._held) - len(self._active)
        group: list[Decoding] = []
        longest = 0
        while self._queue and len(group) < free:
            decoding = self._queue[0]
            longest = max(longest, len(decoding.ids))
            if group and longest * (len(group) + 1) > limits.prefill_tokens:
                return
            others = [*self._held, *(each.ids for each in group)] if limits.share and group else []
            if any(shared_length(each, decoding.ids[:-1]) >= SHARED_TOKENS for each in others):
                return
            group.append(decoding)
            yield self._queue.popleft()

    def _step(self) -> Iterator[Decoding]:
        """Take all places on by one token."""
        begun = perf_counter()
        output = self._cache.step(
            [decoding.next for decoding in self._active],
            [decoding.length for decoding in self._active],
        )
        done = output.give(dict(enumerate(self._active)))
        share = (perf_counter() - begun) / len(self._active)
        for decoding in self._active:
            decoding.length += 1
            decoding.seconds += share
        yield from self._leave(done)

    def _leave(self, rows: list[int]) -> Iterator[Decoding]:
        """Jobs that are done; the last places move into theirs, so that those in use adjoin."""
        for row in sorted(rows, reverse=True):
            decoding = self._active[row]
            last = len(self._active) - 1
            if row != last:
                self._cache.copy(last, row)
                self._active[row], self._held[row] = self._active[last], self._held[last]
            self._active.pop()
            yield decoding
