"""Levels of compression, their weights, and the score over them.

Score = sum of w(b) S(b) over sum of w(b), with w(b) = 1/sqrt(b): the harder the compression, the
more it counts. Source: the constrained-compression task of SOMA (DendriteHQ).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from odqa_fast.errors import OdqaError
from odqa_fast.shares import parse_levels

DEFAULT_LEVELS = ("0.2", "0.4", "0.6")


def compute_weights(levels: Sequence[float]) -> list[float]:
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


def compute_area(levels: Sequence[float], scores: Sequence[float]) -> float | None:
    """The area under the scores over the levels by trapezoids, divided by the levels' span: the
    mean height of the curve. None for a single level."""
    points = sorted(zip(levels, scores, strict=True))
    if len(points) < 2:
        return None
    whole = sum((b - a) * (s + t) / 2 for (a, s), (b, t) in pairwise(points))
    return whole / (points[-1][0] - points[0][0])
