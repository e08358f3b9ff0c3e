// Measures over a ranked list: where in it the hits stand, and what that is worth.
//
// Formulas and the order of their operations: trec_eval 9 (NIST), so that the values agree with it to
// the last bit.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "text.hpp"

namespace odqa {

// `capped`: recall with no more than k asked of it. `share`: precision over the places there are;
// `noise`: what is left of it.
enum class Measure : int { hit, recall, capped, precision, share, noise, mrr, map, ndcg, r_precision };
inline constexpr const char* measure_names[] = {
    "hit", "recall", "capped", "precision", "share", "noise", "mrr", "map", "ndcg", "r_precision",
    nullptr,
};

struct Hit {
    size_t rank;  // from 1
    double gain;
};

struct Ranking {
    std::vector<Hit> hits;       // by rank
    std::vector<double> ideal;   // the gains of everything relevant, highest first
    size_t retrieved = 0;
    size_t relevant = 0;

    void start() {
        hits.clear();
        ideal.clear();
        retrieved = relevant = 0;
    }

    void add(size_t rank) { hits.push_back({rank, 1}); }

    // The value of a measure, of the first `k` places only. 0 where nothing was found; NaN for the
    // share of an empty list.
    double value(Measure measure, size_t k) const {
        if (measure == Measure::noise) return 1 - value(Measure::share, k);
        if (measure == Measure::share && retrieved == 0) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        if (hits.empty() || hits[0].rank > k) return 0;
        const double first = static_cast<double>(hits[0].rank);
        const double all = static_cast<double>(relevant);
        switch (measure) {
            case Measure::hit: return 1;
            case Measure::mrr: return 1 / first;
            case Measure::noise: break;  // see above
            case Measure::recall: return found(k) / all;
            case Measure::capped: return found(k) / static_cast<double>(std::min(k, relevant));
            case Measure::precision: return found(k) / static_cast<double>(k);
            case Measure::share: return found(k) / static_cast<double>(std::min(k, retrieved));
            case Measure::r_precision: return found(relevant) / all;
            case Measure::map: {
                double sum = 0, so_far = 0;
                for (const Hit& hit : hits) {
                    if (hit.rank > k) break;
                    sum += ++so_far / static_cast<double>(hit.rank);
                }
                return sum / all;
            }
            case Measure::ndcg: {
                double gained = 0, best = 0;
                for (const Hit& hit : hits) {
                    if (hit.rank > k) break;
                    gained += discounted(hit.gain, hit.rank);
                }
                for (size_t at = 0; at < ideal.size() && at < k; ++at) {
                    best += discounted(ideal[at], at + 1);
                }
                return gained / best;
            }
        }
        return 0;
    }

private:
    static double discounted(double gain, size_t rank) {
        return gain / std::log2(static_cast<double>(rank + 1));
    }

    double found(size_t k) const {
        double n = 0;
        for (const Hit& hit : hits) {
            if (hit.rank > k) break;
            ++n;
        }
        return n;
    }
};

// Retrieved ids held against judged ones. Texts must outlive the row.
class JudgedRun {
public:
    void start() {
        judged_.clear();
        run_.clear();
        scored_ = 0;
    }

    void judge(Text id, int32_t relevance) { judged_.push_back({id, relevance, false}); }

    // The next of the list; one without an id holds its place and is never relevant.
    void retrieve(Text id) { run_.push_back({id, 0}); }
    void retrieve(Text id, double score) {
        // As trec_eval stores it: what is equal as a float is a tie.
        run_.push_back({id, static_cast<float>(score)});
        ++scored_;
    }

    bool partly_scored() const { return scored_ != 0 && scored_ != run_.size(); }
    size_t repeats() const { return repeats_; }

    // By score and, in a tie, by id, both falling; in the order of the list where scores are missing.
    // An id that stands twice is found once, at its first place.
    void rank(Ranking& out) {
        out.start();
        repeats_ = 0;
        // Judged twice: the higher judgement holds.
        std::sort(judged_.begin(), judged_.end(), [](const Judged& a, const Judged& b) {
            return a.id != b.id ? a.id < b.id : a.relevance > b.relevance;
        });
        judged_.erase(std::unique(judged_.begin(), judged_.end(),
                                  [](const Judged& a, const Judged& b) { return a.id == b.id; }),
                      judged_.end());
        for (const Judged& each : judged_) {
            if (each.relevance > 0) out.ideal.push_back(each.relevance);
        }
        std::sort(out.ideal.begin(), out.ideal.end(), std::greater<double>());
        out.relevant = out.ideal.size();
        out.retrieved = run_.size();
        if (scored_ == run_.size()) {
            const auto before = [](const Retrieved& a, const Retrieved& b) {
                return a.score != b.score ? a.score > b.score : a.id > b.id;
            };
            // Most lists are in order as they come.
            if (!std::is_sorted(run_.begin(), run_.end(), before)) {
                std::sort(run_.begin(), run_.end(), before);
            }
        }
        for (size_t at = 0; at < run_.size(); ++at) {
            Judged* const found = judgement(run_[at].id);
            if (found == nullptr) continue;
            if (found->seen) {
                ++repeats_;
                continue;
            }
            found->seen = true;
            out.hits.push_back({at + 1, static_cast<double>(found->relevance)});
        }
    }

private:
    struct Judged {
        Text id;
        int32_t relevance;
        bool seen;
    };
    struct Retrieved {
        Text id;
        float score;
    };

    // The judgement of an id that is relevant, or nothing.
    Judged* judgement(Text id) {
        if (id.data() == nullptr) return nullptr;
        const auto at = std::lower_bound(
            judged_.begin(), judged_.end(), id,
            [](const Judged& each, Text wanted) { return each.id < wanted; });
        const bool found = at != judged_.end() && at->id == id && at->relevance > 0;
        return found ? &*at : nullptr;
    }

    std::vector<Judged> judged_;
    std::vector<Retrieved> run_;
    size_t scored_ = 0, repeats_ = 0;
};

}  // namespace odqa
