"""What scoring gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from odqa_fast.diagnosis import Diagnosis
    from odqa_fast.signature import Signature


@dataclass(frozen=True)
class ScoreTable:
    """The scores of a dump. Pickled and copied with its table; equal where all of it is.

    Attributes:
        means: the exact mean of each metric over its scored rows; None where there is none.
        scored: how many rows each metric scored.
        counts: the rows, and how many were null, empty, rejected and so on.
        signatures: one per metric.
        notes: what a reader of the numbers should know, one sentence each.
        inputs: the files that were read.
        identities: what these were, as `runs.provenance.list_inputs` says it.
        diagnosis: where the rows went wrong, if that was asked for.
    """

    means: dict[str, float | None]
    scored: dict[str, int]
    counts: dict[str, int]
    signatures: dict[str, Signature]
    notes: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    identities: list[dict[str, Any]] = field(default_factory=list)
    diagnosis: Diagnosis | None = None
    make_table: Callable[[], pa.Table] | None = field(default=None, repr=False)

    @cached_property
    def table(self) -> pa.Table:
        """One row per sample, in order: `id` and one float64 column per metric, named as it was
        asked for; null where a row is not scored. Made when first asked for.

        Raises:
            ValueError: only a summary was kept (`score_file`).
        """
        if self.make_table is None:
            raise ValueError("score_file keeps no table; read scores.parquet of its `out`")
        return self.make_table()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        mine, others = (
            [getattr(each, field.name) for field in fields(each) if field.name != "make_table"]
            for each in (self, other)
        )
        if mine != others or (self.make_table is None) != (other.make_table is None):
            return False
        return self.make_table is None or bool(self.table.equals(other.table))

    def __getstate__(self) -> dict[str, Any]:
        # What makes the table holds the whole run; the table itself goes in its place.
        if self.make_table is None:
            return self.__dict__
        return {**self.__dict__, "make_table": partial(_as_it_is, self.table)}


def _as_it_is(table: pa.Table) -> pa.Table:
    return table
