// Tokens of a text, and how many two texts have in common.
#pragma once
#include <algorithm>
#include <memory>

#include "text.hpp"

namespace odqa {

// Bytes that grow and never shrink, with eight readable bytes behind the asked-for size.
class Buffer {
public:
    char* room(size_t size) {
        if (size + 8 > capacity_) {
            capacity_ = std::max(size + 8, 2 * capacity_);
            bytes_ = std::make_unique<char[]>(capacity_);
        }
        return bytes_.get();
    }

private:
    std::unique_ptr<char[]> bytes_;
    size_t capacity_ = 0;
};

struct Token {
    const char* begin;
    size_t size;
    uint64_t head;  // the first eight bytes, zero-padded: decides nearly every comparison

    // A token in a Buffer, where eight bytes can be read from any position.
    static Token at(const char* base, size_t offset, size_t size) {
        const uint64_t word = load8(base + offset);
        return {base + offset, size, size >= 8 ? word : word & ((uint64_t{1} << 8 * size) - 1)};
    }

    // A token in memory that may end with it.
    static Token within(Text text, size_t offset, size_t size) {
        uint64_t word = 0;
        std::memcpy(&word, text.data() + offset, std::min<size_t>(size, 8));
        return {text.data() + offset, size, word};
    }

    bool operator==(const Token& other) const {
        return head == other.head && size == other.size &&
               (size <= 8 || std::memcmp(begin + 8, other.begin + 8, size - 8) == 0);
    }

    // Any total order that agrees with equality will do.
    bool operator<(const Token& other) const {
        if (head != other.head) return head < other.head;
        if (size != other.size) return size < other.size;
        return size > 8 && std::memcmp(begin + 8, other.begin + 8, size - 8) < 0;
    }
};

using Tokens = std::vector<Token>;

// Size of the multiset intersection of at most 64 tokens with any number.
inline size_t small_overlap(const Tokens& few, const Tokens& many) {
    uint64_t unused = few.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << few.size()) - 1;
    size_t common = 0;
    for (const Token& token : many) {
        for (uint64_t left = unused; left != 0; left &= left - 1) {
            const int at = __builtin_ctzll(left);
            if (few[static_cast<size_t>(at)] == token) {
                unused &= ~(uint64_t{1} << at);
                ++common;
                break;
            }
        }
        if (unused == 0) break;
    }
    return common;
}

inline size_t sorted_overlap(Tokens a, Tokens b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) ++common, ++i, ++j;
        else if (a[i] < b[j]) ++i;
        else ++j;
    }
    return common;
}

inline size_t overlap(const Tokens& a, const Tokens& b) {
    if (a.size() <= 64) return small_overlap(a, b);
    if (b.size() <= 64) return small_overlap(b, a);
    return sorted_overlap(a, b);
}

}  // namespace odqa
