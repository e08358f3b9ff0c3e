"""Covers: files that are no part of a dump, options that no metric uses, numbers and frames.

Compared against: dumps of which the test says what each file and field holds.
Run: pytest tests/cli/test_of_no_use.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from program import odqa_fast, refused, summary_of, write_jsonl

import odqa_fast as oq
from odqa_fast.scoring.notes import notes_on


def _shards(folder: Path, *rows: dict[str, Any]) -> Path:
    folder.mkdir()
    for n, row in enumerate(rows):
        write_jsonl(folder / f"part-{n}.jsonl", [row])
    return folder


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "# Predictions\nof a model\non NQ\n"),
        ("dataset_info.json", '{"citation": "x", "features": {}}'),
    ],
)
def test_a_file_that_is_no_part_of_the_dump_is_refused(
    name: str, text: str, tmp_path: Path
) -> None:
    shards = _shards(tmp_path / "s", {"id": "1", "prediction": "Oslo", "answers": ["Oslo"]})
    (shards / name).write_text(text, encoding="utf-8")
    refused(odqa_fast("score", shards), 2, name, "none of the columns that are read", "glob")


@pytest.mark.parametrize(
    ("option", "metric"),
    [
        (("--tokenizer", "tokenizer.json"), "cr:tokens"),
        (("--bertscore-model", "roberta"), "bertscore"),
        (("--bertscore-idf", "d.jsonl"), "bertscore:idf"),
        (("--bertscore-baseline", "0.8,0.8,0.8"), "bertscore:rescaled"),
    ],
)
def test_an_option_that_no_metric_uses_is_refused(
    option: tuple[str, str], metric: str, tmp_path: Path
) -> None:
    dump = write_jsonl(
        tmp_path / "d.jsonl",
        [
            {
                "id": "q0",
                "answers": ["Oslo"],
                "prediction": "Oslo",
                "documents": ["Oslo."],
                "summary": "Oslo",
            }
        ],
    )
    refused(odqa_fast("score", dump, "-m", "em,cr", *option), 2, option[0], f"goes with {metric}")


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_whole_numbers_with_a_point_are_counted_in_json(suffix: str, tmp_path: Path) -> None:
    """What pandas writes of integers beside a missing value."""
    frame = pd.DataFrame({"prediction": [1969.0, None, 2.5], "answers": ["1969", "x", "2.5"]})
    path = tmp_path / f"d.{suffix}"
    frame.to_json(path, orient="records", lines=suffix == "jsonl")
    done = odqa_fast("score", path, "-m", "em")
    assert "1 rows hold whole numbers in a column of decimal ones" in done.stderr
    assert summary_of(done)["counts"]["pointed_numbers"] == 1


def test_of_numbers_that_are_not_scored_nothing_is_said() -> None:
    row = {"prediction": "Oslo", "answers": ["Oslo"], "system": 1.0}
    assert oq.score([row], "em").notes == []
    assert oq.score(pd.DataFrame([row]), "em").notes == []


def test_a_count_that_begins_like_that_of_a_missing_column_is_none() -> None:
    [note] = notes_on({"rows": 1, "rows_without_weight": 2})
    assert note.startswith("2 rows hold a text of which every token weighs 0")


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"prediction": ["a", "b"], "answers": [["a"], "b"]}), "answers"),
        (
            pd.DataFrame([["a", "b", "c"]], columns=["answers", "prediction", "prediction"]),
            "prediction",
        ),
    ],
)
def test_frames_that_arrow_cannot_hold_are_an_error_of_ours(frame: Any, said: str) -> None:
    with pytest.raises(oq.OdqaError, match=f"{said}.*to_dict"):
        oq.score(frame, "em")


def test_gold_answers_given_as_a_second_part_are_no_dump(tmp_path: Path) -> None:
    predictions = write_jsonl(tmp_path / "p.jsonl", [{"id": "1", "prediction": "Oslo"}])
    gold = write_jsonl(tmp_path / "g.jsonl", [{"id": "1", "answers": ["Oslo"]}])
    done = odqa_fast("score", predictions, gold, "-m", "em")
    refused(done, 2, "'em' needs answers and prediction of one row", "--answers FILE")
    joined = odqa_fast("score", predictions, "--answers", gold, "-m", "em")
    assert summary_of(joined)["metrics"]["em"]["mean"] == 1.0


def test_a_name_is_ignored_only_beside_another_in_its_own_file(tmp_path: Path) -> None:
    gold = {"answers": ["Oslo"]}
    shards = _shards(
        tmp_path / "s",
        {"id": "1", "prediction": "Oslo", **gold},
        {"id": "2", "pred": "Oslo", **gold},
    )
    done = odqa_fast("score", shards, "-m", "em")
    assert summary_of(done)["metrics"]["em"]["mean"] == 1.0
    assert "note: " not in done.stderr
