"""Where rows stand in their inputs, as two columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from odqa_fast.io.options import PLACE, SOURCE, Intake


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
