"""Covers: each metric and normalizer on single rows. Compared against: `vectors/`, by hand.

Every line of `vectors/` says why its numbers are what they are: from arithmetic, a reference
scorer's description, or the Unicode rules. A line is a row with its scores, or a text as a
normalizer leaves it; every file of the folder is read. Run: pytest tests/test_vectors.py -k
final-sigma
"""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import odqa_fast as oq

Case = dict[str, Any]

FILES = {
    path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for path in sorted((Path(__file__).parent / "vectors").glob("*.jsonl"))
}


def cases(key: str) -> list[Any]:
    """The lines that hold `key`, each under its file's name and its own."""
    return [
        pytest.param(case, id=f"{file}-{case['id']}")
        for file, found in FILES.items()
        for case in found
        if key in case
    ]


def close(expected: float | None) -> Any:
    return None if expected is None else pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("file", FILES)
def test_every_line_has_its_own_name_and_a_reason(file: str) -> None:
    found = FILES[file]
    assert len({case["id"] for case in found}) == len(found) > 0
    assert all(case["why"] for case in found)
    assert all(("scores" in case) != ("normalized" in case) for case in found)


@pytest.mark.parametrize("file", [file for file in FILES if "scores" in FILES[file][0]])
def test_every_file_of_scores_tells_values_apart(file: str) -> None:
    values = {score for case in FILES[file] for score in case["scores"].values()}
    assert None in values
    assert len(values) > 2


@pytest.mark.parametrize("case", cases("scores"))
def test_score(case: Case) -> None:
    metrics = list(case["scores"])
    scores = oq.score([case["row"]], metrics, case.get("profile", "squad")).table
    got = {metric: scores[metric][0].as_py() for metric in metrics}
    assert got == {metric: close(score) for metric, score in case["scores"].items()}


def calls() -> list[Any]:
    """The scores that the package has a function for, as `oq.par(summary, answers, mode)`."""
    found = []
    for param in cases("scores"):
        (case,) = param.values
        for metric in case["scores"]:
            name, *options = metric.split(":")
            if takes(getattr(oq, name, None), list(case["row"]), len(options)):
                found.append(pytest.param(case, metric, id=f"{param.id}-{metric}"))
    return found


def takes(function: Any, columns: list[str], n_options: int) -> bool:
    """Whether a function takes these columns, then that many options, then the profile."""
    names = list(signature(function).parameters) if function else []
    return names[: len(columns)] == columns and "profile" in names[len(columns) + n_options :]


@pytest.mark.parametrize(("case", "metric"), calls())
def test_function(case: Case, metric: str) -> None:
    name, *options = metric.split(":")
    arguments = [*case["row"].values(), *options]
    got = getattr(oq, name)(*arguments, profile=case.get("profile", "squad"))
    assert got == close(case["scores"][metric])


@pytest.mark.parametrize("case", cases("normalized"))
def test_normalize(case: Case) -> None:
    assert oq.normalize(case["text"], case["normalizer"]) == case["normalized"]
    assert oq.normalize([case["text"], None], case["normalizer"]).to_pylist() == [
        case["normalized"],
        None,
    ]
