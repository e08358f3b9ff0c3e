// A sum of doubles without any rounding, so that no order, batch or thread count can move a mean.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace odqa {

// A fixed-point number: limb k counts units of 2^(32 k - 1074). Each limb holds 32 bits and leaves
// 31 for carries, which are settled often enough.
class ExactSum {
public:
    static constexpr int limb_count = 67;
    static constexpr int lowest_exponent = -1074;

    // `x` must be finite.
    void add(double x) {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const auto exponent = static_cast<int>(bits >> 52 & 0x7FF);
        uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
        if (exponent != 0) mantissa |= uint64_t{1} << 52;
        const int shift = exponent == 0 ? 0 : exponent - 1;
        const auto wide = static_cast<unsigned __int128>(mantissa) << (shift & 31);
        int64_t* limb = limbs_ + (shift >> 5);
        const int64_t sign = bits >> 63 ? -1 : 1;
        limb[0] += sign * static_cast<int64_t>(static_cast<uint32_t>(wide));
        limb[1] += sign * static_cast<int64_t>(static_cast<uint32_t>(wide >> 32));
        limb[2] += sign * static_cast<int64_t>(static_cast<uint32_t>(wide >> 64));
        if (++pending_ == (1u << 30)) settle();
    }

    // Moves carries up; every limb but the last is then in [0, 2^32).
    void settle() {
        for (int k = 0; k + 1 < limb_count; ++k) {
            const int64_t carry = limbs_[k] >> 32;
            limbs_[k] -= carry * (int64_t{1} << 32);
            limbs_[k + 1] += carry;
        }
        pending_ = 0;
    }

    int64_t limb(int k) const { return limbs_[k]; }

private:
    int64_t limbs_[limb_count] = {};
    uint32_t pending_ = 0;
};

}  // namespace odqa
