"""Covers: the reported faults of joins and of several runs in one file (F04, F05, F14, F15).

Compared against: the right values of cases/faults/faults.jsonl.
Run: pytest tests/test_faults_joins.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import called, refused, rows_of, summary_of

import odqa_fast as oq


@pytest.fixture(scope="session")
def faults(shared: Path) -> Path:
    folder = shared / "cases" / "faults"
    if not folder.is_dir():
        pytest.skip(f"no faults: {folder} is missing")
    return folder


@pytest.mark.parametrize("own", ["c46_preds_own_answers.jsonl", "c45_preds.jsonl"])
def test_F04_F05_the_answers_given_win_over_own_ones(own: str, faults: Path) -> None:
    predictions, gold = faults / own, faults / "c46_gold_answers_q.jsonl"
    done = called("score", predictions, "-m", "em", "--answers", gold)
    summary = summary_of(done)
    assert summary["metrics"]["em"]["mean"] == 1.0
    [note] = [line for line in done.stderr.splitlines() if "own 'answers'" in line]
    for words in (own, "gave way", gold.name, "2 rows differ"):
        assert words in note
    with pytest.warns(oq.OdqaWarning, match="own 'answers' .* gave way .*2 rows differ"):
        scores = oq.score_file(predictions, "em", answers=gold)
    assert scores.means == {"em": 1.0}
    assert scores.notes == summary["notes"]


RUNS = "c04_samples_two_filters.jsonl"
MAPPING = {"prediction": "filtered_resps", "answers": "target", "id": "doc_id"}
MAPS = [word for pair in MAPPING.items() for word in ("--map", "=".join(pair))]


def test_F14_several_runs_are_no_mean(faults: Path) -> None:
    done = called("score", faults / RUNS, "-m", "em", *MAPS)
    refused(
        done, 2, "'strict-match', 'flexible-extract'", "'filter'", "--where filter=strict-match"
    )
    # The mapping of the id is not what tells the runs apart.
    refused(called("score", faults / RUNS, "-m", "em", *MAPS[:-2]), 2, "'filter'", "--where")
    with pytest.raises(oq.SchemaError, match=r"where=\{'filter': 'strict-match'\}"):
        oq.score_file(faults / RUNS, "em", mapping=MAPPING)
    rows = [json.loads(line) for line in (faults / RUNS).read_text(encoding="utf-8").splitlines()]
    with pytest.raises(oq.SchemaError, match="'strict-match', 'flexible-extract'"):
        oq.score(rows, "em", mapping=MAPPING)
    one = [row for row in rows if row["filter"] == "flexible-extract"]
    assert oq.score(one, "em", mapping=MAPPING).means == {"em": 1.0}


@pytest.mark.parametrize(("run", "em"), [("strict-match", 0.5), ("flexible-extract", 1.0)])
def test_F14_one_run_is_chosen(run: str, em: float, faults: Path) -> None:
    done = called("score", faults / RUNS, "-m", "em", *MAPS, "--where", f"filter={run}")
    summary = summary_of(done)
    assert summary["metrics"]["em"]["mean"] == em
    assert f"|where:filter={run}|" in summary["metrics"]["em"]["signature"]
    assert (summary["counts"]["rows"], summary["counts"]["rows_not_chosen"]) == (2, 2)
    assert "2 rows were not chosen by --where" in done.stderr
    scores = oq.score_file(faults / RUNS, "em", mapping=MAPPING, where={"filter": run})
    assert scores.means == {"em": em}


def test_F15_golds_in_several_rows(faults: Path, tmp_path: Path) -> None:
    predictions, gold = faults / "c15_preds.jsonl", faults / "c15_golds_long.csv"
    command = ("score", predictions, "-m", "em", "--answers", gold, "--map", "answers=gold_answer")
    refused(called(*command), 3, "answers, rows 0 and 1", "'q1'", "--duplicates merge")
    out = tmp_path / "run"
    summary = summary_of(called(*command, "--duplicates", "merge", "--out", out))
    assert {row["id"]: row["em"] for row in rows_of(out)} == {"q1": 1.0, "q2": 0.0}
    assert "|duplicates:merge|" in summary["metrics"]["em"]["signature"]
    scores = oq.score_file(
        predictions, "em", answers=gold, duplicates="merge", mapping={"answers": "gold_answer"}
    )
    assert scores.means == {"em": 0.5}
