"""The rows to judge: a dump's columns as texts, all of it or a sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.engines.context import Context
from odqa_fast.errors import DataError
from odqa_fast.io import Dump
from odqa_fast.io.names import missing_column
from odqa_fast.runs.provenance import provenance_of
from odqa_fast.schema import SAMPLES, TEXTS


@dataclass(frozen=True)
class Selection:
    """Which rows of a dump: the first `limit` of it, of those a `sample` drawn by `seed`.

    The draw depends on a row's number alone, not on how the dump is cut into files or batches.
    """

    limit: int | None = None
    sample: int | None = None
    seed: int = 0

    @property
    def tags(self) -> dict[str, object]:
        """What a signature says of it: nothing where all rows are taken."""
        tags: dict[str, object] = {}
        if self.limit is not None:
            tags["limit"] = self.limit
        if self.sample is not None:
            tags["sample"] = f"{self.sample}@{self.seed}"
        return tags


@dataclass(frozen=True)
class SelectedRows:
    """The rows to judge.

    Attributes:
        table: `id`, the columns that were asked for, null where the dump has none, and
            `runs.provenance.PROVENANCE`.
        n_read: rows that were read to get them.
        absent: columns that the dump does not have at all.
        has_ids: whether the ids are the dump's own.
        context: what the column `context` was made of.
    """

    table: pa.Table
    n_read: int
    absent: frozenset[str]
    has_ids: bool
    context: str

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def texts(self, column: str) -> list[str | None]:
        """A column of texts."""
        texts: list[str | None] = self.table[column].to_pylist()
        return texts

    def need(self, columns: Mapping[str, str], dump: Dump) -> None:
        """Checks that the dump has some columns.

        Args:
            columns: each with who needs it.
            dump: what the rows were read from.

        Raises:
            SchemaError: it has not.
        """
        for column in sorted(self.absent.intersection(columns)):
            named = ("summary", "documents") if column == "context" else column
            raise missing_column(named, columns[column], [dump])


def select_rows(
    batches: Iterable[pa.RecordBatch],
    columns: Collection[str],
    selection: Selection | None = None,
    checked: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]] = iter,
) -> SelectedRows:
    """Reads the rows to judge; they, and nothing else of the dump, stay in memory.

    Args:
        batches: canonical batches, e.g. a `Dump`.
        columns: canonical names, and `context`: the summary, or all documents where the batches
            have no summary.
        selection: which rows; all by default.
        checked: hands on the rows up to the selection's limit, or raises.
    """
    selection = selection or Selection()
    draws = np.random.default_rng(selection.seed)
    kept: list[pa.Table] = []
    drawn: list[npt.NDArray[np.float64]] = []
    seen: set[str] = set()
    n_read = 0
    for batch in checked(_take_first(batches, selection.limit)):
        seen.update(batch.schema.names)
        kept.append(_texts(batch, columns, n_read))
        n_read += batch.num_rows
        if selection.sample is not None:
            drawn.append(draws.random(batch.num_rows))
            kept, drawn = _draw(kept, drawn, selection.sample)
    table = pa.concat_tables(kept) if kept else _texts(_nothing(), columns, 0)
    context = ""
    if "context" in columns:
        context = "summary" if "summary" in seen else "documents"
        seen.update({"context"} if seen & {"summary", "documents"} else ())
    absent = frozenset(columns) - seen if kept else frozenset()
    return SelectedRows(table.combine_chunks(), n_read, absent, "id" in seen, context)


def join_texts(value: str | Sequence[str | None] | None) -> str:
    """A text as it is, texts one a line and each once; nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    return "\n".join(f"- {each}" for each in dict.fromkeys(value) if each is not None)


def _take_first(batches: Iterable[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """The batches up to so many rows; no more is read."""
    if limit is None:
        yield from batches
        return
    for batch in batches:
        yield batch.slice(0, limit)
        limit -= min(limit, batch.num_rows)
        if not limit:
            return


def _draw(
    kept: list[pa.Table], drawn: list[npt.NDArray[np.float64]], n: int
) -> tuple[list[pa.Table], list[npt.NDArray[np.float64]]]:
    """Those n rows that drew the smallest numbers, in their order."""
    table, numbers = pa.concat_tables(kept), np.concatenate(drawn)
    if len(numbers) <= n:
        return kept, drawn
    chosen = np.sort(np.argpartition(numbers, n)[:n]) if n else np.empty(0, np.int64)
    return [table.take(pa.array(chosen))], [numbers[chosen]]


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], pa.string())], names=["id"])


def _texts(batch: pa.RecordBatch, columns: Collection[str], first_row: int) -> pa.Table:
    rows = batch.num_rows
    numbers = pa.array(np.arange(first_row, first_row + rows)).cast(pa.string())
    made = {"id": numbers}
    if "id" in batch.schema.names:
        made["id"] = pc.coalesce(batch.column("id").cast(pa.string()), numbers)
    for column in columns:
        if column == "context":
            made[column] = _context(batch)
        elif column not in batch.schema.names:
            made[column] = pa.nulls(rows, SAMPLES.field(column).type)
        elif column == "answers":
            made[column] = batch.column(column).cast(TEXTS)
        else:
            made[column] = batch.column(column).cast(SAMPLES.field(column).type)
    return pa.table(made | provenance_of(batch))


def _context(batch: pa.RecordBatch) -> pa.Array:
    """The summary of each row, or its documents as one text, numbered by rank."""
    if "summary" in batch.schema.names:
        return batch.column("summary").cast(pa.large_string())
    if "documents" not in batch.schema.names:
        return pa.nulls(batch.num_rows, pa.large_string())
    contexts = [_join(documents) for documents in batch.column("documents").to_pylist()]
    return pa.array(contexts, pa.large_string())


def _join(documents: list[dict[str, str | None] | None] | None) -> str | None:
    texts = tuple(
        (document.get("title") or "", text)
        for document in documents or ()
        if document and (text := document.get("text"))
    )
    return "\n\n".join(Context("documents", texts).shown()) or None


#: Words that people's verdicts are given in, and what they count.
_WORDS = {
    **dict.fromkeys(("true", "yes", "correct", "1", "1.0"), 1.0),
    **dict.fromkeys(("partially correct", "partial", "0.5"), 0.5),
    **dict.fromkeys(("false", "no", "incorrect", "wrong", "0", "0.0"), 0.0),
}


def read_human(rows: SelectedRows) -> npt.NDArray[np.float64]:
    """What people said of each row, from 0 to 1; NaN where nobody said anything.

    Raises:
        DataError: a value that is neither a verdict nor a number from 0 to 1.
    """
    values = np.full(len(rows), np.nan)
    for at, text in enumerate(rows.texts("human")):
        if text is None or not text.strip():
            continue
        value = _WORDS.get(text.strip().lower())
        if value is None:
            try:
                value = float(text)
            except ValueError:
                value = -1.0
        if not 0 <= value <= 1:
            row = rows.table["id"][at].as_py()
            raise DataError(
                f"a person's verdict {text!r} is none.",
                where=f"row {row!r}, column 'human'",
                hint=f"Verdicts: {', '.join(_WORDS)}, or a number from 0 to 1.",
            )
        values[at] = value
    return values
