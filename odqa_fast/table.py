"""What scoring gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from odqa_fast.signature import Signature


@dataclass(frozen=True)
class ScoreTable:
    """The scores of a dump.

    Attributes:
        means: the exact mean of each metric over its scored rows; None where there is none.
        scored: how many rows each metric scored.
        counts: the rows, and how many were null, empty, rejected and so on.
        signatures: one per metric.
        notes: what a reader of the numbers should know, one sentence each.
        inputs: the files that were read.
    """

    means: dict[str, float | None]
    scored: dict[str, int]
    counts: dict[str, int]
    signatures: dict[str, Signature]
    notes: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
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
