"""Answers in one file, predictions in another: joined by id, or by position where none has ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.ids import NO_ROW, IdIndex, Rows, hashed
from odqa_fast.io.pieces import MAX_BYTES, MAX_ROWS

Flags = npt.NDArray[np.bool_]

Duplicates = Literal["error", "keep-first", "keep-last", "all"]

#: What becomes of answers that nothing was predicted for: no row, or a row that counts 0.
Missing = Literal["null", "zero"]

#: So many unmatched ids of each side are kept to be shown.
_SHOWN_IDS = 5

#: What comes with a question, as against what a system makes of it.
_GIVEN = {
    *("id", "text_id", "question", "answers"),
    *("relevant_ids", "relevance", "relevant_titles", "evidence"),
}


class AnswerTable:
    """The answers' side of a join, held in memory.

    Attributes:
        counts: after `join` is exhausted: `unmatched_predictions`, `unmatched_answers`,
            `duplicate_ids` (rows beyond the first of their id, both sides), and the first ids of
            each kind, `first_unmatched_predictions` and `first_unmatched_answers`; and how it was
            joined: `missing` and `sides`.
    """

    def __init__(
        self,
        batches: Sequence[pa.RecordBatch],
        duplicates: Duplicates,
        missing: Missing,
        sides: tuple[str, str],
    ) -> None:
        self._duplicates = duplicates
        self._missing = missing
        self._sides = sides
        self._batches = _alike(batches)
        self._starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        self._n_rows = int(self._starts[-1])
        self._has_ids = bool(batches) and "id" in self._batches[0].schema.names
        n_bytes = sum(batch.nbytes for batch in self._batches)
        self._rows_out = max(1, min(MAX_ROWS, MAX_BYTES * self._n_rows // max(n_bytes, 1)))
        self.counts: dict[str, Any] = {
            "unmatched_predictions": 0,
            "unmatched_answers": 0,
            "duplicate_ids": 0,
            "joined_by_position": 0,
            "first_unmatched_predictions": [],
            "first_unmatched_answers": [],
            "missing": missing,
            "sides": sides,
        }
        #: For each row the one that stands for it: another one where an id is repeated.
        self._stand_in = np.arange(self._n_rows)
        self._is_spare = np.zeros(self._n_rows, bool)
        if self._has_ids:
            self._index = IdIndex([batch.column("id") for batch in self._batches])
            self._settle_repeats()

    @classmethod
    def load(
        cls,
        answers: Iterable[pa.RecordBatch],
        *,
        duplicates: Duplicates = "error",
        missing: Missing = "null",
        sides: tuple[str, str] = ("predictions", "answers"),
        max_bytes: int = 4 << 30,
    ) -> Self:
        """Read the answers' side.

        Args:
            answers: canonical batches, e.g. a `Dump`.
            duplicates: an id that stands again with other content, on either side: `error`;
                `keep-first` and `keep-last` keep one row (`keep-last` holds the predictions in
                memory); `all` keeps every prediction, and of the answers the first.
            missing: whether answers that no prediction has the id of become rows of nulls, which
                score 0.
            sides: what to call the two in messages.
            max_bytes: memory the answers may take.

        Raises:
            DataError: too large, or a repeated id with other content under `error`.
        """
        for what, way, ways in (
            ("duplicates", duplicates, Duplicates),
            ("missing predictions", missing, Missing),
        ):
            if way not in get_args(ways):
                raise SchemaError(
                    f"there is no way {way!r} to treat {what}.",
                    hint=f"Ways: {', '.join(get_args(ways))}.",
                )
        batches: list[pa.RecordBatch] = []
        size = 0
        for batch in answers:
            batches.append(batch)
            size += batch.nbytes
            if size > max_bytes:
                raise DataError(
                    f"the {sides[1]} take more than {max_bytes >> 20} MiB of memory.",
                    hint=f"Put them into the {sides[0]}' file, or score in parts.",
                )
        return cls(batches, duplicates, missing, sides)

    def join(self, predictions: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the predictions, in their order, with the columns that they lack.

        A prediction without answers gets nulls; answers without prediction come last, if at all.

        Raises:
            SchemaError: only one side has ids.
            DataError: without ids, other numbers of rows; a repeated id with other content.
        """
        batches = iter(predictions)
        first = next(batches, None)
        matched = np.zeros(self._n_rows, bool)
        if first is not None:
            yield from self._paired(first, chain([first], batches), matched)
        missing = np.flatnonzero(~matched & ~self._is_spare)
        self._count_unmatched(missing)
        if self._missing == "zero":
            schema = pa.schema([]) if first is None else first.schema
            for start in range(0, len(missing), self._rows_out):
                yield self._unpredicted(missing[start : start + self._rows_out], schema)

    def _paired(
        self, first: pa.RecordBatch, batches: Iterator[pa.RecordBatch], matched: Flags
    ) -> Iterator[pa.RecordBatch]:
        has_ids = "id" in first.schema.names
        if self._n_rows and has_ids != self._has_ids:
            have, lack = self._sides if has_ids else self._sides[::-1]
            raise SchemaError(
                f"the {have} have ids and the {lack} have none.",
                hint="Give both sides an id column (--map id=NAME), or neither.",
            )
        paired = self._by_id if has_ids else self._by_position
        for batch, rows in paired(batches, matched):
            for start in range(0, max(1, batch.num_rows), self._rows_out):
                part = slice(start, start + self._rows_out)
                yield self._widened(batch.slice(start, self._rows_out), rows[part])

    def _by_position(
        self, batches: Iterator[pa.RecordBatch], matched: Flags
    ) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        start = 0
        for batch in batches:
            stop = start + batch.num_rows
            if stop <= self._n_rows:
                self.counts["joined_by_position"] += batch.num_rows
                yield batch, np.arange(start, stop)
            start = stop
        if start != self._n_rows:
            raise DataError(
                f"{start} {self._sides[0]}, but {self._n_rows} rows of {self._sides[1]}, "
                "and no ids to join by.",
                hint="Give both sides an id column, or the same rows in the same order.",
            )
        matched[:] = True

    def _by_id(
        self, batches: Iterator[pa.RecordBatch], matched: Flags
    ) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        seen = _Seen(self._n_rows)
        held: list[tuple[pa.RecordBatch, Rows, Rows]] = []
        for batch in batches:
            if not batch.num_rows:
                yield batch, np.zeros(0, np.int64)  # it says which columns there are
                continue
            rows = self._find(batch)
            matched[rows[rows != NO_ROW]] = True
            numbers, repeated, differing = seen.note(batch, rows)
            self.counts["duplicate_ids"] += int(repeated.sum())
            if self._duplicates == "error" and differing.any():
                i = int(np.flatnonzero(differing)[0])
                name = batch.column("id")[i].as_py()
                self._fail(self._sides[0], name, int(seen.first[rows[i]]), int(numbers[i]))
            if self._duplicates == "keep-last":
                held.append((batch, rows, numbers))
                continue
            if self._duplicates == "keep-first" and repeated.any():
                batch, rows = batch.filter(pa.array(~repeated)), rows[~repeated]
            yield batch, rows
        for batch, rows, numbers in held:
            keep = (rows == NO_ROW) | (seen.last[rows] == numbers)
            yield batch.filter(pa.array(keep)), rows[keep]

    def _find(self, batch: pa.RecordBatch) -> Rows:
        if "id" not in batch.schema.names or not self._n_rows:
            rows = np.full(batch.num_rows, NO_ROW, np.int64)
        else:
            rows = self._index.find(batch.column("id"))
        missing = np.flatnonzero(rows == NO_ROW)
        self.counts["unmatched_predictions"] += len(missing)
        shown = self.counts["first_unmatched_predictions"]
        if "id" in batch.schema.names and len(shown) < _SHOWN_IDS:
            ids = batch.column("id").take(pa.array(missing)).drop_null()
            shown += ids.slice(0, _SHOWN_IDS - len(shown)).to_pylist()
        return rows

    def _count_unmatched(self, missing: Rows) -> None:
        self.counts["unmatched_answers"] = len(missing)
        if self._has_ids:
            names = filter(None, map(self._index.id_of, missing.tolist()))
            self.counts["first_unmatched_answers"] = list(islice(names, _SHOWN_IDS))

    def _settle_repeats(self) -> None:
        for rows in self._index.repeats():
            self.counts["duplicate_ids"] += len(rows) - 1
            self._is_spare[rows[1:]] = True
            if self._duplicates == "keep-last":
                self._stand_in[rows[0]] = rows[-1]
            elif self._duplicates == "error":
                for row in rows[1:]:
                    if self._content(row) != self._content(rows[0]):
                        self._fail(self._sides[1], self._index.id_of(row), rows[0], row)

    def _content(self, row: int) -> Any:
        chunk = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._batches[chunk].slice(row - self._starts[chunk], 1).to_pylist()

    def _fail(self, side: str, name: Any, first: int, second: int) -> None:
        raise DataError(
            f"id {name!r} stands twice with different content.",
            where=f"{side}, rows {first} and {second}",
            hint="Make ids unique, or choose --duplicates keep-first, keep-last or all.",
        )

    def _widened(self, batch: pa.RecordBatch, rows: Rows) -> pa.RecordBatch:
        """Add the answers' columns that the batch lacks."""
        if not self._batches:
            return batch
        schema = self._batches[0].schema
        names = [name for name in schema.names if name not in batch.schema.names]
        if not names:
            return batch
        found = rows != NO_ROW
        rows = rows.copy()
        rows[found] = self._stand_in[rows[found]]
        added = self._gather(rows, names)
        return pa.RecordBatch.from_arrays(
            [*batch.columns, *added.columns], names=[*batch.schema.names, *names]
        )

    def _unpredicted(self, rows: Rows, schema: pa.Schema) -> pa.RecordBatch:
        """The answers of these rows, with nulls for what the predictions have."""
        made = [field for field in schema if field.name not in _GIVEN]
        given = set(self._batches[0].schema.names) - {field.name for field in made}
        batch = self._gather(self._stand_in[rows], sorted(given))
        nulls = [pa.nulls(len(rows), field.type) for field in made]
        return pa.RecordBatch.from_arrays(
            [*batch.columns, *nulls],
            names=[*batch.schema.names, *(field.name for field in made)],
        )

    def _gather(self, rows: Rows, names: list[str]) -> pa.RecordBatch:
        """Take rows of all the batches; NO_ROW gives nulls."""
        chunk_of = np.searchsorted(self._starts, rows, side="right") - 1
        place = np.full(len(rows), NO_ROW, np.int64)
        parts: list[pa.RecordBatch] = []
        taken = 0
        for chunk in np.unique(chunk_of[rows != NO_ROW]):
            here = np.flatnonzero((chunk_of == chunk) & (rows != NO_ROW))
            local = pa.array(rows[here] - self._starts[chunk])
            parts.append(self._batches[chunk].select(names).take(local))
            place[here] = np.arange(taken, taken + len(here))
            taken += len(here)
        if not parts:
            parts = [self._batches[0].select(names).slice(0, 0)]
        whole = pa.concat_batches(parts) if len(parts) > 1 else parts[0]
        if len(parts) == 1 and taken == len(rows):
            return whole
        return whole.take(pa.array(place, mask=place == NO_ROW))


class _Seen:
    """Which answers the predictions have named: first and last row, and the first's content."""

    def __init__(self, n_answers: int) -> None:
        # One more than there are, for NO_ROW to point at.
        self.first = np.full(n_answers + 1, NO_ROW, np.int64)
        self.last = np.full(n_answers + 1, NO_ROW, np.int64)
        self._content = np.zeros(n_answers + 1, np.int64)
        self._n_rows = 0

    def note(self, batch: pa.RecordBatch, rows: Rows) -> tuple[Rows, Any, Any]:
        """Return each prediction's row number, and whether it repeats an id, and differs."""
        numbers = np.arange(self._n_rows, self._n_rows + len(rows))
        self._n_rows += len(rows)
        content = np.zeros(len(rows), np.int64)
        for column in batch.columns:
            # Documents would cost more than all the rest, and tell nothing more in practice.
            if pa.types.is_nested(column.type):
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


def _alike(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Give all batches one schema: the files of one side may differ in columns and offsets."""
    schemas = {batch.schema for batch in batches}
    if len(schemas) <= 1:
        return list(batches)
    schema = pa.unify_schemas(list(schemas), promote_options="permissive")
    return [
        pa.RecordBatch.from_arrays(
            [
                batch.column(field.name).cast(field.type)
                if field.name in batch.schema.names
                else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ],
            schema=schema,
        )
        for batch in batches
    ]
