"""What a normalizer makes of texts, and the tokens it cuts them into."""

from libc.stdint cimport int64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport Column, text_at, text_valid
from odqa_fast._kernels.steps cimport Form, Steps, names_of, place_of, step_names, take_steps

cdef extern from "../core/normalize.hpp" namespace "odqa" nogil:
    cdef struct Token:
        const char* begin
        size_t size
    cdef cppclass Tokens:
        size_t size()
        Token operator[](size_t at)
    cdef cppclass NormalizedText:
        NormalizedText() except +
        void assign(string_view source, const Steps& steps, bint unicode_only) except +
        string_view text() except +
        const Tokens& tokens()
        void split() except +

cdef extern from "../core/cut.hpp" namespace "odqa" nogil:
    enum class Cut:
        pass
    const char* const* cut_names
    string_view cut_text "odqa::cut"(string_view text, Cut how)

cdef extern from "../core/unicode_tables.hpp" namespace "odqa::tables" nogil:
    const char* unicode_version

STEPS = names_of(step_names)
UNICODE_VERSION = unicode_version.decode()


def normalize(Column texts, steps, str cut="none", bint unicode_only=False):
    """The normalized texts as the offsets (n + 1 int64) and bytes of an Arrow large_utf8 array.

    Args:
        texts: n texts. steps: names of STEPS. cut: what is cut off each text before.
        unicode_only: leaves the ASCII loop out: the result must be the same.
    Raises:
        ValueError: another name, or steps that make no normalizer.
    """
    cdef Steps how
    take_steps(steps, how)
    cdef Cut cutter = <Cut>place_of(cut, cut_names)
    cdef NormalizedText result
    cdef vector[int64_t] offsets
    cdef string data
    cdef string_view text
    cdef int64_t row
    with nogil:
        offsets.push_back(0)
        for row in range(texts.length):
            if text_valid(&texts.texts, row):
                result.assign(cut_text(text_at(&texts.texts, row), cutter), how, unicode_only)
                text = result.text()
                data.append(text.data(), text.size())
            offsets.push_back(<int64_t>data.size())
    return as_bytes(offsets), data


def tokenize(Column texts, steps, bint unicode_only=False):
    """The tokens as three buffers of an Arrow large_list<large_utf8>: offsets of the lists, offsets
    of the tokens, bytes."""
    cdef Steps how
    take_steps(steps, how)
    cdef NormalizedText result
    cdef vector[int64_t] lists, offsets
    cdef bint unsplit = how.form() in (Form.as_is, Form.stripped)
    cdef string data
    cdef int64_t row
    cdef size_t at
    with nogil:
        lists.push_back(0)
        offsets.push_back(0)
        for row in range(texts.length):
            if text_valid(&texts.texts, row):
                result.assign(text_at(&texts.texts, row), how, unicode_only)
                if unsplit:
                    result.split()
                for at in range(result.tokens().size()):
                    data.append(result.tokens()[at].begin, result.tokens()[at].size)
                    offsets.push_back(<int64_t>data.size())
            lists.push_back(<int64_t>offsets.size() - 1)
    return as_bytes(lists), as_bytes(offsets), data


cdef bytes as_bytes(const vector[int64_t]& values):
    return (<const char*>values.data())[:values.size() * sizeof(int64_t)]
