"""Rows of one id or question: of the predictions as they pass, and of the answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.io.held_rows import HeldRows
from odqa_fast.io.ids import NO_ROW, Rows, hashed


class Seen:
    """Which answers the predictions have named: first and last row, and the first's content.

    Args:
        n_answers: how many rows of answers there are.
        without: a column that is no content.
    """

    def __init__(self, n_answers: int, without: str) -> None:
        # One more than there are, for NO_ROW to point at.
        self.first = np.full(n_answers + 1, NO_ROW, np.int64)
        self.last = np.full(n_answers + 1, NO_ROW, np.int64)
        self.n_rows = 0
        self._content = np.zeros(n_answers + 1, np.int64)
        self._without = without

    def note(self, batch: pa.RecordBatch, rows: Rows) -> tuple[Rows, Any, Any]:
        """Return each prediction's row number, and whether it repeats an id, and differs."""
        numbers = np.arange(self.n_rows, self.n_rows + len(rows))
        self.n_rows += len(rows)
        content = np.zeros(len(rows), np.int64)
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            # Documents would cost more than all the rest, and tell nothing more in practice.
            if name == self._without or pa.types.is_nested(column.type):
                continue
            content = content * 1_000_003 ^ hashed(column)
        named = np.flatnonzero(rows != NO_ROW)
        answers, where = np.unique(rows[named], return_index=True)
        new = self.first[answers] == NO_ROW
        answers, where = answers[new], named[where[new]]
        self.first[answers] = numbers[where]
        self._content[answers] = content[where]
        self.last[rows[named]] = numbers[named]
        repeated = (rows != NO_ROW) & (self.first[rows] != numbers)
        return numbers, repeated, repeated & (self._content[rows] != content)


def merge_answers(held: HeldRows, repeats: list[list[int]]) -> Rows:
    """Append a row for each list of rows: the first of them, with the gold answers of all.

    Answers stand in the order of the rows, each once. Returns the numbers of the new rows.
    """
    merged = []
    for rows in repeats:
        lists = [held.value(row, "answers") for row in rows]
        known = [answers for answers in lists if answers is not None]
        texts = dict.fromkeys(answer for answers in known for answer in answers)
        merged.append(list(texts) if known else None)
    return held.append(np.array([rows[0] for rows in repeats], np.int64), "answers", merged)
