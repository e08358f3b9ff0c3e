"""How the tests of this folder read: everything at once, with what was refused."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from odqa_fast.io import ReadCounts, ReadOptions, Rejected, canonical_batches, open_dump
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source

COLUMNS = frozenset({"id", "answers", "prediction", "documents", "summary", "level"})


@dataclass
class Result:
    batches: list[pa.RecordBatch]
    counts: ReadCounts
    rejected: list[Rejected]
    found: tuple[str, ...] = ()

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in batch.to_pylist()]

    def column(self, name: str) -> list[Any]:
        return [row.get(name) for row in self.rows]

    @property
    def lines(self) -> list[int | None]:
        return [row.line for row in self.rejected]


def read(paths: Any, *, fmt: str | None = None, **options: Any) -> Result:
    rejected: list[Rejected] = []
    chosen = ReadOptions(options.pop("columns", COLUMNS), **options)
    dump = open_dump(paths, chosen, reject=rejected.append, fmt=fmt)
    batches = list(dump)
    for batch in batches:
        batch.validate(full=True)
    return Result(batches, dump.counts, rejected, dump.found)


def read_bytes(reader: Any, data: bytes, **options: Any) -> Result:
    """Run one format's reader over bytes."""
    rejected: list[Rejected] = []
    counts = ReadCounts()
    chosen = ReadOptions(options.pop("columns", COLUMNS), **options)
    intake = Intake("f", chosen, counts, rejected.append)
    found: set[str] = set()
    batches = list(reader(Source(io.BytesIO(data), "f"), intake, found))
    return Result(batches, counts, rejected, tuple(sorted(found)))


def in_memory(data: object, mapping: dict[str, str] | None = None) -> list[dict[str, Any]]:
    batches = canonical_batches(data, COLUMNS, mapping or {})
    return [row for batch in batches for row in batch.to_pylist()]


def jsonl(rows: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
