// Finding a text inside another: two bytes of the needle are looked for at their distance, in many
// places at once, and only where both stand is the rest compared.
#pragma once
#include <algorithm>
#include <array>

#include "isa.hpp"
#include "text.hpp"

namespace odqa {

// The two bytes. `fold` is 0x20 where a byte is a lower-case letter that may stand in upper case,
// else 0.
struct BytePair {
    unsigned char first, second;
    unsigned char fold_first = 0, fold_second = 0;
    size_t distance;  // from the first to the second
};

// Calls `found(i)` for each i in order at which both bytes stand, until it returns true. Returns
// whether it did.
template <class Found>
bool scan_scalar(Text text, size_t from, const BytePair& pair, Found& found) {
    for (size_t i = from; i + pair.distance < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) | pair.fold_first) == pair.first &&
            (static_cast<unsigned char>(text[i + pair.distance]) | pair.fold_second) ==
                pair.second &&
            found(i)) {
            return true;
        }
    }
    return false;
}

#ifdef ODQA_X86

template <class Found>
ODQA_AVX2 bool scan_avx2(Text text, const BytePair& pair, Found& found) {
    const __m256i first = _mm256_set1_epi8(static_cast<char>(pair.first));
    const __m256i second = _mm256_set1_epi8(static_cast<char>(pair.second));
    const __m256i fold_first = _mm256_set1_epi8(static_cast<char>(pair.fold_first));
    const __m256i fold_second = _mm256_set1_epi8(static_cast<char>(pair.fold_second));
    size_t i = 0;
    for (; i + pair.distance + 32 <= text.size(); i += 32) {
        const auto at = reinterpret_cast<const __m256i*>(text.data() + i);
        const auto far = reinterpret_cast<const __m256i*>(text.data() + i + pair.distance);
        const __m256i a = _mm256_or_si256(_mm256_loadu_si256(at), fold_first);
        const __m256i b = _mm256_or_si256(_mm256_loadu_si256(far), fold_second);
        auto both = static_cast<uint32_t>(_mm256_movemask_epi8(
            _mm256_and_si256(_mm256_cmpeq_epi8(a, first), _mm256_cmpeq_epi8(b, second))));
        for (; both != 0; both &= both - 1) {
            if (found(i + static_cast<size_t>(__builtin_ctz(both)))) return true;
        }
    }
    return scan_scalar(text, i, pair, found);
}

struct PairVectors512 {
    __m512i first, second, fold_first, fold_second;
    size_t distance;
};

// Where both bytes stand among the `valid` places of 64.
ODQA_AVX512 inline uint64_t places_avx512(const char* at, const PairVectors512& pair,
                                          __mmask64 valid) {
    const __m512i a = _mm512_or_si512(_mm512_maskz_loadu_epi8(valid, at), pair.fold_first);
    const __m512i b =
        _mm512_or_si512(_mm512_maskz_loadu_epi8(valid, at + pair.distance), pair.fold_second);
    return _mm512_mask_cmpeq_epi8_mask(_mm512_mask_cmpeq_epi8_mask(valid, a, pair.first), b,
                                       pair.second);
}

template <class Found>
ODQA_AVX512 bool scan_avx512(Text text, const BytePair& pair, Found& found) {
    if (text.size() <= pair.distance) return false;
    const size_t places = text.size() - pair.distance;
    const PairVectors512 vectors{_mm512_set1_epi8(static_cast<char>(pair.first)),
                                 _mm512_set1_epi8(static_cast<char>(pair.second)),
                                 _mm512_set1_epi8(static_cast<char>(pair.fold_first)),
                                 _mm512_set1_epi8(static_cast<char>(pair.fold_second)),
                                 pair.distance};
    size_t i = 0;
    // Two vectors to a branch, where most hold nothing.
    for (; i + 128 <= places; i += 128) {
        uint64_t low = places_avx512(text.data() + i, vectors, ~uint64_t{0});
        uint64_t high = places_avx512(text.data() + i + 64, vectors, ~uint64_t{0});
        if ((low | high) == 0) continue;
        for (; low != 0; low &= low - 1) {
            if (found(i + static_cast<size_t>(__builtin_ctzll(low)))) return true;
        }
        for (; high != 0; high &= high - 1) {
            if (found(i + 64 + static_cast<size_t>(__builtin_ctzll(high)))) return true;
        }
    }
    for (; i < places; i += 64) {
        const size_t left = places - i;
        const __mmask64 valid =
            left < 64 ? _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(left)) : ~uint64_t{0};
        uint64_t both = places_avx512(text.data() + i, vectors, valid);
        for (; both != 0; both &= both - 1) {
            if (found(i + static_cast<size_t>(__builtin_ctzll(both)))) return true;
        }
    }
    return false;
}

#endif

template <class Found>
bool scan(Text text, const BytePair& pair, Found found) {
#ifdef ODQA_X86
    if (isa == Isa::avx512) return scan_avx512(text, pair, found);
    if (isa == Isa::avx2) return scan_avx2(text, pair, found);
#endif
    return scan_scalar(text, 0, pair, found);
}

// How common a byte is in English text, roughly: the pair is looked for at its two rarest bytes.
inline constexpr std::array<uint8_t, 256> commonness = [] {
    std::array<uint8_t, 256> rank{};
    const Text order = "kvybwgpfmucdhlrsnioate ";  // most common last
    for (size_t k = 0; k < order.size(); ++k) {
        rank[static_cast<unsigned char>(order[k])] = static_cast<uint8_t>(k + 1);
    }
    return rank;
}();

// Looking further for a rarer byte than this costs more than it saves.
inline constexpr uint8_t rare_enough = 6;

struct Anchor {
    BytePair pair;
    size_t offset;  // of the first byte of the pair within the needle
};

// The two rarest bytes of a needle that is not empty (of its first 16 and its last). With
// `any_case` its letters are lower-case and match both cases.
inline Anchor anchor_of(Text needle, bool any_case) {
    const auto rank = [&](size_t k) { return commonness[static_cast<unsigned char>(needle[k])]; };
    const size_t n = needle.size();
    size_t rare = 0, next = n - 1;
    if (rank(next) < rank(rare)) std::swap(rare, next);
    for (size_t k = 1; k + 1 < n && k < 16 && rank(next) > rare_enough; ++k) {
        if (rank(k) < rank(rare)) {
            next = rare;
            rare = k;
        } else if (rank(k) < rank(next)) {
            next = k;
        }
    }
    const size_t low = std::min(rare, next), high = std::max(rare, next);
    const auto fold = [&](char c) -> unsigned char {
        return any_case && c >= 'a' && c <= 'z' ? 0x20 : 0;
    };
    return {{static_cast<unsigned char>(needle[low]), static_cast<unsigned char>(needle[high]),
             fold(needle[low]), fold(needle[high]), high - low},
            low};
}

// Calls `found(i)` for each i at which the needle may stand, until it returns true; returns whether
// it did. The needle is not empty.
template <class Found>
bool scan_for(Text text, Text needle, bool any_case, Found found) {
    if (needle.size() > text.size()) return false;
    const Anchor anchor = anchor_of(needle, any_case);
    // Only as far as the whole needle fits.
    const size_t places = text.size() - needle.size() + 1;
    return scan(text.substr(anchor.offset, places + anchor.pair.distance), anchor.pair, found);
}

// Whether `needle` stands in `text`; an empty one does.
inline bool holds(Text text, Text needle) {
    return needle.empty() || scan_for(text, needle, false, [&](size_t at) {
               return std::memcmp(text.data() + at, needle.data(), needle.size()) == 0;
           });
}

}  // namespace odqa
