// KILT's provenance measures: the ids of a guess held against sets of ids that each suffice together.
//
// From the description of facebookresearch/KILT's eval_retrieval: an id that belongs to a set moves
// the set's mark to the end of the ranking; the mark counts once the set is complete.
#pragma once
#include <algorithm>

#include "normalize.hpp"
#include "ranking.hpp"

namespace odqa {

// Texts must outlive the row.
class EvidenceRun {
public:
    void start() {
        sets_.clear();
        guess_.clear();
    }

    // The next set, and its ids; one without an id counts for completeness alone.
    void add_set() { sets_.emplace_back(); }
    void add_id(Text id) { sets_.back().ids.push_back(strip(id)); }
    void add_missing_id() { sets_.back().ids.push_back(Text()); sets_.back().missing = true; }

    // The next guessed id; one that came before holds no place of its own.
    void guess(Text id) {
        id = strip(id);
        if (std::find(guess_.begin(), guess_.end(), id) == guess_.end()) guess_.push_back(id);
    }

    void rank() {
        r_precision_ = 0;
        for (Set& set : sets_) {
            std::sort(set.ids.begin(), set.ids.end());
            set.ids.erase(std::unique(set.ids.begin(), set.ids.end()), set.ids.end());
            r_precision_ = std::max(r_precision_, precision_of(set));
        }
        // Each set once, in the order given: an id of two sets marks them in that order.
        size_t kept = 0;
        for (size_t k = 0; k < sets_.size(); ++k) {
            const auto same = [&](const Set& set) { return set.ids == sets_[k].ids; };
            const auto end = sets_.begin() + static_cast<std::ptrdiff_t>(kept);
            if (std::find_if(sets_.begin(), end, same) != end) continue;
            if (kept != k) std::swap(sets_[kept], sets_[k]);
            ++kept;
        }
        sets_.resize(kept);
        marks_.clear();
        for (const Text id : guess_) mark(id);
    }

    // Of the first `k` marks.
    double value(Measure measure, size_t k) const {
        if (measure == Measure::r_precision) return r_precision_;
        double complete = 0;
        for (size_t at = 0; at < marks_.size() && at < k; ++at) complete += marks_[at].complete;
        if (complete == 0) return 0;
        if (measure == Measure::hit) return 1;
        return complete / static_cast<double>(measure == Measure::recall ? sets_.size() : k);
    }

private:
    struct Set {
        std::vector<Text> ids;
        size_t found = 0;
        bool missing = false;
    };
    struct Mark {
        size_t set;
        bool complete;
    };
    static constexpr size_t no_set = Text::npos;

    static bool has_id(const Set& set, Text id) {
        return std::binary_search(set.ids.begin(), set.ids.end(), id);
    }

    double precision_of(const Set& set) const {
        const size_t wanted = set.ids.size() - set.missing;
        if (wanted == 0) return 0;
        double found = 0;
        for (size_t at = 0; at < guess_.size() && at < wanted; ++at) found += has_id(set, guess_[at]);
        return found / static_cast<double>(wanted);
    }

    void mark(Text id) {
        bool known = false;
        for (size_t k = 0; k < sets_.size(); ++k) {
            if (!has_id(sets_[k], id)) continue;
            known = true;
            if (sets_[k].found++ != 0) {
                marks_.erase(std::find_if(marks_.begin(), marks_.end(),
                                          [&](const Mark& mark) { return mark.set == k; }));
            }
            marks_.push_back({k, sets_[k].found == sets_[k].ids.size()});
        }
        if (!known) marks_.push_back({no_set, false});
    }

    std::vector<Set> sets_;
    std::vector<Text> guess_;
    std::vector<Mark> marks_;
    double r_precision_ = 0;
};

}  // namespace odqa
