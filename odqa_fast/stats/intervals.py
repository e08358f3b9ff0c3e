"""Intervals of means, shares and differences."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from odqa_fast.stats.estimate import CONFIDENCE, Estimate, quantile

Floats = npt.NDArray[np.float64]


def share(hits: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """A share of n rows with Wilson's interval, which stays inside [0, 1] and holds near its ends.

    Source: Wilson 1927, Probable inference, the law of succession, and statistical inference.
    """
    if n == 0:
        return Estimate.undefined(0)
    z = quantile(confidence)
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # The ends of 0 and n hits are 0 and 1, but for rounding.
    low = 0.0 if hits == 0 else middle - reach
    high = 1.0 if hits == n else middle + reach
    return Estimate(p, low, high, n)


def mean(values: Floats, confidence: float = CONFIDENCE) -> Estimate:
    """A mean with its normal interval; no interval for fewer than two values."""
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else None, None, None, n)
    return Estimate.around(float(values.mean()), _error(values), n, confidence)


def difference(a: Floats, b: Floats, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of `a` less that of `b`, two groups of rows, with Welch's error; `n` counts both."""
    n = len(a) + len(b)
    if len(a) < 2 or len(b) < 2:
        return Estimate.undefined(n)
    error = math.hypot(_error(a), _error(b))
    return Estimate.around(float(a.mean() - b.mean()), error, n, confidence)


def prediction_powered(
    labels: Floats, predicted: Floats, unlabelled: Floats, confidence: float = CONFIDENCE
) -> Estimate:
    """The mean label of all rows, from a few labels and a prediction of every row.

    The mean prediction of the unlabelled rows, set right by what the predictions of the labelled
    ones were wrong by; predictions weigh as much as they are worth (power tuning), so that the
    interval is not wider than that of the labels alone but for chance.

    Args:
        labels: of the labelled rows, e.g. what people said.
        predicted: of the same rows, e.g. what a judge said.
        unlabelled: predictions of the other rows.
        confidence: of the interval.

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient prediction-powered inference,
        section 6 and example 6.1.
    """
    n, more = len(labels), len(unlabelled)
    if n < 2 or more < 2:
        return Estimate.undefined(n + more)
    spread = float(np.concatenate([predicted, unlabelled]).var(ddof=1))
    covariance = float(np.mean((predicted - predicted.mean()) * (labels - labels.mean())))
    weight = covariance / ((1 + n / more) * spread) if spread else 0.0
    weight = min(max(weight, 0.0), 1.0)
    value = weight * unlabelled.mean() + (labels - weight * predicted).mean()
    error = math.hypot(weight * _error(unlabelled), _error(labels - weight * predicted))
    return Estimate.around(float(value), error, n + more, confidence)


def _error(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))
