"""`JudgeResult`: what judging gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odqa_fast.scores import ScoreTable

if TYPE_CHECKING:
    import pyarrow as pa

    from odqa_fast.judge.ratings import Ratings


@dataclass(frozen=True)
class JudgeResult:
    """The verdicts on a dump, or on the pairs of two; or, of a dry run, what would be asked.

    Attributes:
        scores: means, counts and signatures, the judges' and the surface metrics'.
        ratings: of the majority first, where there is one, then of each judge.
        report: all else that a summary says of them: agreement, bias, usage.
        table: one row per row judged: its scores, verdicts, explanations, failures and thoughts.
        came: how many replies of judges came, whatever they say.
        plan: what a dry run would ask of each judge by each rubric.
    """

    scores: ScoreTable
    ratings: Sequence[Ratings]
    report: dict[str, Any]
    table: pa.Table
    came: int = 0
    plan: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many verdicts are missing although they were asked for."""
        return sum(each.failures.total() for each in self.ratings)

    @property
    def verdicts(self) -> int:
        """How many verdicts there are or should be."""
        return sum(v is not None for each in self.ratings for v in each.verdicts)
