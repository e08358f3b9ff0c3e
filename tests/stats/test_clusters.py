"""Covers: means of clustered rows, Student's quantiles. Compared against: tables, arithmetic by
hand, simulation. Run: pytest tests/stats/test_clusters.py
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from odqa_fast.stats.clusters import clustered_mean, student_quantile


@pytest.mark.parametrize(
    ("df", "expected"),
    [
        (1, 12.7062047), (2, 4.3026527), (3, 3.1824463), (4, 2.7764451), (5, 2.5705818),
        (9, 2.2621572), (10, 2.2281389), (29, 2.0452296), (30, 2.0422725), (60, 2.0002978),
        (120, 1.9799304), (200, 1.9718962), (201, 1.9718365), (1000, 1.9623391),
    ],
)  # fmt: skip
def test_students_quantiles_are_those_of_the_tables(df: int, expected: float) -> None:
    assert student_quantile(0.975, df) == pytest.approx(expected, abs=1e-7)


def test_both_ways_to_the_quantile_meet() -> None:
    # At 200 degrees by the finite sum, at 201 by the expansion: the step is that of 199 to 200.
    steps = [student_quantile(0.975, df) - student_quantile(0.975, df + 1) for df in (199, 200)]
    assert steps[1] == pytest.approx(steps[0], rel=0.02)
    assert student_quantile(0.5, 7) == pytest.approx(0, abs=1e-12)


def test_clusters_of_one_are_a_plain_mean() -> None:
    # Values 0, 0.5, 1: mean 0.5, sd 0.5, error 0.5/sqrt(3), t with 2 degrees 4.3026527.
    estimate = clustered_mean([0, 0.5, 1], [1, 1, 1])
    reach = 4.3026527 * 0.5 / math.sqrt(3)
    assert (estimate.value, estimate.n) == (0.5, 3)
    assert [estimate.low, estimate.high] == pytest.approx([0.5 - reach, 0.5 + reach], abs=1e-7)


def test_clusters_of_several_sizes() -> None:
    # Clusters 2 of 2, 0 of 1, 1 of 3: mean 3/6. Residuals 2 - 1, 0 - 0.5, 1 - 1.5: squares 1.5.
    # Error sqrt(3/2 * 1.5)/6 = 0.25; t with 2 degrees of freedom.
    estimate = clustered_mean([2, 0, 1], [2, 1, 3])
    reach = 4.3026527 * 0.25
    assert estimate.value == 0.5
    assert [estimate.low, estimate.high] == pytest.approx([0.5 - reach, 0.5 + reach], abs=1e-7)


def test_too_little_for_an_interval() -> None:
    assert clustered_mean([0.7], [1]).low is None
    assert clustered_mean([0.7], [1]).value == 0.7
    assert clustered_mean([], []).value is None


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    # Texts with 5 questions that share much: without clusters the interval would be half as wide.
    generator = np.random.default_rng(20)
    hits = 0
    for _ in range(2000):
        texts = generator.normal(0.5, 0.2, size=20)
        rows = texts[:, None] + generator.normal(0, 0.1, size=(20, 5))
        estimate = clustered_mean(rows.sum(axis=1), [5.0] * 20)
        hits += estimate.low < 0.5 < estimate.high
    # 95 % of 2000 are 1900, sd sqrt(2000 * 0.05 * 0.95) = 9.7; 4 of these are 39.
    assert abs(hits - 1900) < 39
