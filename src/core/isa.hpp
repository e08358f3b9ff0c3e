// Which instruction set the hot loops use: the best this processor has, chosen once, or the one
// that ODQA_FAST_ISA names. Every loop has a scalar twin that gives the same bits.
#pragma once
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#define ODQA_X86 1
#include <immintrin.h>
#define ODQA_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define ODQA_AVX512                                                                        \
    __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi," \
                          "avx512vbmi2")))
#endif

namespace odqa {

enum class Isa : int { scalar, avx2, avx512 };

inline constexpr const char* isa_names[] = {"scalar", "avx2", "avx512"};

inline Isa best_isa() {
#ifdef ODQA_X86
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2")) {
        return Isa::avx512;
    }
    if (avx2) return Isa::avx2;
#endif
    return Isa::scalar;
}

// An unknown name or a set this processor lacks counts as not given here; columns.pyx refuses it
// when the package is imported.
inline Isa chosen_isa() {
    const Isa best = best_isa();
    const char* const wish = std::getenv("ODQA_FAST_ISA");
    for (int k = 0; wish != nullptr && k <= static_cast<int>(best); ++k) {
        if (std::strcmp(wish, isa_names[k]) == 0) return static_cast<Isa>(k);
    }
    return best;
}

inline const Isa isa = chosen_isa();

}  // namespace odqa
