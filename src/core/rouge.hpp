// ROUGE of one text against the reference answers of its row.
//
// Google's rouge_score 0.1.2 in the words and the order of operations of its code; `pltrdy` is in
// rouge_pltrdy.hpp. Lin 2004, "ROUGE: A package for automatic evaluation of summaries".
#pragma once
#include <limits>

#include "lcs.hpp"
#include "interning.hpp"
#include "rouge_text.hpp"

namespace odqa {

// Types are numbered: 1 to 9 is rougeN, then these two.
inline constexpr int rouge_l = 0, rouge_lsum = 10, rouge_types = 11;
inline constexpr uint32_t gram_types = 0x3FE;

struct Rouge {
    double f = 0, precision = 0, recall = 0;
};

// Of each type the scores of the answer with the greatest F, the first of several.
class BestRouge {
public:
    explicit BestRouge(uint32_t types) {
        for (count_ = 0; types >> count_ != 0; ++count_) {}
    }
    void start() {
        std::fill_n(best_, count_, Rouge());
        answers_ = 0;
    }
    void add() { ++answers_; }
    void keep(int type, const Rouge& pair) {
        if (pair.f > best_[type].f) best_[type] = pair;
    }
    // A row without answers is not scored: NaN.
    void finish() {
        constexpr double unscored = std::numeric_limits<double>::quiet_NaN();
        if (answers_ == 0) std::fill_n(best_, count_, Rouge{unscored, unscored, unscored});
    }
    // By type and, in each, by the order in Rouge.
    double value(int which) const {
        static constexpr double Rouge::* parts[] = {&Rouge::f, &Rouge::precision, &Rouge::recall};
        return best_[which / 3].*parts[which % 3];
    }

private:
    Rouge best_[rouge_types];
    size_t answers_ = 0, count_;  // of the types up to the last that is wanted
};

// Heads of eight bytes do not end: the tokens may differ behind them.
inline uint64_t confirm(const Tokens& pool, Token token, uint64_t equal) {
    if (token.size < 8) return equal;
    for (uint64_t left = equal; left != 0; left &= left - 1) {
        const auto at = static_cast<size_t>(__builtin_ctzll(left));
        if (!Tokens::rest_equal(pool[at], token)) equal &= ~(uint64_t{1} << at);
    }
    return equal;
}

// The tokens of `others` that stand in `pool` (at most 64): bit k of masks[j] is set where
// pool[k] equals others[j].
inline void masks_scalar(const Tokens& pool, const Tokens& others, uint64_t* masks) {
    for (size_t k = 0; k < others.size(); ++k) {
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); ++at) {
            equal |= static_cast<uint64_t>(pool.heads()[at] == others.heads()[k]) << at;
        }
        masks[k] = confirm(pool, others[k], equal);
    }
}

#ifdef ODQA_X86

// Lanes past the last token hold whatever was there.
ODQA_AVX2 inline void masks_avx2(const Tokens& pool, const Tokens& others, uint64_t* masks) {
    const uint64_t real = lowest_bits(pool.size());
    for (size_t k = 0; k < others.size(); ++k) {
        const __m256i head = _mm256_set1_epi64x(static_cast<long long>(others.heads()[k]));
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); at += 4) {
            const __m256i four =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pool.heads() + at));
            const int bits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(four, head)));
            equal |= static_cast<uint64_t>(bits) << at;
        }
        masks[k] = confirm(pool, others[k], equal & real);
    }
}

ODQA_AVX512 inline void masks_avx512(const Tokens& pool, const Tokens& others, uint64_t* masks) {
    const uint64_t real = lowest_bits(pool.size());
    for (size_t k = 0; k < others.size(); ++k) {
        const __m512i head = _mm512_set1_epi64(static_cast<long long>(others.heads()[k]));
        uint64_t equal = 0;
        for (size_t at = 0; at < pool.size(); at += 8) {
            const __m512i eight = _mm512_loadu_si512(pool.heads() + at);
            equal |= static_cast<uint64_t>(_mm512_cmpeq_epi64_mask(eight, head)) << at;
        }
        masks[k] = confirm(pool, others[k], equal & real);
    }
}

#endif

// What two texts have in common, one of them (`pool`) of at most 64 words: common[t] for each type
// wanted, of n-grams as many as both have, of words in order the most there are. One side is a set of
// bits: an n-gram of the other stands where n masks, each moved by one more, have a bit in common.
[[gnu::always_inline]] inline void count_common(size_t pool, size_t others, uint32_t types,
                                                const uint64_t* masks, size_t* common) {
    for (size_t n = 1; (types & gram_types) >> n != 0; ++n) {
        common[n] = 0;
        if (!(types >> n & 1) || std::min(pool, others) < n) continue;
        const uint64_t all = lowest_bits(pool - (n - 1));
        uint64_t unused = all;
        for (size_t at = 0; at + n <= others; ++at) {
            uint64_t equal = masks[at] & unused;
            for (size_t k = 1; k < n; ++k) equal &= masks[at + k] >> k;
            unused &= ~(equal & -equal);
        }
        common[n] = static_cast<size_t>(__builtin_popcountll(all & ~unused));
    }
    if (types & 1u << rouge_l) {
        uint64_t row = ~uint64_t{0};
        for (size_t at = 0; at < others; ++at) {
            row = (row + (row & masks[at])) | (row & ~masks[at]);
        }
        common[rouge_l] = static_cast<size_t>(__builtin_popcountll(~row));
    }
}

using CommonFunction = void (*)(const Tokens& pool, const Tokens& others, uint32_t types,
                                uint64_t* masks, size_t* common);

inline void common_scalar(const Tokens& pool, const Tokens& others, uint32_t types,
                          uint64_t* masks, size_t* common) {
    masks_scalar(pool, others, masks);
    count_common(pool.size(), others.size(), types, masks, common);
}

#ifdef ODQA_X86
ODQA_AVX2 inline void common_avx2(const Tokens& pool, const Tokens& others, uint32_t types,
                                  uint64_t* masks, size_t* common) {
    masks_avx2(pool, others, masks);
    count_common(pool.size(), others.size(), types, masks, common);
}
ODQA_AVX512 inline void common_avx512(const Tokens& pool, const Tokens& others, uint32_t types,
                                      uint64_t* masks, size_t* common) {
    masks_avx512(pool, others, masks);
    count_common(pool.size(), others.size(), types, masks, common);
}
#endif

inline const CommonFunction small_common =
#ifdef ODQA_X86
    isa == Isa::avx512 ? common_avx512 : isa == Isa::avx2 ? common_avx2 :
#endif
                                                            common_scalar;

class RougeScorer {
public:
    // `types`: bit t is set for each type that is wanted.
    RougeScorer(Words words, bool stem, uint32_t types)
        : types_(types), text_(words, stem), answer_(words, stem), best_(types) {}

    void start(Text prediction, bool /* null is as empty */) {
        best_.start();
        text_.assign(prediction, wants(rouge_lsum), stems_);
        lost_ = text_.is_lost();
    }

    // Returns whether the answer has no words.
    bool add(Text answer) {
        answer_.assign(answer, wants(rouge_lsum), stems_);
        lost_ |= answer_.is_lost();
        best_.add();
        if (!text_.tokens().empty() && !answer_.tokens().empty()) compare();
        return answer_.tokens().empty();
    }

    void finish() {
        best_.finish();
        lost_rows_ += lost_;
    }
    double value(int which) const { return best_.value(which); }
    bool text_is_empty() const { return text_.tokens().empty(); }
    // How many rows had a text with letters or digits but no word.
    size_t lost_rows() const { return lost_rows_; }

private:
    bool wants(int type) const { return types_ >> type & 1; }

    static Rouge score(size_t hits, size_t predicted, size_t wanted) {
        if (hits == 0) return {};
        Rouge pair;
        pair.precision = static_cast<double>(hits) / static_cast<double>(predicted);
        pair.recall = static_cast<double>(hits) / static_cast<double>(wanted);
        pair.f = 2 * pair.precision * pair.recall / (pair.precision + pair.recall);
        return pair;
    }

    void compare() {
        const size_t n = text_.tokens().size(), m = answer_.tokens().size();
        if (std::min(n, m) <= 64) small();
        else large();
        if (wants(rouge_lsum)) best_.keep(rouge_lsum, score(summary_hits(), n, m));
    }

    void keep_grams(int n, size_t common) {
        const auto less = static_cast<size_t>(n - 1);
        best_.keep(n, score(common, text_.tokens().size() - less, answer_.tokens().size() - less));
    }

    // Both sides are at least as long as the n-gram.
    bool has_grams(int n) const {
        return std::min(text_.tokens().size(), answer_.tokens().size()) >= static_cast<size_t>(n);
    }

    void small() {
        const Tokens &a = text_.tokens(), &b = answer_.tokens();
        const bool first = a.size() > 64 ? false : b.size() > 64 || a.size() >= b.size();
        const Tokens &pool = first ? a : b, &others = first ? b : a;
        size_t common[rouge_types];
        small_common(pool, others, types_, masks_.of(others.size()), common);
        for (int n = 1; (types_ & gram_types) >> n != 0; ++n) {
            if (wants(n) && has_grams(n)) keep_grams(n, common[n]);
        }
        if (wants(rouge_l)) best_.keep(rouge_l, score(common[rouge_l], a.size(), b.size()));
    }

    void large() {
        number();
        const size_t common = share();
        if (wants(1)) keep_grams(1, common);
        grams_.start(predicted_, wanted_);
        for (int n = 2; (types_ & gram_types) >> n != 0 && has_grams(n); ++n) {
            const size_t shared = grams_.lengthen();
            if (wants(n)) keep_grams(n, shared);
        }
        if (wants(rouge_l)) {
            const size_t sizes[] = {predicted_.size(), wanted_.size()};
            drop_zeros(predicted_);
            drop_zeros(wanted_);
            // Fewer columns are fewer words in each row.
            const bool less = predicted_.size() < wanted_.size();
            const auto &columns = less ? predicted_ : wanted_, &rows = less ? wanted_ : predicted_;
            lcs_.columns(columns.data(), columns.size());
            const size_t length = lcs_.length(rows.data(), rows.size());
            best_.keep(rouge_l, score(length, sizes[0], sizes[1]));
        }
    }

    // The numbers hold for this answer only, whose text the next one will overwrite.
    void number() {
        numbers_.clear(text_.tokens().size());
        numbers_.number(text_.tokens(), predicted_);
        numbers_.find(answer_.tokens(), wanted_);
    }

    // Makes 0 of the prediction's words that the answer lacks, for they can be in nothing that is
    // common. Returns how many words are, each counted as often as it stands in both.
    size_t share() {
        constexpr uint32_t met = 1u << 31;
        times_.assign(numbers_.count() + 1, 0);
        for (const uint32_t number : wanted_) times_[number] = (times_[number] + 1) | met;
        size_t common = 0;
        for (uint32_t& number : predicted_) {
            uint32_t& times = times_[number];
            const bool left = (times & ~met) != 0;
            number &= 0u - (times >> 31);
            times -= left;
            common += left;
        }
        return common;
    }

    // Without a branch, unlike std::remove: nothing foretells what is kept.
    static void drop_zeros(std::vector<uint32_t>& numbers) {
        size_t kept = 0;
        for (const uint32_t number : numbers) {
            numbers[kept] = number;
            kept += number != 0;
        }
        numbers.resize(kept);
    }

    // Of each line of the answer the words that some line of the prediction has in common with it,
    // in order; a word counts as often as both texts have it.
    size_t summary_hits() {
        number();
        times_.assign(numbers_.count() + 1, 0);
        for (const uint32_t number : predicted_) ++times_[number];
        size_t hits = 0, begin = 0;
        for (const size_t end : answer_.ends()) {
            common_.assign(end - begin, 0);
            size_t from = 0;
            for (const size_t to : text_.ends()) {
                lcs_.columns(predicted_.data() + from, to - from);
                lcs_.walk(wanted_.data() + begin, end - begin, Tie::row,
                          [&](size_t at) { common_[at] = 1; });
                from = to;
            }
            for (size_t at = 0; at < common_.size(); ++at) {
                // Each place of the answer is passed once, so that only the prediction's can run out.
                const uint32_t number = wanted_[begin + at];
                if (common_[at] && times_[number]) --times_[number], ++hits;
            }
            begin = end;
        }
        return hits;
    }

    uint32_t types_;
    StemCache stems_;
    RougeText text_, answer_;
    BestRouge best_;
    bool lost_ = false;
    size_t lost_rows_ = 0;
    Room<uint64_t> masks_;
    TokenNumbers numbers_;
    SharedGrams grams_;
    Lcs lcs_;
    std::vector<uint32_t> predicted_, wanted_, times_;
    std::vector<char> common_;
};

}  // namespace odqa
