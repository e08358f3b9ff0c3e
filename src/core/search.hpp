// Finding a text inside another: a few bytes of the needle are looked for at their distances, in many
// places at once, and only where all of them stand is the rest compared.
#pragma once
#include <algorithm>
#include <array>

#include "ascii.hpp"

namespace odqa {

// `N` bytes of a needle by their places in it, `at`, counted from the first of them and rising. `fold`
// is 0x20 where letters, which are lower-case then, match both cases; else 0.
template <size_t N>
struct Bytes {
    unsigned char byte[N], fold;
    size_t at[N];

    size_t width() const { return at[N - 1]; }
};

// Calls `found(i)` for each i in order at which all the bytes stand (with `fold`, also where others
// stand that differ in that bit), until it returns true. Returns whether it did.
template <size_t N, class Found>
bool scan_scalar(Text text, size_t from, const Bytes<N>& bytes, Found& found) {
    const auto stands = [&](size_t i, size_t k) {
        const unsigned here = static_cast<unsigned char>(text[i + bytes.at[k]]);
        return ((here ^ bytes.byte[k]) & ~unsigned{bytes.fold}) == 0;
    };
    for (size_t i = from; i + bytes.width() < text.size(); ++i) {
        size_t k = 0;
        while (k < N && stands(i, k)) ++k;
        if (k == N && found(i)) return true;
    }
    return false;
}

#ifdef ODQA_X86

template <size_t N, class Found>
ODQA_AVX2 bool scan_avx2(Text text, const Bytes<N>& bytes, Found& found) {
    __m256i byte[N];
    for (size_t k = 0; k < N; ++k) byte[k] = _mm256_set1_epi8(static_cast<char>(bytes.byte[k]));
    const __m256i fold = _mm256_set1_epi8(static_cast<char>(bytes.fold));
    size_t i = 0;
    for (; i + bytes.width() + 32 <= text.size(); i += 32) {
        __m256i differ = _mm256_setzero_si256();
        for (size_t k = 0; k < N; ++k) {
            const __m256i here = load32(text.data() + i + bytes.at[k]);
            differ = _mm256_or_si256(differ, _mm256_xor_si256(here, byte[k]));
        }
        auto places = static_cast<uint32_t>(_mm256_movemask_epi8(
            _mm256_cmpeq_epi8(_mm256_andnot_si256(fold, differ), _mm256_setzero_si256())));
        for (; places != 0; places &= places - 1) {
            if (found(i + static_cast<size_t>(__builtin_ctz(places)))) return true;
        }
    }
    return scan_scalar(text, i, bytes, found);
}

template <size_t N>
struct Vectors512 {
    __m512i byte[N], kept;
    size_t at[N];
};

// Where all the bytes stand among the `valid` places of 64.
template <size_t N>
ODQA_AVX512 inline uint64_t places_avx512(const char* at, const Vectors512<N>& bytes,
                                          __mmask64 valid) {
    constexpr int or_xor = 0xF6;  // a | (b ^ c)
    __m512i differ = _mm512_setzero_si512();
    for (size_t k = 0; k < N; ++k) {
        const __m512i here = _mm512_maskz_loadu_epi8(valid, at + bytes.at[k]);
        differ = _mm512_ternarylogic_epi64(differ, here, bytes.byte[k], or_xor);
    }
    return _mm512_mask_testn_epi8_mask(valid, differ, bytes.kept);
}

template <size_t N, class Found>
ODQA_AVX512 bool scan_avx512(Text text, const Bytes<N>& bytes, Found& found) {
    if (text.size() <= bytes.width()) return false;
    const size_t places = text.size() - bytes.width();
    Vectors512<N> vectors;
    vectors.kept = _mm512_set1_epi8(static_cast<char>(~bytes.fold));
    for (size_t k = 0; k < N; ++k) {
        vectors.byte[k] = _mm512_set1_epi8(static_cast<char>(bytes.byte[k]));
        vectors.at[k] = bytes.at[k];
    }
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
        uint64_t here = places_avx512(text.data() + i, vectors, valid);
        for (; here != 0; here &= here - 1) {
            if (found(i + static_cast<size_t>(__builtin_ctzll(here)))) return true;
        }
    }
    return false;
}

#endif

template <size_t N, class Found>
bool scan(Text text, const Bytes<N>& bytes, Found found) {
#ifdef ODQA_X86
    if (isa == Isa::avx512) return scan_avx512(text, bytes, found);
    if (isa == Isa::avx2) return scan_avx2(text, bytes, found);
#endif
    return scan_scalar(text, 0, bytes, found);
}

// How common a byte is, roughly, in English text, and in any other above ASCII (where every second
// byte or so begins a character, and these are few): a needle is looked for at rare bytes.
inline constexpr std::array<uint8_t, 256> commonness = [] {
    std::array<uint8_t, 256> rank{};
    const Text order = "kvybwgpfmucdhlrsnioate ";  // most common last
    for (size_t k = 0; k < order.size(); ++k) {
        rank[static_cast<unsigned char>(order[k])] = static_cast<uint8_t>(k + 1);
    }
    for (size_t c = 0x80; c < 256; ++c) rank[c] = c < 0xC0 ? 8 : 24;
    return rank;
}();

// With one byte as rare as this, looking further costs more than it saves.
inline constexpr uint8_t rare_enough = 6;

template <size_t N>
struct Anchor {
    Bytes<N> bytes;
    size_t offset;  // of the first of them within the needle
};

// The bytes of a needle at these places, which rise. With `any_case` its letters are lower-case and
// match both cases.
template <size_t N>
Anchor<N> anchor_at(Text needle, const size_t (&places)[N], bool any_case) {
    Anchor<N> anchor;
    anchor.offset = places[0];
    anchor.bytes.fold = any_case ? 0x20 : 0;
    for (size_t k = 0; k < N; ++k) {
        anchor.bytes.byte[k] = static_cast<unsigned char>(needle[places[k]]);
        anchor.bytes.at[k] = places[k] - places[0];
    }
    return anchor;
}

// The places of two rare bytes of a needle that is not empty, of its first 16 and its last.
struct Places {
    size_t low, high;
};
inline Places rarest(Text needle) {
    const auto rank = [&](size_t k) { return commonness[static_cast<unsigned char>(needle[k])]; };
    const size_t n = needle.size();
    size_t rare = 0, next = n - 1;
    if (rank(next) < rank(rare)) std::swap(rare, next);
    for (size_t k = 1; k + 1 < n && k < 16 && rank(rare) > rare_enough; ++k) {
        if (rank(k) < rank(rare)) {
            next = rare;
            rare = k;
        } else if (rank(k) < rank(next)) {
            next = k;
        }
    }
    return {std::min(rare, next), std::max(rare, next)};
}

// Two bytes, for a needle that is compared at once where they stand.
inline Anchor<2> anchor_of(Text needle) {
    const Places pair = rarest(needle);
    return anchor_at(needle, {pair.low, pair.high}, false);
}

// Three, for one that takes longer to compare: a place that comes to nothing costs as much as the
// search of hundreds of bytes. Letters match both cases.
inline Anchor<3> strict_anchor_of(Text needle) {
    const Places pair = rarest(needle);
    const size_t last = needle.size() - 1;
    size_t third = last / 2;
    if (pair.low != 0) third = 0;
    else if (pair.high != last) third = last;
    if (third < pair.low) return anchor_at(needle, {third, pair.low, pair.high}, true);
    if (third < pair.high) return anchor_at(needle, {pair.low, third, pair.high}, true);
    return anchor_at(needle, {pair.low, pair.high, third}, true);
}

// Calls `found(i)` for each i at which the needle may stand, until it returns true; returns whether
// it did. `anchor` is that of the needle, `size` its size.
template <size_t N, class Found>
bool scan_at(Text text, const Anchor<N>& anchor, size_t size, Found found) {
    if (size > text.size()) return false;
    // Only as far as the whole needle fits.
    const size_t places = text.size() - size + 1;
    return scan(text.substr(anchor.offset, places + anchor.bytes.width()), anchor.bytes, found);
}

// The same for a needle that is not empty and searched for once.
template <class Found>
bool scan_for(Text text, Text needle, Found found) {
    if (needle.size() > text.size()) return false;
    return scan_at(text, anchor_of(needle), needle.size(), found);
}

// Whether so many bytes were compared in vain that a search in linear time has to take over: in a text
// that repeats itself a needle nearly stands at every place.
inline bool is_too_much(size_t compared, Text text) { return compared > 32 * text.size() + 1024; }

// A suffix of a needle, greatest in the order of its bytes or, with `turned`, in the reverse order:
// where it begins, and its period.
struct Suffix {
    size_t begin, period;
};
inline Suffix greatest_suffix(Text needle, bool turned) {
    size_t begin = 0, other = 1, same = 0, period = 1;
    while (other + same < needle.size()) {
        const auto a = static_cast<unsigned char>(needle[other + same]);
        const auto b = static_cast<unsigned char>(needle[begin + same]);
        if (a == b) {
            if (++same == period) {
                other += period;
                same = 0;
            }
        } else if ((a < b) != turned) {
            other += same + 1;
            same = 0;
            period = other - begin;
        } else {
            begin = other++;
            same = 0;
            period = 1;
        }
    }
    return {begin, period};
}

// Where a needle that is not empty first stands in a text, or npos, in time linear in both and
// without memory (Crochemore and Perrin 1991, "Two-way string-matching").
[[gnu::noinline]] inline size_t find_in_linear_time(Text text, Text needle) {
    const size_t n = needle.size();
    const Suffix one = greatest_suffix(needle, false), other = greatest_suffix(needle, true);
    const Suffix cut = one.begin > other.begin ? one : other;
    const bool periodic = cut.begin + cut.period <= n &&
                          needle.substr(0, cut.begin) == needle.substr(cut.period, cut.begin);
    const size_t shift = periodic ? cut.period : std::max(cut.begin, n - cut.begin) + 1;
    size_t known = 0;  // so many bytes at the start of the needle are known to stand at `at`
    for (size_t at = 0; at + n <= text.size();) {
        size_t k = std::max(cut.begin, known);
        while (k < n && needle[k] == text[at + k]) ++k;
        if (k < n) {
            at += k - cut.begin + 1;
            known = 0;
            continue;
        }
        k = cut.begin;
        while (k > known && needle[k - 1] == text[at + k - 1]) --k;
        if (k <= known) return at;
        at += shift;
        known = periodic ? n - shift : 0;
    }
    return Text::npos;
}

// The same by `scan_for`, as long as that does not compare too much.
[[gnu::noinline]] inline size_t find_long(Text text, Text needle) {
    size_t place = Text::npos, misses = 0;
    const bool stopped = scan_for(text, needle, [&](size_t at) {
        if (std::memcmp(text.data() + at, needle.data(), needle.size()) != 0) {
            return is_too_much(++misses * needle.size(), text);
        }
        place = at;
        return true;
    });
    return stopped && place == Text::npos ? find_in_linear_time(text, needle) : place;
}

// A needle as short as this may be compared at every place.
inline constexpr size_t short_needle = 64;

// Whether `needle` stands in `text`; an empty one does.
inline bool holds(Text text, Text needle) {
    if (needle.size() > short_needle) return find_long(text, needle) != Text::npos;
    return needle.empty() || scan_for(text, needle, [&](size_t at) {
               return std::memcmp(text.data() + at, needle.data(), needle.size()) == 0;
           });
}

// Where `needle` first stands in `text`, or npos.
inline size_t find(Text text, Text needle) {
    if (needle.empty()) return 0;
    if (needle.size() > short_needle) return find_long(text, needle);
    size_t place = Text::npos;
    scan_for(text, needle, [&](size_t at) {
        if (std::memcmp(text.data() + at, needle.data(), needle.size()) != 0) return false;
        place = at;
        return true;
    });
    return place;
}

}  // namespace odqa
