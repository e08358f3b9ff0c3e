// How far a text is ASCII.
#pragma once
#include "isa.hpp"
#include "text.hpp"

namespace odqa {

inline size_t ascii_prefix_scalar(Text text, size_t at = 0) {
    constexpr uint64_t high_bits = 0x8080808080808080u;
    while (at + 8 <= text.size() && !(load8(text.data() + at) & high_bits)) at += 8;
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

#ifdef ODQA_X86

ODQA_AVX2 inline __m256i load32(const char* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

ODQA_AVX2 inline size_t ascii_prefix_avx2(Text text) {
    size_t at = 0;
    for (; at + 128 <= text.size(); at += 128) {
        const char* const here = text.data() + at;
        const __m256i any = _mm256_or_si256(_mm256_or_si256(load32(here), load32(here + 32)),
                                            _mm256_or_si256(load32(here + 64), load32(here + 96)));
        if (_mm256_movemask_epi8(any) != 0) break;
    }
    for (; at + 32 <= text.size(); at += 32) {
        const int high = _mm256_movemask_epi8(load32(text.data() + at));
        if (high != 0) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(high)));
    }
    return ascii_prefix_scalar(text, at);
}

#endif

// The number of bytes before the first that is not ASCII.
inline size_t ascii_prefix(Text text) {
#ifdef ODQA_X86
    if (text.size() >= 32 && isa != Isa::scalar) return ascii_prefix_avx2(text);
#endif
    return ascii_prefix_scalar(text);
}

inline bool is_ascii(Text text) { return ascii_prefix(text) == text.size(); }

}  // namespace odqa
