"""Covers: intervals of shares, means, differences, and of means set right by people.

Compared against: values of statsmodels 0.15 and ppi-python 0.2.3, each call named; simulations
whose truth is known. Run: pytest tests/stats/test_intervals.py
"""

from __future__ import annotations

import numpy as np
import pytest

from odqa_fast.stats.estimate import Estimate
from odqa_fast.stats.intervals import difference, mean, prediction_powered, share

A = np.array([1, 0, 0.5, 1, 1, 0, 0.5, 1])
B = np.array([0, 0.5, 0, 1, 0])


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.low, estimate.high


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [  # statsmodels.stats.proportion.proportion_confint(hits, n, method="wilson")
        (7, 10, 0.39677814746114537, 0.8922087325936989),
        (0, 12, 0.0, 0.24249400665524096),
        (5, 5, 0.5655175352168252, 1.0),
    ],
)
def test_a_share_has_wilsons_interval(hits: int, n: int, low: float, high: float) -> None:
    estimate = share(hits, n)
    assert estimate.value == hits / n
    assert ends(estimate) == pytest.approx((low, high), abs=1e-12)
    assert 0 <= low <= estimate.value <= high <= 1


def test_a_mean_has_its_normal_interval() -> None:
    # statsmodels.stats.weightstats.DescrStatsW(A).zconfint_mean()
    estimate = mean(A)
    assert estimate.value == 0.625
    assert ends(estimate) == pytest.approx((0.31788188991231897, 0.932118110087681), abs=1e-12)


def test_a_difference_has_welchs_error() -> None:
    # CompareMeans(DescrStatsW(A), DescrStatsW(B)).zconfint_diff(usevar="unequal")
    estimate = difference(A, B)
    assert estimate.value == pytest.approx(0.325)
    assert ends(estimate) == pytest.approx((-0.17297578894118332, 0.8229757889411833), abs=1e-12)


def test_too_few_rows_have_no_interval() -> None:
    assert share(0, 0) == Estimate(None, None, None, 0)
    assert mean(np.array([])) == Estimate(None, None, None, 0)
    assert mean(np.array([0.5])) == Estimate(0.5, None, None, 1)
    assert difference(A, B[:1]).value is None
    assert prediction_powered(A, A, A[:1]).value is None


def test_power_tuning_is_that_of_ppi_python() -> None:
    labels = np.array([1, 0, 1, 1, 0, 1, 0, 0, 1, 1.0])
    predicted = np.array([1, 0.5, 1, 0.5, 0, 1, 0, 0.5, 1, 0.0])
    others = np.array([1, 0.5, 0, 0, 1, 1, 0.5, 1, 0, 1, 1, 0, 0.5, 0.5, 1, 1, 0, 1, 0, 1.0])
    # ppi_py.ppi_mean_pointestimate(labels, predicted, others)
    estimate = prediction_powered(labels, predicted, others)
    assert estimate.value == pytest.approx(0.62093233, abs=1e-8)
    assert estimate.n == 30


def test_the_interval_is_that_of_ppi_python_but_for_its_divisor() -> None:
    truth, said = draw(np.random.default_rng(5), 3400, right=0.8)
    estimate = prediction_powered(truth[:400], said[:400], said[400:])
    # ppi_mean_ci(..., alpha=0.05), which divides by n where a sample's variance divides by n - 1.
    assert estimate.value == pytest.approx(0.64001354, abs=1e-8)
    assert ends(estimate) == pytest.approx((0.60055227, 0.67947481), abs=1e-4)


def draw(generator: np.random.Generator, n: int, right: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which 60 % are true, and what a judge says who is right so often."""
    truth = generator.random(n) < 0.6
    said = np.where(generator.random(n) < right, truth, ~truth)
    return truth * 1.0, said * 1.0


@pytest.mark.parametrize("right", [0.95, 0.7, 0.5])
def test_prediction_powered_intervals_hold_the_truth_as_often_as_they_say(right: float) -> None:
    """The judge is biased: of 60 % true rows it says 0.6 right + 0.4 (1 - right), e.g. 0.54."""
    generator = np.random.default_rng(2026)
    runs, n, more = 2000, 150, 1000
    held, width, width_alone = 0, 0.0, 0.0
    for _ in range(runs):
        truth, said = draw(generator, n + more, right)
        estimate = prediction_powered(truth[:n], said[:n], said[n:])
        alone = mean(truth[:n])
        held += estimate.low <= 0.6 <= estimate.high
        width += estimate.high - estimate.low
        width_alone += alone.high - alone.low
    assert 0.93 <= held / runs <= 0.97
    assert width <= width_alone * 1.001
    if right == 0.95:
        # With so good a judge the interval is that of about 3 times as many labels.
        assert width < 0.7 * width_alone
