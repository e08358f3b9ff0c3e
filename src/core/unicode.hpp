// What Python's str and unicodedata, and the regex module, say of a code point (Unicode 14.0).
#pragma once
#include <algorithm>

#include "text.hpp"
#include "unicode_tables.hpp"

namespace odqa {

enum Property : uint8_t {
    is_space = 1 << 0,        // str.isspace(), which is what str.split() and re's \s cut at
    is_re_word = 1 << 1,      // str.isalnum(): re's \w, less "_"
    is_regex_word = 1 << 2,   // the regex module's \w
    is_token_word = 1 << 3,   // categories L, N, M: DPR's tokens
    is_token_gap = 1 << 4,    // categories Z, C: between DPR's tokens
    is_cased = 1 << 5,        // cased and not case-ignorable, for the final-sigma rule
    is_case_ignorable = 1 << 6,
    is_unmistakable = 1 << 7,  // no mark, and NFD and lower() make it of nothing but itself
};

inline uint32_t record_of(uint32_t c) {
    const uint32_t page = tables::record_index[c >> tables::page_bits];
    return tables::record_pages[page << tables::page_bits | (c & ((1u << tables::page_bits) - 1))];
}

inline bool has(uint32_t c, uint8_t properties) {
    return (tables::flags[record_of(c)] & properties) != 0;
}

// Categories P*. ("$+<=>^`|~" are symbols, though string.punctuation has them.)
inline bool is_punctuation(uint32_t c) { return tables::punctuation[record_of(c)] != 0; }

inline uint8_t combining_class(uint32_t c) { return tables::combining_class[record_of(c)]; }

// Unicode's Final_Sigma condition as CPython applies it in str.lower().
inline bool sigma_is_final(const uint32_t* points, size_t count, size_t at) {
    size_t before = at;
    while (before > 0 && has(points[before - 1], is_case_ignorable)) --before;
    if (before == 0 || !has(points[before - 1], is_cased)) return false;
    size_t after = at + 1;
    while (after < count && has(points[after], is_case_ignorable)) ++after;
    return after == count || !has(points[after], is_cased);
}

// Appends str.lower() of points[at], which looks at its neighbours.
inline void lower_at(const uint32_t* points, size_t count, size_t at, CodePoints& out) {
    const uint32_t c = points[at];
    if (c < 0x80) {
        out.push_back(c + ((c - 'A' < 26u) << 5));
    } else if (c == 0x3A3) {
        out.push_back(sigma_is_final(points, count, at) ? 0x3C2 : 0x3C3);
    } else if (c == 0x130) {
        out.push_back('i');
        out.push_back(0x307);
    } else {
        out.push_back(c + static_cast<uint32_t>(tables::lower_delta[record_of(c)]));
    }
}

// Appends str.lower() of the whole; the context of a sigma is this range and nothing around it.
inline void lower(const uint32_t* points, size_t count, CodePoints& out) {
    for (size_t at = 0; at < count; ++at) lower_at(points, count, at, out);
}

// Appends str.capitalize(): the first code point in title case, the rest lowered in its context.
inline void capitalize(const uint32_t* points, size_t count, CodePoints& out) {
    if (count == 0) return;
    const uint32_t* row = nullptr;
    size_t low = 0, high = tables::title_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (tables::titles[4 * middle] < points[0]) low = middle + 1;
        else high = middle;
    }
    if (low < tables::title_count && tables::titles[4 * low] == points[0]) {
        row = &tables::titles[4 * low];
    }
    if (row == nullptr) {
        out.push_back(points[0]);
    } else {
        for (int k = 1; k < 4 && row[k] != 0; ++k) out.push_back(row[k]);
    }
    for (size_t at = 1; at < count; ++at) lower_at(points, count, at, out);
}

// Appends the full canonical decomposition of one code point, not yet reordered.
inline void decompose(uint32_t c, CodePoints& out) {
    // Hangul syllables by arithmetic: the Unicode Standard, section 3.12.
    constexpr uint32_t s_base = 0xAC00, l_base = 0x1100, v_base = 0x1161, t_base = 0x11A7;
    constexpr uint32_t v_count = 21, t_count = 28, s_count = 11172;
    if (c < 0xC0) {
        out.push_back(c);
        return;
    }
    if (c - s_base < s_count) {
        const uint32_t s = c - s_base;
        out.push_back(l_base + s / (v_count * t_count));
        out.push_back(v_base + s % (v_count * t_count) / t_count);
        if (s % t_count) out.push_back(t_base + s % t_count);
        return;
    }
    const uint32_t page = tables::nfd_index[c >> tables::page_bits];
    const uint32_t offset =
        tables::nfd_pages[page << tables::page_bits | (c & ((1u << tables::page_bits) - 1))];
    if (offset == 0) {
        out.push_back(c);
        return;
    }
    const uint32_t* entry = &tables::nfd_pool[offset];
    out.insert(out.end(), entry + 1, entry + 1 + entry[0]);
}

// Normalization form D: decompose, then put each run of combining marks in order of class.
inline void nfd(const CodePoints& in, CodePoints& out) {
    out.clear();
    for (const uint32_t c : in) decompose(c, out);
    for (size_t at = 0; at < out.size();) {
        if (out[at] < 0x300 || combining_class(out[at]) == 0) {
            ++at;
            continue;
        }
        size_t end = at + 1;
        while (end < out.size() && combining_class(out[end]) != 0) ++end;
        if (end - at > 1) {
            std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(at),
                             out.begin() + static_cast<std::ptrdiff_t>(end),
                             [](uint32_t a, uint32_t b) {
                                 return combining_class(a) < combining_class(b);
                             });
        }
        at = end;
    }
}

inline Text strip(Text text) {
    // Forward over leading space, then remember the end of the last code point that is none.
    auto at = reinterpret_cast<const unsigned char*>(text.data());
    const auto end = at + text.size();
    const unsigned char* first = nullptr;
    const unsigned char* last = at;
    while (at < end) {
        const auto here = at;
        if (!has(next_code_point(at), is_space)) {
            if (first == nullptr) first = here;
            last = at;
        }
    }
    if (first == nullptr) return Text(text.data(), 0);
    return Text(reinterpret_cast<const char*>(first), static_cast<size_t>(last - first));
}

}  // namespace odqa
