"""From what became of each text to the score of each level, and over the levels."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from odqa_fast._kernels.sums import ExactSum
from odqa_fast.levels.options import Weight
from odqa_fast.levels.ratio import Check
from odqa_fast.levels.weights import compute_area, compute_weights, level_score
from odqa_fast.stats.clusters import clustered_mean

Interval = tuple[float, float]

#: What an `Outcome` has of each scored question.
_VALUES = ("score", "par", "noise_removed", "evidence_kept")


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


class _Mean:
    """The mean over texts of the means of their values, or over all values; exact."""

    def __init__(self, of: Weight) -> None:
        self._of = of
        self._sum = ExactSum()

    def add(self, texts: Iterable[Sequence[float]]) -> None:
        """Takes the values of each text."""
        if self._of == "questions":
            values = [value for each in texts for value in each]
        else:
            values = [mean for each in texts if (mean := _exact_mean(each)) is not None]
        self._sum.add(np.array(values, dtype=np.float64))

    def value(self) -> float | None:
        """The mean so far; None where nothing counts."""
        return self._sum.mean()


class LevelTally:
    """What became of the texts at one level: 16 bytes a text, however long they are."""

    def __init__(self, of: Weight) -> None:
        self.n = 0
        #: Of each text its part in the sum that the mean is of, and its size: 0 where no question
        #: of it is scored.
        self.parts, self.sizes = array("d"), array("d")
        self._of = of
        self._means = {name: _Mean(of) for name in (*_VALUES, "compliant")}
        self._ratio = ExactSum()
        self._reasons: Counter[str] = Counter()
        self._n_passing = self._n_cut = self._n_left_out = 0

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Counts the outcomes of some more texts."""
        self.n += len(outcomes)
        for name in _VALUES:
            self._means[name].add([getattr(outcome, name) for outcome in outcomes])
        passing = [outcome for outcome in outcomes if not outcome.check.reason]
        self._means["compliant"].add([outcome.score for outcome in passing])
        self._n_passing += len(passing)
        ratios = [o.check.ratio for o in outcomes if o.check.ratio is not None]
        self._ratio.add(np.array(ratios, dtype=np.float64))
        for outcome in outcomes:
            self.parts.append(_part(outcome.score, self._of))
            self.sizes.append(_size(outcome.score, self._of))
            self._reasons.update(outcome.reasons)
            self._n_cut += outcome.check.cut
            self._n_left_out += outcome.left_out

    def level(self, level: float, weight: float) -> Level:
        """The level that they are of."""
        means = {name: mean.value() for name, mean in self._means.items()}
        return Level(
            level=level,
            weight=weight,
            score=means["score"],
            interval=_bounded(self.parts, self.sizes),
            compliance=self._n_passing / self.n,
            score_compliant=means["compliant"],
            ratio=self._ratio.mean(),
            par=means["par"],
            noise_removed=means["noise_removed"],
            evidence_kept=means["evidence_kept"],
            n_texts=sum(size > 0 for size in self.sizes),
            n_cut=self._n_cut,
            n_left_out=self._n_left_out,
            reasons=dict(sorted(self._reasons.items())),
        )


def make_curve(tallies: Mapping[float, LevelTally]) -> Curve:
    """The scores of each level and over the levels."""
    shares = compute_weights(list(tallies))
    levels = tuple(
        tally.level(level, share)
        for (level, tally), share in zip(tallies.items(), shares, strict=True)
    )
    scores = [level.score for level in levels]
    known = [score for score in scores if score is not None]
    if len(known) < len(levels):
        return Curve(None, None, None, levels)
    # Of each text the weighted sum over the levels: its part in the score.
    texts = zip(*(tally.parts for tally in tallies.values()), strict=True)
    combined = array(
        "d", (sum(share * part for share, part in zip(shares, text, strict=True)) for text in texts)
    )
    return Curve(
        level_score(dict(zip(tallies, known, strict=True))),
        _bounded(combined, next(iter(tallies.values())).sizes),
        compute_area(list(tallies), known),
        levels,
    )


def _part(values: Sequence[float], of: Weight) -> float:
    """What a text adds to the sum that the mean is of."""
    return sum(values) if of == "questions" else (_exact_mean(values) or 0.0)


def _size(values: Sequence[float], of: Weight) -> float:
    return float(len(values)) if of == "questions" else float(bool(values))


def _exact_mean(values: Sequence[float]) -> float | None:
    if len(values) == 1:
        return values[0]
    total = ExactSum()
    total.add(np.array(values, dtype=np.float64))
    return total.mean()


def _bounded(parts: Sequence[float], sizes: Sequence[float]) -> Interval | None:
    """The interval of a mean over texts; those of size 0 are none of them."""
    sums = array("d", (part for part, size in zip(parts, sizes, strict=True) if size))
    estimate = clustered_mean(sums, array("d", filter(None, sizes)))
    if estimate.low is None or estimate.high is None:
        return None
    return max(0.0, estimate.low), min(1.0, estimate.high)
