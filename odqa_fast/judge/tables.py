"""Ratings as tables: the rows of scores.parquet, and what a `ScoreTable` says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from odqa_fast.judge.ratings import Ratings
from odqa_fast.judge.rubric import VERSION
from odqa_fast.scores import ScoreTable
from odqa_fast.signature import Signature
from odqa_fast.version import __version__


def score_table(
    ratings: Sequence[Ratings], tags: Mapping[str, object], context: str = ""
) -> ScoreTable:
    """The means and signatures of ratings, and notes on verdicts that are missing; no counts.

    Args:
        ratings: the judges'.
        tags: how the rows were chosen.
        context: what a judge was shown as context, where there was one.
    """
    scored = {r.column: sum(v is not None and bool(v.label) for v in r.verdicts) for r in ratings}
    return ScoreTable(
        means={each.column: each.mean for each in ratings},
        scored=scored,
        counts={},
        signatures={
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
        notes=[
            f"{each.column}: {n} rows have no verdict ({_reasons(each)}), and its mean is that of "
            "the others."
            for each in ratings
            if (n := each.failures.total())
        ],
    )


def _reasons(ratings: Ratings) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in sorted(ratings.failures.items()))


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
