"""Shares and levels as people write them: fractions or percent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from odqa_fast.errors import OdqaError


def as_fraction(text: str, kind: str) -> tuple[float, bool]:
    """A share as a fraction, and whether it was written in percent: with the sign, or from 2 on.

    Args:
        text: what was written: `0.2`, `20%` or `20`.
        kind: what to call it in messages.

    Raises:
        OdqaError: it is no finite number, or between 1 and 2 without the sign: either could be
            meant.
    """
    written = text.strip()
    try:
        value = float(written.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OdqaError(f"{text!r} is no {kind}.", hint="E.g. 0.2, or 20%.")
    if written.endswith("%") or value >= 2:
        return value / 100, True
    if value > 1:
        raise OdqaError(
            f"{kind} {written} could be a fraction or percent.",
            hint=f"Write {written}% or {value / 100:g}.",
        )
    return value, False


def parse_levels(texts: Sequence[str]) -> list[float]:
    """Levels as fractions, in the order given.

    Args:
        texts: all as fractions (`0.2`) or all as percent (`20`, `20%`).

    Raises:
        OdqaError: none is given, one stands twice, is not above 0 or is above 100 %, or the two
            spellings are mixed; and as `as_fraction`.
    """
    if not texts:
        raise OdqaError("no level given.", hint="E.g. --levels 0.2,0.4,0.6")
    levels, spellings = [], set()
    for text in map(str.strip, texts):
        level, percent = as_fraction(text, "level")
        spellings.add(percent)
        if level <= 0:
            raise OdqaError(f"level must be greater than 0, not {text}.")
        if level > 1:
            raise OdqaError(f"level must be at most 1 or 100 %, not {text}.")
        levels.append(level)
    if len(spellings) > 1:
        raise OdqaError(
            f"levels {', '.join(texts)} mix fractions and percent.",
            hint="Write them all one way, e.g. 0.2,0.4,0.6 or 20,40,60.",
        )
    if len(set(levels)) < len(levels):
        raise OdqaError(f"levels {', '.join(texts)} name one twice.")
    return levels
