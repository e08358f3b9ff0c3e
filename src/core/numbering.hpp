// Numbers for tokens and for n-grams: equal ones get the same number, counted from 0.
#pragma once
#include "tokens.hpp"

namespace odqa {

// A hash table of numbers; whoever holds the things themselves tells whether two are equal.
class Numbering {
public:
    void clear(size_t expected) {
        size_t size = 16;
        while (size < 2 * expected) size *= 2;
        resize(size);
        count_ = 0;
    }

    uint32_t count() const { return count_; }

    // The number of the thing with this hash, a new one if same(number) holds for none.
    template <class Same>
    uint32_t of(uint64_t hash, Same same) {
        if (2 * (size_t{count_} + 1) > slots_.size()) grow();
        for (size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[at];
            if (slot.number == 0) {
                slot = {hash, ++count_};
                return count_ - 1;
            }
            if (slot.hash == hash && same(slot.number - 1)) return slot.number - 1;
        }
    }

private:
    struct Slot {
        uint64_t hash;
        uint32_t number;  // one above; 0: free
    };

    void resize(size_t size) {
        slots_.assign(size, Slot{0, 0});
        shift_ = 64 - __builtin_ctzll(size);
    }

    void grow() {
        const std::vector<Slot> old = slots_;
        resize(2 * old.size());
        for (const Slot& slot : old) {
            if (slot.number == 0) continue;
            size_t at = slot.hash >> shift_;
            while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    int shift_ = 0;
    uint32_t count_ = 0;
};

// Numbers of tokens. The tokens given must outlive the numbering.
class TokenNumbers {
public:
    void clear(size_t expected) {
        numbering_.clear(expected);
        heads_.clear();
        spans_.clear();
    }

    uint32_t count() const { return numbering_.count(); }

    void append(const Tokens& tokens, std::vector<uint32_t>& out) {
        for (size_t at = 0; at < tokens.size(); ++at) {
            const uint64_t head = tokens.heads()[at];
            const Span& span = tokens[at];
            // Eight bytes from the end tell apart most tokens with equal heads.
            const uint64_t tail = span.size > 8 ? load8(span.begin + span.size - 8) : span.size;
            const uint64_t hash = (head ^ (tail * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
            const uint32_t number = numbering_.of(hash, [&](uint32_t other) {
                return heads_[other] == head && Tokens::rest_equal(spans_[other], span);
            });
            if (number == heads_.size()) {
                heads_.push_back(head);
                spans_.push_back(span);
            }
            out.push_back(number);
        }
    }

private:
    Numbering numbering_;
    std::vector<uint64_t> heads_;
    std::vector<Span> spans_;
};

// The numbers of the n-grams of two lists, made from those of the (n-1)-grams: each is a pair of
// the shorter n-gram and one number more.
class GramNumbers {
public:
    void start(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t count) {
        tokens_[0] = &a;
        tokens_[1] = &b;
        for (int side = 0; side < 2; ++side) grams_[side] = *tokens_[side];
        count_ = count;
        n_ = 1;
    }

    // From n - 1 to n.
    void lengthen() {
        numbering_.clear(grams_[0].size());
        for (int side = 0; side < 2; ++side) {
            std::vector<uint32_t>& grams = grams_[side];
            const std::vector<uint32_t>& tokens = *tokens_[side];
            const size_t size = tokens.size() > n_ ? tokens.size() - n_ : 0;
            for (size_t at = 0; at < size; ++at) {
                // One to one in the pair, so that equal hashes are equal pairs.
                const uint64_t pair = uint64_t{grams[at]} << 32 | tokens[at + n_];
                const uint64_t hash = pair * 0x9E3779B97F4A7C15u;
                grams[at] = numbering_.of(hash, [](uint32_t) { return true; });
            }
            grams.resize(size);
        }
        count_ = numbering_.count();
        ++n_;
    }

    size_t n() const { return n_; }
    size_t size(int side) const { return grams_[side].size(); }

    // How many the two lists share, each counted as often as it stands in both.
    size_t overlap() {
        times_.assign(count_, 0);
        for (const uint32_t gram : grams_[0]) ++times_[gram];
        size_t common = 0;
        for (const uint32_t gram : grams_[1]) {
            if (times_[gram] != 0) --times_[gram], ++common;
        }
        return common;
    }

    // How many different ones each list has, and both have.
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
    const std::vector<uint32_t>* tokens_[2] = {};
    std::vector<uint32_t> grams_[2], times_;
    Numbering numbering_;
    uint32_t count_ = 0;
    size_t n_ = 1;
};

}  // namespace odqa
