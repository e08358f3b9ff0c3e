"""Covers: texts of so many tokens that the heads of most are not kept.

Compared against: counting in Python. Run: pytest tests/differential/test_long_lists.py
"""

from __future__ import annotations

import odqa_fast as oq

#: Over four million tokens, as `Tokens::long_count` has it, for a bound of half the bytes.
N = 4_400_000


def test_a_long_prediction_beside_short_answers() -> None:
    prediction = "ab cd " * (N // 2) + "elephants marching"
    data = {
        "prediction": [prediction] * 3,
        "answers": [["elephants marching cd xy"], ["elephants"] * 2, ["zebra"]],
    }
    table = oq.score(data, ["em", "f1", "contains"], threads=1).table
    precision, recall = 3 / (N + 2), 3 / 4
    assert table["em"].to_pylist() == [0, 0, 0]
    assert table["f1"].to_pylist() == [
        2 * precision * recall / (precision + recall),
        2 * (1 / (N + 2)) * 1 / (1 / (N + 2) + 1),
        0,
    ]
    assert table["contains"].to_pylist() == [0, 1, 0]


def test_two_long_texts() -> None:
    text = "ab cd " * (N // 2)
    # One token of a hundred others, and each token of theirs as often as both have it.
    other = "ab " * (N // 2) + " ".join(f"x{k}" for k in range(N // 2))
    data = {"prediction": [text, text], "answers": [[text], [other]]}
    table = oq.score(data, ["em", "f1"], threads=1).table
    assert table["em"].to_pylist() == [1, 0]
    assert table["f1"].to_pylist() == [1, 0.5]
