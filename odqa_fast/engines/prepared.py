"""What a row asks of a model, and its texts cut to what the model can take."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, Protocol

from odqa_fast.engines.base import Engine, Reply, Request
from odqa_fast.engines.prompt import filled


@dataclass(frozen=True, slots=True)
class Context:
    """What a row is asked about.

    Attributes:
        kind: what it is.
        texts: (title or nothing, text), in rank order.
    """

    kind: Literal["summary", "documents", "none"]
    texts: tuple[tuple[str, str], ...] = ()

    def plain(self) -> list[str]:
        """The texts by themselves."""
        return [text for _, text in self.texts]

    def shown(self, document: str = "") -> list[str]:
        """The texts as they stand in a prompt.

        Args:
            document: how a document does; see `prompt`. With its rank and title by default.
        """
        if self.kind != "documents":
            return self.plain()
        return [
            filled(
                document or ("[{rank}] {title}: {text}" if title else "[{rank}] {text}"),
                {"rank": str(rank), "title": title, "text": text},
            )
            for rank, (title, text) in enumerate(self.texts, 1)
        ]


NO_CONTEXT = Context("none")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a row asks.

    Attributes:
        request: equal requests have equal replies.
        seconds: what filling the template took.
        documents_left_out: whole texts that did not fit.
        chars_left_out: code points that did not fit, of texts as they stand in the prompt; those
            of whole texts included.
    """

    request: Hashable
    seconds: float = 0.0
    documents_left_out: int = 0
    chars_left_out: int = 0


class Worker(Protocol):
    """A reader or a compressor.

    Attributes:
        signature: all that could make it another text.
        facts: where and how it runs, for the summary of a run.
        needs_question: whether nothing can be asked without a question.
    """

    facts: dict[str, object]
    needs_question: bool

    @property
    def signature(self) -> str:
        """See above."""

    def prepare(self, question: str, context: Context) -> Prepared:
        """What a row asks."""

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, in the order in which they get done."""

    def close(self) -> None:
        """Let go of the model."""


def fitted(
    engine: Engine, fill: Callable[[Sequence[str]], Request], texts: Sequence[str]
) -> Prepared:
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
