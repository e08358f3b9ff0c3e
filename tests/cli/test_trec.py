"""Covers: odqa-fast score with --qrels, on TREC runs and on dumps; --missing.

Compared against: arithmetic by hand. Run: pytest tests/cli/test_trec.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from program import odqa_fast, refused, rows_of, summary_of, write_jsonl

import odqa_fast as oq

METRICS = "recall@5,mrr:ids,ndcg@10,map"

#: q1: d3 and d1 tie and d3 comes first, so the one relevant document, d1, is second. q2: d2, which
#: is judged below 0, is not relevant, d1 is, at rank 3. q8 is not judged.
RUN = """\
q1 Q0 d1 1 2.0 t
q1 Q0 d3 2 2.0 t
q2 Q0 d2 1 9 t
q2 Q0 d4 2 8 t
q2 Q0 d1 3 7 t
q8 Q0 d1 1 1 t
"""
#: q9 is not in the run.
QRELS = """\
q9 0 d1 1
q2 0 d1 2
q1 0 d1 1
q2 0 d2 -1
q2 0 d5 1
"""
MRR = {"q1": 1 / 2, "q2": 1 / 3, "q8": None, "q9": 0.0}
RECALL = {"q1": 1.0, "q2": 1 / 2, "q8": None, "q9": 0.0}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.trec"
    path.write_text(RUN, encoding="utf-8")
    return path


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text(QRELS, encoding="utf-8")
    return path


def column(out: Path, metric: str) -> dict[str, Any]:
    return {row["id"]: row[metric] for row in rows_of(out)}


def test_a_run_against_judgements(run: Path, qrels: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = odqa_fast("score", run, "--qrels", qrels, "--metrics", METRICS, "--out", out)
    summary = summary_of(done)
    assert column(out, "mrr:ids") == pytest.approx(MRR)
    assert column(out, "recall@5") == pytest.approx(RECALL)
    assert summary["metrics"]["mrr:ids"]["mean"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)
    assert summary["metrics"]["map"]["mean"] == pytest.approx((1 / 2 + 1 / 3 / 2 + 0) / 3)
    counts = summary["counts"]
    assert (counts["rows"], counts["rows_read"]) == (4, 11)
    assert (counts["unmatched_predictions"], counts["unmatched_answers"]) == (1, 1)
    assert "missing:zero" in summary["metrics"]["map"]["signature"]
    first, second = done.stderr.splitlines()
    assert first.endswith("1 rankings have no judgements of their id (the first: 'q8').")
    assert second.endswith(
        "1 judgements have no rankings of their id and count 0 (the first: 'q9')."
    )


def test_only_what_both_have(run: Path, qrels: Path) -> None:
    """As trec_eval averages without -c."""
    done = odqa_fast("score", run, "--qrels", qrels, "-m", "mrr:ids", "--missing", "null")
    metric = summary_of(done)["metrics"]["mrr:ids"]
    assert metric["mean"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert "missing" not in metric["signature"]


def test_in_python(run: Path, qrels: Path) -> None:
    scores = oq.score_file(run, "mrr:ids", qrels=qrels)
    assert scores.means == {"mrr:ids": pytest.approx(5 / 18)}
    scores = oq.score_file(run, "mrr:ids", qrels=qrels, missing="null")
    assert scores.means == {"mrr:ids": pytest.approx(5 / 12)}


def test_several_files_and_a_pipe(run: Path, qrels: Path, tmp_path: Path) -> None:
    lines = QRELS.splitlines(keepends=True)
    parts = [tmp_path / "1", tmp_path / "2"]
    # The judgements of a query stand in one file.
    parts[0].write_text("".join(line for line in lines if line.startswith("q2")))
    parts[1].write_text("".join(line for line in lines if not line.startswith("q2")))
    named = [word for part in parts for word in ("--qrels", part)]
    done = odqa_fast("score", "-", *named, "-m", "recall@5", stdin=run)
    assert summary_of(done)["metrics"]["recall@5"]["mean"] == pytest.approx(0.5)


def test_a_dump_against_judgements(qrels: Path, tmp_path: Path) -> None:
    """Documents with texts and ids; what the dump itself calls relevant is not looked at."""
    documents = [{"id": "d4", "text": "no"}, {"id": "d1", "text": "It was 1990."}]
    row = {"qid": "q2", "ctxs": documents, "relevant_ids": ["d4"], "answers": ["1990"]}
    dump = write_jsonl(tmp_path / "dump.jsonl", [row])
    done = odqa_fast("score", dump, "--qrels", qrels, "-m", "mrr,mrr:ids", "--missing", "null")
    metrics = summary_of(done)["metrics"]
    assert (metrics["mrr"]["mean"], metrics["mrr:ids"]["mean"]) == (0.5, 0.5)


def test_a_bad_line_says_where(run: Path, qrels: Path, tmp_path: Path) -> None:
    run.write_text(RUN + "q8 Q0 d2\n")
    command = ("score", run, "--qrels", qrels, "-m", "mrr:ids")
    refused(odqa_fast(*command), 3, "run.trec, line 7: 3 fields", "--on-error skip")
    out = tmp_path / "out"
    summary = summary_of(odqa_fast(*command, "--on-error", "skip", "--out", out))
    assert summary["counts"]["rejected"] == 1
    assert column(out, "mrr:ids") == pytest.approx(MRR)
    qrels.write_text(QRELS + "q2 0 d5 1\n")
    refused(odqa_fast(*command, "--on-error", "fail"), 3, "qrels.txt, line 6: document 'd5'")


def test_a_run_that_is_not_in_order(run: Path, qrels: Path, tmp_path: Path) -> None:
    """trec_eval brings the lines of a query together, wherever they stand."""
    lines = RUN.splitlines(keepends=True)
    run.write_text("".join(lines[i] for i in (5, 0, 2, 4, 1, 3)))
    out = tmp_path / "out"
    command = ("score", run, "--qrels", qrels, "--metrics", METRICS, "--out", out)
    summary = summary_of(odqa_fast(*command))
    assert column(out, "mrr:ids") == pytest.approx(MRR)
    assert column(out, "recall@5") == pytest.approx(RECALL)
    assert list(column(out, "map")) == ["q8", "q1", "q2", "q9"]
    assert summary["counts"]["duplicate_ids"] == 0
    assert oq.score_file(run, "mrr:ids", qrels=qrels).means == {"mrr:ids": pytest.approx(5 / 18)}


def test_what_cannot_be(run: Path, qrels: Path) -> None:
    refused(odqa_fast("score", run, "-m", "map"), 2, "'relevant_ids'", "--qrels FILE")
    both = odqa_fast("score", run, "--qrels", qrels, "--answers", qrels, "-m", "map")
    refused(both, 2, "answers and qrels")
    refused(odqa_fast("score", run, "--missing", "zero", "-m", "map"), 2, "--answers or --qrels")
    refused(odqa_fast("score", run, "--qrels", run, "-m", "map"), 3, "run.trec, line 1: 6 fields")


PREDICTIONS = [{"id": "1", "prediction": "one"}, {"id": "2", "prediction": "too"}]
ANSWERS = [
    {"id": str(number), "answers": [word], "documents": ["one"]}
    for number, word in enumerate(("one", "two", "three", "four"), 1)
]


@pytest.mark.parametrize(
    ("options", "means"),
    [
        (("--missing", "null"), (1 / 2, 1 / 2)),
        # Four answers, as SQuAD's script divides by all questions. What was retrieved is known.
        (("--missing", "zero"), (1 / 4, 1 / 4)),
        ((), (1 / 4, 1 / 4)),
    ],
)
def test_answers_without_prediction(
    options: tuple[str, ...], means: tuple[float, float], tmp_path: Path
) -> None:
    predictions = write_jsonl(tmp_path / "pred.jsonl", PREDICTIONS)
    gold = write_jsonl(tmp_path / "gold.jsonl", ANSWERS)
    out = tmp_path / "out"
    command = ("score", predictions, "--answers", gold, "-m", "em,hit@1", "--out", out, *options)
    done = odqa_fast(*command)
    summary = summary_of(done)
    assert tuple(metric["mean"] for metric in summary["metrics"].values()) == means
    assert summary["counts"]["unmatched_answers"] == 2
    zero = "null" not in options
    assert ("missing:zero" in summary["metrics"]["em"]["signature"]) is zero
    assert ("and count 0" in done.stderr) is zero
    assert list(column(out, "em")) == (["1", "2", "3", "4"] if zero else ["1", "2"])
    assert summary["counts"]["null_predictions"] == (2 if zero else 0)


def test_what_the_system_made_is_missing_too(tmp_path: Path) -> None:
    """Where the predictions bring documents, a question without a row has none."""
    rows = [row | {"documents": ["one"]} for row in PREDICTIONS]
    predictions = write_jsonl(tmp_path / "pred.jsonl", rows)
    golds = [{"id": number, "answers": ["one"]} for number in ("1", "2", "3")]
    gold = write_jsonl(tmp_path / "gold.jsonl", golds)
    command = ("score", predictions, "--answers", gold, "-m", "em,hit@1")
    metrics = summary_of(odqa_fast(*command))["metrics"]
    assert metrics["em"]["mean"] == pytest.approx(1 / 3)
    assert metrics["hit@1"]["mean"] == pytest.approx(2 / 3)
    assert (metrics["em"]["n_scored"], metrics["hit@1"]["n_scored"]) == (3, 3)


def test_judged_questions_that_a_dump_lacks(tmp_path: Path) -> None:
    """As `test_a_run_against_judgements`, where the relevant ids come by --answers."""
    documents = [{"id": "d2", "text": "two"}, {"id": "d1", "text": "one"}]
    dump = write_jsonl(tmp_path / "dump.jsonl", [{"id": "1", "documents": documents}])
    golds = [{"id": number, "relevant_ids": ["d1"]} for number in ("1", "2")]
    gold = write_jsonl(tmp_path / "gold.jsonl", golds)
    command = ("score", dump, "--answers", gold, "-m", "mrr:ids,recall@5")
    metrics = summary_of(odqa_fast(*command))["metrics"]
    assert (metrics["mrr:ids"]["mean"], metrics["recall@5"]["mean"]) == (1 / 4, 1 / 2)
    metrics = summary_of(odqa_fast(*command, "--missing", "null"))["metrics"]
    assert (metrics["mrr:ids"]["mean"], metrics["recall@5"]["mean"]) == (1 / 2, 1)


def test_the_script_of_squad_2_leaves_out_what_nothing_was_predicted_for(tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "pred.jsonl", PREDICTIONS)
    gold = write_jsonl(tmp_path / "gold.jsonl", ANSWERS)
    command = ("score", predictions, "--answers", gold, "-m", "em", "--profile")
    done = odqa_fast(*command, "squad2")
    assert summary_of(done)["metrics"]["em"]["mean"] == 1 / 4
    assert "em: the script of SQuAD v2 leaves out questions" in done.stderr
    for others in (("squad",), ("squad2", "--missing", "null")):
        assert "SQuAD v2" not in odqa_fast(*command, *others).stderr
