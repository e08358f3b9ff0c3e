"""What judging gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odqa_fast.judge.ratings import Opinion
from odqa_fast.judge.rubric import VERSION
from odqa_fast.judge.verdict import Verdict
from odqa_fast.runs.output import summary_of
from odqa_fast.scores import ScoreTable
from odqa_fast.signature import Signature
from odqa_fast.version import __version__


@dataclass(frozen=True)
class Judged:
    """The verdicts on a dump, or on the pairs of two.

    Attributes:
        scores: means, counts and signatures, the judges' and the surface metrics'.
        opinions: of the majority first, where there is one, then of each judge.
        report: all else that a summary holds of them: agreement, bias, usage.
        table: one row per row judged: its scores, verdicts, explanations, failures and thoughts.
    """

    scores: ScoreTable
    opinions: Sequence[Opinion]
    report: dict[str, Any]
    table: pa.Table

    @property
    def failed(self) -> int:
        """How many verdicts are missing although they were asked for."""
        return sum(opinion.failures.total() for opinion in self.opinions)

    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds: that of scoring, with each judge's bounds beside its mean and
        the report under `judge`."""
        summary = summary_of(self.scores)
        for opinion in self.opinions:
            summary["metrics"][opinion.column].update(opinion.as_dict())
        return {**summary, "judge": self.report}


def means_of(
    opinions: Sequence[Opinion], tags: Mapping[str, object], context: str = ""
) -> dict[str, dict[str, Any]]:
    """The fields of a `ScoreTable` that opinions fill.

    Args:
        opinions: the judges'.
        tags: how the rows were chosen.
        context: what a judge was shown as context, where there was one.
    """
    scored = {o.column: sum(v is not None and bool(v.label) for v in o.verdicts) for o in opinions}
    return {
        "means": {opinion.column: opinion.mean for opinion in opinions},
        "scored": scored,
        "signatures": {
            opinion.column: Signature.make(
                opinion.rubric.metric,
                VERSION,
                None,
                None,
                {
                    "judge": opinion.signature.replace("|", "/"),
                    "prompt": opinion.rubric.prompt.signature,
                    **opinion.rubric.tags,
                    **({"context": context} if "context" in opinion.rubric.prompt.places else {}),
                    **tags,
                    "n": scored[opinion.column],
                    "odqa_fast": __version__,
                },
            )
            for opinion in opinions
        },
    }


#: What stands beside each score.
_BESIDE = ("label", "explanation", "failure", "thought")


def fields_of(columns: Sequence[str]) -> list[pa.Field]:
    """The fields of opinions of these columns: the score, and beside it label, explanation, failure
    and thought."""
    return [
        field
        for column in columns
        for field in (
            pa.field(column, pa.float64()),
            *(pa.field(f"{column}.{beside}", pa.string()) for beside in _BESIDE),
        )
    ]


def values_of(opinion: Opinion) -> dict[str, list[Any]]:
    """An opinion's fields."""
    scores = [None if verdict is None else verdict.score for verdict in opinion.verdicts]
    beside = {
        f"{opinion.column}.{name}": [getattr(v, name, None) or None for v in opinion.verdicts]
        for name in _BESIDE
    }
    return {opinion.column: scores, **beside}


def notes_on(opinions: Sequence[Opinion]) -> list[str]:
    """Sentences on verdicts that are missing."""
    return [
        f"{opinion.column}: {n} rows have no verdict ({_named(opinion)}), and its mean is that of "
        "the others."
        for opinion in opinions
        if (n := opinion.failures.total())
    ]


def _named(opinion: Opinion) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in sorted(opinion.failures.items()))


#: A verdict that needs no judge: there is nothing to judge.
NO_PREDICTION = Verdict("incorrect", 0.0, "no prediction")
