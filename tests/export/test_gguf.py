"""Covers: GGUF files. Compared against: the same weights from a folder, which the oracle holds.

Run: pytest tests/export/test_gguf.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import running
import tiny
from gguf import GGMLQuantizationType as Kind
from oracles import transformers as oracle
from tokenizers import Tokenizer

from odqa_fast.errors import ModelError
from odqa_fast.export import export
from odqa_fast.export.gguf import open_gguf

PROMPT = [17, 250, 3, 99, 42, 250, 7, 8, 111, 64, 5, 200, 31]
CONTROL, NORMAL = 3, 1

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def paired(values: Any, heads: int) -> Any:
    """The rows of a projection as llama.cpp keeps them: 0, D/2, 1, D/2 + 1, ... of each head."""
    dim = len(values) // heads
    order = [head * dim + half * dim // 2 + i
             for head in range(heads) for i in range(dim // 2) for half in (0, 1)]  # fmt: skip
    return values[order]


def write(
    path: Path,
    architecture: str,
    config: dict[str, Any],
    weights: tiny.Weights,
    *,
    quantized: Kind | None = None,
    cut: str = "gpt-2",
    extra: dict[str, Any] | None = None,
) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    made = json.loads(tiny.tokenizer("llama"))
    vocabulary = made["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.get)
    specials = {token["content"] for token in made["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL if token in specials else NORMAL for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in made["model"]["merges"]])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(0)
    for name, value in (extra or {}).items():
        getattr(writer, name)(value)
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    for name, values in weights.items():
        stem, _, kind = name.rpartition(".")
        if architecture == "llama" and stem[-6:-5] in heads and stem.endswith("_proj"):
            values = paired(values, heads[stem[-6]])
        layer = ""
        if stem.startswith("model.layers."):
            _, _, number, stem = stem.split(".", 3)
            layer = f"blk.{number}."
        tensor = f"{layer}{NAMES.get(stem, stem)}.{kind}"
        if quantized and values.ndim == 2:
            writer.add_tensor(tensor, gguf.quants.quantize(values, quantized), raw_dtype=quantized)
        else:
            writer.add_tensor(tensor, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logits_of(folder: Path) -> Any:
    return running.Decoder(folder, rows=1).step([PROMPT])[1][0]


@pytest.mark.parametrize(
    ("architecture", "changes", "arguments"),
    [
        ("llama", {}, {}),
        ("llama", {"tie_word_embeddings": False}, {"biases": ("q_proj", "k_proj")}),
        ("qwen2", {"model_type": "qwen2"}, {"biases": ("q_proj", "k_proj", "v_proj")}),
        ("qwen3", {"model_type": "qwen3", "head_dim": 32}, {"head_norms": True}),
    ],
)
def test_logits_equal_the_oracle(
    architecture: str, changes: dict[str, Any], arguments: dict[str, Any], tmp_path: Path
) -> None:
    config = tiny.llama_config(**changes)
    weights = tiny.llama_weights(config, **arguments)
    path = write(tmp_path / "tiny.gguf", architecture, config, weights)
    card = export(path, tmp_path / "out")
    expected = oracle.llama(config, weights, PROMPT)[-1]
    np.testing.assert_allclose(logits_of(tmp_path / "out"), expected, atol=2e-5)
    assert (card.eos_ids, card.pad_id, card.bos_id) == ((1,), 0, 2)
    assert card.source["kind"] == "gguf"


@pytest.mark.parametrize("kind", [Kind.Q8_0, Kind.Q4_1, Kind.F16])
def test_quantized_weights_are_made_whole(kind: Kind, tmp_path: Path) -> None:
    config = tiny.llama_config(num_attention_heads=2, head_dim=32, intermediate_size=64)
    weights = tiny.llama_weights(config)
    path = write(tmp_path / "tiny.gguf", "llama", config, weights, quantized=kind)
    export(path, tmp_path / "out")
    # What the format keeps of each weight, in the order of the rows of transformers.
    kept = {
        name: gguf.quants.dequantize(gguf.quants.quantize(values, kind), kind)
        if values.ndim == 2
        else values
        for name, values in weights.items()
    }
    expected = oracle.llama(config, kept, PROMPT)[-1]
    np.testing.assert_allclose(logits_of(tmp_path / "out"), expected, atol=2e-5)


def test_llama_3_frequencies(tmp_path: Path) -> None:
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    config = tiny.llama_config(rope_theta=500000.0, rope_scaling=scaling)
    weights = tiny.llama_weights(config)
    plain = {**config, "rope_scaling": None}
    factors = [oracle.frequency(plain, 16, i) / oracle.frequency(config, 16, i) for i in range(8)]
    assert factors[0] == 1.0
    assert factors[-1] == 8.0

    weights_and_factors = {**weights, "rope_freqs.weight": np.array(factors, np.float32)}
    path = write(tmp_path / "tiny.gguf", "llama", config, weights_and_factors)
    export(path, tmp_path / "out")
    expected = oracle.llama(config, weights, PROMPT)[-1]
    np.testing.assert_allclose(logits_of(tmp_path / "out"), expected, atol=2e-5)


def tokenizer_of(tmp_path: Path, cut: str, **extra: Any) -> Tokenizer:
    config = tiny.llama_config()
    weights = tiny.llama_weights(config)
    path = write(tmp_path / "t.gguf", "llama", config, weights, cut=cut, extra=extra)
    return Tokenizer.from_str(open_gguf(path).tokenizer)


def test_the_tokenizer_is_the_one_that_was_written(tmp_path: Path) -> None:
    made, original = tokenizer_of(tmp_path, "gpt-2"), Tokenizer.from_str(tiny.tokenizer("llama"))
    for text in (*tiny.CORPUS, "  Nile\n\n1912!</s>ß 中"):
        ids = original.encode(text).ids
        assert made.encode(text).ids == ids
        assert made.decode(ids) == original.decode(ids)


@pytest.mark.parametrize(
    ("cut", "pieces"),
    [
        # Worked by hand from the published patterns; a space is written as a G with a dot. In that
        # of GPT-2 white space leaves its last character to what follows.
        ("gpt-2", ["It", "'s", "Ġ2024", "Ġor", "Ġ3", ".", "14", "Ċ", "Ċ", "NO", "'", "S"]),
        ("smollm", ["It", "'s", "Ġ", "2", "0", "2", "4", "Ġor", "Ġ", "3", ".", "1", "4", "Ċ",
                    "Ċ", "NO", "'", "S"]),
        ("llama-bpe", ["It", "'s", "Ġ", "202", "4", "Ġor", "Ġ", "3", ".", "14", "ĊĊ", "NO", "'S"]),
        ("qwen2", ["It", "'s", "Ġ", "2", "0", "2", "4", "Ġor", "Ġ", "3", ".", "1", "4", "ĊĊ", "NO",
                   "'S"]),
    ],
)  # fmt: skip
def test_how_a_text_is_cut(cut: str, pieces: list[str], tmp_path: Path) -> None:
    made = tokenizer_of(tmp_path, cut)
    found = made.pre_tokenizer.pre_tokenize_str("It's 2024 or 3.14\n\nNO'S")
    assert [piece for piece, _ in found] == pieces


def test_a_beginning_token_is_added_where_the_file_says_so(tmp_path: Path) -> None:
    plain = tokenizer_of(tmp_path, "gpt-2").encode("Nile").ids
    with_bos = tokenizer_of(tmp_path, "gpt-2", add_add_bos_token=True)
    assert with_bos.encode("Nile").ids == [2, *plain]
    assert with_bos.encode("Nile", add_special_tokens=False).ids == plain


def test_the_chat_template_and_its_tokens(tmp_path: Path) -> None:
    config = tiny.llama_config()
    extra = {"add_chat_template": "{{ bos_token }}{{ messages[0].content }}"}
    path = write(tmp_path / "t.gguf", "llama", config, tiny.llama_weights(config), extra=extra)
    card = export(path, tmp_path / "out")
    assert card.prompt.chat_template == extra["add_chat_template"]
    assert (card.prompt.bos_token, card.prompt.eos_token) == ("<unk>", "</s>")
    assert not card.add_special_tokens


def test_what_is_not_read_is_refused(tmp_path: Path) -> None:
    config = tiny.llama_config()
    weights = tiny.llama_weights(config)
    path = write(tmp_path / "a.gguf", "falcon", config, weights)
    with pytest.raises(ModelError, match=r"architecture 'falcon'.*llama, qwen2, qwen3"):
        open_gguf(path)
    path = write(tmp_path / "b.gguf", "llama", config, weights, cut="deepseek-llm")
    with pytest.raises(ModelError, match="the rule 'deepseek-llm'"):
        open_gguf(path)
    path = tmp_path / "c.gguf"
    path.write_bytes(b"not a model")
    with pytest.raises(ModelError, match="is no GGUF file"):
        open_gguf(path)
    path.write_bytes((tmp_path / "a.gguf").read_bytes()[:900])
    with pytest.raises(ModelError, match="is no GGUF file"):
        open_gguf(path)
