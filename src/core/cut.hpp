// What two reference scorers cut off a prediction before they look at it.
#pragma once
#include "unicode.hpp"

namespace odqa {

enum class Cut : int { none, recomp, acorn };
inline constexpr const char* cut_names[] = {"none", "recomp", "acorn", nullptr};

// RECOMP: what follows the last "answer is ", as it stands; without one, the stripped text.
inline Text cut_recomp(Text text) {
    constexpr Text mark = "answer is ";
    const size_t at = text.rfind(mark);
    return at == Text::npos ? strip(text) : text.substr(at + mark.size());
}

// ACoRN: what stands before the earliest mark, stripped; without one, the text as it stands.
inline Text cut_acorn(Text text) {
    size_t end = Text::npos;
    for (const Text mark : {Text("Question:"), Text("\n\n"), Text("</s>")}) {
        end = std::min(end, text.find(mark));
    }
    return end == Text::npos ? text : strip(text.substr(0, end));
}

inline Text cut(Text text, Cut how) {
    switch (how) {
        case Cut::recomp: return cut_recomp(text);
        case Cut::acorn: return cut_acorn(text);
        default: return text;
    }
}

}  // namespace odqa
