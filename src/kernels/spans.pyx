"""The best span of each window that an extractive reader has looked at."""

from libc.stdint cimport int64_t

cdef extern from "../core/span.hpp" namespace "odqa" nogil:
    cdef struct LogitSpan:
        int64_t start
        int64_t end
        double score

    LogitSpan best_span(const float* start_logits, const float* end_logits, int64_t lo, int64_t hi,
                   int64_t longest)


def best_spans(const float[:, ::1] start_logits, const float[:, ::1] end_logits,
               const int64_t[::1] lo, const int64_t[::1] hi, int64_t longest,
               int64_t[::1] starts, int64_t[::1] ends, double[::1] scores):
    """Writes the best span of each window; a start of -1 where there is none.

    Args:
        start_logits, end_logits: [windows, tokens].
        lo, hi: [windows]: a span lies in [lo, hi). longest: the most tokens of a span.
        starts, ends, scores: [windows]: first and last token, and the sum of their logits.

    Raises:
        ValueError: shapes that do not belong together, or a range beyond the tokens.
    """
    cdef Py_ssize_t windows = start_logits.shape[0], window
    cdef Py_ssize_t tokens = start_logits.shape[1]
    cdef LogitSpan span
    if (end_logits.shape[0] != windows or end_logits.shape[1] != tokens
            or lo.shape[0] != windows or hi.shape[0] != windows or starts.shape[0] != windows
            or ends.shape[0] != windows or scores.shape[0] != windows):
        raise ValueError("needs logits of one shape, and a range and a result for each window")
    for window in range(windows):
        if not 0 <= lo[window] <= hi[window] <= tokens:
            raise ValueError("a range lies beyond the tokens")
    if windows == 0 or tokens == 0:
        starts[:] = -1
        return
    with nogil:
        for window in range(windows):
            span = best_span(&start_logits[window, 0], &end_logits[window, 0], lo[window],
                             hi[window], longest)
            starts[window] = span.start
            ends[window] = span.end
            scores[window] = span.score
