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

from odqa_fast.engines.base import Reply
from odqa_fast.engines.cached import CachedWorker
from odqa_fast.engines.failures import Failures
from odqa_fast.engines.prepared import Worker
from odqa_fast.engines.replies import KEPT_NOTE, ReplyStore, key_of
from odqa_fast.errors import OdqaWarning, SchemaError
from odqa_fast.io import Dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.names import listed, naming_hint
from odqa_fast.io.parquet_parts import PartFiles
from odqa_fast.runs.input import Read
from odqa_fast.steps.kept import RunReplies, left_beside
from odqa_fast.steps.stage import NOT_ASKED, READ, Asked, NotAsked, Row, Stage, Timing
from odqa_fast.steps.timing import figures, throughput
from odqa_fast.version import __version__

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
    cache: Path | None = None,
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
        cache: a file for replies that outlives the run. Without one they lie beside `out` until no
            row of it failed, so that the next run asks only what did.
        progress: told how far it is, before the first reply and after each.

    Returns:
        The summary, which also stands in the file's schema. `counts.failed` are rows that have
        nothing because something failed: it or, of an answer, the compression before it.

    Raises:
        SchemaError: a needed column is missing, or documents have no text.
        DataError: the dump cannot be read.
        EngineError: the worker cannot go on.
        OutputError: `out` cannot be written.
    """
    parts = PartFiles(out, resume=resume)
    try:
        tag = f"|timing:{timing}"
        kept = RunReplies(out, parts.folder, cache, f"{worker.signature}{tag}")
        try:
            cached = CachedWorker(worker, kept.store, tag)
            asking = _Asking(cached, kept.store, Progress(dump), progress)
            running = _Run(stage, asking, timing)
            needed = stage.needs | ({"question"} if worker.needs_question else set())
            batches: Iterable[pa.RecordBatch] = dump
            if "documents" in needed or stage.or_documents:
                batches = with_texts(dump, [dump], unless="summary" if stage.or_documents else "")
            for batch in _windows(batches, dump, needed):
                parts.write(running.rows(batch))
            summary = running.summary(out, keeps=cache is None)
            metadata = {"odqa_fast": json.dumps(summary, ensure_ascii=False)}
            parts.commit(stage.schema(timing), metadata)
            kept.finish(failed=running.failed > 0)
            parts.remove()
        except BaseException:
            kept.leave()
            raise
    finally:
        parts.leave()
    for note in summary["notes"]:
        warnings.warn(note, OdqaWarning, stacklevel=4)
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


class _Asking:
    """What requests of a run come to; each is asked once."""

    def __init__(
        self,
        worker: CachedWorker,
        store: ReplyStore,
        state: Progress,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.worker, self.store, self.state = worker, store, state
        self._progress = progress or (lambda state: None)
        #: Failures are here as well, though not in the store: they are for another run.
        self.replies: dict[bytes, Reply] = {}

    def ask(self, requests: Sequence[Hashable | None]) -> list[Reply | None]:
        """The reply to each request; none where there is no request."""
        keys = [b"" if each is None else key_of("", each) for each in requests]
        waiting = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if request is not None and key not in self.replies
        }
        new = list(waiting)
        state = self.state
        state.asked += len(new)
        self._progress(state)
        for at, reply in self.worker.run(list(waiting.values())):
            self.replies[new[at]] = reply
            state.replied += 1
            state.tokens_out += reply.tokens_out
            state.seconds += reply.seconds
            self._progress(state)
        return [self.replies.get(key) for key in keys]


class _Run:
    def __init__(self, stage: Stage, asking: _Asking, timing: Timing) -> None:
        self._stage = stage
        self._asking = asking
        self._timing = timing
        self._counts: Counter[str] = Counter(rows=0, asked=0)
        self._unasked, self._unanswered = Failures(), Failures()
        self._prompt_seconds: list[float] = []

    @property
    def failed(self) -> int:
        """Rows that have nothing because something failed."""
        return self._unasked.n + self._unanswered.n

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Some rows with what came of them."""
        read = batch.select([name for name in READ if name in batch.schema.names])
        asked = [self._asked(row) for row in read.to_pylist()]
        replies = self._asking.ask(
            [each.prepared.request if isinstance(each, Asked) else None for each in asked]
        )
        self._count(asked, replies)
        return self._stage.rows(batch, asked, replies, self._timing)

    def _asked(self, row: Row) -> Asked | NotAsked:
        question, worker = row.get("question"), self._asking.worker
        if question is None and worker.needs_question:
            return NOT_ASKED
        context = self._stage.context(row)
        if isinstance(context, NotAsked):
            return context
        is_blank = context.kind == "summary" and not any(map(str.strip, context.plain()))
        self._counts["blank_summaries"] += is_blank
        return Asked(context.kind, worker.prepare(question or "", context))

    def _count(self, asked: Sequence[Asked | NotAsked], replies: Sequence[Reply | None]) -> None:
        counts = self._counts
        counts["rows"] += len(asked)
        for each, reply in zip(asked, replies, strict=True):
            if isinstance(each, NotAsked) or reply is None:
                counts["not_asked"] += 1
                if isinstance(each, NotAsked) and each.error:
                    self._unasked.add(each.error)
                continue
            counts["asked"] += 1
            counts[f"input_{each.input}"] += 1
            counts["cut"] += each.prepared.chars_left_out > 0
            counts["documents_left_out"] += each.prepared.documents_left_out
            counts[f"finish_{reply.finish}"] += 1
            if reply.finish == "error":
                self._unanswered.add(reply.error)
                counts[f"error_{reply.error.partition(':')[0].replace(' ', '_')}"] += 1
            else:
                counts[self._stage.blank] += not reply.text.strip()
            self._prompt_seconds.append(each.prepared.seconds)

    def summary(self, out: Path, *, keeps: bool) -> dict[str, Any]:
        """The run in figures.

        Args:
            out: its output.
            keeps: whether replies are kept beside that where rows failed.
        """
        read = Read.of(self._asking.state.dump)
        dump, worker, store = self._asking.state.dump, self._asking.worker, self._asking.store
        replies = [each for each in self._asking.replies.values() if each.finish != "error"]
        counts = {
            **self._counts,
            "not_asked_after_failure": self._unasked.n,
            "failed": self.failed,
            "distinct": len(self._asking.replies),
            "kept_from_before": len(store.from_before),
            "kept_damaged": store.n_damaged,
            **read.oddities,
        }
        return {
            "format": SUMMARY_VERSION,
            "odqa_fast": __version__,
            "inputs": list(map(_name, dump.paths)),
            "out": _name(str(out)),
            "column": self._stage.column,
            "signature": "|".join(
                [worker.signature, *(f"{name}:{tag}" for name, tag in read.tags.items())]
            ),
            "runs": {**worker.facts, "timing": self._timing},
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
            "notes": [*self._notes(counts, out, keeps=keeps), *read.notes],
        }

    def _notes(self, counts: dict[str, int], out: Path, *, keeps: bool) -> list[str]:
        column = self._stage.column
        notes = [
            *self._unanswered.note(f"{{n}} rows failed and have no {column}"),
            *self._unasked.note(f"{{n}} rows were not asked and have no {column}"),
        ]
        if self.failed and keeps:
            kept = left_beside(out).name
            notes.append(
                f"the other replies are kept in {kept}: the same command asks only what failed "
                "again; delete the file to ask everything."
            )
        sentences = {
            "blank_summaries": "rows have a blank summary: there was nothing to answer from.",
            self._stage.blank: f"rows have a blank {column}.",
        }
        notes += [f"{counts[name]} {said}" for name, said in sentences.items() if counts.get(name)]
        if n := counts["kept_from_before"]:
            notes.append(KEPT_NOTE.format(n=n))
        if left_out := self._asking.state.dump.left_out:
            notes.append(
                f"{out.name} holds the columns that this program knows, without {listed(left_out)}."
            )
        return notes


def _name(path: str) -> str:
    """A file's name as text: bytes in it that are no text would be no JSON either."""
    return os.fsencode(path).decode(errors="replace")
