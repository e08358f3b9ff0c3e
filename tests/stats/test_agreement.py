"""Covers: accuracy, Cohen's and Fleiss's kappa, rank correlation.

Compared against: values of statsmodels 0.15, scikit-learn 1.9, irrCAC 0.4.4, pingouin 0.6.1 and
SciPy 1.12, each call named, and arithmetic by hand. Run: pytest tests/stats/test_agreement.py
"""

from __future__ import annotations

import numpy as np
import pytest

from odqa_fast.stats.agreement import accuracy, cohen_kappa, contingency, fleiss_kappa
from odqa_fast.stats.correlation import rank_correlation
from odqa_fast.stats.estimate import Estimate


@pytest.mark.parametrize(
    ("table", "kappa", "low", "high"),
    [  # statsmodels.stats.inter_rater.cohens_kappa(table): kappa, kappa_low, kappa_upp
        (
            [[20, 5, 2], [3, 15, 4], [1, 6, 14]],
            0.549079754601227,
            0.3887465128589603,
            0.7094129963434939,
        ),
        ([[45, 15], [25, 15]], 0.13043478260869554, -0.06293827779258965, 0.3238078430099807),
    ],
)
def test_cohens_kappa(table: list[list[int]], kappa: float, low: float, high: float) -> None:
    found = cohen_kappa(np.array(table))
    assert (found.value, found.low, found.high) == pytest.approx((kappa, low, high), abs=1e-12)


def test_two_raters_row_by_row() -> None:
    a, b = [0, 0, 1, 1, 2, 2, 0, 1, 2, 0], [0, 1, 1, 1, 2, 0, 0, 1, 2, 2]
    table = contingency(a, b, 3)
    assert table.tolist() == [[2, 1, 1], [0, 3, 0], [1, 0, 2]]
    # sklearn.metrics.cohen_kappa_score(a, b), accuracy_score(a, b)
    assert cohen_kappa(table).value == pytest.approx(0.5522388059701492, abs=1e-12)
    assert accuracy(table).value == 0.7


def test_raters_who_never_vary_have_no_kappa() -> None:
    assert cohen_kappa(contingency([1, 1], [1, 1], 2)) == Estimate(None, None, None, 2)
    assert cohen_kappa(contingency([], [], 2)).value is None
    assert fleiss_kappa(np.array([[3, 0], [3, 0]])) == Estimate(None, None, None, 2)
    # One always yes, the other half and half: by chance they agree as often as they do.
    assert cohen_kappa(contingency([1, 1], [0, 1], 2)).value == 0


#: 10 items, 14 raters, 5 categories: the worked example of most texts on Fleiss's kappa.
RATINGS = np.array(
    [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]
)  # fmt: skip


def test_fleiss_kappa() -> None:
    found = fleiss_kappa(RATINGS)
    # statsmodels.stats.inter_rater.fleiss_kappa(RATINGS)
    assert found.value == pytest.approx(0.20993070442195522, abs=1e-12)
    # irrCAC.raw.CAC(one column per rater).fleiss()["est"]["se"], which rounds to five digits
    assert (found.high - found.low) / 2 / 1.959963984540054 == pytest.approx(0.09237, abs=5e-6)


X = np.array([0.5, 1, 0, 1, 0.5, 0, 1, 1, 0, 0.5, 1, 0])
Y = np.array([12, 40, 7, 33, 18, 25, 60, 22, 9, 14, 30, 11.0])
Z = np.array([0.4, 1, 0, 0.8, 0.3, 0.2, 0.5, 1, 0.1, 0.6, 0.7, 0])


def test_rank_correlation() -> None:
    found = rank_correlation(X, Y)
    # scipy.stats.spearmanr(X, Y); pingouin.corr(X, Y, method="spearman")["CI95"]
    assert found.value == pytest.approx(0.8045822812818136, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((0.43, 0.94), abs=5e-3)


def test_partial_rank_correlation() -> None:
    found = rank_correlation(X, Y, given=Z)
    # pingouin.partial_corr(frame, "x", "y", "z", method="spearman")
    assert found.value == pytest.approx(0.5128875480065831, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((-0.13, 0.85), abs=5e-3)


def test_what_does_not_vary_does_not_correlate() -> None:
    same = np.ones(5)
    rising = np.arange(5.0)
    assert rank_correlation(rising, same) == Estimate(None, None, None, 5)
    assert rank_correlation(np.array([]), np.array([])).value is None
    # Nothing is left of what follows from the third quantity alone.
    assert rank_correlation(rising, np.array([1.0, 0, 2, 4, 3]), given=rising).value is None
    # A third one that never varies holds nothing fixed.
    assert rank_correlation(rising, -rising, given=same) == Estimate(-1.0, None, None, 5)
