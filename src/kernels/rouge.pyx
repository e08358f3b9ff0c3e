"""ROUGE of a text column against a list of reference answers a row."""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint32_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport (
    Column, list_edge, list_valid, text_at, text_valid,
)

cdef extern from "../core/normalize.hpp" namespace "odqa" nogil:
    string_view strip(string_view text)

cdef extern from "../core/rouge_pltrdy.hpp" namespace "odqa" nogil:
    enum class Words:
        pass
    const int rouge_l
    const int rouge_lsum
    cdef struct Span:
        const char* begin
        size_t size
    cdef cppclass Tokens:
        size_t size()
        const Span& operator[](size_t at)
    cdef cppclass StemCache:
        StemCache() except +
    cdef cppclass Porter:
        @staticmethod
        size_t stem(char* word, size_t size)
    cdef cppclass RougeText:
        RougeText(Words words, bint stem) except +
        void assign(string_view source, bint sentences, StemCache& stems)
        const Tokens& tokens()
    cdef struct Rouge:
        double precision
        double recall
        double f
    cdef cppclass RougeScorer:
        RougeScorer(Words words, bint stem, uint32_t types) except +
        void start(string_view text)
        void add(string_view answer)
        const Rouge& best(int type)
        bint text_is_empty()
        bint answer_is_empty()
        bint is_lost()
    cdef cppclass PltrdyScorer:
        PltrdyScorer(bint gram_sets, bint word_sets, uint32_t types) except +
        void start(string_view text)
        void add(string_view answer)
        const Rouge& best(int type)
        bint text_is_empty()
        bint answer_is_empty()
        bint is_lost()

ctypedef fused AnyScorer:
    RougeScorer
    PltrdyScorer

# In the order the C++ enum has; the rest are the rules of the `rouge` package.
WORDS = ("ascii", "unicode")
VARIANTS = (*WORDS, "pltrdy", "pltrdy100", "pltrdy-counts", "kilt")
TYPES = ("rougeL", *(f"rouge{n}" for n in range(1, 10)), "rougeLsum")
PARTS = ("f", "precision", "recall")
COUNTS = (
    "null_predictions", "empty_predictions", "null_answers", "empty_answers", "null_answer_items",
    "empty_golds", "all_golds_empty", "rows_unseen_by_rouge",
)

cdef struct Counts:
    int64_t null_texts, empty_texts, null_answers, empty_answers, null_answer_items
    int64_t empty_golds, all_golds_empty, lost

cdef struct Output:
    int type
    int part
    double* values


cdef void write_row(const vector[Output]& outputs, AnyScorer* scorer, int64_t row) noexcept nogil:
    cdef size_t k
    for k in range(outputs.size()):
        if outputs[k].part == 0:
            outputs[k].values[row] = scorer.best(outputs[k].type).f
        elif outputs[k].part == 1:
            outputs[k].values[row] = scorer.best(outputs[k].type).precision
        else:
            outputs[k].values[row] = scorer.best(outputs[k].type).recall


cdef void write_all(const vector[Output]& outputs, int64_t row, double value) noexcept nogil:
    cdef size_t k
    for k in range(outputs.size()):
        outputs[k].values[row] = value


# Writes rows [lo, hi) of the outputs only; ranges never overlap, so no lock is needed.
# With `blank_is_nothing` an answer of white space is none, and such a text scores 0.
cdef void rouge_rows(Column texts, Column answers, AnyScorer* scorer, bint blank_is_nothing,
                     int64_t lo, int64_t hi, const vector[Output]& outputs,
                     Counts* counts) noexcept nogil:
    cdef int64_t row, item, first, last, golds, empty, blank
    cdef string_view text
    for row in range(lo, hi):
        text = string_view()
        if text_valid(&texts.texts, row):
            text = text_at(&texts.texts, row)
        else:
            counts.null_texts += 1
        if blank_is_nothing and strip(text).empty():
            text = string_view()
        scorer.start(text)
        counts.empty_texts += text_valid(&texts.texts, row) and scorer.text_is_empty()
        if not list_valid(&answers.lists, row):
            counts.null_answers += 1
            write_all(outputs, row, NAN)
            continue
        golds = empty = blank = 0
        first, last = list_edge(&answers.lists, row), list_edge(&answers.lists, row + 1)
        for item in range(first, last):
            if not text_valid(&answers.texts, item):
                counts.null_answer_items += 1
            elif blank_is_nothing and strip(text_at(&answers.texts, item)).empty():
                blank += 1
            else:
                scorer.add(text_at(&answers.texts, item))
                empty += scorer.answer_is_empty()
                golds += 1
        counts.empty_answers += golds == 0
        counts.empty_golds += empty + blank
        counts.all_golds_empty += golds != 0 and empty == golds
        counts.lost += scorer.is_lost()
        if golds == 0:
            write_all(outputs, row, 0 if blank_is_nothing and text.empty() else NAN)
        else:
            write_row(outputs, scorer, row)


def rouge(Column texts, Column answers, str variant, bint stem, int64_t lo, int64_t hi,
          dict outputs):
    """Scores the rows [lo, hi).

    Args:
        texts: n texts; a null scores 0.
        answers: n lists of reference answers; a null or empty list is not scored (NaN).
        variant: a name of VARIANTS. stem: by Porter's stemmer, of the first two only.
        outputs: (name of TYPES, name of PARTS) -> float64 array of n rows; only [lo, hi) is
            written. The parts of a type are those of the answer with the greatest f.
    Returns:
        The counts over [lo, hi), in the order of COUNTS.
    """
    if texts.length != answers.length or not 0 <= lo <= hi <= texts.length:
        raise ValueError("columns differ in length, or the range lies outside them")
    if texts.is_list or not answers.is_list:
        raise TypeError(f"{texts.name!r} must hold texts and {answers.name!r} lists of texts")
    cdef Counts counts = Counts(0, 0, 0, 0, 0, 0, 0, 0)
    cdef vector[Output] wanted
    cdef Output output
    cdef double[::1] view
    cdef uint32_t types = 0
    for (type, part), values in outputs.items():
        view = values
        if view.shape[0] != texts.length:
            raise ValueError(f"output {type!r} has {view.shape[0]} rows, not {texts.length}")
        output.type = TYPES.index(type)
        output.part = PARTS.index(part)
        output.values = &view[0] if view.shape[0] else NULL
        types |= <uint32_t>1 << output.type
        wanted.push_back(output)
    cdef int rules = VARIANTS.index(variant)
    cdef RougeScorer* google = NULL
    cdef PltrdyScorer* pltrdy = NULL
    cdef bint blank_is_nothing
    try:
        if rules < 2:
            google = new RougeScorer(<Words>rules, stem, types)
            with nogil:
                rouge_rows(texts, answers, google, False, lo, hi, wanted, &counts)
        else:
            pltrdy = new PltrdyScorer(
                variant in ("pltrdy", "kilt"), variant != "pltrdy-counts", types)
            blank_is_nothing = variant == "kilt"
            with nogil:
                rouge_rows(texts, answers, pltrdy, blank_is_nothing, lo, hi, wanted, &counts)
    finally:
        del google
        del pltrdy
    return (
        counts.null_texts, counts.empty_texts, counts.null_answers, counts.empty_answers,
        counts.null_answer_items, counts.empty_golds, counts.all_golds_empty, counts.lost,
    )


def tokenize(Column texts, str words, bint stem):
    """The words as three buffers of an Arrow large_list<large_utf8>: offsets of the lists, offsets
    of the words, bytes. `words` is a name of WORDS."""
    cdef RougeText* text = new RougeText(<Words><int>WORDS.index(words), stem)
    cdef StemCache stems
    cdef vector[int64_t] lists, offsets
    cdef string data
    cdef int64_t row
    cdef size_t at
    try:
        with nogil:
            lists.push_back(0)
            offsets.push_back(0)
            for row in range(texts.length):
                if text_valid(&texts.texts, row):
                    text.assign(text_at(&texts.texts, row), False, stems)
                    for at in range(text.tokens().size()):
                        data.append(text.tokens()[at].begin, text.tokens()[at].size)
                        offsets.push_back(<int64_t>data.size())
                lists.push_back(<int64_t>offsets.size() - 1)
    finally:
        del text
    return as_bytes(lists), as_bytes(offsets), data


def porter_stem(str word):
    """What Porter's stemmer leaves of one word of lower-case ASCII letters and digits."""
    cdef string letters = word.encode("ascii")
    return letters[:Porter.stem(&letters[0], letters.size())].decode() if word else ""


cdef bytes as_bytes(const vector[int64_t]& values):
    return (<const char*>values.data())[:values.size() * sizeof(int64_t)]
