// The walk over rows that hold one text against a list of answers.
#pragma once
#include <limits>

#include "columns.hpp"

namespace odqa {

// A column of results: which value of the scorer it takes.
struct Output {
    int value;
    double* rows;
};

// What was odd about the rows.
struct RowCounts {
    int64_t null_texts = 0, empty_texts = 0, null_answers = 0, empty_answers = 0;
    int64_t null_answer_items = 0, empty_golds = 0, all_golds_empty = 0;
};

// Scores the rows [lo, hi) and writes these of the outputs only: ranges never overlap, so no lock is
// needed. A null list of answers is not scored (NaN).
template <class Scorer>
void score_rows(const Texts* texts, const Lists* lists, const Texts* answers, int64_t lo,
                int64_t hi, Scorer& scorer, const std::vector<Output>& outputs,
                RowCounts& counts) {
    for (int64_t row = lo; row < hi; ++row) {
        const bool is_null = !text_valid(texts, row);
        scorer.start(is_null ? Text() : text_at(texts, row), is_null);
        counts.null_texts += is_null;
        counts.empty_texts += !is_null && scorer.text_is_empty();
        const bool scored = list_valid(lists, row);
        counts.null_answers += !scored;
        if (scored) {
            const int64_t first = list_edge(lists, row), last = list_edge(lists, row + 1);
            int64_t golds = 0, empty = 0;
            for (int64_t item = first; item < last; ++item) {
                if (!text_valid(answers, item)) continue;
                ++golds;
                empty += scorer.add(text_at(answers, item));
            }
            counts.null_answer_items += last - first - golds;
            counts.empty_answers += golds == 0;
            counts.empty_golds += empty;
            counts.all_golds_empty += golds != 0 && empty == golds;
            scorer.finish();
        }
        for (const Output& output : outputs) {
            output.rows[row] = scored ? scorer.value(output.value)
                                      : std::numeric_limits<double>::quiet_NaN();
        }
    }
}

}  // namespace odqa
