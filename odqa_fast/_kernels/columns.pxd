"""Arrow columns as the kernels read them, through the Arrow C data interface.

Rows are counted within the column: the array's own offset is added here and nowhere else.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.string_view cimport string_view

cdef extern from *:
    """
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    #include <stdint.h>
    struct ArrowSchema {
        const char* format; const char* name; const char* metadata; int64_t flags;
        int64_t n_children; struct ArrowSchema** children; struct ArrowSchema* dictionary;
        void (*release)(struct ArrowSchema*); void* private_data;
    };
    struct ArrowArray {
        int64_t length; int64_t null_count; int64_t offset; int64_t n_buffers;
        int64_t n_children; const void** buffers; struct ArrowArray** children;
        struct ArrowArray* dictionary; void (*release)(struct ArrowArray*); void* private_data;
    };
    #endif
    """
    cdef struct ArrowSchema:
        const char* format
        const char* name
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept nogil

    cdef struct ArrowArray:
        int64_t length
        int64_t offset
        int64_t n_buffers
        const void** buffers
        ArrowArray** children
        void (*release)(ArrowArray*) noexcept nogil

# Offsets are 32 or 64 bits wide; exactly one of the two pointers is set.
cdef struct Texts:
    const uint8_t* valid
    const uint8_t* parent_valid     # of the struct a text is a field of, else NULL
    const int32_t* offsets32
    const int64_t* offsets64
    const char* data
    int64_t start                   # where row 0 lies in the buffers
    int64_t parent_start

cdef struct Lists:
    const uint8_t* valid
    const int32_t* offsets32
    const int64_t* offsets64
    int64_t start

cdef inline bint bit(const uint8_t* bits, int64_t at) noexcept nogil:
    return bits == NULL or bits[at >> 3] >> (at & 7) & 1

cdef inline bint text_valid(const Texts* texts, int64_t row) noexcept nogil:
    return bit(texts.valid, texts.start + row) and bit(
        texts.parent_valid, texts.parent_start + row)

cdef inline int64_t text_edge(const Texts* texts, int64_t row) noexcept nogil:
    """Where row `row` starts in the bytes, and row `row - 1` ends."""
    if texts.offsets32 != NULL:
        return texts.offsets32[texts.start + row]
    return texts.offsets64[texts.start + row]

cdef inline string_view text_at(const Texts* texts, int64_t row) noexcept nogil:
    cdef int64_t begin = text_edge(texts, row)
    return string_view(texts.data + begin, text_edge(texts, row + 1) - begin)

cdef inline bint list_valid(const Lists* lists, int64_t row) noexcept nogil:
    return bit(lists.valid, lists.start + row)

cdef inline int64_t list_edge(const Lists* lists, int64_t row) noexcept nogil:
    if lists.offsets32 != NULL:
        return lists.offsets32[lists.start + row]
    return lists.offsets64[lists.start + row]

cdef class Column:
    """A text column, or a list of texts or numbers (one field of them, where they are structs)."""
    cdef ArrowSchema schema
    cdef ArrowArray array
    cdef readonly str name
    cdef readonly int64_t length
    cdef readonly bint is_list
    cdef readonly bint is_numbers   # `texts` then has the validity and start of the numbers
    cdef readonly bint present      # whether the structs have the field at all
    cdef Texts texts                # the items, where `is_list`
    cdef Lists lists                # where lists are in lists, the inner ones
    cdef Lists outer
    cdef readonly bint is_nested
    cdef const double* doubles      # exactly one of the two, where `is_numbers`
    cdef const int32_t* ints
    cdef bint all_valid(self, int64_t lo, int64_t hi) noexcept nogil
    cdef int check_rows(self, int64_t lo, int64_t hi) except -1
