// A sum of doubles without any rounding, so that no order, batch or thread count can move a mean.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace odqa {

// A fixed-point number: limb k counts units of 2^(64 k - 1074). A limb has 128 bits, of which a double
// fills at most 117: what is above the lowest 64 is carried on often enough.
class ExactSum {
public:
    static constexpr int limb_count = 34;
    static constexpr int lowest_exponent = -1074;

    // Adds every value but NaN. Returns how many those are, or -1 where one is infinite.
    int64_t add(const double* values, size_t count) {
        int64_t added = 0;
        for (size_t first = 0; first < count; first += between_carries) {
            const int64_t here = add_some(values + first, std::min(between_carries, count - first));
            if (here < 0) return -1;
            added += here;
            carry();
        }
        return added;
    }

    // In [0, 2^64), but for the last one, which has the sign of the sum.
    __int128 limb(int k) const { return limbs_[k]; }

private:
    static constexpr size_t between_carries = 1024;
    // That of the numbers from 2^-62 to 1, which nearly all are: its sum stays in a register.
    static constexpr unsigned usual = 15;

    int64_t add_some(const double* values, size_t count) {
        __int128 sum = 0;
        int64_t added = 0;
        for (size_t at = 0; at < count; ++at) {
            uint64_t bits;
            std::memcpy(&bits, values + at, sizeof bits);
            const auto exponent = static_cast<unsigned>(bits >> 52 & 0x7FF);
            uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
            if (exponent == 0x7FF) {
                if (mantissa == 0) return -1;
                continue;
            }
            ++added;
            mantissa |= static_cast<uint64_t>(exponent != 0) << 52;
            const unsigned shift = exponent - (exponent != 0);
            const auto wide = static_cast<__int128>(mantissa) << (shift & 63);
            const __int128 value = bits >> 63 ? -wide : wide;
            if (shift >> 6 == usual || mantissa == 0) sum += value;
            else limbs_[shift >> 6] += value;
        }
        limbs_[usual] += sum;
        return added;
    }

    void carry() {
        for (int k = 0; k + 1 < limb_count; ++k) {
            limbs_[k + 1] += limbs_[k] >> 64;
            limbs_[k] = static_cast<uint64_t>(limbs_[k]);
        }
    }

    __int128 limbs_[limb_count] = {};
};

}  // namespace odqa
