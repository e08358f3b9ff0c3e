"""The file format of Arrow IPC."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.ipc import check_batches
from odqa_fast.io.memory import read_batches
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source, explain_damage

NAME = "arrow"
SUFFIXES = {".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}
NEVER_EMPTY = True


def sniff(head: Head) -> Fit:
    """Tell the format by its first bytes."""
    return Fit.SIGNATURE if head.data.startswith(b"ARROW1") else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of an Arrow IPC file; arguments as for `jsonl.read`.

    Raises:
        DataError: the file is damaged.
    """
    # Mapped into memory: only what is looked at is then read.
    file = source.random_access(NAME, mapped=True)

    def batches() -> Iterator[pa.RecordBatch]:
        # No choice of columns here: it would make copies of what a mapped file has for nothing.
        reader = pa.ipc.open_file(file)
        found.update(reader.schema.names)
        parts = map(reader.get_batch, range(reader.num_record_batches))
        yield from check_batches(parts, intake)

    return read_batches(explain_damage(batches(), "Arrow file", intake.file), intake)
