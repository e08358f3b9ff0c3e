"""Several runs in one file: fields that say which run a row is of, over ids that stand again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odqa_fast.errors import SchemaError
from odqa_fast.io.ids import Rows, hash_texts
from odqa_fast.io.options import WATCHED, ReadOptions

#: lm-eval writes a question once for each way to take the answer out of a reply: these are scores
#: of their own, never one mean.
REFUSED = ("filter",)

#: What may well be scored together, if that is meant.
SAID = ("system", "dataset")

#: Names a row's question where there is no id: lm-eval's.
_NUMBER = "doc_id"

#: The fields that `RunWatch` wants to see.
_WATCHED = frozenset((*REFUSED, *SAID, _NUMBER))

#: A field with more values than this says something else. A row's value is kept as one byte.
_MOST_VALUES = 250
_NO_VALUE = 255
_SHOWN_VALUES = 8


@dataclass
class _Runs:
    """The values of one field, and for each row that has an id which of them it has."""

    values: dict[str, int] = field(default_factory=dict)
    codes: list[npt.NDArray[np.uint8]] = field(default_factory=list)

    def add(self, column: pa.Array) -> bool:
        """Note a column; tell whether a value is new."""
        known = len(self.values)
        if known > _MOST_VALUES:
            return False
        encoded = column.dictionary_encode()
        places = [
            self.values.setdefault(v, len(self.values)) for v in encoded.dictionary.to_pylist()
        ]
        if len(self.values) > _MOST_VALUES:
            self.codes.clear()
            return False
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        self.codes.append(np.array([*places, _NO_VALUE], np.uint8)[indices])
        return len(self.values) > known


def add_run_fields(options: ReadOptions) -> ReadOptions:
    """Add the fields to read that tell whether the rows are those of one run."""
    return replace(options, watched=options.watched | _WATCHED) if options.one_run else options


class RunWatch:
    """Looks whether ids stand again under another value of a field that names a run.

    Holds 8 bytes a row and one for each such field the rows have; nothing where they have none.
    """

    def __init__(self) -> None:
        self._ids: list[Rows] = []
        self._n_ids = self._next_look = 0
        self._fields: dict[str, _Runs] = {}

    def watch(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass batches on without the fields that are watched.

        Raises:
            SchemaError: ids stand again under another value of a field of `REFUSED`.
        """
        for batch in batches:
            names = batch.schema.names
            if self._note(batch):
                self.check()
            yield batch.select([name for name in names if not name.startswith(WATCHED)])
        self.check()

    def notes(self) -> Iterator[str]:
        """A note on each field of `SAID` that names several runs over the same ids."""
        for name in SAID:
            if self._repeats(name):
                yield (
                    f"{self._show(name)} stand in the field {name!r} over the same ids: they are "
                    f"taken together (--where {name}=VALUE takes one)."
                )

    def _note(self, batch: pa.RecordBatch) -> bool:
        """Note the rows of a batch; tell whether it is time to look at all of them."""
        names = batch.schema.names
        ids = next((name for name in ("id", WATCHED + _NUMBER) if name in names), None)
        if ids is None or not any(WATCHED + name in names for name in (*REFUSED, *SAID)):
            return False
        known = batch.column(ids).is_valid()
        is_new = False
        for name in (*REFUSED, *SAID):
            runs = self._fields.setdefault(name, _Runs())
            column = (
                batch.column(WATCHED + name).filter(known)
                if WATCHED + name in names
                else pa.nulls(known.true_count, pa.string())
            )
            is_new |= runs.add(column) and len(runs.values) > 1
        self._ids.append(hash_texts(batch.column(ids).filter(known)))
        self._n_ids += len(self._ids[-1])
        return is_new or self._n_ids >= self._next_look

    def check(self) -> None:
        """Look at the rows that were watched so far.

        Raises:
            SchemaError: as `watch`.
        """
        self._next_look = 2 * self._n_ids
        for name in REFUSED:
            if self._repeats(name):
                first = next(iter(self._fields[name].values))
                raise SchemaError(
                    f"{self._show(name)} stand in the field {name!r} over the same ids: these are "
                    "several runs, and no score is one over all of them.",
                    hint=f"Choose one, e.g. --where {name}={first} "
                    f"(in Python where={{{name!r}: {first!r}}}, or only the rows of one).",
                )

    def _repeats(self, name: str) -> bool:
        """Whether some id stands under two values of a field."""
        runs = self._fields.get(name)
        if runs is None or not 1 < len(runs.values) <= _MOST_VALUES:
            return False
        ids, codes = np.concatenate(self._ids), np.concatenate(runs.codes)
        ids, codes = ids[codes != _NO_VALUE], codes[codes != _NO_VALUE]
        # An odd factor sends no two values of one id to one number.
        pairs = ids ^ (codes.astype(np.int64) * np.int64(0x9E3779B97F4A7C15 - 2**64))
        return len(np.unique(pairs)) > len(np.unique(ids))

    def _show(self, name: str) -> str:
        values = list(self._fields[name].values)
        more = f" and {len(values) - _SHOWN_VALUES} more" if len(values) > _SHOWN_VALUES else ""
        return f"{len(values)} values ({', '.join(map(repr, values[:_SHOWN_VALUES]))}{more})"
