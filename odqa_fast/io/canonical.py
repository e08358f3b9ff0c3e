"""Arrow arrays of any layout, brought to the canonical layout of their column.

Vectorized where the type allows it; a slice that no vectorized path takes (a float prediction,
bytes that are not UTF-8, nested surprises) goes value by value through `values`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast._kernels.columns import Column, KernelError, lengths_are_sound
from odqa_fast.io.names import answer_names, document_names
from odqa_fast.io.options import Intake
from odqa_fast.io.values import BadValueError, Values, to_array
from odqa_fast.schema import DOCUMENT, SAMPLES, TEXTS

#: Where a row came from: line (from 1) or row (from 0), and its raw text.
Locate = Callable[[int], tuple[int | None, int | None, str | bytes]]

#: What Arrow raises where it cannot read or convert.
Refusals = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError)


def finish(
    n_rows: int,
    columns: Mapping[str, pa.Array | Sequence[Any]],
    names: Mapping[str, str],
    intake: Intake,
    locate: Locate,
    bad: dict[int, str] | None = None,
    ready: Mapping[str, pa.Array] | None = None,
) -> pa.RecordBatch:
    """Make the canonical batch of some rows and refuse the bad ones.

    Args:
        n_rows: how many rows there are; with no columns the batch still has them.
        columns: canonical name -> Arrow array, or Python values, all of that length.
        names: canonical name -> name in the input, for messages.
        intake: where refusals and counts go; `rows_read` is the caller's to count.
        locate: tells where row i of these columns came from.
        bad: rows already known to be bad, and why.
        ready: what `ready_columns` made of these columns.

    Raises:
        DataError: a bad row under `on_error="fail"`: the first in the order of the input.
    """
    bad = {} if bad is None else bad
    ready = ready_columns(columns) if ready is None else ready
    replaced: set[int] = set()
    pointed: set[int] = set()
    arrays = {
        column: ready[column]
        if column in ready
        else _one_by_one(data, column, names[column], intake, bad, replaced, pointed)
        for column, data in columns.items()
    }
    for row in sorted(bad):
        line, number, text = locate(row)
        intake.refuse(bad[row], line=line, row=number, text=text)
    intake.counts.replaced_encodings += len(replaced)
    intake.counts.pointed_numbers += len(pointed)
    order = [name for name in SAMPLES.names if name in arrays]
    if not order:
        return without_columns(n_rows - len(bad))
    batch = pa.RecordBatch.from_arrays([arrays[name] for name in order], names=order)
    if bad:
        keep = np.ones(n_rows, dtype=bool)
        keep[list(bad)] = False
        batch = batch.filter(pa.array(keep))
    return batch


def without_columns(n_rows: int) -> pa.RecordBatch:
    """Return a batch of rows without columns: the input has none of those asked for."""
    return pa.RecordBatch.from_struct_array(pa.nulls(n_rows, pa.struct([])).fill_null({}))


def ready_columns(columns: Mapping[str, pa.Array | Sequence[Any]]) -> dict[str, pa.Array]:
    """Return the canonical arrays of those columns that no value of stands in the way of.

    Knows nothing of other rows, so that any thread may do it.
    """
    ready: dict[str, pa.Array] = {}
    for column, data in columns.items():
        if isinstance(data, pa.Array):
            try:
                array = canonical_array(data, column)
                validate(array)
            except Refusals:
                continue
            ready[column] = array
    return ready


def _one_by_one(
    data: pa.Array | Sequence[Any],
    column: str,
    name: str,
    intake: Intake,
    bad: dict[int, str],
    replaced: set[int],
    pointed: set[int],
) -> pa.Array:
    if isinstance(data, pa.Array):
        data = _python_values(data)
    values = Values(replace=intake.options.encoding_errors == "replace")
    convert = values.converter(column)
    out: list[Any] = []
    for row, value in enumerate(data):
        try:
            out.append(convert(value))
        except BadValueError as error:
            out.append(None)
            bad.setdefault(row, f"field {name!r} {error}")
        if values.replaced:
            replaced.add(row)
        if values.pointed:
            pointed.add(row)
        values.replaced = values.pointed = False
    return to_array(out, column)


def canonical_array(array: pa.Array, column: str) -> pa.Array:
    """Convert an array without looking at single values; canonical input comes back as it is.

    Raises:
        pyarrow.ArrowInvalid: (or another Arrow error) no vectorized way from this type.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if column == "answers" and pt.is_struct(array.type):
        return _answers(array)
    target = SAMPLES.field(column).type
    if target == pa.string():
        return _text(array, is_id=column in ("id", "text_id"))
    if target == TEXTS:
        return _texts(array)
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


def _texts(array: pa.Array) -> pa.Array:
    if pt.is_null(array.type):
        return array.cast(TEXTS)
    if not _is_list(array.type):
        return _lists_of_one(_text(array))
    array = _plain_list(array)
    if pt.is_string(array.type.value_type) or pt.is_large_string(array.type.value_type):
        return array
    return _with_values(array, _text)


def _answers(array: pa.StructArray) -> pa.Array:
    """The lists of answers that objects stand for."""
    parts = [_texts(pc.struct_field(array, name)) for name in answer_names(array.type.names)]
    if not parts:
        raise pa.ArrowNotImplementedError(f"no answers from {array.type}")
    if len(parts) == 1:
        return parts[0]
    lengths = (pc.list_value_length(part).fill_null(0) for part in parts)
    sizes = [np.from_dlpack(length).astype(np.int64) for length in lengths]
    rows = np.concatenate([np.repeat(np.arange(len(array)), size) for size in sizes])
    values = pa.concat_arrays([part.flatten().cast(pa.large_string()) for part in parts])
    edges = np.concatenate([[0], np.cumsum(np.add(*sizes))])
    is_null = pc.and_(*(part.is_null() for part in parts))
    # Row by row, and in each the parts in their order.
    return pa.LargeListArray.from_arrays(
        pa.array(edges), values.take(pa.array(np.argsort(rows, kind="stable"))), mask=is_null
    )


def _documents(array: pa.Array) -> pa.Array:
    if pt.is_null(array.type):
        return array.cast(pa.list_(DOCUMENT))
    if not _is_list(array.type):
        return _lists_of_one(_document(array))
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
        found = [array.field(n) for n in document_names(name) if n in array.type.names]
        if found:
            convert = _number if name == "score" else _text
            parts = [convert(part) for part in found]
            fields[name] = parts[0] if len(parts) == 1 else pc.coalesce(*parts)
    fields.setdefault("text", pa.nulls(len(array), pa.string()))
    ordered = {name: fields[name] for name in DOCUMENT.names if name in fields}
    return pa.StructArray.from_arrays(
        list(ordered.values()), names=list(ordered), mask=array.is_null()
    )


def _number(array: pa.Array) -> pa.Array:
    if pt.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pt.is_boolean(array.type) or pt.is_temporal(array.type):
        raise pa.ArrowNotImplementedError(f"no number from {array.type}")
    return _missing_nan(array.cast(pa.float64()))


def _missing_nan(array: pa.Array) -> pa.Array:
    nan = pc.is_nan(array)
    return pc.if_else(nan, None, array) if pc.any(nan).as_py() else array


def _is_list(data_type: pa.DataType) -> bool:
    kinds = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view)
    return any(test(data_type) for test in (*kinds, pt.is_large_list_view))


def _plain_list(array: pa.Array) -> pa.Array:
    data_type = array.type
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        return array
    # By hand, for pyarrow's own cast leaves the offsets of lists without items unallocated.
    starts, sizes = _places(array)
    if array.null_count:
        sizes = np.where(array.is_valid().to_numpy(zero_copy_only=False), sizes, 0)
    edges = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    items = np.repeat(starts - edges[:-1], sizes) + np.arange(edges[-1])
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(
        pa.array(edges), array.values.take(pa.array(items)), mask=mask
    )


def _places(array: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return where in `values` each list of a list view or a fixed-size list starts, its size."""
    if not pt.is_fixed_size_list(array.type):
        return array.offsets.to_numpy(), array.sizes.to_numpy()
    size = array.type.list_size
    # `values` knows nothing of the array's own offset.
    return (array.offset + np.arange(len(array))) * size, np.full(len(array), size)


def _lists_of_one(values: pa.Array) -> pa.Array:
    offsets = pa.array(np.arange(len(values) + 1, dtype=np.int32))
    mask = values.is_null()
    if not values.null_count:
        return pa.ListArray.from_arrays(offsets, values)
    return pa.ListArray.from_arrays(offsets, values, mask=mask)


def list_window(array: pa.Array) -> tuple[np.ndarray[Any, Any], pa.Array]:
    """Return a (large) list array's offsets from 0 and just the values they span.

    `array.values` is the whole child: converting it for every slice would be quadratic.

    Raises:
        pyarrow.ArrowInvalid: the offsets run backwards or beyond the values.
    """
    # Not by to_numpy(), which imports pandas to ask whether it is there.
    offsets = np.from_dlpack(array.offsets)
    start, stop = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    if start < 0 or stop > len(array.values) or (offsets[1:] < offsets[:-1]).any():
        raise pa.ArrowInvalid("list offsets are broken")
    return offsets - start, array.values.slice(start, stop - start)


def _with_values(array: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> pa.Array:
    offsets, values = list_window(array)
    make = pa.LargeListArray if pt.is_large_list(array.type) else pa.ListArray
    mask = array.is_null() if array.null_count else None
    return make.from_arrays(pa.array(offsets), convert(values), mask=mask)


def validate(array: pa.Array) -> None:
    """Check offsets and UTF-8 of the rows of this slice only.

    Raises:
        pyarrow.ArrowInvalid: something is wrong, somewhere.
    """
    if pt.is_list(array.type) or pt.is_large_list(array.type):
        validate(list_window(array)[1])
    elif pt.is_struct(array.type):
        for i in range(array.type.num_fields):
            validate(array.field(i))
    elif pt.is_string(array.type) or pt.is_large_string(array.type):
        try:
            Column("", array).check(0, len(array))
        except KernelError as error:
            raise pa.ArrowInvalid(error.what) from None


def check_lengths(array: Any) -> None:
    """Check the numbers of an array or batch that everything else is read by.

    Raises:
        pyarrow.ArrowInvalid: one of them is negative, or out of range.
    """
    if not lengths_are_sound(array):
        raise pa.ArrowInvalid("a length, an offset or a count of nulls is out of range")


def check_layout(array: pa.Array) -> None:
    """Check that lengths, offsets, views and indices stay within their buffers, whatever the text.

    Raises:
        pyarrow.ArrowInvalid: (or another Arrow error) they do not.
    """
    check_lengths(array)
    # The ends of all buffers; what lies in them is looked at below.
    array.validate()
    _check_content(array)


def _check_content(array: pa.Array) -> None:
    data_type = array.type
    if len(array) == 0:
        # Nothing is looked at, and pyarrow finds fault with a slice of nothing.
        return
    if pt.is_list(data_type) or pt.is_large_list(data_type):
        _check_content(list_window(array)[1])
    elif _is_list(data_type):
        starts, sizes = (each.astype(np.int64) for each in _places(array))
        first = starts.min()
        if first < 0 or sizes.min() < 0 or (sizes > len(array.values) - starts).any():
            raise pa.ArrowInvalid("lists lie outside their values")
        # Just those that are meant: the values of every slice are the whole child.
        _check_content(array.values.slice(first, (starts + sizes).max() - first))
    elif pt.is_struct(data_type):
        for i in range(data_type.num_fields):
            _check_content(array.field(i))
    elif pt.is_dictionary(data_type):
        _check_content(array.dictionary)
        used = array.indices.drop_null()
        if len(used) and not 0 <= pc.min(used).as_py() <= pc.max(used).as_py() < len(
            array.dictionary
        ):
            raise pa.ArrowInvalid("dictionary indices are broken")
    else:
        # As bytes: text that is not UTF-8 is found later, with its row.
        array.view(_BYTES_OF.get(data_type, data_type)).validate(full=True)


_BYTES_OF = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def _python_values(array: pa.Array) -> list[Any]:
    try:
        return array.to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped
    except UnicodeDecodeError:
        return array.cast(as_bytes(array.type)).to_pylist()  # type: ignore[no-any-return]


def as_bytes(data_type: pa.DataType) -> pa.DataType:
    """Return the same type with bytes for text, so that broken text can be looked at."""
    if pt.is_dictionary(data_type):
        return as_bytes(data_type.value_type)
    if pt.is_large_string(data_type):
        return pa.large_binary()
    if pt.is_string(data_type) or pt.is_string_view(data_type):
        return pa.binary()
    if _is_list(data_type):
        large = pt.is_large_list(data_type) or pt.is_large_list_view(data_type)
        return (pa.large_list if large else pa.list_)(as_bytes(data_type.value_type))
    if pt.is_struct(data_type):
        return pa.struct([pa.field(f.name, as_bytes(f.type)) for f in data_type])
    return data_type
