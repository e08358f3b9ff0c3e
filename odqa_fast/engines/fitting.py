"""Texts cut to what a model can take."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from time import perf_counter

from odqa_fast.engines.base import Engine, Prepared, Request


def fit(engine: Engine, fill: Callable[[Sequence[str]], Request], texts: Sequence[str]) -> Prepared:
    """A request that the engine can take.

    Where it is too long, whole texts go, from the end; where the first alone is too long, its end
    goes, up to a white space if one is near. A prompt that is too long without any text stays so:
    the engine says it.

    Args:
        engine: who is asked how long a prompt is.
        fill: makes a request of texts.
        texts: in rank order.
    """
    seconds = 0.0

    def filled(kept: Sequence[str]) -> Request:
        nonlocal seconds
        begun = perf_counter()
        request = fill(kept)
        seconds += perf_counter() - begun
        return request

    def fits(kept: Sequence[str]) -> bool:
        tokens = engine.count_tokens(filled(kept))
        limit = engine.max_input_tokens
        return tokens is None or limit is None or tokens <= limit

    if fits(texts):
        return Prepared(filled(texts), seconds)
    n_kept = _largest(len(texts) - 1, lambda n: fits(texts[:n]))
    kept = list(texts[:n_kept])
    if not kept and texts:
        first = texts[0]
        piece = _whole_words(first, _largest(len(first) - 1, lambda n: fits([first[:n]])))
        kept = [piece] if piece else []
    left_out = len(texts) - len(kept)
    chars = sum(map(len, texts)) - sum(map(len, kept))
    return Prepared(filled(kept), seconds, left_out, chars)


#: No word of a script that puts spaces between words is longer.
_LONGEST_WORD = 64


def _whole_words(text: str, n: int) -> str:
    """The first `n` characters without the word that they cut, if there is another one.

    Where no white space is near, as in scripts without any, the word is cut between two characters
    as a reader sees them.
    """
    piece = text[:n]
    if not text[n : n + 1].isspace():
        near = range(n - 1, max(-1, n - 2 - _LONGEST_WORD), -1)
        space = next((at for at in near if piece[at].isspace()), 0)
        whole = piece[:space].rstrip()
        piece = whole or piece[: _character_border(text, n)]
    return piece.rstrip()


def _character_border(text: str, n: int) -> int:
    """The last place up to `n` that parts no accent, joiner or skin tone from its character."""
    while 0 < n < len(text) and (_belongs_to_last(text[n]) or text[n - 1] == _JOINER):
        n -= 1
    return n


_JOINER = "\u200d"


def _belongs_to_last(char: str) -> bool:
    return (
        unicodedata.category(char).startswith("M")
        or char == _JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which something holds that holds for smaller ones."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
