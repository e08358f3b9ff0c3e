"""How long a text is, in characters, words or tokens, and ratios of lengths as papers have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from odqa_fast.engines.token_count import make_token_counter
from odqa_fast.errors import OdqaError

Unit = Literal["chars", "words", "tokens"]


@dataclass(frozen=True, slots=True)
class Lengths:
    """The lengths of a compressed text and of the original, in one unit."""

    compressed: int
    original: int

    @property
    def ratio(self) -> float:
        """Compressed over original: CR, and what a level bounds.

        Raises:
            ZeroDivisionError: the original is empty.
        """
        return self.compressed / self.original

    @property
    def acorn(self) -> float:
        """The ratio as ACoRN's code has it: rounded to two decimals for each text."""
        return round(self.ratio, 2)

    @property
    def times(self) -> float:
        """Original over compressed, 1 where nothing is left: what LLMLingua calls the ratio."""
        return self.original / self.compressed if self.compressed else 1.0

    @property
    def rate(self) -> float:
        """One over `times`: what LLMLingua calls the rate."""
        return 1 / self.times


@dataclass(frozen=True)
class Length:
    """How long a text is: `count` in some unit; `tag` names it in signatures."""

    unit: Unit
    count: Callable[[str], int] = field(repr=False, compare=False)
    tag: str

    def budget(self, original: int, level: float) -> int:
        """The longest that something of a length may become to pass at a level."""
        budget = int(level * original)
        # The product is rounded; the quotient is what the check looks at.
        while original and (budget + 1) / original <= level:
            budget += 1
        while budget and budget / original > level:
            budget -= 1
        return budget


def make_length(unit: Unit, tokenizer: str | None = None) -> Length:
    """Lengths in characters (code points), words (between white space) or tokens.

    Args:
        unit: which.
        tokenizer: for tokens, the `tokenizer.json` to count with.

    Raises:
        OdqaError: tokens without a tokenizer, or a tokenizer without tokens.
        EngineError: the library `tokenizers` is not installed.
        ModelError: the file is no tokenizer.
    """
    if (unit == "tokens") != (tokenizer is not None):
        raise OdqaError(
            "a length in tokens needs a tokenizer."
            if tokenizer is None
            else f"a tokenizer is named, but lengths are in {unit}.",
            hint="Give --unit tokens --tokenizer FILE, a tokenizer.json.",
        )
    if unit == "chars":
        return Length(unit, len, "chars")
    if unit == "words":
        return Length(unit, _words, "words")
    if unit != "tokens":
        raise OdqaError(f"there is no unit {unit!r}.", hint="Units: chars, words, tokens.")
    assert tokenizer is not None
    count, named = make_token_counter(tokenizer)
    return Length(unit, count, named)


def _words(text: str) -> int:
    return len(text.split())
