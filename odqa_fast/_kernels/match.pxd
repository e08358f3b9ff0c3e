"""The rules of a comparison, as the kernels share them."""

cdef extern from "../core/match.hpp" namespace "odqa" nogil:
    enum class Normalizer:
        pass
    enum class Cut:
        pass
    enum class PairRule:
        pass
    enum class Combine:
        pass
    enum class NoGold:
        null
    enum class Contains:
        pass
    cdef struct Rule:
        Normalizer normalizer
        Cut cut
        PairRule pair
        Combine combine
        NoGold no_gold
        Contains contains
        bint empty_needle
        bint blank_is_nothing
        Normalizer emptiness
        bint want_em
        bint want_overlap
        bint want_contains

cdef class MatchRule:
    """How `match` compares; every argument is a name of the tables in match.pyx."""
    cdef Rule rule
