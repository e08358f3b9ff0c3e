"""Covers: cr:tokens. Compared against: tokens counted by hand, those of a tokenizer that cuts at
white space and around signs.

Run: pytest tests/test_cr_tokens.py
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from program import odqa_fast, refused, summary_of, write_jsonl

import odqa_fast as oq

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra cpu")

ROWS: list[dict[str, Any]] = [
    {"summary": "a, b", "documents": [{"title": "not counted", "text": "a b c"}, "d.", None]},
    {"summary": "", "documents": ["a"]},
    {"summary": "a b", "documents": ["a"]},
    {"summary": None, "documents": ["a"]},
    {"summary": "a", "documents": None},
    {"summary": "a", "documents": ["", " "]},
]
RATIOS = [3 / 5, 0, 2, None, None, None]


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    model = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    # Adds a token to each text, which is none of its own.
    made.post_processor = tokenizers.processors.TemplateProcessing("[UNK] $A", None, [("[UNK]", 0)])
    made.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path / "tokenizer.json")


def test_tokens_over_tokens(tokenizer: str) -> None:
    resources = oq.Resources(tokenizer=tokenizer)
    with pytest.warns(oq.OdqaWarning, match="1 summaries are longer than their documents"):
        scores = oq.score(ROWS, ["cr:tokens", "cr:words"], resources=resources)
    assert scores.table["cr:tokens"].to_pylist() == RATIOS
    assert scores.table["cr:words"].to_pylist()[:3] == [2 / 4, 0, 2]
    assert {k: n for k, n in scores.counts.items() if n} == {
        "rows_read": 6, "rows": 6, "null_summaries": 1, "null_documents": 1, "empty_documents": 1,
        "longer_summaries": 1, "blank_summaries": 1,
    }  # fmt: skip
    hashed = sha256(Path(tokenizer).read_bytes()).hexdigest()[:8]
    assert f"|unit:tokens@{hashed}|" in str(scores.signatures["cr:tokens"])


def test_acorn_rounds_each_row(tokenizer: str) -> None:
    row = {"summary": "a", "documents": ["a b c"]}
    resources = oq.Resources(tokenizer=tokenizer)
    assert oq.score([row], "cr:tokens:acorn", resources=resources).means == {
        "cr:tokens:acorn": 0.33
    }


def test_the_command(tokenizer: str, tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "d.jsonl", ROWS[:2])
    done = odqa_fast("score", dump, "--metrics", "cr:tokens", "--tokenizer", tokenizer)
    assert summary_of(done)["metrics"]["cr:tokens"]["mean"] == 0.3
    refused(odqa_fast("score", dump, "--metrics", "cr:tokens"), 2, "--tokenizer FILE")
    for text in ("{}", json.dumps({"model": 1})):
        (tmp_path / "none.json").write_text(text)
        done = odqa_fast(
            "score", dump, "--metrics", "cr:tokens", "--tokenizer", tmp_path / "none.json"
        )
        refused(done, 4, "none.json: is no tokenizer")
