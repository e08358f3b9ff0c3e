"""How far raters agree, and how far beyond chance."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from odqa_fast.stats.estimate import CONFIDENCE, Estimate
from odqa_fast.stats.intervals import share

Counts = npt.NDArray[np.int64]


def contingency(a: npt.ArrayLike, b: npt.ArrayLike, n_categories: int) -> Counts:
    """Rows by category of rater a (down) and rater b (across); categories are 0, 1, ..."""
    pairs = np.asarray(a, np.int64) * n_categories + np.asarray(b, np.int64)
    counts = np.bincount(pairs, minlength=n_categories * n_categories)
    return counts.reshape(n_categories, n_categories)


def accuracy(table: Counts, confidence: float = CONFIDENCE) -> Estimate:
    """The share of rows on which two raters agree, of a square table of counts."""
    return share(int(np.trace(table)), int(table.sum()), confidence)


def cohen_kappa(table: Counts, confidence: float = CONFIDENCE) -> Estimate:
    """Cohen's kappa of a square table of counts; undefined where both always say the same.

    Source: Cohen 1960; the error is that of Fleiss, Cohen and Everitt 1969, Large sample standard
        errors of kappa and weighted kappa, equation 13.
    """
    n = int(table.sum())
    if n == 0:
        return Estimate.undefined(0)
    p = table / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    chance = float(rows @ columns)
    if math.isclose(chance, 1):
        return Estimate.undefined(n)
    kappa = (float(np.trace(p)) - chance) / (1 - chance)
    rest = 1 - kappa
    agreed = np.diag(p)
    apart = p.copy()
    np.fill_diagonal(apart, 0)
    variance = (
        float(agreed @ (1 - (rows + columns) * rest) ** 2)
        + rest**2 * float((apart * (columns[:, None] + rows[None, :]) ** 2).sum())
        - (kappa - chance * rest) ** 2
    ) / (n * (1 - chance) ** 2)
    return Estimate.around(kappa, math.sqrt(max(variance, 0.0)), n, confidence)


def fleiss_kappa(counts: Counts, confidence: float = CONFIDENCE) -> Estimate:
    """Fleiss's kappa of several raters.

    Args:
        counts: one row per item, one column per category: how many raters chose it. Every item
            has the same number of raters, two or more.
        confidence: of the interval.

    Source: Fleiss 1971; the error is that of Gwet 2021, Large-sample variance of Fleiss
        generalized kappa, which holds whatever the true kappa is.
    """
    n = len(counts)
    if n < 2:
        return Estimate.undefined(n)
    raters = int(counts[0].sum())
    shares = counts.sum(axis=0) / (n * raters)
    chance = float(shares @ shares)
    if math.isclose(chance, 1):
        return Estimate.undefined(n)
    agreed = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    kappa = (float(agreed.mean()) - chance) / (1 - chance)
    item_kappa = (agreed - chance) / (1 - chance)
    item_chance = counts @ shares / raters
    linear = item_kappa - 2 * (1 - kappa) * (item_chance - chance) / (1 - chance)
    error = math.sqrt(float(((linear - kappa) ** 2).sum()) / (n * (n - 1)))
    return Estimate.around(kappa, error, n, confidence)
