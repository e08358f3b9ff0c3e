"""ROUGE of a text column against a list of reference answers a row."""

from libc.stdint cimport int64_t, uint32_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport Column, text_at, text_valid
from odqa_fast._kernels.rows cimport Output, RowCounts, check_rows, output_rows, score_rows

cdef extern from "../core/rouge_pltrdy.hpp" namespace "odqa" nogil:
    enum class Words:
        pass
    cdef struct Token:
        const char* begin
        size_t size
    cdef cppclass Tokens:
        size_t size()
        Token operator[](size_t at)
    cdef cppclass StemCache:
        StemCache() except +
    cdef cppclass Porter:
        @staticmethod
        size_t stem(char* word, size_t size)
    cdef cppclass RougeText:
        RougeText(Words words, bint stem) except +
        void assign(string_view source, bint sentences, StemCache& stems) except +
        const Tokens& tokens()
    cdef cppclass RougeScorer:
        RougeScorer(Words words, bint stem, uint32_t types) except +
        size_t lost_rows()
    cdef cppclass PltrdyScorer:
        PltrdyScorer(bint gram_sets, bint word_sets, bint blank_is_nothing,
                     uint32_t types) except +

# In the order the C++ enum has; the rest are the rules of the `rouge` package.
WORDS = ("ascii", "unicode")
VARIANTS = (*WORDS, "pltrdy", "pltrdy100", "pltrdy-counts", "kilt")
TYPES = ("rougeL", *(f"rouge{n}" for n in range(1, 10)), "rougeLsum")
PARTS = ("f", "precision", "recall")


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
        The counts over [lo, hi) by name: the fields of RowCounts, and `rows_unseen_by_rouge`.
    """
    check_rows(texts, answers, lo, hi)
    cdef vector[Output] wanted
    cdef uint32_t types = 0
    for (type, part), values in outputs.items():
        at = TYPES.index(type)
        types |= 1u << <int>at
        wanted.push_back(
            Output(at * len(PARTS) + PARTS.index(part), output_rows(values, texts.length)))
    cdef RowCounts counts
    cdef int rules = VARIANTS.index(variant)
    cdef RougeScorer* google = NULL
    cdef PltrdyScorer* pltrdy = NULL
    cdef size_t lost = 0
    try:
        if rules < len(WORDS):
            google = new RougeScorer(<Words>rules, stem, types)
            with nogil:
                score_rows(&texts.texts, &answers.lists, &answers.texts, lo, hi, google[0], wanted,
                           counts)
            lost = google.lost_rows()
        else:
            pltrdy = new PltrdyScorer(variant in ("pltrdy", "kilt"), variant != "pltrdy-counts",
                                      variant == "kilt", types)
            with nogil:
                score_rows(&texts.texts, &answers.lists, &answers.texts, lo, hi, pltrdy[0], wanted,
                           counts)
    finally:
        del google
        del pltrdy
    return {**counts, "rows_unseen_by_rouge": lost}


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
