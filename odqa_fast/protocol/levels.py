"""Levels of compression, their weights, and the score over them.

Score = sum of w(b) S(b) over sum of w(b), with w(b) = 1/sqrt(b): the harder the compression, the
more it counts. Source: the constrained-compression task of SOMA (DendriteHQ).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from odqa_fast.errors import OdqaError

DEFAULT_LEVELS = ("0.2", "0.4", "0.6")


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


def weights(levels: Sequence[float]) -> list[float]:
    """The share of each level in the score: 1/sqrt(b) over their sum, added in order."""
    raw = [1 / math.sqrt(level) for level in levels]
    total = sum(raw)
    return [weight / total for weight in raw]


def level_score(
    scores: Mapping[str, float | None] | Mapping[float, float | None],
    levels: Iterable[str | float] | None = None,
) -> float:
    """The score over levels.

    Args:
        scores: S(b) by level, as fractions or as percent.
        levels: those that a score is wanted over; by default all that there are scores of.

    Raises:
        OdqaError: a level has no score (none, None or NaN), or one too many has; and as
            `parse_levels`.
    """
    asked = {str(level): score for level, score in scores.items()}
    given = dict(zip(parse_levels(list(asked)), asked.values(), strict=True))
    wanted = list(given) if levels is None else parse_levels([str(level) for level in levels])
    scored = {level: s for level, s in given.items() if s is not None and not math.isnan(s)}
    if set(wanted) != set(scored):
        missing, more = set(wanted) - set(scored), set(scored) - set(wanted)
        raise OdqaError(
            f"level_score is given scores of the levels {_listed(scored)}; "
            + (f"missing: {_listed(missing)}." if missing else f"not asked for: {_listed(more)}.")
        )
    raw = [1 / math.sqrt(level) for level in scored]
    each = zip(raw, scored.values(), strict=True)
    return sum(weight * score for weight, score in each) / sum(raw)


def _listed(levels: Iterable[float]) -> str:
    return ", ".join(f"{level:g}" for level in sorted(levels)) or "none"


def area(levels: Sequence[float], scores: Sequence[float]) -> float | None:
    """The area under the scores over the levels by trapezoids, divided by the levels' span: the
    mean height of the curve. None for a single level."""
    points = sorted(zip(levels, scores, strict=True))
    if len(points) < 2:
        return None
    whole = sum((b - a) * (s + t) / 2 for (a, s), (b, t) in pairwise(points))
    return whole / (points[-1][0] - points[0][0])
