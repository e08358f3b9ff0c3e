"""Covers: the exact sum behind every mean. Compared against: Python's fractions.

Run: pytest tests/differential/test_sums.py
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast._kernels.sums import ExactSum

scores = st.sampled_from([0.0, -0.0, 1.0, 2 / 3, 2.0**-62, 2.0**-63, 5e-324, 1.7e308, -1.7e308])
values = st.one_of(scores, st.floats(allow_nan=True, allow_infinity=False))


@given(st.lists(st.lists(values, max_size=40), max_size=4))
def test_the_mean_is_rounded_once(batches: list[list[float]]) -> None:
    total = ExactSum()
    for batch in batches:
        total.add(np.array(batch, dtype=np.float64))
    kept = [Fraction(value) for batch in batches for value in batch if value == value]
    assert total.count == len(kept)
    if not kept:
        assert total.mean() is None
        return
    mean = sum(kept, Fraction(0)) / len(kept)
    assert total.mean() == mean.numerator / mean.denominator


def test_many_of_the_largest() -> None:
    # More than fit between two carries; the mean of equal numbers is that number.
    total = ExactSum()
    total.add(np.full(10_000, 1.7976931348623157e308))
    assert total.mean() == 1.7976931348623157e308


def test_what_is_infinite_has_no_sum() -> None:
    with pytest.raises(ValueError, match="infinite"):
        ExactSum().add(np.array([1.0, np.inf]))
