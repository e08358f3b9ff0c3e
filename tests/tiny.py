"""Tiny models of each family, made when a test runs: folders as Hugging Face's, random weights.

A tensor's values depend on its name alone, so that they are the same on every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers as tk
from safetensors.numpy import save_file

Weights = dict[str, npt.NDArray[Any]]

CORPUS = [
    "The river Nile flows north through eleven countries to the sea.",
    "Mount Kenya is an extinct volcano; its highest peak is Batian.",
    "In which year did the first steam engine pump water from a mine?",
    "A question, its documents and a short answer: 42, or 1912.",
]
WORDS = 300


def write(folder: Path, config: Mapping[str, Any], weights: Weights) -> Path:
    """A folder of Hugging Face's."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer.json").write_text(tokenizer(config["model_type"]), encoding="utf-8")
    save_file({name: np.ascontiguousarray(each) for name, each in weights.items()},
              folder / "model.safetensors")  # fmt: skip
    return folder


def random(name: str, *shape: int, size: float = 1.0) -> npt.NDArray[np.float32]:
    """Normal numbers whose products with a unit vector have about this size."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    values = np.random.Generator(np.random.PCG64(seed)).standard_normal(shape, dtype=np.float32)
    return np.float32(size * shape[-1] ** -0.5) * values


def near_one(name: str, *shape: int) -> npt.NDArray[np.float32]:
    return 1 + random(name, *shape, size=0.2 * shape[-1] ** 0.5)


@cache
def tokenizer(model_type: str) -> str:
    """The text of a tokenizer.json of the kind that a family has."""
    specials = ["<pad>", "</s>", "<unk>"]
    if model_type in ("t5", "mt5"):
        made = tk.Tokenizer(tk.models.Unigram())
        made.pre_tokenizer = tk.pre_tokenizers.Metaspace()
        made.decoder = tk.decoders.Metaspace()
        trainer = tk.trainers.UnigramTrainer(
            vocab_size=WORDS, special_tokens=specials, unk_token="<unk>", show_progress=False
        )
    else:
        made = tk.Tokenizer(tk.models.BPE())
        made.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = tk.decoders.ByteLevel()
        trainer = tk.trainers.BpeTrainer(
            vocab_size=WORDS,
            special_tokens=specials,
            initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    made.train_from_iterator(CORPUS, trainer)
    return str(made.to_str())


def llama_config(**changes: Any) -> dict[str, Any]:
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": WORDS,
        "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "pad_token_id": 0,
        "eos_token_id": 1,
        **changes,
    }


def llama_weights(
    config: Mapping[str, Any], *, biases: tuple[str, ...] = (), head_norms: bool = False
) -> Weights:
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    dim = config["head_dim"]
    q, kv = config["num_attention_heads"] * dim, config["num_key_value_heads"] * dim
    shapes = {
        "self_attn.q_proj": (q, hidden),
        "self_attn.k_proj": (kv, hidden),
        "self_attn.v_proj": (kv, hidden),
        "self_attn.o_proj": (hidden, q),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    weights: Weights = {
        "model.embed_tokens.weight": random("embed", WORDS, hidden, size=4),
        "model.norm.weight": near_one("norm", hidden),
    }
    if not config["tie_word_embeddings"]:
        weights["lm_head.weight"] = random("head", WORDS, hidden, size=4)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        for name, shape in shapes.items():
            weights[f"{at}.{name}.weight"] = random(f"{at}{name}", *shape, size=1.5)
            if name.endswith(biases):
                weights[f"{at}.{name}.bias"] = random(f"{at}{name}b", shape[0])
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}.{name}.weight"] = near_one(f"{at}{name}", hidden)
        if head_norms:
            for name in ("q_norm", "k_norm"):
                weights[f"{at}.self_attn.{name}.weight"] = near_one(f"{at}{name}", dim)
    return weights


def t5_config(**changes: Any) -> dict[str, Any]:
    return {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "vocab_size": WORDS,
        "feed_forward_proj": "gated-gelu",
        "layer_norm_epsilon": 1e-6,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 16,
        "tie_word_embeddings": False,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        **changes,
    }


def t5_weights(config: Mapping[str, Any]) -> Weights:
    hidden, inner = config["d_model"], config["d_ff"]
    heads = config["num_heads"] * config["d_kv"]
    weights: Weights = {"shared.weight": random("shared", WORDS, hidden, size=4)}
    if not config["tie_word_embeddings"]:
        weights["lm_head.weight"] = random("head", WORDS, hidden, size=4)
    gated = config["feed_forward_proj"] == "gated-gelu"
    for side, attentions in (("encoder", ["Self"]), ("decoder", ["Self", "EncDec"])):
        weights[f"{side}.final_layer_norm.weight"] = near_one(side, hidden)
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        shape = config["relative_attention_num_buckets"], config["num_heads"]
        weights[bias] = random(bias, *shape, size=2)
        layers = config["num_layers"]
        for layer in range(
            layers if side == "encoder" else config.get("num_decoder_layers", layers)
        ):
            at = f"{side}.block.{layer}.layer"
            for number, kind in enumerate(attentions):
                weights[f"{at}.{number}.layer_norm.weight"] = near_one(f"{at}{kind}", hidden)
                for part in "qkvo":
                    name = f"{at}.{number}.{kind}Attention.{part}.weight"
                    shape = (hidden, heads) if part == "o" else (heads, hidden)
                    weights[name] = random(name, *shape)
            number = len(attentions)
            weights[f"{at}.{number}.layer_norm.weight"] = near_one(f"{at}ff", hidden)
            for part in ("wi_0", "wi_1") if gated else ("wi",):
                name = f"{at}.{number}.DenseReluDense.{part}.weight"
                weights[name] = random(name, inner, hidden)
            name = f"{at}.{number}.DenseReluDense.wo.weight"
            weights[name] = random(name, hidden, inner)
    return weights


def bert_config(**changes: Any) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "vocab_size": WORDS,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "pad_token_id": 0,
        **changes,
    }


def bert_weights(config: Mapping[str, Any], prefix: str = "") -> Weights:
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    weights: Weights = {}

    def linear(name: str, size_out: int, size_in: int) -> None:
        weights[f"{name}.weight"] = random(name, size_out, size_in)
        weights[f"{name}.bias"] = random(f"{name}b", size_out)

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = near_one(name, hidden)
        weights[f"{name}.bias"] = random(f"{name}b", hidden)

    rows = {
        "word": config["vocab_size"],
        "position": config["max_position_embeddings"],
        "token_type": config["type_vocab_size"],
    }
    for name, count in rows.items():
        at = f"{prefix}embeddings.{name}_embeddings.weight"
        weights[at] = random(at, count, hidden, size=4)
    norm(f"{prefix}embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"{prefix}encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            linear(f"{at}.attention.self.{part}", hidden, hidden)
        linear(f"{at}.attention.output.dense", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        linear(f"{at}.intermediate.dense", inner, hidden)
        linear(f"{at}.output.dense", hidden, inner)
        norm(f"{at}.output.LayerNorm")
    return weights


def linear_head(name: str, size_out: int, size_in: int) -> Weights:
    return {
        f"{name}.weight": random(name, size_out, size_in, size=3),
        f"{name}.bias": random(f"{name}b", size_out),
    }
