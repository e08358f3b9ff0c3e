"""A text column held against a list of gold answers a row: EM, F1, precision, recall, contains."""

from libc.math cimport NAN
from libc.stdint cimport int64_t
from libcpp.string_view cimport string_view

from odqa_fast._kernels.columns cimport (
    Column, list_edge, list_valid, text_at, text_valid,
)
from odqa_fast._kernels.normalize import CUTS as _CUTS, NORMALIZERS as _NORMALIZERS

cdef extern from "../core/match.hpp" namespace "odqa" nogil:
    cdef struct Scores:
        double em
        double f1
        double precision
        double recall
        double contains
    cdef cppclass Matcher:
        Matcher(const Rule& rule) except +
        void start(string_view text)
        void add(string_view answer)
        Scores finish()
        bint text_is_empty()
        size_t empty_golds()

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

cdef struct Counts:
    int64_t null_texts, empty_texts, null_answers, empty_answers, null_answer_items
    int64_t empty_golds, all_golds_empty

cdef struct Outputs:
    double* em
    double* f1
    double* precision
    double* recall
    double* contains


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


cdef void write_row(const Outputs* out, int64_t row, const Scores& scores) noexcept nogil:
    if out.em != NULL:
        out.em[row] = scores.em
    if out.f1 != NULL:
        out.f1[row] = scores.f1
    if out.precision != NULL:
        out.precision[row] = scores.precision
    if out.recall != NULL:
        out.recall[row] = scores.recall
    if out.contains != NULL:
        out.contains[row] = scores.contains


# Writes rows [lo, hi) of the outputs only; ranges never overlap, so no lock is needed.
cdef void match_rows(Column texts, Column answers, Matcher* matcher, bint null_unscored,
                     int64_t lo, int64_t hi, const Outputs* out, Counts* counts) noexcept nogil:
    cdef int64_t row, item, first, last, golds
    cdef bint null_text
    cdef Scores scores, zero = Scores(0, 0, 0, 0, 0), unscored = Scores(NAN, NAN, NAN, NAN, NAN)
    for row in range(lo, hi):
        null_text = not text_valid(&texts.texts, row)
        if null_text:
            matcher.start(string_view())
            counts.null_texts += 1
        else:
            matcher.start(text_at(&texts.texts, row))
            counts.empty_texts += matcher.text_is_empty()
        if not list_valid(&answers.lists, row):
            counts.null_answers += 1
            write_row(out, row, unscored)
            continue
        golds = 0
        first, last = list_edge(&answers.lists, row), list_edge(&answers.lists, row + 1)
        for item in range(first, last):
            if text_valid(&answers.texts, item):
                matcher.add(text_at(&answers.texts, item))
                golds += 1
        counts.null_answer_items += last - first - golds
        counts.empty_answers += golds == 0
        counts.empty_golds += matcher.empty_golds()
        counts.all_golds_empty += golds != 0 and <int64_t>matcher.empty_golds() == golds
        if null_text:
            write_row(out, row, unscored if golds == 0 and null_unscored else zero)
        else:
            scores = matcher.finish()
            write_row(out, row, scores)


cdef double* pointer(dict outputs, str name, int64_t rows) except? NULL:
    values = outputs.get(name)
    if values is None:
        return NULL
    cdef double[::1] view = values
    if view.shape[0] != rows:
        raise ValueError(f"output {name!r} has {view.shape[0]} rows, not {rows}")
    return &view[0] if rows else NULL


def match(Column texts, Column answers, MatchRule how, int64_t lo, int64_t hi, dict outputs):
    """Scores the rows [lo, hi).

    Args:
        texts: n texts; a null scores 0.
        answers: n lists of gold answers; a null list is not scored (NaN).
        outputs: name of OUTPUTS -> float64 array of n rows; only [lo, hi) is written.
    Returns:
        The counts over [lo, hi), in the order of COUNTS.
    """
    if texts.length != answers.length or not 0 <= lo <= hi <= texts.length:
        raise ValueError("columns differ in length, or the range lies outside them")
    if texts.is_list or not answers.is_list:
        raise TypeError(f"{texts.name!r} must hold texts and {answers.name!r} lists of texts")
    cdef Rule rule = how.rule
    cdef Outputs out
    out.em = pointer(outputs, "em", texts.length)
    out.f1 = pointer(outputs, "f1", texts.length)
    out.precision = pointer(outputs, "precision", texts.length)
    out.recall = pointer(outputs, "recall", texts.length)
    out.contains = pointer(outputs, "contains", texts.length)
    rule.want_em = out.em != NULL
    rule.want_overlap = out.f1 != NULL or out.precision != NULL or out.recall != NULL
    rule.want_contains = out.contains != NULL
    cdef Counts counts = Counts(0, 0, 0, 0, 0, 0, 0)
    # Where nothing written scores 0, so does nothing said, whatever the answers are.
    cdef bint null_unscored = rule.no_gold == NoGold.null and not rule.blank_is_nothing
    cdef Matcher* matcher = new Matcher(rule)
    try:
        with nogil:
            match_rows(texts, answers, matcher, null_unscored, lo, hi, &out, &counts)
    finally:
        del matcher
    return (
        counts.null_texts, counts.empty_texts, counts.null_answers, counts.empty_answers,
        counts.null_answer_items, counts.empty_golds, counts.all_golds_empty,
    )
