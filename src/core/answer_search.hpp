// Which texts of a row hold one of its answers. Each answer is prepared once a row and each text once
// for all answers.
#pragma once
#include <deque>

#include "contains.hpp"

namespace odqa {

// Buffers are kept from row to row, so one AnswerSearch belongs to one thread.
class AnswerSearch {
public:
    // `position` is told for texts that are searched as they stand.
    static constexpr size_t unknown = Text::npos;

    explicit AnswerSearch(const Rule& rule) : rule_(rule) {}

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
        gold.needle.assign(answer, rule_);
        empty_golds_ += gold.needle.empty() || spare_.vanishes(answer, rule_.emptiness);
    }

    size_t size() const { return size_; }
    size_t empty_golds() const { return empty_golds_; }

    // Whether the text holds an answer; `answer` and `position` then tell which (the first in the
    // order of the answers) and where.
    bool find(Text text) {
        if (size_ == 0) return false;
        text_.start(text, rule_);
        for (size_t k = 0; k < size_; ++k) {
            if (!text_.holds(golds_[k].needle, rule_)) continue;
            answer_ = golds_[k].index;
            return true;
        }
        return false;
    }

    size_t answer() const { return answer_; }

    // In code points from the start of the text that `find` was given, or `unknown`.
    size_t position(Text text) const {
        const size_t place = text_.place();
        if (place == unknown) return unknown;
        size_t points = 0;
        for (size_t at = 0; at < place; ++at) points += (text[at] & 0xC0) != 0x80;
        return points;
    }

private:
    struct Gold {
        size_t index = 0;
        Needle needle;
    };

    Rule rule_;
    std::deque<Gold> golds_;  // never moved: they hold pointers into themselves
    size_t size_ = 0, empty_golds_ = 0;
    Haystack text_;
    NormalizedText spare_;
    size_t answer_ = 0;
};

}  // namespace odqa
