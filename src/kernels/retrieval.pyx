"""Ranked documents: which hold an answer, which are judged relevant, and what that is worth."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from odqa_fast._kernels.columns cimport (
    Column, list_edge, list_valid, text_at, text_valid,
)
from odqa_fast._kernels.match cimport MatchRule, Rule
from odqa_fast._kernels.rows cimport output_rows
from odqa_fast._kernels.steps cimport names_of, place_of

cdef extern from "../core/answer_search.hpp" namespace "odqa" nogil:
    cdef cppclass AnswerSearch:
        AnswerSearch(const Rule& rule) except +
        void start()
        void add(string_view answer, size_t index) except +
        bint find(string_view text) except +
        size_t size()
        size_t empty_golds()
        size_t answer()
        size_t position(string_view text) except +

cdef extern from "../core/ranking.hpp" namespace "odqa" nogil:
    enum class Measure:
        hit
        mrr
    const char* const* measure_names
    cdef cppclass Ranking:
        size_t retrieved
        Ranking() except +
        void start()
        void add(size_t rank) except +
        double value(Measure measure, size_t k)
    cdef cppclass JudgedRun:
        JudgedRun() except +
        void start()
        void judge(string_view id, int32_t relevance) except +
        void retrieve(string_view id) except +
        void retrieve(string_view id, double score) except +
        bint partly_scored()
        size_t repeats()
        void rank(Ranking& out) except +

cdef extern from "../core/kilt.hpp" namespace "odqa" nogil:
    cdef cppclass EvidenceRun:
        EvidenceRun() except +
        void start()
        void add_set() except +
        void add_id(string_view id) except +
        void add_missing_id() except +
        void guess(string_view id) except +
        void rank() except +
        double value(Measure measure, size_t k)

MEASURES = names_of(measure_names)
# What else `by_answers` can tell of a row: the first evidence.
PLACES = ("document", "answer", "position")

cdef size_t NO_CUT = <size_t>-1

cdef struct Asked:
    Measure measure
    size_t k
    double* out

cdef struct Places:
    double* document
    double* answer
    double* position

cdef struct AnswerCounts:
    int64_t null_documents, no_documents, null_document_texts, null_answers, empty_answers
    int64_t null_answer_items, empty_golds, all_golds_empty

cdef struct IdCounts:
    int64_t null_documents, no_documents, documents_without_id, repeated_documents
    int64_t partly_scored_documents, null_relevant_ids, empty_relevant_ids
    int64_t null_relevant_id_items, unequal_relevance

cdef struct EvidenceCounts:
    int64_t null_documents, no_documents, documents_without_id, null_evidence


cdef vector[Asked] asked_for(dict outputs, int64_t rows) except *:
    """The measures among the outputs, each a name of MEASURES with or without `@k`."""
    cdef vector[Asked] asked
    cdef Asked one
    for name, values in outputs.items():
        if name in PLACES:
            continue
        measure, at, k = name.partition("@")
        one.measure = <Measure>place_of(measure, measure_names)
        one.k = int(k) if at else NO_CUT
        one.out = output_rows(values, rows)
        asked.push_back(one)
    return asked


cdef void write(const vector[Asked]& asked, int64_t row, Ranking* ranking) noexcept nogil:
    cdef size_t at
    for at in range(asked.size()):
        asked[at].out[row] = ranking.value(asked[at].measure, asked[at].k)


cdef void write_unscored(const vector[Asked]& asked, int64_t row) noexcept nogil:
    cdef size_t at
    for at in range(asked.size()):
        asked[at].out[row] = NAN


cdef int64_t start_search(AnswerSearch* search, Column wanted, int64_t row) except -1 nogil:
    """Takes the texts of a row to be looked for; returns how many of its items are null."""
    cdef int64_t item, first = list_edge(&wanted.lists, row), nulls = 0
    search.start()
    for item in range(first, list_edge(&wanted.lists, row + 1)):
        if text_valid(&wanted.texts, item):
            search.add(text_at(&wanted.texts, item), item - first)
        else:
            nulls += 1
    return nulls


# Writes rows [lo, hi) of the outputs only; ranges never overlap, so no lock is needed. `depth` is as
# far down the list as anyone looks; with `first_only` nobody looks beyond the first hit. `beside` is
# looked at if there is a search for it.
cdef int answer_rows(Column documents, Column answers, AnswerSearch* search, Column beside,
                      AnswerSearch* beside_search, Ranking* ranking,
                      size_t depth, bint first_only, int64_t lo, int64_t hi,
                      const vector[Asked]& asked, const Places* places,
                      AnswerCounts* counts) except -1 nogil:
    cdef int64_t row, item, first, last
    cdef string_view text
    cdef size_t position
    cdef bint found
    for row in range(lo, hi):
        if places.document != NULL:
            places.document[row] = places.answer[row] = places.position[row] = NAN
        ranking.start()
        first = last = 0
        if list_valid(&documents.lists, row):
            first, last = list_edge(&documents.lists, row), list_edge(&documents.lists, row + 1)
            counts.no_documents += first == last
        else:
            counts.null_documents += 1
        if not list_valid(&answers.lists, row) or (
            beside_search != NULL and not list_valid(&beside.lists, row)
        ):
            counts.null_answers += not list_valid(&answers.lists, row)
            write_unscored(asked, row)
            continue
        counts.null_answer_items += start_search(search, answers, row)
        if beside_search != NULL:
            start_search(beside_search, beside, row)
        counts.empty_answers += search.size() == 0
        counts.empty_golds += search.empty_golds()
        counts.all_golds_empty += search.size() != 0 and search.empty_golds() == search.size()
        ranking.retrieved = last - first
        found = False
        for item in range(first, last):
            if <size_t>(item - first) >= depth:
                break
            if not text_valid(&documents.texts, item):
                counts.null_document_texts += 1
                continue
            text = text_at(&documents.texts, item)
            if not search.find(text) or (beside_search != NULL and not beside_search.find(text)):
                continue
            ranking.add(item - first + 1)
            if not found and places.document != NULL:
                position = search.position(text)
                places.document[row] = item - first
                places.answer[row] = search.answer()
                places.position[row] = NAN if position == NO_CUT else position
            found = True
            if first_only:
                break
        write(asked, row, ranking)


def by_answers(Column documents, Column answers, MatchRule how, int64_t lo, int64_t hi,
               dict outputs, Column beside=None):
    """Scores the rows [lo, hi) by which documents hold an answer, in the order of the list.

    Args:
        documents, answers: n lists of texts; null documents hold nothing, a null list of answers
            is not scored (NaN).
        how: how an answer is looked for: normalizer, contains_rule, empty_needle, emptiness.
        outputs: name -> float64 array of n rows, only [lo, hi) written. Names are MEASURES with or
            without `@k`, or all of PLACES: index from 0 of the first document that holds an
            answer, of that answer, and where in the text (code points; NaN where unknown).
        beside: n lists of texts, one of which a document must hold as well; null is not scored.
    Returns:
        The counts over [lo, hi) by name.
    """
    if documents.length != answers.length or not 0 <= lo <= hi <= documents.length:
        raise ValueError("columns differ in length, or the range lies outside them")
    if not documents.is_list or not answers.is_list or documents.is_numbers or answers.is_numbers:
        raise TypeError(f"{documents.name!r} and {answers.name!r} must hold lists of texts")
    if beside is not None and (
        beside.length != answers.length or not beside.is_list or beside.is_numbers
    ):
        raise TypeError(f"{beside.name!r} must hold as many lists of texts")
    cdef vector[Asked] asked = asked_for(outputs, documents.length)
    cdef Places places = Places(NULL, NULL, NULL)
    cdef size_t depth = 0, at
    cdef bint first_only = True
    cdef AnswerCounts counts = AnswerCounts(0, 0, 0, 0, 0, 0, 0, 0)
    if "document" in outputs:
        places.document = output_rows(outputs["document"], documents.length)
        places.answer = output_rows(outputs["answer"], documents.length)
        places.position = output_rows(outputs["position"], documents.length)
        depth = NO_CUT
    for at in range(asked.size()):
        depth = max(depth, asked[at].k)
        first_only &= asked[at].measure == Measure.hit or asked[at].measure == Measure.mrr
    cdef AnswerSearch* search = new AnswerSearch(how.rule)
    cdef AnswerSearch* beside_search = NULL
    if beside is not None:
        beside_search = new AnswerSearch(how.rule)
    cdef Ranking* ranking = new Ranking()
    try:
        with nogil:
            answer_rows(documents, answers, search, beside, beside_search, ranking, depth,
                        first_only, lo, hi, asked, &places, &counts)
    finally:
        del search
        del beside_search
        del ranking
    return counts


cdef inline string_view id_at(Column ids, int64_t item) noexcept nogil:
    """The id of a document; a view of nothing where it has none."""
    cdef string_view id
    if ids.present and text_valid(&ids.texts, item):
        id = text_at(&ids.texts, item)
        # An id of no bytes is an id all the same.
        return string_view("", 0) if id.size() == 0 else id
    return string_view()


cdef int id_rows(Column ids, Column scores, Column relevant, Column relevance, JudgedRun* run,
                  Ranking* ranking, int64_t lo, int64_t hi, const vector[Asked]& asked,
                  IdCounts* counts) except -1 nogil:
    cdef int64_t row, item, first, last, at
    cdef int32_t degree
    cdef bint graded
    cdef string_view id
    for row in range(lo, hi):
        run.start()
        if not list_valid(&ids.lists, row):
            counts.null_documents += 1
        else:
            first, last = list_edge(&ids.lists, row), list_edge(&ids.lists, row + 1)
            counts.no_documents += first == last
            for item in range(first, last):
                id = id_at(ids, item)
                counts.documents_without_id += id.data() == NULL
                if scores.present and text_valid(&scores.texts, item):
                    run.retrieve(id, scores.doubles[scores.texts.start + item])
                else:
                    run.retrieve(id)
        if not list_valid(&relevant.lists, row):
            counts.null_relevant_ids += 1
            write_unscored(asked, row)
            continue
        first, last = list_edge(&relevant.lists, row), list_edge(&relevant.lists, row + 1)
        if first == last:
            counts.empty_relevant_ids += 1
            write_unscored(asked, row)
            continue
        graded = list_valid(&relevance.lists, row)
        at = list_edge(&relevance.lists, row)
        counts.unequal_relevance += graded and (
            list_edge(&relevance.lists, row + 1) - at != last - first
        )
        for item in range(first, last):
            if not text_valid(&relevant.texts, item):
                counts.null_relevant_id_items += 1
                continue
            degree = 1
            if graded and at + item - first < list_edge(&relevance.lists, row + 1) and (
                text_valid(&relevance.texts, at + item - first)
            ):
                degree = relevance.ints[relevance.texts.start + at + item - first]
            run.judge(text_at(&relevant.texts, item), degree)
        run.rank(ranking[0])
        counts.repeated_documents += run.repeats()
        counts.partly_scored_documents += run.partly_scored()
        write(asked, row, ranking)


def by_ids(Column ids, Column scores, Column relevant, Column relevance, int64_t lo, int64_t hi,
           dict outputs):
    """Scores the rows [lo, hi) by which documents are judged relevant.

    Args:
        ids, scores: of n lists of documents. Where each document of a row has a score, they are
            ranked by it, then by id, both falling, as trec_eval does; else as they are listed.
        relevant: n lists of ids. relevance: n parallel lists of int32, 1 where null; 0 and below
            is not relevant.
        outputs: as for `by_answers`, without PLACES. Null or empty `relevant` is not scored (NaN).
    Returns:
        The counts over [lo, hi) by name.
    """
    if not ids.length == scores.length == relevant.length == relevance.length:
        raise ValueError("columns differ in length")
    if not 0 <= lo <= hi <= ids.length:
        raise ValueError("the range lies outside the columns")
    if not (ids.is_list and scores.is_list and relevant.is_list and relevance.is_list):
        raise TypeError("ids, scores, relevant and relevance must be lists")
    if ids.is_numbers or relevant.is_numbers or relevance.ints == NULL and relevance.length and (
        not relevance.is_numbers
    ) or scores.present and not scores.is_numbers:
        raise TypeError("ids and relevant must hold texts, scores float64, relevance int32")
    cdef vector[Asked] asked = asked_for(outputs, ids.length)
    cdef IdCounts counts = IdCounts(0, 0, 0, 0, 0, 0, 0, 0, 0)
    cdef JudgedRun* run = new JudgedRun()
    cdef Ranking* ranking = new Ranking()
    try:
        with nogil:
            id_rows(ids, scores, relevant, relevance, run, ranking, lo, hi, asked, &counts)
    finally:
        del run
        del ranking
    return counts


cdef int evidence_rows(Column ids, Column evidence, EvidenceRun* run, int64_t lo, int64_t hi,
                        const vector[Asked]& asked, EvidenceCounts* counts) except -1 nogil:
    cdef int64_t row, item, inner
    cdef string_view id
    cdef size_t at
    for row in range(lo, hi):
        run.start()
        if not list_valid(&ids.lists, row):
            counts.null_documents += 1
        else:
            counts.no_documents += list_edge(&ids.lists, row) == list_edge(&ids.lists, row + 1)
            for item in range(list_edge(&ids.lists, row), list_edge(&ids.lists, row + 1)):
                id = id_at(ids, item)
                if id.data() == NULL:
                    counts.documents_without_id += 1
                else:
                    run.guess(id)
        if not list_valid(&evidence.outer, row):
            counts.null_evidence += 1
            write_unscored(asked, row)
            continue
        for item in range(list_edge(&evidence.outer, row), list_edge(&evidence.outer, row + 1)):
            if not list_valid(&evidence.lists, item):
                continue
            run.add_set()
            for inner in range(
                list_edge(&evidence.lists, item), list_edge(&evidence.lists, item + 1)
            ):
                if text_valid(&evidence.texts, inner):
                    run.add_id(text_at(&evidence.texts, inner))
                else:
                    run.add_missing_id()
        run.rank()
        for at in range(asked.size()):
            asked[at].out[row] = run.value(asked[at].measure, asked[at].k)


def by_evidence(Column ids, Column evidence, int64_t lo, int64_t hi, dict outputs):
    """Scores the rows [lo, hi) by KILT's provenance measures.

    Args:
        ids: of n lists of documents, best first.
        evidence: n lists of sets of ids, one for each gold output; a null set is an output
            without any, a null id a provenance without one.
        outputs: as for `by_ids`, of hit@k, recall@k, precision@k and r_precision only.
    Returns:
        The counts over [lo, hi) by name.
    """
    if ids.length != evidence.length or not 0 <= lo <= hi <= ids.length:
        raise ValueError("columns differ in length, or the range lies outside them")
    if not ids.is_list or ids.is_numbers or not evidence.is_nested or evidence.is_numbers:
        raise TypeError("ids must hold lists of texts, evidence lists of lists of texts")
    cdef vector[Asked] asked = asked_for(outputs, ids.length)
    cdef EvidenceCounts counts = EvidenceCounts(0, 0, 0, 0)
    cdef EvidenceRun* run = new EvidenceRun()
    try:
        with nogil:
            evidence_rows(ids, evidence, run, lo, hi, asked, &counts)
    finally:
        del run
    return counts
