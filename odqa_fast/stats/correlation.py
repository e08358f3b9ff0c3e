"""Rank correlation, also with a third quantity held fixed."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from odqa_fast.stats.estimate import CONFIDENCE, Estimate, quantile

Floats = npt.NDArray[np.float64]


def rank_correlation(
    x: Floats, y: Floats, given: Floats | None = None, confidence: float = CONFIDENCE
) -> Estimate:
    """Spearman's correlation of two quantities of the same rows, with a third one held fixed.

    Undefined where a quantity does not vary, or follows from the third alone. The interval is
    Fisher's, of the number of rows less the quantities held fixed.

    Source: Spearman 1904; Fisher 1924, The distribution of the partial correlation coefficient.
    """
    n = len(x)
    r = _pearson(_ranks(x), _ranks(y))
    if given is not None and r is not None:
        rx, ry = _pearson(_ranks(x), _ranks(given)), _pearson(_ranks(y), _ranks(given))
        if rx is not None and ry is not None:
            rest = (1 - rx * rx) * (1 - ry * ry)
            r = (r - rx * ry) / math.sqrt(rest) if rest > 1e-12 else None
        # Where `given` does not vary there is nothing to hold fixed.
    if r is None:
        return Estimate.undefined(n)
    r = min(max(r, -1.0), 1.0)
    freedom = n - 3 - (given is not None)
    if freedom <= 0 or abs(r) == 1:
        return Estimate(r, None, None, n)
    reach = quantile(confidence) / math.sqrt(freedom)
    return Estimate(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach), n)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share their mean rank."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle: Floats = (last - (counts - 1) / 2)[where]
    return middle


def _pearson(x: Floats, y: Floats) -> float | None:
    x, y = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread else None
