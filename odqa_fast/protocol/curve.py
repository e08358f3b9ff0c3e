"""From what became of each text to the score of each level, and over the levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from odqa_fast._kernels.sums import ExactSum
from odqa_fast.protocol.levels import area, level_score, weights
from odqa_fast.protocol.ratio import Check
from odqa_fast.stats.clusters import clustered_mean

Of = Literal["texts", "questions"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one text at one level.

    Attributes:
        check: whether its compressed text passed.
        reasons: why questions have no score of their own.
        left_out: questions whose reader did not take the whole compressed text.
        score, par, noise_removed, evidence_kept: the values of its scored questions.
    """

    check: Check
    reasons: tuple[str, ...]
    left_out: int
    score: list[float]
    par: list[float]
    noise_removed: list[float]
    evidence_kept: list[float]


@dataclass(frozen=True)
class Level:
    """One level; every mean is taken as S(b) is, None where nothing counts.

    Attributes:
        level: the largest ratio of compressed to original.
        weight: its share in the score.
        score: S(b). A text that does not pass scores 0.
        interval: of S(b), 95 %, texts as clusters.
        compliance: share of the texts that pass.
        score_compliant: the same mean over those alone.
        ratio: mean of compressed over original, in the unit of the check.
        par: whether an answer stands in the compressed text, passing or not.
        noise_removed: share of the injected pieces that are gone.
        evidence_kept: share of the text's own sentences with an answer that are still there.
        n_texts: texts with a scored question.
        n_cut: texts that were cut to pass.
        n_left_out: questions whose reader did not take the whole compressed text.
        reasons: questions without a score of their own, by reason.
    """

    level: float
    weight: float
    score: float | None
    interval: Interval | None
    compliance: float
    score_compliant: float | None
    ratio: float | None
    par: float | None
    noise_removed: float | None
    evidence_kept: float | None
    n_texts: int
    n_cut: int
    n_left_out: int
    reasons: dict[str, int]


@dataclass(frozen=True)
class Curve:
    """All levels.

    Attributes:
        score: the weighted score.
        interval: its interval, 95 %, texts as clusters.
        area: the mean height of S(b) between the lowest and the highest level.
        levels: one by one, in the order asked for.
    """

    score: float | None
    interval: Interval | None
    area: float | None
    levels: tuple[Level, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `summary.json` holds it."""
        return asdict(self)


def curve_of(outcomes: Mapping[float, Sequence[Outcome]], of: Of) -> Curve:
    """The scores of each level and over the levels."""
    shares = weights(list(outcomes))
    levels = tuple(
        _level(level, share, each, of)
        for (level, each), share in zip(outcomes.items(), shares, strict=True)
    )
    scores = [level.score for level in levels]
    known = [score for score in scores if score is not None]
    if len(known) < len(levels):
        return Curve(None, None, None, levels)
    # Of each text the weighted sum over the levels: its part in the score.
    texts = zip(*outcomes.values(), strict=True)
    combined = [
        (
            sum(share * _part(each.score, of) for share, each in zip(shares, text, strict=True)),
            _size(text[0].score, of),
        )
        for text in texts
        if text[0].score
    ]
    return Curve(
        level_score(dict(zip(outcomes, known, strict=True))),
        _bounded(*zip(*combined, strict=True)),
        area(list(outcomes), known),
        levels,
    )


def _level(level: float, share: float, outcomes: Sequence[Outcome], of: Of) -> Level:
    def mean(
        values: Callable[[Outcome], Sequence[float]], among: Sequence[Outcome] = outcomes
    ) -> float | None:
        return _mean([values(outcome) for outcome in among], of)

    passing = [outcome for outcome in outcomes if not outcome.check.reason]
    ratios = [o.check.ratio for o in outcomes if o.check.ratio is not None]
    scored = [o.score for o in outcomes if o.score]
    reasons = Counter(reason for outcome in outcomes for reason in outcome.reasons)
    return Level(
        level=level,
        weight=share,
        score=mean(lambda o: o.score),
        interval=_bounded(
            [_part(values, of) for values in scored], [_size(values, of) for values in scored]
        ),
        compliance=len(passing) / len(outcomes),
        score_compliant=mean(lambda o: o.score, passing),
        ratio=_exact_mean(ratios),
        par=mean(lambda o: o.par),
        noise_removed=mean(lambda o: o.noise_removed),
        evidence_kept=mean(lambda o: o.evidence_kept),
        n_texts=len(scored),
        n_cut=sum(outcome.check.cut for outcome in outcomes),
        n_left_out=sum(outcome.left_out for outcome in outcomes),
        reasons=dict(sorted(reasons.items())),
    )


def _mean(values: Sequence[Sequence[float]], of: Of) -> float | None:
    if of == "questions":
        return _exact_mean([value for each in values for value in each])
    return _exact_mean([mean for each in values if (mean := _exact_mean(each)) is not None])


def _part(values: Sequence[float], of: Of) -> float:
    """What a text adds to the sum that the mean is of."""
    return sum(values) if of == "questions" else (_exact_mean(values) or 0.0)


def _size(values: Sequence[float], of: Of) -> float:
    return float(len(values)) if of == "questions" else 1.0


def _exact_mean(values: Sequence[float]) -> float | None:
    if len(values) == 1:
        return values[0]
    total = ExactSum()
    total.add(np.array(values, dtype=np.float64))
    return total.mean()


def _bounded(sums: Sequence[float], sizes: Sequence[float]) -> Interval | None:
    estimate = clustered_mean(sums, sizes)
    if estimate.low is None or estimate.high is None:
        return None
    return max(0.0, estimate.low), min(1.0, estimate.high)
