"""Covers: scores of whole data sets, and means. Compared against: what the reference scripts and
ways of averaging gave.

Run: pytest tests/differential/test_corpus_vectors.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from program import write_jsonl
from reference.store import records

import odqa_fast as oq
from odqa_fast._kernels.sums import ExactSum

#: Key of the vectors -> our profile, and what becomes of an answer without a prediction.
SCRIPTS: dict[str, tuple[str, Literal["zero", "null"]]] = {
    "squad_v1_official": ("squad", "zero"),
    "mrqa": ("squad", "zero"),
    "mrqa_skip_no_answer": ("squad", "null"),
    "triviaqa": ("triviaqa", "zero"),
}


def test_a_mean_is_the_exact_one_rounded_once() -> None:
    found = records("reductions")
    assert len(found) > 100
    for record in found:
        total = ExactSum()
        total.add(np.array(record["values"], dtype=float))
        assert total.mean() == record["expected"]["statistics_mean"]


def percents(scores: oq.ScoreTable) -> list[float]:
    return [100 * (scores.means[metric] or 0) for metric in ("em", "f1")]


def near(*values: float) -> Any:
    """But for the last bits: the scripts add percents in the order of the data."""
    return pytest.approx(list(values), rel=1e-13, abs=1e-13)


def in_two_files(record: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    predictions = [{"id": k, "prediction": v} for k, v in record["predictions"].items()]
    golds = [{"id": k, "answers": v} for k, v in record["golds"].items()]
    return write_jsonl(folder / "p.jsonl", predictions), write_jsonl(folder / "g.jsonl", golds)


@pytest.mark.filterwarnings("ignore::odqa_fast.OdqaWarning")
@pytest.mark.parametrize("script", SCRIPTS)
def test_data_sets_of_the_first_squad(script: str, tmp_path: Path) -> None:
    profile, missing = SCRIPTS[script]
    found = [record for record in records("corpus") if record["kind"] == "corpus_v1"]
    assert found
    for record in found:
        predictions, golds = in_two_files(record, tmp_path)
        scores = oq.score_file(predictions, ["em", "f1"], profile, answers=golds, missing=missing)
        expected = record["expected"][script]
        assert percents(scores) == near(expected["exact_match"], expected["f1"]), record["id"]


@pytest.mark.filterwarnings("ignore::odqa_fast.OdqaWarning")
def test_data_sets_of_the_second_squad() -> None:
    """Where the script itself ends in an error there is nothing to compare."""
    found = [record for record in records("corpus") if record["kind"] == "corpus_v2"]
    done = [record for record in found if "error" not in record["expected"]["official"]]
    assert done
    for record in done:
        rows = [
            {"prediction": record["predictions"][name], "answers": golds}
            for name, golds in record["golds"].items()
        ]
        expected = record["expected"]["official"]
        scores = oq.score(rows, ["em", "f1"], "squad2")
        assert percents(scores) == near(expected["exact"], expected["f1"]), record["id"]
