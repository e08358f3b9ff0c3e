"""ROUGE-1, -2 and -L against rouge_score and its two ports to Rust, on the same pairs.

The peers are the dependency group `bench`; without one of them its ratio is left out, and said so.
Every peer's results are held against ours to the last bit before anything is timed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import corpus
import pyarrow as pa
import pytest
from conftest import best_seconds
from pytest_benchmark.fixture import BenchmarkFixture

import odqa_fast as oq

TYPES = ["rouge1", "rouge2", "rougeL"]
#: Words a text -> pairs to score, and how many of them peers with slower results get.
PAIRS = {3: (2_000_000, 100_000), 50: (40_000, 10_000), 600: (2_000, 1_000)}
DIFFERENT = 20_000
SLOW_WORDS = 20_000  # of rouge_score itself, in words of text

Texts = list[str]


def drawn(words: int, count: int) -> tuple[Texts, Texts]:
    """References of drawn words, and predictions that keep three of five of them in place."""
    rng = random.Random(words)
    pool = [word.lower() for word in corpus.words(rng)]
    references = [" ".join(rng.choices(pool, k=words)) for _ in range(min(count, DIFFERENT))]
    predictions = [
        " ".join(word if rng.random() < 0.6 else rng.choice(pool) for word in text.split())
        for text in references
    ]
    copies = -(-count // len(references))
    return (references * copies)[:count], (predictions * copies)[:count]


def google(references: Texts, predictions: Texts, stem: bool) -> list[Sequence[float]]:
    scorer = import_module("rouge_score.rouge_scorer").RougeScorer(TYPES, use_stemmer=stem)
    pairs = zip(references, predictions, strict=True)
    return [[score[t].fmeasure for t in TYPES] for score in (scorer.score(*p) for p in pairs)]


def rust_flat(references: Texts, predictions: Texts) -> Any:
    return import_module("fast_rouge").score_batch_flat(references, predictions)


def rust_batch(references: Texts, predictions: Texts, stem: bool) -> Any:
    module = import_module("rouge_score_rs")
    return module.RougeScorer(TYPES, use_stemmer=stem).score_batch(references, predictions)


@pytest.mark.benchmark(group="rouge")
@pytest.mark.parametrize("stem", [False, True], ids=["plain", "stem"])
@pytest.mark.parametrize("words", PAIRS)
def test_rouge(
    benchmark: BenchmarkFixture, report: Callable[..., None], words: int, stem: bool
) -> None:
    count, fewer = PAIRS[words]
    references, predictions = drawn(words, count)
    table = pa.table({"prediction": predictions, "answers": [[text] for text in references]})
    metrics = [f"{each}:stem" if stem else each for each in TYPES]
    columns = oq.score(table, metrics).table
    ours = [columns[metric].to_pylist() for metric in metrics]

    peers: dict[str, float] = {}
    missing = [m for m in ("rouge_score", "fast_rouge", "rouge_score_rs") if find_spec(m) is None]
    if len(missing) == 3:
        pytest.skip("no peer is installed: pip install --group bench")
    if "rouge_score" not in missing:
        n = SLOW_WORDS // words
        some = references[:n], predictions[:n]
        assert google(*some, stem) == [list(row) for row in zip(*ours, strict=True)][:n]
        peers["rouge_score"] = best_seconds(lambda: google(*some, stem), 2) * count / n
    if "fast_rouge" not in missing and not stem:
        flat = rust_flat(references, predictions)
        assert [flat.rouge1_fmeasure, flat.rouge2_fmeasure, flat.rougeL_fmeasure] == ours
        peers["rouge_rust_flat"] = best_seconds(lambda: rust_flat(references, predictions), 3)
    if "rouge_score_rs" not in missing:
        some = references[:fewer], predictions[:fewer]
        found = [[row[t].fmeasure for row in rust_batch(*some, stem)] for t in TYPES]
        assert found == [column[:fewer] for column in ours]
        peers["rouge_score_rs"] = best_seconds(lambda: rust_batch(*some, stem), 3) * count / fewer

    benchmark(oq.score, table, metrics)
    report(count, "pair", peers)
    for module in missing:
        print(f"{module} is not installed and was not run")
