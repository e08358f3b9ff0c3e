"""A number with the interval that holds it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number of a sample and its confidence interval.

    Attributes:
        value: the number; None where it is not defined.
        low: the interval's lower end; None where there is none to give.
        high: its upper end.
        n: rows it rests on.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def around(cls, value: float, error: float, n: int, confidence: float) -> Estimate:
        """A normal interval: the value and its standard error."""
        reach = quantile(confidence) * error
        return cls(value, value - reach, value + reach, n)

    @classmethod
    def undefined(cls, n: int) -> Estimate:
        """There is no such number for these rows."""
        return cls(None, None, None, n)

    def as_dict(self) -> dict[str, Any]:
        """What a summary holds."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def quantile(confidence: float) -> float:
    """How many standard errors a two-sided normal interval reaches: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
