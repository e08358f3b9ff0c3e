// A column's texts and lists where Arrow has them, and the checks on which later code relies.
#pragma once
#include "../core/utf8.hpp"

namespace odqa {

inline bool bit(const uint8_t* bits, int64_t at) {
    return bits == nullptr || (bits[at >> 3] >> (at & 7) & 1);
}

// Offsets are 32 or 64 bits wide: exactly one of the two pointers is set.
struct Offsets {
    const int32_t* narrow;
    const int64_t* wide;

    int64_t operator[](int64_t at) const { return narrow != nullptr ? narrow[at] : wide[at]; }

    // Whether they count up from 0 or more, the one at `hi` included.
    bool rise(int64_t lo, int64_t hi) const {
        return narrow != nullptr ? rise(narrow, lo, hi) : rise(wide, lo, hi);
    }

private:
    template <class Offset>
    static bool rise(const Offset* at, int64_t lo, int64_t hi) {
        // Of two that are not negative the difference does not overflow.
        using Bits = std::make_unsigned_t<Offset>;
        Bits signs = static_cast<Bits>(at[lo]);
        for (int64_t k = lo; k < hi; ++k) {
            const Bits here = static_cast<Bits>(at[k]), next = static_cast<Bits>(at[k + 1]);
            signs |= next | (next - here);
        }
        return signs >> (8 * sizeof(Offset) - 1) == 0;
    }
};

struct Texts {
    const uint8_t* valid;
    const uint8_t* parent_valid;  // of the struct a text is a field of, else null
    Offsets offsets;
    const char* data;
    int64_t start;  // where row 0 lies in the buffers
    int64_t parent_start;
};

inline bool text_valid(const Texts* texts, int64_t row) {
    return bit(texts->valid, texts->start + row) &&
           bit(texts->parent_valid, texts->parent_start + row);
}

// Where row `row` starts in the bytes, and row `row - 1` ends.
inline int64_t text_edge(const Texts* texts, int64_t row) {
    return texts->offsets[texts->start + row];
}

inline Text text_at(const Texts* texts, int64_t row) {
    const int64_t begin = text_edge(texts, row);
    return {texts->data + begin, static_cast<size_t>(text_edge(texts, row + 1) - begin)};
}

struct Lists {
    const uint8_t* valid;
    Offsets offsets;
    int64_t start;
};

inline bool list_valid(const Lists* lists, int64_t row) {
    return bit(lists->valid, lists->start + row);
}

inline int64_t list_edge(const Lists* lists, int64_t row) {
    return lists->offsets[lists->start + row];
}

// Whether the texts [lo, hi) are in order and all their bytes UTF-8. False says only that a look at
// each is needed, for a null may lie over bytes of any kind.
inline bool surely_valid(const Texts* texts, int64_t lo, int64_t hi) {
    if (lo == hi) return true;
    if (!texts->offsets.rise(texts->start + lo, texts->start + hi)) return false;
    const int64_t begin = text_edge(texts, lo), end = text_edge(texts, hi);
    const Text whole(texts->data + begin, static_cast<size_t>(end - begin));
    const auto ascii = static_cast<int64_t>(ascii_prefix(whole));
    if (begin + ascii == end) return true;
    if (!valid_utf8(whole.substr(static_cast<size_t>(ascii)))) return false;
    // A text may not start in the middle of a code point. Those of nothing at the end start nowhere.
    while (text_edge(texts, hi - 1) == end) --hi;
    bool inside = false;
    for (int64_t row = lo; row < hi; ++row) {
        inside |= (texts->data[text_edge(texts, row)] & 0xC0) == 0x80;
    }
    return !inside;
}

}  // namespace odqa
