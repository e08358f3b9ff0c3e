// Numbers for tokens and for n-grams: equal ones get the same number.
#pragma once
#include <limits>

#include "tokens.hpp"

namespace odqa {

// A hash table from things to numbers. It holds the numbers alone, in two bytes each if they fit: the
// things stand in lists of its user, by number, and all must stay in the processor's nearest cache.
// Nothing foretells whether a thing is new, so neither `of` nor `find` branches on it; only things that
// meet on one place cost a branch.
class Numbering {
public:
    // Makes room for `most` things, eight places for each: things that meet cost more than the room.
    void clear(size_t most) {
        size_t size = 16;
        while (size < 8 * most) size *= 2;
        is_small_ = most <= std::numeric_limits<uint16_t>::max();
        if (is_small_) small_.assign(size, 0);
        else large_.assign(size, 0);
        shift_ = 64 - __builtin_ctzll(size);
        count_ = 0;
    }

    // Numbers go from 1 to count().
    uint32_t count() const { return count_; }

    // The number of a thing; a new one where it has none. same(number) says whether the thing of that
    // number is this one; it is asked of 0 too, and its answer then is not heard.
    template <class Same>
    uint32_t of(uint64_t hash, Same same) {
        return is_small_ ? enter(small_, hash, same) : enter(large_, hash, same);
    }

    // The number of a thing; 0 where it has none.
    template <class Same>
    uint32_t find(uint64_t hash, Same same) const {
        return is_small_ ? small_[place(small_, hash, same)] : large_[place(large_, hash, same)];
    }

private:
    // Keeps the compiler from making two branches of two conditions.
    static bool at_once(unsigned condition) {
        asm("" : "+r"(condition));
        return condition != 0;
    }

    template <class Number, class Same>
    uint32_t enter(std::vector<Number>& numbers, uint64_t hash, Same same) {
        Number& number = numbers[place(numbers, hash, same)];
        const bool is_new = number == 0;
        count_ += is_new;
        number = is_new ? static_cast<Number>(count_) : number;
        return number;
    }

    template <class Number, class Same>
    size_t place(const std::vector<Number>& numbers, uint64_t hash, Same same) const {
        for (size_t at = hash >> shift_;; at = (at + 1) & (numbers.size() - 1)) {
            const uint32_t number = numbers[at];
            if (at_once((number == 0) | same(number))) return at;
        }
    }

    std::vector<uint16_t> small_;  // 0: free
    std::vector<uint32_t> large_;
    bool is_small_ = true;
    int shift_ = 0;
    uint32_t count_ = 0;
};

// The words of two texts as numbers from 1. The tokens given must outlive the numbers, and sixteen
// bytes be readable where each begins.
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
        Token token;
    };

    template <class Number>
    void each(const Tokens& tokens, std::vector<uint32_t>& out, Number number) {
        out.resize(tokens.size());
        for (size_t at = 0; at < tokens.size(); ++at) {
            const Token token = tokens[at];
            const size_t size = std::min<size_t>(token.size, 16);
            const uint64_t second = (load8(token.begin + 8) & second_masks[size]) |
                                    uint64_t{size} << 56;
            const Word word{tokens.heads()[at], second, token};
            const uint64_t hash = (word.head ^ second * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
            const auto equal = [&](uint32_t other) {
                return (words_[other].head == word.head) & (words_[other].second == second);
            };
            if (size < 16) {
                out[at] = number(word, hash, equal);
            } else {
                out[at] = number(word, hash, [&](uint32_t other) {
                    return equal(other) && Tokens::rest_equal(words_[other].token, token);
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

// Numbers from 1 for pairs of numbers.
class PairNumbers {
public:
    // Makes room for `most` pairs.
    void clear(size_t most) {
        numbering_.clear(most);
        pairs_ = room_.of(most + 1);
        pairs_[0] = 0;
    }

    uint32_t count() const { return numbering_.count(); }

    // The number of a pair; a new one where it has none.
    uint32_t of(uint32_t first, uint32_t second) {
        const uint64_t pair = uint64_t{first} << 32 | second;
        const uint32_t number = numbering_.of(
            pair * multiplier, [&](uint32_t other) { return pairs_[other] == pair; });
        pairs_[number] = pair;
        return number;
    }

    // The number of a pair; 0 where it has none.
    uint32_t find(uint32_t first, uint32_t second) const {
        const uint64_t pair = uint64_t{first} << 32 | second;
        return numbering_.find(
            pair * multiplier, [&](uint32_t other) { return pairs_[other] == pair; });
    }

private:
    static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15u;

    Numbering numbering_;
    Room<uint64_t> room_;
    uint64_t* pairs_ = nullptr;  // by number
};

// The n-grams of two lists of words, n after n: each is a pair of an (n-1)-gram and one word more.
class GramNumbers {
public:
    // `count` is the greatest number. The lists must outlive the calls below.
    void start(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t count) {
        tokens_[0] = &a;
        tokens_[1] = &b;
        for (int side = 0; side < 2; ++side) grams_[side] = *tokens_[side];
        count_ = count;
        n_ = 1;
    }

    // From n - 1 to n.
    void lengthen() {
        pairs_.clear(grams_[0].size() + grams_[1].size());
        for (int side = 0; side < 2; ++side) {
            const std::vector<uint32_t>& tokens = *tokens_[side];
            std::vector<uint32_t>& grams = grams_[side];
            grams.resize(tokens.size() > n_ ? tokens.size() - n_ : 0);
            for (size_t at = 0; at < grams.size(); ++at) {
                grams[at] = pairs_.of(grams[at], tokens[at + n_]);
            }
        }
        count_ = pairs_.count();
        ++n_;
    }

    size_t size(int side) const { return grams_[side].size(); }

    // How many the two lists share, each counted as often as it stands in both.
    size_t overlap() {
        times_.assign(count_ + 1, 0);
        for (const uint32_t gram : grams_[0]) ++times_[gram];
        size_t common = 0;
        for (const uint32_t gram : grams_[1]) {
            const bool left = times_[gram] != 0;
            times_[gram] -= left;
            common += left;
        }
        return common;
    }

    // How many different ones each list has, and both have.
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
    const std::vector<uint32_t>* tokens_[2] = {};
    std::vector<uint32_t> grams_[2], times_;
    PairNumbers pairs_;
    uint32_t count_ = 0;
    size_t n_ = 1;
};

// The same where only the overlap is wanted: an n-gram with a word that the other list lacks (0 in
// the lists) is left out, which leaves little to number.
class SharedGrams {
public:
    void start(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
        tokens_[0] = &a;
        tokens_[1] = &b;
        n_ = 1;
    }

    // From n - 1 to n. Returns how many n-grams the two lists share, each counted as often as it
    // stands in both.
    size_t lengthen() {
        for (int side = 0; side < 2; ++side) keep(side);
        ++n_;
        pairs_.clear(at_[0].size());
        times_.assign(at_[0].size() + 1, 0);
        for (size_t k = 0; k < at_[0].size(); ++k) {
            grams_[0][k] = pairs_.of(grams_[0][k], last(0, k));
            ++times_[grams_[0][k]];
        }
        size_t common = 0;
        for (size_t k = 0; k < at_[1].size(); ++k) {
            grams_[1][k] = pairs_.find(grams_[1][k], last(1, k));
            uint32_t& times = times_[grams_[1][k]];
            const bool left = times != 0;
            times -= left;
            common += left;
        }
        return common;
    }

private:
    uint32_t last(int side, size_t k) const { return (*tokens_[side])[at_[side][k] + n_ - 1]; }

    // Keeps the n-grams that may be lengthened, without a branch: nothing foretells which.
    void keep(int side) {
        const std::vector<uint32_t>& tokens = *tokens_[side];
        std::vector<uint32_t>&grams = grams_[side], &at = at_[side];
        size_t kept = 0;
        const auto look = [&](uint32_t gram, size_t begin) {
            grams[kept] = gram;
            at[kept] = static_cast<uint32_t>(begin);
            kept += (gram != 0) & (tokens[begin + n_] != 0);
        };
        if (n_ == 1) {
            grams.resize(tokens.size());
            at.resize(tokens.size());
            for (size_t begin = 0; begin + 1 < tokens.size(); ++begin) look(tokens[begin], begin);
        } else {
            for (size_t k = 0; k < at.size() && at[k] + n_ < tokens.size(); ++k) look(grams[k], at[k]);
        }
        grams.resize(kept);
        at.resize(kept);
    }

    const std::vector<uint32_t>* tokens_[2] = {};
    std::vector<uint32_t> grams_[2], at_[2], times_;  // at_: where each n-gram begins
    PairNumbers pairs_;
    size_t n_ = 1;
};

}  // namespace odqa
