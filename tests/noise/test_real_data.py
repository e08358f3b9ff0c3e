"""Covers: noise and compressors on real rows. Compared against: the clean rows, the oracle matcher,
random choices. Run: pytest tests/noise/test_real_data.py (about a minute; needs the real data)
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import mean

import pytest
from island import texts_at
from oracles.par import par

import odqa_fast as oq
from odqa_fast.engines.base import Task, ask
from odqa_fast.levels.ratio import RatioRule
from odqa_fast.noise.add import add_noise
from odqa_fast.noise.manifest import Noised, make_manifest_rows
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.steps.compressors import CompressorOptions, open_compressor
from odqa_fast.texts.length import make_length
from odqa_fast.texts.text import Text

CHARS = make_length("chars")
LEVELS = (0.2, 0.4, 0.6)


@pytest.fixture(scope="module")
def passages(shared: Path) -> list[Text]:
    """4,707 questions with the passages that a retriever found."""
    texts = texts_at(shared / "data" / "rag_topk.parquet")
    assert len(texts) == 4707
    return texts


@pytest.fixture(scope="module")
def challenges(shared: Path) -> list[Text]:
    """Five long texts with noise in them, five questions each."""
    texts = texts_at(shared / "data" / "soma_compression_tasks.parquet")
    assert [len(text.questions) for text in texts] == [5] * 5
    return texts


def as_text(noised: Noised) -> str:
    return json.dumps([list(noised.text.documents), make_manifest_rows(noised)])


@pytest.mark.parametrize(
    "options",
    [
        NoiseOptions(kind="sentences", share=0.2, seed=7),
        NoiseOptions(kind="documents", count=2, seed=7),
        NoiseOptions(kind="documents", count=2, swap=True, top_k=3, seed=7),
        NoiseOptions(kind="factual", seed=7),
    ],
    ids=lambda options: options.tag,
)
def test_noise_on_every_row(passages: list[Text], options: NoiseOptions) -> None:
    noised = add_noise(passages, options)
    for clean, each in zip(passages, noised, strict=True):
        assert each.clean.documents == clean.documents
        answers = list(clean.answers)
        for piece in each.injected:
            assert par(piece, answers, "token") == 0, (piece, answers)
            assert par(piece, answers, "normalized") == 0, (piece, answers)
    some = passages[::4]
    expected = [as_text(each) for each in add_noise(some, options)]
    assert [as_text(each) for each in add_noise(some, options, threads=4)] == expected
    order = random.Random(1).sample(range(len(some)), len(some))
    shuffled = add_noise([some[at] for at in order], options)
    assert [as_text(each) for each in shuffled] == [expected[at] for at in order]


def preserved(texts: list[Text], name: str, level: float, seed: int = 0) -> float:
    """The mean PAR of a compressor; every text keeps to the level."""
    compressor = open_compressor(name, CompressorOptions(seed=seed))
    tasks = [
        Task(
            text.texts,
            tuple(question.text for question in text.questions),
            level,
            CHARS,
            tuple(tuple(filter(None, q.answers or ())) for q in text.questions)
            if compressor.sees_answers
            else (),
        )
        for text in texts
    ]
    kept: list[float] = []
    for at, _, compressed in ask(compressor, tasks):
        assert RatioRule(CHARS).check(texts[at].whole, compressed.text, level).reason == ""
        kept += [oq.par(compressed.text, question.answers) for question in texts[at].questions]
    return mean(kept)


@pytest.mark.parametrize("level", LEVELS)
def test_compressors_in_their_order(challenges: list[Text], level: float) -> None:
    bm25 = preserved(challenges, "bm25", level)
    assert preserved(challenges, "oracle", level) >= bm25
    assert bm25 > mean(preserved(challenges, "random", level, seed) for seed in range(200))
