"""Predictions and answers from two files."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io import AnswerTable
from odqa_fast.io.ids import NO_ROW, IdIndex


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def joined(
    answers: list[pa.RecordBatch], predictions: list[pa.RecordBatch], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    table = AnswerTable.load(answers, **{"missing": "null", **options})
    rows = [row for b in table.join(predictions) for row in b.to_pylist()]
    return rows, table.counts


GOLD = [
    batch(id=["1", "2"], answers=[["one"], ["two"]]),
    batch(id=["10", "7"], answers=[["ten"], ["seven"]]),
]


def test_join_by_id_keeps_the_order_of_predictions() -> None:
    rows, counts = joined(GOLD, [batch(id=["1", "10", "2"], prediction=["one", "ten", "two"])])
    assert rows == [
        {"id": "1", "prediction": "one", "answers": ["one"]},
        {"id": "10", "prediction": "ten", "answers": ["ten"]},
        {"id": "2", "prediction": "two", "answers": ["two"]},
    ]
    assert counts["unmatched_predictions"] == 0
    assert (counts["unmatched_answers"], counts["first_unmatched_answers"]) == (1, ["7"])


def test_unmatched_predictions_get_nulls() -> None:
    rows, counts = joined(GOLD, [batch(id=["3", None, "2"], prediction=["a", "b", "c"])])
    assert [row["answers"] for row in rows] == [None, None, ["two"]]
    assert counts["unmatched_predictions"] == 2
    assert counts["first_unmatched_predictions"] == ["3"]
    assert counts["unmatched_answers"] == 3


def test_what_comes_with_a_question_is_that_of_the_answers() -> None:
    gold = [batch(id=["1"], answers=[["gold"]], question=["q"], prediction=["its"])]
    rows, counts = joined(
        gold, [batch(id=["1", "2"], answers=[["own"], ["own"]], prediction=["a", "b"])]
    )
    assert rows == [
        {"id": "1", "answers": ["gold"], "question": "q", "prediction": "a"},
        {"id": "2", "answers": None, "question": None, "prediction": "b"},
    ]
    assert counts["gave_way"] == {"answers": 1}


def test_relevances_belong_to_the_ids_of_their_file() -> None:
    gold = [batch(id=["1"], relevant_ids=[["d1"]])]
    rows, _ = joined(gold, [batch(id=["1"], relevant_ids=[["d2", "d3"]], relevance=[[2, 1]])])
    assert rows == [{"id": "1", "relevant_ids": ["d1"]}]


def test_rows_that_differ_are_told_by_what_they_hold() -> None:
    """Documents that only lack fields that are null are the same; another order is not."""
    docs = pa.array([[{"text": "a"}, {"text": "b"}], [{"text": "a"}], [], None])
    theirs = pa.array(
        [
            [{"text": "b", "score": None}, {"text": "a", "score": None}],
            [{"text": "a", "score": None}],
            [],
            [{"text": "a", "score": 1.0}],
        ]
    )
    names = ["1", "2", "3", "4"]
    _, counts = joined([batch(id=names, documents=theirs)], [batch(id=names, documents=docs)])
    assert counts["gave_way"] == {"documents": 1}


def test_answers_of_differing_batches() -> None:
    large = pa.array(["2"], pa.large_string())
    docs = pa.array([[{"text": "t", "score": 1.5}]])
    gold = [
        batch(id=["1"], answers=[["a"]]),
        pa.RecordBatch.from_arrays([large, docs], names=["id", "documents"]),
        batch(id=["3"], documents=[[{"text": "u"}]]),
    ]
    rows, _ = joined(gold, [batch(id=["3", "2", "1"])])
    assert [row["answers"] for row in rows] == [None, None, ["a"]]
    assert [row["documents"] and row["documents"][0]["text"] for row in rows] == ["u", "t", None]


def test_by_position_where_nobody_has_ids() -> None:
    rows, _ = joined(
        [batch(answers=[["a"]]), batch(answers=[["b"], ["c"]])],
        [batch(prediction=["x", "y"]), batch(prediction=["z"])],
    )
    assert [row["answers"] for row in rows] == [["a"], ["b"], ["c"]]
    with pytest.raises(DataError, match="2 predictions, but 3 rows of answers"):
        joined([batch(answers=[["a"], ["b"], ["c"]])], [batch(prediction=["x", "y"])])
    with pytest.raises(DataError, match="3 predictions, but 1 rows of answers"):
        joined([batch(answers=[["a"]])], [batch(prediction=["x", "y"]), batch(prediction=["z"])])


def test_ids_on_one_side_only() -> None:
    with pytest.raises(SchemaError, match="the answers have ids and the predictions have none"):
        joined(GOLD, [batch(prediction=["x"])])
    with pytest.raises(SchemaError, match="the predictions have ids and the answers have none"):
        joined([batch(answers=[["a"]])], [batch(id=["1"])])


def test_empty_sides() -> None:
    rows, counts = joined([], [batch(id=["1"], prediction=["x"])])
    assert rows == [{"id": "1", "prediction": "x"}]
    assert counts["unmatched_predictions"] == 1
    rows, counts = joined(GOLD, [])
    assert (rows, counts["unmatched_answers"]) == ([], 4)
    with pytest.raises(DataError, match="1 predictions, but 0 rows"):
        joined([], [batch(prediction=["x"])])


REPEATED = [batch(id=["1", "1"], answers=[["a"], ["b"]])]


def test_repeated_answers() -> None:
    predictions = [batch(id=["1"], prediction=["x"])]
    with pytest.raises(DataError, match="answers, rows 0 and 1: id '1' stands twice"):
        joined(REPEATED, predictions)
    for way, expected in {"keep-first": ["a"], "keep-last": ["b"], "all": ["a"]}.items():
        rows, counts = joined(REPEATED, predictions, duplicates=way)
        assert [row["answers"] for row in rows] == [expected]
        assert (counts["duplicate_ids"], counts["unmatched_answers"]) == (1, 0)
    rows, counts = joined([batch(id=["1", "1"], answers=[["a"], ["a"]])], predictions)
    assert (len(rows), counts["duplicate_ids"]) == (1, 1)


def test_golds_of_several_rows_merge() -> None:
    """In their order, each once; an id keeps its first relevance, 1 where there is none."""
    predictions = [batch(id=["1", "2"], prediction=["x", "y"])]
    answers = batch(
        id=["1", "2", "1", "1"],
        answers=[["a"], ["z"], ["b", "a"], None],
        question=["q", "r", "s", "t"],
    )
    rows, counts = joined([answers], predictions, duplicates="merge")
    assert [(row["answers"], row["question"]) for row in rows] == [(["a", "b"], "q"), (["z"], "r")]
    assert (counts["duplicate_ids"], counts["unmatched_answers"]) == (2, 0)
    golds = [
        batch(id=["1"], relevant_ids=[["d1", "d2"]], relevance=pa.array([[3, 2]], list_of_int())),
        batch(id=["1", "2"], relevant_ids=[["d2", "d3"], ["d9"]]),
    ]
    rows, _ = joined(golds, predictions, duplicates="merge")
    assert [(row["relevant_ids"], row["relevance"]) for row in rows] == [
        (["d1", "d2", "d3"], [3, 2, 1]),
        (["d9"], None),
    ]
    with pytest.raises(DataError, match="predictions, rows 0 and 1: id '1' stands twice"):
        joined([answers], [batch(id=["1", "1"], prediction=["x", "y"])], duplicates="merge")


def list_of_int() -> pa.DataType:
    return pa.list_(pa.int32())


def test_repeated_predictions() -> None:
    predictions = [
        batch(id=["1", "2"], prediction=["x", "y"]),
        batch(id=["1", "2", "9"], prediction=["x", "z", "w"]),
    ]
    with pytest.raises(DataError, match="predictions, rows 1 and 3: id '2' stands twice"):
        joined(GOLD, predictions)
    for way, expected in {"keep-first": "xyw", "keep-last": "xzw", "all": "xyxzw"}.items():
        rows, counts = joined(GOLD, predictions, duplicates=way)
        assert "".join(row["prediction"] for row in rows) == expected
        assert counts["duplicate_ids"] == 2
    rows, counts = joined(GOLD, [batch(id=["1", "1"], prediction=["x", "x"])])
    assert (len(rows), counts["duplicate_ids"]) == (2, 1)


def test_too_many_answers() -> None:
    with pytest.raises(DataError, match="more than 1 MiB"):
        AnswerTable.load([batch(id=["x" * (2 << 20)])], max_bytes=1 << 20)


def test_output_is_bounded() -> None:
    text = "t" * (1 << 20)
    gold = [batch(id=[str(i)], documents=[[{"text": text}]]) for i in range(60)]
    table = AnswerTable.load(gold)
    sizes = [b.num_rows for b in table.join([batch(id=[str(i) for i in range(60)])])]
    assert sum(sizes) == 60
    assert max(sizes) <= 24


def test_a_random_order_over_many_batches() -> None:
    n = 5000
    order = np.random.default_rng(7).permutation(n)
    gold = [
        batch(
            id=[f"q{i}" for i in range(k, k + 100)], answers=[[str(i)] for i in range(k, k + 100)]
        )
        for k in range(0, n, 100)
    ]
    rows, counts = joined(gold, [batch(id=[f"q{i}" for i in order])])
    assert [row["answers"] for row in rows] == [[str(i)] for i in order]
    assert counts["unmatched_answers"] == 0


def test_ids_that_share_a_hash() -> None:
    with patch("odqa_fast.io.ids.hash", lambda _: 7, create=True):
        index = IdIndex([pa.array(["a", "b", None]), pa.array(["c", "b"])])
        assert list(index.find(pa.array(["c", "b", "z", "a", None]))) == [3, 1, NO_ROW, 0, NO_ROW]
        assert list(index.repeats()) == [[1, 4]]
