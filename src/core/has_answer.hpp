// DPR's has_answer without tokenizing the text: the longest token of an answer is searched for in
// the raw bytes, and borders and the other tokens are checked only where it stands.
#pragma once
#include "normalize.hpp"
#include "search.hpp"

namespace odqa {

// A few code points decompose into an ASCII character that is a token, or part of one, by itself:
// the Kelvin sign (k) and the five below. Everywhere else a token of ASCII stands in the raw text as
// it is, but for its case.
inline constexpr Text kelvin = "\xE2\x84\xAA";
inline bool hides_symbols(Text text) {
    for (const Text point : {Text("\xCD\xBE"), Text("\xE1\xBF\xAF"), Text("\xE2\x89\xA0"),
                             Text("\xE2\x89\xAE"), Text("\xE2\x89\xAF")}) {
        if (holds(text, point)) return true;
    }
    return false;
}

// One text, and whether the tokens of an answer stand in it in a row. An answer is given by its
// `dpr` NormalizedText.
class AnswerSearch {
public:
    // `text` must outlive the search.
    void start(Text text) {
        text_ = text;
        ascii_ = is_ascii(text);
        hides_k_ = hides_symbols_ = ascii_ ? Known::no : Known::unknown;
        whole_ready_ = false;
    }

    bool has(NormalizedText& answer) {
        const Tokens& tokens = answer.tokens();
        size_t anchor = 0, high = 0;
        for (size_t k = 0; k < tokens.size(); ++k) {
            high += !is_ascii(text_of(tokens[k]));
            if (tokens[k].size > tokens[anchor].size) anchor = k;
        }
        if (high != 0 && ascii_) return false;
        if (!hides(tokens)) {
            if (high == 0) return find(tokens, anchor);
            if (!find_plain_part(tokens)) return false;
        }
        if (!whole_ready_) {
            whole_.assign(text_, Normalizer::dpr);
            whole_ready_ = true;
        }
        return holds(whole_.text(), answer.text());
    }

private:
    enum class Known : uint8_t { unknown, no, yes };

    static Text text_of(const Span& token) { return Text(token.begin, token.size); }

    // Whether the text may hold one of the tokens in disguise.
    bool hides(const Tokens& tokens) {
        for (size_t k = 0; k < tokens.size(); ++k) {
            const Text token = text_of(tokens[k]);
            if (token.find('k') != Text::npos) {
                if (hides_k_ == Known::unknown) {
                    hides_k_ = holds(text_, kelvin) ? Known::yes : Known::no;
                }
                if (hides_k_ == Known::yes) return true;
            }
            if (token.size() == 1 && Text(";`=<>").find(token[0]) != Text::npos) {
                if (hides_symbols_ == Known::unknown) {
                    hides_symbols_ = odqa::hides_symbols(text_) ? Known::yes : Known::no;
                }
                if (hides_symbols_ == Known::yes) return true;
            }
        }
        return false;
    }

    // Whether the tokens, all ASCII, stand in the text in a row.
    bool find(const Tokens& tokens, size_t anchor) const {
        const Span& token = tokens[anchor];
        return scan_for(text_, text_of(token), true, [&](size_t at) {
            size_t begin = at, end = at;
            if (!take(token, end) || !starts_at(token, begin)) return false;
            for (size_t k = anchor + 1; k < tokens.size(); ++k) {
                skip_gap(end);
                if (!take(tokens[k], end)) return false;
            }
            for (size_t k = anchor; k > 0; --k) {
                skip_gap_back(begin);
                if (!take_back(tokens[k - 1], begin)) return false;
            }
            return true;
        });
    }

    // A look that can only rule out: the longest run of ASCII in a token must stand in the raw text,
    // less its last character where a mark follows, which may be written together with it.
    bool find_plain_part(const Tokens& tokens) const {
        Text longest;
        for (size_t k = 0; k < tokens.size(); ++k) {
            Text rest = text_of(tokens[k]);
            while (!rest.empty()) {
                const size_t run = ascii_prefix(rest);
                const size_t kept = run == rest.size() || run == 0 ? run : run - 1;
                if (kept > longest.size()) longest = rest.substr(0, kept);
                rest.remove_prefix(run == rest.size() ? run : run + 1);
            }
        }
        if (longest.empty()) return true;
        const Span part{longest.data(), longest.size()};
        return scan_for(text_, longest, true, [&](size_t at) { return equal_at(part, at); });
    }

    bool equal_at(const Span& token, size_t at) const {
        if (token.size > text_.size() - at) return false;
        for (size_t k = 0; k < token.size; ++k) {
            const auto byte = static_cast<unsigned char>(text_[at + k]);
            const unsigned char lowered =
                static_cast<uint32_t>(byte - 'A') < 26u ? byte | 0x20 : byte;
            if (lowered != static_cast<unsigned char>(token.begin[k])) return false;
        }
        return true;
    }

    // Moves `at` over the token, if it stands there and ends there.
    bool take(const Span& token, size_t& at) const {
        if (!equal_at(token, at)) return false;
        at += token.size;
        return !is_word(token) || at == text_.size() || !word_starts(at);
    }

    // Moves `at` back over the token, if it ends there and starts where it should.
    bool take_back(const Span& token, size_t& at) const {
        if (token.size > at || !equal_at(token, at - token.size)) return false;
        // Behind it stands a gap or the token after it, which both end a word only if not words.
        if (is_word(token) && at < text_.size() && word_starts(at)) return false;
        at -= token.size;
        return starts_at(token, at);
    }

    bool starts_at(const Span& token, size_t at) const {
        return !is_word(token) || at == 0 || !word_ends(at);
    }

    static bool is_word(const Span& token) {
        return is_ascii_alnum(static_cast<unsigned char>(token.begin[0]));
    }

    // What stands at a position counts as its decomposition does: by its first code point when
    // looked at from the left, by its last from the right.
    bool word_starts(size_t at) const {
        const auto byte = static_cast<unsigned char>(text_[at]);
        if (byte < 0x80) return is_ascii_alnum(byte);
        auto from = bytes() + at;
        return word_edge(next_code_point(from), false);
    }

    bool word_ends(size_t at) const {
        const auto byte = static_cast<unsigned char>(text_[at - 1]);
        if (byte < 0x80) return is_ascii_alnum(byte);
        auto from = bytes() + previous(at);
        return word_edge(next_code_point(from), true);
    }

    static bool word_edge(uint32_t c, bool last) {
        CodePoints parts;
        decompose(c, parts);
        return odqa::has(last ? parts.back() : parts.front(), is_token_word);
    }

    void skip_gap(size_t& at) const {
        while (at < text_.size()) {
            auto next = bytes() + at;
            if (!odqa::has(next_code_point(next), is_token_gap)) return;
            at = static_cast<size_t>(next - bytes());
        }
    }

    void skip_gap_back(size_t& at) const {
        while (at > 0) {
            const size_t before = previous(at);
            auto from = bytes() + before;
            if (!odqa::has(next_code_point(from), is_token_gap)) return;
            at = before;
        }
    }

    size_t previous(size_t at) const {
        do --at;
        while ((bytes()[at] & 0xC0) == 0x80);
        return at;
    }

    const unsigned char* bytes() const {
        return reinterpret_cast<const unsigned char*>(text_.data());
    }

    Text text_;
    bool ascii_ = true;
    Known hides_k_ = Known::no;
    Known hides_symbols_ = Known::no;
    bool whole_ready_ = false;
    NormalizedText whole_;
};

}  // namespace odqa
