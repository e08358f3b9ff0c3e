"""Arrow arrays of any layout, brought to the canonical layout of their column.

Vectorized where the type allows it; a slice that no vectorized path takes (a float prediction,
bytes that are not UTF-8, nested surprises) goes value by value through `values`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast.io.coerce import BadValueError, Values, to_array
from odqa_fast.io.document_texts import fields_without_text
from odqa_fast.io.layout import as_bytes, is_list, list_places, list_window, validate
from odqa_fast.io.names import answer_names, document_names
from odqa_fast.io.options import FIELD, WATCHED, Intake
from odqa_fast.io.places import RawRows, place_columns
from odqa_fast.io.written import find_written, is_list_of_documents
from odqa_fast.schema import DOCUMENT, PARTS, SAMPLES, TEXTS, column_type

#: What Arrow raises where it cannot read or convert.
Refusals = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError)

_LARGE_TEXTS = pa.large_list(pa.large_string())


@dataclass
class Noticed:
    """The rows in which something was noticed; see the attributes of `Values`."""

    replaced: set[int] = field(default_factory=set)
    pointed: set[int] = field(default_factory=set)
    listed: set[int] = field(default_factory=set)
    bracketed: set[int] = field(default_factory=set)

    def add(self, row: int, values: Values) -> None:
        """Take down what was noticed of a row, and have it forgotten."""
        if not (values.replaced or values.pointed or values.listed or values.bracketed):
            return
        for name, rows in vars(self).items():
            if getattr(values, name):
                rows.add(row)
        values.forget()

    def count(self, intake: Intake) -> None:
        """Add to the counts of an input."""
        intake.counts.replaced_encodings += len(self.replaced)
        intake.counts.pointed_numbers += len(self.pointed)
        intake.counts.lists_in_text += len(self.listed)
        intake.counts.numbers_in_brackets += len(self.bracketed)


@dataclass
class Ready:
    """The canonical arrays of those columns of which no value stands in the way."""

    arrays: dict[str, pa.Array] = field(default_factory=dict)
    noticed: Noticed = field(default_factory=Noticed)


def make_batch(
    rows: RawRows,
    intake: Intake,
    bad: dict[int, str] | None = None,
    ready: Ready | None = None,
) -> pa.RecordBatch:
    """Make the canonical batch of some rows and refuse the bad ones.

    Args:
        rows: the rows.
        intake: where refusals and counts go; `rows_read` is the caller's to count.
        bad: rows already known to be bad, and why.
        ready: what `convert_columns` made of these columns.

    Raises:
        DataError: a bad row under `on_error="fail"`: the first in the order of the input.
    """
    bad = {} if bad is None else bad
    columns = rows.columns
    ready = convert_columns(columns) if ready is None else ready
    noticed = ready.noticed
    arrays = dict(ready.arrays)
    for column, data in columns.items():
        if column not in arrays:
            arrays[column] = _one_by_one(data, column, rows.names[column], intake, bad, noticed)
    for row in sorted(bad):
        rows.refuse(row, bad[row], intake)
    noticed.count(intake)
    if isinstance(documents := columns.get("documents"), pa.Array):
        fields = fields_without_text(documents.type, arrays["documents"])
        intake.counts.document_fields.update(fields)
    for column, part in PARTS.items():
        if part in arrays:
            arrays[column] = _join_lists([arrays[column], arrays.pop(part)])
    order = [name for name in SAMPLES.names if name in arrays]
    order += [name for name in arrays if name.startswith((FIELD, WATCHED))]
    arrays |= (places := place_columns(rows.places, intake))
    order += places
    n_rows = len(rows.places)
    if not order:
        return make_columnless(n_rows - len(bad))
    batch = pa.RecordBatch.from_arrays([arrays[name] for name in order], names=order)
    if bad:
        keep = np.ones(n_rows, dtype=bool)
        keep[list(bad)] = False
        batch = batch.filter(pa.array(keep))
    return batch


def make_columnless(n_rows: int) -> pa.RecordBatch:
    """Return a batch of rows without columns: the input has none of those asked for."""
    return pa.RecordBatch.from_struct_array(pa.nulls(n_rows, pa.struct([])).fill_null({}))


def convert_columns(columns: Mapping[str, pa.Array | Sequence[Any]]) -> Ready:
    """Convert the columns that can be without looking at single values.

    Knows nothing of other rows, so that any thread may do it.
    """
    ready = Ready()
    for column, data in columns.items():
        if isinstance(data, pa.Array):
            try:
                array = make_canonical(data, column, ready.noticed)
                validate(array)
            except Refusals:
                continue
            ready.arrays[column] = array
    return ready


def _one_by_one(
    data: pa.Array | Sequence[Any],
    column: str,
    name: str,
    intake: Intake,
    bad: dict[int, str],
    noticed: Noticed,
) -> pa.Array:
    if isinstance(data, pa.Array):
        data = _python_values(data)
    values = Values(
        replace=intake.options.encoding_errors == "replace", json_lists=intake.json_lists
    )
    convert = values.converter(column)
    out: list[Any] = []
    for row, value in enumerate(data):
        try:
            out.append(convert(value))
        except BadValueError as error:
            out.append(None)
            bad.setdefault(row, f"field {name!r} {error}")
        noticed.add(row, values)
    intake.counts.document_fields |= values.fields_without_text
    return to_array(out, column)


def make_canonical(array: pa.Array, column: str, noticed: Noticed) -> pa.Array:
    """Convert an array without looking at single values; canonical input comes back as it is.

    Looked at are only those texts in which a list might be written.

    Raises:
        pyarrow.ArrowInvalid: (or another Arrow error) no vectorized way from this type.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if column == "answers" and pt.is_struct(array.type):
        parts = [pc.struct_field(array, name) for name in answer_names(array.type.names)]
        if not parts:
            raise pa.ArrowNotImplementedError(f"no answers from {array.type}")
        return _join_lists([_texts(part, column, noticed) for part in parts])
    if column.startswith(WATCHED) and pt.is_nested(array.type):
        return pa.nulls(len(array), pa.string())
    target = column_type(column)
    if target == pa.string():
        return _text(array, is_id=column in ("id", "text_id"))
    if target == TEXTS:
        return _texts(array, column, noticed)
    if target == pa.float64():
        return _number(array)
    if column == "documents":
        return _documents(array)
    return array.cast(target)


def _text(array: pa.Array, *, is_id: bool = False) -> pa.Array:
    data_type = array.type
    if pt.is_string(data_type) or pt.is_large_string(data_type):
        return array
    if pt.is_dictionary(data_type):
        return _text(array.cast(data_type.value_type), is_id=is_id)
    if pt.is_run_end_encoded(data_type):
        return _text(pc.run_end_decode(array), is_id=is_id)
    if pt.is_large_binary(data_type):
        return array.cast(pa.large_string())
    plain = (
        pt.is_string_view,
        pt.is_binary,
        pt.is_binary_view,
        pt.is_fixed_size_binary,
        pt.is_integer,
        pt.is_boolean,
        pt.is_date,
        pt.is_null,
    )
    if any(test(data_type) for test in plain):
        return array.cast(pa.string())
    if is_id and pt.is_floating(data_type):
        # Ids that met a missing value in pandas: whole numbers, or the safe cast refuses them.
        return _missing_nan(array).cast(pa.int64()).cast(pa.string())
    raise pa.ArrowNotImplementedError(f"no text from {data_type}")


def _texts(array: pa.Array, column: str, noticed: Noticed) -> pa.Array:
    if pt.is_null(array.type):
        return array.cast(TEXTS)
    if not is_list(array.type):
        return _lists_of_texts(_text(array), column, noticed)
    array = _plain_list(array)
    if pt.is_string(array.type.value_type) or pt.is_large_string(array.type.value_type):
        return array
    return _with_values(array, _text)


def _lists_of_texts(texts: pa.Array, column: str, noticed: Noticed) -> pa.Array:
    """Lists of one text each, but for texts in which a list is written."""
    lists = _wrap_each(texts)
    rows = find_written(texts)
    if not len(rows):
        return lists
    values = Values()
    convert = values.converter(column)
    read: dict[int, list[str | None] | None] = {}
    try:
        for row, text in zip(rows.tolist(), texts.take(pa.array(rows)).to_pylist(), strict=True):
            items = convert(text)
            if values.listed:
                read[row] = items
            noticed.add(row, values)
    except (BadValueError, UnicodeDecodeError) as error:
        raise pa.ArrowInvalid(str(error)) from None
    if not read:
        return lists
    places = np.arange(len(texts))
    places[list(read)] = len(texts) + np.arange(len(read))
    both = [lists.cast(_LARGE_TEXTS), pa.array(list(read.values()), _LARGE_TEXTS)]
    return pa.concat_arrays(both).take(pa.array(places))


def _join_lists(parts: Sequence[pa.Array]) -> pa.Array:
    """Join lists of texts row by row, in the order of the parts; null where all are."""
    if len(parts) == 1:
        return parts[0]
    lengths = (pc.list_value_length(part).fill_null(0) for part in parts)
    sizes = [np.from_dlpack(length).astype(np.int64) for length in lengths]
    rows = np.concatenate([np.repeat(np.arange(len(size)), size) for size in sizes])
    values = pa.concat_arrays([part.flatten().cast(pa.large_string()) for part in parts])
    edges = np.concatenate([[0], np.cumsum(np.sum(sizes, axis=0))])
    is_null = reduce(pc.and_, (part.is_null() for part in parts))
    # Row by row, and in each the parts in their order.
    return pa.LargeListArray.from_arrays(
        pa.array(edges), values.take(pa.array(np.argsort(rows, kind="stable"))), mask=is_null
    )


def _documents(array: pa.Array) -> pa.Array:
    if pt.is_null(array.type):
        return array.cast(pa.list_(DOCUMENT))
    if not is_list(array.type):
        documents = _document(array)
        if not pt.is_struct(array.type) and _holds_lists(documents.field("text")):
            # What is written may be objects.
            raise pa.ArrowNotImplementedError("a list is written in a text")
        return _wrap_each(documents)
    array = _plain_list(array)
    value_type = array.type.value_type
    if pt.is_struct(value_type) and all(
        field.name in DOCUMENT.names
        and (field.type == DOCUMENT.field(field.name).type or pt.is_large_string(field.type))
        for field in value_type
    ):
        if "text" in value_type.names:
            return array
    return _with_values(array, _document)


def _holds_lists(texts: pa.Array) -> bool:
    some = texts.take(pa.array(find_written(texts)))
    try:
        return any(map(is_list_of_documents, some.to_pylist()))
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid(str(error)) from None


def _document(array: pa.Array) -> pa.Array:
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pt.is_null(array.type):
        return array.cast(DOCUMENT)
    if not pt.is_struct(array.type):
        text = _text(array)
        return pa.StructArray.from_arrays([text], names=["text"], mask=text.is_null())
    fields: dict[str, pa.Array] = {}
    for name in DOCUMENT.names:
        fields_of = (_struct_field(array, each) for each in document_names(name))
        found = [each for each in fields_of if each is not None]
        if found:
            convert = _number if name == "score" else _text
            parts = [convert(part) for part in found]
            fields[name] = parts[0] if len(parts) == 1 else pc.coalesce(*parts)
    fields.setdefault("text", pa.nulls(len(array), pa.string()))
    ordered = {name: fields[name] for name in DOCUMENT.names if name in fields}
    return pa.StructArray.from_arrays(
        list(ordered.values()), names=list(ordered), mask=array.is_null()
    )


def _struct_field(array: pa.StructArray, name: str) -> pa.Array | None:
    outer, _, inner = name.partition(".")
    if not has_field(array.type, name):
        return None
    return pc.struct_field(array, [outer, inner]) if inner else array.field(outer)


def has_field(struct: pa.StructType, name: str) -> bool:
    """Tell whether objects have a field, or a field of a field (`node.text`)."""
    outer, _, inner = name.partition(".")
    if outer not in struct.names or not inner:
        return outer in struct.names
    within = struct.field(outer).type
    return bool(pt.is_struct(within)) and inner in within.names


def _number(array: pa.Array) -> pa.Array:
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pt.is_boolean(array.type) or pt.is_temporal(array.type):
        raise pa.ArrowNotImplementedError(f"no number from {array.type}")
    return _missing_nan(array.cast(pa.float64()))


def _missing_nan(array: pa.Array) -> pa.Array:
    nan = pc.is_nan(array)
    return pc.if_else(nan, None, array) if pc.any(nan).as_py() else array


def _plain_list(array: pa.Array) -> pa.Array:
    data_type = array.type
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        return array
    # By hand, for pyarrow's own cast leaves the offsets of lists without items unallocated.
    starts, sizes = list_places(array)
    if array.null_count:
        sizes = np.where(array.is_valid().to_numpy(zero_copy_only=False), sizes, 0)
    edges = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    items = np.repeat(starts - edges[:-1], sizes) + np.arange(edges[-1])
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(
        pa.array(edges), array.values.take(pa.array(items)), mask=mask
    )


def _wrap_each(values: pa.Array) -> pa.Array:
    offsets = pa.array(np.arange(len(values) + 1, dtype=np.int32))
    mask = values.is_null()
    if not values.null_count:
        return pa.ListArray.from_arrays(offsets, values)
    return pa.ListArray.from_arrays(offsets, values, mask=mask)


def _with_values(array: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> pa.Array:
    offsets, values = list_window(array)
    make = pa.LargeListArray if pt.is_large_list(array.type) else pa.ListArray
    mask = array.is_null() if array.null_count else None
    return make.from_arrays(pa.array(offsets), convert(values), mask=mask)


def _python_values(array: pa.Array) -> list[Any]:
    try:
        return array.to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped
    except UnicodeDecodeError:
        return array.cast(as_bytes(array.type)).to_pylist()  # type: ignore[no-any-return]
