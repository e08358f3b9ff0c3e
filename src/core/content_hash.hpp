// A 128-bit hash of what a file holds, to tell whether it is the same one; not against forgery.
#pragma once
#include <algorithm>

#include "text.hpp"

namespace odqa {

// Takes bytes in pieces of any sizes. Word i of a stripe of eight goes to lane i, so that eight
// multiplications are under way at a time. The keys are the first 64 bits of the fractional parts
// of the square roots of the first eight primes (FIPS 180-4), made odd.
class ContentHash {
public:
    void update(const char* data, size_t size) {
        size_ += size;
        if (held_) {
            const size_t taken = std::min(size, kStripe - held_);
            std::memcpy(tail_ + held_, data, taken);
            held_ += taken;
            data += taken;
            size -= taken;
            if (held_ < kStripe) return;
            absorb(tail_, kStripe);
            held_ = 0;
        }
        const size_t whole = size / kStripe * kStripe;
        absorb(data, whole);
        held_ = size - whole;
        std::memcpy(tail_, data + whole, held_);
    }

    // What was taken so far; more may follow.
    void digest(uint64_t out[2]) const {
        ContentHash rest = *this;
        std::memset(rest.tail_ + held_, 0, kStripe - held_);
        rest.absorb(rest.tail_, kStripe);
        Lane all{size_, 0};
        for (const Lane& lane : rest.lanes_) {
            all.mix(lane.low, kKeys[0]);
            all.mix(lane.high, kKeys[1]);
        }
        for (uint64_t key : kKeys) all.mix(0, key);
        out[0] = all.low;
        out[1] = all.high;
    }

private:
    struct Lane {
        uint64_t low, high;
        void mix(uint64_t word, uint64_t key) {
            const auto product = static_cast<unsigned __int128>(low ^ word) * key;
            low = static_cast<uint64_t>(product) + high;
            high = static_cast<uint64_t>(product >> 64) ^ word;
        }
    };
    static constexpr size_t kLanes = 8, kStripe = 8 * kLanes;
    static constexpr uint64_t kKeys[kLanes] = {
        0x6A09E667F3BCC909u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
        0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};

    void absorb(const char* data, size_t size) {
        Lane lanes[kLanes];
        std::memcpy(lanes, lanes_, sizeof lanes);
        for (size_t at = 0; at < size; at += kStripe) {
            for (size_t i = 0; i < kLanes; ++i) lanes[i].mix(load8(data + at + 8 * i), kKeys[i]);
        }
        std::memcpy(lanes_, lanes, sizeof lanes);
    }

    Lane lanes_[kLanes] = {};
    uint64_t size_ = 0;
    size_t held_ = 0;
    char tail_[kStripe] = {};
};

}  // namespace odqa
