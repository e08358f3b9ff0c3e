// A text as a profile sees it: normalized, and cut into tokens.
//
// One generic pipeline over code points serves every normalizer; texts of ASCII letters, digits,
// punctuation and white space (nearly all of them) take a fused byte loop that gives the same
// result. The tests hold the two equal.
#pragma once
#include "tokens.hpp"
#include "unicode.hpp"

namespace odqa {

enum class Normalizer : int { raw, strip, squad, regex, triviaqa, orqa, dpr };
enum class Punctuation { keep, remove, to_space };
enum class Articles { keep, re, regex };

// What a normalizer does, in this order; profiles.py tells the same steps in words.
struct Steps {
    bool nfd;
    bool lower;
    Punctuation punctuation;  // the 32 ASCII characters of string.punctuation
    bool quotes;              // TriviaQA's further marks count as punctuation
    Articles articles;        // whose \b decides where "a", "an", "the" stand alone
};

inline constexpr Steps steps_of(Normalizer normalizer) {
    switch (normalizer) {
        case Normalizer::squad:
            return {false, true, Punctuation::remove, false, Articles::re};
        case Normalizer::regex:
            return {false, true, Punctuation::remove, false, Articles::regex};
        case Normalizer::triviaqa:
            return {false, true, Punctuation::to_space, true, Articles::re};
        case Normalizer::orqa:
            return {true, true, Punctuation::remove, false, Articles::re};
        default:
            return {false, false, Punctuation::keep, false, Articles::keep};
    }
}

inline constexpr bool is_ascii_alnum(uint32_t c) {
    return c - '0' < 10u || c - 'a' < 26u || c - 'A' < 26u;
}
inline constexpr bool is_ascii_space(uint32_t c) {
    return c == ' ' || c - 9 < 5u || c - 0x1C < 4u;
}
inline constexpr bool is_ascii_punctuation(uint32_t c) {
    return c > ' ' && c < 0x7F && !is_ascii_alnum(c);
}

// What the byte loop does with a byte: the lowered letter or digit itself, or one of these.
enum ByteAction : uint8_t { act_remove, act_gap, act_rare, act_write };

struct ByteActions {
    uint8_t of[256];
};

inline constexpr ByteActions byte_actions(Punctuation punctuation) {
    ByteActions actions{};
    for (uint32_t c = 0; c < 256; ++c) {
        uint8_t action = act_rare;
        if (c < 0x80 && is_ascii_alnum(c)) action = static_cast<uint8_t>(c | 0x20);
        else if (is_ascii_space(c)) action = act_gap;
        else if (is_ascii_punctuation(c))
            action = punctuation == Punctuation::remove ? act_remove : act_gap;
        actions.of[c] = action;
    }
    return actions;
}

class NormalizedText {
public:
    // The normalized text. For `dpr` every token stands between two 0xFF bytes, which no UTF-8
    // holds, so that a run of whole tokens is found by plain substring search.
    Text text() const { return text_; }
    const Tokens& tokens() const { return tokens_; }
    bool empty() const { return normalizer_ == Normalizer::dpr ? tokens_.empty() : text_.empty(); }

    // `source` must outlive the result: `raw` and `strip` point into it. `unicode_only` leaves the
    // byte loop out, for the tests.
    void assign(Text source, Normalizer normalizer, bool unicode_only = false) {
        normalizer_ = normalizer;
        tokens_.clear();
        switch (normalizer) {
            case Normalizer::raw:
            case Normalizer::strip:
                text_ = normalizer == Normalizer::strip ? odqa::strip(source) : source;
                split(text_);
                return;
            case Normalizer::dpr:
                dpr_tokens(source);
                return;
            default:
                break;
        }
        const Steps steps = steps_of(normalizer);
        if (unicode_only || !ascii_loop(source, steps.punctuation)) pipeline(source, steps);
    }

private:
    // A token is written straight behind the last; an article or nothing is taken back.
    void end_token(char* begin, char*& token, char*& at, bool drop_article) {
        const auto size = static_cast<size_t>(at - token);
        if (size == 0) return;
        if (drop_article && is_article(token, size)) {
            at = token;
            return;
        }
        tokens_.push_back(Token::at(begin, static_cast<size_t>(token - begin), size));
        *at++ = ' ';
        token = at;
    }

    static bool is_article(const char* token, size_t size) {
        return (size == 1 && token[0] == 'a') || (size == 2 && token[0] == 'a' && token[1] == 'n') ||
               (size == 3 && token[0] == 't' && token[1] == 'h' && token[2] == 'e');
    }

    void finish(const char* begin, const char* at) {
        text_ = Text(begin, tokens_.empty() ? 0 : static_cast<size_t>(at - begin) - 1);
    }

    // False when the text holds a byte outside the common ASCII set; nothing is kept then. In that
    // set every word border is a token border, so an article is always a whole token.
    bool ascii_loop(Text source, Punctuation punctuation) {
        static constexpr ByteActions removing = byte_actions(Punctuation::remove);
        static constexpr ByteActions spacing = byte_actions(Punctuation::to_space);
        const uint8_t* actions =
            punctuation == Punctuation::remove ? removing.of : spacing.of;
        char* const begin = buffer_.room(source.size() + 1);
        char* at = begin;
        char* token = begin;
        for (const char byte : source) {
            const uint8_t action = actions[static_cast<unsigned char>(byte)];
            if (action >= act_write) {
                *at++ = static_cast<char>(action);
            } else if (action == act_gap) {
                end_token(begin, token, at, true);
            } else if (action == act_rare) {
                tokens_.clear();
                return false;
            }
        }
        end_token(begin, token, at, true);
        finish(begin, at);
        return true;
    }

    void pipeline(Text source, const Steps& steps) {
        decode(source, points_);
        if (steps.nfd) {
            nfd(points_, spare_);
            points_.swap(spare_);
        }
        if (steps.lower) {
            spare_.clear();
            lower(points_.data(), points_.size(), spare_);
            points_.swap(spare_);
        }
        punctuate(steps);
        write_tokens(steps.articles);
    }

    void punctuate(const Steps& steps) {
        if (steps.punctuation == Punctuation::keep) return;
        size_t kept = 0;
        for (const uint32_t c : points_) {
            const bool mark =
                is_ascii_punctuation(c) ||
                (steps.quotes && (c == 0x2018 || c == 0x2019 || c == 0xB4));
            if (!mark) points_[kept++] = c;
            else if (steps.punctuation == Punctuation::to_space) points_[kept++] = ' ';
        }
        points_.resize(kept);
    }

    // Removes articles, squeezes white space, writes UTF-8. Replacing each maximal run of word
    // characters that is an article by a gap is what re.sub(r"\b(a|an|the)\b", " ") does.
    void write_tokens(Articles articles) {
        const uint8_t word = articles == Articles::regex ? is_regex_word : is_re_word;
        // "_" is a word character of re as well; none is left once punctuation has gone.
        char* const begin = buffer_.room(points_.size() * 4 + 1);
        char* at = begin;
        char* token = begin;
        for (size_t i = 0; i < points_.size();) {
            const uint32_t c = points_[i];
            if (has(c, is_space)) {
                end_token(begin, token, at, false);
                ++i;
                continue;
            }
            size_t end = i + 1;
            if (articles != Articles::keep && has(c, word)) {
                while (end < points_.size() && has(points_[end], word)) ++end;
                if (article_run(i, end)) {
                    end_token(begin, token, at, false);
                    i = end;
                    continue;
                }
            }
            for (; i < end; ++i) at = put_code_point(at, points_[i]);
        }
        end_token(begin, token, at, false);
        finish(begin, at);
    }

    bool article_run(size_t i, size_t end) const {
        if (end - i > 3) return false;
        char run[3];
        for (size_t k = i; k < end; ++k) {
            if (points_[k] >= 0x80) return false;
            run[k - i] = static_cast<char>(points_[k]);
        }
        return is_article(run, end - i);
    }

    // str.split() of a text that stays as it is.
    void split(Text text) {
        auto at = reinterpret_cast<const unsigned char*>(text.data());
        const auto begin = at;
        const auto end = at + text.size();
        const unsigned char* token = at;
        const auto close = [&](const unsigned char* here) {
            if (here == token) return;
            tokens_.push_back(Token::within(text, static_cast<size_t>(token - begin),
                                            static_cast<size_t>(here - token)));
        };
        while (at < end) {
            const auto here = at;
            if (has(next_code_point(at), is_space)) {
                close(here);
                token = at;
            }
        }
        close(end);
    }

    // DPR's SimpleTokenizer on the NFD text, each token lowered by itself.
    void dpr_tokens(Text source) {
        decode(source, spare_);
        nfd(spare_, points_);
        char* const begin = buffer_.room(points_.size() * 5 + 1);
        char* at = begin;
        *at++ = '\xFF';
        for (size_t i = 0; i < points_.size();) {
            size_t end = i + 1;
            if (has(points_[i], is_token_word)) {
                while (end < points_.size() && has(points_[end], is_token_word)) ++end;
            } else if (has(points_[i], is_token_gap)) {
                i = end;
                continue;
            }
            spare_.clear();
            lower(points_.data() + i, end - i, spare_);
            char* const token = at;
            for (const uint32_t c : spare_) at = put_code_point(at, c);
            tokens_.push_back(Token::at(begin, static_cast<size_t>(token - begin),
                                        static_cast<size_t>(at - token)));
            *at++ = '\xFF';
            i = end;
        }
        text_ = Text(begin, static_cast<size_t>(at - begin));
    }

    Normalizer normalizer_ = Normalizer::raw;
    Text text_;
    Tokens tokens_;
    Buffer buffer_;
    CodePoints points_, spare_;
};

}  // namespace odqa
