"""Covers: what rows are joined by (--join), parts of folders, and --where of odqa-fast score.

Compared against: which row belongs to which, worked out by hand.
Run: pytest tests/cli/test_join_by.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from program import Done, called, refused, rows_of, summary_of, write_jsonl

import odqa_fast as oq

Rows = Sequence[dict[str, Any]]

QUESTIONS = [f"who was number {k}" for k in range(4)]
GOLDS = [{"question": q, "answer": [f"a{k}"]} for k, q in enumerate(QUESTIONS)]
#: In another order than the golds, and half of them right.
SAID = [
    {"question": QUESTIONS[k], "prediction": said}
    for k, said in ((2, "a2"), (0, "a0"), (3, "no"), (1, "no"))
]


def score(folder: Path, predictions: Rows, golds: Rows, *options: object) -> Done:
    return called(
        *("score", write_jsonl(folder / "pred.jsonl", predictions)),
        *("--answers", write_jsonl(folder / "gold.jsonl", golds), "-m", "em"),
        *("--out", folder / "run", *options),
    )


def em(done: Done) -> float | None:
    mean: float | None = summary_of(done)["metrics"]["em"]["mean"]
    return mean


def with_ids(rows: Rows, ids: Sequence[str]) -> Rows:
    return [{"id": name, **row} for name, row in zip(ids, rows, strict=True)]


def test_files_without_ids_are_joined_by_question(tmp_path: Path) -> None:
    done = score(tmp_path, SAID, GOLDS, "--keep", "question")
    assert em(done) == 0.5
    assert [(row["question"], row["em"]) for row in rows_of(tmp_path / "run")] == [
        (QUESTIONS[2], 1.0),
        (QUESTIONS[0], 1.0),
        (QUESTIONS[3], 0.0),
        (QUESTIONS[1], 0.0),
    ]
    assert "4 rows were joined by the text of their question" in done.stderr
    paths = tmp_path / "pred.jsonl", tmp_path / "gold.jsonl"
    assert oq.score_file(paths[0], "em", answers=paths[1]).means == {"em": 0.5}


@pytest.mark.parametrize("side", [0, 1])
def test_ids_on_one_side_and_questions_on_both(side: int, tmp_path: Path) -> None:
    sides = [SAID, GOLDS]
    sides[side] = with_ids(sides[side], ["w", "x", "y", "z"])
    done = score(tmp_path, *sides)
    assert em(done) == 0.5
    names = [row["id"] for row in rows_of(tmp_path / "run")]
    assert names == (["w", "x", "y", "z"] if side == 0 else ["y", "w", "z", "x"])


def test_ids_on_both_sides_count_more_than_questions(tmp_path: Path) -> None:
    said = with_ids([{"question": "other", "prediction": "a1"}], ["1"])
    golds = with_ids(GOLDS, ["0", "1", "2", "3"])
    done = score(tmp_path, said, golds, "--missing", "null")
    assert em(done) == 1.0
    assert "own 'question'" in done.stderr
    refused(
        score(tmp_path, said, golds, "--join", "question"), 3, "'other'", QUESTIONS[0], "--join"
    )
    done = score(tmp_path, with_ids(SAID, ["5", "6", "7", "8"]), golds, "--join", "question")
    assert em(done) == 0.5


def test_questions_without_partner(tmp_path: Path) -> None:
    said = [*SAID[:2], {"question": "who else", "prediction": "a0"}]
    done = score(tmp_path, said, GOLDS)
    assert em(done) == 0.5
    assert "1 predictions have no answers of their question (the first: 'who else')" in done.stderr
    assert "2 answers have no predictions of their question and count 0" in done.stderr


def test_questions_that_stand_twice(tmp_path: Path) -> None:
    said = [*SAID, {"question": QUESTIONS[3], "prediction": "a3"}]
    done = score(tmp_path, said, GOLDS)
    refused(done, 3, "predictions, rows 2 and 4", f"question '{QUESTIONS[3]}' stands twice")
    assert em(score(tmp_path, said, GOLDS, "--duplicates", "keep-last")) == 0.75
    golds = [*GOLDS, {"question": QUESTIONS[3], "answer": ["no"]}]
    refused(score(tmp_path, SAID, golds), 3, "answers, rows 3 and 4", "--duplicates merge")
    assert em(score(tmp_path, SAID, golds, "--duplicates", "merge")) == 0.75
    # The same question under another id is the same answer.
    golds = with_ids([*GOLDS, GOLDS[3]], ["a", "b", "c", "d", "e"])
    assert em(score(tmp_path, SAID, golds)) == 0.5


def test_nothing_that_matches_is_an_error(tmp_path: Path) -> None:
    upper = [{**row, "question": row["question"].upper()} for row in SAID]
    refused(score(tmp_path, upper, GOLDS), 3, "question", "'WHO WAS NUMBER 2'", "--join")
    names = ["0", "1", "2", "3"]
    golds = with_ids(GOLDS, [f"nq-{k}" for k in names])
    refused(score(tmp_path, with_ids(SAID, names), golds), 3, "the id", "'nq-0'", "'0'", "--map id")


def test_order_is_asked_for_by_name(tmp_path: Path) -> None:
    in_order = [SAID[1], SAID[3], SAID[0], SAID[2]]
    assert em(score(tmp_path, in_order, GOLDS, "--join", "order")) == 0.5
    done = score(tmp_path, SAID, GOLDS, "--join", "order")
    refused(done, 3, "row 0", "the questions differ", f"'{QUESTIONS[2]}'", f"'{QUESTIONS[0]}'")
    alone = [{"prediction": "a0"}]
    refused(score(tmp_path, alone, GOLDS[:1], "--join", "id"), 2, "neither", "ids")
    refused(score(tmp_path, alone, GOLDS[:1], "--join", "question"), 2, "none", "question")
    done = called("score", tmp_path / "pred.jsonl", "--join", "order")
    refused(done, 2, "--join goes with --answers")


def parts(folder: Path, key: str) -> Path:
    """Twelve rows in twelve files, whose names are not in the order of their letters."""
    folder.mkdir()
    for k in range(12):
        row = {key: [f"a{k}"] if key == "answers" else f"a{k}"}
        write_jsonl(folder / f"part-{k}.jsonl", [row])
    return folder


def test_parts_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    said, golds = parts(tmp_path / "p", "prediction"), parts(tmp_path / "g", "answers")
    gold = write_jsonl(tmp_path / "gold.jsonl", [{"answers": [f"a{k}"]} for k in range(12)])
    for one, other in ((said, golds), (f"{said}/part-*.jsonl", gold)):
        command = ("score", one, "--answers", other, "-m", "em")
        refused(called(*command), 2, "folder or glob", "--join order")
        done = called(*command, "--join", "order")
        assert em(done) == 1.0
        assert "12 rows were joined by their order" in done.stderr
    with pytest.raises(oq.SchemaError, match="join='order'"):
        oq.score_file(said, "em", answers=golds)
    assert oq.score_file(said, "em", answers=golds, join="order").means == {"em": 1.0}
    # Files named one by one stand as they are named.
    named = [said / f"part-{k}.jsonl" for k in range(12)]
    assert oq.score_file(named, "em", answers=gold).means == {"em": 1.0}


def test_documents_given_win_over_own_ones(tmp_path: Path) -> None:
    """Also relevant ids, by --qrels."""
    own = {"id": "1", "prediction": "x", "documents": ["none"], "relevant_ids": ["d9"]}
    gold = {"id": "1", "answers": ["Lima"], "documents": ["In Lima."], "relevant_ids": ["d9"]}
    predictions = write_jsonl(tmp_path / "pred.jsonl", [own])
    golds = write_jsonl(tmp_path / "gold.jsonl", [gold])
    done = called("score", predictions, "--answers", golds, "-m", "hit@1")
    assert summary_of(done)["metrics"]["hit@1"]["mean"] == 1.0
    assert "own 'documents'" in done.stderr
    assert "own 'answers'" not in done.stderr
    run = write_jsonl(
        tmp_path / "run.jsonl",
        [{"id": "1", "documents": [{"id": "d1", "text": "a"}], "relevant_ids": ["d9"]}],
    )
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 d1 1\n")
    done = called("score", run, "--qrels", qrels, "-m", "mrr:ids")
    assert summary_of(done)["metrics"]["mrr:ids"]["mean"] == 1.0
    assert "the rankings' own 'relevant_ids'" in done.stderr


def test_a_note_names_the_file_of_a_field(tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "p.jsonl", [{"id": "1", "prediction": "a", "pred": "b"}])
    golds = write_jsonl(tmp_path / "g.jsonl", [{"id": "1", "answers": ["a"], "golds": ["b"]}])
    done = called("score", predictions, "--answers", golds, "-m", "em")
    assert f"'pred' ignored in {predictions}" in done.stderr
    assert f"'golds' ignored in {golds}" in done.stderr


SYSTEMS = [
    {"id": name, "prediction": said, "answers": ["a"], "system": system, "level": level}
    for name, said, system, level in (
        ("1", "a", "bm25", 1),
        ("2", "a", "bm25", 2),
        ("1", "b", "dpr", 3),
        ("2", "a", "dpr", 4),
    )
]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet", "arrow"])
def test_rows_are_chosen_in_every_format(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"dump.{form}"
    table = pa.Table.from_pylist(SYSTEMS)
    if form == "jsonl":
        write_jsonl(path, SYSTEMS)
    elif form == "json":
        path.write_text(json.dumps(SYSTEMS))
    elif form == "csv":
        rows = [",".join(SYSTEMS[0]), *(",".join(map(_cell, r.values())) for r in SYSTEMS)]
        path.write_text("\n".join(rows) + "\n")
    elif form == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    for where, expected in (({"system": "dpr"}, 0.5), ({"system": "bm25", "level": "2"}, 1.0)):
        scores = oq.score_file(path, "em", where=where)
        assert scores.means == {"em": expected}
        assert scores.counts["rows_not_chosen"] == 4 - scores.counts["rows"]
    with pytest.raises(oq.SchemaError, match=r"no row has 'x' as its 'system'.*'bm25', 'dpr'"):
        oq.score_file(path, "em", where={"system": "x"})
    with pytest.raises(oq.SchemaError, match=r"no field 'sytem'.*system"):
        oq.score_file(path, "em", where={"sytem": "dpr"})
    with pytest.warns(oq.OdqaWarning, match=r"2 values \('bm25', 'dpr'\) .* 'system'"):
        assert oq.score_file(path, "em").means == {"em": 0.75}


def _cell(value: Any) -> str:
    return value[0] if isinstance(value, list) else str(value)


def test_the_answers_are_chosen_where_they_have_the_field(tmp_path: Path) -> None:
    said = [
        {"id": name, "prediction": name, "split": split}
        for name, split in (("a", "test"), ("b", "test"), ("c", "dev"))
    ]
    golds = [{"id": row["id"], "answers": [row["id"]]} for row in said]
    where = ("--where", "split=test")
    done = score(tmp_path, said, golds, *where)
    assert em(done) == pytest.approx(2 / 3)
    assert "1 answers have no predictions of their id and count 0" in done.stderr
    golds = [{**gold, "split": row["split"]} for gold, row in zip(golds, said, strict=True)]
    assert em(score(tmp_path, said, golds, *where)) == 1.0
    refused(called("score", tmp_path / "pred.jsonl", "--where", "split"), 2, "FIELD=VALUE")


def test_systems_over_the_same_ids_are_said_in_memory_too() -> None:
    with pytest.warns(oq.OdqaWarning, match="'system' over the same ids"):
        assert oq.score(SYSTEMS, "em").means == {"em": 0.75}
    # Of other ids there is nothing to say, nor of a field that says something of each row.
    rows = [{**row, "id": str(k)} for k, row in enumerate(SYSTEMS)]
    assert oq.score(rows, "em").notes == []
    rows = [
        {**row, "id": str(k % 500), "system": f"prompt {k}"} for k, row in enumerate(SYSTEMS * 250)
    ]
    assert not any("'system'" in note for note in oq.score(rows, "em").notes)


@pytest.mark.parametrize("value", [["a"], {"name": "a"}, 1, None])
def test_a_field_that_names_no_run_costs_nothing(value: Any, tmp_path: Path) -> None:
    rows = [{**row, "system": value, "filter": value} for row in SYSTEMS[:2]]
    path = write_jsonl(tmp_path / "d.jsonl", rows)
    assert oq.score_file(path, "em").means == {"em": 1.0}
    assert oq.score(rows, "em").means == {"em": 1.0}


def test_a_field_may_be_a_column_and_what_rows_are_chosen_by(tmp_path: Path) -> None:
    """`system` is kept, `doc_id` is the id, and both are looked at as they are."""
    rows = [{**row, "doc_id": row["id"], "odd": [row["system"]]} for row in SYSTEMS]
    rows[0]["odd"] = "dpr"
    for row in rows:
        del row["id"]
    table = pa.Table.from_pylist([{**row, "odd": None} for row in rows])
    parquet, lines = tmp_path / "d.parquet", write_jsonl(tmp_path / "d.jsonl", rows)
    pq.write_table(table, parquet)
    mapping, where = {"id": "doc_id"}, {"system": "dpr"}
    for path in (parquet, lines):
        out = tmp_path / path.suffix
        oq.score_file(path, "em", mapping=mapping, where=where, keep=["system"], out=out)
        assert [(row["id"], row["system"], row["em"]) for row in rows_of(out)] == [
            ("1", "dpr", 0.0),
            ("2", "dpr", 1.0),
        ]
    for data in (table, ds.dataset(table), rows):
        assert oq.score(data, "em", mapping=mapping, where=where).means == {"em": 0.5}
    # What is no text has no value; a row beside it may.
    assert oq.score_file(lines, "em", where={"odd": "dpr"}).counts["rows"] == 1
    with pytest.raises(oq.SchemaError, match="no row has 'x' as its 'odd'"):
        oq.score_file(lines, "em", where={"odd": "x"})
