"""Documents of which none has a text: an error for whoever looks into texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast.errors import SchemaError
from odqa_fast.io.names import document_names, listed
from odqa_fast.io.options import ReadCounts

#: Rows that are looked at before all are.
_FIRST_ROWS = 16


def note_fields(given: pa.Array | Sequence[Any], documents: pa.Array, fields: set[str]) -> None:
    """Take down what fields the documents of an input have, where none of them has a text.

    Args:
        given: the documents as the input has them.
        documents: the same as a canonical column.
        fields: grows by the names.
    """
    if _has_text(documents) is not False:
        return
    if isinstance(given, pa.Array):
        while not pt.is_struct(given.type) and hasattr(given.type, "value_type"):
            given = given.values if hasattr(given, "values") else given.dictionary
        fields.update(given.type.names if pt.is_struct(given.type) else ())
        return
    for value in given:
        for each in value if isinstance(value, list | tuple) else [value]:
            fields.update(map(str, each) if isinstance(each, Mapping) else ())


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
                names.update(_filled(batch.column("documents")))
        yield batch
    if textless and not texts:
        names.update(name for each in sources for name in each.counts.document_fields)
        raise SchemaError(
            f"the documents have no text: their fields are {listed(names)}.",
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


def _filled(documents: pa.Array) -> Iterator[str]:
    """Names of the fields that stand in some document."""
    values = documents.flatten()
    for at, name in enumerate(values.type.names):
        if values.field(at).null_count < len(values):
            yield name
