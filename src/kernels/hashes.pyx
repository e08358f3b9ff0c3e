"""Hashes of texts, for finding equal ids, and of what files hold."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.string_view cimport string_view

from odqa_fast._kernels.columns cimport Column, text_at, text_valid

cdef extern from "../core/hash.hpp" namespace "odqa" nogil:
    uint64_t hash_text(string_view text, uint64_t key)

cdef extern from "../core/content_hash.hpp" namespace "odqa" nogil:
    cdef cppclass CppContentHash "odqa::ContentHash":
        CppContentHash() except +
        void update(const char* data, size_t size)
        void digest(uint64_t* out)


def hashes(Column texts, uint64_t key, uint64_t[::1] out):
    """Writes the hash of each text; 0 for a null.

    Args:
        texts: n texts. key: the same for all hashes that are compared. out: n numbers.
    """
    if texts.is_list or out.shape[0] != texts.length:
        raise ValueError("needs a text column and as many numbers")
    cdef int64_t row
    with nogil:
        for row in range(texts.length):
            out[row] = hash_text(text_at(&texts.texts, row), key) if (
                text_valid(&texts.texts, row)) else 0


cdef class ContentHash:
    """A 128-bit hash of bytes that come in pieces of any sizes."""

    cdef CppContentHash state

    def update(self, const unsigned char[::1] data):
        """Takes more bytes."""
        if data.shape[0]:
            with nogil:
                self.state.update(<const char*>&data[0], data.shape[0])

    def hexdigest(self):
        """The hash of what was taken so far, as 32 hexadecimal digits."""
        cdef uint64_t[2] out
        self.state.digest(out)
        return f"{out[0]:016x}{out[1]:016x}"
