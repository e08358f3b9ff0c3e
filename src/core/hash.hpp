// A 64-bit hash of a text, keyed so that nobody can make texts collide on purpose.
#pragma once
#include "text.hpp"

namespace odqa {

inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_text(Text text, uint64_t key) {
    constexpr uint64_t odd = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio
    uint64_t state = fold_multiply(key ^ text.size(), odd);
    size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        state = fold_multiply(state ^ load8(text.data() + at), key | 1);
    }
    uint64_t tail = 0;
    if (at < text.size()) std::memcpy(&tail, text.data() + at, text.size() - at);
    return fold_multiply(fold_multiply(state ^ tail, key | 1) ^ odd, odd);
}

}  // namespace odqa
