// One text held against the gold answers of its row: EM, token F1, precision, recall, containment.
#pragma once
#include <limits>

#include "cut.hpp"
#include "dpr_match.hpp"

namespace odqa {

enum class PairRule : int { v1, v2, yes_no };           // what F1 is when a side is empty or special
enum class Combine : int { best_by_f1, each_max };      // over the answers of a row
enum class NoGold : int { null, zero, blank };          // when a row has an empty list of answers
enum class Contains : int { normalized, popqa, shared_token };

struct Rule {
    Normalizer normalizer = Normalizer::squad;
    Cut cut = Cut::none;
    PairRule pair = PairRule::v1;
    Combine combine = Combine::best_by_f1;
    NoGold no_gold = NoGold::null;
    Contains contains = Contains::normalized;
    bool empty_needle = false;  // whether an answer of nothing stands inside every text
    bool blank_is_nothing = false;  // white space is no answer, and as a text scores 0
    Normalizer emptiness = Normalizer::squad;  // by which an answer or text counts as empty
    bool want_em = true;
    bool want_overlap = true;   // F1, precision or recall are asked for
    bool want_contains = true;
};

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

inline bool is_yes_no(const Tokens& tokens) {
    if (tokens.size() != 1) return false;
    const Text text(tokens[0].begin, tokens[0].size);
    return text == "yes" || text == "no" || text == "noanswer";
}

// Buffers are kept from row to row, so one Matcher belongs to one thread.
class Matcher {
public:
    explicit Matcher(const Rule& rule) : rule_(rule) {}

    // A null text scores 0 whatever the answers are.
    void start(Text text, bool is_null) {
        source_ = cut(text, rule_.cut);
        if (rule_.normalizer == Normalizer::dpr) search_.start(source_);
        else text_.assign(source_, rule_.normalizer);
        is_null_ = is_null;
        best_ = Scores{};
        golds_ = 0;
    }

    // Returns whether the answer is one of nothing.
    bool add(Text answer) {
        if (rule_.blank_is_nothing && odqa::strip(answer).empty()) return true;
        bool empty;
        if (is_decided()) {
            empty = spare_.vanishes(answer, rule_.normalizer);
        } else {
            answer_.assign(answer, rule_.normalizer);
            empty = answer_.empty();
        }
        if (!empty || rule_.no_gold != NoGold::blank) {
            ++golds_;
            if (!is_decided()) compare(answer);
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
            answer_.assign("", rule_.normalizer);
            compare("");
        }
    }

    // Once finished: by the order in Scores, NaN where the row is not scored.
    double value(int which) const { return best_.value(which); }

    bool text_is_empty() {
        return is_literal() ? spare_.vanishes(source_, rule_.emptiness) : text_.empty();
    }

private:
    // Whether the comparison itself says nothing of what the profile's normalizer would leave.
    bool is_literal() const {
        return rule_.normalizer == Normalizer::raw || rule_.normalizer == Normalizer::strip ||
               rule_.normalizer == Normalizer::dpr;
    }

    // Whether no answer can change a score any more.
    bool is_decided() const {
        return best_.contains == 1 && !rule_.want_em && !rule_.want_overlap;
    }

    void compare(Text answer) {
        if (rule_.want_em || rule_.want_overlap) {
            const bool equal = text_ == answer_;
            best_.em = std::max(best_.em, equal ? 1.0 : 0.0);
            if (rule_.want_overlap) overlap_scores(equal);
        }
        if (rule_.want_contains && best_.contains == 0 && contains(answer)) best_.contains = 1;
    }

    void overlap_scores(bool equal) {
        Scores pair;
        const size_t predicted = text_.tokens().size(), gold = answer_.tokens().size();
        if (clash()) return;
        if (predicted == 0 && gold == 0) {
            if (rule_.pair == PairRule::v2) pair.f1 = pair.precision = pair.recall = 1;
        } else {
            const size_t common =
                equal ? predicted : overlap(text_.tokens(), answer_.tokens());
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

    bool contains(Text answer) {
        if (rule_.contains == Contains::popqa) return contains_popqa(answer);
        if (answer_.empty()) {
            return rule_.empty_needle && rule_.contains != Contains::shared_token;
        }
        if (rule_.normalizer == Normalizer::dpr) return search_.has(answer_);
        if (!holds(text_.text(), answer_.text())) return false;
        return rule_.contains != Contains::shared_token ||
               (!clash() && overlap(text_.tokens(), answer_.tokens()) != 0);
    }

    // "yes", "no" and "noanswer" have nothing in common with any other text.
    bool clash() {
        return rule_.pair == PairRule::yes_no && !(text_ == answer_) &&
               (is_yes_no(text_.tokens()) || is_yes_no(answer_.tokens()));
    }

    // adaptive-retrieval: the answer as it stands, lowered, or capitalized, in the raw text.
    bool contains_popqa(Text answer) {
        if (answer.empty()) return rule_.empty_needle;
        if (holds(source_, answer)) return true;
        decode(answer, points_);
        cased_.clear();
        lower(points_.data(), points_.size(), cased_);
        if (holds(source_, encode(cased_))) return true;
        cased_.clear();
        capitalize(points_.data(), points_.size(), cased_);
        return holds(source_, encode(cased_));
    }

    Rule rule_;
    Text source_;
    NormalizedText text_, answer_, spare_;
    AnswerSearch search_;  // instead of text_ for `dpr`, which is for containment alone
    Scores best_;
    size_t golds_ = 0;
    bool is_null_ = false;
    CodePoints points_, cased_;
};

}  // namespace odqa
