"""What scoring gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from odqa_fast.signature import Signature


@dataclass(frozen=True)
class ScoreTable:
    """The scores of a dump.

    Attributes:
        table: one row per sample: `id` and one float64 column per metric, named as it was asked
            for; null where a row is not scored. None when only a summary was kept.
        means: the exact mean of each metric over its scored rows; None where there is none.
        scored: how many rows each metric scored.
        counts: the rows, and how many were null, empty, rejected and so on.
        signatures: one per metric.
    """

    table: pa.Table | None
    means: dict[str, float | None]
    scored: dict[str, int]
    counts: dict[str, int]
    signatures: dict[str, Signature]

    @property
    def rows(self) -> pa.Table:
        """The table, where there is one.

        Raises:
            ValueError: only a summary was kept (`score_file`).
        """
        if self.table is None:
            raise ValueError("score_file keeps no table; read scores.parquet of its `out`")
        return self.table
