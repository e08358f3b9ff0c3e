"""Covers: decoders of the Llama kind. Compared against: the same forward pass in plain numpy.

Run: pytest tests/export/test_export_llama.py
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

PROMPT = [17, 250, 3, 99, 42, 250, 7, 8, 111, 64, 5, 200, 31]
OTHER = [5, 77, 130]

QKV = ("q_proj", "k_proj", "v_proj")
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}

#: (changes to the configuration, arguments of llama_weights)
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "llama-2": ({"tie_word_embeddings": False, "num_key_value_heads": 4}, {}),
    "smollm": ({}, {}),
    "llama-3.1": ({"rope_scaling": LLAMA3, "rope_theta": 500000.0}, {}),
    "linear": ({"rope_scaling": {"rope_type": "linear", "factor": 2.0}}, {}),
    "yarn": ({"rope_scaling": YARN}, {}),
    "all-biases": ({}, {"biases": (*QKV, "o_proj", "gate_proj", "up_proj", "down_proj")}),
    "qwen2.5": ({"model_type": "qwen2", "sliding_window": 4}, {"biases": QKV}),
    "qwen3": ({"model_type": "qwen3", "head_dim": 32}, {"head_norms": True}),
    "mistral": ({"model_type": "mistral", "sliding_window": 4}, {}),
    "one-layer-slides": (
        {
            "model_type": "qwen2",
            "sliding_window": 3,
            "layer_types": ["full_attention", "sliding_attention"],
        },
        {"biases": QKV},
    ),
}


def exported(folder: Path, kind: str, dtype: Any = "fp32") -> tuple[Path, dict[str, Any], Any]:
    changes, arguments = KINDS[kind]
    config = tiny.llama_config(**changes)
    weights = tiny.llama_weights(config, **arguments)
    export(tiny.write(folder / "hf", config, weights), folder / kind, dtype=dtype)
    return folder / kind, config, weights


@pytest.mark.parametrize("kind", KINDS)
def test_logits_equal_the_oracle(kind: str, tmp_path: Path) -> None:
    folder, config, weights = exported(tmp_path, kind)
    decoder = running.Decoder(folder, rows=2)
    tokens, logits = decoder.step([PROMPT, OTHER])
    rows = [list(PROMPT), list(OTHER)]
    for _ in range(4):
        for row, token, found in zip(rows, tokens, logits, strict=True):
            expected = oracle.llama(config, weights, row)[-1]
            assert expected.std() > 0.5  # else any graph would be near it
            np.testing.assert_allclose(found, expected, atol=2e-5)
            assert token == expected.argmax()
            row.append(int(token))
        tokens, logits = decoder.step([[int(token)] for token in tokens])


def test_a_prompt_may_come_in_parts(tmp_path: Path) -> None:
    # With a past, onnxruntime takes several tokens of one row, without padding.
    folder, config, weights = exported(tmp_path, "llama-3.1")
    decoder = running.Decoder(folder, rows=1)
    decoder.step([PROMPT[:6]])
    _, logits = decoder.step([PROMPT[6:]])
    np.testing.assert_allclose(logits[0], oracle.llama(config, weights, PROMPT)[-1], atol=2e-5)


def test_scalings_move_the_logits(tmp_path: Path) -> None:
    # Else the comparisons above would hold for a table without scaling as well.
    plain = tiny.llama_config(rope_theta=500000.0)
    scaled = tiny.llama_config(rope_theta=500000.0, rope_scaling=LLAMA3)
    weights = tiny.llama_weights(plain)
    there, here = (oracle.llama(config, weights, PROMPT)[-1] for config in (plain, scaled))
    assert np.abs(there - here).max() > 0.01


def test_fp16_is_near_fp32(tmp_path: Path) -> None:
    folder, config, weights = exported(tmp_path, "qwen3", "fp16")
    _, logits = running.Decoder(folder, rows=2).step([PROMPT, OTHER])
    assert logits.dtype == np.float32
    for row, found in zip((PROMPT, OTHER), logits, strict=True):
        np.testing.assert_allclose(found, oracle.llama(config, weights, row)[-1], atol=0.05)
    graph = onnx.load(str(folder / "model.onnx"), load_external_data=False).graph
    floats = {t.data_type for t in graph.initializer if t.data_type != onnx.TensorProto.INT64}
    assert floats == {onnx.TensorProto.FLOAT16}


def test_int8_is_somewhat_near_fp32(tmp_path: Path) -> None:
    folder, config, weights = exported(tmp_path, "all-biases", "int8")
    _, logits = running.Decoder(folder, rows=1).step([PROMPT])
    expected = oracle.llama(config, weights, PROMPT)[-1]
    assert np.corrcoef(logits[0], expected)[0, 1] > 0.99
    size = (folder / "model.onnx.data").stat().st_size
    folder, *_ = exported(tmp_path, "all-biases")
    assert size < 0.75 * (folder / "model.onnx.data").stat().st_size


def test_a_weight_too_large_for_fp16_is_refused(tmp_path: Path) -> None:
    config = tiny.llama_config()
    weights = tiny.llama_weights(config)
    weights["model.layers.1.mlp.up_proj.weight"][3, 3] = 70000
    source = tiny.write(tmp_path / "hf", config, weights)
    with pytest.raises(ModelError, match=r"layers\.1\.mlp\.up_proj.*too large for fp16.*fp32"):
        export(source, tmp_path / "out", dtype="fp16")
    assert not (tmp_path / "out").exists()


def test_a_weight_that_is_no_number_is_refused(tmp_path: Path) -> None:
    config = tiny.llama_config()
    weights = tiny.llama_weights(config)
    weights["model.norm.weight"][0] = np.nan
    with pytest.raises(ModelError, match=r"model\.norm is not finite"):
        export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_act": "gelu"}, "activation 'gelu'"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "scaling 'dynamic'.*llama3"),
        ({"partial_rotary_factor": 0.5}, "a part of each head"),
        ({"model_type": "falcon"}, "type 'falcon'.*Known: .*llama"),
        ({"head_dim": 8}, "heads of 8"),
        ({"hidden_size": "big"}, "hidden_size is 'big', no positive number"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"rope_scaling": {"rope_type": "linear"}}, r"config\.json has no factor"),
        ({"intermediate_size": 40}, r"shape \[48, 32\].*asks for \[40, 32\]"),
        ({"num_hidden_layers": 3}, r"hold no model\.layers\.2"),
        ({"vocab_size": 200}, "tokens up to 299, the model has 200"),
        ({"eos_token_id": None}, "no end token"),
    ],
)
def test_what_is_not_exported_is_refused(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    weights = tiny.llama_weights(tiny.llama_config())
    source = tiny.write(tmp_path / "hf", tiny.llama_config(**changes), weights)
    with pytest.raises(ModelError, match=said):
        export(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_configuration_that_lacks_a_field_is_refused(tmp_path: Path) -> None:
    config = tiny.llama_config()
    weights = tiny.llama_weights(config)
    del config["rms_norm_eps"]
    with pytest.raises(ModelError, match=r"config\.json has no rms_norm_eps"):
        export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")


def test_limits_come_from_positions(tmp_path: Path) -> None:
    config = tiny.llama_config()
    source = tiny.write(tmp_path / "hf", config, tiny.llama_weights(config))
    assert export(source, tmp_path / "whole").max_input == 256 - 32
    assert export(source, tmp_path / "part", max_tokens=100).max_input == 100 - 32
    with pytest.raises(ModelError, match=r"500 tokens.*256"):
        export(source, tmp_path / "much", max_tokens=500)
    with pytest.raises(ModelError, match="no room"):
        export(source, tmp_path / "little", max_tokens=32)


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    config = tiny.llama_config()
    source = tiny.write(tmp_path / "hf", config, tiny.llama_weights(config))
    one, two = (export(source, tmp_path / name) for name in ("one", "two"))
    assert one.files == two.files
    assert one.sha256 == two.sha256
