"""In which order prompts run, and which of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odqa_fast.engines.generate.decoding import Decoding
from odqa_fast.engines.tokens import Ids

#: A beginning that two prompts share is computed once where it is at least this long. A shorter one
#: costs less again, beside other prompts, than what is left of a prompt costs by itself.
SHARED_TOKENS = 128

#: Caches are as long as the longest prompt of a class, rounded up to a multiple of this; shorter
#: ones are not worth a class of their own.
_STEP = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """How much runs at once.

    Args:
        rows: prompts that generate together.
        tokens: what the cache may hold, of all of them.
        prefill_tokens: of prompts that are read together, padding included.
        share: whether beginnings that prompts share are computed once.
    """

    rows: int
    tokens: int
    prefill_tokens: int
    share: bool = True

    def rows_of(self, length: int) -> int:
        """How many prompts of a length run together."""
        return max(1, min(self.rows, self.tokens // length))

    def halved(self, rows: int) -> Limits:
        """For half of the rows that were too many."""
        return replace(self, rows=rows // 2, prefill_tokens=max(1, self.prefill_tokens // 2))


def shared_length(a: Ids, b: Ids) -> int:
    """How many tokens two prompts have in common from their beginning."""
    n = min(len(a), len(b))
    differ = np.flatnonzero(a[:n] != b[:n])
    return int(differ[0]) if len(differ) else n


def classes(decodings: Iterable[Decoding]) -> Iterator[tuple[int, list[Decoding]]]:
    """Jobs for caches of one length, and that length.

    The longest come first, so that memory is asked for once and what does not fit is known at once.
    Jobs that share a beginning follow one another.
    """
    beginnings: dict[bytes, list[Decoding]] = {}
    for decoding in decodings:
        beginnings.setdefault(decoding.ids[:SHARED_TOKENS].tobytes(), []).append(decoding)
    groups = [
        sorted(group, key=lambda decoding: decoding.ids.tobytes()) for group in beginnings.values()
    ]
    longest = {id(group): max(decoding.room for decoding in group) for group in groups}
    groups.sort(key=lambda group: -longest[id(group)])
    capacity = 0
    members: list[Decoding] = []
    for group in groups:
        if _STEP < capacity >= 2 * longest[id(group)]:
            yield capacity, members
            members = []
        if not members:
            capacity = -(-longest[id(group)] // _STEP) * _STEP
        members += group
    if members:
        yield capacity, members


def batches(decodings: Iterable[Decoding], limits: Limits) -> Iterator[Sequence[Decoding]]:
    """Jobs of about one length, to be padded to the longest; longest first."""
    waiting = sorted(decodings, key=lambda decoding: -decoding.room)
    while waiting:
        rows = limits.rows_of(waiting[0].room)
        yield waiting[:rows]
        waiting = waiting[rows:]
