// How long a text is, and the one rounding a reference scorer applies to a ratio.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "unicode.hpp"

namespace odqa {

enum class Unit : int { chars, words };

// len(text.split())
inline size_t word_count(Text text) {
    auto at = reinterpret_cast<const unsigned char*>(text.data());
    const auto end = at + text.size();
    size_t count = 0;
    bool inside = false;
    while (at < end) {
        const bool space = has(next_code_point(at), is_space);
        count += !space && !inside;
        inside = !space;
    }
    return count;
}

inline size_t length(Text text, Unit unit) {
    return unit == Unit::chars ? code_point_count(text) : word_count(text);
}

// Python's round(x, 2): half-even on the exact binary value, which printf rounds by as well.
inline double round2(double x) {
    char digits[512];
    std::snprintf(digits, sizeof digits, "%.2f", x);
    return std::strtod(digits, nullptr);
}

}  // namespace odqa
