"""A dump through a worker, to a Parquet file: read, ask, keep, write."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from odqa_fast import __version__
from odqa_fast.errors import OdqaWarning, SchemaError
from odqa_fast.inference.engine import Reply
from odqa_fast.inference.prepared import Worker
from odqa_fast.io import Dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.names import listed, naming_hint
from odqa_fast.io.parts import PartFiles
from odqa_fast.stages.journal import Journal, key_of
from odqa_fast.stages.stage import READ, Asked, Row, Stage, Timing
from odqa_fast.stages.timing import figures, throughput

SUMMARY_VERSION = 1

#: Rows whose requests go to the worker together: enough to find equals and to sort by length.
WINDOW_ROWS = 1024


@dataclass
class Progress:
    """How far a run is: requests, equal ones counted once, and what the replies took."""

    dump: Dump
    asked: int = 0
    replied: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


def run(
    stage: Stage,
    worker: Worker,
    dump: Dump,
    out: Path,
    *,
    timing: Timing,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Ask what every row asks, and write the dump with what comes of it.

    Args:
        stage: what is asked.
        worker: who is asked.
        dump: read once.
        out: the Parquet file; it appears whole at the end.
        timing: how the worker was opened.
        resume: go on with what an earlier run had.
        progress: told how far it is, before the first reply and after each.

    Returns:
        The summary, which also stands in the file's schema.

    Raises:
        SchemaError: a needed column is missing, or documents have no text.
        DataError: the dump cannot be read.
        EngineError: the worker cannot go on.
        OutputError: `out` cannot be written.
    """
    parts = PartFiles(out, resume=resume)
    journal = Journal(parts.folder, f"{worker.signature}|timing:{timing}")
    running = _Run(stage, worker, journal, timing, Progress(dump), progress or (lambda state: None))
    try:
        needed = stage.needs | ({"question"} if worker.needs_question else set())
        batches: Iterable[pa.RecordBatch] = dump
        if "documents" in needed or stage.or_documents:
            batches = with_texts(dump, [dump], unless="summary" if stage.or_documents else "")
        for batch in _windows(batches, dump, needed):
            parts.write(running.rows(batch))
        summary = running.summary(out)
        # Before the folder that it lies in goes.
        journal.close()
        parts.commit(stage.schema(timing), {"odqa_fast": json.dumps(summary, ensure_ascii=False)})
    finally:
        journal.close()
        parts.leave()
    if dump.left_out:
        warnings.warn(
            f"{out.name} holds the columns that this program knows, without "
            f"{listed(dump.left_out)}.",
            OdqaWarning,
            stacklevel=4,
        )
    return summary


def _windows(
    batches: Iterable[pa.RecordBatch], dump: Dump, needed: frozenset[str]
) -> Iterator[pa.RecordBatch]:
    n_rows = 0
    for batch in batches:
        missing = sorted(needed - set(batch.schema.names))
        if missing and not n_rows:
            # Said now, though a later row may have it: models are slow.
            raise SchemaError(
                f"there is no column {missing[0]!r}.",
                where=dump.paths[0],
                hint=naming_hint(missing[0], dump.found, dump.options.mapping),
            )
        n_rows += batch.num_rows
        for start in range(0, batch.num_rows, WINDOW_ROWS):
            yield batch.slice(start, WINDOW_ROWS)


class _Run:
    def __init__(
        self,
        stage: Stage,
        worker: Worker,
        journal: Journal,
        timing: Timing,
        state: Progress,
        progress: Callable[[Progress], None],
    ) -> None:
        self._stage = stage
        self._worker = worker
        self._journal = journal
        self._timing = timing
        self._state = state
        self._progress = progress
        self._counts: Counter[str] = Counter(rows=0, asked=0)
        self._prompt_seconds: list[float] = []
        self._replies: dict[bytes, Reply] = {}

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Some rows with what came of them."""
        read = batch.select([name for name in READ if name in batch.schema.names])
        asked = [self._ask(row) for row in read.to_pylist()]
        keys = [key_of(each.prepared.request) if each else b"" for each in asked]
        requests = {
            key: each.prepared.request for key, each in zip(keys, asked, strict=True) if each
        }
        self._reply(requests)
        self._replies |= {key: self._journal.replies[key] for key in requests}
        replies = [self._replies.get(key) for key in keys]
        self._count(asked, replies)
        return self._stage.rows(batch, asked, replies, self._timing)

    def _ask(self, row: Row) -> Asked | None:
        question = row.get("question")
        context = self._stage.context(row)
        if context is None or (question is None and self._worker.needs_question):
            return None
        return Asked(context.kind, self._worker.prepare(question or "", context))

    def _reply(self, requests: dict[bytes, Hashable]) -> None:
        new = {key: r for key, r in requests.items() if key not in self._journal.replies}
        keys = list(new)
        state = self._state
        state.asked += len(new)
        self._progress(state)
        for at, reply in self._worker.run(list(new.values())):
            self._journal.add(keys[at], reply)
            state.replied += 1
            state.tokens_out += reply.tokens_out
            state.seconds += reply.seconds
            self._progress(state)

    def _count(self, asked: Sequence[Asked | None], replies: Sequence[Reply | None]) -> None:
        counts = self._counts
        counts["rows"] += len(asked)
        for each, reply in zip(asked, replies, strict=True):
            if each is None or reply is None:
                counts["not_asked"] += 1
                continue
            counts["asked"] += 1
            counts[f"input_{each.input}"] += 1
            counts["cut"] += each.prepared.chars_left_out > 0
            counts["documents_left_out"] += each.prepared.documents_left_out
            counts[f"finish_{reply.finish}"] += 1
            if reply.error:
                counts[f"error_{reply.error.partition(':')[0].replace(' ', '_')}"] += 1
            self._prompt_seconds.append(each.prepared.seconds)

    def summary(self, out: Path) -> dict[str, Any]:
        """The run in figures."""
        dump = self._state.dump
        replies = [reply for reply in self._replies.values() if reply.finish != "error"]
        counts = {
            **self._counts,
            "distinct": len(self._replies),
            "kept_from_before": self._journal.n_kept,
            "rejected": dump.counts.rejected,
        }
        return {
            "format": SUMMARY_VERSION,
            "odqa_fast": __version__,
            "inputs": list(map(_name, dump.paths)),
            "out": _name(str(out)),
            "column": self._stage.column,
            "signature": self._worker.signature,
            "runs": {**self._worker.facts, "timing": self._timing},
            "seconds": {
                self._stage.seconds(self._timing): figures([r.seconds for r in replies]),
                f"{self._stage.name}_tokenize_seconds": figures(
                    [reply.tokenize_seconds for reply in replies]
                ),
                f"{self._stage.name}_queue_seconds": figures(
                    [reply.queue_seconds for reply in replies]
                ),
                f"{self._stage.name}_prompt_seconds": figures(self._prompt_seconds),
            },
            "tokens": throughput(replies),
            "counts": {name: n for name, n in counts.items() if n or name == "rows"},
        }


def _name(path: str) -> str:
    """A file's name as text: bytes in it that are no text would be no JSON either."""
    return os.fsencode(path).decode(errors="replace")
