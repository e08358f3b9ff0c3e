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
        distinct_.resize(count + 1);
        size_t distinct = 0;
        for (size_t at = 0; at < count; ++at) {
            const uint32_t number = numbers[at];
            if (number >= places_.size()) places_.resize(number + number / 2 + 1);
            uint32_t& place = places_[number];
            distinct_[distinct] = number;
            distinct += place == 0;
            place = place == 0 ? static_cast<uint32_t>(distinct) : place;
        }
        distinct_.resize(distinct);
        all_ = distinct * words_ <= max_words;
        if (all_) {
            masks_.assign((distinct + 1) * words_, 0);
            for (size_t at = 0; at < count; ++at) set(places_[numbers[at]], at);
        } else {
            chain();
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
        size_t met = 0;  // a row whose number no column has changes nothing
        for (size_t at = 0; at < count; ++at) {
            const size_t mask = place_of(rows[at]);
            offsets_[met] = mask * words_;
            met += mask != 0;
        }
        count = met;
        carries_.assign(count, 0);
        for (size_t word = 0; word < words_; word += group) {
            uint64_t a = ~uint64_t{0}, b = a, c = a, d = a;
            for (size_t at = 0; at < count; ++at) {
                const uint64_t* const mask = &masks_[offsets_[at] + word];
                // The four sums stand together, so that the carry stays where the processor has it.
                const uint64_t both[] = {a & mask[0], b & mask[1], c & mask[2], d & mask[3]};
                unsigned char carry = carries_[at];
                const uint64_t sum_a = add(carry, a, both[0]), sum_b = add(carry, b, both[1]);
                const uint64_t sum_c = add(carry, c, both[2]), sum_d = add(carry, d, both[3]);
                carries_[at] = carry;
                a = sum_a | (a ^ both[0]);
                b = sum_b | (b ^ both[1]);
                c = sum_c | (c ^ both[2]);
                d = sum_d | (d ^ both[3]);
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
    static constexpr size_t max_words = 1 << 17, group = 4;

    static size_t ones(uint64_t word) { return static_cast<size_t>(__builtin_popcountll(word)); }

    static uint64_t add(unsigned char& carry, uint64_t a, uint64_t b) {
#ifdef ODQA_X86
        unsigned long long sum;
        carry = _addcarry_u64(carry, a, b, &sum);
#else
        const uint64_t half = a + b, sum = half + carry;
        carry = (half < a) | (sum < half);
#endif
        return sum;
    }

    // One word of the next row.
    static uint64_t next(unsigned char& carry, uint64_t bits, uint64_t mask) {
        const uint64_t both = bits & mask;
        return add(carry, bits, both) | (bits ^ both);
    }

    void forget() {
        for (const uint32_t number : distinct_) places_[number] = 0;
        distinct_.clear();
    }

    // Counted from 1 in order of the numbers' first columns; 0 where no column has the number.
    uint32_t place_of(uint32_t number) const {
        return number < places_.size() ? places_[number] : 0;
    }

    void set(size_t mask, size_t at) {
        masks_[mask * words_ + (at >> 6)] |= uint64_t{1} << (at & 63);
    }

    // Too many masks to keep them all: those of numbers that stand so often that few can, and for
    // the others a list of their columns, of which a mask is put together when it is needed.
    void chain() {
        std::vector<uint32_t> times(distinct_.size() + 1, 0);
        for (size_t at = 0; at < count_; ++at) ++times[places_[columns_[at]]];
        mask_of_.assign(times.size(), 0);
        size_t dense = 0;
        for (size_t place = 1; place < times.size(); ++place) {
            if (times[place] >= words_) mask_of_[place] = ++dense;
        }
        masks_.assign((dense + 1) * words_, 0);  // the first is the one put together
        first_.assign(times.size(), 0);
        next_.resize(count_);
        for (size_t at = count_; at-- > 0;) {
            const uint32_t place = places_[columns_[at]];
            if (mask_of_[place] != 0) set(mask_of_[place], at);
            next_[at] = first_[place];
            first_[place] = static_cast<uint32_t>(at) + 1;
        }
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
        const uint32_t place = place_of(number);
        if (place == 0) return;
        const size_t mask = all_ ? place : mask_of_[place];
        const bool put_together = mask == 0;
        if (put_together) {
            for (uint32_t at = first_[place]; at != 0; at = next_[at - 1]) set(0, at - 1);
        }
        const uint64_t* const words = &masks_[mask * words_];
        unsigned char carry = 0;
        for (size_t at = 0; at < words_; ++at) bits[at] = next(carry, bits[at], words[at]);
        if (put_together) {
            for (uint32_t at = first_[place]; at != 0; at = next_[at - 1]) masks_[(at - 1) >> 6] = 0;
        }
    }

    const uint32_t* columns_ = nullptr;
    size_t count_ = 0, words_ = 0;
    bool all_ = false;  // whether every number has a mask
    std::vector<uint32_t> places_, distinct_, first_, next_;
    std::vector<size_t> mask_of_;
    std::vector<uint64_t> masks_, bits_, kept_, table_;
    std::vector<size_t> offsets_;
    std::vector<unsigned char> carries_;
};

}  // namespace odqa
