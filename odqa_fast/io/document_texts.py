"""Documents of which none has a text: an error for whoever looks into texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast.errors import SchemaError
from odqa_fast.io.names import document_names, list_names
from odqa_fast.io.options import ReadCounts

#: Rows that are looked at before all are.
_FIRST_ROWS = 16


def fields_without_text(given: pa.DataType, documents: pa.Array) -> Sequence[str]:
    """Name the fields of an input's documents where none of these has a text.

    Args:
        given: the type the documents have in the input.
        documents: the same as a canonical column.
    """
    while hasattr(given, "value_type"):
        given = given.value_type
    return given.names if pt.is_struct(given) and _has_text(documents) is False else ()


class Source(Protocol):
    """What batches were read from: a `Dump`, or `Data`."""

    counts: ReadCounts


def with_texts(
    batches: Iterable[pa.RecordBatch], sources: Sequence[Source], unless: str = ""
) -> Iterator[pa.RecordBatch]:
    """Yield the batches; where they hold documents, one at least has to have a text.

    Args:
        batches: canonical batches.
        sources: what they were read from.
        unless: a column that is looked into in their place, in batches that have it.

    Raises:
        SchemaError: there were documents, and none had a text; after the last batch.
    """
    names: set[str] = set()
    textless = texts = False
    for batch in batches:
        columns = batch.schema.names
        if not texts and "documents" in columns and unless not in columns:
            found = _has_text(batch.column("documents"))
            texts = found is True
            if found is False:
                textless = True
                names.update(_list_filled(batch.column("documents")))
        yield batch
    if textless and not texts:
        names.update(name for each in sources for name in each.counts.document_fields)
        raise SchemaError(
            f"the documents have no text: their fields are {list_names(names)}.",
            hint=f"A document's text stands in {', '.join(document_names('text'))}: rename it.",
        )


def _has_text(documents: pa.Array) -> bool | None:
    """Whether one of the documents has a text; None where there is no document."""
    known = None
    # Mostly the first have, and to take all out of their lists is a copy where some are null.
    for lists in (documents.slice(0, _FIRST_ROWS), documents):
        values = lists.flatten()
        if values.null_count < len(values):
            texts = pc.struct_field(values, "text")
            known = bool(texts.null_count < len(texts))
        if known:
            break
    return known


def _list_filled(documents: pa.Array) -> Iterator[str]:
    """Names of the fields that stand in some document."""
    values = documents.flatten()
    for at, name in enumerate(values.type.names):
        if values.field(at).null_count < len(values):
            yield name
