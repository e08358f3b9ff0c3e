"""Sums whose last bit depends on no order, batch or thread count."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int64_t

cdef extern from "../core/exact_sum.hpp" namespace "odqa" nogil:
    cdef cppclass CppExactSum "odqa::ExactSum":
        CppExactSum() except +
        void add(double x)
        void settle()
        int64_t limb(int k)
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
        cdef Py_ssize_t at
        cdef bint infinite = False
        with nogil:
            for at in range(values.shape[0]):
                if isnan(values[at]):
                    continue
                if not isfinite(values[at]):
                    infinite = True
                    break
                self.total.add(values[at])
                self.count += 1
        if infinite:
            raise ValueError("an infinite value has no place in a sum")

    def mean(self):
        """The correctly rounded mean, or None of nothing."""
        if self.count == 0:
            return None
        self.total.settle()
        # Python integers have no width, and dividing two of them rounds once, correctly.
        exact: object = 0
        limb: object
        for k in range(self.total.limb_count):
            limb = self.total.limb(k)
            exact += limb << 32 * k
        unit: object = 1 << -(<object>self.total.lowest_exponent)
        return exact / (self.count * unit)
