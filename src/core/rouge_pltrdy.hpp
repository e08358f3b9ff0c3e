// ROUGE as the `rouge` package (pltrdy) computes it; KILT, LongBench and BERGEN use it.
//
// Which lists count each word or n-gram once differs: 1.0.1 does for all, 1.0.0 for rouge-l alone,
// and 1.0.1 with exclusive=False for none (then rouge-l may pass 1). A pair that the package refuses,
// because one side has no sentence, scores 0, as those three tools make it.
#pragma once
#include "rouge.hpp"

namespace odqa {

class PltrdyScorer {
public:
    // `blank_is_nothing`: white space is no answer, and as a text scores 0 (KILT).
    PltrdyScorer(bool gram_sets, bool word_sets, bool blank_is_nothing, uint32_t types)
        : gram_sets_(gram_sets), word_sets_(word_sets), blank_is_nothing_(blank_is_nothing),
          types_(types), best_(types) {}

    void start(Text prediction, bool /* null is as empty */) {
        best_.start();
        is_nothing_ = blank_is_nothing_ && strip(prediction).empty();
        text_.assign(is_nothing_ ? Text() : prediction, true, stems_);
    }

    // Returns whether the answer has no words.
    bool add(Text answer) {
        if (blank_is_nothing_ && strip(answer).empty()) return true;
        answer_.assign(answer, true, stems_);
        best_.add();
        if (!text_.tokens().empty() && !answer_.tokens().empty()) compare();
        return answer_.tokens().empty();
    }

    void finish() {
        if (!is_nothing_) best_.finish();
    }
    double value(int which) const { return best_.value(which); }
    bool text_is_empty() const { return text_.tokens().empty(); }

private:
    bool wants(int type) const { return types_ >> type & 1; }

    void compare() {
        numbers_.clear(text_.tokens().size() + answer_.tokens().size());
        numbers_.number(text_.tokens(), predicted_);
        numbers_.number(answer_.tokens(), wanted_);
        grams_.start(predicted_, wanted_, numbers_.count());
        if (wants(rouge_l)) best_.keep(rouge_l, longest());
        for (int n = 1; (types_ & gram_types) >> n != 0; ++n) {
            if (n > 1) grams_.lengthen();
            if (wants(n)) best_.keep(n, grams());
        }
    }

    static Rouge score(size_t hits, size_t predicted, size_t wanted) {
        Rouge pair;
        if (predicted) pair.precision = static_cast<double>(hits) / static_cast<double>(predicted);
        if (wanted) pair.recall = static_cast<double>(hits) / static_cast<double>(wanted);
        pair.f = 2.0 * ((pair.precision * pair.recall) / (pair.precision + pair.recall + 1e-8));
        return pair;
    }

    Rouge grams() {
        if (!gram_sets_) return score(grams_.overlap(), grams_.size(0), grams_.size(1));
        const auto found = grams_.distinct();
        return score(found.common, found.first, found.second);
    }

    // Sets: the words that are in the common subsequence of some sentence of the prediction and
    // some of the answer. Else the lengths of those subsequences, all together.
    Rouge longest() {
        met_.assign(numbers_.count() + 1, 0);
        size_t hits = 0, begin = 0;
        for (const size_t end : answer_.ends()) {
            const uint32_t* const rows = wanted_.data() + begin;
            size_t from = 0;
            for (const size_t to : text_.ends()) {
                lcs_.columns(predicted_.data() + from, to - from);
                if (word_sets_) {
                    lcs_.walk(rows, end - begin, Tie::column, [&](size_t at) {
                        hits += met_[rows[at]] == 0;
                        met_[rows[at]] = 1;
                    });
                } else {
                    hits += lcs_.length(rows, end - begin);
                }
                from = to;
            }
            begin = end;
        }
        if (!word_sets_) return score(hits, predicted_.size(), wanted_.size());
        const auto words = grams_.distinct();
        return score(hits, words.first, words.second);
    }

    bool gram_sets_, word_sets_, blank_is_nothing_, is_nothing_ = false;
    uint32_t types_;
    StemCache stems_;
    RougeText text_{Words::pltrdy, false}, answer_{Words::pltrdy, false};
    BestRouge best_;
    TokenNumbers numbers_;
    GramNumbers grams_;
    Lcs lcs_;
    std::vector<uint32_t> predicted_, wanted_;
    std::vector<char> met_;
};

}  // namespace odqa
