// The longest common subsequence of two lists of numbers, by rows of bits.
//
// Row i has one bit a column j, zero where the length for (i, j + 1) is one above that for (i, j):
// Crochemore, Iliopoulos, Pinzon and Reid 2001; Hyyrö 2004. A row takes columns / 64 steps.
#pragma once
#include <algorithm>
#include <cmath>

#include "isa.hpp"
#include "text.hpp"

namespace odqa {

// Where both neighbours of a cell are as good as the cell itself, which of them a walk goes to.
enum class Tie { row, column };

class Lcs {
public:
    // The list that the columns stand for; the numbers must outlive the calls below.
    void columns(const uint32_t* numbers, size_t count) {
        forget();
        columns_ = numbers;
        count_ = count;
        words_ = (count + 255) / 256 * group;
        for (size_t at = 0; at < count; ++at) {
            if (numbers[at] >= places_.size()) places_.resize(numbers[at] + numbers[at] / 2 + 1);
            if (places_[numbers[at]].times++ == 0) distinct_.push_back(numbers[at]);
        }
        // Masks for all numbers while that takes little memory; else for those that stand so often
        // that few can, the others being put together when they are needed.
        all_ = distinct_.size() * words_ <= max_words;
        size_t dense = 0;
        for (const uint32_t number : distinct_) {
            if (all_ || places_[number].times >= words_) places_[number].mask = ++dense;
        }
        masks_.assign((dense + 1) * words_, 0);  // the first is for putting one together
        if (!all_) next_.resize(count);
        for (size_t at = count; at-- > 0;) {
            Place& place = places_[numbers[at]];
            if (place.mask != 0) {
                masks_[place.mask * words_ + (at >> 6)] |= uint64_t{1} << (at & 63);
            } else {
                next_[at] = place.first;
                place.first = static_cast<uint32_t>(at) + 1;
            }
        }
    }

    size_t length(const uint32_t* rows, size_t count) {
        size_t zeros = 0;
        if (!all_) {
            bits_.assign(words_, ~uint64_t{0});
            for (size_t at = 0; at < count; ++at) step(rows[at], bits_.data());
            for (const uint64_t word : bits_) zeros += ones(~word);
            return zeros;
        }
        // Four words of all rows, then the next four: they stay in registers, and a row hands on
        // its carry.
        offsets_.resize(count);
        for (size_t at = 0; at < count; ++at) {
            offsets_[at] = rows[at] < places_.size() ? places_[rows[at]].mask * words_ : 0;
        }
        carries_.assign(count, 0);
        for (size_t word = 0; word < words_; word += group) {
            uint64_t a = ~uint64_t{0}, b = a, c = a, d = a;
            for (size_t at = 0; at < count; ++at) {
                const uint64_t* const mask = &masks_[offsets_[at] + word];
                unsigned char carry = carries_[at];
                a = add(carry, a, a & mask[0]) | (a & ~mask[0]);
                b = add(carry, b, b & mask[1]) | (b & ~mask[1]);
                c = add(carry, c, c & mask[2]) | (c & ~mask[2]);
                d = add(carry, d, d & mask[3]) | (d & ~mask[3]);
                carries_[at] = carry;
            }
            zeros += ones(~a) + ones(~b) + ones(~c) + ones(~d);
        }
        return zeros;
    }

    // Goes back from the last cell, diagonally wherever row and column are equal, else to the
    // neighbour with the greater length; calls found(row) for every equal pair met. Memory: some
    // rows of bits are kept, and those between two of them are made again.
    template <class Found>
    void walk(const uint32_t* rows, size_t count, Tie tie, Found found) {
        if (count == 0 || count_ == 0) return;
        const size_t all = count * words_ <= max_words
                               ? count
                               : static_cast<size_t>(std::sqrt(static_cast<double>(count))) + 1;
        kept_.clear();
        bits_.assign(words_, ~uint64_t{0});
        for (size_t at = 0; at < count; ++at) {
            if (at % all == 0) {
                kept_.insert(kept_.end(), bits_.begin(), bits_.end());
                if (at + all >= count) break;
            }
            step(rows[at], bits_.data());
        }
        table_.resize((all + 1) * words_);
        size_t row = count, column = count_;
        for (size_t low = (count - 1) / all * all; row > 0 && column > 0; low -= all) {
            std::copy_n(&kept_[low / all * words_], words_, table_.data());
            for (size_t at = low; at < row; ++at) {
                uint64_t* const before = &table_[(at - low) * words_];
                std::copy_n(before, words_, before + words_);
                step(rows[at], before + words_);
            }
            while (row > low && column > 0) {
                const uint64_t* const before = &table_[(row - 1 - low) * words_];
                if (rows[row - 1] == columns_[column - 1]) {
                    found(--row);
                    --column;
                } else if (!is_set(before + words_, column - 1)) {
                    --row;
                } else if (tie == Tie::column || grows_below(before, before + words_, column)) {
                    --column;
                } else {
                    --row;
                }
            }
        }
    }

private:
    struct Place {
        uint32_t first = 0;  // one above the first column that holds the number; 0: none does
        uint32_t times = 0;
        size_t mask = 0;     // which of the masks is the number's; 0: none
    };
    static constexpr size_t max_words = 1 << 17, group = 4;

    static size_t ones(uint64_t word) { return static_cast<size_t>(__builtin_popcountll(word)); }

    static uint64_t add(unsigned char& carry, uint64_t a, uint64_t b) {
#ifdef ODQA_X86
        unsigned long long sum;
        carry = _addcarry_u64(carry, a, b, &sum);
        return sum;
#else
        const uint64_t half = a + b, sum = half + carry;
        carry = (half < a) | (sum < half);
        return sum;
#endif
    }

    void forget() {
        for (const uint32_t number : distinct_) places_[number] = Place();
        distinct_.clear();
    }

    static bool is_set(const uint64_t* bits, size_t at) { return bits[at >> 6] >> (at & 63) & 1; }

    // Whether the length up to `column` is one more in the row `after`. From one row to the next,
    // zeros only move down and one may come in above: between the new place of a zero and its old
    // one the length is greater, so an odd number of changed bits lies below.
    static bool grows_below(const uint64_t* before, const uint64_t* after, size_t column) {
        uint64_t changed = 0;
        const size_t whole = column >> 6;
        for (size_t at = 0; at < whole; ++at) changed ^= before[at] ^ after[at];
        if (column & 63) {
            changed ^= (before[whole] ^ after[whole]) & ((uint64_t{1} << (column & 63)) - 1);
        }
        return __builtin_parityll(changed);
    }

    // Makes the next row of the one that stands in `bits`.
    void step(uint32_t number, uint64_t* bits) {
        if (number >= places_.size() || places_[number].times == 0) return;
        const Place& place = places_[number];
        uint64_t* const mask = &masks_[place.mask * words_];
        if (place.mask == 0) {
            for (uint32_t at = place.first; at != 0; at = next_[at - 1]) {
                mask[(at - 1) >> 6] |= uint64_t{1} << ((at - 1) & 63);
            }
        }
        unsigned char carry = 0;
        for (size_t at = 0; at < words_; ++at) {
            const uint64_t old = bits[at];
            bits[at] = add(carry, old, old & mask[at]) | (old & ~mask[at]);
        }
        if (place.mask == 0) {
            for (uint32_t at = place.first; at != 0; at = next_[at - 1]) mask[(at - 1) >> 6] = 0;
        }
    }

    const uint32_t* columns_ = nullptr;
    size_t count_ = 0, words_ = 0;
    bool all_ = false;  // whether every number has a mask
    std::vector<Place> places_;
    std::vector<uint32_t> distinct_, next_;
    std::vector<uint64_t> masks_, bits_, kept_, table_;
    std::vector<size_t> offsets_;
    std::vector<unsigned char> carries_;
};

}  // namespace odqa
