"""BERTScore's precision and recall of pairs of texts, from the vectors of their tokens."""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

cdef extern from "../core/greedy_match.hpp" namespace "odqa" nogil:
    cdef struct TokenVectors:
        const float* data
        size_t size
    void best_cosines(TokenVectors a, TokenVectors b, size_t dimension, float floor, float* best_a,
                      float* best_b) except +
    double weighted_mean(const vector[float]& best, const float* weights, size_t size)
    void to_unit(float* row, size_t dimension)


def normalize(float[:, ::1] vectors):
    """Brings every row to length 1, in place; a row of zeros stays."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(vectors.shape[0]):
            to_unit(&vectors[row, 0], vectors.shape[1])


def match(const float[:, ::1] vectors, const float[::1] weights, const int64_t[::1] edges,
          const int64_t[::1] hypotheses, const int64_t[::1] references, double[:, :] out,
          float floor):
    """Matches each hypothesis with its reference.

    Args:
        vectors: the tokens of all texts, text after text, each row of length 1.
        weights: what each token counts in the means; a token of weight 0 is still matched with.
        edges: where each text's tokens begin, and where the last one's end.
        hypotheses, references: for each pair the number of its texts.
        out: for each pair precision and recall; NaN where no token of a side weighs anything.
        floor: the best cosine of a token that has no better one.
    """
    cdef Py_ssize_t pair, texts = edges.shape[0] - 1
    if weights.shape[0] != vectors.shape[0] or out.shape[1] != 2:
        raise ValueError("arrays differ in length")
    if hypotheses.shape[0] != references.shape[0] or out.shape[0] != references.shape[0]:
        raise ValueError("pairs differ in length")
    if texts < 0 or edges[0] != 0 or edges[texts] != vectors.shape[0]:
        raise ValueError("edges do not span the tokens")
    for pair in range(texts):
        if edges[pair] > edges[pair + 1]:
            raise ValueError("edges go back")
    for pair in range(references.shape[0]):
        if not (0 <= hypotheses[pair] < texts and 0 <= references[pair] < texts):
            raise ValueError(f"pair {pair} names a text that is not there")
    cdef size_t dimension = vectors.shape[1]
    cdef const float* data = &vectors[0, 0] if vectors.shape[0] and dimension else NULL
    cdef const float* weight = &weights[0] if weights.shape[0] else NULL
    cdef vector[float] best_a, best_b
    cdef TokenVectors a, b
    cdef int64_t first_a, first_b
    with nogil:
        for pair in range(references.shape[0]):
            first_a, first_b = edges[hypotheses[pair]], edges[references[pair]]
            a.data, b.data = data + first_a * dimension, data + first_b * dimension
            a.size = edges[hypotheses[pair] + 1] - first_a
            b.size = edges[references[pair] + 1] - first_b
            best_a.resize(a.size)
            best_b.resize(b.size)
            best_cosines(a, b, dimension, floor, best_a.data(), best_b.data())
            out[pair, 0] = weighted_mean(best_a, weight + first_a, a.size)
            out[pair, 1] = weighted_mean(best_b, weight + first_b, b.size)
