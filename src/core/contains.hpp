// Whether an answer stands in a text, by each of the ways in which the field looks for one.
#pragma once
#include "cut.hpp"
#include "dpr_match.hpp"

namespace odqa {

enum class PairRule : int { v1, v2, yes_no };           // what F1 is when a side is empty or special
inline constexpr const char* pair_rule_names[] = {"v1", "v2", "yes_no", nullptr};

enum class Combine : int { best_by_f1, each_max };      // over the answers of a row
inline constexpr const char* combine_names[] = {"best_by_f1", "each_max", nullptr};

enum class NoGold : int { null, zero, blank };          // when a row has an empty list of answers
inline constexpr const char* no_gold_names[] = {"null", "zero", "blank", nullptr};

enum class Contains : int { normalized, popqa, shared_token };
inline constexpr const char* contains_names[] = {"normalized", "popqa", "shared_token", nullptr};

// How a text is held against answers.
struct Rule {
    Steps steps;
    Cut cut = Cut::none;
    PairRule pair = PairRule::v1;
    Combine combine = Combine::best_by_f1;
    NoGold no_gold = NoGold::null;
    Contains contains = Contains::normalized;
    bool empty_needle = false;  // whether an answer of nothing stands inside every text
    bool blank_is_nothing = false;  // white space is no answer, and as a text scores 0
    Steps emptiness;            // by which an answer or text counts as empty
    bool want_em = true;
    bool want_overlap = true;   // F1, precision or recall are asked for
    bool want_contains = true;
};

inline bool is_yes_no(const Tokens& tokens) {
    if (tokens.size() != 1) return false;
    const Text text(tokens[0].begin, tokens[0].size);
    return text == "yes" || text == "no" || text == "noanswer";
}

// "yes", "no" and "noanswer" have nothing in common with any other text.
inline bool clash(const Rule& rule, const NormalizedText& a, const NormalizedText& b) {
    return rule.pair == PairRule::yes_no && !(a == b) &&
           (is_yes_no(a.tokens()) || is_yes_no(b.tokens()));
}

// An answer that is looked for; what a way needs of it is made once, when first needed.
class Needle {
public:
    // `source` must outlive it.
    void assign(Text source, const Rule& rule) {
        source_ = source;
        normal_.assign(source, rule.steps);
        has_clue_ = false;
        is_empty_ = normal_.empty();
        if (rule.contains == Contains::popqa) {
            is_empty_ = source.empty();
            lowered_.clear();
            capitalized_.clear();
        }
    }

    bool empty() const { return is_empty_; }
    Text source() const { return source_; }
    NormalizedText& normal() { return normal_; }

    const DprMatch::Clue& clue() {
        if (!has_clue_) DprMatch::find_clue(normal_.tokens(), clue_);
        has_clue_ = true;
        return clue_;
    }

    const std::string& lowered() {
        if (lowered_.empty()) spell(lowered_, lower);
        return lowered_;
    }

    const std::string& capitalized() {
        if (capitalized_.empty()) spell(capitalized_, capitalize);
        return capitalized_;
    }

private:
    void spell(std::string& out, void (*change)(const uint32_t*, size_t, CodePoints&)) {
        decode(source_, points_);
        cased_.clear();
        change(points_.data(), points_.size(), cased_);
        out = encode(cased_);
    }

    Text source_;
    NormalizedText normal_;
    DprMatch::Clue clue_;
    std::string lowered_, capitalized_;
    CodePoints points_, cased_;
    bool is_empty_ = false, has_clue_ = false;
};

// A text in which answers are looked for.
class Haystack {
public:
    // `text` must outlive the search.
    void start(Text text, const Rule& rule) {
        source_ = text;
        found_ = Text();
        by_tokens_ = false;
        if (rule.steps.form() == Form::dpr_tokens) dpr_.start(text);
        else normal_.assign(text, rule.steps);
    }

    // Not of DPR's tokens, which are looked for in the text as it stands.
    NormalizedText& normal() { return normal_; }

    bool holds(Needle& needle, const Rule& rule) {
        // An empty list of tokens has no token in common with anything.
        if (needle.empty()) return rule.empty_needle && rule.contains != Contains::shared_token;
        if (rule.contains == Contains::popqa) return holds_a_spelling(needle);
        if (rule.steps.form() == Form::dpr_tokens) {
            return by_tokens_ = dpr_.has(needle.normal(), needle.clue());
        }
        if (!odqa::holds(normal_.text(), needle.normal().text())) return false;
        if (rule.steps.form() == Form::as_is) found_ = needle.source();
        return rule.contains != Contains::shared_token ||
               (!clash(rule, normal_, needle.normal()) &&
                overlap(normal_.tokens(), needle.normal().tokens()) != 0);
    }

    // The byte at which the first answer that was found begins; npos where that was not in the text as it
    // is.
    size_t place() const {
        if (by_tokens_) return dpr_.place();
        return found_.empty() ? Text::npos : find(source_, found_);
    }

private:
    // adaptive-retrieval: the answer as it stands, lowered, or capitalized, in the raw text. Apart
    // from the other ways, which are inlined where they are called.
    [[gnu::noinline]] bool holds_a_spelling(Needle& needle) {
        const auto holds_as_is = [&](Text spelling) {
            found_ = odqa::holds(source_, spelling) ? spelling : Text();
            return !found_.empty();
        };
        return holds_as_is(needle.source()) || holds_as_is(needle.lowered()) ||
               holds_as_is(needle.capitalized());
    }

    Text source_;
    NormalizedText normal_;
    DprMatch dpr_;
    Text found_;  // what stands in the text as it is: few ask where, and it is looked up then
    bool by_tokens_ = false;
};

}  // namespace odqa
