"""A compact index of text ids: 16 bytes a row beside the ids themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.hashes import hashes
from odqa_fast.io.layout import list_window

_KEY = int.from_bytes(os.urandom(8), "little")

Rows = npt.NDArray[np.int64]

#: An odd number whose multiples are spread.
_ODD = np.int64(0x9E3779B97F4A7C15 - 2**64)

#: So many ids are named.
SHOWN_IDS = 5

#: Stands for "no row".
NO_ROW = -1


class IdIndex:
    """Finds the first row that has an id; null ids are never found.

    Args:
        chunks: the ids, as utf8 or large_utf8 arrays.
    """

    def __init__(self, chunks: Sequence[pa.Array]) -> None:
        self._chunks = chunks
        self._starts = np.cumsum([0, *map(len, chunks)])
        hashes = np.concatenate([np.empty(0, np.int64), *map(hash_texts, chunks)])
        known = np.concatenate([np.empty(0, bool), *map(_is_known, chunks)])
        rows = np.flatnonzero(known)
        # Stable, so that rows of one id stand in their order.
        order = np.argsort(hashes[rows], kind="stable")
        self._rows = rows[order]
        self._hashes = hashes[self._rows]

    def id_of(self, row: int) -> str | None:
        """Return the id of a row."""
        chunk = int(np.searchsorted(self._starts, row, side="right")) - 1
        value: str | None = self._chunks[chunk][row - self._starts[chunk]].as_py()
        return value

    def repeats(self) -> Iterator[list[int]]:
        """Yield the rows of each id that stands more than once, in their order."""
        same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        for run in np.split(same, np.flatnonzero(np.diff(same) != 1) + 1):
            if not len(run):
                continue
            by_id: dict[str | None, list[int]] = {}
            for row in self._rows[run[0] : run[-1] + 2]:
                by_id.setdefault(self.id_of(int(row)), []).append(int(row))
            yield from (rows for rows in by_id.values() if len(rows) > 1)

    def find(self, ids: pa.Array) -> Rows:
        """Return for each id its first row, or NO_ROW."""
        found = np.full(len(ids), NO_ROW, np.int64)
        if not len(self._rows):
            return found
        hashes = hash_texts(ids)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        hit = (self._hashes[place] == hashes) & _is_known(ids)
        found[hit] = self._rows[place[hit]]
        for i in np.flatnonzero(hit & ~self._equal(ids, found)):
            found[i] = self._find_slowly(ids[int(i)].as_py(), int(place[i]))
        return found

    def _equal(self, ids: pa.Array, rows: Rows) -> npt.NDArray[np.bool_]:
        """Compare ids with those of the rows, chunk by chunk."""
        equal = np.zeros(len(ids), bool)
        chunk_of = np.searchsorted(self._starts, rows, side="right") - 1
        for chunk in np.unique(chunk_of[rows != NO_ROW]):
            here = np.flatnonzero((chunk_of == chunk) & (rows != NO_ROW))
            theirs = self._chunks[chunk].take(pa.array(rows[here] - self._starts[chunk]))
            ours = ids.take(pa.array(here))
            equal[here] = pc.equal(ours.cast(pa.large_string()), theirs.cast(pa.large_string()))
        return equal

    def _find_slowly(self, name: str, place: int) -> int:
        """Look through the ids that share a hash."""
        wanted = self._hashes[place]
        while place < len(self._hashes) and self._hashes[place] == wanted:
            if self.id_of(int(self._rows[place])) == name:
                return int(self._rows[place])
            place += 1
        return NO_ROW


def hash_texts(values: pa.Array) -> Rows:
    """Hash each value to 64 bits, keyed per process, so nobody can make them collide."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        values = values.cast(pa.string())
    numbers = np.empty(len(values), np.uint64)
    hashes(Column("id", values), _KEY, numbers)
    return numbers.view(np.int64)


def hash_values(values: pa.Array) -> Rows:
    """Hash each value, however nested, to 64 bits; a field that is not there is as a null one."""
    data_type = values.type
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        offsets, items = list_window(values)
        starts, sizes = offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)
        places = np.arange(len(items)) - np.repeat(starts, sizes)
        # Odd factors, other ones at each place: the order of the items counts.
        sums = np.cumsum(np.append(0, (hash_values(items) + 1) * ((places + 1) * _ODD | 1)))
        found = sums[offsets[1:]] - sums[offsets[:-1]] + sizes + 1
    elif pt.is_struct(data_type):
        names = hash_texts(pa.array(data_type.names, pa.string())) | 1
        parts = [hash_values(values.field(i)) for i in range(data_type.num_fields)]
        found = sum((part * name for part, name in zip(parts, names, strict=True)), _none(values))
    else:
        found = hash_texts(values)
    return np.where(_is_known(values), found, 0)


class RepeatCounter:
    """Counts ids that stand again, by 8 bytes an id (two ids share a hash once in 2^64).

    Attributes:
        first: the first ids that do, at most `SHOWN_IDS`, in the order in which they come again.
    """

    def __init__(self) -> None:
        self.first: list[str] = []
        # Sorted, each at least twice as long as the next: an id is looked up in few of them.
        self._runs: list[Rows] = []

    def add(self, ids: pa.Array) -> None:
        """Note the ids of a batch; nulls are no ids."""
        ids = ids.drop_null()
        hashes = hash_texts(ids)
        run = np.sort(hashes)
        if len(self.first) < SHOWN_IDS:
            again = np.concatenate([run[1:][run[1:] == run[:-1]], *self._again(run)])
            if len(again):
                found = ids.filter(pa.array(np.isin(hashes, again))).unique().to_pylist()
                self.first = list(dict.fromkeys(self.first + found))[:SHOWN_IDS]
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge(2)

    def _again(self, run: Rows) -> Iterator[Rows]:
        """What stands in an earlier run as well."""
        for other in self._runs:
            if len(other):
                places = np.minimum(np.searchsorted(other, run), len(other) - 1)
                yield run[other[places] == run]

    def _merge(self, last: int) -> None:
        whole = np.concatenate(self._runs[-last:])
        # Of sorted parts the stable sort makes one without sorting anew.
        whole.sort(kind="stable")
        self._runs[-last:] = [whole]

    def repeats(self) -> int:
        """Return how many rows have the id of an earlier one."""
        if not self._runs:
            return 0
        self._merge(len(self._runs))
        (every,) = self._runs
        return int((every[1:] == every[:-1]).sum())


def _none(values: pa.Array) -> Rows:
    return np.zeros(len(values), np.int64)


def _is_known(values: pa.Array) -> npt.NDArray[np.bool_]:
    known: npt.NDArray[np.bool_] = values.is_valid().to_numpy(zero_copy_only=False)
    return known
