// KILT's provenance measures: the ids of a guess held against sets of ids that each suffice together.
//
// From the description of facebookresearch/KILT's eval_retrieval: an id that belongs to a set moves
// the set's mark to the end of the ranking; the mark counts once the set is complete.
#pragma once
#include <algorithm>
#include <numeric>
#include <utility>

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
    void guess(Text id) { guess_.push_back(strip(id)); }

    void rank() {
        keep_first(guess_, [](Text id) { return id; });
        r_precision_ = 0;
        for (Set& set : sets_) {
            std::sort(set.ids.begin(), set.ids.end());
            set.ids.erase(std::unique(set.ids.begin(), set.ids.end()), set.ids.end());
            r_precision_ = std::max(r_precision_, precision_of(set));
        }
        keep_first(sets_, [](const Set& set) -> const std::vector<Text>& { return set.ids; });
        // An id of two sets marks them in the order given.
        members_.clear();
        for (size_t k = 0; k < sets_.size(); ++k) {
            for (const Text id : sets_[k].ids) members_.push_back({id, k});
        }
        std::sort(members_.begin(), members_.end());
        marks_.clear();
        for (const Text id : guess_) mark(id);
        marks_.erase(std::remove_if(marks_.begin(), marks_.end(),
                                    [](const Mark& mark) { return mark.moved; }),
                     marks_.end());
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
        size_t mark = 0;  // the place of its mark, once an id is found
        bool missing = false;
    };
    struct Mark {
        bool complete;
        bool moved;  // there is one behind it that stands for the same set
    };
    using Member = std::pair<Text, size_t>;  // an id, and the index of a set that holds it

    // Leaves of equal items the first, all in their order.
    template <typename Item, typename Key>
    void keep_first(std::vector<Item>& items, const Key& key) {
        order_.resize(items.size());
        std::iota(order_.begin(), order_.end(), size_t{0});
        std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
            const auto& left = key(items[a]);
            const auto& right = key(items[b]);
            return left == right ? a < b : left < right;
        });
        const auto same = [&](size_t a, size_t b) { return key(items[a]) == key(items[b]); };
        order_.erase(std::unique(order_.begin(), order_.end(), same), order_.end());
        std::sort(order_.begin(), order_.end());
        for (size_t at = 0; at < order_.size(); ++at) {
            if (at != order_[at]) items[at] = std::move(items[order_[at]]);
        }
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(order_.size()), items.end());
    }

    double precision_of(const Set& set) const {
        const size_t wanted = set.ids.size() - set.missing;
        if (wanted == 0) return 0;
        double found = 0;
        for (size_t at = 0; at < guess_.size() && at < wanted; ++at) {
            found += std::binary_search(set.ids.begin(), set.ids.end(), guess_[at]);
        }
        return found / static_cast<double>(wanted);
    }

    void mark(Text id) {
        auto member = std::lower_bound(members_.begin(), members_.end(), Member(id, 0));
        if (member == members_.end() || member->first != id) marks_.push_back({false, false});
        for (; member != members_.end() && member->first == id; ++member) {
            Set& set = sets_[member->second];
            if (set.found++ != 0) marks_[set.mark].moved = true;
            set.mark = marks_.size();
            marks_.push_back({set.found == set.ids.size(), false});
        }
    }

    std::vector<Set> sets_;
    std::vector<Text> guess_;
    std::vector<Member> members_;
    std::vector<Mark> marks_;
    std::vector<size_t> order_;
    double r_precision_ = 0;
};

}  // namespace odqa
