"""Rows of one id or question: of the predictions as they pass, and of the answers."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.io.batch_table import BatchTable
from odqa_fast.io.ids import NO_ROW, Rows, hash_texts


class Seen:
    """Which answers the predictions have named: first and last row, and the first's content.

    Args:
        n_answers: how many rows of answers there are.
        without: columns that are no content.
    """

    def __init__(self, n_answers: int, without: Set[str]) -> None:
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
            if name in self._without or pa.types.is_nested(column.type):
                continue
            content = content * 1_000_003 ^ hash_texts(column)
        named = np.flatnonzero(rows != NO_ROW)
        answers, where = np.unique(rows[named], return_index=True)
        new = self.first[answers] == NO_ROW
        answers, where = answers[new], named[where[new]]
        self.first[answers] = numbers[where]
        self._content[answers] = content[where]
        self.last[rows[named]] = numbers[named]
        repeated = (rows != NO_ROW) & (self.first[rows] != numbers)
        return numbers, repeated, repeated & (self._content[rows] != content)


def merge_golds(held: BatchTable, repeats: Sequence[Sequence[int]]) -> Rows:
    """Append a row for each list of rows: the first of them, with the golds of all.

    Gold answers and relevant ids stand in the order of the rows, each once, at its first place.
    Returns the numbers of the new rows.
    """
    merged: dict[str, list[Any]] = {}
    if "answers" in held.names:
        merged["answers"] = [_unite([held.value(r, "answers") for r in rows]) for rows in repeats]
    if "relevant_ids" in held.names:
        graded = [_grade(held, rows) for rows in repeats]
        merged["relevant_ids"] = [None if each is None else list(each) for each in graded]
        if "relevance" in held.names:
            merged["relevance"] = [None if e is None else list(e.values()) for e in graded]
    return held.append(np.array([rows[0] for rows in repeats], np.int64), merged)


def _unite(lists: Sequence[list[str | None] | None]) -> list[str | None] | None:
    known = [each for each in lists if each is not None]
    return list(dict.fromkeys(item for each in known for item in each)) if known else None


def _grade(held: BatchTable, rows: Sequence[int]) -> dict[str | None, int | None] | None:
    """The relevant ids of rows with their relevance, 1 where it is not given."""
    graded: dict[str | None, int | None] = {}
    lists = [(row, held.value(row, "relevant_ids")) for row in rows]
    for row, ids in lists:
        grades = held.value(row, "relevance") if "relevance" in held.names else None
        for name, grade in zip(ids or (), grades or repeat(1), strict=False):
            graded.setdefault(name, grade)
    return graded if any(ids is not None for _, ids in lists) else None
