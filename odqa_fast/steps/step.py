"""What a row is asked about, and the columns that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.engines.base import Prepared, Query, Reply
from odqa_fast.engines.context import Context
from odqa_fast.schema import SAMPLES

Row = dict[str, Any]
Timing = Literal["batch", "each"]

#: Columns that a row's question and context are taken from.
READ = ("question", "documents", "summary", "compressor_error", "compressor_finish")


@dataclass(frozen=True)
class NotAsked:
    """What a row is that asks nothing.

    Args:
        error: what failed before it could be asked; empty where nothing did.
    """

    error: str = ""


NOT_ASKED = NotAsked()


@dataclass(frozen=True)
class Asked:
    """What a row asks.

    Args:
        input: the kind of context it asks about.
        prepared: the request.
        is_blank: whether it asks about a summary that says nothing.
    """

    input: str
    prepared: Prepared
    is_blank: bool = False


@dataclass(frozen=True)
class Step:
    """A step of a pipeline: what it asks, and the columns it makes.

    Args:
        name: how its columns begin: `compressor`, `reader`.
        column: what comes of it.
        needs: canonical columns without which nothing can be asked.
        context: what a row is asked about, or that it asks nothing.
        or_documents: whether documents are what rows without a summary are asked about.
        ask: what a component is asked, of a question (empty where there is none) and a context.
        tag: what could make it another text, behind the component's signature.
        facts: what is said of it in the summary of a run.
    """

    name: str
    column: str
    needs: frozenset[str]
    context: Callable[[Row], Context | NotAsked]
    or_documents: bool = False
    ask: Callable[[str, Context], Any] = Query
    tag: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def blank(self) -> str:
        """The count of replies that say nothing."""
        return f"blank_{'summaries' if self.column == 'summary' else 'predictions'}"

    def name_seconds(self, timing: Timing) -> str:
        """The column of a reply's seconds: what it takes by itself, or its share of a batch."""
        return f"{self.name}_seconds" if timing == "each" else f"{self.name}_amortized_seconds"

    def list_columns(self, timing: Timing) -> pa.Schema:
        """The columns that a run adds, or writes anew."""
        own = {
            "prompt_seconds": pa.float64(),
            "tokenize_seconds": pa.float64(),
            "queue_seconds": pa.float64(),
            "tokens_in": pa.int64(),
            "tokens_out": pa.int64(),
            "input": pa.string(),
            "documents_left_out": pa.int64(),
            "chars_left_out": pa.int64(),
            "finish": pa.string(),
            "error": pa.string(),
            "thought": pa.string(),
        }
        return pa.schema(
            [
                pa.field(self.column, pa.string()),
                pa.field(self.name_seconds(timing), pa.float64()),
                *(pa.field(f"{self.name}_{name}", kind) for name, kind in own.items()),
            ]
        )

    def make_schema(self, timing: Timing) -> pa.Schema:
        """All columns there can be, in their order."""
        own = self.list_columns(timing)
        return pa.schema([*SAMPLES, *(field for field in own if field.name not in SAMPLES.names)])

    def fill_rows(
        self,
        batch: pa.RecordBatch,
        asked: Sequence[Asked | NotAsked],
        replies: Sequence[Reply | None],
        timing: Timing,
    ) -> pa.RecordBatch:
        """A batch with what came of it; null where nothing did."""
        own = self.list_columns(timing)
        made = [
            self._make_values(each, reply, timing)
            if isinstance(each, Asked) and reply is not None
            else {f"{self.name}_error": getattr(each, "error", "") or None}
            for each, reply in zip(asked, replies, strict=True)
        ]
        columns = {
            field.name: pa.array([row.get(field.name) for row in made], field.type) for field in own
        }
        # Another run's seconds say nothing of this one.
        stale = {self.name_seconds("each"), self.name_seconds("batch")}
        for name in batch.schema.names:
            if name not in columns and name not in stale:
                columns[name] = batch.column(name).cast(SAMPLES.field(name).type)
        fields = [field for field in self.make_schema(timing) if field.name in columns]
        return pa.RecordBatch.from_arrays(
            [columns[field.name] for field in fields], schema=pa.schema(fields)
        )

    def _make_values(self, asked: Asked, reply: Reply, timing: Timing) -> Row:
        failed = reply.finish == "error"
        own = {
            "prompt_seconds": asked.prepared.seconds,
            "tokenize_seconds": reply.tokenize_seconds,
            "queue_seconds": reply.queue_seconds,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "input": asked.input,
            "documents_left_out": asked.prepared.documents_left_out,
            "chars_left_out": asked.prepared.chars_left_out,
            "finish": reply.finish,
            "error": reply.error or None,
            "thought": reply.thought or None,
        }
        return {
            self.column: None if failed else reply.text.strip(),
            self.name_seconds(timing): None if failed else reply.seconds,
            **{f"{self.name}_{name}": value for name, value in own.items()},
        }
