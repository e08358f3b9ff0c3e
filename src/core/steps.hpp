// What a normalizer does to a text: a list of steps, which Python hands over by name (profiles.py
// says the same names in words).
#pragma once
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ascii_fold.hpp"
#include "unicode.hpp"

namespace odqa {

enum class Step : int {
    strip, nfd, lower, quotes_to_space, remove_punctuation, punctuation_to_space,
    remove_unicode_punctuation, unicode_punctuation_to_space, remove_articles_re,
    remove_articles_regex, remove_articles_es, remove_articles_de, remove_articles_vi, squeeze,
    dpr_tokens, lower_tokens
};
inline constexpr const char* step_names[] = {
    "strip", "nfd", "lower", "quotes_to_space", "remove_punctuation", "punctuation_to_space",
    "remove_unicode_punctuation", "unicode_punctuation_to_space", "remove_articles_re",
    "remove_articles_regex", "remove_articles_es", "remove_articles_de", "remove_articles_vi",
    "squeeze", "dpr_tokens", "lower_tokens", nullptr,
};

// The articles of a language, and whose \b decides where one stands alone. No article has more than
// eight bytes.
struct Articles {
    Step step;
    uint8_t word;
    std::array<Text, 12> words;  // the rest are empty
};
inline constexpr Articles all_articles[] = {
    {Step::remove_articles_re, is_re_word, {"a", "an", "the"}},
    {Step::remove_articles_regex, is_regex_word, {"a", "an", "the"}},
    {Step::remove_articles_es, is_re_word,
     {"un", "una", "unos", "unas", "el", "la", "los", "las"}},
    {Step::remove_articles_de, is_re_word,
     {"ein", "eine", "einen", "einem", "eines", "einer", "der", "die", "das", "den", "dem", "des"}},
    {Step::remove_articles_vi, is_re_word,
     {"c\u1EE7a", "l\u00E0", "c\u00E1i", "chi\u1EBFc", "nh\u1EEFng"}},
};

inline const Articles* articles_of(Step step) {
    for (const Articles& articles : all_articles) {
        if (articles.step == step) return &articles;
    }
    return nullptr;
}

// What the steps leave: the text itself, the text without white space around it, words joined by one
// space, or DPR's tokens.
enum class Form : uint8_t { as_is, stripped, words, dpr_tokens };

class Steps {
public:
    static constexpr size_t most = 12;

    Steps() { note_what_stays(); }

    // Throws std::invalid_argument where no text comes of them.
    explicit Steps(const std::vector<Step>& steps) {
        if (steps.size() > most) throw std::invalid_argument("a normalizer has 12 steps at the most");
        for (const Step step : steps) list_[size_++] = step;
        form_ = form_of(steps);
        find_quick_way();
        note_what_stays();
    }

    Form form() const { return form_; }
    const Step* begin() const { return list_.data(); }
    const Step* end() const { return list_.data() + size_; }

    // Whether a text that holds this byte never normalizes to nothing: an ASCII letter that no article
    // has, or a digit.
    bool stays(char byte) const { return stays_[static_cast<unsigned char>(byte)]; }

    // Whether ASCII bytes can be looked at one by one: lower, punctuation, the English articles.
    bool is_quick() const { return quick_; }
    // The rest of the quick way: whether it is right for ASCII alone, whether punctuation is removed
    // (else it becomes a space), whether quotes become spaces, and whose word borders count.
    bool ascii_only() const { return ascii_only_; }
    bool removes_punctuation() const { return remove_; }
    bool blanks_quotes() const { return quotes_; }
    uint8_t word() const { return word_; }

private:
    static Form form_of(const std::vector<Step>& steps) {
        if (steps.empty()) return Form::as_is;
        if (steps == std::vector<Step>{Step::strip}) return Form::stripped;
        if (steps == std::vector<Step>{Step::nfd, Step::dpr_tokens, Step::lower_tokens}) {
            return Form::dpr_tokens;
        }
        for (const Step& step : steps) {
            const bool is_last = &step == &steps.back();
            const bool makes_tokens = step == Step::dpr_tokens || step == Step::lower_tokens;
            if (step == Step::strip || makes_tokens || (step == Step::squeeze) != is_last) {
                throw std::invalid_argument(
                    "the steps of a normalizer end in 'squeeze', or they are none, 'strip' alone, "
                    "or 'nfd', 'dpr_tokens', 'lower_tokens'");
            }
        }
        return Form::words;
    }

    void find_quick_way() {
        const Step* at = begin();
        const auto take = [&](Step step) { return at < end() && *at == step ? (++at, true) : false; };
        ascii_only_ = take(Step::nfd);
        if (!take(Step::lower)) return;
        quotes_ = take(Step::quotes_to_space);
        const bool unicode = take(Step::remove_unicode_punctuation);
        remove_ = unicode || take(Step::remove_punctuation);
        if (!remove_ && !take(Step::punctuation_to_space)) return;
        ascii_only_ |= unicode;
        const bool english = take(Step::remove_articles_re);
        if (!english && !take(Step::remove_articles_regex)) return;
        word_ = english ? is_re_word : is_regex_word;
        quick_ = take(Step::squeeze);
    }

    void note_what_stays() {
        for (uint32_t c = 0; c < 0x80; ++c) stays_[c] = is_ascii_alnum(c);
        for (const Step step : *this) {
            const Articles* const articles = articles_of(step);
            if (articles == nullptr) continue;
            for (const Text word : articles->words) {
                for (const char letter : word) {
                    const auto byte = static_cast<unsigned char>(letter);
                    stays_[byte] = stays_[byte & ~0x20u] = false;
                }
            }
        }
    }

    std::array<Step, most> list_{};
    size_t size_ = 0;
    Form form_ = Form::as_is;
    bool quick_ = false, ascii_only_ = false, remove_ = false, quotes_ = false;
    uint8_t word_ = is_re_word;
    std::array<bool, 256> stays_{};
};

// DPR's tokens, which has_answer compares.
inline const Steps dpr_steps({Step::nfd, Step::dpr_tokens, Step::lower_tokens});

}  // namespace odqa
