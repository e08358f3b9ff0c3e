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
        is_empty_ = rule.contains == Contains::popqa ? source.empty() : normal_.empty();
        spellings_ = 0;
        has_clue_ = false;
    }

    bool empty() const { return is_empty_; }
    Text source() const { return source_; }
    NormalizedText& normal() { return normal_; }

    const DprMatch::Clue& clue() {
        if (!has_clue_) clue_ = DprMatch::clue_of(normal_.tokens());
        has_clue_ = true;
        return clue_;
    }

    const std::string& lowered() {
        if (spellings_ < 1) spell(lowered_, lower);
        return lowered_;
    }

    const std::string& capitalized() {
        if (spellings_ < 2) spell(capitalized_, capitalize);
        return capitalized_;
    }

private:
    void spell(std::string& out, void (*change)(const uint32_t*, size_t, CodePoints&)) {
        decode(source_, points_);
        cased_.clear();
        change(points_.data(), points_.size(), cased_);
        out = encode(cased_);
        ++spellings_;
    }

    Text source_;
    NormalizedText normal_;
    DprMatch::Clue clue_;
    std::string lowered_, capitalized_;
    CodePoints points_, cased_;
    int spellings_ = 0;  // how many of the two are made, in their order
    bool is_empty_ = false, has_clue_ = false;
};

// A text in which answers are looked for.
class Haystack {
public:
    // `text` must outlive the search.
    void start(Text text, const Rule& rule) {
        source_ = text;
        if (rule.steps.form() == Form::dpr_tokens) dpr_.start(text);
        else normal_.assign(text, rule.steps);
    }

    // Not of DPR's tokens, which are looked for in the text as it stands.
    NormalizedText& normal() { return normal_; }

    bool holds(Needle& needle, const Rule& rule) {
        place_ = Text::npos;
        // An empty list of tokens has no token in common with anything.
        if (needle.empty()) return rule.empty_needle && rule.contains != Contains::shared_token;
        if (rule.contains == Contains::popqa) return holds_a_spelling(needle);
        const Form form = rule.steps.form();
        if (form == Form::dpr_tokens) {
            if (!dpr_.has(needle.normal(), needle.clue())) return false;
            place_ = dpr_.place();
            return true;
        }
        if (form == Form::as_is) return locate(needle.source());
        if (!odqa::holds(normal_.text(), needle.normal().text())) return false;
        return rule.contains != Contains::shared_token ||
               (!clash(rule, normal_, needle.normal()) &&
                overlap(normal_.tokens(), needle.normal().tokens()) != 0);
    }

    // The byte at which the answer that was found begins; npos where it was not found in the text as
    // it stands.
    size_t place() const { return place_; }

private:
    // adaptive-retrieval: the answer as it stands, lowered, or capitalized, in the raw text.
    bool holds_a_spelling(Needle& needle) {
        return locate(needle.source()) || locate(needle.lowered()) || locate(needle.capitalized());
    }

    bool locate(Text needle) {
        place_ = find(source_, needle);
        return place_ != Text::npos;
    }

    Text source_;
    NormalizedText normal_;
    DprMatch dpr_;
    size_t place_ = Text::npos;
};

}  // namespace odqa
