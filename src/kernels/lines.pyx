"""How many lines a block of JSON Lines has, and whether each looks like an object."""

from libcpp.string_view cimport string_view

cdef extern from "../core/lines.hpp" namespace "odqa" nogil:
    cdef struct LineCount:
        size_t newlines
        size_t objects
        bint only_objects
    LineCount c_count_lines "odqa::count_lines"(string_view block)


def count_lines(const unsigned char[::1] block):
    """The newlines of a block, and its lines that begin with `{` and end with `}`, or None where
    another line is not blank."""
    cdef LineCount count = LineCount(0, 0, True)
    if block.shape[0]:
        with nogil:
            count = c_count_lines(string_view(<const char*>&block[0], block.shape[0]))
    return count.newlines, count.objects if count.only_objects else None
