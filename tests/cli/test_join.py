"""Covers: --answers, --duplicates and --keep of odqa-fast score (D041, D044, D045).

Compared against: which row belongs to which, worked out by hand.
Run: pytest tests/cli/test_join.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import odqa_fast, refused, rows_of, summary_of, write_jsonl

Run = tuple[dict[str, Any], list[dict[str, Any]], str]


def text(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def joined(folder: Path, predictions: Path, *answers: Path, options: tuple[str, ...] = ()) -> Run:
    """The summary, the rows in their order, and stderr."""
    out = folder / "run"
    named = [part for path in answers for part in ("--answers", path)]
    done = odqa_fast("score", predictions, *named, "--metrics", "em", "--out", out, *options)
    summary = summary_of(done)
    assert json.loads((out / "summary.json").read_text()) == summary
    return summary, rows_of(out), done.stderr


def em(run: Run) -> list[tuple[str, float | None]]:
    return [(row["id"], row["em"]) for row in run[1]]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return text(
        tmp_path,
        "gold.jsonl",
        '{"id":1,"answers":["one"]}',
        '{"id":2,"answers":["two"]}',
        '{"id":10,"answers":["ten"]}',
    )


def predictions(folder: Path, *pairs: tuple[Any, str]) -> Path:
    rows = [{"id": name, "prediction": said} for name, said in pairs]
    return write_jsonl(folder / "pred.jsonl", rows)


def test_D044_by_id_in_the_order_of_the_predictions(gold: Path, tmp_path: Path) -> None:
    run = joined(tmp_path, predictions(tmp_path, ("1", "one"), ("10", "ten"), ("2", "two")), gold)
    assert em(run) == [("1", 1.0), ("10", 1.0), ("2", 1.0)]
    assert run[0]["metrics"]["em"]["mean"] == 1.0
    assert run[0]["notes"] == []
    assert run[2] == ""


def test_D045_without_ids_the_numbers_of_rows_agree(tmp_path: Path) -> None:
    few = text(tmp_path, "pred.jsonl", '{"prediction":"a1"}', '{"prediction":"b1"}')
    lines = ['{"answers":["a1"]}', '{"answers":["b1"]}', '{"answers":["c1"]}']
    many = text(tmp_path, "gold.jsonl", *lines)
    out = tmp_path / "run"
    done = odqa_fast("score", few, "--answers", many, "--metrics", "em", "--out", out)
    refused(done, 3, "2 predictions", "3 rows of answers")
    assert not out.exists()
    many = text(tmp_path, "gold.jsonl", *lines[:1])
    refused(odqa_fast("score", few, "--answers", many), 3, "2 predictions", "1 rows of answers")
    assert em(joined(tmp_path, few, text(tmp_path, "gold.jsonl", *lines[:2]))) == [
        ("0", 1.0),
        ("1", 1.0),
    ]


def test_D041_an_empty_prediction_is_a_row(tmp_path: Path) -> None:
    pred = text(tmp_path, "pred.csv", "prediction", "Rome", "", "Oslo")
    lines = ['{"answers":["Rome"]}', '{"answers":["Bern"]}', '{"answers":["Oslo"]}']
    run = joined(tmp_path, pred, text(tmp_path, "gold.jsonl", *lines))
    assert em(run) == [("0", 1.0), ("1", 0.0), ("2", 1.0)]
    assert run[0]["metrics"]["em"]["mean"] == pytest.approx(2 / 3, abs=1e-15)


def test_what_is_unmatched_is_named_and_counted(gold: Path, tmp_path: Path) -> None:
    pairs = [(f"p{i}", "x") for i in range(7)]
    summary, rows, stderr = joined(tmp_path, predictions(tmp_path, *pairs, ("2", "two")), gold)
    counts = summary["counts"]
    assert (counts["unmatched_predictions"], counts["unmatched_answers"]) == (7, 2)
    assert (counts["rows"], counts["null_answers"]) == (10, 7)
    # A question that nothing was predicted for is wrong, as in the scripts of SQuAD and TriviaQA.
    assert [row["em"] for row in rows] == [None] * 7 + [1.0, 0.0, 0.0]
    assert summary["metrics"]["em"]["n_scored"] == 3
    first, second = stderr.splitlines()
    assert "7 predictions have no answers of their id" in first
    assert "'p0', 'p1', 'p2', 'p3', 'p4'" in first
    assert "2 answers have no predictions of their id and count 0" in second
    assert "'1', '10'" in second
    assert summary["notes"] == [line.removeprefix("odqa-fast: note: ") for line in (first, second)]


#: For tests of what becomes of the predictions that are there.
PRESENT = ("--missing", "null")

REPEATED = [("1", "one"), ("2", "two"), ("1", "uno"), ("3", "x"), ("1", "one")]


def test_a_repeated_id_with_other_content_is_an_error(gold: Path, tmp_path: Path) -> None:
    pred = predictions(tmp_path, *REPEATED)
    done = odqa_fast("score", pred, "--answers", gold, "--out", tmp_path / "run")
    refused(done, 3, "'1'", "twice", "rows 0 and 2", "--duplicates keep-first")
    assert not (tmp_path / "run").exists()
    twice = text(
        tmp_path, "gold2.jsonl", '{"id":1,"answers":["one"]}', '{"id":"1","answers":["uno"]}'
    )
    pred = predictions(tmp_path, ("1", "one"))
    refused(odqa_fast("score", pred, "--answers", twice), 3, "answers, rows 0 and 1", "'1'")


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("keep-first", [("1", 1.0), ("2", 1.0), ("3", None)]),
        ("keep-last", [("2", 1.0), ("3", None), ("1", 1.0)]),
        ("all", [("1", 1.0), ("2", 1.0), ("1", 0.0), ("3", None), ("1", 1.0)]),
    ],
)
def test_ways_to_treat_duplicates(
    way: str, expected: list[tuple[str, float | None]], gold: Path, tmp_path: Path
) -> None:
    options = ("--duplicates", way, *PRESENT)
    run = joined(tmp_path, predictions(tmp_path, *REPEATED), gold, options=options)
    assert em(run) == expected
    assert run[0]["counts"]["duplicate_ids"] == 2
    assert run[0]["counts"]["unmatched_predictions"] == 1


@pytest.mark.parametrize(("way", "expected"), [("keep-first", 0.0), ("keep-last", 1.0)])
def test_repeated_answers(way: str, expected: float, tmp_path: Path) -> None:
    twice = text(
        tmp_path, "gold.jsonl", '{"id":1,"answers":["one"]}', '{"id":"1","answers":["uno"]}'
    )
    pred = predictions(tmp_path, ("1", "uno"))
    assert em(joined(tmp_path, pred, twice, options=("--duplicates", way))) == [("1", expected)]


def test_the_same_row_twice_is_only_counted(gold: Path, tmp_path: Path) -> None:
    pred = predictions(tmp_path, ("1", "one"), ("1", "one"))
    run = joined(tmp_path, pred, gold, options=PRESENT)
    assert em(run) == [("1", 1.0), ("1", 1.0)]
    assert run[0]["counts"]["duplicate_ids"] == 1
    assert "1 rows repeat an id" in run[2]


def test_a_way_that_there_is_not(gold: Path, tmp_path: Path) -> None:
    pred = predictions(tmp_path, ("1", "one"))
    refused(odqa_fast("score", pred, "--duplicates", "all"), 2, "--answers or --qrels")
    done = odqa_fast("score", pred, "--answers", gold, "--duplicates", "both")
    assert (done.returncode, done.stdout) == (2, "")
    assert "keep-first" in done.stderr


def test_kept_columns_come_from_either_side(tmp_path: Path) -> None:
    gold = tmp_path / "gold.parquet"
    table = {
        "qid": pa.array([2, 1]),
        "golden_answers": [["two"], ["one", "uno"]],
        "question": ["2?", "1?"],
        "ctxs": [[{"title": "t", "text": "a"}], []],
    }
    pq.write_table(pa.table(table), gold)
    options = ("--keep", "question, prediction,documents,answers")
    run = joined(tmp_path, predictions(tmp_path, ("1", "uno"), ("2", "2")), gold, options=options)
    empty = {"id": None, "score": None}
    assert run[1] == [
        {
            "id": "1",
            "question": "1?",
            "prediction": "uno",
            "documents": [],
            "answers": ["one", "uno"],
            "em": 1.0,
        },
        {
            "id": "2",
            "question": "2?",
            "prediction": "2",
            "documents": [{"title": "t", "text": "a"} | empty],
            "answers": ["two"],
            "em": 0.0,
        },
    ]


def test_several_answer_files_and_mapped_names(tmp_path: Path) -> None:
    golds = [text(tmp_path, f"{k}.jsonl", f'{{"nr":"{k}","truth":"gold {k}"}}') for k in range(3)]
    pred = write_jsonl(
        tmp_path / "pred.jsonl", [{"nr": k, "said": f"Gold {k}."} for k in (2, 0, 1)]
    )
    maps = [
        part for name in ("id=nr", "answers=truth", "prediction=said") for part in ("--map", name)
    ]
    run = joined(tmp_path, pred, *golds, options=tuple(maps))
    assert em(run) == [("2", 1.0), ("0", 1.0), ("1", 1.0)]


def test_ids_on_one_side_only(gold: Path, tmp_path: Path) -> None:
    pred = text(tmp_path, "pred.jsonl", '{"prediction":"one"}')
    refused(odqa_fast("score", pred, "--answers", gold), 2, "ids", "--map id=NAME")


def test_a_bad_row_of_the_answers(gold: Path, tmp_path: Path) -> None:
    with gold.open("a") as out:
        out.write('{"id":3,"answers":{}}\n')
    pred = predictions(tmp_path, ("1", "one"), ("3", "x"))
    refused(odqa_fast("score", pred, "--answers", gold), 3, "gold.jsonl, line 4", "'answers'")
    summary, rows, _ = joined(tmp_path, pred, gold, options=("--on-error", "skip", *PRESENT))
    assert [row["em"] for row in rows] == [1.0, None]
    assert summary["counts"]["rejected"] == 1
    assert summary["counts"]["unmatched_predictions"] == 1
    rejected = (tmp_path / "run" / "rejected.jsonl").read_text()
    assert json.loads(rejected)["file"] == str(gold)


def test_no_column_of_that_name_on_either_side(gold: Path, tmp_path: Path) -> None:
    pred = write_jsonl(tmp_path / "pred.jsonl", [{"id": "1", "reply": "one"}])
    done = odqa_fast("score", pred, "--answers", gold)
    refused(done, 2, "'prediction'", "reply", "answers", "--map")
