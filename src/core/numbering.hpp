// Numbers for tokens and for n-grams: equal ones get the same number, counted from 0.
#pragma once
#include "tokens.hpp"

namespace odqa {

// A hash table from keys of 64 bits to numbers. Nothing foretells whether a key is new, so neither
// `of` nor `find` branches on it; only keys that meet on one place cost a branch.
class Numbering {
public:
    void clear(size_t expected) {
        size_t size = 16;
        while (size < 2 * expected) size *= 2;
        resize(size);
        count_ = 0;
    }

    uint32_t count() const { return count_; }

    // The number of a key; a new one where it has none. Where the key does not tell all (`whole`
    // is false), rest(number) says whether the thing of that number is the same.
    template <class Rest>
    uint32_t of(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        if (2 * (size_t{count_} + 1) > slots_.size()) grow();
        Slot& slot = *place(hash, key, whole, rest);
        const bool is_new = slot.number == 0;
        count_ += is_new;
        slot.number = is_new ? count_ : slot.number;
        slot.key = key;
        slot.high = static_cast<uint32_t>(hash >> 32);
        return slot.number - 1;
    }

    // The number of a key; count() where it has none.
    template <class Rest>
    uint32_t find(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        // A free place has 0, which wraps to the greatest number there is.
        return std::min(place(hash, key, whole, rest)->number - 1, count_);
    }

private:
    struct Slot {
        uint64_t key;
        uint32_t number;  // one above; 0: free
        uint32_t high;    // half of the hash
    };

    // Keeps the compiler from making two branches of two conditions.
    static bool at_once(unsigned condition) {
        asm("" : "+r"(condition));
        return condition != 0;
    }

    template <class Rest>
    Slot* place(uint64_t hash, uint64_t key, bool whole, Rest rest) {
        for (size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[at];
            const bool equal = slot.key == key;
            if (at_once((slot.number == 0) | (equal & whole))) return &slot;
            if (equal && rest(slot.number - 1)) return &slot;
        }
    }

    void resize(size_t size) {
        slots_.assign(size, Slot{0, 0, 0});
        shift_ = 64 - __builtin_ctzll(size);
    }

    void grow() {
        const std::vector<Slot> old = slots_;
        resize(2 * old.size());
        for (const Slot& slot : old) {
            if (slot.number == 0) continue;
            size_t at = (uint64_t{slot.high} << 32) >> shift_;
            while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    int shift_ = 0;
    uint32_t count_ = 0;
};

// The words of two texts as numbers. The tokens given must outlive the numbers.
class TokenNumbers {
public:
    void clear(size_t expected) {
        numbering_.clear(expected);
        spans_.resize(expected);
    }

    uint32_t count() const { return numbering_.count(); }

    // Numbers the tokens; those met before keep theirs.
    void number(const Tokens& tokens, std::vector<uint32_t>& out) {
        out.resize(tokens.size());
        spans_.resize(numbering_.count() + tokens.size());
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
            // A short token is its head and its size; one of eight bytes its head, unless that could
            // be another's key. Of any other, eight bytes from its end and its size are mixed in.
            const uint64_t last = head >> 56;
            const bool is_short = span.size < 8, whole = is_short || (span.size == 8 && last - 8 < 120);
            const uint64_t tail = load8(span.begin + (whole ? 0 : span.size - 8)) + span.size;
            const uint64_t mixed = (head ^ tail * 0x9E3779B97F4A7C15u) | uint64_t{1} << 63;
            const uint64_t key = is_short ? head | uint64_t{span.size} << 56 : whole ? head : mixed;
            act(at, key * 0xD6E8FEB86659FD93u, key, whole, [&](uint32_t other) {
                return spans_[other].size == span.size &&
                       std::memcmp(spans_[other].begin, span.begin, span.size) == 0;
            });
        }
    }

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
        for (int side = 0; side < 2; ++side) {
            const std::vector<uint32_t>& tokens = *tokens_[side];
            std::vector<uint32_t>& grams = grams_[side];
            grams.resize(tokens.size() > n_ ? tokens.size() - n_ : 0);
            const auto key = [&](size_t at) { return uint64_t{grams[at]} << 32 | tokens[at + n_]; };
            if (side == 0) numbering_.clear(grams.size());
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
