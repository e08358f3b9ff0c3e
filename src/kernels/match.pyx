"""A text column held against a list of gold answers a row: EM, F1, precision, recall, contains."""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport Column
from odqa_fast._kernels.rows cimport Output, RowCounts, check_rows, output_rows, score_rows
from odqa_fast._kernels.steps cimport names_of, place_of, take_steps

cdef extern from "../core/match.hpp" namespace "odqa" nogil:
    const char* const* cut_names
    const char* const* pair_rule_names
    const char* const* combine_names
    const char* const* no_gold_names
    const char* const* contains_names
    cdef cppclass Matcher:
        Matcher(const Rule& rule) except +

CUTS = names_of(cut_names)
PAIR_RULES = names_of(pair_rule_names)
COMBINES = names_of(combine_names)
NO_GOLDS = names_of(no_gold_names)
CONTAINS_RULES = names_of(contains_names)
# In the order that C++'s `Scores` has.
OUTPUTS = ("em", "f1", "precision", "recall", "contains")


cdef class MatchRule:
    """How `match` compares.

    Args:
        steps, emptiness: names of steps: what both sides are made into, and by what an answer or
            a text counts as empty. The rest are names of the tables above.
    Raises:
        ValueError: another name, or steps that make no normalizer.
    """

    def __init__(self, steps, str cut, str pair_rule, str combine, str no_gold,
                 str contains_rule, bint empty_needle, emptiness, bint blank_is_nothing=False):
        take_steps(steps, self.rule.steps)
        self.rule.cut = <Cut>place_of(cut, cut_names)
        self.rule.pair = <PairRule>place_of(pair_rule, pair_rule_names)
        self.rule.combine = <Combine>place_of(combine, combine_names)
        self.rule.no_gold = <NoGold>place_of(no_gold, no_gold_names)
        self.rule.contains = <Contains>place_of(contains_rule, contains_names)
        self.rule.empty_needle = empty_needle
        self.rule.blank_is_nothing = blank_is_nothing
        take_steps(emptiness, self.rule.emptiness)


def match(Column texts, Column answers, MatchRule how, int64_t lo, int64_t hi, dict outputs):
    """Scores the rows [lo, hi).

    Args:
        texts: n texts; a null scores 0.
        answers: n lists of gold answers; a null list is not scored (NaN).
        outputs: name of OUTPUTS -> float64 array of n rows; only [lo, hi) is written.
    Returns:
        The counts over [lo, hi) by name: the fields of RowCounts.
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
    return counts
