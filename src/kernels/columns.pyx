"""Takes Arrow arrays in through their capsules and checks what later code trusts."""

import os

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memset, strcmp

cdef extern from "../core/utf8.hpp" namespace "odqa" nogil:
    bint valid_utf8(string_view text)


cdef extern from "../core/isa.hpp" namespace "odqa" nogil:
    enum class Isa:
        scalar
    const char** isa_names
    Isa best_isa()
    Isa isa


def instruction_set():
    """The name of the instruction set that the kernels use.

    Raises:
        ImportError: ODQA_FAST_ISA names one that does not exist or that this processor lacks.
    """
    here = [isa_names[k].decode() for k in range(<int>best_isa() + 1)]
    wish = os.environ.get("ODQA_FAST_ISA")
    if wish is not None and wish not in here:
        raise ImportError(f"ODQA_FAST_ISA={wish}: this processor has {', '.join(here)}.")
    return isa_names[<int>isa].decode()


class KernelError(ValueError):
    """A value no kernel can work on.

    Attributes:
        column: name of the column; row: index within the batch; what: what is wrong.
    """

    def __init__(self, str column, row, str what):
        super().__init__(column, row, what)
        self.column, self.row, self.what = column, row, what


cdef class Column:
    """One Arrow array, held until the object goes.

    Args:
        name: the column's name, for errors.
        array: anything with `__arrow_c_array__`: utf8 or large_utf8, or a list or large_list of
            those, of float64 or int32, of structs with a field of one of these, or of lists of
            texts.
        field: which field, where the items are structs; only `text` must be there.
    Raises:
        TypeError: another type.
    """

    def __cinit__(self):
        memset(&self.schema, 0, sizeof(ArrowSchema))
        memset(&self.array, 0, sizeof(ArrowArray))
        memset(&self.texts, 0, sizeof(Texts))
        memset(&self.lists, 0, sizeof(Lists))
        memset(&self.outer, 0, sizeof(Lists))

    def __init__(self, str name, array, str field="text"):
        schema_capsule, array_capsule = array.__arrow_c_array__()
        cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(
            schema_capsule, "arrow_schema")
        cdef ArrowArray* source = <ArrowArray*>PyCapsule_GetPointer(array_capsule, "arrow_array")
        # A moved-from struct has no release callback: the capsule then frees nothing.
        self.schema = schema[0]
        self.array = source[0]
        schema.release = NULL
        source.release = NULL
        self.name = name
        self.length = self.array.length
        cdef ArrowSchema* item_schema = &self.schema
        cdef ArrowArray* items = &self.array
        cdef int64_t base = self.array.offset, at
        self.present = True
        if strcmp(item_schema.format, "+l") == 0 or strcmp(item_schema.format, "+L") == 0:
            self.is_list = True
            self.lists = lists_of(item_schema, items, base)
            item_schema, items = item_schema.children[0], items.children[0]
            base = items.offset
            if strcmp(item_schema.format, "+l") == 0 or strcmp(item_schema.format, "+L") == 0:
                self.is_nested = True
                self.outer = self.lists
                self.lists = lists_of(item_schema, items, base)
                item_schema, items = item_schema.children[0], items.children[0]
                base = items.offset
            if strcmp(item_schema.format, "+s") == 0:
                self.texts.parent_valid = <const uint8_t*>items.buffers[0]
                self.texts.parent_start = base
                at = field_of(item_schema, field.encode())
                if at < 0:
                    if field == "text":
                        raise TypeError(f"column {name!r} holds structs without a field 'text'")
                    self.present = False
                    return
                item_schema, items = item_schema.children[at], items.children[at]
                base += items.offset
        if self.is_list and strcmp(item_schema.format, "g") == 0:
            self.is_numbers = True
            self.doubles = <const double*>items.buffers[1]
        elif self.is_list and strcmp(item_schema.format, "i") == 0:
            self.is_numbers = True
            self.ints = <const int32_t*>items.buffers[1]
        elif item_schema.dictionary == NULL and strcmp(item_schema.format, "u") == 0:
            self.texts.offsets.narrow = <const int32_t*>items.buffers[1]
        elif item_schema.dictionary == NULL and strcmp(item_schema.format, "U") == 0:
            self.texts.offsets.wide = <const int64_t*>items.buffers[1]
        else:
            raise TypeError(
                f"column {name!r} has Arrow format {item_schema.format.decode()!r}, not text")
        self.texts.valid = <const uint8_t*>items.buffers[0]
        self.texts.start = base
        if not self.is_numbers:
            self.texts.data = <const char*>items.buffers[2]

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)
        if self.schema.release != NULL:
            self.schema.release(&self.schema)

    def __len__(self):
        return self.length

    def bytes_before(self, int64_t row):
        """Bytes of text in the rows before `row`: what work is shared out by."""
        cdef int64_t first = 0, last = row
        if self.length == 0 or not self.present:
            return 0
        if self.is_nested:
            return 64 * row
        if self.is_numbers:
            return 8 * (list_edge(&self.lists, row) - list_edge(&self.lists, 0))
        if self.is_list:
            first, last = list_edge(&self.lists, 0), list_edge(&self.lists, row)
            if first == last:
                return 0
        return text_edge(&self.texts, last) - text_edge(&self.texts, first)

    def value(self, int64_t row):
        """A text, or a list of texts, as Python objects; None where null."""
        cdef int64_t item
        if not 0 <= row < self.length or self.is_numbers or self.is_nested or (
            not self.present
        ):
            raise IndexError(f"no text in row {row} of {self.name!r}")
        if not self.is_list:
            return text_at(&self.texts, row).decode() if text_valid(&self.texts, row) else None
        if not list_valid(&self.lists, row):
            return None
        return [
            text_at(&self.texts, item).decode() if text_valid(&self.texts, item) else None
            for item in range(list_edge(&self.lists, row), list_edge(&self.lists, row + 1))
        ]

    def check(self, int64_t lo, int64_t hi):
        """Checks offsets and UTF-8 of the texts [lo, hi).

        Raises:
            KernelError: naming the first bad row.
        """
        cdef int64_t row
        cdef bint good
        if self.is_list:
            raise TypeError(f"{self.name!r} must hold texts")
        with nogil:
            good = lo >= hi or surely_valid(&self.texts, lo, hi)
        if good:
            return
        for row in range(lo, hi):
            if text_edge(&self.texts, row) < 0 or (
                text_edge(&self.texts, row + 1) < text_edge(&self.texts, row)
            ):
                raise KernelError(self.name, row, "its Arrow offsets run backwards")
            if text_valid(&self.texts, row) and not valid_utf8(text_at(&self.texts, row)):
                raise KernelError(self.name, row, "is not UTF-8")


def lengths_are_sound(array):
    """Whether no length, count of nulls or offset of an Arrow array, or of one inside, is negative.

    Asked before anything else is: pyarrow's own checks end the process over some of those.
    """
    _, capsule = array.__arrow_c_array__()
    return are_sound(<ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array"))


cdef int64_t MOST = <int64_t>1 << 62


cdef bint are_sound(const ArrowArray* array) noexcept:
    cdef int64_t at
    # A count of -1 is one that is not known; an end beyond 2^62 would be negative somewhere.
    if not (0 <= array.length < MOST and 0 <= array.offset < MOST):
        return False
    if array.null_count < -1 or array.null_count > array.length:
        return False
    for at in range(array.n_children):
        if not are_sound(array.children[at]):
            return False
    return array.dictionary == NULL or are_sound(array.dictionary)


instruction_set()


cdef Lists lists_of(const ArrowSchema* schema, const ArrowArray* array, int64_t start):
    """One level of lists, whose offsets are as wide as its format says."""
    cdef Lists lists
    lists.valid = <const uint8_t*>array.buffers[0]
    lists.offsets.narrow = NULL
    lists.offsets.wide = NULL
    lists.start = start
    if schema.format[1] == b"l":
        lists.offsets.narrow = <const int32_t*>array.buffers[1]
    else:
        lists.offsets.wide = <const int64_t*>array.buffers[1]
    return lists


cdef int64_t field_of(ArrowSchema* schema, bytes name):
    cdef int64_t at
    for at in range(schema.n_children):
        if strcmp(schema.children[at].name, name) == 0:
            return at
    return -1
