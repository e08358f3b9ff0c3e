"""The walk over rows that hold one text against a list of answers, and what its kernels share."""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport Column, Lists, Texts

cdef extern from "rows.hpp" namespace "odqa" nogil:
    cdef struct Output:
        int value
        double* rows
    cdef struct RowCounts:
        int64_t null_texts, empty_texts, null_answers, empty_answers, null_answer_items
        int64_t empty_golds, all_golds_empty
    void score_rows[Scorer](const Texts* texts, const Lists* lists, const Texts* answers,
                            int64_t lo, int64_t hi, Scorer& scorer, const vector[Output]& outputs,
                            RowCounts& counts) except +


cdef inline int check_rows(Column texts, Column answers, int64_t lo, int64_t hi) except -1:
    if texts.length != answers.length or not 0 <= lo <= hi <= texts.length:
        raise ValueError("columns differ in length, or the range lies outside them")
    if texts.is_list or not answers.is_list:
        raise TypeError(f"{texts.name!r} must hold texts and {answers.name!r} lists of texts")
    return 0


cdef inline double* output_rows(values, int64_t rows) except? NULL:
    """The numbers of an output, a float64 array of so many rows."""
    cdef double[::1] view = values
    if view.shape[0] != rows:
        raise ValueError(f"an output has {view.shape[0]} rows, not {rows}")
    return &view[0] if rows else NULL
