// Tokens of a text, and how many two texts have in common.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <numeric>

#include "isa.hpp"
#include "text.hpp"

namespace odqa {

// Room that grows and never shrinks; its contents are lost when it grows.
template <class T>
class Room {
public:
    T* of(size_t size) {
        if (size > capacity_) {
            capacity_ = std::max(size, 2 * capacity_);
            items_.reset(new T[capacity_]);
        }
        return items_.get();
    }
    T* get() const { return items_.get(); }

private:
    std::unique_ptr<T[]> items_;
    size_t capacity_ = 0;
};

struct Token {
    const char* begin;
    size_t size;
};

// Whether the heads of all tokens are kept, or of a list that may be very long only as many as a pool
// has: the others are made again where they are needed.
enum class Heads { all, of_short };

// A list of tokens of one buffer. The first eight bytes of each, zero-padded, stand apart in `heads`:
// they decide nearly every comparison, several at a time. Where a token stands takes eight bytes more,
// so that a long text needs no more memory for its tokens than it must.
class Tokens {
public:
    static constexpr size_t lanes = 8, pool = 64;

    // Empties the list and makes room for `count` tokens of the `bytes` bytes at `base`.
    void start(const char* base, size_t bytes, size_t count, Heads kept = Heads::of_short) {
        if (bytes > std::numeric_limits<uint32_t>::max()) throw std::bad_alloc();
        is_long_ = kept == Heads::of_short && count > long_count;
        head_mask_ = is_long_ ? pool - 1 : ~size_t{0};
        heads_ = head_room_.of((is_long_ ? pool : count) + lanes);
        places_ = place_room_.of(count + 1);
        base_ = base;
        size_ = 0;
    }

    void clear() { size_ = 0; }

    // Eight bytes must be readable at `begin`.
    void push(const char* begin, size_t size) { push(begin, size, head_of(begin, size)); }
    void push(const char* begin, size_t size, uint64_t head) {
        heads_[size_ & head_mask_] = head;
        places_[size_++] = place_of(begin, size);
    }

    // Appends tokens that are given by where they begin and end, by turns; with all heads.
    void push_all(const char* const* borders, size_t count) {
        uint64_t* const heads = heads_ + size_;
        Place* const places = places_ + size_;
        for (size_t k = 0; k < count; ++k) {
            const char* const begin = borders[2 * k];
            const auto size = static_cast<size_t>(borders[2 * k + 1] - begin);
            heads[k] = head_of(begin, size);
            places[k] = place_of(begin, size);
        }
        size_ += count;
    }

    // Puts a token in the place of another.
    void put(size_t at, const char* begin, size_t size) {
        heads_[at & head_mask_] = head_of(begin, size);
        places_[at] = place_of(begin, size);
    }

    static uint64_t head_of(const char* begin, size_t size) {
        static constexpr uint64_t masks[] = {
            0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
            ~uint64_t{0}};
        return load8(begin) & masks[std::min<size_t>(size, 8)];
    }

    // Writes a token and keeps it only if told so: without a branch, since nothing foretells it.
    void push_if(bool kept, const char* begin, size_t size, uint64_t head) {
        heads_[size_ & head_mask_] = head;
        places_[size_] = place_of(begin, size);
        size_ += kept;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // Not of a long list that has more tokens than a pool.
    const uint64_t* heads() const { return heads_; }
    bool is_long() const { return is_long_; }
    uint64_t head(size_t at) const {
        return is_long_ ? head_of(base_ + places_[at].at, places_[at].size) : heads_[at];
    }
    Token operator[](size_t at) const { return {base_ + places_[at].at, places_[at].size}; }

    // Whether two tokens with equal heads are equal.
    static bool rest_equal(Token a, Token b) {
        return a.size == b.size &&
               (a.size <= 8 || std::memcmp(a.begin + 8, b.begin + 8, a.size - 8) == 0);
    }

    bool operator==(const Tokens& other) const {
        if (size_ != other.size_) return false;
        if (is_long_ || other.is_long_) {
            for (size_t k = 0; k < size_; ++k) {
                if (head(k) != other.head(k)) return false;
            }
        } else {
            for (size_t k = 0; k < size_; ++k) {
                if (heads_[k] != other.heads_[k]) return false;
            }
        }
        for (size_t k = 0; k < size_; ++k) {
            if (!rest_equal((*this)[k], other[k])) return false;
        }
        return true;
    }

    // Any total order that agrees with equality will do.
    bool less(size_t a, const Tokens& other, size_t b) const {
        const uint64_t mine = head(a), its = other.head(b);
        if (mine != its) return mine < its;
        const Token left = (*this)[a], right = other[b];
        if (left.size != right.size) return left.size < right.size;
        return left.size > 8 &&
               std::memcmp(left.begin + 8, right.begin + 8, left.size - 8) < 0;
    }

private:
    // So many take 64 MB with their heads.
    static constexpr size_t long_count = size_t{1} << 22;

    struct Place {
        uint32_t at, size;
    };

    Place place_of(const char* begin, size_t size) const {
        return {static_cast<uint32_t>(begin - base_), static_cast<uint32_t>(size)};
    }

    Room<uint64_t> head_room_;
    Room<Place> place_room_;
    uint64_t* heads_ = nullptr;
    Place* places_ = nullptr;
    const char* base_ = nullptr;
    size_t head_mask_ = ~size_t{0};
    bool is_long_ = false;
    size_t size_ = 0;
};

// Size of the multiset intersection of at most 64 tokens (`pool`) with any number: each of the
// others uses up one equal token of the pool.
using OverlapFunction = size_t (*)(const Tokens& pool, const Tokens& others);

inline uint64_t lowest_bits(size_t count) {
    return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Uses up the first of `candidates` (bits of `unused`) that really equals the token.
inline bool use_up(const Tokens& pool, Token token, uint64_t candidates, uint64_t& unused) {
    for (; candidates != 0; candidates &= candidates - 1) {
        const auto at = static_cast<size_t>(__builtin_ctzll(candidates));
        if (Tokens::rest_equal(pool[at], token)) {
            unused &= ~(uint64_t{1} << at);
            return true;
        }
    }
    return false;
}

template <bool has_heads>
size_t overlap_one_by_one(const Tokens& pool, const Tokens& others) {
    uint64_t unused = lowest_bits(pool.size());
    size_t common = 0;
    for (size_t k = 0; k < others.size() && unused != 0; ++k) {
        const uint64_t head = has_heads ? others.heads()[k] : others.head(k);
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); ++at) {
            equal |= static_cast<uint64_t>(pool.heads()[at] == head) << at;
        }
        if (equal &= unused) common += use_up(pool, others[k], equal, unused);
    }
    return common;
}

inline size_t overlap_scalar(const Tokens& pool, const Tokens& others) {
    return overlap_one_by_one<true>(pool, others);
}

#ifdef ODQA_X86

ODQA_AVX2 inline size_t overlap_avx2(const Tokens& pool, const Tokens& others) {
    uint64_t unused = lowest_bits(pool.size());
    size_t common = 0;
    for (size_t k = 0; k < others.size() && unused != 0; ++k) {
        const __m256i head = _mm256_set1_epi64x(static_cast<long long>(others.heads()[k]));
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); at += 4) {
            const __m256i four =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pool.heads() + at));
            const int bits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(four, head)));
            equal |= static_cast<uint64_t>(bits) << at;
        }
        if (equal &= unused) common += use_up(pool, others[k], equal, unused);
    }
    return common;
}

ODQA_AVX512 inline size_t overlap_avx512(const Tokens& pool, const Tokens& others) {
    uint64_t unused = lowest_bits(pool.size());
    size_t common = 0;
    for (size_t k = 0; k < others.size() && unused != 0; ++k) {
        const __m512i head = _mm512_set1_epi64(static_cast<long long>(others.heads()[k]));
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); at += 8) {
            const __m512i eight = _mm512_loadu_si512(pool.heads() + at);
            equal |= static_cast<uint64_t>(_mm512_cmpeq_epi64_mask(eight, head)) << at;
        }
        if (equal &= unused) common += use_up(pool, others[k], equal, unused);
    }
    return common;
}

#endif

inline const OverlapFunction small_overlap =
#ifdef ODQA_X86
    isa == Isa::avx512 ? overlap_avx512 : isa == Isa::avx2 ? overlap_avx2 :
#endif
                                                             overlap_scalar;

inline size_t sorted_overlap(const Tokens& a, const Tokens& b) {
    const auto order = [](const Tokens& tokens) {
        std::vector<size_t> at(tokens.size());
        std::iota(at.begin(), at.end(), size_t{0});
        std::sort(at.begin(), at.end(),
                  [&](size_t x, size_t y) { return tokens.less(x, tokens, y); });
        return at;
    };
    const std::vector<size_t> left = order(a), right = order(b);
    size_t common = 0;
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
        if (a.less(left[i], b, right[j])) ++i;
        else if (b.less(right[j], a, left[i])) ++j;
        else ++common, ++i, ++j;
    }
    return common;
}

inline size_t overlap(const Tokens& a, const Tokens& b) {
    const Tokens& shorter = a.size() < b.size() ? a : b;
    const Tokens& longer = a.size() < b.size() ? b : a;
    // The pool is what many are compared with at once, so the longer list, if it may be one.
    if (longer.size() <= Tokens::pool) return small_overlap(longer, shorter);
    if (shorter.size() > Tokens::pool) return sorted_overlap(a, b);
    return longer.is_long() ? overlap_one_by_one<false>(shorter, longer)
                            : small_overlap(shorter, longer);
}

}  // namespace odqa
