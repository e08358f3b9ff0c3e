// The Porter stemmer as nltk's PorterStemmer runs it in its default mode, NLTK_EXTENSIONS.
//
// Steps and conditions: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980,
// with the later changes of its author (abli -> able became bli -> ble; logi -> log) and nltk's own:
// a list of irregular words, ies -> ie and ied -> ie in words of four letters, y -> i only after a
// consonant that is not the first letter, a word of one vowel and one consonant counts as
// consonant-vowel-consonant, fulli -> ful, alli -> al and once more step 2, and no word of one or two
// letters is touched.
#pragma once
#include <cstring>

#include "text.hpp"

namespace odqa {

// Stems a word of lower-case ASCII letters and digits where it lies; no stem is longer than its word.
class Porter {
public:
    // Returns the size of the stem, which starts where the word starts.
    static size_t stem(char* word, size_t size) {
        Porter it(word, size);
        if (it.irregular()) return it.size_;
        if (size > 2) {
            it.step1a();
            it.step1b();
            it.step1c();
            it.step2();
            it.step3();
            it.step4();
            it.step5();
        }
        return it.size_;
    }

private:
    struct Suffix {
        Text from, to;
    };

    Porter(char* word, size_t size) : word_(word), size_(size) {}

    bool irregular() {
        static constexpr Suffix pool[] = {
            {"skies", "sky"},     {"dying", "die"},     {"lying", "lie"},       {"tying", "tie"},
            {"innings", "inning"}, {"outings", "outing"}, {"cannings", "canning"},
            // These stand for themselves.
            {"sky", "sky"},       {"news", "news"},     {"inning", "inning"},   {"outing", "outing"},
            {"canning", "canning"}, {"howe", "howe"},   {"proceed", "proceed"},
            {"exceed", "exceed"}, {"succeed", "succeed"}};
        if (size_ > 8) return false;
        const Text word(word_, size_);
        for (const auto& [from, to] : pool) {
            if (word == from) {
                replace(size_, to);
                return true;
            }
        }
        return false;
    }

    // A vowel is a, e, i, o, u, or a y after a consonant; digits count as consonants.
    bool consonant(size_t at) const {
        switch (word_[at]) {
            case 'a': case 'e': case 'i': case 'o': case 'u':
                return false;
            case 'y':
                return at == 0 || !consonant(at - 1);
            default:
                return true;
        }
    }

    // How often a vowel is followed by a consonant in the first `size` letters, counted up to 2.
    int measure(size_t size) const {
        int count = 0;
        bool vowel = false;
        for (size_t at = 0; at < size && count < 2; ++at) {
            const bool here = word_[at] == 'y' ? at != 0 && !vowel : !consonant(at);
            count += vowel && !here;
            vowel = here;
        }
        return count;
    }

    bool has_vowel(size_t size) const {
        for (size_t at = 0; at < size; ++at) {
            if (!consonant(at)) return true;
        }
        return false;
    }

    bool ends_double_consonant() const {
        return size_ >= 2 && word_[size_ - 1] == word_[size_ - 2] && consonant(size_ - 1);
    }

    bool ends_cvc(size_t size) const {
        if (size == 2) return !consonant(0) && consonant(1);
        if (size < 3 || !consonant(size - 3) || consonant(size - 2) || !consonant(size - 1)) {
            return false;
        }
        const char last = word_[size - 1];
        return last != 'w' && last != 'x' && last != 'y';
    }

    bool ends(Text suffix) const {
        return size_ >= suffix.size() &&
               std::memcmp(word_ + size_ - suffix.size(), suffix.data(), suffix.size()) == 0;
    }

    // Puts `to` in the place of the last `cut` letters.
    void replace(size_t cut, Text to) {
        std::memcpy(word_ + size_ - cut, to.data(), to.size());
        size_ += to.size() - cut;
    }

    // The first suffix that fits decides, whether or not its stem is long enough.
    template <size_t n>
    void strip(const Suffix (&suffixes)[n], int more_than) {
        for (const auto& [from, to] : suffixes) {
            if (ends(from)) {
                if (measure(size_ - from.size()) > more_than) replace(from.size(), to);
                return;
            }
        }
    }

    void step1a() {
        if (!ends("s")) return;
        if (ends("ies")) replace(3, size_ == 4 ? "ie" : "i");
        else if (ends("sses")) replace(2, "");
        else if (!ends("ss")) replace(1, "");
    }

    void step1b() {
        if (ends("ied")) {
            replace(3, size_ == 4 ? "ie" : "i");
            return;
        }
        if (ends("eed")) {
            if (measure(size_ - 3) > 0) replace(1, "");
            return;
        }
        const size_t cut = ends("ed") ? 2 : ends("ing") ? 3 : 0;
        if (cut == 0 || !has_vowel(size_ - cut)) return;
        replace(cut, "");
        if (ends("at") || ends("bl") || ends("iz")) {
            replace(0, "e");
        } else if (ends_double_consonant()) {
            const char last = word_[size_ - 1];
            if (last != 'l' && last != 's' && last != 'z') replace(1, "");
        } else if (measure(size_) == 1 && ends_cvc(size_)) {
            replace(0, "e");
        }
    }

    void step1c() {
        if (ends("y") && size_ > 2 && consonant(size_ - 2)) replace(1, "i");
    }

    void step2() {
        static constexpr Suffix suffixes[] = {
            {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
            {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
            {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
            {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
            {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
            {"fulli", "ful"}};
        while (ends("alli") && measure(size_ - 4) > 0) replace(4, "al");
        // Unlike the others, logi counts its l to the stem.
        if (ends("logi")) {
            if (measure(size_ - 3) > 0) replace(1, "");
            return;
        }
        strip(suffixes, 0);
    }

    void step3() {
        static constexpr Suffix suffixes[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"},
                                              {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""},
                                              {"ness", ""}};
        strip(suffixes, 0);
    }

    void step4() {
        static constexpr Suffix suffixes[] = {
            {"al", ""},    {"ance", ""}, {"ence", ""}, {"er", ""},  {"ic", ""},  {"able", ""},
            {"ible", ""},  {"ant", ""},  {"ement", ""}, {"ment", ""}, {"ent", ""}, {"ou", ""},
            {"ism", ""},   {"ate", ""},  {"iti", ""},  {"ous", ""}, {"ive", ""}, {"ize", ""}};
        if (ends("ion")) {
            const size_t stem = size_ - 3;
            if (measure(stem) > 1 && (word_[stem - 1] == 's' || word_[stem - 1] == 't')) {
                replace(3, "");
            }
            return;
        }
        strip(suffixes, 1);
    }

    void step5() {
        if (ends("e")) {
            const int count = measure(size_ - 1);
            if (count > 1 || (count == 1 && !ends_cvc(size_ - 1))) replace(1, "");
        }
        if (ends("ll") && measure(size_ - 1) > 1) replace(1, "");
    }

    char* word_;
    size_t size_;
};

// Stems of words seen before, for words up to 16 letters, which nearly all are. A word that falls
// on another's place takes it: bounded memory, and no order to keep.
class StemCache {
public:
    // The size of the stem, which is written over the word. Sixteen bytes must be readable at `word`.
    size_t stem(char* word, size_t size) {
        if (size > 16) return Porter::stem(word, size);
        if (entries_.empty()) entries_.resize(entry_count);
        const uint64_t low = masked(load8(word), size);
        const uint64_t high = size > 8 ? masked(load8(word + 8), size - 8) : 0;
        Entry& entry = entries_[(low ^ high * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u >> 52];
        if (entry.low != low || entry.high != high) {
            entry.low = low;
            entry.high = high;
            entry.size = Porter::stem(word, size);
            std::memcpy(entry.stem, word, entry.size);
        } else {
            std::memcpy(word, entry.stem, entry.size);
        }
        return entry.size;
    }

private:
    static constexpr size_t entry_count = 1 << 12;

    struct Entry {
        uint64_t low = 0, high = 0, size = 0;
        char stem[16];
    };

    static uint64_t masked(uint64_t bytes, size_t size) {
        return size >= 8 ? bytes : bytes & ((uint64_t{1} << 8 * size) - 1);
    }

    std::vector<Entry> entries_;
};

}  // namespace odqa
