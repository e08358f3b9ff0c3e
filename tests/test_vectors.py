"""Covers: each metric and normalizer on single rows. Compared against: `vectors/`, by hand.

Every line of `vectors/` says why its number is what it is: from arithmetic, a reference scorer's
description, or the Unicode rules. Run: pytest tests/test_vectors.py -k final-sigma
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import odqa_fast as oq

FOLDER = Path(__file__).parent / "vectors"
FILES = (
    "em", "f1", "precision_recall", "contains", "par", "cr", "rouge", "retrieval", "noise",
    "normalize",
)  # fmt: skip

TYPES = {"prediction": pa.string(), "answers": pa.list_(pa.string())}

Case = dict[str, Any]


def load(name: str) -> list[Case]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def by_id(case: Case) -> str:
    return case["id"]


def close(expected: float | None) -> Any:
    return None if expected is None else pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", ["em", "f1", "contains"])
def test_files_hold_both_hits_and_misses(metric: str) -> None:
    assert {0.0, 1.0, None} <= {case[metric] for case in load(metric)}


@pytest.mark.parametrize("name", FILES)
def test_every_vector_has_its_own_name_and_a_reason(name: str) -> None:
    cases = load(name)
    assert len({case["id"] for case in cases}) == len(cases) >= 10
    assert all(case["why"] for case in cases)


@pytest.mark.parametrize("case", load("em"), ids=by_id)
def test_em(case: Case) -> None:
    got = oq.em(case["prediction"], case["answers"], profile=case["profile"])
    assert got == case["em"]


@pytest.mark.parametrize("case", load("f1"), ids=by_id)
def test_f1(case: Case) -> None:
    got = oq.f1(case["prediction"], case["answers"], profile=case["profile"])
    assert got == close(case["f1"])


@pytest.mark.parametrize("case", load("precision_recall"), ids=by_id)
def test_precision_and_recall(case: Case) -> None:
    given = (case["prediction"], case["answers"])
    assert oq.precision(*given, profile=case["profile"]) == close(case["precision"])
    assert oq.recall(*given, profile=case["profile"]) == close(case["recall"])


@pytest.mark.parametrize("case", load("contains"), ids=by_id)
def test_contains(case: Case) -> None:
    got = oq.contains(case["prediction"], case["answers"], profile=case["profile"])
    assert got == case["contains"]


@pytest.mark.parametrize("case", load("par"), ids=by_id)
def test_par(case: Case) -> None:
    mode = case["metric"].partition(":")[2] or "raw"
    got = oq.par(case["summary"], case["answers"], mode=mode, profile=case["profile"])
    assert got == case["par"]


@pytest.mark.parametrize("case", load("par") + load("cr"), ids=by_id)
def test_par_and_cr_in_a_table(case: Case) -> None:
    columns = {name: [case[name]] for name in ("summary", "answers", "documents") if name in case}
    scores = oq.score(columns, metrics=[case["metric"]], profile=case["profile"])
    family = case["metric"].partition(":")[0]
    assert scores.table[case["metric"]].to_pylist() == [close(case[family])]


@pytest.mark.parametrize(
    "case", [case for case in load("cr") if case["profile"] == "squad"], ids=by_id
)
def test_cr(case: Case) -> None:
    unit = case["metric"].partition(":")[2] or "chars"
    assert oq.cr(case["summary"], case["documents"], unit=unit) == close(case["cr"])


@pytest.mark.parametrize("case", load("rouge"), ids=by_id)
def test_rouge(case: Case) -> None:
    columns = {name: pa.array([case[name]], TYPES[name]) for name in TYPES}
    got = oq.score(columns, metrics=list(case["scores"])).table.to_pylist()[0]
    got.pop("id")
    assert got == {metric: close(score) for metric, score in case["scores"].items()}


@pytest.mark.parametrize("case", load("retrieval"), ids=by_id)
def test_retrieval(case: Case) -> None:
    got = oq.score([case["row"]], metrics=list(case["scores"])).table.to_pylist()[0]
    got.pop("id")
    assert got == {metric: close(score) for metric, score in case["scores"].items()}


@pytest.mark.parametrize("case", load("normalize"), ids=by_id)
def test_normalize(case: Case) -> None:
    assert oq.normalize(case["text"], case["normalizer"]) == case["normalized"]
    assert oq.normalize([case["text"], None], case["normalizer"]).to_pylist() == [
        case["normalized"],
        None,
    ]


@pytest.mark.parametrize("case", load("noise"), ids=by_id)
def test_noise(case: Case) -> None:
    pieces = "injected" if "injected" in case else "evidence_sentences"
    table = pa.table(
        {
            "summary": pa.array([case["summary"]], pa.string()),
            pieces: pa.array([case[pieces]], pa.list_(pa.string())),
        }
    )
    got = oq.score(table, metrics=[case["metric"]]).table[case["metric"]]
    assert got.to_pylist() == [close(case["value"])]
