// How long a text is, and the one rounding a reference scorer applies to a ratio.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "isa.hpp"
#include "unicode.hpp"

namespace odqa {

// Every byte but the continuation bytes 10xxxxxx starts a code point.
inline size_t code_points_scalar(Text text) {
    size_t count = 0;
    for (const char byte : text) count += static_cast<signed char>(byte) > -65;
    return count;
}

#ifdef ODQA_X86

ODQA_AVX2 inline size_t code_points_avx2(Text text) {
    const __m256i last_continuation = _mm256_set1_epi8(-65);
    size_t at = 0, count = 0;
    for (; at + 32 <= text.size(); at += 32) {
        const __m256i v =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
        const int starts = _mm256_movemask_epi8(_mm256_cmpgt_epi8(v, last_continuation));
        count += static_cast<size_t>(_mm_popcnt_u32(static_cast<uint32_t>(starts)));
    }
    return count + code_points_scalar(text.substr(at));
}

ODQA_AVX512 inline size_t code_points_avx512(Text text) {
    const __m512i last_continuation = _mm512_set1_epi8(-65);
    size_t count = 0;
    for (size_t at = 0; at < text.size(); at += 64) {
        const size_t left = text.size() - at;
        const __mmask64 valid =
            left < 64 ? _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(left)) : ~uint64_t{0};
        const __m512i v = _mm512_maskz_loadu_epi8(valid, text.data() + at);
        count += static_cast<size_t>(
            _mm_popcnt_u64(_mm512_mask_cmpgt_epi8_mask(valid, v, last_continuation)));
    }
    return count;
}

#endif

// len(text)
inline size_t code_point_count(Text text) {
#ifdef ODQA_X86
    if (isa == Isa::avx512) return code_points_avx512(text);
    if (isa == Isa::avx2) return code_points_avx2(text);
#endif
    return code_points_scalar(text);
}

enum class Unit : int { chars, words };
inline constexpr const char* unit_names[] = {"chars", "words", nullptr};

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
