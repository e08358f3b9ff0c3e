"""Covers: decoders of other exporters, run by the same engine. Compared against: plain numpy.

Run: pytest tests/engines/test_other_graphs.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import other_graphs
import pytest
import tiny_models

from odqa_fast.engines.backends.onnx import OnnxEngine
from odqa_fast.engines.base import Request
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.tokens import Codec
from odqa_fast.errors import ModelError

REQUESTS = [
    Request(prompt, max_new_tokens=1 + at % 9) for at, prompt in enumerate(tiny_models.PROMPTS)
]


def texts(folder: Path, **options: object) -> list[str]:
    engine = OnnxEngine(folder, EngineOptions(device="cpu", threads=1, **options))  # type: ignore[arg-type]
    found = dict(engine.generate(REQUESTS))
    return [found[index].text for index in range(len(REQUESTS))]


@pytest.mark.parametrize("rows", [1, 3, 16])
def test_a_mask_for_a_shared_cache(rows: int, llama: Path, tmp_path: Path) -> None:
    folder = other_graphs.masked(llama, tmp_path / "masked")
    expected = [
        tiny_models.greedy("llama", llama, [each.user], each.max_new_tokens)[0] for each in REQUESTS
    ]
    assert texts(folder, rows=rows) == expected


@pytest.mark.parametrize("rows", [1, 3, 16])
def test_positions_for_a_cache_that_grows(rows: int, llama: Path, tmp_path: Path) -> None:
    folder = other_graphs.positioned(llama, tmp_path / "positioned")
    engine = OnnxEngine(folder, EngineOptions(device="cpu", threads=1))
    codec = Codec(engine.card)
    expected = []
    for request in REQUESTS:
        prompt, reply = codec.encode(request).tolist(), []
        while len(reply) < request.max_new_tokens:
            token = int(np.argmax(other_graphs.toy(prompt + reply)))
            if token in engine.card.eos_ids:
                break
            reply.append(token)
        expected.append(codec.decode(reply))
    assert len(set(expected)) > 5
    assert texts(folder, rows=rows) == expected


def test_a_graph_that_nothing_runs(llama: Path, tmp_path: Path) -> None:
    folder = other_graphs.positioned(llama, tmp_path / "model")
    path = folder / "model.json"
    card = json.loads(path.read_text())
    card["graphs"]["decoder"]["inputs"] = "mask"
    path.write_text(json.dumps(card))
    with pytest.raises(ModelError, match="inputs 'mask' is not run for text-generation"):
        OnnxEngine(folder, EngineOptions(device="cpu"))
