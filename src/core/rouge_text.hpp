// The words of a text as the ROUGE implementations cut them, and where its sentences end.
//
// ascii:   Google's rouge_score 0.1.2: lower case, runs of a-z and 0-9; sentences are lines.
// unicode: runs of letters, marks and numbers (categories L, M, N) of the lower-cased text, every
//          Chinese character and kana a word of its own; the same as ascii on ASCII text.
// pltrdy:  the `rouge` package: sentences end at "."; each is split at white space, and one of
//          nothing but white space holds one empty word.
#pragma once
#include "porter.hpp"
#include "tokens.hpp"
#include "unicode.hpp"

namespace odqa {

enum class Words : int { ascii, unicode, pltrdy };

// Lower-cases at most 64 ASCII bytes (and writes 64); bit k is set where byte k is a letter or digit,
// and `high` is not 0 where some byte is not ASCII.
struct WordBits {
    uint64_t words, high;
};

inline WordBits lower_words_scalar(const char* in, size_t size, char* out) {
    WordBits found{0, 0};
    for (size_t k = 0; k < size; ++k) {
        const uint32_t c = static_cast<unsigned char>(in[k]);
        const uint32_t low = c + ((c - 'A' < 26u) << 5);
        out[k] = static_cast<char>(low);
        const bool word = low - 'a' < 26u || low - '0' < 10u;
        found.words |= static_cast<uint64_t>(word) << k;
        found.high |= c & 0x80u;
    }
    return found;
}

#ifdef ODQA_X86

// By a signed comparison, after moving the range down to the lowest numbers.
ODQA_AVX2 inline __m256i within(__m256i c, int first, int count) {
    const __m256i moved = _mm256_add_epi8(c, _mm256_set1_epi8(static_cast<char>(-128 - first)));
    return _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(-128 + count)), moved);
}

ODQA_AVX2 inline WordBits lower_words_avx2(const char* in, size_t size, char* out) {
    WordBits found{0, 0};
    char rest[64] = {};
    if (size < 64) in = static_cast<const char*>(std::memcpy(rest, in, size));
    for (size_t k = 0; k < 64; k += 32) {
        const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + k));
        const __m256i low =
            _mm256_or_si256(c, _mm256_and_si256(within(c, 'A', 26), _mm256_set1_epi8(0x20)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k), low);
        const __m256i word = _mm256_or_si256(within(low, 'a', 26), within(low, '0', 10));
        found.words |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(word))} << k;
        found.high |= static_cast<uint32_t>(_mm256_movemask_epi8(c));
    }
    return found;
}

ODQA_AVX512 inline WordBits lower_words_avx512(const char* in, size_t size, char* out) {
    const __m512i c = _mm512_maskz_loadu_epi8(~__mmask64{0} >> (64 - size), in);
    const __mmask64 upper =
        _mm512_cmplt_epu8_mask(_mm512_sub_epi8(c, _mm512_set1_epi8('A')), _mm512_set1_epi8(26));
    const __m512i low = _mm512_or_si512(c, _mm512_maskz_set1_epi8(upper, 0x20));
    _mm512_storeu_si512(out, low);
    const __mmask64 letter =
        _mm512_cmplt_epu8_mask(_mm512_sub_epi8(low, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
    const __mmask64 digit =
        _mm512_cmplt_epu8_mask(_mm512_sub_epi8(low, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
    return {letter | digit, _mm512_movepi8_mask(c)};
}

#endif

// Writes the places of the first `count` bits that are set, past those of `bits` anything: a loop whose
// end nothing foretells costs more than the places that are written for nothing.
template <size_t count>
[[gnu::always_inline]] inline void write_places(uint64_t& bits, const char* begin,
                                                const char** out) {
    for (size_t k = 0; k < count; ++k) {
        out[k] = begin + __builtin_ctzll(bits | uint64_t{1} << 63);
        bits &= bits - 1;
    }
}

// Writes a text lower-cased and appends its words; returns whether some byte is not ASCII. There must
// be room for whole blocks at `out`, for the sixteen bytes that may be read behind a word, and for 64
// places more than the text has bytes at `borders`.
template <class Lower>
[[gnu::always_inline]] inline bool cut_words(const char* in, size_t size, char* out,
                                             const char** borders, Tokens& tokens, Lower lower) {
    uint64_t high = 0, last = 0;
    size_t count = 0;
    for (size_t at = 0; at < size; at += 64) {
        // A text is too short for the processor to see by itself that it is read to its end.
        __builtin_prefetch(in + at + 256);
        const WordBits found = lower(in + at, std::min<size_t>(64, size - at), out + at);
        // By turns a word begins and ends.
        uint64_t turns = found.words ^ (found.words << 1 | last);
        last = found.words >> 63;
        high |= found.high;
        const char** const to = borders + count;
        const auto more = static_cast<size_t>(__builtin_popcountll(turns));
        count += more;
        write_places<8>(turns, out + at, to);
        if (more > 8) write_places<16>(turns, out + at, to + 8);
        for (size_t k = 24; k < more; k += 8) write_places<8>(turns, out + at, to + k);
    }
    borders[count] = out + size;  // of a word that ends the text
    tokens.push_all(borders, (count + 1) / 2);
    return high != 0;
}

using CutFunction = bool (*)(const char* in, size_t size, char* out, const char** borders,
                             Tokens& tokens);

inline bool cut_words_scalar(const char* in, size_t size, char* out, const char** borders,
                             Tokens& tokens) {
    return cut_words(in, size, out, borders, tokens, lower_words_scalar);
}

#ifdef ODQA_X86
ODQA_AVX2 inline bool cut_words_avx2(const char* in, size_t size, char* out, const char** borders,
                                     Tokens& tokens) {
    return cut_words(in, size, out, borders, tokens, lower_words_avx2);
}
ODQA_AVX512 inline bool cut_words_avx512(const char* in, size_t size, char* out, const char** borders,
                                         Tokens& tokens) {
    return cut_words(in, size, out, borders, tokens, lower_words_avx512);
}
#endif

inline const CutFunction cut_ascii_words =
#ifdef ODQA_X86
    isa == Isa::avx512 ? cut_words_avx512 : isa == Isa::avx2 ? cut_words_avx2 :
#endif
                                                               cut_words_scalar;

class RougeText {
public:
    RougeText(Words words, bool stem) : words_(words), stem_(stem) {}

    // `sentences`: whether their ends are wanted. `stems` serves the texts of one thread.
    void assign(Text source, bool sentences, StemCache& stems) {
        source_ = source;
        stems_ = &stems;
        ends_.clear();
        if (words_ == Words::pltrdy) return cut_sentences(source);
        if (!cut_ascii(source, sentences)) return;
        if (words_ == Words::unicode) {
            cut_unicode(source);
        } else if (fold_to_ascii(source)) {
            cut_ascii(folded_, sentences);
        }
    }

    const Tokens& tokens() const { return tokens_; }

    // For each sentence, the number of words up to its end.
    const std::vector<size_t>& ends() const { return ends_; }

    // Whether there is a letter or digit but no word: text that the ASCII rule cannot see.
    bool is_lost() {
        if (!tokens_.empty() || words_ != Words::ascii) return false;
        decode(source_, points_);
        return std::any_of(points_.begin(), points_.end(),
                           [](uint32_t c) { return has(c, is_re_word); });
    }

private:
    // Returns whether some byte is not ASCII; such bytes stand between words.
    bool cut_ascii(Text text, bool sentences) {
        char* const out = room_.of(text.size() + 80);
        const char** const borders = borders_.of(text.size() + 64);
        tokens_.start(out, text.size(), text.size() / 2 + 1, Heads::all);
        ends_.clear();
        bool high = false;
        if (!sentences) {
            high = cut_ascii_words(text.data(), text.size(), out, borders, tokens_);
        } else {
            for (size_t at = 0; at <= text.size();) {
                const size_t end = std::min(text.find('\n', at), text.size());
                high |= cut_ascii_words(text.data() + at, end - at, out + at, borders, tokens_);
                ends_.push_back(tokens_.size());
                at = end + 1;
            }
        }
        for (size_t k = 0; stem_ && k < tokens_.size(); ++k) {
            const Token word = tokens_[k];
            if (word.size > 3) {
                tokens_.put(k, word.begin, stems_->stem(const_cast<char*>(word.begin), word.size));
            }
        }
        return high;
    }

    void push(char* word, size_t size) {
        if (stem_ && size > 3) size = stems_->stem(word, size);
        tokens_.push(word, size);
    }

    // str.lower() turns two code points above ASCII into ASCII: U+0130 (into i and a mark, which
    // ends the word) and U+212A, the Kelvin sign. Writes them so; false where there are none.
    bool fold_to_ascii(Text text) {
        folded_.clear();
        size_t done = 0;
        for (size_t at = 0; at < text.size(); ++at) {
            const auto lead = static_cast<unsigned char>(text[at]);
            if (lead != 0xC4 && lead != 0xE2) continue;
            const bool dotted = text.compare(at, 2, "\xC4\xB0") == 0;
            if (!dotted && text.compare(at, 3, "\xE2\x84\xAA") != 0) continue;
            folded_.append(text.data() + done, at - done).append(dotted ? "i\x80" : "k");
            done = at + (dotted ? 2 : 3);
        }
        if (done == 0) return false;
        folded_.append(text.data() + done, text.size() - done);
        return true;
    }

    // Chinese characters (script Han) and kana of Unicode 14.0, by block.
    static bool is_single(uint32_t c) {
        return c >= 0x2E80 &&
               (c <= 0x2FDF || (c >= 0x3005 && c <= 0x3007) || (c >= 0x3021 && c <= 0x3029) ||
                (c >= 0x3031 && c <= 0x303B) || (c >= 0x3041 && c <= 0x30FF) ||
                (c >= 0x31F0 && c <= 0x31FF) || (c >= 0x3400 && c <= 0x4DBF) ||
                (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
                (c >= 0xFF66 && c <= 0xFF9F) || (c >= 0x1AFF0 && c <= 0x1B16F) ||
                (c >= 0x20000 && c <= 0x3FFFF));
    }

    void cut_unicode(Text text) {
        decode(text, points_);
        lowered_.clear();
        lower(points_.data(), points_.size(), lowered_);
        char* at = room_.of(4 * lowered_.size() + 16);
        tokens_.start(at, 4 * lowered_.size(), lowered_.size(), Heads::all);
        ends_.clear();
        char* begin = at;
        bool ascii = true, single = false;
        const auto close = [&] {
            if (at != begin) {
                if (ascii) push(begin, static_cast<size_t>(at - begin));
                else tokens_.push(begin, static_cast<size_t>(at - begin));
            }
            begin = at;
            ascii = true;
        };
        for (const uint32_t c : lowered_) {
            const bool mark = combining_class(c) != 0;
            if (!has(c, is_token_word) || (!mark && (single || is_single(c)))) close();
            if (c == '\n') ends_.push_back(tokens_.size());
            if (!has(c, is_token_word)) {
                single = false;
                continue;
            }
            single = is_single(c) || (mark && single);
            ascii &= c < 0x80;
            at = put_code_point(at, c);
        }
        close();
        ends_.push_back(tokens_.size());
    }

    void cut_sentences(Text text) {
        char* const copy = room_.of(text.size() + 16);
        text.copy(copy, text.size());
        tokens_.start(copy, text.size(), text.size() + 1, Heads::all);
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('.', at), text.size());
            if (end > at) {
                const size_t before = tokens_.size();
                split(copy + at, copy + end);
                if (tokens_.size() == before) tokens_.push(copy + at, 0);
                ends_.push_back(tokens_.size());
            }
            at = end + 1;
        }
    }

    void split(const char* at, const char* end) {
        auto next = reinterpret_cast<const unsigned char*>(at);
        const char* begin = at;
        while (at < end) {
            const bool space = has(next_code_point(next), is_space);
            const char* const after = reinterpret_cast<const char*>(next);
            if (space) {
                if (at != begin) tokens_.push(begin, static_cast<size_t>(at - begin));
                begin = after;
            }
            at = after;
        }
        if (at != begin) tokens_.push(begin, static_cast<size_t>(at - begin));
    }

    Words words_;
    bool stem_;
    Text source_;
    StemCache* stems_ = nullptr;
    Room<char> room_;
    Room<const char*> borders_;
    Tokens tokens_;
    std::vector<size_t> ends_;
    std::string folded_;
    CodePoints points_, lowered_;
};

}  // namespace odqa
