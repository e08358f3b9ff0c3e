"""Is a compressed text short enough? Lengths, their ratio as papers print it, and the check."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from odqa_fast.errors import OdqaError
from odqa_fast.inference.token_count import token_counter
from odqa_fast.protocol.sentences import sentence_spans

Unit = Literal["chars", "words", "tokens"]

#: How much more characters a token of the compressed text may have, in SOMA's check: text without
#: spaces or with rare signs would have few tokens and say much.
SOMA_GROWTH = 1.8


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


def length_in(unit: Unit, tokenizer: str | None = None) -> Length:
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
    count, named = token_counter(tokenizer)
    return Length(unit, count, named)


def _words(text: str) -> int:
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one compressed text.

    Attributes:
        summary: the text, cut where the rule cuts.
        ratio: compressed over original; None where there is nothing to compare.
        reason: why it fails; empty where it passes.
        cut: whether the rule has cut it.
    """

    summary: str | None
    ratio: float | None
    reason: str
    cut: bool = False


@dataclass(frozen=True)
class RatioRule:
    """When a compressed text is short enough: where its ratio is at most the level, no tolerance.

    Attributes:
        length: in what the ratio is counted.
        max_growth: how many times the original's characters a token of the compressed text may
            have; needs lengths in tokens.
        truncate: cut what is too long behind the last whole sentence that fits.
    """

    length: Length
    max_growth: float | None = None
    truncate: bool = False

    def __post_init__(self) -> None:
        if self.max_growth is not None and self.length.unit != "tokens":
            raise OdqaError(
                "characters per token need lengths in tokens.",
                hint="Give --unit tokens --tokenizer FILE, a tokenizer.json.",
            )

    @property
    def tag(self) -> str:
        """The rule, for signatures."""
        parts = [self.length.tag]
        if self.max_growth is not None:
            parts.append(f"chars-per-token<={self.max_growth:g}x")
        return ",".join([*parts, *(["truncate"] if self.truncate else [])])

    def check(self, original: str, summary: str | None, level: float) -> Check:
        """Whether a summary passes at a level, and why not.

        Args:
            original: what was compressed.
            summary: the compressed text; None where there is none.
            level: the largest ratio, 0 < level <= 1.
        """
        count = self.length.count
        if summary is None:
            return Check(None, None, "no summary")
        whole = count(original)
        if not whole:
            return Check(summary, None, "no original")
        cut = False
        length = count(summary)
        if self.truncate and length / whole > level:
            summary, cut = self._truncated(summary, self.length.budget(whole, level)), True
            length = count(summary)
        ratio = length / whole
        if not summary.strip():
            return Check(summary, ratio, "blank", cut)
        if ratio > level:
            return Check(summary, ratio, "too long", cut)
        if self.max_growth is not None and length:
            growth = (len(summary) / length) / (len(original) / whole)
            if growth > self.max_growth:
                return Check(summary, ratio, "too many characters per token", cut)
        return Check(summary, ratio, "", cut)

    def _truncated(self, summary: str, budget: int) -> str:
        ends = [0, *(end for _, end in sentence_spans(summary))]

        def length(end: int) -> int:
            return self.length.count(summary[:end].rstrip())

        return summary[: ends[bisect_right(ends, budget, key=length) - 1]].rstrip()
