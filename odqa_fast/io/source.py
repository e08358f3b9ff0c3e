"""Bytes of one input, peeked at, decompressed and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import pyarrow as pa

from odqa_fast._kernels.hashes import ContentHash
from odqa_fast.errors import DataError

#: First bytes of the compressed formats that are read through, and pyarrow's names for them.
_CODECS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
}
#: What a compressed file is called, and by which suffixes.
PACKED = "compressed data"
PACKED_SUFFIXES = (".gz", ".zst", ".bz2", ".lz4", ".xz", ".zip")

_CHUNK = 1 << 20

#: What is read from its end and comes from a pipe, or compressed as a whole, is held up to this.
SPOOLED_BYTES = 1 << 30

DAMAGED = "It may be cut off or damaged: make or fetch it again."

#: A broken Arrow stream may ask for exabytes: no more than this is asked of the system at once.
_LARGEST_READ = 16 << 20


class Readable(Protocol):
    """Anything with `read(n)`: at most n bytes, none at the end."""

    def read(self, n: int, /) -> bytes | None:
        """Return up to `n` bytes."""


#: Opens a file once more; its argument is `mapped` of `Source.random_access`.
Reopen = Callable[[bool], pa.NativeFile | None]


class Source:
    """A byte stream that can be looked at before it is read; forward only.

    Args:
        raw: the bytes.
        file: what to call it in errors.
        reopen: opens the same bytes for reading at any place; returns None where that cannot be.
        hashed: whether `hash_all` will be asked for.

    Attributes:
        position: how many bytes were taken.
        was_reopened: whether they were read at any place, so that few may have been taken here.
    """

    closed = False

    def __init__(
        self, raw: Readable, file: str, reopen: Reopen | None = None, *, hashed: bool = False
    ) -> None:
        self._raw = raw
        self.file = file
        self._reopen = reopen
        self._hash = ContentHash() if hashed else None
        self._head = b""
        self.position = 0
        self.was_reopened = False

    def peek(self, n: int) -> bytes:
        """Return the next `n` bytes (fewer at the end) without taking them."""
        if len(self._head) < n:
            self._head += self._pull(n - len(self._head))
        return self._head[:n]

    def read(self, n: int) -> bytes:
        """Return the next `n` bytes; fewer only at the end.

        Raises:
            DataError: the bytes cannot be read, or the compression is broken.
        """
        taken, self._head = self._head[:n], self._head[n:]
        if len(taken) < n:
            taken += self._pull(n - len(taken))
        self.position += len(taken)
        return taken

    def random_access(self, what: str, *, mapped: bool = False) -> pa.NativeFile | pa.Buffer:
        """Return all bytes for reading at any place; they are held where they come from a pipe.

        Args:
            what: the format, for errors.
            mapped: map the file into memory, if there is one.

        Raises:
            DataError: it would have to be held and is larger than `SPOOLED_BYTES`.
        """
        file = None if self._reopen is None else self._reopen(mapped)
        self.was_reopened = file is not None
        return _hold(self, what) if file is None else file

    def hash_all(self) -> str:
        """Read on to the end; return the hash of all bytes as hexadecimal digits."""
        assert self._hash is not None
        while self.read(_CHUNK):
            pass
        return self._hash.hexdigest()

    def readable(self) -> bool:
        """Return True: pyarrow asks."""
        return True

    def close(self) -> None:
        """Do nothing: who opened the raw bytes closes them; pyarrow calls this."""

    def _pull(self, n: int) -> bytes:
        parts: list[bytes] = []
        try:
            while n > 0 and (part := self._raw.read(min(n, _LARGEST_READ))):
                parts.append(part)
                n -= len(part)
                if self._hash is not None:
                    # Now, while the processor still has them near.
                    self._hash.update(part)
        except (OSError, pa.ArrowException) as error:
            hint = None if isinstance(error, OSError) and error.errno else DAMAGED
            raise DataError(f"cannot be read: {error}.", where=self.file, hint=hint) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress(source: Source) -> Source:
    """Return the source's content: itself, or what its first bytes say it is the packing of.

    Raises:
        DataError: an archive or a compression that is not read.
    """
    head = source.peek(6)
    if head.startswith(b"PK\x03\x04"):
        raise DataError("is a zip archive.", where=source.file, hint="Unzip it first.")
    if head.startswith(b"\xfd7zXZ"):
        raise DataError("is compressed by xz.", where=source.file, hint="Decompress it first.")
    for magic, codec in _CODECS.items():
        if head.startswith(magic):
            stream = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), codec)
            return Source(stream, source.file)
    return source


def _hold(source: Source, what: str) -> pa.Buffer:
    parts: list[bytes] = []
    size = 0
    while part := source.read(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > SPOOLED_BYTES:
            raise DataError(
                f"{what} of more than {SPOOLED_BYTES >> 20} MiB cannot be read from a stream.",
                where=source.file,
                hint="Write it to a file, not compressed as a whole, and name the file.",
            )
    return pa.py_buffer(b"".join(parts))


def explain_damage(
    batches: Iterator[pa.RecordBatch], what: str, file: str
) -> Iterator[pa.RecordBatch]:
    """Pass batches on, telling Arrow's errors as ours; only those of reading, not of the reader.

    Raises:
        DataError: the file is damaged.
    """
    while True:
        try:
            batch = next(batches, None)
        except MemoryError as error:
            # Damage may ask for any size, so that nobody can tell which of the two it is.
            raise DataError(
                f"needs more memory than there is: {error}.", where=file, hint=DAMAGED
            ) from None
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())  # some of Arrow's have several lines
            raise DataError(f"broken {what}: {said}.", where=file, hint=DAMAGED) from error
        if batch is None:
            return
        yield batch
