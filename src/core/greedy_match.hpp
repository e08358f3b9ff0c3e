// BERTScore's matching: for each token of two texts the best cosine with a token of the other.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "isa.hpp"

namespace odqa {

// Sixteen sums side by side, added up in one order whatever the instruction set: the same bits.
typedef float Lanes __attribute__((vector_size(64)));
constexpr size_t lanes = 16;

struct TokenVectors {
    const float* data;  // size * dimension, row after row, each of length 1
    size_t size;
};

#define ODQA_INLINE __attribute__((always_inline)) inline

ODQA_INLINE float sum_of(const Lanes& sums) {
    float of[lanes];
    std::memcpy(of, &sums, sizeof of);
    for (size_t width = lanes / 2; width != 0; width /= 2) {
        for (size_t k = 0; k < width; ++k) of[k] += of[k + width];
    }
    return of[0];
}

ODQA_INLINE void load(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

// Dot products of one row with `count` rows that follow each other.
template <size_t count>
ODQA_INLINE void dots(const float* row, const float* rows, size_t dimension, float* out) {
    Lanes sums[count] = {};
    size_t k = 0;
    for (; k + lanes <= dimension; k += lanes) {
        Lanes a, b;
        load(a, row + k);
        for (size_t r = 0; r < count; ++r) {
            load(b, rows + r * dimension + k);
            sums[r] += a * b;
        }
    }
    for (size_t r = 0; r < count; ++r) {
        out[r] = sum_of(sums[r]);
        for (size_t rest = k; rest < dimension; ++rest) out[r] += row[rest] * rows[r * dimension + rest];
    }
}

ODQA_INLINE void best_cosines_with(TokenVectors a, TokenVectors b, size_t dimension, float floor,
                                   float* best_a, float* best_b) {
    std::fill(best_a, best_a + a.size, floor);
    std::fill(best_b, best_b + b.size, floor);
    constexpr size_t block = 4;
    float found[block];
    for (size_t i = 0; i < a.size; ++i) {
        const float* const row = a.data + i * dimension;
        for (size_t j = 0; j < b.size;) {
            const float* const rows = b.data + j * dimension;
            const size_t count = b.size - j >= block ? block : 1;
            if (count == block) {
                dots<block>(row, rows, dimension, found);
            } else {
                dots<1>(row, rows, dimension, found);
            }
            for (size_t r = 0; r < count; ++r, ++j) {
                best_a[i] = std::max(best_a[i], found[r]);
                best_b[j] = std::max(best_b[j], found[r]);
            }
        }
    }
}

#ifdef ODQA_X86
ODQA_AVX2 inline void best_cosines_avx2(TokenVectors a, TokenVectors b, size_t dimension,
                                        float floor, float* best_a, float* best_b) {
    best_cosines_with(a, b, dimension, floor, best_a, best_b);
}
ODQA_AVX512 inline void best_cosines_avx512(TokenVectors a, TokenVectors b, size_t dimension,
                                            float floor, float* best_a, float* best_b) {
    best_cosines_with(a, b, dimension, floor, best_a, best_b);
}
#endif

// A token's best cosine is `floor` where it has no better one.
inline void best_cosines(TokenVectors a, TokenVectors b, size_t dimension, float floor,
                         float* best_a, float* best_b) {
#ifdef ODQA_X86
    if (isa == Isa::avx512) return best_cosines_avx512(a, b, dimension, floor, best_a, best_b);
    if (isa == Isa::avx2) return best_cosines_avx2(a, b, dimension, floor, best_a, best_b);
#endif
    best_cosines_with(a, b, dimension, floor, best_a, best_b);
}

// The mean of the best cosines, each with its token's weight; NaN where none weighs anything.
inline double weighted_mean(const std::vector<float>& best, const float* weights, size_t size) {
    double sum = 0, total = 0;
    for (size_t k = 0; k < size; ++k) {
        sum += static_cast<double>(weights[k]) * best[k];
        total += weights[k];
    }
    return sum / total;
}

// To length 1; a row of zeros has no direction and stays as it is.
inline void to_unit(float* row, size_t dimension) {
    double squares = 0;
    for (size_t k = 0; k < dimension; ++k) squares += static_cast<double>(row[k]) * row[k];
    if (squares == 0) return;
    const double length = std::sqrt(squares);
    for (size_t k = 0; k < dimension; ++k) row[k] = static_cast<float>(row[k] / length);
}

}  // namespace odqa
