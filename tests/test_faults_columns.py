"""Covers: the wrong column never reaches a metric without a word (faults F01-F03 and F06-F13).

Compared against: the right values that stand with the faults, one file of rows each.
Run: pytest tests/test_faults_columns.py -k F06
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from program import odqa_fast, refused, rows_of, summary_of

import odqa_fast as oq


@pytest.fixture
def faults(shared: Path) -> Path:
    folder = shared / "cases" / "faults"
    if not folder.is_dir():
        pytest.skip(f"no faults: {folder} is missing")
    return folder


#: Fault: its files (the second has the gold answers), metric, profile, mapping, the mean, and what
#: a note says of it.
RIGHT: dict[str, tuple[list[str], str, str, dict[str, str], float, str]] = {
    "F02": (
        ["c44_preds_answer.jsonl", "c44_gold.jsonl"],
        *("em", "squad", {"prediction": "answer"}, 0.5, ""),
    ),
    "F03": (["c47_llamafactory.jsonl"], "em", "squad", {}, 0.5, ""),
    "F06": (
        ["c28_musique_pred.jsonl", "c28_musique_gold.jsonl"],
        *("em", "musique", {}, 1.0, "'answer_aliases' holds further answers"),
    ),
    "F07": (
        ["c43_answer_aliases.jsonl"],
        *("em", "triviaqa", {}, 1.0, "'aliases' holds further answers"),
    ),
    "F08": (
        ["c10_expected_aliases.jsonl"],
        *("em", "squad", {}, 1.0, "'answer_aliases' holds further answers"),
    ),
    "F09": (["c41_trivia.jsonl"], "em", "triviaqa", {}, 1.0, ""),
    "F10": (
        ["c29_popqa_hf.jsonl"],
        *("contains", "popqa", {}, 1.0, "2 rows hold a list as text"),
    ),
    "F11": (["c29_repr_string.jsonl"], "em", "squad", {}, 1.0, "1 rows hold a list as text"),
    "F12": (["c17_pandas_repr.csv"], "em", "squad", {}, 1.0, "1 rows hold a list as text"),
}


@pytest.mark.parametrize("fault", RIGHT)
def test_by_the_command_line(fault: str, faults: Path, tmp_path: Path) -> None:
    files, metric, profile, mapping, right, said = RIGHT[fault]
    dump, *golds = [faults / name for name in files]
    options = [part for gold in golds for part in ("--answers", gold)]
    options += [part for c, name in mapping.items() for part in ("--map", f"{c}={name}")]
    done = odqa_fast(
        "score", dump, "-m", metric, "-p", profile, "--out", tmp_path / "run", *options
    )
    assert summary_of(done)["metrics"][metric]["mean"] == right
    assert said in done.stderr
    assert "ignored" not in done.stderr
    assert "not read" not in done.stderr
    if fault == "F12":
        scores = {row["id"]: row["em"] for row in rows_of(tmp_path / "run")}
        assert scores == {"1": 1, "2": 1, "3": None}
        assert (
            summary_of(done)["counts"]["lists_in_text"] == 1
        )  # the others are JSON, as in any CSV


@pytest.mark.parametrize("fault", RIGHT)
def test_in_python(fault: str, faults: Path) -> None:
    files, metric, profile, mapping, right, said = RIGHT[fault]
    dump, *golds = [faults / name for name in files]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = oq.score_file(
            dump, [metric], profile, mapping=mapping, answers=golds[0] if golds else None
        )
    assert result.means[metric] == right
    assert any(said in str(each.message) for each in caught) or not said
    assert not any("ignored" in note or "not read" in note for note in result.notes)


@pytest.mark.parametrize("fault", sorted(RIGHT.keys() - {"F02", "F06", "F12"}))
def test_in_memory(fault: str, faults: Path) -> None:
    files, metric, profile, mapping, right, _ = RIGHT[fault]
    rows = _rows(faults / files[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert oq.score(rows, [metric], profile, mapping=mapping).means[metric] == right


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_F01_a_field_is_not_scored_against_itself(faults: Path) -> None:
    dump = faults / "c44_preds_answer.jsonl"
    done = odqa_fast("score", dump, "-m", "em", "--map", "prediction=answer")
    refused(done, 2, "needs a column 'answers'", "answer (prediction)", "--answers FILE")
    assert "Each of them is another column" in done.stderr
    for read in (
        lambda: oq.score_file(dump, "em", mapping={"prediction": "answer"}),
        lambda: oq.score(_rows(dump), "em", mapping={"prediction": "answer"}),
    ):
        with pytest.raises(oq.SchemaError, match="needs a column 'answers'"):
            read()


def test_F08_has_four_golds(faults: Path) -> None:
    (row,) = _rows(faults / "c10_expected_aliases.jsonl")
    golds = ["york", "York", "City of York", "York, UK"]
    for prediction in golds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert oq.score([{**row, "pred": prediction}], "em:strip").means == {"em:strip": 1}


def test_F13_what_cannot_be_read_back_is_an_error(faults: Path) -> None:
    dump = faults / "c17_numpy_repr.csv"
    done = odqa_fast("score", dump, "-m", "em")
    refused(done, 3, "line 2", "'golden_answers'", "['Lima' 'City of Lima']", "numpy")
    with pytest.raises(oq.DataError, match="numpy prints"):
        oq.score_file(dump, "em")
    with pytest.raises(oq.DataError, match="row 0: field 'answers' is the text"):
        oq.score({"answers": ["['Lima' 'City of Lima']"], "prediction": ["Lima"]}, "em")
