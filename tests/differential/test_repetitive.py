"""Covers: answers searched for in texts that repeat themselves, where nearly every place matches.

Compared against: `in` and the plain oracles; how time grows with the text.
Run: pytest tests/differential/test_repetitive.py
"""

from __future__ import annotations

import random
import time

import pytest

import odqa_fast as oq


def _holds(tokens: list[str], answer: list[str]) -> int | None:
    """The first place of an answer in a list of tokens."""
    for at in range(len(tokens) - len(answer) + 1):
        if tokens[at : at + len(answer)] == answer:
            return at
    return None


def _cases(words: list[str], seed: int) -> list[tuple[list[str], list[str]]]:
    """Periodic texts with a few slips, and answers cut out of them, most with one of their own."""
    rng = random.Random(seed)
    cases = []
    for _ in range(60):
        period = [rng.choice(words) for _ in range(rng.randint(1, 4))]
        text = period * rng.randint(300, 900)
        for _ in range(rng.randint(0, 3)):
            text[rng.randrange(len(text))] = rng.choice(words)
        start = rng.randrange(len(text) - 1)
        answer = text[start : start + rng.randint(100, 700)]
        if rng.random() < 0.6:
            answer[rng.choice((0, len(answer) // 2, -1))] = rng.choice(words)
        cases.append((text, answer))
    return cases


@pytest.mark.parametrize("words", [["a", "b"], ["a", "aa", "é"], ["ab", "ba", "."]])
@pytest.mark.parametrize("seed", range(3))
def test_tokens_and_bytes_are_found_where_they_stand(words: list[str], seed: int) -> None:
    cases = _cases(words, seed)
    # Cut between tokens: `é` is one code point, and no two of the words make another.
    texts = [" ".join(text) for text, _ in cases]
    answers = [[" ".join(answer)] for _, answer in cases]
    data = {
        "summary": texts,
        "documents": [["x", text] for text in texts],
        "prediction": texts,
        "answers": answers,
    }
    metrics = ["par", "par:token", "hit@2", "hit@2:raw", "par:normalized"]
    table = oq.diagnose(data, metrics, "nq", threads=1).table.to_pydict()
    places = [_holds(text, answer) for text, answer in cases]
    assert any(place is None for place in places)
    assert any(place for place in places)
    held = [float(place is not None) for place in places]
    assert table["par:token"] == held
    assert table["hit@2"] == held
    raw = [float(answer in text) for text, (answer,) in zip(texts, answers, strict=True)]
    assert table["par"] == raw
    assert table["hit@2:raw"] == raw
    if all(word.isascii() for word in words):  # elsewhere it may be unknown
        assert table["evidence_position"] == [
            None if place is None else sum(len(word) + 1 for word in text[:place])
            for place, (text, _) in zip(places, cases, strict=True)
        ]


def test_words_that_repeat_within_a_token() -> None:
    text = "ab" * 20_000
    data = {
        "summary": [text, f"{text}, {text}c", f"{text}c {text}", text],
        "answers": [["abab"], [f"{text}c"], [text], ["AB" * 20_000]],
    }
    scores = oq.score(data, ["par:token", "par"], threads=1).table
    assert scores["par:token"].to_pylist() == [0, 1, 1, 1]
    assert scores["par"].to_pylist() == [1, 1, 1, 0]


@pytest.mark.parametrize("metric", ["par", "par:token", "par:normalized", "hit@1", "hit@1:raw"])
@pytest.mark.parametrize(
    ("unit", "end"), [("a ", "b"), ("ab cd ", "ab ce"), ("é a ", "é b"), ("a", "b"), ("ab", "aa")]
)
def test_time_is_linear(metric: str, unit: str, end: str) -> None:
    # Each place compared to its end would take 5 * 10^9 steps and more.
    text = unit * 200_000
    answer = unit * 50_000 + end
    middle = f"{unit * 25_000}{end}{unit * 25_000}"
    data = {"summary": [text], "documents": [[text]], "answers": [[answer, middle]]}
    start = time.process_time()
    assert oq.score(data, [metric], threads=1).means[metric] == 0
    assert time.process_time() - start < 3
