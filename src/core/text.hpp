// UTF-8 in and out. Texts are validated once, where they enter; everything else here trusts them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace odqa {

using Text = std::string_view;
using CodePoints = std::vector<uint32_t>;

inline uint32_t next_code_point(const unsigned char*& at) {
    const unsigned char lead = *at;
    if (lead < 0x80) return *at++;
    if (lead < 0xE0) {
        const uint32_t c = (lead & 0x1Fu) << 6 | (at[1] & 0x3Fu);
        at += 2;
        return c;
    }
    if (lead < 0xF0) {
        const uint32_t c = (lead & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
        at += 3;
        return c;
    }
    const uint32_t c = (lead & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 |
                       (at[3] & 0x3Fu);
    at += 4;
    return c;
}

inline void decode(Text text, CodePoints& out) {
    out.clear();
    auto at = reinterpret_cast<const unsigned char*>(text.data());
    const auto end = at + text.size();
    while (at < end) out.push_back(next_code_point(at));
}

// Writes up to four bytes at `at` and returns where the next one goes.
inline char* put_code_point(char* at, uint32_t c) {
    if (c < 0x80) {
        *at++ = static_cast<char>(c);
    } else if (c < 0x800) {
        *at++ = static_cast<char>(0xC0 | c >> 6);
        *at++ = static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *at++ = static_cast<char>(0xE0 | c >> 12);
        *at++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *at++ = static_cast<char>(0x80 | (c & 0x3F));
    } else {
        *at++ = static_cast<char>(0xF0 | c >> 18);
        *at++ = static_cast<char>(0x80 | (c >> 12 & 0x3F));
        *at++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *at++ = static_cast<char>(0x80 | (c & 0x3F));
    }
    return at;
}

inline std::string encode(const CodePoints& points) {
    std::string out(points.size() * 4, '\0');
    char* at = out.data();
    for (const uint32_t c : points) at = put_code_point(at, c);
    out.resize(static_cast<size_t>(at - out.data()));
    return out;
}

inline uint64_t load8(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace odqa
