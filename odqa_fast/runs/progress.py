"""How far a run is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: what is done, in `unit`.
        total: of how much; None where nobody knows.
        unit: `bytes` of input, or what is asked for: `prompts`, `verdicts`, `levels`, ...
        rows: rows read so far.
        tokens: tokens that models wrote so far.
        seconds: what writing those took.
    """

    done: int
    total: int | None
    unit: str
    rows: int = 0
    tokens: int = 0
    seconds: float = 0.0


#: What a run tells of its progress.
Watch = Callable[[Progress], None]
