// Numbers for tokens and for n-grams: equal ones get the same number.
#pragma once
#include "tokens.hpp"

namespace odqa {

// A hash table from things to numbers. It holds the numbers alone: the things stand in lists of its
// user, by number, which are a good deal smaller. Nothing foretells whether a thing is new, so
// neither `of` nor `find` branches on it; only things that meet on one place cost a branch.
class Numbering {
public:
    // Makes room for `most` things, four places for each: things that meet cost more than the room.
    void clear(size_t most) {
        size_t size = 16;
        while (size < 4 * most) size *= 2;
        numbers_.assign(size, 0);
        shift_ = 64 - __builtin_ctzll(size);
        count_ = 0;
    }

    // Numbers go from 1 to count().
    uint32_t count() const { return count_; }

    // The number of a thing; a new one where it has none. same(number) says whether the thing of that
    // number is this one; it is asked of 0 too, and its answer then is not heard.
    template <class Same>
    uint32_t of(uint64_t hash, Same same) {
        uint32_t& number = numbers_[place(hash, same)];
        const bool is_new = number == 0;
        count_ += is_new;
        number = is_new ? count_ : number;
        return number;
    }

    // The number of a thing; 0 where it has none.
    template <class Same>
    uint32_t find(uint64_t hash, Same same) const {
        return numbers_[place(hash, same)];
    }

private:
    // Keeps the compiler from making two branches of two conditions.
    static bool at_once(unsigned condition) {
        asm("" : "+r"(condition));
        return condition != 0;
    }

    template <class Same>
    size_t place(uint64_t hash, Same same) const {
        size_t at = hash >> shift_;
        for (;; at = (at + 1) & (numbers_.size() - 1)) {
            const uint32_t number = numbers_[at];
            if (at_once((number == 0) | same(number))) return at;
        }
    }

    std::vector<uint32_t> numbers_;  // 0: free
    int shift_ = 0;
    uint32_t count_ = 0;
};

// The words of two texts as numbers from 1. The tokens given must outlive the numbers.
class TokenNumbers {
public:
    // Makes room for `most` words.
    void clear(size_t most) {
        numbering_.clear(most);
        words_ = room_.of(most + 1);
        words_[0] = {};
    }

    uint32_t count() const { return numbering_.count(); }

    // Numbers the tokens; those met before keep theirs.
    void number(const Tokens& tokens, std::vector<uint32_t>& out) {
        each(tokens, out, [&](const Word& word, uint64_t hash, auto same) {
            const uint32_t number = numbering_.of(hash, same);
            words_[number] = word;
            return number;
        });
    }

    // The numbers the tokens have; 0 where they have none.
    void find(const Tokens& tokens, std::vector<uint32_t>& out) {
        each(tokens, out, [&](const Word&, uint64_t hash, auto same) {
            return numbering_.find(hash, same);
        });
    }

private:
    // Of a word of up to 15 bytes all of it and its size; of a longer one the first fifteen.
    struct Word {
        uint64_t head, second;
        const Span* span;
    };

    template <class Number>
    void each(const Tokens& tokens, std::vector<uint32_t>& out, Number number) {
        out.resize(tokens.size());
        for (size_t at = 0; at < tokens.size(); ++at) {
            const Span& span = tokens[at];
            const size_t size = std::min<size_t>(span.size, 16);
            const uint64_t second = (load8(span.begin + 8) & second_masks[size]) |
                                    uint64_t{size} << 56;
            const Word word{tokens.heads()[at], second, &span};
            const uint64_t hash = (word.head ^ second * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
            const auto equal = [&](uint32_t other) {
                return (words_[other].head == word.head) & (words_[other].second == second);
            };
            if (size < 16) {
                out[at] = number(word, hash, equal);
            } else {
                out[at] = number(word, hash, [&](uint32_t other) {
                    return equal(other) && Tokens::rest_equal(*words_[other].span, span);
                });
            }
        }
    }

    static constexpr uint64_t second_masks[] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF,
        0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF};

    Numbering numbering_;
    Room<Word> room_;
    Word* words_ = nullptr;
};

// The numbers from 1 of the n-grams of two lists, made from those of the (n-1)-grams: each is a pair of
// the shorter n-gram and one number more. In the lists 0 stands for a word that the other list lacks;
// no n-gram with one is kept.
class GramNumbers {
public:
    // `count` is the greatest number of the first list.
    void start(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t count) {
        tokens_[0] = &a;
        tokens_[1] = &b;
        for (int side = 0; side < 2; ++side) {
            grams_[side] = *tokens_[side];
            at_[side].resize(grams_[side].size());
            std::iota(at_[side].begin(), at_[side].end(), 0);
        }
        count_ = count;
        n_ = 1;
    }

    // From n - 1 to n. `all`: the n-grams that stand in the second list alone get numbers too; else 0.
    void lengthen(bool all) {
        for (int side = 0; side < 2; ++side) keep_longer(side);
        const size_t most = grams_[0].size() + (all ? grams_[1].size() : 0);
        numbering_.clear(most);
        pairs_.resize(most + 1);
        for (int side = 0; side < 2; ++side) {
            const std::vector<uint32_t>& tokens = *tokens_[side];
            std::vector<uint32_t>& grams = grams_[side];
            for (size_t k = 0; k < grams.size(); ++k) {
                const uint64_t pair = uint64_t{grams[k]} << 32 | tokens[at_[side][k] + n_];
                const auto same = [&](uint32_t other) { return pairs_[other] == pair; };
                if (side == 0 || all) {
                    grams[k] = numbering_.of(pair * multiplier, same);
                    pairs_[grams[k]] = pair;
                } else {
                    grams[k] = numbering_.find(pair * multiplier, same);
                }
            }
        }
        count_ = numbering_.count();
        ++n_;
    }

    size_t size(int side) const { return grams_[side].size(); }

    // How many the two lists share, each counted as often as it stands in both.
    size_t overlap() {
        times_.assign(count_ + 1, 0);
        for (const uint32_t gram : grams_[0]) ++times_[gram];
        times_[0] = 0;
        size_t common = 0;
        for (const uint32_t gram : grams_[1]) {
            const bool left = times_[gram] != 0;
            times_[gram] -= left;
            common += left;
        }
        return common;
    }

    // How many different ones each list has, and both have; needs numbers for all.
    struct Distinct {
        size_t first = 0, second = 0, common = 0;
    };
    Distinct distinct() {
        times_.assign(count_ + 1, 0);
        Distinct found;
        for (const uint32_t gram : grams_[0]) {
            found.first += times_[gram] == 0;
            times_[gram] = 1;  // in the first list, not yet met in the second
        }
        for (const uint32_t gram : grams_[1]) {
            found.second += times_[gram] != 2;
            found.common += times_[gram] == 1;
            times_[gram] = 2;
        }
        return found;
    }

private:
    // Of the n-grams those that a word follows that the other list has as well.
    void keep_longer(int side) {
        const std::vector<uint32_t>& tokens = *tokens_[side];
        std::vector<uint32_t>&grams = grams_[side], &at = at_[side];
        size_t kept = 0;
        for (size_t k = 0; k < grams.size() && at[k] + n_ < tokens.size(); ++k) {
            const bool keep = (grams[k] != 0) & (tokens[at[k] + n_] != 0);
            grams[kept] = grams[k];
            at[kept] = at[k];
            kept += keep;
        }
        grams.resize(kept);
        at.resize(kept);
    }

    static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15u;

    const std::vector<uint32_t>* tokens_[2] = {};
    std::vector<uint32_t> grams_[2], at_[2], times_;  // at_: where each n-gram begins
    std::vector<uint64_t> pairs_;                     // by number
    Numbering numbering_;
    uint32_t count_ = 0;
    size_t n_ = 1;
};

}  // namespace odqa
