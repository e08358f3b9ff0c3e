// Is a text UTF-8? Asked once of every byte that comes in.
#pragma once
#include "ascii.hpp"

namespace odqa {

// The well-formed byte sequences of the Unicode Standard, table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF.
inline bool valid_utf8_scalar(Text text) {
    size_t i = 0;
    const size_t n = text.size();
    while (true) {
        i = ascii_prefix_scalar(text, i);
        if (i == n) return true;
        const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
        const unsigned char lead = byte(i);
        const size_t width = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
        if (width == 0 || width > n - i) return false;
        const unsigned char second = byte(i + 1);
        const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (second < low || second > high) return false;
        for (size_t k = 2; k < width; ++k) {
            if ((byte(i + k) & 0xC0) != 0x80) return false;
        }
        i += width;
    }
}

#ifdef ODQA_X86

// The lookup method of Keiser and Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte"
// (2021): the high and low half of a byte and the high half of the next each name the faults that
// they would allow; a fault that all three name is one.
namespace utf8_fault {
enum : uint8_t {
    too_short = 1 << 0,      // a lead byte without its continuation
    too_long = 1 << 1,       // a continuation behind an ASCII byte
    overlong_3 = 1 << 2,     // E0 80..9F
    too_large = 1 << 3,      // F4 90.., F5..
    surrogate = 1 << 4,      // ED A0..BF
    overlong_2 = 1 << 5,     // C0, C1
    too_large_or_overlong_4 = 1 << 6,  // F5.. with 8x, F0 8x
    two_continuations = 1 << 7,        // right only as the third or fourth byte
};
inline constexpr uint8_t any_low = too_short | too_long | two_continuations;
inline constexpr uint8_t beyond = any_low | too_large | too_large_or_overlong_4;
inline constexpr uint8_t first_high[16] = {
    too_long, too_long, too_long, too_long, too_long, too_long, too_long, too_long,
    two_continuations, two_continuations, two_continuations, two_continuations,
    too_short | overlong_2, too_short, too_short | overlong_3 | surrogate,
    too_short | too_large | too_large_or_overlong_4};
inline constexpr uint8_t first_low[16] = {
    any_low | overlong_2 | overlong_3 | too_large_or_overlong_4, any_low | overlong_2, any_low,
    any_low, any_low | too_large, beyond, beyond, beyond, beyond, beyond, beyond, beyond, beyond,
    beyond | surrogate, beyond, beyond};
inline constexpr uint8_t continuation = too_long | overlong_2 | two_continuations;
inline constexpr uint8_t second_high[16] = {
    too_short, too_short, too_short, too_short, too_short, too_short, too_short, too_short,
    continuation | overlong_3 | too_large_or_overlong_4, continuation | overlong_3 | too_large,
    continuation | surrogate | too_large, continuation | surrogate | too_large,
    too_short, too_short, too_short, too_short};
}  // namespace utf8_fault

ODQA_AVX2 inline __m256i utf8_table(const uint8_t* of) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(of)));
}

ODQA_AVX2 inline __m256i high_halves(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

ODQA_AVX2 inline bool valid_utf8_avx2(Text text) {
    using namespace utf8_fault;
    const __m256i firsts = utf8_table(first_high), lows = utf8_table(first_low),
                  seconds = utf8_table(second_high);
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i before = _mm256_setzero_si256(), faults = _mm256_setzero_si256();
    bool before_ascii = true;
    // One block more than the text fills: what it leaves unfinished meets a zero byte there.
    for (size_t i = 0; i <= text.size(); i += 32) {
        if (before_ascii) {
            const size_t ascii = ascii_prefix_avx2(text.substr(i)) & ~size_t{31};
            if (ascii != 0) before = _mm256_setzero_si256();
            i += ascii;
        }
        __m256i block;
        if (text.size() - i >= 32) {
            block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + i));
        } else {
            alignas(32) char tail[32] = {};
            if (i < text.size()) std::memcpy(tail, text.data() + i, text.size() - i);
            block = _mm256_load_si256(reinterpret_cast<const __m256i*>(tail));
        }
        const bool ascii = _mm256_movemask_epi8(block) == 0;
        if (!ascii || !before_ascii) {
            const __m256i joint = _mm256_permute2x128_si256(before, block, 0x21);
            const __m256i one = _mm256_alignr_epi8(block, joint, 15);
            const __m256i two = _mm256_alignr_epi8(block, joint, 14);
            const __m256i three = _mm256_alignr_epi8(block, joint, 13);
            const __m256i named = _mm256_and_si256(
                _mm256_and_si256(_mm256_shuffle_epi8(firsts, high_halves(one)),
                                 _mm256_shuffle_epi8(lows, _mm256_and_si256(one, half))),
                _mm256_shuffle_epi8(seconds, high_halves(block)));
            // The third byte of three and the third and fourth of four must be second continuations.
            const __m256i third = _mm256_subs_epu8(two, _mm256_set1_epi8(0xE0 - 0x80));
            const __m256i fourth =
                _mm256_subs_epu8(three, _mm256_set1_epi8(static_cast<char>(0xF0 - 0x80)));
            const __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth),
                                                    _mm256_set1_epi8(static_cast<char>(0x80)));
            faults = _mm256_or_si256(faults, _mm256_xor_si256(named, wanted));
        }
        before = block;
        before_ascii = ascii;
    }
    return _mm256_testz_si256(faults, faults) != 0;
}

#endif

inline bool valid_utf8(Text text) {
#ifdef ODQA_X86
    if (isa != Isa::scalar) return valid_utf8_avx2(text);
#endif
    return valid_utf8_scalar(text);
}

}  // namespace odqa
