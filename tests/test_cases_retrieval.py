"""Covers: faults of retrieval scorers seen in other tools (D019, D020, D028-D031, D071).

Compared against: the values each problem report settled on, run with pytrec_eval, KILT's and DPR's
functions, or from arithmetic. Run: pytest tests/test_cases_retrieval.py -k D028
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest

import odqa_fast as oq


def column(data: Any, metric: str, profile: str = "squad") -> list[float | None]:
    return oq.score(data, [metric], profile).table[metric].to_pylist()


def ranking(*queries: tuple[list[str], list[str]]) -> list[dict[str, Any]]:
    """Rows of (relevant ids, retrieved ids)."""
    return [
        {"relevant_ids": relevant, "documents": [{"id": name} for name in retrieved]}
        for relevant, retrieved in queries
    ]


TEXTS = ["The party started at noon.", "Osloer Strasse is a street.", "about 1,000 men"]
ANSWERS = [["art"], ["Oslo"], ["1,000"]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("raw", [1, 1, 1]), ("normalized", [1, 1, 1]), ("token", [0, 0, 1])],
)
def test_D019_short_answers_inside_words(mode: str, expected: list[float]) -> None:
    data = {"summary": TEXTS, "documents": [[text] for text in TEXTS], "answers": ANSWERS}
    for metric in ("par", "hit@1", "answer_precision@1", "mrr", "par@evidential:all"):
        assert column(data, f"{metric}:{mode}") == expected


EMPTY = {
    "documents": [[{"id": "d1", "text": "Rain fell."}]] * 2,
    "answers": [["The"], ["", "snow"]],
}


@pytest.mark.parametrize("mode", ["token", "raw", "normalized"])
def test_D020_an_empty_needle_is_no_hit(mode: str) -> None:
    assert column(EMPTY, f"hit@1:{mode}") == [0, 0]


@pytest.mark.parametrize("profile", ["flashrag", "popqa", "selfrag", "nq", "seed"])
def test_D020_an_empty_needle_where_the_reference_counts_it(profile: str) -> None:
    assert column(EMPTY, "hit@1:normalized", profile)[1] == 1
    assert column(EMPTY, "hit@1", profile)[1] == 1


def test_D020_what_is_left_of_an_article_where_the_reference_counts_it() -> None:
    """White space is no answer to KILT, but `The` is one, of which it leaves nothing."""
    for profile in ("flashrag", "nq", "kilt"):
        assert column(EMPTY, "hit@1:normalized", profile)[0] == 1
    assert column(EMPTY, "hit@1:normalized", "kilt")[1] == 0


def test_D020_empty_golds_are_counted() -> None:
    assert oq.score(EMPTY, ["hit@1"]).counts["empty_golds"] == 2


def test_D028_tied_scores() -> None:
    tied = [{"id": name, "score": 1.0} for name in ("d1", "d2", "d3")]
    for documents in itertools.permutations(tied):
        data = [{"documents": list(documents), "relevant_ids": ["d1"]}]
        assert column(data, "mrr:ids") == [1 / 3]
        assert column(data, "recall@2") == [0]
        assert column(data, "recall@3") == [1]


def test_D028_the_order_of_the_list_where_there_are_no_scores() -> None:
    assert column(ranking((["d1"], ["d1", "d2", "d3"])), "mrr:ids") == [1]


def test_D029_one_document_in_several_chunks() -> None:
    data = ranking(
        (["p7"], ["p7", "p7", "p1"]), (["p7", "p9"], ["p7", "p7", "p9"]),
        (["p7", "p7"], ["p7", "p1", "p2"]),
    )  # fmt: skip
    assert column(data, "recall@2") == [1, 0.5, 1]
    assert column(data, "recall@3") == [1, 1, 1]
    for metric in ("ndcg", "map", "r_precision", "precision@2", "ndcg@3", "recall@3:capped"):
        assert all(0 <= score <= 1 for score in column(data, metric) if score is not None)
    assert oq.score(data, ["recall@2"]).counts["repeated_documents"] == 2


def test_D030_recall_has_three_meanings() -> None:
    data = ranking((["a", "b", "c"], ["a", "x", "b"]))
    expected = {
        "recall@1": 1 / 3, "recall@3": 2 / 3, "recall@1:capped": 1, "hit@1:ids": 1, "mrr:ids": 1,
        "mrr@1:ids": 1,
    }  # fmt: skip
    assert oq.score(data, list(expected)).means == expected


def test_D031_a_question_without_a_hit_or_result_counts_0() -> None:
    data = ranking((["a"], ["a"]), (["a"], []), (["a"], ["x", "y", "a"]))
    scores = oq.score(data, ["mrr:ids", "recall@2"])
    assert scores.means == {"mrr:ids": pytest.approx(4 / 9), "recall@2": pytest.approx(1 / 3)}
    assert scores.counts["no_documents"] == 1
    missing = [*data, {"relevant_ids": ["a"], "documents": None}, {"documents": [{"id": "a"}]}]
    scores = oq.score(missing, ["mrr:ids"])
    assert scores.scored == {"mrr:ids": 4}
    assert scores.means["mrr:ids"] == pytest.approx(1 / 3)
    assert (scores.counts["null_documents"], scores.counts["null_relevant_ids"]) == (1, 1)


@pytest.mark.parametrize("mode", ["token", "normalized"])
def test_D071_each_passage_is_normalized_once(mode: str) -> None:
    texts = [f"filler word{k} text " * 600 + ("zeta omega" if k == 97 else "") for k in range(100)]
    answers = [*(f"alias {j} x" for j in range(300)), "zeta omega"]
    data = {"documents": [texts] * 5, "answers": [answers] * 5}
    start = time.perf_counter()
    scores = oq.score(data, [f"hit@20:{mode}", f"hit@100:{mode}"])
    assert time.perf_counter() - start < 5
    assert list(scores.means.values()) == [0, 1]


def test_documents_without_ids_are_told() -> None:
    data = {"documents": [["a text"]], "relevant_ids": [["a"]]}
    with pytest.warns(oq.OdqaWarning, match="have no id"):
        assert oq.score(data, ["recall@1"]).means == {"recall@1": 0}


def test_relevance_of_another_length_is_told() -> None:
    data = {"documents": [[{"id": "a"}]], "relevant_ids": [["a", "b"]], "relevance": [[2]]}
    with pytest.warns(oq.OdqaWarning, match="another number of relevances"):
        assert oq.score(data, ["recall@1"]).means == {"recall@1": 0.5}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("hit", r"k is a number from 1 to 999999999: hit@5"),
        ("hit@0", r"k is a number from 1"),
        ("hit@k", r"k is a number from 1"),
        ("hit@5:ids:squad", r"'squad'"),
        ("hit@5:token:raw", r"an option too many: 'raw'"),
        ("recall:ids", r"no option of recall 'ids'"),
        # A cut-off stands behind the id, before the options.
        ("mrr:ids@10", r"before the options: mrr@10:ids\.$"),
        ("hit:token@5", r"before the options: hit@5:token\.$"),
        ("f1:squad@3", r"Closest: squad"),
        ("mrr@5x", r"no metric 'mrr@5x'"),
    ],
)
def test_wrong_cut_offs_and_options(asked: str, said: str) -> None:
    data = {"documents": [["a"]], "answers": [["a"]], "prediction": ["a"]}
    with pytest.raises(oq.MetricError, match=said):
        oq.score(data, [asked])


def test_ids_of_a_cut_off_stand_in_table_and_signature() -> None:
    data = {"documents": [["a"]], "answers": [["a"]]}
    scores = oq.score(data, ["hit@5", "hit@5:raw:nq", "hit@5:answer"])
    assert scores.table.column_names == ["id", "hit@5", "hit@5:raw:nq", "hit@5:answer"]
    signature = scores.signatures["hit@5:raw:nq"]
    assert str(signature).startswith("hit@5:raw/1|nq/1|match:raw|golds:any|order:list|")
    assert oq.Signature.parse(str(signature)) == signature
