// The lines of a block of JSON Lines, looked at from outside.
#pragma once
#include <cstring>

#include "text.hpp"

namespace odqa {

struct LineCount {
    size_t newlines = 0;
    size_t objects = 0;     // lines that begin with "{" and end with "}", blanks aside
    bool only_objects = true;  // every line that is not blank is such a line
};

inline bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

inline LineCount count_lines(Text block) {
    LineCount count;
    const char* at = block.data();
    const char* const end = at + block.size();
    while (at < end) {
        const auto* newline =
            static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
        const char* last = newline == nullptr ? end : newline;
        count.newlines += newline != nullptr;
        const char* const next = newline == nullptr ? end : newline + 1;
        while (at < last && is_json_blank(*at)) ++at;
        while (at < last && is_json_blank(last[-1])) --last;
        if (at < last) {
            if (*at == '{' && last[-1] == '}') ++count.objects;
            else count.only_objects = false;
        }
        at = next;
    }
    return count;
}

}  // namespace odqa
