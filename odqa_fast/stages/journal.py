"""Replies kept as they come, in files beside the output, until that is whole."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import asdict, fields
from pathlib import Path
from time import monotonic

import pyarrow as pa

from odqa_fast.errors import OdqaError
from odqa_fast.inference.engine import Reply

#: Replies are written at the latest when the next one comes after so long.
FLUSH_SECONDS = 1.0

_TYPES = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def _type(annotation: object) -> pa.DataType:
    return _TYPES.get(str(annotation), pa.string())


_SCHEMA = pa.schema(
    [pa.field("key", pa.binary(16)), *(pa.field(f.name, _type(f.type)) for f in fields(Reply))]
)


def key_of(request: Hashable) -> bytes:
    """What a request is found by; equal for equal requests."""
    return hashlib.sha256(repr(request).encode()).digest()[:16]


class Journal:
    """The replies of an unfinished run.

    One file for each time the run was started, an Arrow stream: what a killed process wrote last
    may be half there, and is left out.

    Args:
        folder: where the files lie.
        signature: of what gives the replies.

    Raises:
        OdqaError: the folder is of another model or prompt.
    """

    def __init__(self, folder: Path, signature: str) -> None:
        self._schema = _SCHEMA.with_metadata({"signature": signature})
        self.replies: dict[bytes, Reply] = {}
        old = sorted(folder.glob("replies-*.arrow"))
        for path in old:
            self._load(path, signature)
        self.n_kept = len(self.replies)
        self._path = folder / f"replies-{len(old):05}.arrow"
        self._writer: pa.RecordBatchStreamWriter | None = None
        self._waiting: list[dict[str, object]] = []
        self._flushed = monotonic()

    def _load(self, path: Path, signature: str) -> None:
        try:
            with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
                found = (stream.schema.metadata or {}).get(b"signature", b"").decode()
                if found != signature:
                    raise OdqaError(
                        f"the unfinished run is of {found}, not of {signature}.",
                        where=str(path.parent),
                        hint="Go on with what it was, or delete the folder and start anew.",
                    )
                for batch in stream:
                    for row in batch.to_pylist():
                        key = row.pop("key")
                        # What went wrong may go well now.
                        if row["finish"] != "error":
                            self.replies[key] = Reply(**row)
        except (pa.ArrowInvalid, OSError):
            return  # the process was killed while it wrote

    def add(self, key: bytes, reply: Reply) -> None:
        """Keep a reply."""
        self.replies[key] = reply
        self._waiting.append({"key": key, **asdict(reply)})
        if monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is kept."""
        if self._waiting:
            batch = pa.RecordBatch.from_pylist(self._waiting, self._schema)
            if self._writer is None:
                self._file = pa.OSFile(str(self._path), "wb")
                self._writer = pa.ipc.new_stream(self._file, self._schema)
            self._writer.write_batch(batch)
            self._waiting.clear()
        self._flushed = monotonic()

    def close(self) -> None:
        """Write what is kept, and no more after it."""
        self.flush()
        if self._writer is not None:
            self._writer.close()
            self._file.close()
            self._writer = None
