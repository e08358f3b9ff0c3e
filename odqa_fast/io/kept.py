"""Objects that are kept on disk: sequences and tables that may be larger than memory.

They lie in files without a name, which nobody else can open and which end with the process, however
it ends. So what is read back is what was written, and `pickle` may do it.
"""

from __future__ import annotations

import errno
import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TypeVar, overload
from weakref import finalize

import numpy as np

from odqa_fast.errors import OutputError

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def find_room(out: Path | None) -> Path | None:
    """Where there is likely room for what a run keeps: the folder its output goes to.

    Args:
        out: the output, whose folder need not be there yet; None for the system's place.
    """
    if out is None:
        return None
    return next((folder for folder in out.absolute().parents if folder.is_dir()), None)


class Kept(Sequence[T]):
    """A sequence on disk, which takes 8 bytes of memory for each group of objects.

    One thread may append; any may read.

    Args:
        items: what to begin with.
        folder: where its file lies; None for the system's place for temporary files.
        group: so many objects are written and read together.

    Raises:
        OutputError: here and in `append`, the file cannot be made or written.
    """

    def __init__(
        self, items: Iterable[T] = (), folder: Path | None = None, *, group: int = 1
    ) -> None:
        self._folder, self._group = folder, group
        self._starts = array("q", [0])
        self._last: list[T] = []
        self._lock = Lock()
        try:
            self._file = tempfile.TemporaryFile(dir=folder)
        except OSError as error:
            raise self._failed(error) from None
        finalize(self, self._file.close)
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Puts an object at the end."""
        self._last.append(item)
        if len(self._last) < self._group:
            return
        data = pickle.dumps(self._last, protocol=5)
        start = self._starts[-1]
        try:
            with self._lock:
                self._file.seek(start)
                self._file.write(data)
        except OSError as error:
            raise self._failed(error) from None
        self._starts.append(start + len(data))
        self._last = []

    def _failed(self, error: OSError) -> OutputError:
        hint = "Free some space and run again." if error.errno == errno.ENOSPC else None
        place = str(self._folder or tempfile.gettempdir())
        return OutputError(
            f"what does not fit into memory could not be written: {error.strerror or error}.",
            where=place,
            hint=hint,
        )

    def __len__(self) -> int:
        return (len(self._starts) - 1) * self._group + len(self._last)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        number, place = divmod(at % len(self), self._group)
        return self._read(number)[place]

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._starts)):
            yield from self._read(number)

    def _read(self, number: int) -> list[T]:
        if number == len(self._starts) - 1:
            return self._last
        start, end = self._starts[number : number + 2]
        try:
            with self._lock:
                self._file.seek(start)
                data = self._file.read(end - start)
        except OSError as error:
            raise self._failed(error) from None
        group: list[T] = pickle.loads(data)
        return group


class KeptTable(Mapping[K, V]):
    """Values by key, on disk: 24 bytes of memory a value.

    Where a key has several values, the first is found, and each counts and is gone through.

    Args:
        items: keys and values; a key is told from others by its `repr`.
        folder: see `Kept`.
    """

    def __init__(self, items: Iterable[tuple[K, V]], folder: Path | None = None) -> None:
        self._items: Kept[tuple[K, V]] = Kept(folder=folder)
        hashes = array("Q")
        for key, value in items:
            hashes.append(_hash(key))
            self._items.append((key, value))
        each = np.frombuffer(hashes, np.uint64)
        # Stable, so that the values of one key stand in their order.
        self._order = np.argsort(each, kind="stable")
        self._hashes = each[self._order]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._items)

    def __getitem__(self, key: K) -> V:
        for found, value in self._near(_hash(key)):
            if found == key:
                return value
        raise KeyError(key)

    def rows(self) -> Iterator[tuple[K, V]]:
        """Every key with its value, in the order in which they came."""
        return iter(self._items)

    def repeats(self) -> Iterator[tuple[K, V, V]]:
        """A key, one of its values and the next, wherever it has several."""
        same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        for number in np.unique(self._hashes[same]):
            before: dict[K, V] = {}
            for key, value in self._near(number):
                if key in before:
                    yield key, before[key], value
                before[key] = value

    def _near(self, number: int | np.uint64) -> Iterator[tuple[K, V]]:
        """What has a hash: one key, or some more by a rare chance."""
        number = np.uint64(number)
        for at in range(int(np.searchsorted(self._hashes, number)), len(self._hashes)):
            if self._hashes[at] != number:
                return
            yield self._items[int(self._order[at])]


def _hash(key: object) -> int:
    text = repr(key).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
