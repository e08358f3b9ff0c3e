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
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        const void** buffers
        int64_t n_children
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept nogil

cdef extern from "columns.hpp" namespace "odqa" nogil:
    cdef struct Offsets:
        const int32_t* narrow
        const int64_t* wide
    cdef struct Texts:
        const uint8_t* valid
        const uint8_t* parent_valid
        Offsets offsets
        const char* data
        int64_t start
        int64_t parent_start
    cdef struct Lists:
        const uint8_t* valid
        Offsets offsets
        int64_t start
    bint text_valid(const Texts* texts, int64_t row)
    int64_t text_edge(const Texts* texts, int64_t row)
    string_view text_at(const Texts* texts, int64_t row)
    bint list_valid(const Lists* lists, int64_t row)
    int64_t list_edge(const Lists* lists, int64_t row)
    bint surely_valid(const Texts* texts, int64_t lo, int64_t hi)

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
