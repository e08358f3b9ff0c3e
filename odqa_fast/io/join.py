"""Answers in one file, predictions in another: joined by id, by question, or by their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from itertools import chain, islice
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.batch_table import BatchTable
from odqa_fast.io.ids import NO_ROW, SHOWN_IDS, IdIndex, Rows, hash_values
from odqa_fast.io.options import PLACE, SOURCE
from odqa_fast.io.repeats import Seen, merge_golds

Flags = npt.NDArray[np.bool_]

Duplicates = Literal["error", "keep-first", "keep-last", "all", "merge"]

#: What becomes of answers that nothing was predicted for: no row, or a row that counts 0.
Missing = Literal["null", "zero"]

#: What rows are joined by; `auto` takes the first of the others that both sides have.
Join = Literal["auto", "id", "question", "order"]

#: So many unmatched ids of each side are kept to be shown.

#: What says which row it is: of a row that only one side has, that side's.
_NAMES_ROW = {"id", SOURCE, PLACE}

#: What a system makes of a question stays the predictions' own, as does what names a row. All else
#: comes with the question: where both sides have it, the file that was given for it counts.
_OWN = {
    *_NAMES_ROW,
    *("prediction", "summary", "level", "system", "human"),
    *("compressor_seconds", "compressor_amortized_seconds"),
    *("reader_seconds", "reader_amortized_seconds"),
}

_BY_ORDER = "ask for their order: --join order (in Python join='order')"


class AnswerTable:
    """The answers' side of a join, held in memory.

    Attributes:
        counts: after `join` is exhausted: `unmatched_predictions`, `unmatched_answers`,
            `duplicate_ids` (rows beyond the first of their id, both sides), and the first ids of
            each kind, `first_unmatched_predictions` and `first_unmatched_answers`; and how it was
            joined: `joined_by`, `missing` and `sides`. `gave_way` has each column of the
            predictions that the answers have as well, and in how many rows it was another.
    """

    def __init__(
        self,
        held: BatchTable,
        duplicates: Duplicates,
        missing: Missing,
        by: Join,
        sides: tuple[str, str],
    ) -> None:
        self._held = held
        self._duplicates = duplicates
        self._missing = missing
        self._by = by
        self._sides = sides
        self.counts: dict[str, Any] = {
            "unmatched_predictions": 0,
            "unmatched_answers": 0,
            "duplicate_ids": 0,
            "joined_by_question": 0,
            "joined_by_position": 0,
            "first_unmatched_predictions": [],
            "first_unmatched_answers": [],
            "first_duplicate_ids": [],
            "joined_by": "",
            "missing": missing,
            "sides": sides,
            "gave_way": Counter(),
        }
        #: For each row the one that stands for it: another one where an id is repeated.
        self._stand_in = np.arange(held.n_rows)
        self._is_spare = np.zeros(held.n_rows, bool)

    @classmethod
    def load(
        cls,
        answers: Iterable[pa.RecordBatch],
        *,
        duplicates: Duplicates = "error",
        missing: Missing = "zero",
        by: Join = "auto",
        sides: tuple[str, str] = ("predictions", "answers"),
        max_bytes: int = 4 << 30,
    ) -> Self:
        """Read the answers' side.

        Args:
            answers: canonical batches, e.g. a `Dump`.
            duplicates: an id that stands again with other content, on either side: `error`;
                `keep-first` and `keep-last` keep one row (`keep-last` holds the predictions in
                memory); `all` keeps every prediction, and of the answers the first; `merge` puts
                the golds of several rows together, with the first row's other columns.
            missing: whether answers that no prediction has the id of become rows of nulls, which
                score 0.
            by: what rows are joined by.
            sides: what to call the two in messages.
            max_bytes: memory the answers may take.

        Raises:
            DataError: too large.
            SchemaError: there is no such way.
        """
        for what, way, ways in (
            ("treat duplicates", duplicates, Duplicates),
            ("treat missing predictions", missing, Missing),
            ("join", by, Join),
        ):
            if way not in get_args(ways):
                raise SchemaError(
                    f"there is no way {way!r} to {what}.",
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
        return cls(BatchTable(batches), duplicates, missing, by, sides)

    def join(
        self, predictions: Iterable[pa.RecordBatch], *, in_parts: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Yield the predictions, in their order, with the columns of the answers.

        What comes with a question is the answers' where both sides have it. A prediction without
        answers gets nulls; answers without prediction come last, if at all.

        Args:
            predictions: canonical batches.
            in_parts: a side is made of files in the order of their names, so that rows are joined
                by their order only where that is asked for.

        Raises:
            SchemaError: only one side has what to join by.
            DataError: nothing matches; a repeated id with other content, on either side; joined by
                order, other numbers of rows or other questions.
        """
        batches = iter(predictions)
        first = next(batches, None)
        matched = np.zeros(self._held.n_rows, bool)
        if first is not None:
            by = self._chosen(set(first.schema.names), in_parts)
            self.counts["joined_by"] = by
            together = chain([first], batches)
            pairs = (
                self._by_order(together, matched)
                if by == "order"
                else self._by_key(by, together, matched)
            )
            for batch, rows in pairs:
                for start in range(0, max(1, batch.num_rows), self._held.rows_out):
                    part = slice(start, start + self._held.rows_out)
                    yield self._widen(batch.slice(start, self._held.rows_out), rows[part])
        missing = np.flatnonzero(~matched & ~self._is_spare)
        self._count_unmatched(missing)
        if self._missing == "zero":
            schema = pa.schema([]) if first is None else first.schema
            for start in range(0, len(missing), self._held.rows_out):
                yield self._make_unpredicted(missing[start : start + self._held.rows_out], schema)

    def _chosen(self, theirs: set[str], in_parts: bool) -> Join:
        """What to join by, where the predictions have columns of these names."""
        ours = set(self._held.names)
        keys: tuple[Join, ...] = ("id", "question") if self._by == "auto" else (self._by,)
        for key in keys:
            if key == "order" or key in theirs & ours or (key in theirs and not self._held.n_rows):
                return key
        key = keys[0]
        if key in theirs or (key in ours and self._held.n_rows) or self._by != "auto":
            have, lack = self._sides if key in theirs else self._sides[::-1]
            neither = key not in theirs | ours
            what = f"neither the {have} nor" if neither else f"the {have} have {key}s and"
            raise SchemaError(
                f"{what} the {lack} have {f'{key}s' if neither else 'none'}.",
                hint="Give both sides a column of ids (--map id=NAME) or of questions (--map "
                f"question=NAME), or {_BY_ORDER}.",
            )
        if in_parts:
            raise SchemaError(
                f"neither the {self._sides[0]} nor the {self._sides[1]} have ids or both have "
                "questions, and the order of rows in the parts of a folder or glob is a guess.",
                hint=f"Give both sides a column of ids (--map id=NAME), or {_BY_ORDER}.",
            )
        return "order"

    def _by_order(
        self, batches: Iterator[pa.RecordBatch], matched: Flags
    ) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        start = 0
        for batch in batches:
            stop = start + batch.num_rows
            if stop <= self._held.n_rows:
                self.counts["joined_by_position"] += batch.num_rows
                rows = np.arange(start, stop)
                self._check_questions(batch, rows)
                yield batch, rows
            start = stop
        if start != self._held.n_rows:
            raise DataError(
                f"{start} {self._sides[0]}, but {self._held.n_rows} rows of {self._sides[1]}, "
                "and no ids to join by.",
                hint="Give both sides an id column, or the same rows in the same order.",
            )
        matched[:] = True

    def _check_questions(self, batch: pa.RecordBatch, rows: Rows) -> None:
        """Rows that stand at one place must be about one question, where both sides tell."""
        if "question" not in batch.schema.names or "question" not in self._held.names:
            return
        ours = self._held.gather(rows, ["question"]).column(0).cast(pa.large_string())
        theirs = batch.column("question").cast(pa.large_string())
        differing = pc.indices_nonzero(pc.fill_null(pc.not_equal(ours, theirs), False))
        if len(differing):
            row = differing[0].as_py()
            raise DataError(
                f"the questions differ: {_show(theirs[row])} and {_show(ours[row])}.",
                where=f"{self._sides[0]} and {self._sides[1]}, row {rows[row]}",
                hint="Bring both sides into one order, or join them by --join id or question.",
            )

    def _by_key(
        self, key: Join, batches: Iterator[pa.RecordBatch], matched: Flags
    ) -> Iterator[tuple[pa.RecordBatch, Rows]]:
        index = IdIndex(self._held.column(key) if key in self._held.names else [])
        # An id is no content where questions say what is the same.
        other = {SOURCE, PLACE, *(["id"] if key == "question" else [])}
        self._index = index
        self._settle_repeats(key, other)
        seen = Seen(self._held.n_rows, other)
        held: list[tuple[pa.RecordBatch, Rows, Rows]] = []
        for batch in batches:
            if not batch.num_rows:
                yield batch, np.zeros(0, np.int64)  # it says which columns there are
                continue
            rows = self._find(key, batch)
            matched[rows[rows != NO_ROW]] = True
            numbers, repeated, differing = seen.note(batch, rows)
            self.counts["duplicate_ids"] += int(repeated.sum())
            self._name_repeated(batch.column(key).filter(pa.array(repeated)).to_pylist())
            if self._duplicates in ("error", "merge") and differing.any():
                i = int(np.flatnonzero(differing)[0])
                name = batch.column(key)[i].as_py()
                raise self._repeated(0, key, name, int(seen.first[rows[i]]), int(numbers[i]))
            if self._duplicates == "keep-last":
                held.append((batch, rows, numbers))
                continue
            if self._duplicates == "keep-first" and repeated.any():
                batch, rows = batch.filter(pa.array(~repeated)), rows[~repeated]
            yield batch, rows
        if seen.n_rows and self._held.n_rows and not matched.any():
            self._count_unmatched(np.arange(self._held.n_rows))
            raise self._without_match(key)
        for batch, rows, numbers in held:
            keep = (rows == NO_ROW) | (seen.last[rows] == numbers)
            yield batch.filter(pa.array(keep)), rows[keep]

    def _name_repeated(self, names: Iterable[str | None]) -> None:
        shown = [*self.counts["first_duplicate_ids"], *names]
        self.counts["first_duplicate_ids"] = list(dict.fromkeys(shown))[:SHOWN_IDS]

    def _find(self, key: Join, batch: pa.RecordBatch) -> Rows:
        here = key in batch.schema.names
        if here and self._held.n_rows:
            rows = self._index.find(batch.column(key))
        else:
            rows = np.full(batch.num_rows, NO_ROW, np.int64)
        missing = np.flatnonzero(rows == NO_ROW)
        self.counts["unmatched_predictions"] += len(missing)
        if key == "question":
            self.counts["joined_by_question"] += len(rows) - len(missing)
        shown = self.counts["first_unmatched_predictions"]
        if here and len(shown) < SHOWN_IDS:
            ids = batch.column(key).take(pa.array(missing)).drop_null()
            shown += ids.slice(0, SHOWN_IDS - len(shown)).to_pylist()
        return rows

    def _count_unmatched(self, missing: Rows) -> None:
        self.counts["unmatched_answers"] = len(missing)
        key = self.counts["joined_by"] or "id"
        if key in self._held.names:
            names = (self._held.value(row, key) for row in missing.tolist())
            self.counts["first_unmatched_answers"] = list(islice(filter(None, names), SHOWN_IDS))

    def _settle_repeats(self, key: Join, other: Set[str]) -> None:
        merged: list[list[int]] = []
        for rows in self._index.repeats():
            self.counts["duplicate_ids"] += len(rows) - 1
            self._name_repeated([self._index.id_of(rows[0])])
            self._is_spare[rows[1:]] = True
            if self._duplicates == "keep-last":
                self._stand_in[rows[0]] = rows[-1]
            elif self._duplicates == "merge":
                merged.append(rows)
            elif self._duplicates == "error":
                first = self._held.content(rows[0], without=other)
                for row in rows[1:]:
                    if self._held.content(row, without=other) != first:
                        raise self._repeated(1, key, self._index.id_of(row), rows[0], row)
        if merged:
            self._stand_in[[rows[0] for rows in merged]] = merge_golds(self._held, merged)

    def _repeated(self, side: int, key: Join, name: Any, first: int, second: int) -> DataError:
        ways = "keep-first, keep-last or all"
        hint = f"Make {key}s unique, choose rows by --where FIELD=VALUE, or --duplicates {ways}."
        if side == 1:
            hint = (
                "If each row holds some of the golds, --duplicates merge puts them together; "
                f"else make {key}s unique, or choose --duplicates {ways}."
            )
        return DataError(
            f"{key} {name!r} stands twice with different content.",
            where=f"{self._sides[side]}, rows {first} and {second}",
            hint=hint,
        )

    def _without_match(self, key: Join) -> DataError:
        shown = [
            ", ".join(map(repr, self.counts[f"first_unmatched_{side}"])) or "no text"
            for side in ("predictions", "answers")
        ]
        return DataError(
            f"none of the {self._sides[0]} has the {key} of any of the {self._sides[1]}: "
            f"{shown[0]} here, {shown[1]} there.",
            hint=f"Name the right columns (--map {key}=NAME), or choose --join id, question or "
            "order (in Python join=).",
        )

    def _widen(self, batch: pa.RecordBatch, rows: Rows) -> pa.RecordBatch:
        """Put the answers' columns to those of the batch, and in place of what they have better."""
        theirs = batch.schema.names
        own = {*_OWN, self.counts["joined_by"]}
        names = [name for name in self._held.names if name not in theirs or name not in own]
        if not names:
            return batch
        found = rows != NO_ROW
        rows = rows.copy()
        rows[found] = self._stand_in[rows[found]]
        added = self._held.gather(rows, names)
        for name in (name for name in names if name in theirs):
            column = batch.column(name)
            known = column.is_valid().to_numpy(zero_copy_only=False)
            differ = hash_values(column) != hash_values(added.column(name))
            self.counts["gave_way"][name] += int((differ & known & found).sum())
        # What is parallel to ids of the other side says nothing of these.
        gone = {*names, *(["relevance"] if "relevant_ids" in names else [])}
        kept = [name for name in theirs if name not in gone]
        return pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in kept), *added.columns], names=[*kept, *names]
        )

    def _make_unpredicted(self, rows: Rows, schema: pa.Schema) -> pa.RecordBatch:
        """The answers of these rows, with nulls for what only the predictions have."""
        made = [
            field
            for field in schema
            if field.name not in _NAMES_ROW
            and (field.name in _OWN or field.name not in self._held.names)
        ]
        given = set(self._held.names) - {field.name for field in made}
        batch = self._held.gather(self._stand_in[rows], sorted(given))
        nulls = [pa.nulls(len(rows), field.type) for field in made]
        return pa.RecordBatch.from_arrays(
            [*batch.columns, *nulls],
            names=[*batch.schema.names, *(field.name for field in made)],
        )


def _show(value: pa.Scalar) -> str:
    return repr(value.as_py()[:60])
