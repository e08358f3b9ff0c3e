// Numbers for tokens and for n-grams: equal ones get the same number, counted from 0.
#pragma once
#include "tokens.hpp"

namespace odqa {

// A hash table from keys of 64 bits to numbers. Nothing foretells whether a key is new, so neither
// `of` nor `find` branches on it; only keys that meet on one place cost a branch.
class Numbering {
public:
    // Makes room for `most` keys, four places for each: keys that meet cost more than the room.
    void clear(size_t most) {
        size_t size = 16;
        while (size < 4 * most) size *= 2;
        numbers_.assign(size, 0);
        keys_.resize(size);
        shift_ = 64 - __builtin_ctzll(size);
        count_ = 0;
    }

    uint32_t count() const { return count_; }

    // The number of a key; a new one where it has none. Where the key does not tell all (`whole`
    // is false), rest(number) says whether the thing of that number is the same.
    template <class Rest>
    uint32_t of(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        const size_t at = place(hash, key, whole, rest);
        const bool is_new = numbers_[at] == 0;
        count_ += is_new;
        numbers_[at] = is_new ? count_ : numbers_[at];
        keys_[at] = key;
        return numbers_[at] - 1;
    }

    // The number of a key; count() where it has none.
    template <class Rest>
    uint32_t find(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        // A free place has 0, which wraps to the greatest number there is.
        return std::min(numbers_[place(hash, key, whole, rest)] - 1, count_);
    }

private:
    // Keeps the compiler from making two branches of two conditions.
    static bool at_once(unsigned condition) {
        asm("" : "+r"(condition));
        return condition != 0;
    }

    template <class Rest>
    size_t place(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        for (size_t at = hash >> shift_;; at = (at + 1) & (numbers_.size() - 1)) {
            const uint32_t number = numbers_[at];
            const bool equal = keys_[at] == key;
            if (at_once((number == 0) | (equal & whole))) return at;
            if (equal && rest(number - 1)) return at;
        }
    }

    std::vector<uint32_t> numbers_;  // one above; 0: free
    std::vector<uint64_t> keys_;     // of places that are not free
    int shift_ = 0;
    uint32_t count_ = 0;
};

// The words of two texts as numbers. The tokens given must outlive the numbers.
class TokenNumbers {
public:
    // Makes room for `most` words.
    void clear(size_t most) {
        numbering_.clear(most);
        spans_.resize(most);
    }

    uint32_t count() const { return numbering_.count(); }

    // Numbers the tokens; those met before keep theirs.
    void number(const Tokens& tokens, std::vector<uint32_t>& out) {
        out.resize(tokens.size());
        each(tokens, [&](size_t at, uint64_t hash, uint64_t key, bool whole, auto rest) {
            const uint32_t number = numbering_.of(hash, key, whole, rest);
            spans_[number] = tokens[at];
            out[at] = number;
        });
    }

    // The numbers the tokens have; count() where they have none.
    void find(const Tokens& tokens, std::vector<uint32_t>& out) {
        out.resize(tokens.size());
        each(tokens, [&](size_t at, uint64_t hash, uint64_t key, bool whole, auto rest) {
            out[at] = numbering_.find(hash, key, whole, rest);
        });
    }

private:
    template <class Do>
    void each(const Tokens& tokens, Do act) {
        for (size_t at = 0; at < tokens.size(); ++at) {
            const uint64_t head = tokens.heads()[at];
            const Span& span = tokens[at];
            const auto same = [&](uint32_t other) {
                return spans_[other].size == span.size &&
                       std::memcmp(spans_[other].begin, span.begin, span.size) == 0;
            };
            // A short token is its head and its size; one of eight bytes its head, unless that could
            // be another's key. Of any other, eight bytes from its end and its size are mixed in.
            const uint64_t last = head >> 56;
            if (span.size < 8 || (span.size == 8 && last - 8 < 120)) {
                const uint64_t key = head | uint64_t{span.size & 7} << 56;
                act(at, key * multiplier, key, true, same);
            } else {
                const uint64_t tail = load8(span.begin + span.size - 8) + span.size;
                const uint64_t key = (head ^ tail * 0x9E3779B97F4A7C15u) | uint64_t{1} << 63;
                act(at, key * multiplier, key, false, same);
            }
        }
    }

    static constexpr uint64_t multiplier = 0xD6E8FEB86659FD93u;

    Numbering numbering_;
    std::vector<Span> spans_;
};

// The numbers of the n-grams of two lists, made from those of the (n-1)-grams: each is a pair of
// the shorter n-gram and one number more.
class GramNumbers {
public:
    // `count` is above every number of the first list.
    void start(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t count) {
        tokens_[0] = &a;
        tokens_[1] = &b;
        for (int side = 0; side < 2; ++side) grams_[side] = *tokens_[side];
        count_ = count;
        n_ = 1;
    }

    // From n - 1 to n. `all`: the n-grams that stand in the second list alone get numbers too;
    // else they share one that no n-gram of the first has.
    void lengthen(bool all) {
        const auto rest = [](uint32_t) { return true; };
        numbering_.clear(grams_[0].size() + (all ? grams_[1].size() : 0));
        for (int side = 0; side < 2; ++side) {
            const std::vector<uint32_t>& tokens = *tokens_[side];
            std::vector<uint32_t>& grams = grams_[side];
            grams.resize(tokens.size() > n_ ? tokens.size() - n_ : 0);
            const auto key = [&](size_t at) { return uint64_t{grams[at]} << 32 | tokens[at + n_]; };
            if (side == 0 || all) {
                for (size_t at = 0; at < grams.size(); ++at) {
                    grams[at] = numbering_.of(key(at) * multiplier, key(at), true, rest);
                }
            } else {
                for (size_t at = 0; at < grams.size(); ++at) {
                    grams[at] = numbering_.find(key(at) * multiplier, key(at), true, rest);
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
        times_.assign(count_, 0);
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
    static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15u;

    const std::vector<uint32_t>* tokens_[2] = {};
    std::vector<uint32_t> grams_[2], times_;
    Numbering numbering_;
    uint32_t count_ = 0;
    size_t n_ = 1;
};

}  // namespace odqa
