"""Covers: levels, weights, the weighted score, area (D024, D066). Compared against: arithmetic.

Run: pytest tests/levels/test_levels.py
"""

from __future__ import annotations

import math

import pytest
from reference.store import records

from odqa_fast.errors import OdqaError
from odqa_fast.levels.weights import compute_area, compute_weights, level_score
from odqa_fast.shares import parse_levels


def test_seed3_vectors() -> None:
    found = records("seed3_weighted")
    assert len(found) > 60
    for record in found:
        written = [str(ratio) for ratio in record["ratios"]]
        expected, within = record["expected"], record["tolerance"]
        assert compute_weights(parse_levels(written)) == pytest.approx(
            expected["normalised_weights"], abs=within, rel=0
        )
        score = level_score(dict(zip(written, record["scores"], strict=True)))
        assert score == pytest.approx(expected["ratio_of_sums"], abs=within, rel=0)


D024 = {"0.2": 0.5, "0.4": 0.7, "0.6": 0.9}


def test_D024_percent_and_fractions_give_the_same_score() -> None:
    # 1/sqrt(b) is 2.2360679775, 1.5811388301, 1.2909944487; their sum 5.1082012563.
    expected = 0.662997795845
    assert compute_weights([0.2, 0.4, 0.6]) == pytest.approx(
        [0.437740775138, 0.309529470501, 0.252729754361], abs=1e-9
    )
    assert level_score(D024) == pytest.approx(expected, abs=1e-9)
    assert level_score({"20": 0.5, "40": 0.7, "60": 0.9}) == pytest.approx(expected, abs=1e-9)
    assert level_score({20: 0.5, 40: 0.7, 60: 0.9}) == pytest.approx(expected, abs=1e-9)
    assert level_score({"20%": 0.5, "40%": 0.7, "60 %": 0.9}) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "levels", [["0.2", "40"], ["20%", "0.4"], ["1", "20"], ["0.2", "0.4", "60%"]]
)
def test_D024_mixed_spellings_are_refused(levels: list[str]) -> None:
    with pytest.raises(OdqaError, match="mix fractions and percent"):
        parse_levels(levels)


def test_D066_one_hundred_percent_is_a_level() -> None:
    # (0.5 + 0.7 * 1.5811388301) / (1 + 1.5811388301)
    assert level_score({"1.0": 0.5, "0.4": 0.7}) == pytest.approx(0.622514822655, abs=1e-9)
    assert parse_levels(["100%"]) == parse_levels(["1"]) == [1.0]
    assert parse_levels(["2", "100"]) == parse_levels(["2%", "100%"]) == [0.02, 1.0]
    assert parse_levels(["1%", "1.5%"]) == [0.01, 0.015]


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        (["0", "0.4"], "level must be greater than 0"),
        (["-0.2"], "level must be greater than 0"),
        (["nan"], "'nan' is no level"),
        (["1.5"], r"level 1.5 could be a fraction or percent. Write 1.5% or 0.015"),
        (["1.01", "0.4"], "could be a fraction or percent"),
        (["101"], "at most 1 or 100 %"),
        (["inf"], "'inf' is no level"),
        ([], "no level given"),
        (["a fifth"], "'a fifth' is no level"),
        (["0.2", "0.20"], "name one twice"),
        (["20%", "20"], "name one twice"),
    ],
)
def test_D066_what_is_no_level(levels: list[str], says: str) -> None:
    with pytest.raises(OdqaError, match=says):
        parse_levels(levels)


def test_area_is_the_mean_height_of_the_curve() -> None:
    # Trapezoids (0.5 + 0.7)/2 and (0.7 + 0.9)/2 of width 0.2, over a span of 0.4.
    assert compute_area([0.2, 0.4, 0.6], [0.5, 0.7, 0.9]) == pytest.approx(0.7, abs=1e-15)
    # Of other widths, and in any order: (0.1 * 0.5 + 0.3 * 0.8) / 0.4.
    assert compute_area([0.6, 0.2, 0.3], [1.0, 0.4, 0.6]) == pytest.approx(0.29 / 0.4, abs=1e-15)
    assert compute_area([0.2], [0.5]) is None


@pytest.mark.parametrize(
    ("scores", "levels", "says"),
    [
        ({0.2: 0.5, 0.4: None}, None, r"of the levels 0\.2; missing: 0\.4\."),
        ({0.2: 0.5, 0.4: math.nan}, None, r"of the levels 0\.2; missing: 0\.4\."),
        ({"20%": 0.5}, ["0.2", "0.4", "0.6"], r"of the levels 0\.2; missing: 0\.4, 0\.6\."),
        ({0.2: 0.5, 0.4: 0.7}, [0.2], r"of the levels 0\.2, 0\.4; not asked for: 0\.4\."),
        ({0.2: None}, None, r"of the levels none; missing: 0\.2\."),
    ],
)
def test_a_level_without_a_score_is_named(
    scores: dict[float, float | None], levels: list[str] | None, says: str
) -> None:
    with pytest.raises(OdqaError, match=says):
        level_score(scores, levels)


def test_levels_may_be_asked_for() -> None:
    scores = {20: 0.5, 40: 0.7}
    assert level_score(scores, ["0.4", "0.2"]) == level_score(scores)
