"""The same rows in every way Arrow can store them: types, slices, chunks, junk under nulls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

Texts = list[str | None]
Row = dict[str, Any]

#: Text that would change every score, so reading it by mistake shows.
JUNK = "junk yes the answer is Ωmega"


def _utf8_over_junk(values: Texts) -> pa.Array:
    """utf8 whose null slots still have bytes behind them."""
    data = pa.array([JUNK if value is None else value for value in values], pa.string())
    validity = pa.array([value is not None for value in values], pa.bool_()).buffers()[1]
    return pa.StringArray.from_buffers(len(values), data.buffers()[1], data.buffers()[2], validity)


def _dictionary_with_null(values: Texts) -> pa.Array:
    """A dictionary that holds null as a value: valid indices, missing text."""
    distinct = [JUNK, *dict.fromkeys(values)]
    indices = pa.array([distinct.index(value) for value in values], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(distinct, pa.string()))


TEXT_KINDS: dict[str, Callable[[Texts], pa.Array]] = {
    "utf8": lambda values: pa.array(values, pa.string()),
    "utf8-over-junk": _utf8_over_junk,
    "large_utf8": lambda values: pa.array(values, pa.large_string()),
    "string_view": lambda values: pa.array(values, pa.string_view()),
    "dictionary": lambda values: pa.array(values, pa.string()).dictionary_encode(),
    "dictionary-of-large": lambda values: pa.array(values, pa.large_string()).dictionary_encode(),
    "dictionary-with-null": _dictionary_with_null,
}

LIST_KINDS = ("list", "large_list", "list_view", "list-over-junk")

DOCUMENT_KINDS = ("texts", "structs")


@dataclass(frozen=True)
class Layout:
    """How a table is stored; the rows it holds do not depend on it."""

    text: str = "utf8"
    items: str = "utf8"
    lists: str = "list"
    documents: str = "texts"
    before: int = 0  #: rows of junk cut off in front by a slice
    after: int = 0
    chunks: tuple[int, ...] = ()  #: where the column of predictions is cut; others one row later

    def table(self, rows: list[Row]) -> pa.Table:
        """The rows as a table of four columns."""
        padded = [_junk_row()] * self.before + rows + [_junk_row()] * self.after
        text = TEXT_KINDS[self.text]
        columns = {
            "prediction": text([row["prediction"] for row in padded]),
            "summary": text([row["summary"] for row in padded]),
            "answers": self._lists([row["answers"] for row in padded], TEXT_KINDS[self.items]),
            "documents": self._lists([row["documents"] for row in padded], self._documents),
        }
        cut = {}
        for shift, (name, column) in enumerate(columns.items()):
            column = column.slice(self.before, len(rows))
            ends = sorted({min(end + shift, len(rows)) for end in self.chunks} | {len(rows)})
            starts = [0, *ends[:-1]]
            pieces = [column.slice(lo, hi - lo) for lo, hi in zip(starts, ends, strict=True)]
            cut[name] = pa.chunked_array(pieces, column.type)
        return pa.table(cut)

    def _documents(self, texts: Texts) -> pa.Array:
        child = TEXT_KINDS[self.items](texts)
        if self.documents == "texts":
            return child
        titles = pa.array([JUNK] * len(texts), pa.string())
        return pa.StructArray.from_arrays([titles, child], names=["title", "text"])

    def _lists(self, values: list[Texts | None], items: Callable[[Texts], pa.Array]) -> pa.Array:
        over_junk = self.lists == "list-over-junk"
        flat: Texts = [JUNK]  # the values start before the first list
        offsets = []
        for value in values:
            offsets.append(len(flat))
            flat.extend([JUNK, JUNK] if value is None and over_junk else value or [])
        offsets.append(len(flat))
        missing = pa.array([value is None for value in values], pa.bool_())
        if self.lists == "large_list":
            ends = pa.array(offsets, pa.int64())
            return pa.LargeListArray.from_arrays(ends, items(flat), mask=missing)
        if self.lists == "list_view":
            starts = pa.array(offsets[:-1], pa.int32())
            sizes = [hi - lo for lo, hi in pairwise(offsets)]
            return pa.ListViewArray.from_arrays(
                starts, pa.array(sizes, pa.int32()), items(flat), mask=missing
            )
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items(flat), mask=missing)


def _junk_row() -> Row:
    return {"prediction": JUNK, "summary": JUNK, "answers": [JUNK], "documents": [JUNK, JUNK]}
