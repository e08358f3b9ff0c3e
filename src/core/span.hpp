// The best span of an extractive reader: where its start and end logits together are largest.
#pragma once
#include <algorithm>
#include <cstdint>

namespace odqa {

struct LogitSpan {
    int64_t start = -1;  // -1: there is none
    int64_t end = -1;    // the last token of it
    double score = 0;
};

// The span [start, end] within [lo, hi) of at most `longest` tokens that maximizes
// start_logits[start] + end_logits[end]; among equals the one that starts first, then the shortest.
// A sum of two floats is exact enough in double to tell any two spans apart; one that is NaN is
// never chosen.
inline LogitSpan best_span(const float* start_logits, const float* end_logits, int64_t lo, int64_t hi,
                      int64_t longest) {
    LogitSpan best;
    for (int64_t start = lo; start < hi; ++start) {
        const double from = start_logits[start];
        const int64_t stop = std::min(hi, start + longest);
        for (int64_t end = start; end < stop; ++end) {
            const double score = from + end_logits[end];
            if (score > best.score || (best.start < 0 && score == score)) {
                best = {start, end, score};
            }
        }
    }
    return best;
}

}  // namespace odqa
