"""The stream format of Arrow IPC."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.ipc import check_batches
from odqa_fast.io.memory import read_batches
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source, explain_damage

NAME = "arrow-stream"


def sniff(head: Head) -> Fit:
    """Tell the format by its first bytes."""
    return Fit.SIGNATURE if head.data.startswith(b"\xff\xff\xff\xff") else Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the canonical batches of an Arrow IPC stream; arguments as for `jsonl.read`.

    Raises:
        DataError: the stream is damaged.
    """

    def batches() -> Iterator[pa.RecordBatch]:
        reader = pa.ipc.open_stream(pa.PythonFile(source, mode="r"))
        found.update(reader.schema.names)
        yield from check_batches(reader, intake)

    return read_batches(explain_damage(batches(), "Arrow stream", intake.file), intake)
