"""A text column held against a list of gold answers a row: EM, F1, precision, recall, contains."""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport Column
from odqa_fast._kernels.normalize import CUTS as _CUTS, NORMALIZERS as _NORMALIZERS
from odqa_fast._kernels.rows cimport (
    Output, RowCounts, check_rows, counts_of, output_rows, score_rows,
)

cdef extern from "../core/match.hpp" namespace "odqa" nogil:
    cdef cppclass Matcher:
        Matcher(const Rule& rule) except +

# In the order the C++ enums have.
PAIR_RULES = ("v1", "v2", "yes_no")
COMBINES = ("best_by_f1", "each_max")
NO_GOLDS = ("null", "zero", "blank")
CONTAINS_RULES = ("normalized", "popqa", "shared_token")
OUTPUTS = ("em", "f1", "precision", "recall", "contains")
COUNTS = (
    "null_texts", "empty_texts", "null_answers", "empty_answers", "null_answer_items",
    "empty_golds", "all_golds_empty",
)


cdef class MatchRule:
    """How `match` compares; every argument is a name of the table above it."""

    def __init__(self, str normalizer, str cut, str pair_rule, str combine, str no_gold,
                 str contains_rule, bint empty_needle, str emptiness,
                 bint blank_is_nothing=False):
        self.rule.normalizer = <Normalizer><int>_NORMALIZERS.index(normalizer)
        self.rule.cut = <Cut><int>_CUTS.index(cut)
        self.rule.pair = <PairRule><int>PAIR_RULES.index(pair_rule)
        self.rule.combine = <Combine><int>COMBINES.index(combine)
        self.rule.no_gold = <NoGold><int>NO_GOLDS.index(no_gold)
        self.rule.contains = <Contains><int>CONTAINS_RULES.index(contains_rule)
        self.rule.empty_needle = empty_needle
        self.rule.blank_is_nothing = blank_is_nothing
        self.rule.emptiness = <Normalizer><int>_NORMALIZERS.index(emptiness)


def match(Column texts, Column answers, MatchRule how, int64_t lo, int64_t hi, dict outputs):
    """Scores the rows [lo, hi).

    Args:
        texts: n texts; a null scores 0.
        answers: n lists of gold answers; a null list is not scored (NaN).
        outputs: name of OUTPUTS -> float64 array of n rows; only [lo, hi) is written.
    Returns:
        The counts over [lo, hi), in the order of COUNTS.
    """
    check_rows(texts, answers, lo, hi)
    cdef vector[Output] wanted
    for name, values in outputs.items():
        wanted.push_back(Output(OUTPUTS.index(name), output_rows(values, texts.length)))
    cdef Rule rule = how.rule
    rule.want_em = "em" in outputs
    rule.want_overlap = "f1" in outputs or "precision" in outputs or "recall" in outputs
    rule.want_contains = "contains" in outputs
    cdef RowCounts counts
    cdef Matcher* matcher = new Matcher(rule)
    try:
        with nogil:
            score_rows(&texts.texts, &answers.lists, &answers.texts, lo, hi, matcher[0], wanted,
                       counts)
    finally:
        del matcher
    return counts_of(counts)
