// Which texts of a row hold one of its answers. Each answer is prepared once a row and each text once
// for all answers.
#pragma once
#include <deque>

#include "match.hpp"

namespace odqa {

// Buffers are kept from row to row, so one EvidenceSearch belongs to one thread.
class EvidenceSearch {
public:
    // `position` is told for texts that are searched as they stand: of `raw` and `dpr`.
    static constexpr size_t unknown = Text::npos;

    explicit EvidenceSearch(const Rule& rule) : rule_(rule) {}

    void start() { size_ = empty_golds_ = 0; }

    // The next answer; `index` names it. It must outlive the row.
    void add(Text answer, size_t index) {
        if (rule_.blank_is_nothing && strip(answer).empty()) {
            ++empty_golds_;
            return;
        }
        if (size_ == golds_.size()) golds_.emplace_back();
        Gold& gold = golds_[size_++];
        gold.index = index;
        gold.source = answer;
        if (rule_.contains == Contains::popqa) {
            gold.spelled_ready = false;
            gold.empty = answer.empty();
        } else {
            gold.normal.assign(answer, rule_.normalizer);
            gold.empty = gold.normal.empty();
            if (rule_.normalizer == Normalizer::dpr && !gold.empty) {
                gold.clue = AnswerSearch::clue_of(gold.normal.tokens());
            }
        }
        empty_golds_ += gold.empty || spare_.vanishes(answer, rule_.emptiness);
    }

    size_t size() const { return size_; }
    size_t empty_golds() const { return empty_golds_; }

    // Whether the text holds an answer; `answer` and `position` then tell which (the first in the
    // order of the answers) and where.
    bool find(Text text) {
        if (size_ == 0) return false;
        if (rule_.normalizer == Normalizer::dpr) search_.start(text);
        else if (rule_.contains != Contains::popqa) text_.assign(text, rule_.normalizer);
        for (size_t k = 0; k < size_; ++k) {
            place_ = unknown;
            if (!holds_gold(text, golds_[k])) continue;
            answer_ = golds_[k].index;
            return true;
        }
        return false;
    }

    size_t answer() const { return answer_; }

    // In code points from the start of the text that `find` was given, or `unknown`.
    size_t position(Text text) const {
        if (place_ == unknown) return unknown;
        size_t points = 0;
        for (size_t at = 0; at < place_; ++at) points += (text[at] & 0xC0) != 0x80;
        return points;
    }

private:
    struct Gold {
        size_t index = 0;
        Text source;
        NormalizedText normal;
        AnswerSearch::Clue clue;
        std::string lowered, capitalized;
        bool empty = false, spelled_ready = false;
    };

    bool holds_gold(Text text, Gold& gold) {
        if (gold.empty) {
            // An empty token list has no token in common with anything.
            return rule_.empty_needle && rule_.contains != Contains::shared_token;
        }
        if (rule_.contains == Contains::popqa) {
            spell(gold);
            return locate(text, gold.source) || locate(text, gold.lowered) ||
                   locate(text, gold.capitalized);
        }
        if (rule_.normalizer == Normalizer::dpr) {
            if (!search_.has(gold.normal, gold.clue)) return false;
            place_ = search_.place();
            return true;
        }
        if (rule_.normalizer == Normalizer::raw) return locate(text, gold.source);
        if (!holds(text_.text(), gold.normal.text())) return false;
        return rule_.contains != Contains::shared_token ||
               (!clash(gold) && overlap(text_.tokens(), gold.normal.tokens()) != 0);
    }

    bool locate(Text text, Text needle) {
        place_ = odqa::find(text, needle);
        return place_ != Text::npos;
    }

    // See Matcher::contains_popqa: as it stands, lowered, or capitalized.
    void spell(Gold& gold) {
        if (gold.spelled_ready) return;
        gold.spelled_ready = true;
        decode(gold.source, points_);
        cased_.clear();
        lower(points_.data(), points_.size(), cased_);
        gold.lowered = encode(cased_);
        cased_.clear();
        capitalize(points_.data(), points_.size(), cased_);
        gold.capitalized = encode(cased_);
    }

    bool clash(const Gold& gold) const {
        return rule_.pair == PairRule::yes_no && !(text_ == gold.normal) &&
               (is_yes_no(text_.tokens()) || is_yes_no(gold.normal.tokens()));
    }

    Rule rule_;
    std::deque<Gold> golds_;  // never moved: they hold pointers into themselves
    size_t size_ = 0, empty_golds_ = 0;
    NormalizedText text_, spare_;
    AnswerSearch search_;
    size_t answer_ = 0, place_ = unknown;
    CodePoints points_, cased_;
};

}  // namespace odqa
