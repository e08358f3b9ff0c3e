"""Sums whose last bit depends on no order, batch or thread count."""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "../core/exact_sum.hpp" namespace "odqa" nogil:
    ctypedef long long int128 "__int128"
    cdef cppclass CppExactSum "odqa::ExactSum":
        CppExactSum() except +
        int64_t add(const double* values, size_t count)
        int128 limb(int k)
        int limb_count
        int lowest_exponent


cdef class ExactSum:
    """A running sum of doubles, held without rounding."""

    cdef CppExactSum total
    cdef readonly int64_t count

    def add(self, const double[::1] values):
        """Adds every value but NaN, which stands for "not scored".

        Raises:
            ValueError: an infinite value.
        """
        if values.shape[0] == 0:
            return
        cdef int64_t added
        with nogil:
            added = self.total.add(&values[0], values.shape[0])
        if added < 0:
            raise ValueError("an infinite value has no place in a sum")
        self.count += added

    def mean(self):
        """The correctly rounded mean, or None of nothing."""
        if self.count == 0:
            return None
        # Python integers have no width, and dividing two of them rounds once, correctly.
        cdef int last = self.total.limb_count - 1
        exact: object = <int64_t>self.total.limb(last)
        for k in range(last - 1, -1, -1):
            exact = (exact << 64) + <uint64_t>self.total.limb(k)
        unit: object = 1 << -(<object>self.total.lowest_exponent)
        return exact / (self.count * unit)
