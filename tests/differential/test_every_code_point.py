"""Covers: every character of Unicode 14 in seven contexts. Compared against: oracles.

Run: pytest tests/differential/test_every_code_point.py
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
import pytest
from oracles.answer import contains
from oracles.normalize import NORMALIZERS, dpr_tokens
from unicode14 import assigned

import odqa_fast as oq


@cache
def contexts() -> list[str]:
    """Each character alone, at an article, around a sigma, in a phrase, between marks."""
    return [
        text
        for c in assigned()
        for text in (
            c,
            "a" + c,
            c + "\u03a3",
            "A\u03a3" + c,
            "a" + c + "b the",
            "A" + c + "\u03a3" + c + "A",
            "a\u0301" + c + "\u0327 an",
        )
    ]


def test_the_list_of_characters_is_that_of_unicode_14() -> None:
    # DerivedGeneralCategory 14.0.0 assigns 144,697 characters, not counting the 65 controls,
    # the surrogates and private use.
    assert len(assigned()) == 144_697 + 65


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_normalizer_equals_oracle(normalizer: str) -> None:
    twin = NORMALIZERS[normalizer]
    got = oq.normalize(pa.array(contexts(), pa.string()), normalizer).to_pylist()
    assert len(got) == len(contexts())
    pairs = zip(contexts(), got, strict=True)
    assert [(text, twin(text), ours) for text, ours in pairs if ours != twin(text)] == []


def test_dpr_tokens_equal_oracle() -> None:
    got = oq.tokenize(pa.array(contexts(), pa.string()), "dpr").to_pylist()
    pairs = zip(contexts(), got, strict=True)
    assert [(t, dpr_tokens(t), ours) for t, ours in pairs if ours != dpr_tokens(t)] == []


def test_capitalized_golds_equal_oracle() -> None:
    golds = [c + tail for c in assigned() for tail in ("", "B\u03a3")]
    for change in (str.capitalize, str.upper, str.title, str.swapcase):
        texts = ["x" + change(gold) for gold in golds]
        got = oq.contains(texts, [[gold] for gold in golds], profile="popqa").to_pylist()
        rows = zip(texts, golds, got, strict=True)
        assert [row for row in rows if row[2] != contains(row[0], [row[1]], "popqa")] == []
