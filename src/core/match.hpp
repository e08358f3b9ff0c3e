// One text held against the gold answers of its row: EM, token F1, precision, recall, containment.
#pragma once
#include <limits>

#include "contains.hpp"

namespace odqa {

struct Scores {
    double em = 0, f1 = 0, precision = 0, recall = 0, contains = 0;

    // In the order that they stand above.
    double value(int which) const {
        static constexpr double Scores::* all[] = {&Scores::em, &Scores::f1, &Scores::precision,
                                                   &Scores::recall, &Scores::contains};
        return this->*all[which];
    }
};

// The order of the operations is the reference's: 2c / (p + g) differs in the last bit.
inline void token_f1(size_t common, size_t predicted, size_t gold, Scores& out) {
    out.precision = static_cast<double>(common) / static_cast<double>(predicted);
    out.recall = static_cast<double>(common) / static_cast<double>(gold);
    out.f1 = (2 * out.precision * out.recall) / (out.precision + out.recall);
}

// Buffers are kept from row to row, so one Matcher belongs to one thread.
class Matcher {
public:
    explicit Matcher(const Rule& rule) : rule_(rule) {}

    // A null text scores 0 whatever the answers are.
    void start(Text text, bool is_null) {
        source_ = cut(text, rule_.cut);
        text_.start(source_, rule_);
        is_null_ = is_null;
        best_ = Scores{};
        golds_ = 0;
    }

    // Returns whether the answer is one of nothing.
    bool add(Text answer) {
        if (rule_.blank_is_nothing && odqa::strip(answer).empty()) return true;
        bool empty;
        if (is_decided()) {
            empty = spare_.vanishes(answer, rule_.steps);
        } else {
            answer_.assign(answer, rule_);
            empty = answer_.normal().empty();
        }
        if (!empty || rule_.no_gold != NoGold::blank) {
            ++golds_;
            if (!is_decided()) compare();
        }
        return empty || (is_literal() && spare_.vanishes(answer, rule_.emptiness));
    }

    void finish() {
        if (rule_.blank_is_nothing && odqa::strip(source_).empty()) {
            best_ = Scores{};
        } else if (golds_ == 0 && rule_.no_gold == NoGold::null) {
            constexpr double unscored = std::numeric_limits<double>::quiet_NaN();
            best_ = {unscored, unscored, unscored, unscored, unscored};
        } else if (is_null_) {
            best_ = Scores{};
        } else if (golds_ == 0 && rule_.no_gold == NoGold::blank) {
            answer_.assign("", rule_);
            compare();
        }
    }

    // Once finished: by the order in Scores, NaN where the row is not scored.
    double value(int which) const { return best_.value(which); }

    bool text_is_empty() {
        return is_literal() ? spare_.vanishes(source_, rule_.emptiness) : text_.normal().empty();
    }

private:
    // Whether the comparison itself says nothing of what the profile's normalizer would leave.
    bool is_literal() const { return rule_.steps.form() != Form::words; }

    // Whether no answer can change a score any more.
    bool is_decided() const {
        return best_.contains == 1 && !rule_.want_em && !rule_.want_overlap;
    }

    void compare() {
        if (rule_.want_em || rule_.want_overlap) {
            const bool equal = text_.normal() == answer_.normal();
            best_.em = std::max(best_.em, equal ? 1.0 : 0.0);
            if (rule_.want_overlap) overlap_scores(equal);
        }
        if (rule_.want_contains && best_.contains == 0 && text_.holds(answer_, rule_)) {
            best_.contains = 1;
        }
    }

    void overlap_scores(bool equal) {
        Scores pair;
        const Tokens &ours = text_.normal().tokens(), &theirs = answer_.normal().tokens();
        const size_t predicted = ours.size(), gold = theirs.size();
        if (clash(rule_, text_.normal(), answer_.normal())) return;
        if (predicted == 0 && gold == 0) {
            if (rule_.pair == PairRule::v2) pair.f1 = pair.precision = pair.recall = 1;
        } else {
            const size_t common = equal ? predicted : overlap(ours, theirs);
            if (common != 0) token_f1(common, predicted, gold, pair);
        }
        if (rule_.combine == Combine::each_max) {
            best_.f1 = std::max(best_.f1, pair.f1);
            best_.precision = std::max(best_.precision, pair.precision);
            best_.recall = std::max(best_.recall, pair.recall);
        } else if (pair.f1 > best_.f1) {
            best_.f1 = pair.f1;
            best_.precision = pair.precision;
            best_.recall = pair.recall;
        }
    }

    Rule rule_;
    Text source_;
    Haystack text_;
    Needle answer_;
    NormalizedText spare_;
    Scores best_;
    size_t golds_ = 0;
    bool is_null_ = false;
};

}  // namespace odqa
