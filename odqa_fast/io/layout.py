"""Whether Arrow arrays are what they say: offsets within their buffers, text that is UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from odqa_fast._kernels.columns import Column, KernelError, lengths_are_sound


def is_list(data_type: pa.DataType) -> bool:
    """Tell whether a type is a list of any layout."""
    kinds = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view)
    return any(test(data_type) for test in (*kinds, pt.is_large_list_view))


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


def list_places(array: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return where in `values` each list of a list view or a fixed-size list starts, its size."""
    if not pt.is_fixed_size_list(array.type):
        return array.offsets.to_numpy(), array.sizes.to_numpy()
    size = array.type.list_size
    # `values` knows nothing of the array's own offset.
    return (array.offset + np.arange(len(array))) * size, np.full(len(array), size)


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
    elif is_list(data_type):
        starts, sizes = (each.astype(np.int64) for each in list_places(array))
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


def as_bytes(data_type: pa.DataType) -> pa.DataType:
    """Return the same type with bytes for text, so that broken text can be looked at."""
    if pt.is_dictionary(data_type):
        return as_bytes(data_type.value_type)
    if pt.is_large_string(data_type):
        return pa.large_binary()
    if pt.is_string(data_type) or pt.is_string_view(data_type):
        return pa.binary()
    if is_list(data_type):
        large = pt.is_large_list(data_type) or pt.is_large_list_view(data_type)
        return (pa.large_list if large else pa.list_)(as_bytes(data_type.value_type))
    if pt.is_struct(data_type):
        return pa.struct([pa.field(f.name, as_bytes(f.type)) for f in data_type])
    return data_type
