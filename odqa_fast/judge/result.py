"""`JudgeResult`: what judging gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from odqa_fast.judge.ratings import Ratings
from odqa_fast.judge.rubric import VERSION
from odqa_fast.scores import ScoreTable
from odqa_fast.signature import Signature
from odqa_fast.version import __version__


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
    def nothing_came(self) -> bool:
        """Whether judges were asked and none of them gave a reply."""
        return not self.came and self.failed > 0


def means_of(
    ratings: Sequence[Ratings], tags: Mapping[str, object], context: str = ""
) -> dict[str, dict[str, Any]]:
    """The fields of a `ScoreTable` that ratings fill.

    Args:
        ratings: the judges'.
        tags: how the rows were chosen.
        context: what a judge was shown as context, where there was one.
    """
    scored = {r.column: sum(v is not None and bool(v.label) for v in r.verdicts) for r in ratings}
    return {
        "means": {each.column: each.mean for each in ratings},
        "scored": scored,
        "signatures": {
            each.column: Signature.make(
                each.rubric.metric,
                VERSION,
                None,
                None,
                {
                    "judge": each.signature.replace("|", "/"),
                    "prompt": each.rubric.prompt.signature,
                    **each.rubric.tags,
                    **({"context": context} if "context" in each.rubric.prompt.places else {}),
                    **tags,
                    "n": scored[each.column],
                    "odqa_fast": __version__,
                },
            )
            for each in ratings
        },
    }


#: What stands beside each score.
_BESIDE = ("label", "explanation", "failure", "thought")


def schema_with(columns: Iterable[str], more: Iterable[pa.Field]) -> pa.Schema:
    """The columns of a table of ratings: `id`, of each judge the score and beside it label,
    explanation, failure and thought, and then others."""
    of_ratings = [
        field
        for column in columns
        for field in (
            pa.field(column, pa.float64()),
            *(pa.field(f"{column}.{beside}", pa.string()) for beside in _BESIDE),
        )
    ]
    return pa.schema([pa.field("id", pa.string()), *of_ratings, *more])


def table_of(
    ids: Sequence[str], ratings: Iterable[Ratings], more: Mapping[str, Any], schema: pa.Schema
) -> pa.Table:
    """Ratings as a table.

    Args:
        ids: of the rows.
        ratings: the judges'.
        more: further columns.
        schema: of `schema_with`.
    """
    columns: dict[str, Any] = {"id": ids}
    for each in ratings:
        columns[each.column] = [None if v is None else v.score for v in each.verdicts]
        for beside in _BESIDE:
            values = [getattr(verdict, beside, None) or None for verdict in each.verdicts]
            columns[f"{each.column}.{beside}"] = values
    return pa.table({**columns, **more}, schema=schema)


def notes_on(ratings: Sequence[Ratings]) -> list[str]:
    """Sentences on verdicts that are missing."""
    return [
        f"{each.column}: {n} rows have no verdict ({say_failures([each])}), and its mean is that "
        "of the others."
        for each in ratings
        if (n := each.failures.total())
    ]


def say_failures(ratings: Iterable[Ratings]) -> str:
    """Why verdicts are missing, with how many of each reason."""
    reasons = sum((each.failures for each in ratings), start=Counter[str]())
    return ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
