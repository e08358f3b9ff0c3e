"""The mean of rows that come in clusters, such as questions about one text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from odqa_fast.stats.estimate import CONFIDENCE, Estimate


def clustered_mean(
    sums: Sequence[float], sizes: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """sum(sums) / sum(sizes), where clusters are what was sampled.

    Its variance is n / (n - 1) times the sum of (sums - mean * sizes)^2 over (sum of sizes)^2, its
    quantile Student's with n - 1 degrees of freedom. With sizes of 1 it is the usual interval of a
    mean; `n` counts clusters, and fewer than two give no interval.

    Args:
        sums: of each cluster, the sum of its rows' values.
        sizes: of each cluster, how many rows, or what they weigh.
        confidence: of the interval, two-sided.

    Source: Cochran 1977, Sampling Techniques, 2.9 to 2.11 (the ratio estimator).
    """
    n, total = len(sums), math.fsum(sizes)
    if not total:
        return Estimate.undefined(n)
    mean = math.fsum(sums) / total
    if n < 2:
        return Estimate(mean, None, None, n)
    squares = math.fsum((s - mean * m) ** 2 for s, m in zip(sums, sizes, strict=True))
    error = math.sqrt(n / (n - 1) * squares) / total
    reach = student_quantile((1 + confidence) / 2, n - 1) * error
    return Estimate(mean, mean - reach, mean + reach, n)


def student_quantile(p: float, df: int) -> float:
    """The quantile of Student's t: where its distribution reaches p, 0.5 <= p < 1.

    Up to 200 degrees of freedom by bisection of the distribution's finite sum (Abramowitz and
    Stegun 26.7.3 and 26.7.4), above by the expansion 26.7.5, whose error is there below 1e-9.
    """
    if df <= 200:
        low, high = 0.0, math.pi / 2
        while (middle := (low + high) / 2) not in (low, high):
            if (1 + _within(middle, df)) / 2 < p:
                low = middle
            else:
                high = middle
        return math.tan(low) * math.sqrt(df)
    z = NormalDist().inv_cdf(p)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / float(df) ** k for k, term in enumerate(terms, 1))


def _within(angle: float, df: int) -> float:
    """The probability of |t| <= sqrt(df) tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if df % 2:
        term, total = cosine, cosine if df > 1 else 0.0
        for k in range(3, df - 1, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * total)
    term = total = 1.0
    for k in range(2, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return sine * total
