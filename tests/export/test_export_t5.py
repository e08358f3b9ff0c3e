"""Covers: encoder-decoders of the T5 kind. Compared against: the same forward pass in plain numpy.

Run: pytest tests/export/test_export_t5.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import running
import tiny
from oracles import transformers as oracle

from odqa_fast.errors import ModelError
from odqa_fast.export import export
from odqa_fast.export.families.t5 import bucket_distances

#: Longer than the distance from which on all are alike, and shorter.
SOURCES = [[7 + 13 * place % 280 for place in range(40)], [250, 3, 99]]

KINDS: dict[str, dict[str, Any]] = {
    "t5": {"feed_forward_proj": "relu", "tie_word_embeddings": True},
    "flan-t5": {},
    "more-decoder-layers": {"num_decoder_layers": 3},
    "mt5": {"model_type": "mt5"},
}


def exported(folder: Path, kind: str, dtype: Any = "fp32") -> tuple[Path, dict[str, Any], Any]:
    config = tiny.t5_config(**KINDS[kind])
    weights = tiny.t5_weights(config)
    export(tiny.write(folder / "hf", config, weights), folder / kind, dtype=dtype)
    return folder / kind, config, weights


@pytest.mark.parametrize("kind", KINDS)
def test_logits_equal_the_oracle(kind: str, tmp_path: Path) -> None:
    folder, config, weights = exported(tmp_path, kind)
    pair = running.EncoderDecoder(folder, SOURCES)
    rows = [[0], [0]]
    for _ in range(20):  # past the farthest distance
        tokens, logits = pair.step([row[-1] for row in rows])
        for source, row, token, found in zip(SOURCES, rows, tokens, logits, strict=True):
            expected = oracle.t5(config, weights, source, row)[-1]
            assert expected.std() > 0.1  # else any graph would be near it
            np.testing.assert_allclose(found, expected, atol=4e-5)  # of logits up to 11
            assert token == expected.argmax()
            row.append(int(token))


def test_fp16_keeps_what_it_cannot_hold_in_fp32(tmp_path: Path) -> None:
    config = tiny.t5_config()
    weights = tiny.t5_weights(config)
    for name, values in weights.items():
        if name.endswith(".wo.weight"):
            weights[name] = values * 100_000
    folder = tmp_path / "out"
    export(tiny.write(tmp_path / "hf", config, weights), folder, dtype="fp16")
    _, logits = running.EncoderDecoder(folder, SOURCES).step([0, 0])
    for source, found in zip(SOURCES, logits, strict=True):
        expected = oracle.t5(config, weights, source, [0])[-1]
        np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(expected).max())
    for name in ("encoder", "decoder"):
        graph = onnx.load(str(folder / f"{name}.onnx"), load_external_data=False).graph
        kinds = {tensor.name: tensor.data_type for tensor in graph.initializer}
        wide = {name for name, kind in kinds.items() if kind == onnx.TensorProto.FLOAT}
        assert {name.split(".")[-2] for name in wide} == {"layer_norm", "final_layer_norm", "wo"}


def test_int8_is_somewhat_near_fp32(tmp_path: Path) -> None:
    folder, config, weights = exported(tmp_path, "flan-t5", "int8")
    _, logits = running.EncoderDecoder(folder, SOURCES).step([0, 0])
    for source, found in zip(SOURCES, logits, strict=True):
        expected = oracle.t5(config, weights, source, [0])[-1]
        assert np.corrcoef(found, expected)[0, 1] > 0.99


def test_buckets_of_the_paper() -> None:
    # 32 buckets up to 128, worked by hand from section 2.1: eight exact ones each way, then
    # 8 + floor(log(d / 8) / log(16) * 8), at most 15; keys behind the query have 16 more.
    distances = np.array([0, -1, -7, -8, -11, -12, -16, -64, -127, -128, -5000, 1, 7, 8, 300])
    expected = [0, 1, 7, 8, 8, 9, 10, 14, 15, 15, 15, 17, 23, 24, 31]
    assert bucket_distances(distances, 32, 128, both_ways=True).tolist() == expected
    # One way: sixteen exact ones, then 16 + floor(log(d / 16) / log(8) * 16), at most 31.
    distances = np.array([0, -15, -16, -18, -19, -32, -127, -128, -5000, 3])
    expected = [0, 15, 16, 16, 17, 21, 31, 31, 31, 0]
    assert bucket_distances(distances, 32, 128, both_ways=False).tolist() == expected


def test_limits(tmp_path: Path) -> None:
    config = tiny.t5_config()
    source = tiny.write(tmp_path / "hf", config, tiny.t5_weights(config))
    card = export(source, tmp_path / "out")
    # n_positions is 512 where nothing is said, and relative positions hold for any length.
    assert (card.max_input, card.max_new, card.decoder_start_id) == (512, 128, 0)
    assert export(source, tmp_path / "out", max_tokens=2048).max_input == 2048


def test_an_unknown_feed_forward_is_refused(tmp_path: Path) -> None:
    weights = tiny.t5_weights(tiny.t5_config())
    config = tiny.t5_config(feed_forward_proj="gated-silu")
    with pytest.raises(ModelError, match="feed-forward 'gated-silu'"):
        export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")
