"""Rows of an input and where they stand there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.io.options import PLACE, SOURCE, Intake


@dataclass(frozen=True)
class RawRows:
    """Some rows of an input, before they are canonical.

    Attributes:
        columns: canonical name -> Arrow array, or Python values, all of one length.
        names: canonical name -> name in the input, for messages.
        places: of each row its line (from 1) or row (from 0) in the input; even with no columns
            there are so many rows.
        are_lines: whether `places` are lines.
        text: gives the raw text of row i of these, for the refused.
    """

    columns: Mapping[str, pa.Array | Sequence[Any]]
    names: Mapping[str, str]
    places: Sequence[int]
    are_lines: bool
    text: Callable[[int], str | bytes]

    def refuse(self, row: int, reason: str, intake: Intake) -> None:
        """Refuse row i of these; see `Intake.refuse`."""
        place = {"line" if self.are_lines else "row": self.places[row]}
        intake.refuse(reason, **place, text=self.text(row))


def place_columns(numbers: Sequence[int] | pa.Array, intake: Intake) -> dict[str, pa.Array]:
    """Make the columns of places, where they are asked for.

    Args:
        numbers: of each row its line or row in the input, as error messages name it.
        intake: the input.
    """
    if not intake.options.places:
        return {}
    if isinstance(numbers, range):
        # From a range numpy would take number by number.
        numbers = pa.array(np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.int64))
    elif not isinstance(numbers, pa.Array):
        numbers = pa.array(np.array(numbers, np.int64))
    source = pa.array(np.full(len(numbers), intake.source, np.int32))
    return {SOURCE: source, PLACE: numbers}
