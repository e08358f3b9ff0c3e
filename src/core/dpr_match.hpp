// DPR's has_answer without tokenizing the text: a part of an answer that stands in the raw bytes as
// it is, but for ASCII case, is searched for, and the tokens are compared only where it stands.
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
// NormalizedText of `dpr_steps`.
class DprMatch {
public:
    // What an answer is searched by: a whole token of ASCII, else characters that stand in the raw
    // text as they are, else the longest run of ASCII in a token.
    struct Clue {
        Text text;
        size_t token = 0;
        bool high = false;  // the answer holds more than ASCII
        Anchor<3> anchor{};
    };

    static Text text_of(Token token) { return Text(token.begin, token.size); }

    // The first run of characters above ASCII that the raw text can only hold as they are.
    static Text unmistakable_part(Text token) {
        const auto begin = reinterpret_cast<const unsigned char*>(token.data());
        const auto end = begin + token.size();
        auto at = begin;
        const unsigned char* first = nullptr;
        const unsigned char* last = begin;
        while (at < end) {
            const auto here = at;
            const uint32_t c = next_code_point(at);
            if (c >= 0x80 && odqa::has(c, is_unmistakable)) {
                if (first == nullptr) first = here;
                last = at;
            } else if (first != nullptr) {
                break;
            }
        }
        if (first == nullptr) return Text();
        return token.substr(static_cast<size_t>(first - begin), static_cast<size_t>(last - first));
    }

    static void find_clue(const Tokens& tokens, Clue& clue) {
        clue.text = Text();
        clue.token = 0;
        clue.high = false;
        for (size_t k = 0; k < tokens.size(); ++k) {
            const Text token = text_of(tokens[k]);
            if (!is_ascii(token)) clue.high = true;
            else if (token.size() > clue.text.size()) clue.text = token, clue.token = k;
        }
        for (size_t k = 0; k < tokens.size() && clue.text.empty(); ++k) {
            clue.text = unmistakable_part(text_of(tokens[k]));
            clue.token = k;
        }
        if (clue.text.empty()) clue_within(tokens, clue);
        if (!clue.text.empty()) clue.anchor = strict_anchor_of(clue.text);
    }

    // The longest run of ASCII that is a part of a token.
    static void clue_within(const Tokens& tokens, Clue& clue) {
        for (size_t k = 0; k < tokens.size(); ++k) {
            for (Text rest = text_of(tokens[k]); !rest.empty();) {
                const size_t run = ascii_prefix(rest);
                // The last character may be written together with a mark that follows it.
                const size_t kept = run == rest.size() || run == 0 ? run : run - 1;
                if (kept > clue.text.size()) clue.text = rest.substr(0, kept), clue.token = k;
                rest.remove_prefix(std::min(run + 1, rest.size()));
            }
        }
    }

    // `text` must outlive the search.
    void start(Text text) {
        text_ = text;
        ascii_ = is_ascii(text);
        hides_k_ = hides_symbols_ = ascii_ ? Known::no : Known::unknown;
        whole_ready_ = false;
    }

    bool has(NormalizedText& answer, const Clue& clue) {
        const Tokens& tokens = answer.tokens();
        place_ = Text::npos;
        if (ascii_ && clue.high) return false;
        if (!clue.text.empty() && (ascii_ || !hides(tokens))) {
            unsure_ = false;
            const bool found = find(tokens, clue);
            if (!unsure_) return found;
            place_ = Text::npos;
        }
        if (!whole_ready_) {
            whole_.assign(text_, dpr_steps);
            whole_ready_ = true;
        }
        return holds(whole_.text(), answer.text());
    }

    // The byte at which the answer that was found begins; npos where it was found in a decomposed
    // copy of the text only.
    size_t place() const { return place_; }

private:
    enum class Known : uint8_t { unknown, no, yes };

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

    // Whether the tokens stand in the text in a row, the clue's at some place of the clue.
    bool find(const Tokens& tokens, const Clue& clue) {
        size_t compared = 0;
        const bool stopped = scan_at(text_, clue.anchor, clue.text.size(), [&](size_t at) {
            // Most places are none for a reason that a byte tells.
            if (!equal_lowered(clue.text, text_.substr(at, clue.text.size()))) {
                return is_too_much(compared += clue.text.size(), text_);
            }
            size_t begin = token_start(at), end = token_end(at);
            if (stand_around(tokens, clue.token, begin, end)) {
                place_ = begin;
                return true;
            }
            return is_too_much(compared += end - begin, text_);
        });
        return stopped &&
               (!is_too_much(compared, text_) || find_in_linear_time(tokens));
    }

    // Whether [begin, end) is the token of that number and the others stand around it; grows to what
    // was looked at.
    bool stand_around(const Tokens& tokens, size_t number, size_t& begin, size_t& end) {
        if (!equal(tokens[number], begin, end)) return false;
        for (size_t k = number + 1; k < tokens.size(); ++k) {
            skip_gap(end);
            const size_t start = end;
            end = token_end(start);
            if (!equal(tokens[k], start, end)) return false;
        }
        for (size_t k = number; k > 0; --k) {
            skip_gap_back(begin);
            const size_t stop = begin;
            if (stop == 0) return false;
            begin = token_start(previous(stop));
            if (!equal(tokens[k - 1], begin, stop)) return false;
        }
        return true;
    }

    // The same, the text cut into tokens from its start, and none of them looked at again (Knuth,
    // Morris and Pratt 1977).
    [[gnu::noinline]] bool find_in_linear_time(const Tokens& tokens) {
        const size_t n = tokens.size();
        // How many tokens at the start of the answer also end its first k + 1, but not from its start.
        borders_.assign(n, 0);
        for (size_t k = 1, border = 0; k < n; ++k) {
            while (border > 0 && text_of(tokens[k]) != text_of(tokens[border])) {
                border = borders_[border - 1];
            }
            border += text_of(tokens[k]) == text_of(tokens[border]);
            borders_[k] = border;
        }
        starts_.resize(n);  // of the last n tokens of the text
        size_t end = 0, matched = 0;
        for (size_t count = 0;; ++count) {
            skip_gap(end);
            if (end == text_.size()) return false;
            const size_t begin = end;
            end = token_end(begin);
            starts_[count % n] = begin;
            bool same = equal(tokens[matched], begin, end);
            while (!same && matched > 0) {
                matched = borders_[matched - 1];
                same = equal(tokens[matched], begin, end);
            }
            matched += same;
            if (matched == n) {
                place_ = starts_[(count + 1) % n];
                return true;
            }
        }
    }

    static bool equal_lowered(Text lowered, Text text) {
        if (lowered.size() != text.size()) return false;
        for (size_t k = 0; k < text.size(); ++k) {
            const auto byte = static_cast<unsigned char>(text[k]);
            const uint32_t lower = byte - uint32_t{'A'} < 26u ? byte | 0x20u : byte;
            if (lower != static_cast<unsigned char>(lowered[k])) return false;
        }
        return true;
    }

    // Whether the raw text [begin, end), one token, is this one once decomposed and lowered.
    bool equal(Token token, size_t begin, size_t end) {
        const Text raw = text_.substr(begin, end - begin);
        if (equal_lowered(text_of(token), raw)) return true;
        if (is_ascii(raw) || is_ascii(text_of(token))) return false;
        piece_.assign(raw, dpr_steps);
        return piece_.tokens().size() == 1 && text_of(piece_.tokens()[0]) == text_of(token);
    }

    // A run of word characters, or one other character that is no gap. A decomposition keeps a
    // word a word and a gap a gap; only other characters may fall apart into both kinds.
    bool is_word(size_t at) {
        const auto byte = static_cast<unsigned char>(text_[at]);
        if (byte < 0x80) return is_ascii_alnum(byte);
        auto from = bytes() + at;
        const uint32_t c = next_code_point(from);
        if (odqa::has(c, is_token_word)) return true;
        if (!odqa::has(c, is_token_gap)) {
            parts_.clear();
            decompose(c, parts_);
            unsure_ |= parts_.size() > 1 || parts_[0] != c;
        }
        return false;
    }

    size_t token_start(size_t at) {
        if (!is_word(at)) return at;
        while (at > 0) {
            const size_t before = previous(at);
            if (!is_word(before)) break;
            at = before;
        }
        return at;
    }

    size_t token_end(size_t at) {
        if (at == text_.size()) return at;
        const bool word = is_word(at);
        do at = next(at);
        while (word && at < text_.size() && is_word(at));
        return at;
    }

    size_t next(size_t at) const {
        do ++at;
        while (at < text_.size() && (bytes()[at] & 0xC0) == 0x80);
        return at;
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
    size_t place_ = Text::npos;
    bool ascii_ = true;
    Known hides_k_ = Known::no;
    Known hides_symbols_ = Known::no;
    bool whole_ready_ = false;
    bool unsure_ = false;  // a character was met that may be more than one token
    NormalizedText whole_, piece_;
    CodePoints parts_;
    std::vector<size_t> borders_, starts_;
};

}  // namespace odqa
