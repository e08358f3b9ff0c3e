"""Covers: par:token, which searches the raw text. Compared against: the tokenizing oracle.

The pieces are chosen so that answers often stand in the text, in another case or Unicode form,
next to a mark, or inside a longer word, and so that characters come in that decompose into ASCII
(Kelvin sign, Greek question mark, not-equal sign) or into several tokens.
Run: pytest tests/differential/test_has_answer.py (and once for each ODQA_FAST_ISA)
"""

from __future__ import annotations

import random
import unicodedata

import pytest
from oracles.par import par
from unicode14 import assigned

import odqa_fast as oq

WORDS = [
    "a",
    "k",
    "Oslo",
    "oslo",
    "art",
    "kelvin",
    "Beyoncé",
    "café",
    "año",
    "İstanbul",
    "ΑΣ",
    "σας",
]
WORDS += [
    "ñ",
    "日本",
    "🇿🇦",
    "ॐ",
    "Ευκάλυπτος",
    "ﷺ",
    "豈",
    "한국",
    "1,000",
    "x=y",
    "≠",
    "↚",
    "=",
    ";",
    "`",
    "<",
    ">",
    ".",
    "-",
    "_",
    "½",
    "²",
]
ODD = ["\u212a", "\u037e", "\u1fef", "\u2260", "\u226e", "\u226f", "\u219a", "\u0385", "\u0301"]
ODD += ["\u0338", "\u200b", "\u200d", "\u00ad", "\u00a0", "\u2003", "\t", "\n", "\x00", "\x1f", "é"]
GAPS = ["", " ", "  ", "\n", "\u00a0", "\u200b", ", ", "-"]


def text(draw: random.Random, pieces: int) -> str:
    out = []
    for _ in range(pieces):
        piece = draw.choice(WORDS if draw.random() < 0.75 else ODD)
        change = draw.randrange(6)
        if change == 0:
            piece = piece.upper()
        elif change == 1:
            piece = unicodedata.normalize("NFD", piece)
        out += [piece, draw.choice(GAPS)]
    return "".join(out)


@pytest.mark.parametrize("profile", ["squad", "nq"])
def test_token_search_equals_tokenizing(profile: str) -> None:
    draw = random.Random(11)
    summaries, answers = [], []
    for _ in range(12_000):
        summary = text(draw, draw.randrange(12))
        golds = [text(draw, draw.randrange(1, 4)) for _ in range(draw.randrange(3))]
        if summary and draw.random() < 0.5:
            start = draw.randrange(len(summary))
            golds.append(summary[start : start + draw.randrange(1, 12)])
        summaries.append(summary)
        answers.append(golds)
    got = oq.score({"summary": summaries, "answers": answers}, ["par:token"], profile).table
    expected = [par(s, a, "token", profile) for s, a in zip(summaries, answers, strict=True)]
    assert got["par:token"].to_pylist() == expected
    assert 0.2 < sum(expected) / len(expected) < 0.95


@pytest.mark.parametrize("frame", ["{}", "k{}", "{}k", "ab {} cd", "x={}=y"])
def test_every_character_beside_ascii(frame: str) -> None:
    summaries = [frame.format(character) for character in assigned()]
    for answer in ("k", "ab", "x", "=", ";", "cd", "y"):
        if answer not in frame + "k;=":
            continue
        rows = {"summary": summaries, "answers": [[answer]] * len(summaries)}
        got = oq.score(rows, ["par:token"], "squad").table["par:token"].to_pylist()
        expected = [par(summary, [answer], "token") for summary in summaries]
        assert got == expected
