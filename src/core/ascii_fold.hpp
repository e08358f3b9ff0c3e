// The byte half of normalizing: lower ASCII letters, drop or blank ASCII punctuation, and tell where
// tokens end. One function per instruction set, all writing the same bytes.
#pragma once
#include <array>

#include "isa.hpp"
#include "text.hpp"

namespace odqa {

inline constexpr bool is_ascii_alnum(uint32_t c) {
    return c - '0' < 10u || c - 'a' < 26u || c - 'A' < 26u;
}
inline constexpr bool is_ascii_space(uint32_t c) {
    return c == ' ' || c - 9 < 5u || c - 0x1C < 4u;
}
inline constexpr bool is_ascii_punctuation(uint32_t c) {
    return c > ' ' && c < 0x7F && !is_ascii_alnum(c);
}

// What is left of a text: bytes, and two bits a byte: in `gaps` where the byte is no part of a
// token, in `highs` where it belongs to a code point above ASCII, which is kept as it is.
struct Squeezed {
    char* bytes;
    uint64_t* gaps;
    uint64_t* highs;
    size_t size = 0;
    bool high = false;  // whether `highs` has a bit set

    // Both maps must have room for a word more than they need; it is cleared as they grow.
    Squeezed(char* bytes, uint64_t* gaps, uint64_t* highs)
        : bytes(bytes), gaps(gaps), highs(highs) {
        gaps[0] = highs[0] = 0;
    }

    // Appends the `count` lowest bits of both.
    void push(uint64_t gap_bits, uint64_t high_bits, size_t count) {
        append(gaps, gap_bits);
        append(highs, high_bits);
        high |= high_bits != 0;
        size += count;
    }

private:
    void append(uint64_t* map, uint64_t bits) const {
        const size_t word = size >> 6, shift = size & 63;
        map[word] |= bits << shift;
        map[word + 1] = shift == 0 ? 0 : bits >> (64 - shift);
    }
};

// Room that the loops below need behind `n` bytes: they store whole vectors.
inline constexpr size_t squeeze_slack = 64;

// All return false at a control character that is no white space (rare: there a word border need
// not be a token border, so the caller takes the code-point pipeline).
using SqueezeFunction = bool (*)(const char* text, size_t n, bool remove_punctuation,
                                 Squeezed& out);

enum ByteKind : uint8_t { kind_control, kind_space, kind_punctuation, kind_word };

inline constexpr std::array<uint8_t, 256> byte_kinds = [] {
    std::array<uint8_t, 256> kinds{};
    for (uint32_t c = 0; c < 256; ++c) {
        kinds[c] = c >= 0x80 || is_ascii_alnum(c) ? kind_word
                   : is_ascii_space(c)            ? kind_space
                   : is_ascii_punctuation(c)      ? kind_punctuation
                                                  : kind_control;
    }
    return kinds;
}();

inline bool squeeze_scalar(const char* text, size_t n, bool remove_punctuation, Squeezed& out) {
    for (size_t i = 0; i < n; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const uint8_t kind = byte_kinds[byte];
        if (kind == kind_control) return false;
        if (kind == kind_punctuation && remove_punctuation) continue;
        out.bytes[out.size] = static_cast<char>(uint32_t{byte} - 'A' < 26u ? byte | 0x20 : byte);
        out.push(kind != kind_word, byte >= 0x80, 1);
    }
    return true;
}

#ifdef ODQA_X86

// Bytes below `limit`, as unsigned numbers.
ODQA_AVX2 inline uint32_t below(__m256i v, uint8_t limit) {
    const __m256i top = _mm256_set1_epi8(static_cast<char>(limit - 1));
    return static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(v, top), v)));
}

ODQA_AVX2 inline bool squeeze_avx2(const char* text, size_t n, bool remove_punctuation,
                                   Squeezed& out) {
    for (size_t i = 0; i < n; i += 32) {
        const size_t left = n - i;
        alignas(32) char tail[32] = {};
        const char* from = text + i;
        uint32_t valid = ~uint32_t{0};
        if (left < 32) {
            std::memcpy(tail, from, left);
            from = tail;
            valid = (uint32_t{1} << left) - 1;
        }
        __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
        const __m256i is_letter = _mm256_cmpeq_epi8(
            _mm256_min_epu8(_mm256_sub_epi8(folded, _mm256_set1_epi8('a')), _mm256_set1_epi8(25)),
            _mm256_sub_epi8(folded, _mm256_set1_epi8('a')));
        const auto letters = static_cast<uint32_t>(_mm256_movemask_epi8(is_letter));
        const uint32_t digits = below(_mm256_sub_epi8(v, _mm256_set1_epi8('0')), 10);
        const auto high = static_cast<uint32_t>(_mm256_movemask_epi8(v));
        const auto blanks = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(' '))));
        const uint32_t spaces = blanks | below(_mm256_sub_epi8(v, _mm256_set1_epi8(9)), 5) |
                                below(_mm256_sub_epi8(v, _mm256_set1_epi8(0x1C)), 4);
        const auto deletes = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7F))));
        if (((below(v, 0x20) & ~spaces) | deletes) & valid) return false;
        const uint32_t words = (letters | digits | high) & valid;
        v = _mm256_blendv_epi8(v, folded, is_letter);
        const uint32_t keep = (remove_punctuation ? words | spaces : ~uint32_t{0}) & valid;
        const auto count = static_cast<size_t>(_mm_popcnt_u32(keep));
        char* to = out.bytes + out.size;
        if (keep == valid) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
        } else {
            alignas(32) uint64_t lanes[4];
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), v);
            for (int k = 0; k < 4; ++k) {
                const uint64_t lane = keep >> (8 * k) & 0xFF;
                const uint64_t bytes = _pdep_u64(lane, 0x0101010101010101u) * 0xFF;
                const uint64_t packed = _pext_u64(lanes[k], bytes);
                std::memcpy(to, &packed, 8);
                to += _mm_popcnt_u64(lane);
            }
        }
        out.push(_pext_u32(~words, keep), _pext_u32(high, keep), count);
    }
    return true;
}

ODQA_AVX512 inline bool squeeze_avx512(const char* text, size_t n, bool remove_punctuation,
                                       Squeezed& out) {
    const __m512i case_bit = _mm512_set1_epi8(0x20);
    for (size_t i = 0; i < n; i += 64) {
        const size_t left = n - i;
        const __mmask64 valid = left < 64 ? _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(left))
                                          : ~uint64_t{0};
        __m512i v = _mm512_maskz_loadu_epi8(valid, text + i);
        const __m512i folded = _mm512_or_si512(v, case_bit);
        const __mmask64 letters = _mm512_cmplt_epu8_mask(
            _mm512_sub_epi8(folded, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
        const __mmask64 digits = _mm512_cmplt_epu8_mask(
            _mm512_sub_epi8(v, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
        const __mmask64 high = _mm512_movepi8_mask(v);
        const __mmask64 low = _mm512_cmple_epu8_mask(v, case_bit) & valid;
        __mmask64 spaces = _mm512_cmpeq_epi8_mask(v, case_bit);
        if (low != spaces) {
            spaces |= _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(9)),
                                             _mm512_set1_epi8(5)) |
                      _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(0x1C)),
                                             _mm512_set1_epi8(4));
            spaces &= valid;
        }
        const __mmask64 deletes = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(0x7F));
        if ((low & ~spaces) | deletes) return false;
        const __mmask64 words = letters | digits | high;
        v = _mm512_mask_blend_epi8(letters, v, folded);
        char* const to = out.bytes + out.size;
        const __mmask64 keep = remove_punctuation ? words | spaces : valid;
        if (keep == valid) {
            _mm512_storeu_si512(to, v);
            out.push(~words & valid, high, left < 64 ? left : 64);
        } else {
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(keep, v));
            out.push(_pext_u64(~words, keep), _pext_u64(high, keep),
                     static_cast<size_t>(_mm_popcnt_u64(keep)));
        }
    }
    return true;
}

#endif

inline const SqueezeFunction squeeze =
#ifdef ODQA_X86
    isa == Isa::avx512 ? squeeze_avx512 : isa == Isa::avx2 ? squeeze_avx2 :
#endif
                                                             squeeze_scalar;

}  // namespace odqa
