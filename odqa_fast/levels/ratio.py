"""Is a compressed text short enough for its level? The rule and the check."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from odqa_fast.errors import OdqaError
from odqa_fast.texts.length import Length
from odqa_fast.texts.sentences import find_sentences

#: How much more characters a token of the compressed text may have, in SOMA's check: text without
#: spaces or with rare signs would have few tokens and say much.
SOMA_GROWTH = 1.8


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
        ends = [0, *(end for _, end in find_sentences(summary))]

        def length(end: int) -> int:
            return self.length.count(summary[:end].rstrip())

        return summary[: ends[bisect_right(ends, budget, key=length) - 1]].rstrip()
