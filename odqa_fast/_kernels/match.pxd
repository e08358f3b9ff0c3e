"""The rules of a comparison, as the kernels share them."""

from odqa_fast._kernels.steps cimport Steps

cdef extern from "../core/contains.hpp" namespace "odqa" nogil:
    enum class Cut:
        pass
    enum class PairRule:
        pass
    enum class Combine:
        pass
    enum class NoGold:
        pass
    enum class Contains:
        pass
    cdef cppclass Rule:
        Steps steps
        Cut cut
        PairRule pair
        Combine combine
        NoGold no_gold
        Contains contains
        bint empty_needle
        bint blank_is_nothing
        Steps emptiness
        bint want_em
        bint want_overlap
        bint want_contains

cdef class MatchRule:
    """How `match` compares."""
    cdef Rule rule
