"""Compression ratio: the length of the summary over the length of the documents."""

from libc.math cimport NAN
from libc.stdint cimport int64_t
from libcpp.string_view cimport string_view

from odqa_fast._kernels.columns cimport (
    Column, list_edge, list_valid, text_at, text_valid,
)
from odqa_fast._kernels.steps cimport names_of, place_of

cdef extern from "../core/length.hpp" namespace "odqa" nogil:
    enum class Unit:
        chars
        words
    const char* const* unit_names
    size_t length(string_view text, Unit unit)
    double round2(double x)

UNITS = names_of(unit_names)

cdef struct Counts:
    int64_t null_summaries, null_documents, empty_documents, longer_summaries, blank_summaries


# Most texts show by their first byte that they are not blank.
cdef inline bint is_blank(string_view text) noexcept nogil:
    if text.size() and 32 < text.data()[0] < 127:
        return False
    return length(text, Unit.words) == 0


# Writes out[lo:hi] only; ranges never overlap, so no lock is needed.
cdef void cr_rows(Column summaries, Column documents, Unit unit, bint rounded,
                  int64_t lo, int64_t hi, double* out, Counts* counts) noexcept nogil:
    cdef int64_t row, item
    cdef size_t shorter, longer
    for row in range(lo, hi):
        out[row] = NAN
        if not text_valid(&summaries.texts, row):
            counts.null_summaries += 1
            continue
        if not list_valid(&documents.lists, row):
            counts.null_documents += 1
            continue
        longer = 0
        for item in range(list_edge(&documents.lists, row), list_edge(&documents.lists, row + 1)):
            if text_valid(&documents.texts, item):
                longer += length(text_at(&documents.texts, item), unit)
        if longer == 0:
            counts.empty_documents += 1
            continue
        shorter = length(text_at(&summaries.texts, row), unit)
        counts.blank_summaries += is_blank(text_at(&summaries.texts, row))
        counts.longer_summaries += shorter > longer
        out[row] = <double>shorter / <double>longer
        if rounded:
            out[row] = round2(out[row])


def cr(Column summaries, Column documents, str unit, bint rounded, int64_t lo, int64_t hi,
       double[::1] out):
    """Writes the ratios of the rows [lo, hi), NaN where there is none.

    Args:
        summaries: n texts; documents: n lists of texts, no titles and no separators counted.
        unit: a name of UNITS. rounded: to two decimals a row, as ACoRN does.
        out: float64, n rows, each >= 0 and above 1 where the summary is the longer one.
    Returns:
        The counts over [lo, hi) by name.
    """
    if not summaries.length == documents.length == out.shape[0]:
        raise ValueError("columns differ in length")
    if not 0 <= lo <= hi <= summaries.length:
        raise ValueError("the range lies outside the columns")
    if summaries.is_list or not documents.is_list:
        raise TypeError(f"{summaries.name!r} must hold texts, {documents.name!r} lists of texts")
    cdef Counts counts = Counts(0, 0, 0, 0, 0)
    cdef Unit how = <Unit>place_of(unit, unit_names)
    if lo < hi:
        with nogil:
            cr_rows(summaries, documents, how, rounded, lo, hi, &out[0], &counts)
    return counts
