// A text as a profile sees it: normalized, and cut into tokens.
//
// The quick way is by bytes (ascii_fold.hpp), with the code points above ASCII mended in place. A text
// that it cannot serve takes the pipeline over code points, which serves every text and all steps
// and gives the same tokens; the tests hold the two equal.
#pragma once
#include "ascii.hpp"
#include "ascii_fold.hpp"
#include "steps.hpp"
#include "tokens.hpp"
#include "unicode.hpp"

namespace odqa {

class NormalizedText {
public:
    // `source` must outlive the result: `as_is` and `stripped` point into it. `unicode_only` leaves
    // the quick way out, for the tests.
    void assign(Text source, const Steps& steps, bool unicode_only = false) {
        form_ = steps.form();
        joined_ = is_verbatim();
        if (joined_) {
            tokens_.clear();
            text_ = form_ == Form::stripped ? odqa::strip(source) : source;
        } else {
            tokenize(source, steps, unicode_only);
        }
    }

    const Tokens& tokens() const { return tokens_; }

    bool empty() const { return is_verbatim() ? text_.empty() : tokens_.empty(); }

    // The normalized text: the tokens joined by one space. Of DPR's every token stands between two
    // 0xFF bytes, which no UTF-8 holds, so that a run of whole tokens is found by plain substring
    // search.
    Text text() {
        if (!joined_) join(form_ == Form::dpr_tokens ? '\xFF' : ' ');
        return text_;
    }

    // Whether the normalized texts are equal, for two texts of the same steps.
    bool operator==(const NormalizedText& other) const {
        return is_verbatim() ? text_ == other.text_ : tokens_ == other.tokens_;
    }

    // Whether the text normalizes to nothing: nearly every text is decided by its first bytes.
    bool vanishes(Text source, const Steps& steps) {
        for (const char byte : source) {
            if (steps.stays(byte)) return false;
        }
        assign(source, steps);
        return empty();
    }

    // The tokens of str.split(), for a text that stays as it is.
    void split() {
        char* const begin = bytes_.of(text_.size() + 8);
        tokens_.start(begin, text_.size(), text_.size() / 2 + 1);
        std::memcpy(begin, text_.data(), text_.size());
        auto at = reinterpret_cast<const unsigned char*>(begin);
        const auto end = at + text_.size();
        auto token = at;
        const auto close = [&](const unsigned char* here) {
            if (here == token) return;
            tokens_.push(reinterpret_cast<const char*>(token), static_cast<size_t>(here - token));
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

private:
    bool is_verbatim() const { return form_ == Form::as_is || form_ == Form::stripped; }

    [[gnu::noinline]] void tokenize(Text source, const Steps& steps, bool unicode_only) {
        if (form_ == Form::dpr_tokens) {
            if (!unicode_only && is_ascii(source)) dpr_ascii_tokens(source);
            else dpr_tokens(source);
        } else if (unicode_only || !steps.is_quick() || !quick(source, steps)) {
            pipeline(source, steps);
        }
    }

    static bool is_quote(uint32_t c) { return c == 0x2018 || c == 0x2019 || c == 0xB4; }

    // "a", "an", "the", by the first eight bytes of a word, zero-padded; no word holds a zero byte.
    static bool is_article(uint64_t head) {
        constexpr uint64_t a = 'a', an = 'a' | 'n' << 8, the = 't' | 'h' << 8 | 'e' << 16;
        return (head == a) | (head == an) | (head == the);
    }

    void join(char separator) {
        size_t size = 2;
        for (size_t k = 0; k < tokens_.size(); ++k) size += tokens_[k].size + 1;
        char* const begin = joined_bytes_.of(size);
        char* at = begin;
        const bool framed = separator != ' ';
        if (framed) *at++ = separator;
        for (size_t k = 0; k < tokens_.size(); ++k) {
            std::memcpy(at, tokens_[k].begin, tokens_[k].size);
            at += tokens_[k].size;
            *at++ = separator;
        }
        if (!framed && !tokens_.empty()) --at;
        text_ = Text(begin, static_cast<size_t>(at - begin));
        joined_ = true;
    }

    // False where only the pipeline is right; nothing is kept then.
    bool quick(Text source, const Steps& steps) {
        Squeezed squeezed(bytes_.of(source.size() + squeeze_slack),
                          gaps_.of(source.size() / 64 + 3), highs_.of(source.size() / 64 + 3));
        if (!squeeze(source.data(), source.size(), steps.removes_punctuation(), squeezed)) {
            return false;
        }
        bool borders = false;
        if (squeezed.high && (steps.ascii_only() || !mend(squeezed, steps, borders))) return false;
        return cut_tokens(squeezed, borders ? steps.word() : 0);
    }

    // Lowers the code points above ASCII where they lie and turns white space into gaps. False
    // where a length changes or the context decides. `borders` is set when one of them is no word
    // character, so that a word border may lie inside a token.
    static bool mend(Squeezed& squeezed, const Steps& steps, bool& borders) {
        const uint8_t word_property = steps.word();
        size_t next = 0;  // behind the code point that was looked at last
        for (size_t word = 0; word <= squeezed.size >> 6; ++word) {
            uint64_t bits = squeezed.highs[word];
            if (next > word << 6) bits &= ~lowest_bits(next - (word << 6));
            while (bits != 0) {
                const size_t at = word << 6 | static_cast<size_t>(__builtin_ctzll(bits));
                const auto begin = reinterpret_cast<unsigned char*>(squeezed.bytes) + at;
                const unsigned char* end = begin;
                const uint32_t c = next_code_point(end);
                const auto width = static_cast<size_t>(end - begin);
                const uint32_t record = record_of(c);
                const uint8_t flags = tables::flags[record];
                const int32_t delta = tables::lower_delta[record];
                if (c == 0x3A3 || c == 0x130) return false;
                if (delta != 0) {
                    char lowered[4];
                    const char* last = put_code_point(lowered, c + static_cast<uint32_t>(delta));
                    if (static_cast<size_t>(last - lowered) != width) return false;
                    std::memcpy(begin, lowered, width);
                }
                if ((flags & is_space) || (steps.blanks_quotes() && is_quote(c))) {
                    for (size_t k = at; k < at + width; ++k) {
                        squeezed.gaps[k >> 6] |= uint64_t{1} << (k & 63);
                    }
                } else {
                    borders |= !(flags & word_property);
                }
                next = at + width;
                bits &= ~(lowest_bits(width) << (at & 63));
            }
        }
        return true;
    }

    // Tokens are the runs between gaps, less the articles. With `inner` (a word property) a token
    // may hold a word border: false where an article stands at one, which only the pipeline cuts.
    bool cut_tokens(const Squeezed& squeezed, uint8_t inner) {
        tokens_.start(squeezed.bytes, squeezed.size, squeezed.size / 2 + 1);
        const size_t last = squeezed.size >> 6;
        squeezed.gaps[last] |= uint64_t{1} << (squeezed.size & 63);
        size_t start = 0;
        for (size_t word = 0; word <= last; ++word) {
            for (uint64_t bits = squeezed.gaps[word]; bits != 0; bits &= bits - 1) {
                const size_t end = word << 6 | static_cast<size_t>(__builtin_ctzll(bits));
                const char* const begin = squeezed.bytes + start;
                const size_t size = end - start;
                start = end + 1;
                const uint64_t head = Tokens::head_of(begin, size);
                const bool kept = (size != 0) & !is_article(head);
                if (inner != 0 && kept && article_inside(Text(begin, size), inner)) return false;
                tokens_.push_if(kept, begin, size, head);
            }
        }
        return true;
    }

    static bool article_inside(Text token, uint8_t word) {
        auto at = reinterpret_cast<const unsigned char*>(token.data());
        const auto end = at + token.size();
        const unsigned char* run = at;
        const auto is_article_run = [&](const unsigned char* until) {
            const auto size = static_cast<size_t>(until - run);
            uint64_t head = 0;
            std::memcpy(&head, run, std::min<size_t>(size, 8));
            return is_article(head);
        };
        while (at < end) {
            const auto here = at;
            if (has(next_code_point(at), word)) continue;
            if (is_article_run(here)) return true;
            run = at;
        }
        return is_article_run(end);
    }

    void pipeline(Text source, const Steps& steps) {
        decode(source, points_);
        for (const Step step : steps) take(step);
        write_tokens();
    }

    void take(Step step) {
        switch (step) {
            case Step::nfd:
                nfd(points_, spare_);
                points_.swap(spare_);
                break;
            case Step::lower:
                spare_.clear();
                lower(points_.data(), points_.size(), spare_);
                points_.swap(spare_);
                break;
            case Step::quotes_to_space: return to_space(is_quote);
            case Step::remove_punctuation: return remove(is_ascii_punctuation);
            case Step::punctuation_to_space: return to_space(is_ascii_punctuation);
            case Step::remove_unicode_punctuation: return remove(is_any_punctuation);
            case Step::unicode_punctuation_to_space: return to_space(is_any_punctuation);
            default:  // the words are cut apart when they are written
                if (const Articles* const articles = articles_of(step)) blank(*articles);
        }
    }

    static bool is_any_punctuation(uint32_t c) {
        return is_ascii_punctuation(c) || is_punctuation(c);
    }

    template <class Predicate>
    void remove(Predicate is_one) {
        points_.erase(std::remove_if(points_.begin(), points_.end(), is_one), points_.end());
    }

    template <class Predicate>
    void to_space(Predicate is_one) {
        std::replace_if(points_.begin(), points_.end(), is_one, uint32_t{' '});
    }

    // Replacing each maximal run of word characters that is an article by a space is what
    // re.sub(r"\b(a|an|the)\b", " ") does.
    void blank(const Articles& articles) {
        const auto is_word = [&](uint32_t c) { return has(c, articles.word) || c == '_'; };
        size_t kept = 0;
        for (size_t i = 0; i < points_.size();) {
            size_t end = i + 1;
            if (is_word(points_[i])) {
                while (end < points_.size() && is_word(points_[end])) ++end;
                if (is_article(articles, i, end)) {
                    points_[kept++] = ' ';
                    i = end;
                    continue;
                }
            }
            while (i < end) points_[kept++] = points_[i++];
        }
        points_.resize(kept);
    }

    bool is_article(const Articles& articles, size_t i, size_t end) const {
        if (end - i > 8) return false;
        char bytes[8 * 4];
        char* at = bytes;
        while (i < end) at = put_code_point(at, points_[i++]);
        const Text run(bytes, static_cast<size_t>(at - bytes));
        return std::find(articles.words.begin(), articles.words.end(), run) != articles.words.end();
    }

    // Splits at white space.
    void write_tokens() {
        char* const begin = bytes_.of(points_.size() * 4 + 8);
        tokens_.start(begin, points_.size() * 4, points_.size() / 2 + 1);
        char* at = begin;
        char* token = begin;
        const auto close = [&] {
            if (at != token) tokens_.push(token, static_cast<size_t>(at - token));
            token = at;
        };
        for (const uint32_t c : points_) {
            if (has(c, is_space)) close();
            else at = put_code_point(at, c);
        }
        close();
    }

    // DPR's tokens of a text of ASCII: NFD changes nothing, and lowering looks at single bytes.
    void dpr_ascii_tokens(Text source) {
        char* at = bytes_.of(source.size() + 8);
        tokens_.start(at, source.size(), source.size());
        char* token = at;
        const auto close = [&] {
            if (at != token) tokens_.push(token, static_cast<size_t>(at - token));
            token = at;
        };
        for (const char byte : source) {
            const uint8_t kind = byte_kinds[static_cast<unsigned char>(byte)];
            if (kind != kind_word) close();
            if (kind == kind_space || kind == kind_control) continue;
            *at++ = static_cast<char>(static_cast<uint32_t>(byte - 'A') < 26u ? byte | 0x20 : byte);
            if (kind == kind_punctuation) close();
        }
        close();
    }

    // DPR's SimpleTokenizer on the NFD text, each token lowered by itself.
    void dpr_tokens(Text source) {
        decode(source, spare_);
        nfd(spare_, points_);
        char* at = bytes_.of(points_.size() * 4 + 8);
        tokens_.start(at, points_.size() * 4, points_.size());
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
            tokens_.push(token, static_cast<size_t>(at - token));
            i = end;
        }
    }

    Form form_ = Form::as_is;
    bool joined_ = true;  // whether text_ is up to date
    Text text_;
    Tokens tokens_;
    Room<char> bytes_, joined_bytes_;
    Room<uint64_t> gaps_, highs_;
    CodePoints points_, spare_;
};

}  // namespace odqa
