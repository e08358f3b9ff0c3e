"""Covers: text lengths, positions and token counts around every buffer size. Against: oracles.

Run: pytest tests/differential/test_lengths.py
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
import pytest
from oracles.answer import ANSWER_METRICS
from oracles.normalize import NORMALIZERS, TOKENIZERS

import odqa_fast as oq

SPECIALS = ["A", ".", " ", "\x1c", "\0", "\xa0", "\xe9", "\u03a3", "\U0001f600", " the ", "\x7f"]
LENGTHS = [*range(36), 47, 48, 49, 62, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 130, 255, 257]


@cache
def texts() -> list[str]:
    """One special character at every position of a plain text of every length."""
    return [
        "x" * at + special + "y" * (length - at)
        for length in LENGTHS
        for at in range(length + 1)
        for special in SPECIALS
    ]


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_normalize_at_every_position(normalizer: str) -> None:
    got = oq.normalize(pa.array(texts()), normalizer).to_pylist()
    expected = [NORMALIZERS[normalizer](text) for text in texts()]
    assert [t for t in zip(texts(), expected, got, strict=True) if t[1] != t[2]] == []


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_tokenize_at_every_position(tokenizer: str) -> None:
    got = oq.tokenize(pa.array(texts()), tokenizer).to_pylist()
    expected = [TOKENIZERS[tokenizer](text) for text in texts()]
    assert [t for t in zip(texts(), expected, got, strict=True) if t[1] != t[2]] == []


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
def test_arithmetic_for_every_token_count(metric: str) -> None:
    # c shared tokens, p predicted, g gold; 2c/(p+g) would differ in the last bit of a third.
    counts = [
        (c, p, g)
        for p in [*range(1, 40), 63, 64, 65, 100, 300]
        for g in [*range(1, 40), 63, 64, 65, 100, 300]
        for c in {0, 1, min(p, g) // 2, min(p, g)}
    ]
    words = [f"w{i}" for i in range(300)]
    predictions = [" ".join(words[:c] + ["p"] * (p - c)) for c, p, _ in counts]
    answers = [[" ".join(words[:c][::-1] + ["g"] * (g - c))] for c, _, g in counts]
    expected = []
    for c, p, g in counts:
        precision, recall = c / p, c / g
        f1 = (2 * precision * recall) / (precision + recall) if c else 0.0
        expected.append({"f1": f1, "precision": precision, "recall": recall}[metric])
    assert getattr(oq, metric)(predictions, answers).to_pylist() == expected


@pytest.mark.parametrize("metric", ANSWER_METRICS)
def test_many_repeated_tokens_on_both_sides(metric: str) -> None:
    rows = [
        (" ".join(["u", "v"] * n + ["w"] * m), [" ".join(["v"] * m + ["u"] * k), "v " * n])
        for n in (0, 1, 7, 31, 32, 33, 64, 65, 500)
        for m in (0, 1, 33, 64, 65, 700)
        for k in (0, 1, 64, 66)
    ]
    predictions, answers = zip(*rows, strict=True)
    got = getattr(oq, metric)(list(predictions), list(answers)).to_pylist()
    assert got == [ANSWER_METRICS[metric](p, a, "squad") for p, a in rows]


@pytest.mark.parametrize("mode", ["raw", "normalized", "token"])
def test_a_needle_at_every_position(mode: str) -> None:
    # The needle shares its start with the text around it, so a search must step back.
    needles = ["z", "xz", "x x z", "xxxxxxxxz", "x " * 20 + "z"]
    rows = [
        ("x " * at + needle + " x" * after, [needle + tail], float(tail == ""))
        for needle in needles
        for at in (*range(18), 31, 32, 33, 64)
        for after in (0, 1, 15, 16, 17, 40)
        for tail in ("", " z")
    ]
    summaries, answers, expected = zip(*rows, strict=True)
    got = oq.par(list(summaries), list(answers), mode=mode).to_pylist()
    assert got == list(expected)
